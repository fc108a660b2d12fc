"""The outputs of a run: their times, and the motion of the bodies there.

Default times follow the steps of the integrator: multiples of a hundredth of the whole interval and, where steps are
short, of a half, a quarter ... of that, chosen in `integrators/time_loop.py`. The steps do not depend on them. Where a
force or an acceleration may be larger between two outputs than ever before, there are more between these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ...integrators.time_loop import multiple_after
from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...results.results import Results
from ...system.system import System
from ...system.workspace import once_per_system

IN_A_STEP = 5  # outputs in a step that is shorter than their spacing, at most
OVERSHOOT = 0.2  # of the second difference at a maximum: by how much a neighboring value may exceed it
HIGHEST = (
    1.01 + 2.0 * OVERSHOOT
) ** 2  # times a value, the square of what may be between it and its neighbors
NOTICED = 0.005  # beyond the largest value so far: a peak that is worth refining
MOST_NUMBERS = 1e7  # in all rows; after that outputs are `spacing` apart


class History(NamedTuple):
    """One row per output time."""

    Q: Floats
    Qd: Floats
    Qdd: Floats
    Lam: Floats


class Outputs:
    """Rows at given times, or with a `spacing` at times that follow the steps; the first `done` of them are filled.

    While times follow the steps, the array of times is longer than what is known, and filled up with the end.
    """

    def __init__(
        self, system: System, times: Floats, spacing: float | None, noticed: float = 1.0 + NOTICED
    ) -> None:
        self.system, self.spacing, self.noticed, self.done = system, spacing, noticed, 0
        self.times = times if spacing is None else times[:: times.size - 1].copy()
        none = np.zeros((0, system.n))
        self.history = History(none, none, none, np.zeros((0, system.m)))
        self.largest = np.zeros(starts_of_sizes(system).size - 1)  # of the sizes so far

    @property
    def end(self) -> float:
        return float(self.times[-1])

    @property
    def are_few(self) -> bool:
        """Whether there may be more than one for each `spacing`."""
        return self.done * (3 * self.system.n + self.system.m) <= MOST_NUMBERS

    # times that follow the steps

    def make_room(self, steps: int) -> None:
        """Before some steps: room for the times of all outputs inside them."""
        if self.spacing is None:
            return
        done, end = self.done, self.end
        least = int((end - self.times[max(done - 1, 0)]) / self.spacing)
        times = np.full(done + least + IN_A_STEP * steps + 2, end)
        times[: max(1, done)] = self.times[: max(1, done)]
        self.times = times

    def trim(self) -> None:
        """After some steps: nothing follows the end."""
        if self.spacing is not None and self.done and self.times[self.done - 1] == self.end:
            self.times = self.times[: self.done]

    def ahead(self, t: float, until: float, spacing: float) -> Floats:
        """Times after t, at most `spacing` apart, where there are no steps to follow."""
        if self.spacing is None:
            return self.times[self.times > t]
        fine = self.spacing * 0.5 ** max(0.0, np.ceil(np.log2(self.spacing / spacing)))
        later, last = [multiple_after(fine, t, self.end)], min(until, self.end)
        while later[-1] < last:
            later.append(multiple_after(fine, later[-1], self.end))
        return np.array(later)

    # rows

    def write(self, first: int, motion: Sequence[Floats]) -> None:
        """Q, Qd, Qdd and Lam of rows from `first` on; the first ones are kept as they are."""
        if first == 0:
            self.history = History(*motion)
            return
        needed = first + len(motion[0])
        if len(self.history.Q) < needed:
            room = self.times.size if self.spacing is None else 2 * needed
            self.history = History(*(with_room(array[:first], room) for array in self.history))
        for array, rows in zip(self.history, motion, strict=True):
            array[first:needed] = rows

    def append(self, times: Floats, motion: Sequence[Floats]) -> None:
        """Rows at times that come next."""
        if self.spacing is not None:
            rest = [] if times[-1] == self.end else [self.end]
            self.times = np.concatenate([self.times[: self.done], times, rest])
        self.write(self.done, motion)
        self.done += times.size

    def insert(self, first: int, times: Floats, motion: Sequence[Floats]) -> None:
        """More rows, between those from `first` on."""
        old = slice(first, self.done)
        every, *rows = merged(self.times[old], [array[old] for array in self.history], times, motion)
        self.times = np.concatenate([self.times[:first], every, self.times[self.done :]])
        self.write(first, rows)
        self.done += times.size

    def take_over(self, results: Results) -> None:
        """The rows of an earlier run."""
        names = ("q", "qd", "qdd", "lam")
        sizes = dict(zip(names, (self.system.n,) * 3 + (self.system.m,), strict=True))
        rows = {name: np.zeros((results.t.size, size)) for name, size in sizes.items()}
        refill(rows, {name: given for name in names if (given := getattr(results, name)) is not None})
        self.write(0, list(rows.values()))
        self.done = results.t.size
        if self.spacing is not None:
            self.times = np.append(results.t, self.end)

    def finite_rows(self, first: int) -> int:
        """The number of rows before the first that is not finite; those before `first` are."""
        return int(first_not_finite(*self.history, first, self.done))

    def end_at(self, t: float) -> None:
        """Make t the last output."""
        self.done = min(self.done, int(np.searchsorted(self.times, t)))
        before = self.times[self.times < t] if self.spacing is None else self.times[: self.done]
        self.times = np.append(before, t)

    # peaks

    def peaks(self, times: Floats, motion: Sequence[Floats]) -> Floats:
        """Times between those of some rows at which something may have been larger than ever before."""
        starts, n, columns = starts_of_sizes(self.system), times.size, self.largest.size
        values = motion[3] if self.system.first_rows.size else motion[2]
        squares, scratch = np.empty((n, columns)), np.empty(6 * n)
        finer = scratch[2 * n :]
        count = look_for_peaks(
            times, values.reshape(-1), starts, self.noticed, self.largest, squares, scratch[: 2 * n], finer
        )
        return finer[:count]

    def times_beside_peaks(self, first: int, t: float) -> Floats:
        """The same for rows from `first` on; before t it is not possible to look."""
        rows = slice(max(0, first - 1), self.done)
        finer = self.peaks(self.times[rows], [array[rows] for array in self.history])
        return finer[finer > max(t, self.times[first - 1])] if first else finer[finer > t]


@once_per_system
def starts_of_sizes(system: System) -> Ints:
    """Where the force of each joint begins in lam; without joints, where each acceleration does."""
    first = system.first_rows
    return np.append(first, system.m) if first.size else np.arange(system.n + 1)


def refill(arrays: Mapping[str, Floats], saved: Mapping[str, Floats]) -> None:
    """Put what was saved into arrays of the same shapes."""
    for name, array in arrays.items():
        if np.shape(saved[name]) != array.shape:
            raise ValueError(f"{name} has the shape {np.shape(saved[name])} instead of {array.shape}")
        if np.any(np.isnan(saved[name]) & ~np.isnan(array)):
            raise ValueError(f"{name} is nan")
        array[...] = saved[name]


# Rows -------------------------------------------------------------------------------------------------


@kernel(entry=True)
def first_not_finite(Q, Qd, Qdd, Lam, first, done):
    """The first row that is not finite; `done` if there is none."""
    for i in range(first, done):
        strange = False
        for j in range(Q.shape[1]):
            strange |= not (abs(Q[i, j]) < inf and abs(Qd[i, j]) < inf and abs(Qdd[i, j]) < inf)
        for j in range(Lam.shape[1]):
            strange |= not abs(Lam[i, j]) < inf
        if strange:
            return i
    return done


def with_room(rows: Floats, room: int) -> Floats:
    """The same rows at the beginning of an array with room for more."""
    array = np.empty((room, rows.shape[1]))
    array[: len(rows)] = rows
    return array


def merged(
    times: Floats, motion: Sequence[Floats], more_times: Floats, more: Sequence[Floats]
) -> list[Floats]:
    """Times, Q, Qd, Qdd and Lam of some rows and of more rows at other times, in the order of time."""
    count = times.size + more_times.size
    every, rows = np.empty(count), [np.empty((count, array.shape[1])) for array in motion]
    merge_rows(times, *motion, more_times, *more, every, *rows)
    return [every, *rows]


@kernel(entry=True)
def merge_rows(t, Q, Qd, Qdd, Lam, t2, Q2, Qd2, Qdd2, Lam2, times, Qs, Qds, Qdds, Lams):
    """Both times increase."""
    i = j = 0
    for k in range(times.size):
        if j == t2.size or (i < t.size and t[i] < t2[j]):
            times[k] = t[i]
            copy_row(Q, Qd, Qdd, Lam, i, Qs, Qds, Qdds, Lams, k)
            i += 1
        else:
            times[k] = t2[j]
            copy_row(Q2, Qd2, Qdd2, Lam2, j, Qs, Qds, Qdds, Lams, k)
            j += 1


@kernel
def copy_row(Q, Qd, Qdd, Lam, i, Qs, Qds, Qdds, Lams, k):
    for column in range(Q.shape[1]):
        Qs[k, column], Qds[k, column], Qdds[k, column] = Q[i, column], Qd[i, column], Qdd[i, column]
    for column in range(Lam.shape[1]):
        Lams[k, column] = Lam[i, column]


# Peaks ------------------------------------------------------------------------------------------------


@kernel(entry=True)
def look_for_peaks(t, values, starts, noticed, largest, squares, vertices, finer):
    """Times between those of t at which a column may exceed `noticed` times its largest value; returns their number.

    The rows of `values` follow each other; a column is the size of starts[j] : starts[j + 1] in each of them. The times
    are the vertex of the parabola through a value and its neighbors, and the middles between these. If several columns
    have a peak there, the vertex is that of the one which may exceed its largest value the most.
    """
    n, columns = t.size, largest.size
    square_columns(values, starts, largest, squares)
    excess = vertices[n:]
    for i in range(n):
        vertices[i], excess[i] = np.nan, 0.0
    for i in range(1, n if n > 2 else 0):
        middle = min(i, n - 2)
        for j in range(columns):
            # at a maximum, the second difference is not more than twice its value
            if i < n - 1 and HIGHEST * squares[i, j] < noticed * noticed * (largest[j] * largest[j]):
                continue
            if squares[i - 1, j] <= squares[i, j] and (i == n - 1 or squares[i + 1, j] <= squares[i, j]):
                s, left, right = (
                    sqrt(squares[i, j]),
                    sqrt(squares[middle - 1, j]),
                    sqrt(squares[middle + 1, j]),
                )
                bend = abs(left - 2.0 * sqrt(squares[middle, j]) + right)
                more = s + OVERSHOOT * bend - noticed * largest[j]
                if more > excess[middle] * largest[j]:
                    excess[middle] = more / largest[j]
                    vertices[middle] = vertex(t, left, sqrt(squares[middle, j]), right, middle)
    return write_finer(t, vertices, excess, finer)


@kernel
def square_columns(values, starts, largest, squares):
    wide = starts[starts.size - 1]
    for i in range(squares.shape[0]):
        for j in range(largest.size):
            total = 0.0
            for k in range(i * wide + starts[j], i * wide + starts[j + 1]):
                total += values[k] * values[k]
            squares[i, j] = total
            if total > largest[j] * largest[j]:
                largest[j] = sqrt(total)


@kernel
def vertex(t, left, s, right, i):
    """Where the parabola through the values at i - 1, i and i + 1 is level; nan if nowhere."""
    before, after = t[i] - t[i - 1], t[i + 1] - t[i]
    rise, fall = (s - left) / before, (right - s) / after
    bend = (fall - rise) / (before + after)
    return t[i] - 0.5 * (rise + bend * before) / bend if bend != 0.0 else np.nan


@kernel
def write_finer(t, vertices, excess, finer):
    """In each interval beside a peak its middle, and the vertices inside it."""
    count = 0
    for i in range(t.size - 1):
        if excess[i] > 0.0 or excess[i + 1] > 0.0:
            first = count
            for candidate in (vertices[i], 0.5 * (t[i] + t[i + 1]), vertices[i + 1]):
                known = count > first and finer[count - 1] == candidate
                if t[i] < candidate < t[i + 1] and not known:
                    finer[count] = candidate
                    count += 1
            for a in range(first + 1, count):  # at most three, in order
                for b in range(a, first, -1):
                    if finer[b] < finer[b - 1]:
                        finer[b], finer[b - 1] = finer[b - 1], finer[b]
    return count
