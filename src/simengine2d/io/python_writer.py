"""From a Model to a Python program that builds the same model with the public names of the package."""

from __future__ import annotations

import builtins
import json
import keyword
import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

from ..errors import PACKAGE, ModelError
from ..expressions.table import Table
from ..model.body import Body
from ..model.curves.curve import Curve
from ..model.elements import Element
from ..model.frame import GROUND, Frame
from ..model.model import Model
from .model_writer import model_data

WIDTH = 100
MODEL, SE = "m", "se"
TAKEN = {MODEL, SE, *keyword.kwlist, *dir(builtins)}
"""Names that no body may have in the program."""

BUILDERS = {"bar": ("start", "end"), "link": ("through",), "plate": ("corners",), "disk": (), "block": ()}
"""The method of Model for each shape, and the fields that it takes without their names."""


class PythonCode(str):
    """A piece of the program, as it is."""


class PythonCall(NamedTuple):
    """A call: what is called, its arguments, and those with a name."""

    head: str
    first: list[Any]
    options: dict[str, Any] = {}

    @property
    def arguments(self) -> list[tuple[str, Any]]:
        named = [(f"{word}=", value) for word, value in self.options.items()]
        return [("", value) for value in self.first] + named


def to_python(model: Model) -> str:
    """The program. What a file cannot hold, such as a Python function, is refused as for other files."""
    data = model_data(model)
    names = _variables(model)
    parts = [
        f"{_docstring(model.name)}\n\nimport simengine2d as {SE}",
        "\n".join([_model(model, data), *_words(data), *_ground(data)]),
        "\n".join(line for body in model.bodies.values() for line in _body(body, data, names)),
        "\n".join(_element(element, data, names) for element in model.elements.values()),
        "\n".join(_statement(f"{MODEL}.{word}", data[word]) for word in ("analysis", "look") if word in data),
        f'if __name__ == "__main__":\n    print({SE}.run({MODEL}))',
    ]
    return "\n\n".join(part for part in parts[:-1] if part) + f"\n\n\n{parts[-1]}\n"


# The model ----------------------------------------------------------------------------------------------


def _docstring(name: str) -> str:
    words = name if name.isprintable() else "A mechanism"
    return '"""' + words.replace("\\", "\\\\").replace('"', "'") + '."""'


def _model(model: Model, data: dict[str, Any]) -> str:
    usual = model.gravity == Model(units=model.units).gravity
    options = {} if usual else {"gravity": tuple(data["gravity"])}
    options |= {word: data[word] for word in ("units", "parameters") if word in data}
    return written(PythonCall(f"{MODEL} = {SE}.Model", [data["name"]], options))


def _words(data: dict[str, Any]) -> Iterable[str]:
    """Names for expressions."""
    for name, table in data.get("tables", {}).items():
        points = [tuple(pair) for pair in table["points"]]
        options = {word: table[word] for word in ("smooth", "periodic") if word in table}
        yield written(PythonCall(f"{MODEL}.table", [name, points], options))
    for name, formula in data.get("formulas", {}).items():
        yield written(PythonCall(f"{MODEL}.formula", [name, formula]))


def _ground(data: dict[str, Any]) -> Iterable[str]:
    ground = data.get("ground", {})
    for name, place in ground.get("points", {}).items():
        yield f"{MODEL}.ground.points[{source(name)}] = {source(tuple(place))}"
    if "look" in ground:
        yield _statement(f"{MODEL}.ground.look", ground["look"])


# Bodies -------------------------------------------------------------------------------------------------


def _body(body: Body, data: dict[str, Any], names: dict[str, str]) -> Iterable[str]:
    given = dict(data["bodies"][body.name])
    look, shape = given.pop("look", None), given.pop("shape", "body")
    first = [_place(given.pop(word)) for word in BUILDERS.get(shape, ())]
    options = {word: _place(value) for word, value in given.items()}
    yield written(PythonCall(f"{names[body.name]} = {MODEL}.{shape}", [body.name, *first], options))
    if look is not None:
        yield _statement(f"{names[body.name]}.look", look)


