"""The joint that CONTRIBUTING.md adds in one file is known everywhere: the promise of the registry."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import simengine2d as se
from simengine2d.io import json_schema
from simengine2d.model.elements import Element
from simengine2d.model.registry import element_names

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"
BLOCK = re.compile(r"^#+ Adding a joint.*?^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.skipif(
    not GUIDE.is_file(), reason="CONTRIBUTING.md is not part of the installed package"
)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The first Python block under the heading, imported as a module of its own; forgotten afterwards."""
    found = BLOCK.search(GUIDE.read_text(encoding="utf-8"))
    assert found, "CONTRIBUTING.md has no Python block under 'Adding a joint'"
    path = tmp_path_factory.mktemp("joint") / "added_joint.py"
    path.write_text(found[1], encoding="utf-8")
    before = dict(Element.registry)
    spec = importlib.util.spec_from_file_location("added_joint", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    Element.registry.clear()
    Element.registry.update(before)


@pytest.fixture(scope="module")
def joint(example):
    """The class that the block defines."""
    (cls,) = [v for v in vars(example).values() if isinstance(v, type) and v.__module__ == example.__name__]
    return cls


@pytest.fixture(scope="module")
def model(example):
    """The model that the block builds with it."""
    (model,) = [v for v in vars(example).values() if isinstance(v, se.Model)]
    return model


def test_it_is_a_public_name(joint):
    assert getattr(se, joint.__name__) is joint
    assert joint.__name__ in element_names()
    assert joint.__name__ in dir(se)


def test_it_stands_in_model_files(joint, model, tmp_path):
    for ending in ("yaml", "json"):
        again = se.load(model.save(tmp_path / f"model.{ending}"))
        assert any(type(element) is joint for element in again.elements.values())


def test_it_moves(model, tmp_path):
    results = se.kinematics(model, t_end=1)
    again = se.kinematics(se.load(model.save(tmp_path / "model.yaml")), t_end=1)
    np.testing.assert_allclose(again.q, results.q, atol=1e-14)
    assert results.residuals["position"] < 1e-12


def test_it_stands_in_the_schema(joint):
    record = json_schema()["$defs"][joint.__name__]
    assert list(record["properties"]) == ["type", *joint.kinds()]
    assert set(record["required"]) == {"type", *joint.required()} - {"name"}


def broken(model, joint, tmp_path, change):
    """The sentence of the checker after a change to the joint's record."""
    path = model.save(tmp_path / "model.yaml")
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    record = next(r for r in data["joints"].values() if r["type"] == joint.__name__)
    change(record, next(name for name, kind in joint.kinds().items() if kind.name == "frame"))
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(se.ModelError) as caught:
        se.load(path)
    return str(caught.value)


def test_the_checker_knows_its_fields(joint, model, tmp_path):
    def remove(record, field):
        del record[field]

    def misspell(record, field):
        record[f"{field}x"] = record[field]

    assert f"({joint.__name__}) needs the field" in broken(model, joint, tmp_path, remove)
    assert f"({joint.__name__}) has no field" in broken(model, joint, tmp_path, misspell)


def test_the_checker_knows_its_references_and_its_name(joint, model, tmp_path):
    def wrong_body(record, field):
        record[field] = "nobody"

    def wrong_type(record, field):
        record["type"] = joint.__name__[:-1]

    assert "'nobody', which is not in the model" in broken(model, joint, tmp_path, wrong_body)
    assert f"Did you mean '{joint.__name__}'?" in broken(model, joint, tmp_path, wrong_type)


def test_fields_may_be_annotated_with_plain_types():
    before = dict(Element.registry)

    class Tilted(se.Pair):
        """A slot that rises: y = slope x + height of a frame."""

        slope: float
        level: se.Frame
        steep: bool = False

        def rows(self):
            slope = 2 * self.slope if self.steep else self.slope
            yield se.Row("rise", se.y(self.level, self.b) - slope * se.x(self.a, self.b))

    try:
        assert [kind.name for kind in Tilted.kinds().values()][-3:] == ["number", "frame", "plain"]
        m = se.Model("slot", parameters={"k": 0.5})
        m.body("pin", mass=1, inertia=1, at=(2, 1))
        m.add(Tilted("slot", m.ground.at(0, 0), "pin", slope="k", level=m.ground.at(0, 0)))
        m.add(se.Driver("push", "x(ground, pin)", "2 + t"))
        m.add(se.AbsoluteAngle("level", "pin"))
        assert se.kinematics(m, t_end=1)["pin.y"][-1] == pytest.approx(1.5, abs=1e-12)
    finally:
        Element.registry.clear()
        Element.registry.update(before)
    with pytest.raises(TypeError, match="annotate it with float, bool, Frame"):
        type("Wrong", (se.Pair,), {"__annotations__": {"size": int}, "rows": lambda self: []}).kinds()
