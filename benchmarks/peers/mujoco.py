"""MuJoCo: hinges about z, loops closed by its soft `connect`, as stiff as the step allows."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco as mj
import numpy as np
from cases import GROUND, Case
from measuring import SAMPLES, Simulation, State, Sweep, main, step_sizes
from trees import Tree

mj.set_mju_user_warning(lambda message: None)  # unstable runs show in their error; do not log them to a file

# a time constant of two steps is the stiffest that is stable; with the default a loop gives way by centimeters
STIFF_LOOPS = [0.9999, 0.9999, 0.001, 0.5, 2]


def planar(z: complex) -> list[float]:
    return [z.real, z.imag, 0.0]


def new_spec(case: Case, integrator: str, h: float) -> mj.MjSpec:
    spec = mj.MjSpec()
    spec.option.timestep = h
    spec.option.integrator = getattr(mj.mjtIntegrator, "mjINT_" + integrator.upper())
    spec.option.gravity = [*case.gravity, 0.0]
    spec.option.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT
    return spec


def build(case: Case, tree: Tree, integrator: str, h: float) -> mj.MjModel:
    spec = new_spec(case, integrator, h)
    bodies = {GROUND: spec.worldbody}
    for body, parent, slides, at in tree.links:
        new = bodies[parent].add_body(
            name=f"b{body}", pos=planar(tree.arm(parent, at)), mass=case.mass[body], ipos=planar(tree.center(body)),
            inertia=[case.inertia[body]] * 3, explicitinertial=True,
        )  # fmt: skip
        kind, axis = (mj.mjtJoint.mjJNT_SLIDE, [1, 0, 0]) if slides else (mj.mjtJoint.mjJNT_HINGE, [0, 0, 1])
        new.add_joint(name=f"j{body}", type=kind, axis=axis)
        bodies[body] = new
    for a, b, at in tree.loops:
        add_loop(spec, tree, a, b, complex(*at), h)
    for _, b, k, c in case.joint_springs:  # of a chain: each on the joint of its second body
        joint = spec.joint(f"j{b}")
        joint.stiffness, joint.damping = [k, 0.0, 0.0], [c, 0.0, 0.0]
    for body, at, anchor, stiffness, free, _ in case.springs:
        bodies[body].add_site(name="moving", pos=planar(tree.arm(body, complex(*at))))
        spec.worldbody.add_site(name="fixed", pos=[*anchor, 0.0])
        tendon = spec.add_tendon(stiffness=[stiffness, 0.0, 0.0], springlength=[free, free])
        tendon.wrap_site("moving")
        tendon.wrap_site("fixed")
    return spec.compile()


def add_loop(spec: mj.MjSpec, tree: Tree, a: int, b: int, at: complex, h: float) -> None:
    first, second = (b, a) if a == GROUND else (a, b)
    loop = spec.add_equality(type=mj.mjtEq.mjEQ_CONNECT, objtype=mj.mjtObj.mjOBJ_BODY)
    loop.name1, loop.name2 = f"b{first}", "world" if second == GROUND else f"b{second}"
    loop.data[:3] = planar(tree.arm(first, at))
    loop.solref, loop.solimp = [2 * h, 1.0], STIFF_LOOPS


class MuJoCo(Simulation):
    def __init__(self, case: Case, integrator: str, h: float) -> None:
        self.tree, self.steps = Tree(case), round(case.t_end / h)
        self.case = case
        self.model = build(case, self.tree, integrator, h)
        self.data = mj.MjData(self.model)
        joints = [self.model.joint(f"j{link.body}") for link in self.tree.links]
        self.order = np.array([joint.dofadr[0] for joint in joints])

    def reset(self) -> None:
        mj.mj_resetData(self.model, self.data)
        self.data.qvel[self.order] = self.tree.rates()
        for body, torque in self.case.torques:
            self.data.qfrc_applied[self.order[self.tree.index[body]]] = torque
        mj.mj_forward(self.model, self.data)

    def run(self) -> None:
        mj.mj_step(self.model, self.data, self.steps)

    def state(self) -> State:
        return self.tree.absolute(self.data.qpos[self.order], self.data.qvel[self.order])

    def history(self) -> Iterator[State]:
        self.reset()
        every = max(1, self.steps // SAMPLES)
        for _ in range(self.steps // every):
            mj.mj_step(self.model, self.data, every)
            yield self.state()


class ElasticPendulum(MuJoCo):
    """A pendulum on a spring: the hinge that turns the rod and a slide along it, which has the spring."""

    def __init__(self, case: Case, integrator: str, h: float) -> None:
        self.case, self.steps = case, round(case.t_end / h)
        ((_, at, _, k, _, c),) = case.springs
        spec = new_spec(case, integrator, h)
        bob = spec.worldbody.add_body(
            pos=[*at, 0.0], ipos=[0.0] * 3, mass=case.mass[0], inertia=[1e-12] * 3, explicitinertial=True
        )
        bob.add_joint(type=mj.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1], pos=[-at[0], -at[1], 0.0])
        spring = {"stiffness": [k, 0.0, 0.0], "damping": [c, 0.0, 0.0]}
        bob.add_joint(type=mj.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0], **spring)
        self.model = spec.compile()
        self.data = mj.MjData(self.model)

    def reset(self) -> None:
        mj.mj_resetData(self.model, self.data)
        mj.mj_forward(self.model, self.data)

    def state(self) -> State:
        (angle, stretch), (spin, rate) = self.data.qpos, self.data.qvel
        turn, length = np.exp(1j * angle), 1.0 + stretch
        z, zd = length * turn, (rate + 1j * spin * length) * turn
        return np.array([[z.real, z.imag, 0.0]]), np.array([[zd.real, zd.imag, 0.0]])


def sweeps(case: Case) -> Iterator[Sweep]:
    if case.n == 1000:  # a step takes 0.2 s
        return
    yield Sweep("RK4", "h", step_sizes(case), lambda h: MuJoCo(case, "RK4", h))
    if case.has_loops:
        yield Sweep("implicitfast", "h", step_sizes(case), lambda h: MuJoCo(case, "implicitfast", h))


def stiff_sweeps(case: Case) -> Iterator[Sweep]:
    if case.bushings:  # it has none that would close a loop
        return
    make = ElasticPendulum if case.springs else MuJoCo
    for integrator in "implicit", "implicitfast", "discrete", "RK4":
        yield Sweep(
            integrator, "h", step_sizes(case), lambda h, integrator=integrator: make(case, integrator, h)
        )


if __name__ == "__main__":
    main("MuJoCo", sweeps, stiff_sweeps)
