"""Results as tables for other programs: chosen channels, each with its unit in the heading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, needed
from ..numerics.arrays import Floats
from .channels import unit_of
from .energy import ENERGIES
from .reactions import channels_of

if TYPE_CHECKING:
    import pandas

    from .results import Results


class TabularResults:
    """What results write for other programs. `channels` are names as in `results[name]`, and whole groups:

    a body for all its coordinates and rates, a joint or a force for its reaction, "energy" for kinetic, potential and
    total energy. Without them, all coordinates and rates of all bodies are written.
    """

    def to_frame(
        self, channels: Sequence[str] | str | None = None, *, units: bool = False
    ) -> pandas.DataFrame:
        """A pandas DataFrame indexed by time, one column per channel; with `units`, headings hold them too."""
        otherwise = ", or use the arrays t, q, qd and qdd"
        pandas = needed("pandas", "a DataFrame needs", "tables", otherwise)
        (time, t), *columns = columns_of(self, channels, units).items()
        return pandas.DataFrame(dict(columns), index=pandas.Index(t, name=time))

    def to_csv(
        self, path: str | Path, channels: Sequence[str] | str | None = None, *, units: bool = True
    ) -> Path:
        """Write a CSV file: a line of headings, then numbers that read back to the same floats."""
        from ..io.tables import write_csv

        return write_csv(columns_of(self, channels, units), Path(path))

    def to_parquet(
        self, path: str | Path, channels: Sequence[str] | str | None = None, *, units: bool = True
    ) -> Path:
        """Write a Parquet file; needs the package pyarrow."""
        from ..io.tables import write_parquet

        return write_parquet(columns_of(self, channels, units), Path(path))

    def to_excel(
        self, path: str | Path, channels: Sequence[str] | str | None = None, *, units: bool = True
    ) -> Path:
        """Write an Excel workbook, whose second sheet says what was computed; needs the package openpyxl."""
        from ..io.tables import write_excel

        return write_excel(columns_of(self, channels, units), Path(path), about(self))


def columns_of(results: Any, channels: Sequence[str] | str | None, units: bool) -> dict[str, Floats]:
    """The time, then the channels, by their headings."""
    names = list(dict.fromkeys(["t", *expanded(results, channels)]))
    return {heading(results, name) if units else name: np.asarray(results[name]) for name in names}


def expanded(results: Results, channels: Sequence[str] | str | None) -> list[str]:
    """Bodies, joints, forces and "energy" as their channels; other names as they are."""
    if channels is None:
        return results.channels
    wanted = [channels] if isinstance(channels, str) else list(channels)
    if not wanted:
        raise ModelError("channels is empty; name at least one, such as 'crank.phi', or leave it out.")
    return [name for channel in wanted for name in _group(results, channel)]


def _group(results: Results, channel: str) -> list[str]:
    if channel in results.bodies:
        return [name for name in results.channels if name.rpartition(".")[0] == channel]
    if channel in results.model.elements:
        return channels_of(results, channel)
    return list(ENERGIES) if channel == "energy" else [channel]


def heading(results: Results, channel: str) -> str:
    """`crank.phi [rad]`"""
    unit = unit_of(results, channel)
    return f"{channel} [{unit}]" if unit else channel


def about(results: Any) -> dict[str, str]:
    """What a reader of a table should know of it."""
    return {
        "model": results.model.name,
        "analysis": results.analysis,
        "status": results.status,
        "method": results.method,
        "verdict": str(results.verdict),
        "units": "SI: m, rad, s, kg, N, J",
    }
