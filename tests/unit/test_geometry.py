"""What does not depend on masses and forces is shared by Systems that differ in these only, and by no others."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.assembly.assemble import closed_pose
from simengine2d.analyses.dynamics import idle_families
from simengine2d.coordinates.relative.relative import Relative
from simengine2d.lab.sweep.variants import variant
from simengine2d.model import library
from simengine2d.system.elimination import drawn_slopes, lengths_per_row
from simengine2d.system.geometry import geometries
from simengine2d.system.renumbering import OwnSystem


@pytest.fixture(autouse=True)
def empty():
    geometries.clear()
    yield
    geometries.clear()


def sprung_crank(mass: float = 2.0, length: float = 3.0) -> se.Model:
    m = builders.slider_crank(1.0, length)
    for body in m.bodies.values():
        body.mass, body.inertia = mass, 0.5
    m.add(
        se.Spring("spring", se.distance(m.ground, list(m.bodies.values())[-1]), stiffness=10 * mass, free=1)
    )
    return m


def test_systems_that_differ_in_masses_and_forces_share_their_geometry():
    one, other = se.System(sprung_crank(2.0)), se.System(sprung_crank(5.0))
    assert one.geometry == other.geometry
    assert drawn_slopes(one) is drawn_slopes(other) and lengths_per_row(one) is lengths_per_row(other)
    assert closed_pose(one, 0.0) is closed_pose(other, 0.0) and one.arms is other.arms


@pytest.mark.parametrize("change", ["length", "pose", "function"])
def test_systems_that_differ_in_more_do_not(change):
    one = se.System(sprung_crank())
    other = {
        "length": lambda: se.System(sprung_crank(length=np.nextafter(3.0, 4.0))),
        "pose": lambda: one.drawn_at(one.drawn_q + 1e-9),
        "function": lambda: one.with_functions([*one.functions[:-1], se.System(driven()).functions[-1]]),
    }[change]()
    assert one.geometry != other.geometry
    assert closed_pose(one, 0.0) is not closed_pose(other, 0.0)


def driven() -> se.Model:
    m = se.Model("crank")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Driver("motor", se.angle(m.ground, bar), "3*t"))
    return m


def test_a_system_of_a_run_has_copies():
    """Numbers of other Systems are written into them."""
    system = se.System(sprung_crank())
    own = OwnSystem(system)
    assert drawn_slopes(own) is not drawn_slopes(system)
    assert drawn_slopes(own).tobytes() == drawn_slopes(system).tobytes()
    assert own.take_numbers(se.System(sprung_crank(length=4.0)))
    assert drawn_slopes(own).tobytes() != drawn_slopes(system).tobytes()
    assert drawn_slopes(system) is drawn_slopes(se.System(sprung_crank()))


@pytest.mark.slow
@pytest.mark.parametrize("name", library.names())
def test_shipped_mechanisms_of_other_masses_move_as_in_a_new_process(name):
    model, random = se.load(name), np.random.default_rng(7)
    masses = [f"{body}.mass" for body, each in model.bodies.items() if each.density is None]
    models = [
        variant(model, dict(zip(masses, random.uniform(0.5, 2.0, len(masses)), strict=True)))
        for _ in range(3)
    ]

    def motion(each: se.Model) -> tuple[bytes, ...] | str:
        try:
            r = se.dynamics(each, t_end=0.05)
        except se.SimEngineError as error:
            return str(error)
        return tuple(array.tobytes() for array in (r.t, r.q, r.qd, r.qdd, r.lam))

    in_turn = [motion(each) for each in models]
    for each, shared in zip(models, in_turn, strict=True):
        geometries.clear()
        idle_families.shared.waiting.clear()
        assert motion(each) == shared


def pendulum(name: str, mass: float) -> se.System:
    m = se.Model("pendulum")
    bar = m.bar(name, (0, 0), (1, 0), mass=mass)
    m.add(se.Revolute(f"pin of {name}", m.ground, bar["start"]))
    return se.System(m)


def test_the_coordinates_of_a_tree_follow_the_names_of_their_system():
    """The same geometry, other names and masses."""
    first, second = pendulum("arm", 1.0), pendulum("leg", 2.0)
    assert first.geometry == second.geometry
    family = Relative(OwnSystem(first), first.drawn_q)
    assert family.names == ["pin of arm.angle"]
    assert family.take_numbers(second, second.drawn_q)
    assert family.names == ["pin of leg.angle"]
    assert family.tree.constant.tobytes() == Relative(second, second.drawn_q).tree.constant.tobytes()
