"""Results as tables for other programs: chosen channels, each with its unit in the heading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..errors import ModelError, UnsupportedError, needed
from ..expressions.unit_system import SI, UnitNames
from ..numerics.arrays import Floats
from .channels import unit_of
from .named_channels import (
    element_channels,
    energy_channels,
    motion_channels,
    multiplier_channels,
    names_of,
    step_channels,
)
from .reactions import channels_of

if TYPE_CHECKING:
    import pandas

    from .in_units import ResultsInUnits
    from .results import Results


class TabularResults:
    """What results write for other programs. `channels` are names as in `results[name]`, and whole groups:

    a body for all its coordinates and rates, a joint or a force for its reaction; "motion" for all bodies, "reactions"
    for all joints and forces, "lam" for the multipliers, "energy" for energies and work, "step" for the steps of a
    run whose history is kept, "all" for `results.channels`. Without them it is "motion". Tables are in the units of
    the model, or in those of a view; where these are not SI units, every heading says so.
    """

    if TYPE_CHECKING:

        @property
        def in_si(self) -> Results:
            """The results in SI units."""

    @property
    def shown(self) -> ResultsInUnits:
        """As readers see them: in the units of the model, unless others were chosen."""
        return self.in_units()

    def unit(self, channel: str) -> str:
        """The unit of a channel, such as m/s²; "" where it has none."""
        return unit_of(self.in_si, channel)

    def in_units(self, **units: Unpack[UnitNames]) -> ResultsInUnits:
        """What can be asked for by name, in other units: `r.in_units(length="mm", force="kN")["slider.x"]`.

        Without units it is in those of the model.
        """
        from .in_units import view_of

        return view_of(self.in_si, units)

    def to_frame(
        self, channels: Sequence[str] | str | None = None, *, units: bool = False
    ) -> pandas.DataFrame:
        """A pandas DataFrame indexed by time, one column per channel; with `units`, headings hold them too."""
        otherwise = ", or use the arrays t, q, qd and qdd"
        pandas = needed("pandas", "a DataFrame needs", "tables", otherwise)
        (time, t), *columns = columns_of(self.shown, channels, units).items()
        return pandas.DataFrame(dict(columns), index=pandas.Index(t, name=time))

    def to_csv(
        self, path: str | Path, channels: Sequence[str] | str | None = None, *, units: bool = True
    ) -> Path:
        """Write a CSV file: a line of headings, then numbers that read back to the same floats."""
        from ..io.tables import write_csv

        return write_csv(columns_of(self.shown, channels, units), Path(path))

    def to_parquet(
        self, path: str | Path, channels: Sequence[str] | str | None = None, *, units: bool = True
    ) -> Path:
        """Write a Parquet file; needs the package pyarrow."""
        from ..io.tables import write_parquet

        return write_parquet(columns_of(self.shown, channels, units), Path(path))

    def to_excel(
        self, path: str | Path, channels: Sequence[str] | str | None = None, *, units: bool = True
    ) -> Path:
        """Write an Excel workbook, whose second sheet says what was computed; needs the package openpyxl."""
        from ..io.tables import write_excel

        return write_excel(columns_of(self.shown, channels, units), Path(path), about(self.shown))


def columns_of(
    results: ResultsInUnits, channels: Sequence[str] | str | None, units: bool
) -> dict[str, Floats]:
    """The time, then the channels, by their headings; names alone would mislead where units are not SI units."""
    names = list(dict.fromkeys(["t", *expanded(results.in_si, channels)]))
    units = units or results.units != SI
    return {heading(results, name) if units else name: np.asarray(results[name]) for name in names}


def expanded(results: Results, channels: Sequence[str] | str | None) -> list[str]:
    """Bodies, joints, forces and groups as their channels; other names as they are."""
    wanted = ["motion"] if channels is None else [channels] if isinstance(channels, str) else list(channels)
    if not wanted:
        raise ModelError("channels is empty; name at least one, such as 'crank.phi', or leave it out.")
    return [name for channel in wanted for name in _group(results, channel)]


def _group(results: Results, channel: str) -> list[str]:
    if channel in results.bodies:
        return [name for name in motion_channels(results) if name.rpartition(".")[0] == channel]
    if channel in results.model.elements:
        return channels_of(results, channel)
    if channel in results.model.formulas or channel not in GROUPS:
        return [channel]
    names = GROUPS[channel](results)
    if not names and channel != "motion":
        raise UnsupportedError(f"a run of {results.analysis or 'this kind'} has no channels '{channel}'.")
    return names


def _reactions(results: Results) -> list[str]:
    """fx, fy and torque of every joint and force that is known."""
    known = (name for name in results.model.elements if element_channels(results, name))
    return [name for element in known for name in channels_of(results, element)]


GROUPS: dict[str, Callable[[Any], list[str]]] = {
    "motion": motion_channels,
    "reactions": _reactions,
    "lam": multiplier_channels,
    "energy": energy_channels,
    "step": step_channels,
    "all": names_of,
}
"""Names of several channels at once; bodies, joints, forces and formulas of these names take precedence."""


def heading(results: ResultsInUnits, channel: str) -> str:
    """`crank.phi [rad]`"""
    unit = results.unit(channel)
    return f"{channel} [{unit}]" if unit else channel


def about(results: ResultsInUnits) -> dict[str, str]:
    """What a reader of a table should know of it."""
    of = results.in_si
    return {
        "model": of.model.name,
        "analysis": of.analysis,
        "status": of.status,
        "method": of.method,
        "verdict": str(of.verdict),
        "units": ("SI: " if results.units == SI else "") + results.units.in_words,
    }
