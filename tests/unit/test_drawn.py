"""`drawn` in a driver's function of time: the value of its measure in the initial pose."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from loading import written

MODEL = """
name: arm
parameters: {swing: 0.3}
bodies:
  arm: {shape: bar, start: [0, 0], end: [3, 4], mass: 1}
joints:
  O: {type: Revolute, a: ground, b: arm.start}
  motor: {type: Driver, measure: "angle(ground, arm)", value: "drawn + swing*step5(t, 0, 0, 1, 1)"}
"""


def arm(value: str = "drawn + 0.3*sin(2*t)", **options) -> se.Model:
    m = se.Model("arm", **options)
    m.bar("arm", (0, 0), (3, 4), mass=1)
    m.add(se.Revolute("O", m.ground, "arm.start"))
    m.add(se.Driver("motor", se.angle(m.ground, "arm"), value))
    return m


def test_a_motor_begins_where_it_is_drawn():
    r = se.kinematics(arm(), t_eval=np.linspace(0, 2, 21))
    start = np.arctan2(4, 3)
    np.testing.assert_allclose(r["arm.phi"], start + 0.3 * np.sin(2 * r.t), rtol=0, atol=1e-15)
    np.testing.assert_allclose(r["arm.phid"], 0.6 * np.cos(2 * r.t), rtol=0, atol=1e-15)
    np.testing.assert_allclose(r["arm.phidd"], -1.2 * np.sin(2 * r.t), rtol=0, atol=1e-15)


def test_it_follows_the_drawing():
    """Another pose, another start; the file stays the same."""
    for end in ((3, 4), (0, 5), (-5, 0)):
        m = arm()
        m["arm"].shape = se.Bar((0, 0), end)
        assert se.assemble(m).q[2] == pytest.approx(np.arctan2(end[1], end[0]), abs=1e-15)


@pytest.mark.parametrize(
    ("joint", "value"),
    [
        (se.Driver("D", "2*angle(ground, b)", "drawn*(1 + t)"), 2 * 0.5),
        (se.Driver("D", "distance(ground, b)", "drawn + t"), np.hypot(3, 4)),
        (se.AbsoluteX("D", "b", "drawn + t"), 3.0),
        (se.AbsoluteY("D", "b", "drawn"), 4.0),
        (se.AbsoluteAngle("D", "b", "drawn - t"), 0.5),
        (se.AbsoluteDistance("D", "b", "drawn", center=(3, 0)), 4.0),
        (se.RelativeX("D", "a", "b", "drawn"), 2.0),
        (se.RelativeDistance("D", "a", "b", "drawn + t"), np.hypot(2, 4)),
    ],
)
def test_every_joint_of_one_measure_knows_it(joint, value):
    m = se.Model()
    m.body("a", at=(1, 0))
    m.body("b", at=(3, 4), angle=0.5)
    m.add(joint)
    (row,) = m.check().rows["D"]
    assert row.value(0.0) == pytest.approx(value, rel=1e-15)


def test_files_hold_the_word(tmp_path):
    m = se.load(written(tmp_path, MODEL, "arm.yaml"))
    again = se.load(m.save(tmp_path / "again.yaml"))
    assert again["motor"].value == "drawn + swing*step5(t, 0, 0, 1, 1)"
    assert again.check().rows["motor"][0].value(1.0) == pytest.approx(np.arctan2(4, 3) + 0.3, rel=1e-15)


@pytest.mark.filterwarnings("ignore::simengine2d.errors.ModelWarning")
def test_a_course_file_holds_the_number(tmp_path):
    back = se.load(arm("drawn + t").save(tmp_path / "m.adm"))
    assert se.kinematics(back, t_end=1)["arm.phi"][-1] == pytest.approx(np.arctan2(4, 3) + 1, rel=1e-14)


def test_a_model_drawn_anew_keeps_its_motion():
    m = arm()
    r = se.kinematics(m, t_end=1)
    again = se.kinematics(se.with_initial_pose(m, r.q[-1]), t_end=1)
    np.testing.assert_allclose(again["arm.phi"], r["arm.phi"], rtol=0, atol=1e-14)


def test_equations_show_the_number():
    equations = arm().equations()
    assert "drawn" not in equations.latex()


def test_a_parameter_of_that_name_is_refused_where_it_would_hide():
    with pytest.raises(
        se.ModelError, match="Driver 'motor': 'drawn' is the value of its measure as drawn, and"
    ):
        arm(parameters={"drawn": 1}).check()
    arm("t", parameters={"drawn": 1}).check()


def test_it_is_known_nowhere_else():
    m = arm("t")
    m.add(se.Spring("s", se.angle(m.ground, "arm"), actuator="drawn"))
    with pytest.raises(se.ModelError, match="unknown name 'drawn'"):
        m.check()


def test_other_names_are_checked_even_if_bodies_are_wrong():
    m = arm("drawn + swign*t", parameters={"swing": 1})
    m["arm"].mass = -1
    with pytest.raises(se.ModelError) as caught:
        m.check()
    assert len(caught.value.problems) == 2
    assert "expression 'drawn + swign*t', column 9: unknown name 'swign'" in str(caught.value)
    m["arm"].mass = 1
    with pytest.raises(se.ModelError, match=r"Driver 'motor', value: expression .*unknown name 'swign'"):
        m.check()


@pytest.mark.parametrize("coordinates", ["reference_point", "relative", "natural"])
def test_a_slider_drawn_across_its_guide_moves_as_if_drawn_along_it(coordinates):
    """sin(angle) = 0 is flat where the picture has 90 degrees: nothing may be measured by the slope there."""
    m = se.Model("telescope", gravity=(0, -9.81))
    crank, tube = m.bar("crank", (0, 0), (0.4, 0.9), mass=1), m.bar("tube", (0.4, 0.9), (3.4, 0.9), mass=1)
    rod = m.bar("rod", (3, 0), (3, 0.8), mass=1)
    m.add(se.Revolute("A", m.ground, crank["start"]))
    m.add(se.Revolute("B", crank["end"], tube["start"]))
    m.add(se.Revolute("D", m.ground, rod["start"]))
    m.add(se.Translational("C", tube, rod["end"]))
    closed = se.with_initial_pose(m, se.assemble(m).q)
    found, wanted = (se.dynamics(model, t_end=0.5, coordinates=coordinates) for model in (m, closed))
    np.testing.assert_allclose(found["crank.phi"], wanted["crank.phi"], rtol=0, atol=1e-5)
    assert abs(wanted["crank.phi"][-1] - wanted["crank.phi"][0]) > 0.1
