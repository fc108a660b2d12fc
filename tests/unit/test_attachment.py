"""Joints with the ground or a body named without a point: where they sit, how they slide, what is doubtful."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d.model.attachment import center_gaps, sides_in_words, slides_along


def oblique() -> se.Model:
    m = se.Model("oblique")
    m.bar("bar", (0, 0), (3, 4), mass=1)
    return m


@pytest.mark.parametrize("joint", [se.PinSlot, se.RevoluteTranslational])
@pytest.mark.parametrize("side", ["bar.end", "bar"])
def test_a_slot_in_the_ground_has_a_direction_of_its_own(joint, side):
    m = oblique()
    m.add(joint("slot", m.ground, side))
    with pytest.raises(se.ModelError) as caught:
        m.check()
    (problem,) = caught.value.problems
    assert (problem.element, problem.field) == ("slot", "direction")
    assert "slot', direction: the slot is in the ground, and it is not said how it lies" in problem


@pytest.mark.parametrize(
    ("sides", "options", "vector"),
    [
        (("ground", "bar.end"), {"direction": (0, 2)}, (0, 1)),
        (("ground", "bar.end"), {"direction": "30*deg"}, (np.sqrt(3) / 2, 0.5)),
        (("ground", "bar"), {"at": (1, 1, "90*deg")}, (0, 1)),
        (("ground.at(3, 4)", "bar.end"), {}, (1, 0)),
        (("bar.end", "ground"), {}, (0.6, 0.8)),  # the slot is in the bar, the pin in the ground
    ],
)
def test_a_direction_that_is_said_holds(sides, options, vector):
    m = oblique()
    m.add(se.PinSlot("slot", *sides, **options))
    axis = m.check().elements["slot"].a.drawn_angle
    assert (np.cos(axis), np.sin(axis)) == pytest.approx(vector, abs=1e-15)


def test_a_position_without_an_angle_says_no_direction():
    m = oblique()
    m.add(se.PinSlot("slot", "ground", "bar", at=(1, 1)))
    with pytest.raises(se.ModelError, match="it is not said how it lies"):
        m.check()


def in_words(joint: se.Joint) -> tuple[str, str]:
    m = oblique()
    m.body("cart", at=(3, 4))
    m.add(joint)
    resolved = m.check()
    return sides_in_words(joint, resolved), slides_along(joint, resolved)


@pytest.mark.parametrize(
    ("joint", "sides", "along"),
    [
        (se.Revolute("j", "ground", "bar.end"), "ground at (3, 4), bar.end", ""),
        (se.Revolute("j", "bar.end", "cart"), "bar.end, cart (center)", ""),
        (se.Revolute("j", "bar", "cart", at=(1, 2)), "bar, cart at (1, 2)", ""),
        (
            se.Translational("j", "ground", "bar"),
            "ground at (1.5, 2), bar (center)",
            "(0.6, 0.8) as bar is drawn",
        ),
        (se.Translational("j", "ground", "cart", direction=(0, 1)), "ground at (3, 4), cart (center)", "(0, 1)"),
        (se.PinSlot("j", "bar", "cart"), "bar (center), cart (center)", "axis of bar"),
        (se.PinSlot("j", "bar.at(0, 0, 90*deg)", "cart"), "bar.at(0.0, 0.0, 90 * deg), cart (center)",
         "axis of bar, turned by 90 deg"),
        (se.Driver("j", "angle(ground, bar)", "t"), "ground, bar", ""),
    ],
)  # fmt: skip
def test_joints_are_described(joint, sides, along):
    assert in_words(joint) == (sides, along)


def two_bars(*sides: str) -> se.Model:
    m = oblique()
    m.bar("rod", (3, 4), (6, 0), mass=1)
    m.add(se.Revolute("O", m.ground, "bar.start"))
    m.add(se.Revolute("A", *sides))
    return m


def test_a_joint_at_a_mass_center_that_is_drawn_elsewhere_is_doubtful():
    m = two_bars("bar", "rod.start")
    (gap,) = center_gaps(m.check())
    assert gap.joint == "A" and gap.gap == 2.0
    assert gap.text.startswith("Revolute 'A' joins the mass center of bar to rod.start, 2 m away as drawn")
    assert "such as bar.start, or give the place of the joint, at=[x, y]" in gap.remedy
    (finding,) = [finding for finding in se.doctor(m).findings if finding.kind == "center"]
    assert finding.elements == ("A",)


@pytest.mark.parametrize("sides", [("bar.end", "rod.start"), ("bar", "rod.at(-4, 0)")])
def test_rough_drawings_and_joints_in_place_are_not(sides):
    m = two_bars(*sides)
    if sides[0] == "bar":  # drawn there, to within a hundredth
        m["rod"].shape = se.Bar((1.5, 2.01), (6, 0))
        m.elements["A"] = se.Revolute("A", "bar", "rod.start")
    assert not list(center_gaps(m.check()))


def test_what_does_not_close_for_that_reason_says_so():
    m = two_bars("bar", "rod")
    m.add(se.Revolute("B", m.ground, "rod.end"))
    m.add(se.AbsoluteAngle("still", "bar", np.arctan2(4, 3)))
    with pytest.raises(se.AssemblyError, match="a body named without a point means its mass center"):
        se.assemble(m)
