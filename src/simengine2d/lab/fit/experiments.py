"""Experiments: what was measured, as columns of channels over time, and under which conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...answer import Answer
from ...errors import ModelError, counted, listed
from ...expressions.unit_system import IN_SI
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.channels import unit_of
from ...results.results import Results
from ...system.system import System
from ..motion_columns import NamedColumn, SolutionLike, columns_in, refuse_unknown_channels
from ..sweep.study import results_at_rest
from ..sweep.variants import refuse_unknown

Columns: TypeAlias = Mapping[str, str] | Sequence[str] | None
"""The columns that count: a list of channels, or {column: channel} where a column has another name."""


@dataclass(frozen=True, repr=False)
class Experiment(Answer):
    """One measurement: its data, what was different in it, and what is unknown in it alone.

    `parameters` are numbers of the model that are known and hold for this experiment only, such as its initial angle;
    `own` names numbers that are fitted for this experiment only.
    """

    data: SolutionLike
    parameters: Mapping[str, Any] = field(default_factory=dict)
    own: Sequence[str] = ()

    def __str__(self) -> str:
        given = [f"{name} = {value}" for name, value in self.parameters.items()]
        unknown_ones = [f"{name} unknown" for name in self.own]
        return f"experiment: {', '.join([self._source(), *given, *unknown_ones])}"

    def _source(self) -> str:
        """`swing.csv`, or `t, bar.phi of 200 times`."""
        match self.data:
            case str() | PathLike():
                return str(self.data)
            case Mapping() if self.data:
                return f"{listed(self.data, 4)} of {counted(len(next(iter(self.data.values()))), 'time')}"
            case _:
                return type(self.data).__name__


class Measured(NamedTuple):
    """An experiment that was read: times and channels in SI units."""

    title: str
    t: Floats
    channels: dict[str, Floats]
    parameters: Mapping[str, Any]
    own: tuple[str, ...]


def experiments_of(model: Model, data: Any, columns: Columns, fitted: Sequence[str]) -> list[Measured]:
    """What was measured, one or several times; all that is wrong with it is said before anything runs."""
    given = list(data) if isinstance(data, list | tuple) else [data]
    if not given:
        raise ModelError("there are no data: give a file, a DataFrame, a mapping, or a list of experiments.")
    system = System(model)
    return [_measured(model, system, i, each, columns, fitted, len(given)) for i, each in enumerate(given)]


def _measured(
    model: Model, system: System, i: int, given: Any, columns: Columns, fitted: Sequence[str], count: int
) -> Measured:
    each = given if isinstance(given, Experiment) else Experiment(given)
    title = _title(each.data, i, count)
    _check_conditions(model, each, title, fitted)
    table = columns_in(each.data, title)
    t = table.pop("t").values
    _check_times(t, title)
    chosen = _chosen(table, columns, title)
    _check_values(t, chosen, title)
    refuse_unknown_channels(system, list(chosen))
    _check_units(model, chosen, isinstance(each.data, Results), title)
    values = {name: column.values for name, column in chosen.items()}
    return Measured(title, t, values, dict(each.parameters), tuple(each.own))


def _title(data: Any, i: int, count: int) -> str:
    if isinstance(data, str | PathLike):
        return Path(data).name
    return "the data" if count == 1 else f"experiment {i + 1}"


def _check_conditions(model: Model, each: Experiment, title: str, fitted: Sequence[str]) -> None:
    refuse_unknown(model, [*each.parameters, *each.own])
    for name in (*each.parameters, *each.own):
        if name in fitted:
            raise ModelError(
                f"{title}: '{name}' is among the parameters of the fit, which are the same in all experiments; take it "
                "out there, or here."
            )
        if name in each.own and name in each.parameters:
            raise ModelError(f"{title}: '{name}' is given and unknown at once.")


def _check_times(t: Floats, title: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(t))
    if wrong.size:
        raise ModelError(f"{title}: time {wrong[0] + 1} is {t[wrong[0]]:g}, not a finite number.")
    if not t.size:
        raise ModelError(f"{title} holds no values.")
    if t[0] < 0.0:
        raise ModelError(
            f"{title}: t = {t[0]:g} s is before the run, which begins with the initial state of the model at t = 0. "
            "Leave out what is before, or shift the times."
        )
    falls = np.flatnonzero(np.diff(t) <= 0.0)
    if falls.size:
        k = falls[0]
        raise ModelError(
            f"{title}: t = {t[k]:g} s is followed by {t[k + 1]:g} s; times must increase. Several runs in one file "
            "are several experiments: give a list."
        )


def _chosen(table: dict[str, NamedColumn], columns: Columns, title: str) -> dict[str, NamedColumn]:
    """The columns that count, by channel."""
    if not table:
        raise ModelError(f"{title} has a column t, but no other; name channels such as crank.phi.")
    if columns is None:
        return table
    wanted = columns if isinstance(columns, Mapping) else {str(name): str(name) for name in columns}
    missing = [name for name in wanted if name not in table]
    if len(missing) == len(wanted):
        raise ModelError(
            f"{title} has none of the columns {listed(missing)}; its columns are {listed(table)}."
        )
    return {channel: table[name] for name, channel in wanted.items() if name in table}


def _check_values(t: Floats, chosen: dict[str, NamedColumn], title: str) -> None:
    for name, column in chosen.items():
        if column.values.size != t.size:
            raise ModelError(f"{title}: column {name} has {column.values.size} values for {t.size} times.")
        wrong = np.flatnonzero(~np.isfinite(column.values))
        if wrong.size:
            raise ModelError(
                f"{title}: column {name} is {column.values[wrong[0]]:g} at t = {t[wrong[0]]:g} s"
                f"{f' and at {wrong.size - 1} other times' if wrong.size > 1 else ''}. Leave these rows out, or "
                "give the column as an experiment of its own, with its times."
            )


def _check_units(model: Model, chosen: dict[str, NamedColumn], in_si: bool, title: str) -> None:
    """A unit must fit its channel. In a model with units of its own, a column without one could mean two things."""
    at_rest = results_at_rest(model, "dynamics")
    for name, column in chosen.items():
        right = IN_SI.get(unit := unit_of(at_rest, name))
        if right is None:
            continue
        if column.dimension is not None and column.dimension != right:
            raise ModelError(f"{title}: column {name} is in {column.unit}, but the channel is in {unit}.")
        shown = model.units.shown(unit) if model.units is not None else None
        if column.dimension is None and not in_si and shown is not None and shown.factor != 1.0:
            raise ModelError(
                f"{title}: column {name} has no unit, and the model is written in {shown.name}. Write its heading as "
                f"'{name} [{shown.name}]' or '{name} [{unit}]'."
            )
