"""Ctrl-C at any moment: every row that is kept is right, and resumed it is as if the run had never stopped."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders

WAYS: list[dict[str, Any]] = [
    {"rtol": 1e-11},
    {"rtol": 1e-11, "default": True},
    {"integrator": "newmark", "step": 1e-4},
    {"integrator": "rk4", "step": 1e-4},
    {"integrator": "tsitouras5", "rtol": 1e-10},
    {"coordinates": "relative", "rtol": 1e-12},
    {"formulation": "index3", "rtol": 1e-9},
    {"rtol": 1e-10, "events": [se.Event("a.phid", stop=False)]},
]


def pendulum(rng: np.random.Generator) -> se.Model:
    m = se.Model("double pendulum")
    a = m.bar("a", (0, 0), (1, 0), mass=1)
    b = m.bar("b", (1, 0), (1.0 + rng.uniform(0.3, 1.0), 0), mass=1)
    m.add(se.Revolute("O", m.ground, a["start"]))
    m.add(se.Revolute("A", a["end"], b["start"]))
    return m


def options_of(way: dict[str, Any], t_end: float) -> dict[str, Any]:
    if way.get("default"):
        return {"t_end": t_end} | {key: value for key, value in way.items() if key != "default"}
    return {"t_eval": np.linspace(0, t_end, 1001)} | way


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Interrupted once or twice at random moments, by a signal."""
    for k in range(count):
        way = WAYS[k % len(WAYS)]
        yield from wrong(rng, way, t_end=float(rng.uniform(2.0, 6.0)))


def wrong(rng: np.random.Generator, way: dict[str, Any], t_end: float) -> Iterator[str]:
    model, options = pendulum(rng), options_of(way, t_end)
    lasted, whole = timed(lambda: se.dynamics(model, **options))
    kept = stopped_after(rng.uniform(0.0, 1.0) * lasted, lambda: se.dynamics(model, **options))
    for _ in range(2):
        if kept is None or not kept.checkpoint or kept.t.size in (0, whole.t.size):
            return
        n = kept.t.size
        if not np.array_equal(kept.q, whole.q[:n]) or not np.array_equal(kept.lam, whole.lam[:n]):
            yield f"{way}: rows of an interrupted run differ"
        more = {} if "t_end" in options else {"t_eval": options["t_eval"]}
        part, go_on = kept, lambda part=kept, more=more: part.resume(**more)
        kept = stopped_after(rng.uniform(0.0, 1.0) * lasted, go_on)
        if kept is None:
            resumed = part.resume(**more)
            same = resumed.t.shape == whole.t.shape and all(
                np.array_equal(getattr(resumed, name), getattr(whole, name))
                for name in ("t", "q", "qd", "lam")
            )
            if not same:
                yield f"{way}: interrupted at {part.t[-1]:g} s and resumed it is another motion"
            if resumed.events != whole.events:
                yield f"{way}: other events after an interruption"


def timed(run: Any) -> tuple[float, se.Results]:
    import time

    run()
    begun = time.perf_counter()
    results = run()
    return time.perf_counter() - begun, results


def stopped_after(delay: float, run: Any) -> se.Results | None:
    """What is kept of a run that gets Ctrl-C after some time; None where it had ended by then."""
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        run()
        timer.join()  # a signal that came too late
    except se.Interrupted as error:
        return error.results
    except KeyboardInterrupt:
        return None
    finally:
        timer.cancel()
    return None


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_interrupted_at_any_moment():
    assert list(attack(np.random.default_rng(1), len(WAYS))) == []


def test_the_handler_is_given_back():
    before = signal.getsignal(signal.SIGINT)
    se.dynamics(builders.chain(1), t_end=0.1)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_full_disk_is_a_note():
    def keep(results: se.Results) -> None:
        raise OSError(28, "No space left on device")

    results = se.dynamics(builders.chain(1), t_end=1.0, keep=keep)
    assert results.t[-1] == 1.0 and any("No space left" in note for note in results.notes)


def test_a_slow_law_does_not_make_deaf():
    """Chunks are short in time, however slow a step is."""
    import time

    heard: list[float] = []

    def slow(x: float, y: float, phi: float, xd: float, yd: float, phid: float, t: float) -> float:
        time.sleep(1e-4)
        return float(np.sin(50 * t))

    model = builders.chain(1)
    model.add(se.Torque("slow", next(iter(model.bodies)), slow))
    se.dynamics(model, t_end=1.0, step=0.1, progress=lambda t: heard.append(time.perf_counter()))
    assert max(np.diff(heard), default=0.0) < 2.0
