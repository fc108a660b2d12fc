"""Pinocchio: compiled accelerations (articulated bodies; constrained dynamics for loops), time loop in Python.

Its loops are points in space, so the plane leaves one redundant row each, which its proximal solver bears. Joints must
be added depth first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin
from cases import GROUND, Case
from measuring import SAMPLES, Simulation, State, Sweep, main, step_sizes, tolerances
from scipy.integrate import solve_ivp
from trees import Tree


def shifted(z: complex) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array([z.real, z.imag, 0.0]))


class Pinocchio(Simulation):
    def __init__(self, case: Case) -> None:
        self.case, self.tree = case, Tree(case)
        self.model = model = pin.Model()
        model.gravity.linear = np.array([*case.gravity, 0.0])
        self.joints = {GROUND: 0}
        for body, parent, slides, at in self.tree.links:
            kind = pin.JointModelPX() if slides else pin.JointModelRZ()
            place = shifted(self.tree.arm(parent, at))
            self.joints[body] = joint = model.addJoint(self.joints[parent], kind, place, f"j{body}")
            center = shifted(self.tree.center(body)).translation
            inertia = pin.Inertia(case.mass[body], center, np.eye(3) * case.inertia[body])
            model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        self.data = model.createData()
        self.torque = np.zeros(model.nv)
        for body, torque in case.torques:
            self.torque[self.tree.index[body]] = torque
        self.y0 = np.concatenate([np.zeros(model.nv), self.tree.rates()])
        self.accelerations = self.constrained() if self.tree.loops else self.free

    def free(self, s: np.ndarray, sd: np.ndarray) -> np.ndarray:
        return pin.aba(self.model, self.data, s, sd, self.torque)

    def constrained(self) -> object:
        """The accelerations under the loops."""
        constraints, memory = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for a, b, at in self.tree.loops:
            ends = [(self.joints[i], shifted(self.tree.arm(i, complex(*at)))) for i in (a, b)]
            constraint = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, self.model, *ends[0], *ends[1], pin.ReferenceFrame.LOCAL
            )
            constraints.append(constraint)
            memory.append(constraint.createData())
        pin.initConstraintDynamics(self.model, self.data, constraints, memory)
        proximal = pin.ProximalSettings(1e-12, 1e-10, 10)
        model, data, torque = self.model, self.data, self.torque
        return lambda s, sd: pin.constraintDynamics(model, data, s, sd, torque, constraints, memory, proximal)

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        n = y.size // 2
        return np.concatenate([y[n:], self.accelerations(y[:n], y[n:])])

    def state(self) -> State:
        return self.tree.absolute(*np.split(self.y, 2))


class RK4(Pinocchio):
    def __init__(self, case: Case, h: float) -> None:
        super().__init__(case)
        self.h, self.steps = h, round(case.t_end / h)

    def states(self) -> Iterator[np.ndarray]:
        y, h, f = self.y0, self.h, self.rates
        for _ in range(self.steps):
            k1 = f(0.0, y)
            k2 = f(0.0, y + h / 2 * k1)
            k3 = f(0.0, y + h / 2 * k2)
            k4 = f(0.0, y + h * k3)
            y = y + h / 6 * (k1 + 2 * (k2 + k3) + k4)
            yield y

    def run(self) -> None:
        *_, self.y = self.states()

    def history(self) -> Iterator[State]:
        for i, y in enumerate(self.states()):
            if i % max(1, self.steps // SAMPLES) == 0:
                yield self.tree.absolute(*np.split(y, 2))


class DOP853(Pinocchio):
    def __init__(self, case: Case, rtol: float) -> None:
        super().__init__(case)
        self.options = {"method": "DOP853", "rtol": rtol, "atol": rtol}

    def run(self) -> None:
        motion = solve_ivp(self.rates, (0.0, self.case.t_end), self.y0, **self.options)
        self.y, self.steps = motion.y[:, -1], motion.t.size - 1

    def history(self) -> Iterator[State]:
        times = np.linspace(0.0, self.case.t_end, SAMPLES + 1)
        for y in solve_ivp(self.rates, times[[0, -1]], self.y0, t_eval=times, **self.options).y.T:
            yield self.tree.absolute(*np.split(y, 2))


def sweeps(case: Case) -> Iterator[Sweep]:
    # the memory of 1000 links in a row exceeds 20 GB; springs are not at hand
    if case.n > 100 or case.springs:
        return
    if case.name.startswith("ladder"):  # it leaves the branch in singular positions
        if case.n <= 10:
            yield Sweep("loops, DOP853", "rtol", [1e-4, 1e-6], lambda rtol: DOP853(case, rtol))
        return
    name = "loops" if case.has_loops else "articulated"
    if not case.has_loops:
        yield Sweep(f"{name}, RK4", "h", step_sizes(case), lambda h: RK4(case, h))
    yield Sweep(f"{name}, DOP853", "rtol", tolerances(), lambda rtol: DOP853(case, rtol))


if __name__ == "__main__":
    main("Pinocchio", sweeps)
