"""The answer of a study: one row a sample, a column for each parameter and each output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from ...answer import Part, PlottedAnswer, Rows, digits, folded
from ...errors import ModelError, counted, needed, unknown
from ...numerics.arrays import Floats
from .samples import Samples
from .study import SampleRow

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAMPLE, REASON = "sample", "reason"
SHOWN = 20  # rows in a view


@dataclass(frozen=True, repr=False, eq=False)
class SweepTable(PlottedAnswer):
    """Columns by name: `table["L"]`, `table["top"]`. What failed has nan there, and its reason in `reasons`."""

    title: str
    """The model and the analysis."""
    sample: np.ndarray[Any, np.dtype[np.int64]]
    """The number of each sample in the study; a study that was stopped has some of them."""
    parameters: Mapping[str, Floats]
    outputs: Mapping[str, np.ndarray[Any, Any]]
    reasons: Sequence[str]
    """Why a sample failed; empty where it did not."""
    total: int = field(default=0)
    """The number of samples of the study."""

    def __len__(self) -> int:
        return int(self.sample.size)

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        columns = self.columns
        if name not in columns:
            raise ModelError(f"the table has no column '{name}'. {unknown('column', name, columns)}")
        return columns[name]

    @property
    def columns(self) -> dict[str, np.ndarray[Any, Any]]:
        """The parameters, then the outputs."""
        return {**self.parameters, **self.outputs}

    @property
    def ok(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which samples did not fail."""
        return np.array([not reason for reason in self.reasons], dtype=bool)

    @property
    def failed(self) -> dict[int, str]:
        """The reason of each sample that failed, by its number."""
        return {int(i): why for i, why in zip(self.sample, self.reasons, strict=True) if why}

    @property
    def numbers(self) -> dict[str, Floats]:
        """The outputs that are one number a sample."""
        return {name: column for name, column in self.outputs.items() if column.dtype != object}

    def best(self, output: str, *, largest: bool = False) -> dict[str, Any]:
        """The sample with the smallest value of an output, or the largest."""
        values = np.where(self.ok, self[output], np.nan)
        if not np.isfinite(values).any():
            raise ModelError(f"no sample has a value of '{output}'.")
        i = int(np.nanargmax(values) if largest else np.nanargmin(values))
        return {SAMPLE: int(self.sample[i]), **{name: column[i] for name, column in self.columns.items()}}

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each sample."""
        columns = {SAMPLE: self.sample, **self.columns, REASON: self.reasons}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    # elsewhere

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame, one row a sample, with the reasons of failures in the last column."""
        pandas = needed("pandas", "a DataFrame needs", "tables", ", or use columns")
        return pandas.DataFrame(
            {**self.columns, REASON: list(self.reasons)}, index=pandas.Index(self.sample, name=SAMPLE)
        )

    def to_csv(self, path: str | Path) -> Path:
        """Write a CSV file of all columns that are numbers; numbers read back to the same floats."""
        from ...io.tables import write_csv

        return write_csv({**self.parameters, **self.numbers}, Path(path))

    def to_parquet(self, path: str | Path) -> Path:
        """Write one Parquet file with all columns; needs the package pyarrow."""
        from ...io.files import write_bytes
        from .folder import parquet_bytes

        return write_bytes(Path(path), parquet_bytes(self))

    # pictures

    def plot(self, ax: Axes | None = None, output: str | None = None) -> Axes:
        """The response to one parameter as a curve, to two as a map, to more as a tornado."""
        from .pictures import plot_table

        return plot_table(self, ax, output)

    def figure(self) -> Figure:
        """That of each output which is a number."""
        from .pictures import figure_of

        return figure_of(self)

    def plot_response(
        self, parameter: str | None = None, output: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """An output against a parameter; where others vary too, the band between its quartiles."""
        from .pictures import plot_response

        return plot_response(self, parameter, output, ax)

    def plot_map(
        self, x: str | None = None, y: str | None = None, output: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """An output as colors over two parameters."""
        from .pictures import plot_map

        return plot_map(self, x, y, output, ax)

    def plot_tornado(self, output: str | None = None, ax: Axes | None = None) -> Axes:
        """How far each parameter moves an output, the strongest on top."""
        from .pictures import plot_tornado

        return plot_tornado(self, output, ax)

    def plot_matrix(self, *columns: str) -> Figure:
        """Every column against every other one."""
        from .pictures import plot_matrix

        return plot_matrix(self, columns)

    def plot_curves(self, x: str, y: str, color: str | None = None, ax: Axes | None = None) -> Axes:
        """Whole channels of all variants over each other, such as coupler curves, in colors by a parameter."""
        from .pictures import plot_curves

        return plot_curves(self, x, y, color, ax)

    # text

    def head(self) -> str:
        """What was computed, in a line."""
        done = (
            f"{len(self)} of {counted(self.total, 'sample')}"
            if len(self) < self.total
            else counted(len(self), "sample")
        )
        failures = len(self.failed)
        return f"{self.title}: {done}" + (f", {failures} failed" if failures else "")

    def summary_rows(self) -> list[list[str]]:
        """Smallest, mean and largest value of every column."""
        rows = []
        for name, column in {**self.parameters, **self.numbers}.items():
            values = column[self.ok & np.isfinite(column)]
            numbers = (values.min(), values.mean(), values.max()) if values.size else (None,) * 3
            rows.append([name, *map(digits, numbers)])
        return rows

    HEADS = ("", "smallest", "mean", "largest")

    def __str__(self) -> str:
        return "\n".join([self.head(), *self._rows(len(self)).lines(), *folded("\n".join(self._failures()))])

    def _summary(self) -> str:
        lines = [self.head(), *Rows(self.HEADS, self.summary_rows()[:5]).lines()]
        lines += [shorten(sentence, 160, placeholder=" ...") for sentence in self._failures()[:1]]
        return "\n".join(lines)

    def _rows(self, count: int) -> Rows:
        rows = [
            [str(self.sample[i]), *(_cell(column[i]) for column in self.columns.values())]
            for i in range(count)
        ]
        return Rows([SAMPLE, *self.columns], rows, 0)

    def _failures(self) -> list[str]:
        return [f"sample {i} failed: {reason}" for i, reason in self.failed.items()]

    def _parts(self) -> Iterator[Part]:
        yield self.head()
        yield Rows(self.HEADS, self.summary_rows())
        yield self._rows(min(SHOWN, len(self)))
        if len(self) > SHOWN:
            yield f"and {len(self) - SHOWN} more rows; to_frame() has all"
        yield from self._failures()[:SHOWN]


def _cell(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return counted(value.size, "value")
    return digits(value) if isinstance(value, float | int) else type(value).__name__


def table_of(
    title: str, samples: Samples, outputs: Sequence[str], rows: Mapping[int, SampleRow]
) -> SweepTable:
    """The rows that are there, in the order of the samples."""
    order = np.array(sorted(rows), dtype=np.int64)
    columns = {name: _column([rows[i].values[k] for i in order.tolist()]) for k, name in enumerate(outputs)}
    return SweepTable(
        title,
        order,
        {name: values[order] for name, values in samples.items()},
        columns,
        [rows[i].reason for i in order.tolist()],
        samples.count,
    )


def _column(values: list[Any]) -> np.ndarray[Any, Any]:
    """Numbers as floats; anything else as objects."""
    if all(isinstance(value, float) for value in values):
        return np.array(values, dtype=float)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
