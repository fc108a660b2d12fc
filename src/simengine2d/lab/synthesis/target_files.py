"""Targets in files: a CSV table with the columns x, y (and angle, input), or input, output; or YAML.

A YAML file has one of `path`, `poses` or `function`, and may have `inputs` and `closed`:

    path: [[20, 20], [20, 25], [20, 30]]
    closed: false
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from ...errors import ModelError, listed, unknown
from ...io.files import read_text
from .targets import SynthesisTarget, function_target, path_target, pose_target

KEYS = ("path", "poses", "function", "inputs", "closed")


def read_target(path: Path) -> SynthesisTarget:
    """The target of a file."""
    text = read_text(path)
    return _from_yaml(path, text) if path.suffix in (".yaml", ".yml") else _from_csv(path, text)


def _from_csv(path: Path, text: str) -> SynthesisTarget:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    table = list(csv.DictReader(lines, skipinitialspace=True))
    names = [name.strip() for name in (lines[0].split(",") if lines else [])]
    column = lambda name: [(row[name] or "").strip() for row in table]
    inputs = column("input") if "input" in names else None
    if {"input", "output"} <= set(names):
        return function_target(inputs, column("output"))
    if {"x", "y", "angle"} <= set(names):
        return pose_target(list(zip(column("x"), column("y"), column("angle"), strict=True)), inputs=inputs)
    if {"x", "y"} <= set(names):
        return path_target(list(zip(column("x"), column("y"), strict=True)), inputs=inputs)
    raise ModelError(
        f"{path}: the columns are {listed(names) or 'missing'}; a target has x and y, of poses also "
        "angle, of a function input and output."
    )


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
