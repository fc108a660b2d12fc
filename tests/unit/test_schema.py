"""The JSON Schema agrees with the reader and with the registry."""

from __future__ import annotations

import inspect
import json

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from random_models import models

import simengine2d as se
from simengine2d.io.model_writer import model_data
from simengine2d.io.schema import VERSION, json_schema, known_types
from simengine2d.model.registry import element_class, element_names


@pytest.fixture(scope="module")
def schema():
    return json_schema()


@pytest.fixture(scope="module")
def validator(schema):
    return jsonschema.Draft202012Validator(schema)


def test_it_is_a_schema_of_2020_12(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == f"simengine2d model, format {VERSION}"
    assert schema["version"] == VERSION
    assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize("name", element_names())
def test_every_registered_type_is_in_it(schema, name):
    record = schema["$defs"][name]
    cls = element_class(name)
    assert list(record["properties"]) == ["type", *cls.kinds()]
    assert record["additionalProperties"] is False
    assert record["description"] == inspect.getdoc(cls)
    assert all(field["description"] for field in record["properties"].values())
    assert set(record["required"]) == {"type", *cls.required()} - {"name"}


def test_joints_and_forces_stand_apart(schema):
    joints = schema["properties"]["joints"]["anyOf"][0]["additionalProperties"]["discriminator"]["mapping"]
    assert set(joints) == set(known_types(se.Joint))
    assert "Spring" in known_types(se.ForceElement)
    assert "Spring" not in joints


@pytest.mark.slow
@given(model=models())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_we_write_is_valid(validator, model):
    data = model_data(model)
    assert list(validator.iter_errors(data)) == []


@pytest.mark.parametrize(
    "data",
    [
        {"simengine2d": 2},
        {"joint": {}},
        {"bodies": {"a": {"mass": [1]}}},
        {"bodies": {"a": {"shape": "disk"}}},
        {"joints": {"J": {"type": "Revolute", "a": "ground"}}},
        {"joints": {"J": {"type": "Spring", "measure": "x(a, b)"}}},
        {"analysis": {"kind": "dance"}},
        {"analysis": {"kind": "dynamics", "integrator": 3}},
        {"analysis": {"kind": "dynamics", "rtol": [1e-8]}},
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(validator, data):
    assert list(validator.iter_errors(data))


def test_an_analysis_may_name_its_method(validator):
    fixed = {"kind": "dynamics", "t_end": "2*pi", "step": 0.001, "integrator": "newmark"}
    adaptive = {"kind": "dynamics", "t_end": 2, "rtol": 1e-8, "output_steps": 100}
    for analysis in (fixed, adaptive):
        assert list(validator.iter_errors({"analysis": analysis})) == []
