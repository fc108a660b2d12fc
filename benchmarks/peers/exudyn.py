"""Exudyn, its fast module: bodies and joints in the plane (index 3 and 2), and kinematic trees for open chains.

One Jacobian per step and the dense solver up to some 30 bodies are its fastest options here. Its explicit methods
refuse constraints, so loops are second order.
"""

from __future__ import annotations

from collections.abc import Iterator

import exudyn as exu
import numpy as np
from cases import GROUND, Case
from exudyn.itemInterface import (
    LoadCoordinate,
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    MarkerBodyRigid,
    MarkerNodeCoordinate,
    NodeGenericODE2,
    NodePointGround,
    NodeRigidBody2D,
    ObjectConnectorCartesianSpringDamper,
    ObjectConnectorCoordinateSpringDamper,
    ObjectConnectorSpringDamper,
    ObjectGround,
    ObjectJointPrismatic2D,
    ObjectJointRevolute2D,
    ObjectKinematicTree,
    ObjectRigidBody2D,
)
from measuring import SAMPLES, Simulation, State, Sweep, main, step_sizes, tolerances
from trees import Tree

exu.config.printToConsole = False


class Planar(Simulation):
    """Absolute coordinates with joints as constraints."""

    def __init__(self, case: Case, solver: str, h: float) -> None:
        self.case = case
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        build_planar(self.system, case)
        self.system.Assemble()
        self.settings = settings(case.t_end, h, "EigenDense" if case.n < 30 else "EigenSparse")
        self.solver = getattr(exu.DynamicSolverType, solver)
        self.most_steps = round(case.t_end / h)

    def run(self) -> None:
        self.system.SolveDynamic(self.settings, solverType=self.solver, showHints=False)

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.system.sys["dynamicSolver"].it.currentStepIndex - 1

    def state(self) -> State:
        data = self.system.systemData
        q = np.array(data.GetODE2Coordinates()).reshape(-1, 3) + self.case.q0
        return q, np.array(data.GetODE2Coordinates_t()).reshape(-1, 3)

    def history(self) -> Iterator[State]:
        states, every, count = [], max(1, self.most_steps // SAMPLES), 0

        def note(system: object, t: float) -> bool:
            nonlocal count
            count += 1
            if count % every == 0:
                states.append(self.state())
            return True

        self.system.SetPreStepUserFunction(note)
        self.run()
        self.system.SetPreStepUserFunction(0)
        yield from states
        yield self.state()


class Explicit(Planar):
    """Bodies without joints, with error control."""

    def __init__(self, case: Case, solver: str, tolerance: float) -> None:
        super().__init__(case, solver, 1e-3)
        adapt(self.settings.timeIntegration, tolerance)


def build_planar(system: object, case: Case) -> None:
    ground = system.AddObject(ObjectGround())
    nodes, bodies = [], []
    for body, q0, qd0 in zip(case.bodies, case.q0, case.qd0, strict=True):
        nodes.append(system.AddNode(NodeRigidBody2D(referenceCoordinates=q0, initialVelocities=qd0)))
        rigid = ObjectRigidBody2D(mass=body.mass, inertia=body.inertia, nodeNumber=nodes[-1])
        bodies.append(system.AddObject(rigid))
        marker = system.AddMarker(MarkerBodyMass(bodyNumber=bodies[-1]))
        system.AddLoad(LoadMassProportional(markerNumber=marker, loadVector=[*case.gravity, 0]))

    def marker(body: int, at: tuple[float, float], kind: type = MarkerBodyPosition) -> int:
        number = ground if body == GROUND else bodies[body]
        return system.AddMarker(kind(bodyNumber=number, localPosition=[*case.local(body, at), 0]))

    for a, b, at in case.pins:
        system.AddObject(ObjectJointRevolute2D(markerNumbers=[marker(a, at), marker(b, at)]))
    for body in case.guided:
        sides = [marker(i, tuple(case.q0[body, :2]), MarkerBodyRigid) for i in (GROUND, body)]
        system.AddObject(ObjectJointPrismatic2D(markerNumbers=sides))
    for body, at, anchor, k, free, c in case.springs:
        sides = [marker(GROUND, anchor), marker(body, at)]
        spring = ObjectConnectorSpringDamper(
            markerNumbers=sides, stiffness=k, referenceLength=free, damping=c
        )
        system.AddObject(spring)
    for a, b, at, k, c in case.bushings:
        sides = [marker(a, at), marker(b, at)]
        system.AddObject(
            ObjectConnectorCartesianSpringDamper(markerNumbers=sides, stiffness=[k, k, 0], damping=[c, c, 0])
        )
    fixed = system.AddNode(NodePointGround()) if case.joint_springs else None

    def angle(body: int) -> int:
        node, coordinate = (fixed, 0) if body == GROUND else (nodes[body], 2)
        return system.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))

    for a, b, k, c in case.joint_springs:
        sides = [angle(a), angle(b)]
        system.AddObject(ObjectConnectorCoordinateSpringDamper(markerNumbers=sides, stiffness=k, damping=c))
    for body, torque in case.torques:
        system.AddLoad(LoadCoordinate(markerNumber=angle(body), load=torque))


