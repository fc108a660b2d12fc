"""Drake: open chains with error-controlled Runge-Kutta methods. Its loops exist in discrete mode only, first order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from cases import GROUND, Case
from measuring import SAMPLES, Simulation, State, Sweep, main, tolerances
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
from trees import Tree


def planar(z: complex) -> np.ndarray:
    return np.array([z.real, z.imag, 0.0])


class Drake(Simulation):
    """A continuous plant where an accuracy is given, a discrete one with the step h."""

    def __init__(self, case: Case, *, h: float = 0.0, accuracy: float | None = None) -> None:
        self.case, self.tree = case, Tree(case)
        self.plant, self.joints = MultibodyPlant(time_step=h), []
        self.build()
        self.simulator = Simulator(self.plant)
        self.context = self.simulator.get_mutable_context()
        self.steps = round(case.t_end / h) if h else 0
        self.adaptive = accuracy is not None
        if accuracy is not None:
            ResetIntegratorFromFlags(self.simulator, "runge_kutta5", 0.1)
            self.simulator.get_mutable_integrator().set_target_accuracy(accuracy)

    def build(self) -> None:
        plant, case, tree = self.plant, self.case, self.tree
        plant.mutable_gravity_field().set_gravity_vector([*case.gravity, 0.0])
        bodies = {GROUND: plant.world_body()}
        for body, parent, slides, at in tree.links:
            center, square = planar(tree.center(body)), case.inertia[body] / case.mass[body]
            unit = UnitInertia(square, square, square).ShiftFromCenterOfMass(center)
            bodies[body] = plant.AddRigidBody(f"b{body}", SpatialInertia(case.mass[body], center, unit))
            place = RigidTransform(planar(tree.arm(parent, at)))
            frame = plant.AddFrame(FixedOffsetFrame(f"f{body}", bodies[parent].body_frame(), place))
            kind, axis = (PrismaticJoint, [1, 0, 0]) if slides else (RevoluteJoint, [0, 0, 1])
            self.joints.append(plant.AddJoint(kind(f"j{body}", frame, bodies[body].body_frame(), axis)))
        for a, b, at in tree.loops:
            ends = [x for i in (a, b) for x in (bodies[i], planar(tree.arm(i, complex(*at))))]
            plant.AddBallConstraint(*ends)
        plant.Finalize()
        self.order = np.array([joint.position_start() for joint in self.joints])

    def reset(self) -> None:
        self.context.SetTime(0.0)
        rates = np.zeros(self.case.n)
        rates[self.order] = self.tree.rates()
        self.plant.SetPositions(self.context, np.zeros(self.case.n))
        self.plant.SetVelocities(self.context, rates)
        self.simulator.Initialize()
        self.simulator.ResetStatistics()

    def run(self) -> None:
        self.simulator.AdvanceTo(self.case.t_end)
        if self.adaptive:
            self.steps = self.simulator.get_integrator().get_num_steps_taken()

    def state(self) -> State:
        s, sd = self.plant.GetPositions(self.context), self.plant.GetVelocities(self.context)
        return self.tree.absolute(s[self.order], sd[self.order])

    def history(self) -> Iterator[State]:
        self.reset()
        for k in range(1, SAMPLES + 1):
            self.simulator.AdvanceTo(self.case.t_end * k / SAMPLES)
            yield self.state()


def sweeps(case: Case) -> Iterator[Sweep]:
    if case.springs:
        return
    if case.has_loops:
        yield Sweep("discrete", "h", [1e-2, 1e-3], lambda h: Drake(case, h=h))
    else:
        yield Sweep("RK5", "accuracy", tolerances(2, 10), lambda accuracy: Drake(case, accuracy=accuracy))


if __name__ == "__main__":
    main("Drake", sweeps)
