"""Models as Python programs: executed, a program gives an equal model."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import simengine2d as se
from simengine2d.errors import ModelError
from simengine2d.io.model_writer import model_data
from simengine2d.io.python_writer import to_python
from simengine2d.model import library
from simengine2d.model.elements import Joint, Number, Row
from simengine2d.model.measure import x
from simengine2d.system.system import System

PARTS = (
    *("name", "units", "gravity", "parameters", "tables", "formulas"),
    *("ground", "bodies", "elements", "analysis", "look"),
)


def rebuilt(model: se.Model) -> se.Model:
    names = {"__name__": "program"}
    exec(compile(to_python(model), "program.py", "exec"), names)
    return names["m"]


def assert_same(made: se.Model, model: se.Model) -> None:
    for part in PARTS:
        assert getattr(made, part) == getattr(model, part), part
    assert list(made.elements) == list(model.elements)
    assert model_data(made) == model_data(model)


@pytest.mark.parametrize("name", library.names())
def test_every_shipped_mechanism_is_built_again_by_its_program(name):
    model = se.load(name)
    made = rebuilt(model)
    assert_same(made, model)
    np.testing.assert_array_equal(System(made).drawn_q, System(model).drawn_q)


def test_names_that_are_no_variables():
    m = se.Model('a "quoted" \\ name')
    for name in ("class", "m", "se", "print", "Long Rod", "long_rod", "2nd", "größe", "é", "ü"):
        m.body(name, mass=1, inertia=1, points={"a point": (1, 2)})
    m.add(se.Revolute("first joint", m["Long Rod"]["a point"], m["2nd"].at(0.5, "0.5 + 0", 0.1)))
    made = rebuilt(m)
    assert_same(made, m)


def test_tables_laws_formulas_and_units():
    m = se.Model("parts", units={"length": "mm", "angle": "deg"}, gravity=(0, 0), parameters={"k": "3 N/mm"})
    m.table("gas", [(0, 1), (1, 5), (2, 3)], smooth=False)
    m.formula("gap", "block.x - 10")
    m.formula("pressure(u)", "2*gas(u)")
    block = m.block("block", width=20, height=10, mass=1, at=(30, 0))
    block.look = {"color": "#aa3300"}
    m.ground.look = {"hidden": True}
    m.ground.points["O"] = (0, 0)
    m.add(se.Translational("guide", m.ground, block, direction=(1, 0)))
    table = se.Table(of="x", points=[0, 10, 20], values=[0, 5, 20], smooth=False)
    m.add(se.Spring("spring", se.distance(m.ground["O"], block), stiffness="k", free=20))
    m.add(se.PointForce("pull", block, fx=table))
    m.add(se.PointForce("push", block, fx=se.Table([0, 1, 2], [0, 1, 0], periodic=True)))
    m.look = {"trace": ["block"], "note": "x" * 300}
    made = rebuilt(m)
    assert model_data(made) == model_data(m)
    assert made.check().written.name == "parts"


def test_a_program_runs_by_itself(tmp_path):
    path = se.load("four_bar").save(tmp_path / "four_bar.py")
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "four-bar" in done.stdout
    with pytest.raises(ModelError, match="is a Python program, not a model file"):
        se.load(path)


def test_what_a_program_cannot_hold_is_refused():
    class Held(Joint):
        """Phi = x - at = 0"""

        at: Number
        frame: se.Frame

        def rows(self):
            yield Row("x", x(self.frame, self.frame), self.at)

    m = se.Model("own")
    body = m.body("body", mass=1, inertia=1)
    m.add(se.PointForce("push", body, fx=lambda t: t))
    with pytest.raises(ModelError, match="holds no code"):
        to_python(m)
    del m.elements["push"]
    m.add(Held("held", 1.0, body))
    se.Element.registry.pop("Held")
    with pytest.raises(ModelError, match="is of a class of your own"):
        to_python(m)
