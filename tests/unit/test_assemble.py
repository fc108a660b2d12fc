"""Assembly: from a rough drawing to a closed pose and consistent velocities.

Lengths are of order 1, so a closed pose is closed to a few units in the last place: 1e-14. Velocities are solved
from it with condition numbers of order 10: 1e-12.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import simengine2d as se
from mechanisms import three_cranks
from simengine2d import builders


def sloppy_slider_crank():
    """Crank and rod drawn with gaps at A and B."""
    model = se.Model("sloppy")
    crank = model.bar("crank", (0, 0), (1, 0.8), mass=1)
    rod = model.bar("rod", (1.1, 0.7), (2.8, -0.1), mass=1)
    slider = model.body("slider", mass=1, at=(2.7, 0.0))
    model.add(se.Revolute("O", model.ground, crank["start"]))
    model.add(se.Revolute("A", crank["end"], rod["start"]))
    model.add(se.Revolute("B", rod["end"], slider))
    model.add(se.Translational("guide", model.ground, slider))
    return model


def test_an_exact_drawing_is_not_moved():
    assembly = se.assemble(builders.slider_crank(1, 2))
    assert max(shift for shift, _ in assembly.moved.values()) < 1e-15
    assert assembly.notes == []


def test_a_sloppy_drawing_is_closed_nearby_and_the_moves_are_told():
    assembly = se.assemble(sloppy_slider_crank())
    assert assembly.residual < 1e-14
    assert np.abs(assembly.system.Phi(0.0, assembly.q)).max() < 1e-14
    assert 0.0 < max(shift for shift, _ in assembly.moved.values()) < 0.2
    assert any("body 'rod' was moved by" in note for note in assembly.notes)
    assert "largest gap" in str(assembly)


def test_a_driver_turns_the_drawing_to_its_first_value():
    assembly = se.assemble(builders.slider_crank(1, 2, crank_angle=0, driver="0.7 + t"))
    assert assembly.q[2] == pytest.approx(0.7, abs=1e-14)
    assert assembly.moved["crank"][1] == pytest.approx(0.7)


def test_another_time_is_another_pose():
    model = builders.slider_crank(1, 2, crank_angle=0, driver="t")
    assert se.assemble(model, 0.5).q[2] == pytest.approx(0.5)


def test_links_drawn_in_line_open():
    """Straight links that must fold: the first step has no direction to go, so the drawing is shaken."""
    model = se.Model("in line")
    a, b = model.bar("a", (0, 0), (1, 0)), model.bar("b", (1, 0), (2, 0))
    model.ground.points = {"C": (1.5, 0)}
    model.add(se.Revolute("A", model.ground, a["start"]))
    model.add(se.Revolute("B", a["end"], b["start"]))
    model.add(se.Revolute("C", model.ground["C"], b["end"]))
    assembly = se.assemble(model)
    assert abs(math.cos(assembly.q[2])) == pytest.approx(0.75)


def test_points_drawn_on_top_of_each_other_part():
    """A distance has no gradient where its points coincide."""
    model = se.Model()
    body = model.body("b", mass=1)
    model.add(se.AbsoluteDistance("d", body, 1.0))
    assembly = se.assemble(model)
    assert math.hypot(*assembly.q[:2]) == pytest.approx(1.0)


def test_an_open_mechanism_names_a_joint_and_its_gap():
    model = builders.slider_crank(1, 2)
    model.add(se.AbsoluteX("far", "slider", 3.5))
    with pytest.raises(se.AssemblyError) as caught:
        se.assemble(model)
    message = str(caught.value)
    assert "does not close at t = 0 s" in message
    assert any(name in message for name in ("'far'", "'O'", "'A'", "'B'"))
    # links of 1 and 2 reach 3 of the 3.5; the other joints give way by a thousandth of the gap
    gap = float(re.search(r"([\d.]+) m apart", message)[1])
    assert gap == pytest.approx(0.5, rel=0.01)


def test_given_velocities_are_kept_where_the_joints_allow_them():
    model = builders.slider_crank(1, 2, crank_angle="90*deg")
    model.bodies["crank"].angular_velocity = 3.0
    assembly = se.assemble(model)
    assert assembly.notes == []
    assert assembly.qd[2] == pytest.approx(3.0)
    assert assembly.qd[6] == pytest.approx(-3.0)  # with the crank upright the rod does not turn
    np.testing.assert_allclose(assembly.system.Phi_q(0.0, assembly.q) @ assembly.qd, 0.0, atol=1e-12)


def test_impossible_velocities_are_changed_and_told():
    model = builders.slider_crank(1, 2)
    model.bodies["slider"].velocity = (1.0, 2.0)
    assembly = se.assemble(model)
    assert assembly.qd[7] == pytest.approx(0.0, abs=1e-12)
    assert any("slider.yd = 2 was changed to" in note for note in assembly.notes)


def test_drivers_set_velocities():
    assembly = se.assemble(builders.four_bar(1, 2, 2.5, 3, speed=2))
    assert assembly.qd[2] == pytest.approx(2.0)


def test_redundant_joints_assemble():
    assert se.assemble(three_cranks()).residual < 1e-14


def test_a_model_without_joints_is_assembled():
    model = se.Model()
    model.body("free", mass=1, at=(1, 2), velocity=(3, 4))
    assembly = se.assemble(model)
    assert assembly.q.tolist() == [1, 2, 0]
    assert assembly.qd.tolist() == [3, 4, 0]


@pytest.mark.parametrize("angle", [3.5, 4.0, 5.0, 6.0, 8.0, -4.0])
def test_a_crank_driven_from_another_turn_stays_on_the_drawn_branch(angle):
    """A drawing does not count turns, a driver does; the way to them must not drag the others along."""
    model = builders.four_bar(1, 2.5, 3, 3, crank_angle=angle, speed=1)
    drawn = se.System(model).drawn_q
    found = se.assemble(model)
    wrapped = (found.q - drawn + np.pi) % (2 * np.pi) - np.pi
    assert np.abs(np.where(np.arange(drawn.size) % 3 == 2, wrapped, found.q - drawn)).max() < 1e-9
    assert not found.moves
    assert found.q[2] == pytest.approx(angle)
