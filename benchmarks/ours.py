"""simengine2d on the cases of the benchmarks, measured as every peer is: `python -m ours four_bar chain100`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from cases import GROUND, Case
from measuring import SAMPLES, Simulation, State, Sweep, main, step_sizes
from targets import PLAIN, WHOLE

import simengine2d as se

TOLERANCES = [10.0 ** (-k / 2) for k in range(2, 25)]  # half decades from 1e-1 to 1e-12


def model(case: Case) -> se.Model:
    """A case as a model; bodies b0, b1, ..."""
    m = se.Model(case.name, gravity=case.gravity)
    bodies = [
        m.body(
            f"b{i}", mass=body.mass, inertia=body.inertia, at=body.pose[:2], angle=body.pose[2],
            velocity=body.velocity[:2], angular_velocity=body.velocity[2],
        )
        for i, body in enumerate(case.bodies)
    ]  # fmt: skip

    def frame(body: int, at: tuple[float, float]) -> se.Frame:
        return (m.ground if body == GROUND else bodies[body]).at(*case.local(body, at))

    for i, (a, b, at) in enumerate(case.pins):
        m.add(se.Revolute(f"pin{i}", frame(a, at), frame(b, at)))
    for i in case.guided:
        m.add(se.Translational(f"guide{i}", m.ground, bodies[i], direction=(1.0, 0.0)))
    for i, (body, at, anchor, k, free, c) in enumerate(case.springs):
        ends = se.distance(frame(GROUND, anchor), frame(body, at))
        m.add(se.Spring(f"spring{i}", ends, stiffness=k, free=free, damping=c))
    for i, (a, b, at, k, c) in enumerate(case.bushings):
        for measure in se.x, se.y:
            gap = measure(frame(a, at), frame(b, at))
            m.add(se.Spring(f"bushing{i} {measure.__name__}", gap, stiffness=k, damping=c))
    for i, (a, b, k, c) in enumerate(case.joint_springs):
        turn = se.angle(frame(a, (0.0, 0.0)), frame(b, (0.0, 0.0)))
        m.add(se.Spring(f"joint{i}", turn, stiffness=k, damping=c))
    for i, (body, torque) in enumerate(case.torques):
        m.add(se.Torque(f"motor{i}", bodies[body], torque))
    return m


class Ours(Simulation):
    def __init__(self, case: Case, system: se.System, **options: Any) -> None:
        self.case, self.system, self.options = case, system, options
        se.dynamics(system, t_eval=[0.0, 2.0 * options.get("step", 1e-9)], **options)  # compiles

    def run(self) -> None:
        self.results = se.dynamics(self.system, t_eval=[0.0, self.case.t_end], **self.options)
        counts = self.results.statistics
        self.steps = counts["steps"] + counts.get("implicit steps", 0)

    def state(self) -> State:
        return self.results.q[-1].reshape(-1, 3), self.results.qd[-1].reshape(-1, 3)

    def history(self) -> Iterator[State]:
        times = np.linspace(0.0, self.case.t_end, SAMPLES + 1)
        results = se.dynamics(self.system, t_eval=times, **self.options)
        for q, qd in zip(results.q, results.qd, strict=True):
            yield q.reshape(-1, 3), qd.reshape(-1, 3)


class PlainCall(Simulation):
    """`se.dynamics(system, t_end=..., rtol=...)`, which chooses all else and gives the usual results."""

    system: se.System | se.Model

    def __init__(self, case: Case, system: se.System, rtol: float) -> None:
        self.case, self.system, self.rtol = case, system, rtol
        span = case.t_end if case.stiff else 1e-9  # what takes over stiff motions is compiled when it does
        for _ in range(2):
            se.dynamics(system, t_end=span, rtol=rtol)

    def run(self) -> None:
        self.results = se.dynamics(self.system, t_end=self.case.t_end, rtol=self.rtol)
        counts = self.results.statistics
        self.steps = counts["steps"] + counts.get("implicit steps", 0)

    def state(self) -> State:
        return self.results.q[-1].reshape(-1, 3), self.results.qd[-1].reshape(-1, 3)

    def history(self) -> Iterator[State]:
        self.run()
        for q, qd in zip(self.results.q, self.results.qd, strict=True):
            yield q.reshape(-1, 3), qd.reshape(-1, 3)


class WholeCall(PlainCall):
    """The same from a Model that is new in its numbers, by less than the error shows."""

    numbers = itertools.count(1)

    def reset(self) -> None:
        first, *others = self.case.bodies
        heavier = first._replace(mass=first.mass * (1.0 + 1e-15 * next(self.numbers)))
        self.system = model(replace(self.case, bodies=[heavier, *others]))


class Going(Simulation):
    """The same without results: a Simulator that goes to the end, as most peers are measured."""

    def __init__(self, case: Case, system: se.System, **options: Any) -> None:
        self.case, self.simulator = case, se.Simulator(system, **options)

    def reset(self) -> None:
        self.simulator.reset()

    def run(self) -> None:
        self.simulator.advance_to(self.case.t_end)

    def state(self) -> State:
        self.steps = self.simulator.statistics["steps"]
        return self.simulator.q.reshape(-1, 3), self.simulator.qd.reshape(-1, 3)

    def history(self) -> Iterator[State]:
        self.reset()
        for t in np.linspace(0.0, self.case.t_end, SAMPLES + 1):
            self.simulator.advance_to(float(t))
            yield self.state()


def sweeps(case: Case) -> Iterator[Sweep]:
    system = se.System(model(case))  # built once: a call then solves and nothing else
    yield Sweep(PLAIN, "rtol", TOLERANCES, lambda rtol: PlainCall(case, system, rtol))
    yield Sweep(WHOLE, "rtol", TOLERANCES[::2], lambda rtol: WholeCall(case, system, rtol))
    for method in ("dop853", "tsitouras5"):
        joints = {"coordinates": "relative", "integrator": method}
        yield Sweep(
            f"relative, {method}",
            "rtol",
            TOLERANCES,
            lambda rtol, o=joints: Ours(case, system, rtol=rtol, **o),
        )
        yield Sweep(
            f"Simulator, {method}",
            "rtol",
            TOLERANCES,
            lambda rtol, o=joints: Going(case, system, rtol=rtol, **o),
        )
    if case.name == "four_bar" or case.name.startswith("chain"):
        method = se.GeneralizedAlpha(rho=0.9)
        yield Sweep("generalized_alpha", "h", [1e-3], lambda h: Ours(case, system, integrator=method, step=h))
    if case.name == "four_bar":
        # without stabilization, as the C program
        index1 = {"integrator": "rk4", "formulation": se.Augmented(alpha=0, beta=0)}
        yield Sweep("rk4", "h", [1e-3], lambda h: Ours(case, system, step=h, **index1))


def stiff_sweeps(case: Case) -> Iterator[Sweep]:
    system = se.System(model(case))
    yield Sweep(PLAIN, "rtol", TOLERANCES, lambda rtol: PlainCall(case, system, rtol))
    yield Sweep(WHOLE, "rtol", TOLERANCES[::2], lambda rtol: WholeCall(case, system, rtol))
    for method in ("dop853", "radau_adaptive"):
        joints = {"coordinates": "relative", "integrator": method}
        yield Sweep(
            f"relative, {method}",
            "rtol",
            TOLERANCES,
            lambda rtol, o=joints: Ours(case, system, rtol=rtol, **o),
        )
    alpha = se.GeneralizedAlpha(rho=0.9)
    yield Sweep(
        "generalized_alpha", "h", step_sizes(case), lambda h: Ours(case, system, integrator=alpha, step=h)
    )


if __name__ == "__main__":
    main("simengine2d", sweeps, stiff_sweeps)
