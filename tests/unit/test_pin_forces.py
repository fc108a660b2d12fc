"""Multipliers of trees of pins: Newton-Euler inward, against the whole system in reference points."""

import numpy as np
import pytest

import simengine2d as se


def local(pose, point):
    x, y, angle = pose
    c, s, dx, dy = np.cos(angle), np.sin(angle), point[0] - x, point[1] - y
    return float(c * dx + s * dy), float(c * dy - s * dx)


def random_tree(seed: int, loads: bool) -> se.Model:
    """Bodies on pins, each on the ground or on an earlier one; pins written from either side."""
    rng = np.random.default_rng(seed)
    m, bodies = se.Model("tree", gravity=(0.3, -9.81)), []
    poses = {m.ground.name: (0.0, 0.0, 0.0)}
    for i in range(int(rng.integers(2, 7))):
        at, angle = rng.normal(size=2), float(rng.normal())
        body = m.body(
            f"b{i}", mass=rng.uniform(0.2, 3), inertia=rng.uniform(0.1, 1), at=tuple(at), angle=angle
        )
        parent = m.ground if i == 0 or rng.random() < 0.2 else bodies[int(rng.integers(len(bodies)))]
        poses[body.name] = *at, angle
        pin = at + rng.normal(size=2)
        ends = [one.at(*local(poses[one.name], pin)) for one in (parent, body)]
        m.add(se.Revolute(f"pin{i}", *(ends if rng.random() < 0.5 else ends[::-1])))
        bodies.append(body)
    if loads:
        m.add(
            se.Spring(
                "spring",
                se.distance(m.ground.at(3, 3), bodies[-1].at(0.1, 0.2)),
                stiffness=20,
                free=1,
                damping=1,
            )
        )
        m.add(se.Torque("motor", bodies[0], "3*sin(t)"))
        m.add(se.Spring("twist", se.angle(bodies[0], bodies[1]), stiffness=2.0))
    return m


def with_loops(m: se.Model, count: int) -> se.Model:
    """The same tree, its last bodies pinned to the ground or to each other where they are drawn."""
    poses = {body.name: (*body.position, body.angle) for body in m.bodies.values()} | {
        m.ground.name: (0.0,) * 3
    }
    one, other = [*m.bodies.values()][-1], [*m.bodies.values()][-2]
    for number, ends in enumerate([(one, m.ground), (other, one)][:count]):
        x, y, _ = poses[ends[0].name]
        pin = (x + 0.3, y - 0.7)
        m.add(se.Revolute(f"loop{number}", *(end.at(*local(poses[end.name], pin)) for end in ends)))
    return m


@pytest.mark.parametrize("loads", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_forces_in_pins_are_those_of_reference_points(seed, loads):
    system, times = se.System(random_tree(seed, loads)), np.linspace(0, 0.5, 6)
    ours = se.dynamics(system, t_eval=times, rtol=1e-11, coordinates="relative")
    theirs = se.dynamics(system, t_eval=times, rtol=1e-11, coordinates="reference_point")
    scale = np.abs(theirs.lam).max()
    assert np.abs(ours.lam - theirs.lam).max() < 1e-7 * scale
    assert max(ours.residuals.values()) < 1e-9
    assert not [note for note in ours.notes if "double precision" in note]


@pytest.mark.slow
@pytest.mark.parametrize("loads", [False, True])
@pytest.mark.parametrize(("seed", "count"), [(0, 1), (2, 1), (4, 1), (4, 2)])
def test_forces_in_pins_that_close_loops(seed, count, loads):
    system, times = se.System(with_loops(random_tree(seed, loads), count)), np.linspace(0, 0.3, 7)
    ours = se.dynamics(system, t_eval=times, rtol=1e-11, coordinates="relative")
    theirs = se.dynamics(system, t_eval=times, rtol=1e-11, coordinates="reference_point")
    assert np.abs(ours.lam - theirs.lam).max() < 1e-7 * np.abs(theirs.lam).max()
    # and each body is in balance, M qdd + Phi_q^T lam = QA
    for k, t in enumerate(ours.t):
        q, qd, qdd = ours.q[k], ours.qd[k], ours.qdd[k]
        forces = system.QA(t, q, qd) - system.Phi_q(t, q).T @ ours.lam[k]
        assert np.abs(system.masses * qdd - forces).max() < 1e-9 * np.abs(forces).max()
    assert max(ours.residuals.values()) < 1e-9
