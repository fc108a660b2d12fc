"""Motions as columns by name, as people and programs hand them over: files, DataFrames, mappings of arrays, Results.

A heading may name its unit, `crank.phi [deg]` or `rod.xdd (mm/s²)`; without one a column is in SI units and radians.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..errors import ModelError, SimEngineError, listed
from ..expressions.unit_system import NOTHING
from ..expressions.units import UNITS, Dimension
from ..numerics.arrays import Floats
from ..results.results import Results
from ..system.system import System
from .number_files import read_table

if TYPE_CHECKING:
    import pandas

SolutionLike: TypeAlias = "str | PathLike[str] | Results | Mapping[str, Any] | pandas.DataFrame"

TIMES = ("t", "time", "Time")
HEADING = re.compile(r"^\s*(.*?)\s*(?:\[\s*([^\]]*?)\s*\]|(?<=\s)\(\s*([^()]*?)\s*\))?\s*$")


class NamedColumn(NamedTuple):
    """Values in SI units; the unit of the heading and what it measures, where there is one."""

    values: Floats
    unit: str = ""
    dimension: Dimension | None = None


def columns_in(given: Any, what: str) -> dict[str, NamedColumn]:
    """The columns by name; that of the times is called t."""
    columns: dict[str, NamedColumn] = {}
    for heading, values in table_of(given, what).items():
        name, unit = split_heading(str(heading))
        factor, dimension = unit_of(name, unit)
        columns["t" if name in TIMES else name] = NamedColumn(
            _numbers(name, values, what) * factor, unit, dimension
        )
    if "t" not in columns:
        raise ModelError(f"{what} has no column t; its columns are {listed(columns)}.")
    return columns


def split_heading(heading: str) -> tuple[str, str]:
    """The name and the unit: `crank.phi [deg]`, `crank.phi (deg)`; but `abs(crank.phi)` is a name."""
    match = HEADING.match(heading)
    return (match[1], match[2] or match[3] or "") if match else (heading.strip(), "")


def table_of(given: Any, what: str) -> Mapping[str, Any]:
    if isinstance(given, Results):
        return {"t": given.t, **{name: given[name] for name in given.channels}}
    if isinstance(given, str | PathLike):
        return read_table(Path(given))
    if isinstance(given, Mapping):
        return given
    if hasattr(given, "to_dict") and hasattr(given, "columns"):  # a DataFrame, perhaps indexed by time
        timed = any(split_heading(str(name))[0] in TIMES for name in given.columns)
        frame = given if timed else given.reset_index()
        return {str(name): frame[name].to_numpy() for name in frame.columns}
    raise ModelError(f"{what} is a CSV file, a DataFrame, Results or a mapping, not {type(given).__name__}.")


def _numbers(name: str, column: Any, what: str) -> Floats:
    try:
        return np.asarray(column, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise ModelError(f"column {name} of {what} holds something that is not a number.") from None


def unit_of(name: str, unit: str) -> tuple[float, Dimension | None]:
    """How much of the SI unit, and what it measures: `deg`, `mm/s²`, `N*m`."""
    factor, dimension = 1.0, np.array(NOTHING)
    if not unit or unit == "1":
        return factor, tuple(dimension.tolist()) if unit else None
    for k, part in enumerate(unit.replace("²", "^2").replace("³", "^3").split("/")):
        for word in part.replace("*", " ").split():
            base, _, power = word.partition("^")
            if base not in UNITS or not (power or "1").isdigit():
                raise ModelError(f"column {name}: the unit '{unit}' is unknown; leave it out for SI units.")
            exponent = (-1) ** (k > 0) * int(power or 1)
            factor *= float(UNITS[base].factor) ** exponent
            dimension += exponent * np.array(UNITS[base].dimension)
    return factor, tuple(dimension.tolist())


def refuse_unknown_channels(system: System, channels: list[str]) -> None:
    """Names are checked before anything is computed."""
    none = np.zeros((1, system.n))
    probe = Results(
        system, np.zeros(1), system.drawn_q[None], none, none, np.zeros((1, system.m)), "dynamics"
    )
    problems = []
    for channel in channels:
        try:
            probe[channel]
        except SimEngineError as error:
            problems.append(f"column {channel}: {error}")
    if problems:
        raise ModelError(problems)
