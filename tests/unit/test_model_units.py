"""Models with units of their own: the same mechanism in any units has the same motion and the same forces."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from loading import written
from marking import slow_among
from simengine2d.expressions.unit_system import ANGLE, FORCE, LENGTH, MASS, TORQUE, UnitSystem
from simengine2d.model.elements import Element
from simengine2d.model.unit_fields import PER_LENGTH, SPIN, VELOCITY

SI = UnitSystem()
SYSTEMS = {
    "SI": SI,
    "mm-g-kN": UnitSystem(length="mm", angle="deg", mass="g", force="kN"),
    "inch-pound": UnitSystem(length="in", angle="deg", mass="lb", force="lbf"),
    "mm-kg-N": UnitSystem(length="mm"),
    "turns": UnitSystem(length="cm", angle="rev", mass="mg", force="MN"),
}
STIFFNESS, DAMPING, TORSION = (1, 0, -2, 0), (1, 0, -1, 0), (1, 2, -2, -1)


def engine(units: UnitSystem, drive: str = "") -> str:
    """A file with bare numbers in these units, and some numbers that have units of their own."""

    def n(value, dimension):
        return repr(value / units.factor(dimension))

    gas = [(0, 0), (1, 800), (2.5, 100), (2 * np.pi, 0)]
    push = [(-3, -1.5), (0, 0), (1, 0.6), (3, 1.5)]
    points = ", ".join(n(s, ANGLE) for s, _ in push)
    values = ", ".join(n(f, TORQUE) for _, f in push)
    return f"""
name: engine
units: {{length: {units.length}, angle: {units.angle}, mass: {units.mass}, force: {units.force}, time: s}}
parameters: {{throw: {n(0.05, LENGTH)}, rod: 4*throw, speed: 300 rpm, slip: 20 mm/s, mu: {n(3, FORCE)}, lean: 20 deg}}
tables:
  gas: {{points: [{", ".join(f"[{n(a, ANGLE)}, {n(f, FORCE)}]" for a, f in gas)}], periodic: true}}
formulas: {{gap: slider.x - {n(0.1, LENGTH)}, "grip(v)": mu*tanh(v/slip)}}
ground: {{points: {{Q: [{n(0.5, LENGTH)}, {n(0.02, LENGTH)}]}}}}
bodies:
  crank: {{shape: bar, start: [0, 0], end: [throw, 0], density: {n(30, PER_LENGTH)}, angular_velocity: {n(10, SPIN)}}}
  rod: {{shape: link, through: {{A: [throw, 0], B: [throw + rod, 0]}}, density: 3 kg/m}}
  slider: {{shape: block, width: {n(0.06, LENGTH)}, height: 5 cm, mass: {n(0.8, MASS)}, at: [throw + rod, 0],
    points: {{P: [{n(0.03, LENGTH)}, 0, {n(np.pi / 6, ANGLE)}]}}}}
  arm: {{shape: bar, start: [{n(0.5, LENGTH)}, 0], end: [{n(0.5, LENGTH)} + 10 cm*cos(lean), 10 cm*sin(lean)],
    mass: 500 g, angular_velocity: 0}}
joints:
  O: {{type: Revolute, a: ground, b: crank.start}}
  A: {{type: Revolute, a: crank.end, b: rod.A}}
  B: {{type: Revolute, a: rod.B, b: slider}}
  guide: {{type: Translational, a: ground, b: slider, direction: [1, 0]}}
  hinge: {{type: Revolute, a: ground, b: arm.start}}
  {drive}
forces:
  gas: {{type: PointForce, frame: slider.P, fx: -gas(crank.phi)}}
  brake: {{type: Torque, frame: crank, value: -20 N mm/rpm*phid - {n(0.02, TORQUE)}}}
  friction: {{type: Force, along: {{slider.x: -grip(slider.xd), arm.phi: -2 Nm*sin(2*arm.phi) - {n(0.1, TORQUE)}}}}}
  spring: {{type: Spring, measure: "distance(ground.Q, slider.at({n(0.01, LENGTH)}, 0))",
    stiffness: {n(500, STIFFNESS)}, damping: {n(2, DAMPING)}, free: {n(0.2, LENGTH)},
    law: {{of: sd, points: [{n(-9, VELOCITY)}, {n(9, VELOCITY)}],
    values: [{n(-1, FORCE)}, {n(1, FORCE)}]}}}}
  torsion: {{type: Spring, measure: "angle(ground, arm)", stiffness: {n(3, TORSION)}, free: {n(0.4, ANGLE)},
    law: {{of: s, points: [{points}], values: [{values}]}}}}
  buffer: {{type: Force, potential: "40 N/m*max(slider.x - {n(0.24, LENGTH)}, 0)^2"}}
