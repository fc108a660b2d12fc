"""pymunk (Chipmunk): impulses and symplectic Euler steps, first order; time loop in Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pymunk
from cases import GROUND, Case
from measuring import SAMPLES, Simulation, State, Sweep, main, step_sizes


class Pymunk(Simulation):
    def __init__(self, case: Case, h: float) -> None:
        self.case, self.h, self.steps = case, h, round(case.t_end / h)

    def reset(self) -> None:
        case = self.case
        self.space = space = pymunk.Space()
        space.gravity, space.iterations = case.gravity, 30 if case.n <= 10 else 200
        self.bodies = [pymunk.Body(body.mass, body.inertia) for body in case.bodies]
        for body, q, qd in zip(self.bodies, case.q0, case.qd0, strict=True):
            body.position, body.angle = tuple(q[:2]), q[2]
            body.velocity, body.angular_velocity = tuple(qd[:2]), qd[2]
        space.add(*self.bodies, *self.joints())

    def joints(self) -> Iterator[pymunk.Constraint]:
        ground = self.space.static_body
        body = lambda i: ground if i == GROUND else self.bodies[i]
        for a, b, at in self.case.pins:
            pin = pymunk.PivotJoint(body(a), body(b), self.case.local(a, at), self.case.local(b, at))
            pin.error_bias, pin.max_bias = 0.0, 1e9  # a gap is closed within a step
            yield pin
        for i in self.case.guided:
            y = self.case.q0[i, 1]
            yield pymunk.GrooveJoint(ground, self.bodies[i], (-10.0, y), (10.0, y), (0.0, 0.0))
            yield pymunk.RotaryLimitJoint(ground, self.bodies[i], 0.0, 0.0)

    def run(self) -> None:
        step, h = self.space.step, self.h
        for _ in range(self.steps):
            step(h)

    def state(self) -> State:
        q = [[b.position.x, b.position.y, b.angle] for b in self.bodies]
        return np.array(q), np.array([[b.velocity.x, b.velocity.y, b.angular_velocity] for b in self.bodies])

    def history(self) -> Iterator[State]:
        self.reset()
        for i in range(self.steps):
            self.space.step(self.h)
            if i % max(1, self.steps // SAMPLES) == 0:
                yield self.state()


def sweeps(case: Case) -> Iterator[Sweep]:
    if case.springs or case.n > 10:  # no torque and spring of this kind; larger ones blow up
        return
    yield Sweep("impulses", "h", step_sizes(case), lambda h: Pymunk(case, h))


if __name__ == "__main__":
    main("pymunk", sweeps)
