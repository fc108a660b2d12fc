"""The doctor on a gallery of classic mistakes: the first line names the cause and the element."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.model import library

HEAD = "bodies: {crank: {mass: 1, inertia: 0.1, points: {O: [-1, 0], A: [1, 0]}}}\n"
FILES = {
    "a misspelled body": ("joints: {O: {type: Revolute, a: ground, b: crnk.O}}", "crnk"),
    "a misspelled point": ("joints: {O: {type: Revolute, a: ground, b: crank.P}}", "crank"),
    "an unknown type": ("joints: {O: {type: Revolut, a: ground, b: crank.O}}", "Revolut"),
    "a missing side": ("joints: {O: {type: Revolute, a: ground}}", "O"),
    "an unknown field": ("joints: {O: {type: Revolute, a: ground, b: crank.O, angel: 3}}", "angel"),
    "an unknown word in an expression": (
        "joints: {m: {type: Driver, measure: 'angle(ground, crank)', value: 'omega*t'}}",
        "omega",
    ),
    "a broken expression": (
        "joints: {m: {type: Driver, measure: 'angle(ground, crank)', value: '2*(t+1'}}",
        "m",
    ),
    "a force on the ground": ("forces: {F: {type: PointForce, frame: ground, fx: 1}}", "F"),
    "a joint with itself": ("joints: {O: {type: Revolute, a: crank.A, b: crank.O}}", "O"),
    "parameters in a circle": ("parameters: {a: b, b: a}", "a"),
    "a link without length": ("joints: {L: {type: Link, a: ground, b: crank.A, length: -1}}", "L"),
}
BODIES = {
    "a negative mass": ("bodies: {b: {mass: -1}}", "b"),
    "a mass of nan": ("bodies: {b: {mass: .nan}}", "b"),
    "a bar without length": ("bodies: {b: {bar: {start: [1, 1], end: [1, 1]}, mass: 1}}", "b"),
    "a disk of no radius": ("bodies: {b: {disk: {radius: 0}, mass: 1}}", "b"),
    "nothing at all": ("bodies: {}", ""),
}


@pytest.mark.parametrize("mistake", [*FILES, *BODIES])
def test_mistakes_in_files(mistake: str, tmp_path: Path) -> None:
    text, element = FILES.get(mistake) or BODIES[mistake]
    path = tmp_path / "model.yaml"
    path.write_text(f"name: m\n{HEAD if mistake in FILES else ''}{text}\n")
    found = se.doctor(path)
    assert found.findings[0].severity == "error" and not found.healthy
    assert element in str(found).splitlines()[0]


def slider_crank(**changes: object) -> se.Model:
    """A crank of 0.1 m, a rod of 0.3 m, drawn closed."""
    m = se.Model("slider-crank")
    crank = m.body("crank", mass=1, inertia=1e-3, at=(0.05, 0), points={"O": (-0.05, 0), "A": (0.05, 0)})
    rod = m.body("rod", mass=2, inertia=0.02, at=(0.25, 0), points={"A": (-0.15, 0), "B": (0.15, 0)})
    slider = m.body("slider", mass=1, inertia=1e-3, at=(0.4, 0))
    m.add(se.Revolute("O", m.ground, crank["O"]))
    m.add(se.Revolute("A", crank["A"], rod["A"]))
    m.add(se.Revolute("B", rod["B"], slider))
    m.add(se.Translational("guide", m.ground, slider))
    for name, value in changes.items():
        body, _, field = name.partition("_")
        setattr(m.bodies[body], field, value)
    return m


def with_element(element: se.Element, model: se.Model | None = None) -> se.Model:
    model = model or slider_crank()
    model.add(element)
    return model


def gears(make: Callable[[str, str], se.Element]) -> se.Model:
    m = se.Model("gears")
    for name, x in (("pinion", 0.0), ("wheel", 0.5)):
        m.body(name, mass=1, inertia=0.01, at=(x, 0))
        m.add(se.Revolute(f"{name} pin", m.ground, name))
    return with_element(make("pinion", "wheel"), m)


def truss() -> se.Model:
    m = se.Model("truss")
    a, b = m.bar("a", (0, 0), (1, 1), mass=1), m.bar("b", (1, 1), (2, 0), mass=1)
    m.add(se.Revolute("left", m.ground, a["start"]))
    m.add(se.Revolute("top", a["end"], b["start"]))
    m.add(se.Revolute("right", m.ground, b["end"]))
    return m


def too_short() -> se.Model:
    m = se.Model("four-bar")
    for name, start, end in (("a", (0, 0), (0, 1)), ("b", (0, 1), (1, 1)), ("c", (1, 1), (1, 0))):
        m.bar(name, start, end, mass=1)
    m.add(se.Revolute("O", m.ground, "a.start"))
    m.add(se.Revolute("A", "a.end", "b.start"))
    m.add(se.Revolute("B", "b.end", "c.start"))
    m.add(se.Revolute("C", m.ground.at(9, 0), "c.end"))
    return m


def on_rail(**body: object) -> se.Model:
    m = se.Model("rail")
    m.body("block", **({"mass": 1, "inertia": 1} | body))
    m.add(se.Translational("rail", m.ground, "block"))
    return m


def two_drivers(second: str) -> se.Model:
    m = builders.four_bar(1, 2, 3, 3, speed=2)
    m.add(se.Driver("second", se.angle(m.ground, "rocker"), second))
    return m


def free_fall(**changes: object) -> se.Model:
    m = se.Model("pendulum", gravity=changes.pop("gravity", (0, -9.81)))
    bar = m.bar("bar", (0, 0), (1, 0), **({"mass": 1} | changes))
    m.add(se.Revolute("O", m.ground, bar["start"]))
    return m


def no_value_at_zero() -> se.Model:
    return with_element(se.Driver("motor", "angle(ground, crank)", "1/t"))


MODELS: dict[str, tuple[Callable[[], se.Model], str, str]] = {
    "an angle in degrees": (lambda: slider_crank(crank_angle=90), "degrees", "crank"),
    "a direction in degrees": (
        lambda: with_element(se.Translational("incline", "ground", "block", direction=30), _loose()),
        "degrees",
        "incline",
    ),
    "a free angle in degrees": (
        lambda: with_element(se.Spring("s", se.angle("crank", "rod"), stiffness=1, free=90)),
        "degrees",
        "s",
    ),
    "a held angle in degrees": (lambda: with_element(se.AbsoluteAngle("hold", "rod", 45)), "degrees", "hold"),
    "one body in millimeters": (
        lambda: slider_crank(rod_points={"A": (-150, 0), "B": (150, 0)}),
        "units",
        "rod",
    ),
    "one body in kilometers": (
        lambda: slider_crank(crank_points={"O": (-5e-5, 0), "A": (5e-5, 0)}),
        "units",
        "crank",
    ),
    "a bar of 300 m that weighs 2 kg": (lambda: _long_bar(), "units", "bar"),
    "gravity in millimeters": (lambda: free_fall(gravity=(0, -9810)), "units", "gravity"),
    "an inertia in kg mm^2": (lambda: slider_crank(rod_inertia=2e4), "inertia", "rod"),
    "an inertia a million times too small": (lambda: slider_crank(rod_inertia=2e-8), "inertia", "rod"),
    "gears too far apart": (
        lambda: gears(lambda a, b: se.Gear("mesh", a, b, radii=(0.1, 0.2))),
        "gear",
        "mesh",
    ),
    "pulleys that overlap": (
        lambda: gears(lambda a, b: se.Belt("belt", a, b, radii=(0.4, 0.2))),
        "belt",
        "belt",
    ),
    "a spring of no length": (
        lambda: with_element(se.Spring("s", se.distance("crank.A", "rod.A"), stiffness=10, free=0.1)),
        "no length",
        "s",
    ),
    "a pin given twice": (lambda: with_element(se.Revolute("A2", "crank.A", "rod.A")), "repeated", "A2"),
    "a spring without stiffness": (
        lambda: with_element(se.Spring("s", se.distance("crank", "slider"), free=1)),
        "idle",
        "s",
    ),
    "a force of zero": (lambda: with_element(se.PointForce("F", "slider")), "idle", "F"),
    "a torque of zero": (lambda: with_element(se.Torque("T", "crank", 0)), "idle", "T"),
    "a body that was forgotten": (lambda: _forgotten(), "unconnected", "spare"),
    "links too short": (too_short, "open", "C"),
    "a driver that begins too far away": (
        lambda: with_element(se.Driver("push", se.x("ground", "slider"), "3 + t")),
        "open",
        "push",
    ),
    "a body drawn elsewhere": (lambda: _elsewhere(), "moved", "bar"),
    "a velocity that a guide forbids": (lambda: on_rail(velocity=(0, 3)), "velocity", "block"),
    "a driver without a value": (no_value_at_zero, "model", "motor"),
    "two drivers that fight": (lambda: two_drivers("3*t"), "fighting drivers", "second"),
    "a guide turned by 90 degrees": (
        lambda: with_element(
            se.Driver("push", se.x("ground", "block"), "t"),
            with_element(se.Translational("guide", "ground", "block", direction=(0, 1)), _loose()),
        ),
        "blocked driver",
        "guide",
    ),
    "a driver of what is fixed": (
        lambda: with_element(se.Driver("d", se.x("ground", "block"), "t"), _fixed()),
        "blocked driver",
        "d",
    ),
    "a slider driven from its dead point": (
        lambda: with_element(se.Driver("push", se.x("ground", "slider"), "0.4 - 0.1*t")),
        "blocked driver",
        "push",
    ),
    "a truss that should move": (truss, "locked", "truss"),
    "a free body without mass": (lambda: free_fall(mass=0), "massless", "bar"),
}


def _loose() -> se.Model:
    m = se.Model("loose")
    m.body("block", mass=1, inertia=1)
    return m


def _fixed() -> se.Model:
    return with_element(se.Fixed("weld", "ground", "block"), _loose())


def _forgotten() -> se.Model:
    m = slider_crank()
    m.body("spare", mass=1, inertia=1, at=(1, 1))
    return m


def _long_bar() -> se.Model:
    m = se.Model("long")
    bar = m.bar("bar", (0, 0), (300, 0), mass=2)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    return m


def _elsewhere() -> se.Model:
    m = se.Model("elsewhere")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground.at(0.2, 0.1), bar["start"]))
    return m


@pytest.mark.parametrize("mistake", MODELS)
def test_mistakes_in_models(mistake: str) -> None:
    make, kind, element = MODELS[mistake]
    found = se.doctor(make())
    first = found.findings[0]
    assert (first.kind, element) == (kind, element if element in str(first) else first.elements), str(found)


def test_the_gallery_has_forty_members() -> None:
    assert len(FILES) + len(BODIES) + len(MODELS) >= 40


@pytest.mark.parametrize("name", library.names())
def test_shipped_mechanisms_are_healthy(name: str) -> None:
    with library.file(name) as path:
        assert se.doctor(path).healthy


def test_dependent_sets_and_unique_reactions_by_name() -> None:
    m = slider_crank(crank_angle=0.0)
    m.add(se.AbsoluteY("height", "slider"))
    found = se.doctor(m)
    [group] = [f for f in found.of("dependent") if set(f.elements) == {"guide", "height"}]
    assert "in every pose" in group.text
    assert found.of("reactions")[0].elements == ("guide", "height")


def test_findings_as_json() -> None:
    data = json.loads(se.doctor(two_drivers("3*t")).json())
    assert data["healthy"] is False
    assert data["findings"][0]["kind"] == "fighting drivers"
    assert data["findings"][0]["elements"] == ["motor", "second"]


def test_hundreds_of_joints_between_two_bodies_end_in_a_sentence() -> None:
    m = se.Model("heap")
    a = m.bar("a", (0, 0), (1, 0), mass=1)
    for k in range(300):
        m.add(se.Revolute(f"pin {k}", m.ground, a["start"]))
    with pytest.raises(se.UnsupportedError, match="300 joints connect a, ground"):
        se.dynamics(m, t_end=0.1)
    assert se.doctor(m).findings[0].kind == "repeated"


def test_what_to_do_is_said_apart_from_what_is_wrong():
    m = se.Model("too far")
    m.bar("crank", (0, 0), (0, 1), mass=1)
    m.bar("rod", (0, 1), (1, 1), mass=1)
    m.bar("rocker", (9, 0), (9, 1), mass=1)
    for pin in (
        "A ground crank.start",
        "B crank.end rod.start",
        "C rod.end rocker.end",
        "D ground rocker.start",
    ):
        m.add(se.Revolute(*pin.split()))
    (finding,) = se.doctor(m).of("open")
    assert (
        "Revolute 'D' between ground, rocker stays 4.463 m apart" in finding.text
        and "Check" not in finding.text
    )
    assert finding.remedy == "Check its position and the lengths of the bodies around it."


def test_a_spring_that_closes_a_cam_is_not_idle_while_the_cam_dwells():
    assert se.doctor(se.load("valve_train")).of("idle") == []
