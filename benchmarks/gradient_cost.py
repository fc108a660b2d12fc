"""What a gradient of a motion under forces costs, in runs of the same motion.

    python benchmarks/gradient_cost.py

For each mechanism: 5 s of dynamics, the derivatives of a peak reaction with respect to 1, 5 and up to 20 numbers of the
model. A run is a plain call with the default tolerance; beside it, one with the tolerance of the motion that is
differentiated, 1e-11. Then the same where each call has another design, as in an optimization: another number of all,
which is a length or a mass. Processor time, the best of several repetitions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import simengine2d as se
from simengine2d.lab.sensitivity.dynamic_slopes import RTOL
from simengine2d.lab.sensitivity.parameters import varied_numbers
from simengine2d.lab.sweep.variants import numbers_of, variant

T_END, REPETITIONS = 5.0, 20


def sprung_four_bar() -> se.Model:
    """A four-bar that a spring with a damper holds against its weight."""
    model = se.load("four_bar")
    del model.elements["motor"]
    model.parameters |= {"k": 40.0, "free": 1.5, "c": 0.5, "spin": 1.0}
    ends = "distance(ground.at(0, 3), coupler.end)"
    model.add(se.Spring("spring", ends, stiffness="k", damping="c", free="free"))
    model.bodies["crank"].angular_velocity = "spin"
    return model


def cases() -> Iterator[tuple[str, se.Model, str]]:
    yield "four-bar on a spring", sprung_four_bar(), "max(A.force)"
    yield "sprung slider", se.load("sprung_slider"), "max(O.force)"
    yield "double wishbone", se.load("double_wishbone"), "max(A.force)"


def names_of(model: se.Model, count: int) -> list[str]:
    """Numbers of the model that may be varied, the first of them."""
    found: list[str] = []
    for name in numbers_of(model):
        try:
            varied_numbers(model, [name])
        except se.SimEngineError:
            continue
        found.append(name)
    return found[:count]


def processor_ms(run: Callable[[], object]) -> float:
    """The best of some repetitions, after one that compiles and loads."""
    run()
    times = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def designs(model: se.Model, name: str) -> Iterator[se.Model]:
    """The model again and again, with another value of a number each time."""
    for k in count(1):
        yield variant(model, {name: float(model.parameters[name]) * (1.0 + 1e-4 * k)})


def report(title: str, model: se.Model, output: str) -> None:
    run = processor_ms(lambda: se.dynamics(model, t_end=T_END))
    tight = processor_ms(lambda: se.dynamics(model, t_end=T_END, rtol=RTOL))
    print(f"{title}: a run {run:.2f} ms, with rtol = {RTOL:g} {tight:.1f} ms")
    for most in (1, 5, 20):
        names = names_of(model, most)
        gradient = partial(se.sensitivity, model, names, "dynamics", output, t_end=T_END)
        took = processor_ms(gradient)
        runs = f"{took / run:.1f} runs, {took / tight:.1f} with rtol = {RTOL:g}"
        print(f"    gradient by {len(names):2}: {took:6.1f} ms, {runs}")
    other = designs(model, names[0])
    run = processor_ms(lambda: se.dynamics(next(other), t_end=T_END))
    took = processor_ms(lambda: se.sensitivity(next(other), names, "dynamics", output, t_end=T_END))
    print(
        f"    another {names[0]} each time: a run {run:.1f} ms, a gradient {took:.1f} ms, {took / run:.1f} runs"
    )


def main() -> None:
    for title, model, output in cases():
        report(title, model, output)


if __name__ == "__main__":
    main()