def _place(value: Any) -> Any:
    """Points are tuples, also those in a list or a mapping."""
    if isinstance(value, dict):
        return {name: _place(part) for name, part in value.items()}
    if isinstance(value, list):
        places = [_place(part) for part in value]
        return places if any(isinstance(part, tuple) for part in places) else tuple(places)
    return value


# Joints and forces --------------------------------------------------------------------------------------


def _element(element: Element, data: dict[str, Any], names: dict[str, str]) -> str:
    kind = type(element)
    if kind.__module__.partition(".")[0] != PACKAGE:
        raise ModelError(
            f"{element.title} is of a class of your own, which the program would have to import. "
            "Save the model as .yaml instead."
        )
    given = data[element.section][element.name]
    first: list[Any] = [element.name]
    options: dict[str, Any] = {}
    for item in fields(element):  # type: ignore[arg-type]
        if item.name in given:
            value = _field(getattr(element, item.name), given[item.name], names)
            if item.default is MISSING and not item.kw_only and not options:
                first.append(value)
            else:
                options[item.name] = value
    return written(PythonCall(f"{MODEL}.add", [PythonCall(f"{SE}.{kind.__name__}", first, options)]))


def _field(given: Any, data: Any, names: dict[str, str]) -> Any:
    if isinstance(given, Frame):
        return _frame(given, names)
    if isinstance(given, Table) or (isinstance(data, dict) and "values" in data):
        return PythonCall(f"{SE}.Table", [], data)
    if isinstance(given, Curve):
        return PythonCall(f"{SE}.Curve", [], _place(data))
    return _place(data)


def _frame(frame: Frame, names: dict[str, str]) -> PythonCode | PythonCall:
    """`crank`, `crank["A"]`, `crank.at(0.5, 0)`"""
    body = names[frame.body]
    if frame.place is not None:
        x, y, angle = frame.place
        return PythonCall(f"{body}.at", [x, y] if angle == 0 else [x, y, angle])
    return PythonCode(body if frame.point is None else f"{body}[{source(frame.point)}]")


# Names --------------------------------------------------------------------------------------------------


def _variables(model: Model) -> dict[str, str]:
    """A variable for each body."""
    names = {GROUND: f"{MODEL}.ground"}
    taken = set(TAKEN)
    for name in model.bodies:
        names[name] = _variable(name, taken)
        taken.add(names[name])
    return names


def _variable(name: str, taken: set[str]) -> str:
    """`Long Rod 2` is long_rod_2."""
    word = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    word = f"body_{word}".rstrip("_") if not word or word[0].isdigit() or word in taken else word
    others = (f"{word}_{k}" for k in range(2, len(taken) + 3))
    return word if word not in taken else next(other for other in others if other not in taken)


# Python's own grammar -----------------------------------------------------------------------------------


def source(value: Any) -> str:
    """A value on one line of a program."""
    if isinstance(value, PythonCode):
        return value
    if isinstance(value, PythonCall):
        return f"{value.head}({', '.join(word + source(part) for word, part in value.arguments)})"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{source(key)}: {source(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(source, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(source, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def _statement(target: str, value: Any) -> str:
    return f"{target} = {written(value, '', len(target) + 3)}"


def written(value: Any, begin: str = "", before: int = 0) -> str:
    """A value, over several lines where one is too long; each begins with `begin`, the first after `before` letters."""
    line = source(value)
    if len(line) + before <= WIDTH or not isinstance(value, dict | list | PythonCall):
        return line
    head, parts, tail = _opened(value)
    deeper = begin + "    "
    inner = [f"{deeper}{word}{written(part, deeper, len(deeper + word) + 1)}" for word, part in parts]
    return ",\n".join([f"{head}\n{inner[0]}", *inner[1:]]) + f",\n{begin}{tail}" if inner else line


def _opened(value: dict[str, Any] | list[Any] | PythonCall) -> tuple[str, list[tuple[str, Any]], str]:
    """The bracket, what is inside, and the bracket at the end."""
    if isinstance(value, PythonCall):
        return f"{value.head}(", value.arguments, ")"
    if isinstance(value, dict):
        return "{", [(f"{source(key)}: ", part) for key, part in value.items()], "}"
    return "[", [("", part) for part in value], "]"
