"""Numbers with units: converted to SI when read, refused where they do not fit or may mean something else."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import simengine2d as se
from loading import written
from simengine2d.expressions.evaluate import number
from simengine2d.expressions.parser import parse
from simengine2d.expressions.units import UNITS, Quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("25 mm", 0.025),
        ("7.3 mm", 0.0073),
        ("25mm", 0.025),
        ("3 kN/m", 3000.0),
        ("1500 rpm", 1500 * (2 * pi / 60)),
        ("90 deg", pi / 2),
        ("2 kg m^2", 2.0),
        ("2 kg*m^2", 2.0),
        ("5 Nm/rad", 5.0),
        ("9.81 m s^-2", 9.81),
        ("1 N/mm^2", 1e6),
        ("210 GPa", 2.1e11),
        ("1 in", 0.0254),
        ("5 min", 300.0),
        ("-5 cm", -0.05),
        ("2*3 mm + 1 cm", 0.016),
        ("2 mm ^2", 4e-6),
        ("min(3 mm, 1 m)", 0.003),
        ("3 kN/k", 750.0),
        ("3 kN / m2", 300.0),
    ],
)
def test_numbers_are_converted(text, value):
    assert number(text, {"k": 4.0, "m2": 10.0}) == value


def test_decimal_units_give_the_number_that_was_meant():
    """25.4 mm is what 0.0254 is, to the last bit, for whatever digits."""
    rng = np.random.default_rng(0)
    for digits in rng.integers(1, 10**9, 200):
        assert number(f"{digits}e-6 mm") == float(f"{digits}e-9")


def test_dimensions_follow_the_units():
    for text, dimension in (("1 kN/m", (1, 0, -2, 0)), ("1 rpm", (0, 0, -1, 1)), ("1 J", (1, 2, -2, 0))):
        tree = parse(text)
        assert isinstance(tree, Quantity) and tree.dimension == dimension
    assert {"mm", "kg", "kN", "rpm", "deg"} <= UNITS.keys()


@pytest.mark.parametrize(("text", "names"), [("2 s", ["s"]), ("3 kN/m", ["m"]), ("1 + 2 g", ["g"])])
def test_a_unit_that_is_also_a_name_is_refused(text, names):
    assert number(text)
    with pytest.raises(
        se.ModelError, match=f"'{names[0]}' is a unit after a number, and a name that is known here"
    ):
        number(text, dict.fromkeys(names, 1.0))


def test_the_variable_of_a_spring_is_no_second():
    m = se.Model()
    m.body("b", mass=1)
    m.add(se.Spring("s", "x(ground, b)", law="100 s"))
    with pytest.raises(se.ModelError, match="'s' is a unit after a number, and a name that is known here"):
        m.check()
    m.elements["s"].law = "100 s + b.y"
    with pytest.raises(se.ModelError, match="'s' is a unit after a number, and a name that is known here"):
        m.check()


FILE = """
name: press
parameters: {throw: 25 mm, speed: 1500 rpm}
gravity: [0, -9.81 m/s^2]
bodies:
  crank: {shape: bar, start: [0, 0], end: [throw, 0], density: 2 g/mm, angular_velocity: 1500 rpm}
  ram: {mass: 800 g, inertia: 2 kg cm^2, at: [12 cm, 0], angle: 90 deg, points: {P: [1 cm, 0, 45 deg]}}
joints:
  O: {type: Revolute, a: ground, b: crank.start}
  guide: {type: Translational, a: ground, b: ram, direction: 0 deg}
  motor: {type: Driver, measure: "angle(ground, crank)", value: "drawn + speed*t"}
forces:
  spring: {type: Spring, measure: "distance(ground.at(1 m, 0), ram)", stiffness: 3 kN/m, damping: 5 N s/m, free: 70 cm}
analysis: {kind: dynamics, t_end: 2 ms}
"""


def test_a_file_may_have_units_everywhere(tmp_path):
    m = se.load(written(tmp_path, FILE, "press.yaml"))
    bodies = m.check().bodies
    assert bodies["crank"].mass == 2.0 * 0.025 and bodies["ram"].inertia == 2e-4
    assert bodies["ram"].pose == (0.12, 0.0, pi / 2) and bodies["ram"].points["P"] == (0.01, 0.0, pi / 4)
    r = se.dynamics(m, t_end=1e-3)
    assert r["crank.phid"][-1] == pytest.approx(50 * pi, rel=1e-12)
    assert r["spring.force"][0] == pytest.approx(3000 * (0.88 - 0.7), rel=1e-13)
    again = se.load(m.save(tmp_path / "again.yaml"))
    assert again.bodies == m.bodies and again.parameters == m.parameters == {
        "throw": "25 mm",
        "speed": "1500 rpm",
    }


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("mass", "25 mm", "body 'b', mass is 25 mm; write a mass, such as 2 kg"),
        ("inertia", "2 kg", "write a moment of inertia, such as 2 kg m^2"),
        ("at", ("2 s", 0), "body 'b', at is 2 s; write a length, such as 25 mm"),
        ("at", ("30 deg", 0), "write a length, such as 25 mm"),
        ("angle", "-1 m", "body 'b', angle is -1 m; write an angle, such as 30 deg"),
        ("angular_velocity", "50 Hz", "write an angular velocity, such as 1500 rpm"),
        ("velocity", ("3 m", 0), "write a velocity, such as 2 m/s"),
        ("points", {"P": ("2 kg", 0)}, "body 'b', point 'P' is 2 kg; write lengths or an angle"),
    ],
)
def test_units_of_another_kind_are_refused(field, value, sentence):
    m = se.Model()
    m.body("b", **{field: value})
    with pytest.raises(se.ModelError) as caught:
        m.check()
    assert sentence in str(caught.value)
    assert caught.value.problems[0].field == field


def test_a_stiffness_may_be_one_of_an_angle():
    m = se.Model()
    m.body("b", mass=1, inertia=1)
    m.add(se.Spring("s", "angle(ground, b)", stiffness="3 Nm/rad", damping="1 Nm s"))
    m.check()
    m.elements["s"].stiffness = "3 mm"
    with pytest.raises(
        se.ModelError,
        match="Spring 's', stiffness is 3 mm; write a stiffness, such as 3 kN/m or 5 Nm/rad",
    ):
        m.check()


@pytest.mark.filterwarnings("ignore::simengine2d.errors.ModelWarning")
def test_course_files_hold_si_numbers(tmp_path):
    m = se.Model()
    m.body("b", mass="2 kg", inertia=1)
    m.add(se.AbsoluteAngle("a", "b", "30 rpm*t"))
    path = m.save(tmp_path / "m.adm")
    assert "rpm" not in path.read_text()
    assert se.load(path).check().rows["a"][0].value(1.0) == pytest.approx(pi, rel=1e-15)


def test_a_parameter_and_a_unit_of_one_name_do_not_meet_in_a_motion():
    m = se.Model(parameters={"m": 3})
    m.body("b", mass="m")
    m.add(se.AbsoluteX("a", "b", "2 m + t"))
    with pytest.raises(se.ModelError, match=r"AbsoluteX 'a', value: .*'m' is a unit after a number"):
        m.check()
