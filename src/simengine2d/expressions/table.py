"""Tables: a function of time, or of another variable, given by points; and the cubic spline through them."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..answer import PlottedAnswer
from ..errors import MissingFileError, ModelError, listed, unknown
from ..numerics.kernel import kernel

ROUND_OFF = 1e-9  # of the range: a run may end this much outside

SHOWN = 8  # points that are written out at a prompt


@dataclass(frozen=True, repr=False)
class Table(PlottedAnswer):
    """Points of a function: of time, `Table(times, values)`, or of another variable of a force law.

    The law of a spring may be a table of its measure, `Table(of="s", points=..., values=...)`, a force on a body one of
    `x`, `y`, `phi`, `xd`, `yd` or `phid`. The points increase. A periodic table repeats forever. A cubic spline leads
    through the points, straight lines if it is not `smooth`.
    """

    times: Sequence[float] = ()
    values: Sequence[float] = ()
    periodic: bool = False
    of: str = field(default="", kw_only=True)
    """The variable; empty if the points were given as times."""
    points: InitVar[Sequence[float] | None] = field(default=None, kw_only=True)
    smooth: bool = field(default=True, kw_only=True)

    def __post_init__(self, points: Sequence[float] | None) -> None:
        if (points is None) != (self.of == "") or (points is not None and np.size(self.times)):
            raise ModelError(
                f"a table is one of time, Table(times=..., values=...), or of another variable, "
                f'Table(of="s", points=..., values=...); found of = {self.of!r} with '
                f"{'times' if points is None else 'points'}."
            )
        object.__setattr__(self, "times", _floats(self.point, self.times if points is None else points))
        object.__setattr__(self, "values", _floats("value", self.values))
        problem = self._problem()
        if problem:
            raise ModelError(problem)

    @property
    def variable(self) -> str:
        """The variable it depends on."""
        return self.of or "t"

    @property
    def point(self) -> str:
        """The word for one of its points."""
        return "point" if self.of else "time"

    def __str__(self) -> str:
        where = f"of={self.of!r}, points" if self.of else "times"
        more = (", periodic=True" if self.periodic else "") + ("" if self.smooth else ", smooth=False")
        return f"Table({where}={self.times!r}, values={self.values!r}{more})"

    def _summary(self) -> str:
        if len(self.times) <= SHOWN:
            return str(self)
        ends = f"{self.times[0]:g} to {self.times[-1]:g}, values from {min(self.values):g} to {max(self.values):g}"
        return f"Table of {len(self.times)} points: {self.variable} from {ends}"

    def _problem(self) -> str:
        """What is wrong with the points, or an empty text."""
        times, values, kind = self.times, self.values, self.point
        if len(times) != len(values):
            return f"the table has {len(times)} {kind}s but {len(values)} values. Give one value for each {kind}."
        if len(times) < 2:
            return f"the table has {len(times)} points. Give at least 2."
        for before, after in pairwise(times):
            if not before < after:
                return (
                    f"the {kind}s of the table do not increase: {after:g} comes after {before:g}. Sort them."
                )
        spread = max(values) - min(values)
        if self.periodic and abs(values[0] - values[-1]) > 1e-9 * spread:
            t = self.variable
            ends = f"{values[0]:g} at {t} = {times[0]:g} and {values[-1]:g} at {t} = {times[-1]:g}"
            return f"a periodic table ends with the value it begins with, found {ends}. Make them equal."
        return ""

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        time: int | str = 0,
        value: int | str = 1,
        *,
        periodic: bool = False,
        of: str = "",
        smooth: bool = True,
    ) -> Table:
        """Read two columns, each given by its number (from 0) or by its name in the first row.

        The first holds times, or the points of the variable `of`.
        """
        rows = _read_rows(path)
        header: list[str] = []
        if isinstance(time, str) or isinstance(value, str) or not _is_number(_cell(path, rows[0], time)):
            header = rows.pop(0)[1]
        columns = [_column(path, header, column) for column in (time, value)]
        points = [[_csv_number(path, row, column) for column in columns] for row in rows]
        try:
            places, values = tuple(p[0] for p in points), tuple(p[1] for p in points)
            if of:
                return cls(of=of, points=places, values=values, periodic=periodic, smooth=smooth)
            return cls(places, values, periodic, smooth=smooth)
        except ModelError as error:
            raise ModelError(f"{path}: {error}") from error

    def coefficients(self) -> np.ndarray:
        """Row i is c0, c1, c2, c3 of c0 + c1 d + c2 d^2 + c3 d^3 with d = t - times[i]; the last row is 0."""
        if not self.smooth:
            return self._lines()
        from scipy.interpolate import CubicSpline

        values = np.array(self.values)
        if self.periodic:
            values[-1] = values[0]
        spline = CubicSpline(self.times, values, bc_type="periodic" if self.periodic else "not-a-knot")
        rows = np.zeros((len(self.times), 4))
        rows[:-1] = spline.c[::-1].T
        return rows

    def _lines(self) -> np.ndarray:
        """The same of straight lines."""
        rows = np.zeros((len(self.times), 4))
        rows[:-1, 0], rows[:-1, 1] = self.values[:-1], np.diff(self.values) / np.diff(self.times)
        return rows

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The points and the coefficients, as `spline_at` reads them."""
        return (*self.times, *self.coefficients().ravel().tolist())

    def jet(self, u: float) -> tuple[float, float, float]:
        """Value and derivatives at u; nan outside."""
        numbers = np.array(self.numbers)
        value, slope, bend = spline_at(numbers, 0, numbers.size, self.periodic, u)
        return float(value), float(slope), float(bend)


