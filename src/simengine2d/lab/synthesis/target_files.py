"""Targets in files: a CSV table with the columns x, y (and angle, input), or input, output; or YAML.

A heading may name its unit, `angle [deg]`; without one a column is in SI units and radians.

A YAML file has one of `path`, `poses` or `function`, and may have `inputs` and `closed`:

    path: [[20, 20], [20, 25], [20, 30]]
    closed: false
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from ...errors import ModelError, listed, unknown
from ...expressions.units import UNITS
from ...io.files import read_text
from ..motion_columns import split_heading, unit_of
from .targets import SynthesisTarget, function_target, path_target, pose_target

PLACES = ("x", "y", "angle")
TABLES = [{"x", "y"}, {"x", "y", "input"}, {*PLACES}, {*PLACES, "input"}, {"input", "output"}]
KEYS = ("path", "poses", "function", "inputs", "closed")


def read_target(path: Path) -> SynthesisTarget:
    """The target of a file."""
    text = read_text(path)
    return _from_yaml(path, text) if path.suffix in (".yaml", ".yml") else _from_csv(path, text)


def _from_csv(path: Path, text: str) -> SynthesisTarget:
    columns = _columns(path, text)
    inputs = columns.get("input")
    if "output" in columns:
        return function_target(inputs, columns["output"])
    places = [columns[name] for name in PLACES if name in columns]
    rows = list(zip(*places, strict=True))
    return pose_target(rows, inputs=inputs) if "angle" in columns else path_target(rows, inputs=inputs)


def _columns(path: Path, text: str) -> dict[str, list[Any]]:
    """The columns by name, as they are written; of a heading with a unit as numbers in SI units."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    headings, *rows = list(csv.reader(lines, skipinitialspace=True)) or [[]]
    columns: dict[str, list[Any]] = {}
    for k, heading in enumerate(headings):
        name, unit = split_heading(heading)
        values = [row[k].strip() if k < len(row) else "" for row in rows]
        columns[name] = _in_si(path, name, unit, values) if unit else values
    if set(columns) not in TABLES:
        raise ModelError(
            f"{path}: the columns are {listed(heading.strip() for heading in headings)}; a target has x and "
            "y, of poses also angle, of a function input and output. Beside x and y, input is the angle of the crank."
        )
    return columns


def _in_si(path: Path, name: str, unit: str, values: list[str]) -> list[float]:
    factor, dimension = unit_of(name, unit)
    wanted = UNITS["m" if name in "xy" else "rad"].dimension
    if dimension != wanted:
        raise ModelError(f"{path}: column {name} cannot be in {unit}.")
    try:
        return [factor * float(value) for value in values]
    except ValueError:
        raise ModelError(
            f"{path}: column {name} [{unit}] holds something that is not a number. Expressions such as 30*deg are for "
            "columns without a unit."
        ) from None


def _from_yaml(path: Path, text: str) -> SynthesisTarget:
    import yaml

    try:
        data: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ModelError(f"{path}: {error}") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path}: a target is a mapping with path, poses or function.")
    for key in data:
        if key not in KEYS:
            raise ModelError(f"{path}: {unknown('key', str(key), KEYS)}")
    kinds = [key for key in KEYS[:3] if key in data]
    if len(kinds) != 1:
        raise ModelError(f"{path}: give one of path, poses and function; there are {len(kinds)}.")
    if kinds == ["function"]:
        pairs = data["function"]
        return function_target([row[0] for row in pairs], [row[1] for row in pairs])
    if kinds == ["poses"]:
        return pose_target(data["poses"], inputs=data.get("inputs"))
    return path_target(data["path"], inputs=data.get("inputs"), closed=bool(data.get("closed", False)))
