"""The outputs of a run: their times, and the motion of the bodies there.

Default times are as dense as the steps of the integrator: multiples of a hundredth of the whole interval and, where
steps are short, of a half, a quarter ... of that. They are chosen again every few steps, from the next step on; the
steps of explicit methods do not depend on them. Where a force or an acceleration may be larger between two outputs than
ever before, these steps are repeated with more outputs there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints
from ...results.results import Results
from ...system.system import System

STEPS_AHEAD = 64  # attempted steps after which the times are chosen again
MOST_HALVINGS = 40
OVERSHOOT = 0.2  # of the second difference at a maximum: by how much a neighboring value may exceed it
NOTICED = 1.005  # of the largest value so far: a peak that is worth refining
MOST_NUMBERS = 1e7  # in all rows; after that outputs are `spacing` apart


class History(NamedTuple):
    """One row per output time."""

    Q: Floats
    Qd: Floats
    Qdd: Floats
    Lam: Floats


class Outputs:
    """Rows at given times, of which the first `done` are filled; with a `grid`, later times follow the steps."""

    def __init__(self, system: System, times: Floats, spacing: float | None) -> None:
        self.system, self.times, self.done = system, times, 0
        self.grid = None if spacing is None else OutputGrid(spacing, float(times[-1]))
        Q, Qd, Qdd = np.zeros((3, times.size, system.n))
        self.history = History(Q, Qd, Qdd, np.zeros((times.size, system.m)))
        self.largest = np.zeros(1)  # of the forces so far

    # rows

    def write(self, first: int, motion: Sequence[Floats]) -> None:
        """Q, Qd, Qdd and Lam of rows from `first` on."""
        if len(motion[0]) == self.times.size:
            self.history = History(*motion)
            return
        for array, rows in zip(self.history, motion, strict=True):
            array[first : first + len(rows)] = rows

    def take_over(self, results: Results) -> None:
        """The rows of an earlier run."""
        k, names = results.t.size, ("q", "qd", "qdd", "lam")
        rows = dict(zip(names, (array[:k] for array in self.history), strict=True))
        refill(rows, {name: given for name in names if (given := getattr(results, name)) is not None})
        self.done = k

    def finite_rows(self, first: int) -> int:
        """The number of rows before the first that is not finite; those before `first` are."""
        if all(np.isfinite(array[first : self.done]).all() for array in self.history):
            return self.done
        good = np.all([np.isfinite(array[first : self.done]).all(axis=1) for array in self.history], axis=0)
        return first + int(np.argmin(good))

    # other times

    def make_room(self, later: Floats) -> None:
        """Rows for outputs at these times, after those that are filled."""
        self.times = np.concatenate([self.times[: self.done], later])
        if len(self.history.Q) < self.times.size:
            more = 2 * self.times.size - len(self.history.Q)
            self.history = History(*(np.concatenate([a, np.zeros((more, a.shape[1]))]) for a in self.history))

    def insert(self, times: Floats, motion: Sequence[Floats]) -> None:
        """More rows, between those that are filled."""
        done = self.done
        every = np.concatenate([self.times[:done], times])
        order = np.argsort(every)
        self.history = History(
            *(
                np.concatenate([array[:done], rows])[order]
                for array, rows in zip(self.history, motion, strict=True)
            )
        )
        later, self.times = self.times[done:], every[order]
        self.done = every.size
        self.make_room(later)

    def end_at(self, t: float) -> None:
        """Make t the last output."""
        self.done = min(self.done, int(np.searchsorted(self.times, t)))
        self.times = np.append(self.times[self.times < t], t)
        self.history = History(*(array[: self.times.size].copy() for array in self.history))

    def lay(self, grid: OutputGrid, tried: int, spacing: float, t: float) -> None:
        """Choose the outputs after t again, at first `spacing` apart; 0 if that is not known."""
        full = self.done * (3 * self.system.n + self.system.m) > MOST_NUMBERS
        grid.lay(tried, t, 0.0 if full else spacing)
        self.make_room(grid.times(max(float(self.times[self.done - 1]), t) if self.done else t))

    # peaks

    def sizes(self, rows: slice) -> Floats:
        """The forces of all joints at some outputs; where there are none, the accelerations."""
        if not self.system.first_rows.size:
            return np.abs(self.history.Qdd[rows])
        return np.sqrt(np.add.reduceat(self.history.Lam[rows] ** 2, self.system.first_rows, axis=1))

    def times_beside_peaks(self, first: int, t: float) -> Floats:
        """Times after t and before row `first` at which something may have been larger than ever before."""
        rows = slice(max(0, first - 1), self.done)
        finer = beside_peaks(self.times[rows], self.sizes(rows), self.largest)
        return finer[finer > max(t, self.times[first - 1])] if first else finer

    def note_largest(self, first: int) -> None:
        sizes = self.sizes(slice(max(0, first - 1), self.done))
        self.largest = np.maximum(self.largest, sizes.max(axis=0, initial=0.0))


def refill(arrays: Mapping[str, Floats], saved: Mapping[str, Floats]) -> None:
    """Put what was saved into arrays of the same shapes."""
    for name, array in arrays.items():
        if np.shape(saved[name]) != array.shape:
            raise ValueError(f"{name} has the shape {np.shape(saved[name])} instead of {array.shape}")
        if np.any(np.isnan(saved[name]) & ~np.isnan(array)):
            raise ValueError(f"{name} is nan")
        array[...] = saved[name]


# Default times ------------------------------------------------------------------------------------------------


class OutputGrid:
    """Multiples of `spacing`, `end` itself, and finer ones between them."""

    def __init__(self, spacing: float, end: float) -> None:
        self.spacing, self.end = spacing, end
        # attempted steps at that time, the time, and the spacing wanted
        self.laid = np.array([0.0, 0.0, spacing])

    def steps_left(self, tried: int) -> int:
        """Steps until the times are chosen again; the first step shows how long steps are."""
        return int(self.laid[0]) - tried if tried else 1

    def lay(self, tried: int, t: float, spacing: float) -> None:
        """Choose the outputs after t, at first `spacing` apart; 0 if that is not known."""
        self.laid[:] = tried + STEPS_AHEAD, t, spacing or self.spacing

    def times(self, after: float) -> Floats:
        """The outputs after `after`: the further away, the longer steps may have become until then."""
        _, t, finest = self.laid
        halvings = int(np.clip(np.ceil(np.log2(self.spacing / finest)), 0, MOST_HALVINGS))
        parts, low = [], after
        for k in range(halvings, 0, -1):
            spacing = self.spacing * 0.5**k
            high = min(t + 2.0 * STEPS_AHEAD * spacing, self.end)
            if high > low:
                parts.append(multiples(spacing, low, high))
                low = high
        parts.append(multiples(self.spacing, low, self.end))
        grid = np.concatenate(parts)
        grid = grid[grid < self.end * (1.0 - 1e-12)]
        return np.append(grid, self.end)


def multiples(spacing: float, low: float, high: float) -> Floats:
    """The multiples in (low, high]."""
    candidates: Floats = np.arange(np.floor(low / spacing), np.floor(high / spacing) + 1.0) * spacing
    return candidates[(candidates > low) & (candidates <= high)]


def beside_peaks(t: Floats, sizes: Floats, largest: Floats) -> Floats:
    """Times between those of t at which a column of `sizes` may exceed its largest value so far.

    These are the vertex of the parabola through a value and its neighbors, and the middles between them.
    """
    if t.size < 3:
        return t[:0]
    slopes = np.diff(sizes, axis=0)
    bends = np.abs(np.diff(slopes, axis=0))
    bends = np.concatenate([bends, bends[-1:]])  # what follows the last value is not known
    turns = slopes >= 0.0
    turns[:-1] &= slopes[1:] <= 0.0
    record = np.maximum(largest, sizes.max(axis=0))
    at, column = np.nonzero(turns & (sizes[1:] + OVERSHOOT * bends > NOTICED * record))
    if at.size == 0:
        return t[:0]
    middle = np.minimum(at + 1, t.size - 2)
    vertices = vertex(t, sizes, middle, column)
    between = [0.5 * (t[middle - 1] + t[middle]), 0.5 * (t[middle] + t[middle + 1])]
    inside = (vertices > t[middle - 1]) & (vertices < t[middle + 1])
    finer = np.unique(np.concatenate([vertices[inside], *between]))
    return finer[finer != t[np.searchsorted(t, finer)]]


def vertex(t: Floats, sizes: Floats, i: Ints, column: Ints) -> Floats:
    """Where the parabola through the values i - 1, i and i + 1 of a column is level; nan if nowhere."""
    before, after = t[i] - t[i - 1], t[i + 1] - t[i]
    s = sizes[i, column]
    left, right = (s - sizes[i - 1, column]) / before, (sizes[i + 1, column] - s) / after
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = (right - left) / (before + after)
        return t[i] - 0.5 * (left + bend * before) / bend