def split_points(name: str, pairs: object) -> tuple[Sequence[float], Sequence[float]]:
    """Arguments and values of [(0, 1), (1, 5), ...]."""
    try:
        array = np.asarray(pairs, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ModelError(
            f"table '{name}': its points are pairs of numbers, [[0, 1], [1, 5], ...], not {pairs!r}."
        )
    return array[:, 0].tolist(), array[:, 1].tolist()


def _floats(kind: str, sequence: Sequence[float]) -> tuple[float, ...]:
    try:
        array = np.asarray(sequence, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"the {kind}s of a table are numbers: {error}.") from error
    if array.ndim != 1:
        raise ModelError(f"the {kind}s of a table are one list of numbers, found the shape {array.shape}.")
    for i in np.flatnonzero(~np.isfinite(array)):
        raise ModelError(
            f"{kind} number {i + 1} of the table is {array[i]}. Every point needs finite numbers."
        )
    return tuple(array.tolist())


# CSV files --------------------------------------------------------------------------------------------

Row = tuple[int, list[str]]  # the line number and the cells


def _read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """The nonempty rows; `#` begins a comment."""
    import csv

    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = file.read().splitlines()
    except FileNotFoundError as error:
        raise MissingFileError(
            f"the table {path} does not exist in {os.getcwd()}. Check the path."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"the table {path} cannot be read: {error}.") from error
    lines = [line.partition("#")[0] for line in lines]
    full = [(i, line) for i, line in enumerate(lines, 1) if line.strip()]
    if not full:
        raise ModelError(f"the table {path} is empty. Give at least 2 rows of time and value.")
    delimiter = next((mark for mark in ";\t," if mark in full[0][1]), " ")
    if delimiter == " ":
        rows = [(i, line.split()) for i, line in full]
    else:
        rows = [(i, [c.strip() for c in next(csv.reader([line], delimiter=delimiter))]) for i, line in full]
    _refuse_more_cells(path, rows)
    return rows


def _refuse_more_cells(path: object, rows: list[Row]) -> None:
    """A row with more cells than the first contains something that would be lost, like 0,5 for 0.5."""
    count = len(rows[0][1])
    for line, cells in rows:
        if any(cells[count:]):
            raise ModelError(
                f"{path}, line {line} has {len(cells)} cells, the first row has {count}: {listed(cells, 6)}. "
                "Write decimals with a point."
            )


def read_columns(path: str | os.PathLike[str]) -> dict[str, list[float]]:
    """All columns of a file by their names in the first row."""
    header, *rows = _read_rows(path)
    names = header[1]
    if any(_is_number(name) for name in names):
        raise ModelError(f"{path}: the first row holds the names of the columns, found {listed(names, 6)}.")
    return {name: [_csv_number(path, row, i) for row in rows] for i, name in enumerate(names)}


def _column(path: object, header: list[str], column: int | str) -> int:
    if isinstance(column, int):
        return column
    if column not in header:
        hint = unknown("column", column, header)
        raise ModelError(f"the table {path} has no column '{column}' in its first row. {hint}")
    return header.index(column)


def _cell(path: object, row: Row, column: int | str) -> str:
    line, cells = row
    if not isinstance(column, int) or not 0 <= column < len(cells):
        raise ModelError(f"{path}, line {line}: no column {column}; the cells are {listed(cells)}.")
    return cells[column]


def _csv_number(path: object, row: Row, column: int) -> float:
    cell = _cell(path, row, column)
    if not _is_number(cell) or not math.isfinite(float(cell)):
        raise ModelError(
            f"{path}, line {row[0]}: found '{cell}' in column {column}, expected a finite number."
        )
    return float(cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# The spline in kernels --------------------------------------------------------------------------------


@kernel
def spline_at(numbers, start, stop, periodic, t):
    """The spline and its derivatives; nan outside, except for round-off.

    numbers[start:stop] holds n knots and then n rows of 4 coefficients.
    """
    n = (stop - start) // 5
    first, last = float(numbers[start]), float(numbers[start + n - 1])
    length = last - first
    if periodic and math.isfinite(t):
        t = first + (t - first) % length
    elif not (first - ROUND_OFF * length <= t <= last + ROUND_OFF * length):
        return math.nan, math.nan, math.nan

    # bisect for the knots around t; outside, the first or the last two
    i, after = 0, n - 1
    while after - i > 1:
        middle = (i + after) // 2
        if t < numbers[start + middle]:
            after = middle
        else:
            i = middle

    d = t - numbers[start + i]
    k = start + n + 4 * i
    c0, c1, c2, c3 = numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3]
    return c0 + d * (c1 + d * (c2 + d * c3)), c1 + d * (2.0 * c2 + 3.0 * d * c3), 2.0 * c2 + 6.0 * d * c3