class OpenTree(Simulation):
    """Minimal coordinates of a chain of equal bars with explicit Runge-Kutta methods."""

    def __init__(self, case: Case, solver: str, *, h: float = 1e-3, tolerance: float | None = None) -> None:
        self.tree = Tree(case)
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        n, links = case.n, self.tree.links
        zeros = [0.0] * n
        node = self.system.AddNode(
            NodeGenericODE2(
                referenceCoordinates=zeros, initialCoordinates=zeros, initialCoordinates_t=list(self.tree.rates()),
                numberOfODE2Coordinates=n,
            )
        )  # fmt: skip
        inertias, frames, offsets, centers = (
            exu.Matrix3DList(), exu.Matrix3DList(), exu.Vector3DList(), exu.Vector3DList()
        )  # fmt: skip
        for body, parent, _, at in links:
            inertia, arm, center = case.inertia[body], self.tree.arm(parent, at), self.tree.center(body)
            inertias.Append(np.diag([0.0, inertia, inertia]))
            frames.Append(np.eye(3))
            offsets.Append([arm.real, arm.imag, 0.0])
            centers.Append([center.real, center.imag, 0.0])
        kinematic_tree = ObjectKinematicTree(
            nodeNumber=node, gravity=[*case.gravity, 0], jointTypes=[exu.JointType.RevoluteZ] * n,
            linkParents=np.array([self.tree.index.get(link.parent, -1) for link in links]), jointOffsets=offsets,
            jointTransformations=frames, linkInertiasCOM=inertias, linkCOMs=centers,
            linkMasses=[case.mass[link.body] for link in links],
        )  # fmt: skip
        self.system.AddObject(kinematic_tree)
        self.system.Assemble()
        self.settings = settings(case.t_end, h, "EXUdense")
        if tolerance:
            adapt(self.settings.timeIntegration, tolerance)
        self.solver = getattr(exu.DynamicSolverType, solver)

    run, steps = Planar.run, Planar.steps

    def state(self) -> State:
        data = self.system.systemData
        return self.tree.absolute(np.array(data.GetODE2Coordinates()), np.array(data.GetODE2Coordinates_t()))


def settings(t_end: float, h: float, linear_solver: str) -> object:
    s = exu.SimulationSettings()
    time = s.timeIntegration
    time.endTime, time.numberOfSteps, time.verboseMode = t_end, round(t_end / h), 0
    time.newton.useModifiedNewton = time.newton.modifiedNewtonJacUpdatePerStep = True
    time.generalizedAlpha.spectralRadius = 0.9
    time.explicit.computeEndOfStepAccelerations = False
    s.solution.file.write = s.solution.sensors.active = s.show.globalTimers = False
    s.linearSolver.reuseAnalyzedPattern = "Sparse" in linear_solver
    s.linearSolver.solverType = getattr(exu.LinearSolverType, linear_solver)
    return s


def adapt(time: object, tolerance: float) -> None:
    time.automaticStepSize = True
    time.absoluteTolerance = time.relativeTolerance = tolerance
    time.initialStepSize, time.minimumStepSize, time.numberOfSteps = 1e-4, 1e-13, 5


def sweeps(case: Case) -> Iterator[Sweep]:
    if not case.has_loops and case.n <= 100:
        yield Sweep("tree RK44", "h", step_sizes(case), lambda h: OpenTree(case, "RK44", h=h))
        yield Sweep("tree RK67", "h", step_sizes(case), lambda h: OpenTree(case, "RK67", h=h))
        yield Sweep("tree DOPRI5", "tol", tolerances(), lambda tol: OpenTree(case, "DOPRI5", tolerance=tol))
    # a thousand links: coarser steps struggle, finer ones take minutes
    steps = [h for h in step_sizes(case) if case.n < 1000 or 1e-3 <= h <= 1e-2]
    yield Sweep("generalized-alpha", "h", steps, lambda h: Planar(case, "GeneralizedAlpha", h))
    if not case.name.startswith("ladder"):  # it fails in singular positions
        yield Sweep("trapezoidal", "h", steps, lambda h: Planar(case, "TrapezoidalIndex2", h))


def stiff_sweeps(case: Case) -> Iterator[Sweep]:
    """Implicit methods; the explicit ones where there is no joint."""
    yield Sweep("generalized-alpha", "h", step_sizes(case), lambda h: Planar(case, "GeneralizedAlpha", h))
    yield Sweep("trapezoidal", "h", step_sizes(case), lambda h: Planar(case, "TrapezoidalIndex2", h))
    if not case.pins:
        yield Sweep("DOPRI5", "tol", tolerances(), lambda tol: Explicit(case, "DOPRI5", tol))


if __name__ == "__main__":
    main("Exudyn", sweeps, stiff_sweeps)
