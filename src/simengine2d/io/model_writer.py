"""From a Model to plain data in our own format. What a file cannot hold is refused by name, all at once."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expressions.function import Function
from ..expressions.syntax import to_text
from ..expressions.table import Table
from ..model.body import Body
from ..model.elements import FUNCTION_KINDS, Element, Kind
from ..model.frame import GROUND, Frame
from ..model.measure import Measure
from ..model.model import Model
from .model_reader import LAW
from .schema import VERSION

LONGEST_NAME = 500
"""Characters; YAML ends a name at 1024."""


class Unwritable(Exception):
    """Why a value cannot be written to a file, and what to do."""


def model_data(model: Model) -> dict[str, Any]:
    """The model as mappings, lists, numbers and words; empty sections are left out."""
    return _ModelWriter(model).data()


class _ModelWriter:
    """Collects the data, and the problems found."""

    def __init__(self, model: Model) -> None:
        self.given = model
        self.problems: list[str] = []

    def data(self) -> dict[str, Any]:
        model = self.given
        data = {
            "simengine2d": VERSION,
            "name": self.plain(model.name, "the model's name"),
            "units": model.units.given if model.units else {},
            "gravity": self.plain(model.gravity, "gravity"),
            "parameters": self.plain(model.parameters, "parameters"),
            "tables": {
                name: self.plain(table_data(table), f"table '{name}'") for name, table in model.tables.items()
            },
            "formulas": self.plain(model.formulas, "formulas"),
            "ground": self.ground(model.ground),
            "bodies": {name: self.body(body) for name, body in model.bodies.items()},
            "joints": {name: self.element(joint) for name, joint in model.joints.items()},
            "forces": {name: self.element(force) for name, force in model.forces.items()},
            "analysis": self.plain(model.analysis, "analysis"),
            "look": self.plain(model.look, "look"),
        }
        if self.problems:
            raise ModelError([f"model '{model.name}' is not saved: {problem}" for problem in self.problems])
        return {key: value for key, value in data.items() if value != {}}

    def plain(self, value: Any, what: str) -> Any:
        try:
            return plain(value)
        except Unwritable as reason:
            self.problems.append(f"{what} {reason}")
            return None

    # bodies

    def ground(self, ground: Body) -> dict[str, Any]:
        if replace(ground, points={}, look={}) != Body(GROUND):
            self.problems.append(
                "the ground was given a mass, a pose or a shape. It holds points and a look only."
            )
        return self.body(ground)

    def body(self, body: Body) -> dict[str, Any]:
        what = f"body '{body.name}'"
        data: dict[str, Any] = {}
        if body.shape is not None:
            data["shape"] = body.shape.word
            data |= {
                f.name: self.plain(getattr(body.shape, f.name), f"{what}, {f.name}")
                for f in fields(body.shape)
            }
        given = {
            "mass": None if _same(body.mass, 0.0) else body.mass,
            "density": body.density,
            "inertia": body.inertia,
            "at": body.position,
            "angle": body.angle,
            "velocity": body.velocity,
            "angular_velocity": body.angular_velocity,
            "points": body.points or None,
            "look": body.look or None,
        }
        return data | {k: self.plain(v, f"{what}, {k}") for k, v in given.items() if v is not None}

    # elements

    def element(self, element: Element) -> dict[str, Any]:
        data: dict[str, Any] = {"type": type(element).__name__}
        defaults = {f.name: f.default for f in fields(element)}  # type: ignore[arg-type]
        for name, kind in element.kinds().items():
            given = getattr(element, name)
            if defaults[name] is not MISSING and _same(given, defaults[name]):
                continue
            try:
                data[name] = field_data(given, kind)
            except Unwritable as reason:
                self.problems.append(f"{element.title}, {name} {reason}")
        return data


def _same(given: Any, default: Any) -> bool:
    """Equal, and no array, whose comparison is an array."""
    return not isinstance(given, np.ndarray) and bool(given == default)


def field_data(given: Any, kind: Kind) -> Any:
    """What a field holds, as the file says it."""
    if kind.name == "frame":
        return frame_data(given)
    if isinstance(given, Measure):
        return given.text
    if kind.name in FUNCTION_KINDS:
        return function_data(given)
    if kind.name == "curve":
        return {word: curve_data(part) for word, part in given.given.items()}
    if kind == LAW and callable(given):
        remedy = 'Give the law\'s name instead and load the file with laws={"name": f}'
        raise Unwritable(f"is the Python function {_called(given)}; a file holds no code. {remedy}.")
    return plain(given)


def frame_data(frame: Frame) -> str | dict[str, Any]:
    """`crank`, `crank.A`, `{body: crank, at: [0.5, 0]}`"""
    if frame.place is not None:
        x, y, angle = frame.place
        return {"body": frame.body, "at": plain([x, y] if angle == 0 else [x, y, angle])}
    text = frame.body if frame.point is None else f"{frame.body}.{frame.point}"
    return text if text == text.strip() else f"'{text}'"


def curve_data(part: Any) -> Any:
    """An expression, numbers or words; Python functions are refused."""
    return function_data(part) if callable(part) or isinstance(part, Function | Table) else plain(part)


def function_data(given: Any) -> Any:
    """A number, an expression, or a table."""
    if isinstance(given, Function):
        given = given.table or (given.tree and to_text(given.tree)) or (given.callback or given.constant)
    if isinstance(given, Table):
        points = list(given.times)
        where: dict[str, Any] = {"of": given.of, "points": points} if given.of else {"times": points}
        return where | {"values": list(given.values)} | table_options(given)
    if callable(given) or isinstance(given, tuple) or not isinstance(given, str | int | float | np.number):
        remedy = "Give an expression of t such as '2*pi*t', or a table of times and values"
        raise Unwritable(f"is the Python function {_called(given)}; a file holds no code. {remedy}.")
    return plain(given)


def table_data(table: Table) -> dict[str, Any]:
    """A named table as pairs."""
    return {"points": [list(pair) for pair in zip(table.times, table.values, strict=True)]} | table_options(
        table
    )


def table_options(table: Table) -> dict[str, Any]:
    return ({"periodic": True} if table.periodic else {}) | ({} if table.smooth else {"smooth": False})


def _called(given: Any) -> str:
    functions = given if isinstance(given, tuple) else (given,)
    return ", ".join(str(getattr(f, "__name__", type(f).__name__)) for f in functions)


# Plain data -------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Numbers, words, truths, lists and mappings; NumPy's numbers and arrays become Python's."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise Unwritable(f"holds {value}; a file holds finite numbers.")
    if isinstance(value, int) and abs(value) >= 10**300:
        raise Unwritable("holds a number of more than 300 digits; the largest is about 1.8e308.")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise Unwritable(f"holds {_called(value)}; a file holds numbers, words, lists and mappings only.")


def _key(key: Any) -> str:
    if not isinstance(key, str) or len(key) > LONGEST_NAME:
        raise Unwritable(
            f"holds the key {str(key)[:40]!r}; a key is a text of at most {LONGEST_NAME} characters."
        )
    return key