"""


MOTOR = 'motor: {type: Driver, measure: "angle(ground, crank)", value: "drawn + step5(t, 0, 0, 1, 30 deg) + speed*t"}'


def loaded(tmp_path, name, drive=""):
    return se.load(written(tmp_path, engine(SYSTEMS[name], drive), f"{name}.yaml"))


JOINTS = ("O", "A", "B", "guide", "hinge")


def peaks(results):
    """The largest forces and torques of all joints, in SI units."""
    forces = [results.reaction(name) for name in JOINTS]
    return np.array([[np.hypot(f.fx, f.fy).max(), np.abs(f.torque).max()] for f in forces])


@pytest.mark.parametrize("name", slow_among([name for name in SYSTEMS if name != "SI"], "mm-kg-N", "turns"))
def test_forces_of_a_given_motion_do_not_depend_on_units(tmp_path, name):
    """To rounding: factors such as pi/180 are rounded themselves, and reactions are sums of larger parts."""
    drive = (
        MOTOR
        + '\n  swing: {type: Driver, measure: "angle(ground, arm)", value: "drawn + 20 deg*sin(9 rad/s*t)"}'
    )
    want = se.inverse_dynamics(loaded(tmp_path, "SI", drive), t_end=0.4, step=0.002)
    found = se.inverse_dynamics(loaded(tmp_path, name, drive), t_end=0.4, step=0.002)
    np.testing.assert_allclose(found.q, want.q, atol=1e-13)
    np.testing.assert_allclose(peaks(found), peaks(want), rtol=1e-11, atol=1e-9)
    for channel in ("motor.effort", "spring.force", "torsion.force", "gap"):
        np.testing.assert_allclose(found[channel], want[channel], rtol=1e-11, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "SI"])
def test_motions_do_not_depend_on_units(tmp_path, name):
    want = se.dynamics(loaded(tmp_path, "SI"), t_end=0.3, rtol=1e-10)
    found = se.dynamics(loaded(tmp_path, name), t_eval=want.t, rtol=1e-10)
    np.testing.assert_allclose(found.q, want.q, atol=1e-9)  # ten digits of a run
    np.testing.assert_allclose(peaks(found), peaks(want), rtol=1e-7)


def test_results_in_the_units_of_the_model(tmp_path):
    m = loaded(tmp_path, "mm-g-kN", MOTOR)
    del m.elements["hinge"], m.elements["torsion"], m.elements["friction"], m.bodies["arm"]
    r = se.inverse_dynamics(m, t_end=0.2, step=0.01)
    mm = r.in_units()
    np.testing.assert_allclose(mm["slider.x"], 1e3 * r["slider.x"], rtol=1e-15)
    np.testing.assert_allclose(mm["crank.phi"], np.degrees(r["crank.phi"]), rtol=1e-14)
    np.testing.assert_allclose(mm["crank.phid"], np.degrees(r["crank.phid"]), rtol=1e-14)
    np.testing.assert_allclose(mm["O.fx"], 1e-3 * r["O.fx"], rtol=1e-14)
    np.testing.assert_allclose(mm.reaction("O").fy, 1e-3 * r.reaction("O").fy, rtol=1e-14)
    np.testing.assert_allclose(mm["motor.effort"], r["motor.effort"], rtol=1e-14)  # kN mm
    np.testing.assert_allclose(mm["gap"], 1e3 * r["gap"], rtol=1e-14)
    names = (
        "slider.xdd",
        "crank.phid",
        "O.fx",
        "motor.effort",
        "spring.force",
        "distance(crank, slider)",
        "gap",
        "t",
    )
    assert [mm.unit(name) for name in names] == ["mm/s²", "deg/s", "kN", "kN mm", "kN", "mm", "mm", "s"]
    inch = r.in_units(length="in", force="lbf")
    assert inch["slider.x"][0] == pytest.approx(r["slider.x"][0] / 0.0254, rel=1e-15)
    assert inch.unit("O.torque") == "lbf in" and inch.unit("crank.phi") == "rad"
    assert not hasattr(mm, "q") and "mm" in repr(mm)


def test_tables_and_plots_in_units_say_so(tmp_path):
    m = se.Model(units={"length": "mm"})
    m.body("b", mass=1, inertia=1, at=(250, 0))
    r = se.dynamics(m, t_end=0.1)
    mm = r.in_units()
    lines = mm.to_csv(tmp_path / "b.csv", units=False).read_text().splitlines()
    assert lines[0].startswith("t [s],b.x [mm],b.y [mm],b.phi [rad],b.xd [mm/s]")
    assert lines[1].split(",")[1] == "250.0"
    assert list(mm.to_frame(["b.y"]).columns) == ["b.y [mm]"]
    assert mm.plot("b.x").get_ylabel() == r.plot("b.x").get_ylabel() == "b.x [mm]"
    assert r.in_units(length="m").plot("b.x").get_ylabel() == "b.x [m]"
    np.testing.assert_allclose(
        se.Results.load(tmp_path / "b.csv").q, r.q, rtol=1e-15
    )  # headings name the units
    assert not hasattr(mm, "save") and mm.in_units(length="cm")["b.x"][0] == 25


def test_a_model_with_units_comes_back_from_its_file(tmp_path):
    m = loaded(tmp_path, "mm-g-kN", MOTOR)
    for ending in ("yaml", "json"):
        m.origin = None
        again = se.load(m.save(tmp_path / f"again.{ending}"))
        assert again.units == m.units and again.bodies == m.bodies and again.parameters == m.parameters
    si = m.in_si()
    assert si.units is None and si.bodies["slider"].mass == 0.8
    back = se.load(si.save(tmp_path / "si.yaml"))
    assert back.units is None and "units" not in (tmp_path / "si.yaml").read_text()


@pytest.mark.filterwarnings("ignore::simengine2d.errors.ModelWarning")
def test_course_files_and_other_poses_are_in_si_units(tmp_path):
    m = se.Model(units={"length": "mm", "angle": "deg"})
    m.bar("b", (0, 0), (300, 0), mass=2)
    m.add(se.Revolute("O", m.ground, "b.start"))
    m.add(se.AbsoluteAngle("a", "b", "30 deg/s*t"))
    assert se.load(m.save(tmp_path / "m.adm")).check().bodies["b"].pose[0] == 0.15
    other = se.with_initial_pose(m, se.kinematics(m, t_eval=[0.0, 1.0]).q[-1])
    assert other.units is None
    assert other.check().bodies["b"].pose[2] == pytest.approx(np.pi / 6)


def bare() -> se.Model:
    m = se.Model(
        units={"length": "mm", "angle": "deg", "force": "kN"},
        parameters={"a": 2, "b": 3, "L": "30 mm", "w": "9 rad/s"},
    )
    m.bar("rod", (0, 0), (100, 0), mass=1)
    m.add(se.Revolute("O", m.ground, "rod.start"))
    return m


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("90", np.pi / 2),
        ("90*sin(w*t)", 0.0),
        ("30 + 20 deg", np.radians(50)),
        ("a*15", np.pi / 6),
        ("atan2(L, 30)", np.pi / 4),
        ("atan2(a, a)", np.pi / 4),
        ("drawn + 10", np.radians(10)),
        ("w*t + 5", np.radians(5)),
        ("2*pi*t/1 s*1 rad + 90*deg", np.pi / 2),
        ("step5(t, 0, 30, 1, 60)", np.pi / 6),
        ("piecewise(t > 1, 10, 30)", np.pi / 6),
        ("max(L, 50)/1 m*1 rad", 0.05),
        ("sqrt(L^2)/1 mm*1 deg", np.pi / 6),
        ("1 rad*pi/4", np.pi / 4),
    ],
)
def test_a_bare_number_is_in_the_unit_of_its_place(text, value):
    m = bare()
    m.add(se.Driver("motor", "angle(ground, rod)", text))
    assert m.check().rows["motor"][0].value(0.0) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2*pi*t", "is a time; an angle is needed"),
        ("pi/4", "a bare number is in deg here, and this has pi in it. Multiply it by 1 rad."),
        ("90*sin(30)", "is this in deg or in rad? Write the unit"),
        ("90*sin(t)", "'t' is a time; an angle is needed"),
        ("a*b", "is a product of bare numbers"),
        ("L/1 mm*30 + rod.x/L", "unknown"),
        ("L + w*t", "a length and an angle cannot be added or compared"),
        ("30 kg", "is a mass; an angle is needed"),
        ("exp(t)", "'t' is a time; a number is needed"),
        ("L^t", "is a time; a number is needed"),
        ("drawn + L/1 m", "this is a number, not an angle. Multiply it by 1 rad or by 1 deg."),
    ],
)
def test_what_cannot_be_decided_is_refused(text, sentence):
    m = bare()
    m.add(se.Driver("motor", "angle(ground, rod)", text))
    with pytest.raises(se.ModelError) as caught:
        m.check()
    assert sentence in str(caught.value)
    assert "Driver 'motor', value" in str(caught.value)


def test_wrong_units_are_answered_with_the_right_ones(tmp_path):
    with pytest.raises(se.ModelError, match="units: length is 'kN'; write one of m, mm, cm"):
        se.Model(units={"length": "kN"})
    with pytest.raises(se.ModelError, match=r"units has no quantity 'lenght'. Did you mean 'length'"):
        se.Model(units={"lenght": "mm"})
    with pytest.raises(
        se.ModelError, match=r"line 1: units: time is ms, which is unknown. .*The choices are s\."
    ):
        se.load(written(tmp_path, "units: {time: ms}\nbodies: {b: {mass: 1}}\n"))
    m = bare()
    m.body("b", mass=1, at=("25 kg", 0), angle="w")
    with pytest.raises(se.ModelError) as caught:
        m.check()
    assert "this is a mass; a length is needed, such as 2 mm" in str(caught.value)
    assert "'w' is an angular velocity; an angle is needed, such as 2 deg" in str(caught.value)


def test_all_problems_of_a_model_with_units_are_reported_at_once(tmp_path):
    text = (
        "units: {angle: deg}\nbodies:\n  a: {mass: 1, angle: pi/2}\n  b: {mass: -1}\njoints:\n"
        "  O: {type: Revolute, a: ground, b: b}\n  A: {type: AbsoluteAngle, frame: a, value: q}\n"
    )
    with pytest.raises(se.ModelError) as caught:
        se.load(written(tmp_path, text))
    assert [problem.line for problem in caught.value.problems] == [3, 4, 7]


def test_python_functions_have_no_units():
    m = bare()
    m.add(se.Driver("motor", "angle(ground, rod)", lambda t: 2 * t))
    with pytest.raises(se.ModelError, match="Python function have no units"):
        m.check()


def test_a_link_needs_the_unit_of_its_density():
    m = se.Model(units={"length": "mm"})
    m.link("l", {"A": (0, 0), "B": (100, 0), "C": (0, 100)}, density=3)
    with pytest.raises(se.ModelError, match="write its unit: per length of a straight link, else per area"):
        m.check()
    m["l"].density = "3 kg/m^2"
    assert m.check().bodies["l"].mass == pytest.approx(0.015)


def test_texts_about_a_model_are_in_its_units():
    m = se.Model(units={"length": "mm"}, parameters={"edge": "50 mm"})
    m.body("b", mass=1, inertia=1, at=(0, 100))
    r = se.dynamics(m, t_end=1, events=[se.Event("b.y - 20"), se.Event("b.y - edge", stop=False)])
    assert r.t[-1] == pytest.approx(np.sqrt(2 * 0.08 / 9.81), rel=1e-9)
    assert len(r.events) == 2
    assert r["distance(ground.at(0, 40), b)"][0] == pytest.approx(0.06)
    assert r.in_units()["distance(ground.at(0, 40), b)"][0] == pytest.approx(60)


def test_every_number_of_every_element_has_a_unit():
    """A new element is refused in models with units until its numbers are listed; all of ours are."""
    values = {"number": 1.0, "numbers": (1.0, 1.0), "function": 1.0, "push law": "1", "state law": 1.0}
    for cls in Element.registry.loaded().values():
        if not cls.__module__.startswith("simengine2d."):
            continue
        m = se.Model(units={"length": "mm", "angle": "deg"})
        m.body("a", mass=1), m.body("b", mass=1)
        given = {"frame": "b", "a": "a", "b": "b", "measure": "angle(ground, a)"}
        fields = {
            field: values[kind.name]
            for field, kind in cls.kinds().items()
            if kind.name in values and field != "at"
        }
        others = {field: given[field] for field in cls.kinds() if field in given}
        if set(cls.required()) - {"name"} <= {*fields, *others}:
            m.add(cls("it", **others, **fields))
            m.in_si()


def test_gravity_is_that_of_the_earth_in_any_units():
    assert se.Model(units={"length": "in"}).check().gravity == (0.0, -9.81)
    assert se.Model(units={"length": "mm"}, gravity=(0, -1000)).check().gravity == (0.0, -1.0)


def test_changed_models_are_converted_anew():
    m = bare()
    assert m.check().bodies["rod"].mass == 1.0
    m["rod"].mass = 3
    assert m.check().bodies["rod"].mass == 3.0
    m.units = UnitSystem(mass="g")
    assert m.check().bodies["rod"].mass == 0.003
