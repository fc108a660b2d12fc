"""From file to page a model is resolved once and its arrays are built once."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import simengine2d as se
from simengine2d.model.resolved import ResolvedModel
from simengine2d.system import constraints

FOUR_BAR = Path(se.__file__).parent / "model" / "library" / "four_bar.yaml"


@pytest.fixture
def built(monkeypatch):
    """How often models were resolved and arrays built."""
    count = {"resolved": 0, "arrays": 0}
    resolve, arrays = ResolvedModel.__init__, constraints.constant_arrays

    def counted_resolve(self, model):
        count["resolved"] += 1
        resolve(self, model)

    def counted_arrays(*given, **more):
        count["arrays"] += 1
        return arrays(*given, **more)

    monkeypatch.setattr(ResolvedModel, "__init__", counted_resolve)
    for name, module in list(sys.modules.items()):
        if name.startswith("simengine2d.") and hasattr(module, "constant_arrays"):
            monkeypatch.setattr(module, "constant_arrays", counted_arrays)
    return count


def test_from_file_to_page(built, tmp_path):
    se.dynamics(se.load(FOUR_BAR), t_end=0.01).html(
        tmp_path / "warm.html"
    )  # every module is there to be counted
    built.update(resolved=0, arrays=0)
    results = se.dynamics(se.load(FOUR_BAR), t_end=0.3)
    results.html(tmp_path / "four_bar.html")
    results.summary()
    for joint in results.model.joints:
        results.reaction(joint)
    results.power_balance()
    # arrays of the system; the joint coordinates are those of the first run, with other numbers
    assert built == {"resolved": 1, "arrays": 1}


def spring_pendulum() -> se.Model:
    m = se.Model("pendulum", parameters={"L": 1.0, "k": 20.0})
    bar = m.bar("bar", (0, 0), ("L", 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Spring("s", se.distance(m.ground.at(0, 1), bar["end"]), stiffness="k", free=0.5))
    return m


EDITS = {
    "parameter": lambda m: m.parameters.update(k=30.0),
    "sign of zero": lambda m: setattr(m, "gravity", (-0.0, -9.81)),
    "kind of number": lambda m: setattr(m, "gravity", (0, -9.81)),
    "body": lambda m: setattr(m.bodies["bar"], "mass", 2),
    "element": lambda m: setattr(m.elements["s"], "free", 0.4),
    "order": lambda m: setattr(m, "elements", dict(reversed(m.elements.items()))),
    "new body": lambda m: m.body("other"),
    "removed": lambda m: m.elements.pop("s"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_changed_model_is_resolved_again(built, edit):
    m = spring_pendulum()
    m.gravity = (0.0, -9.81)
    first = m.check()
    built.update(resolved=0)
    assert m.check().elements is first.elements
    assert built["resolved"] == 0
    edit(m)
    assert m.check().elements is not first.elements
    assert built["resolved"] == 1


def test_what_is_no_number_is_seen_without_that(built):
    m = spring_pendulum()
    m.check()
    m.name, m.look = "swing", {"trace": ["bar.end"]}
    assert m.check().model.name == "swing"
    assert se.dynamics(m, t_end=0.01).model.look == m.look
    assert built["resolved"] == 1


def test_python_functions_are_never_taken_for_unchanged(built):
    """What a function does may change without a trace in the model."""
    m = spring_pendulum()
    m.add(se.Torque("push", "bar", lambda t: 0.1))
    m.check(), m.check()
    assert built["resolved"] == 2


def test_each_result_has_a_model_of_its_own():
    m = spring_pendulum()
    first, second = (se.dynamics(m, t_end=0.01) for _ in range(2))
    first.model.parameters["k"] = 1.0
    first.model.elements.clear()
    assert second.model.parameters["k"] == 20.0
    assert "s" in second.model.elements
    assert se.dynamics(m, t_end=0.01).model.parameters["k"] == 20.0


def test_forces_follow_the_arrays_of_results():
    """Users may write into the arrays; forces found before are not shown after that."""
    results = se.dynamics(spring_pendulum(), t_end=0.05)
    before = results["s.force"].copy()
    results.q[:] = results.q[0]
    assert not np.allclose(results["s.force"], before, rtol=1e-12)
    np.testing.assert_allclose(results["s.force"], before[0])
