"""Many four-bars at once: class, circuits, range of motion and the path of a coupler point, in compiled batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...answer import Part, PlottedAnswer, Rows
from ...errors import ModelError, counted
from ...numerics.arrays import Floats
from ...numerics.kernel_pointer import call_beside
from .survey_kernel import (
    CIRCUITS,
    HIGH,
    INPUTS,
    LOW,
    MU,
    OUTPUTS,
    TRACED,
    TYPE,
    X0,
    Y1,
    SurveyContext,
    survey,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TYPES = (
    "crank-rocker",
    "double-rocker",
    "rocker-crank",
    "double-crank",
    "triple-rocker",
    "change point",
    "open",
)
"""By where the shortest link is; what does not close is open."""
CHUNK = 4096  # linkages of a piece of work


@dataclass(frozen=True, repr=False)
class FourBarSurvey(PlottedAnswer):
    """Four-bars, one row each: what they are and how they move."""

    lengths: Floats
    """Input, coupler, output, ground."""
    numbers: Floats

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def types(self) -> list[str]:
        """What input and output do, as `grashof` says it; "open" for what does not close."""
        return [TYPES[int(code)] for code in self.numbers[:, TYPE]]

    @property
    def circuits(self) -> np.ndarray:
        """How many circuits each has."""
        return self.numbers[:, CIRCUITS].astype(int)

    @property
    def input_range(self) -> Floats:
        """Lowest and highest input angle from the ground line, on one circuit; -pi to pi is a full turn."""
        return self.numbers[:, [LOW, HIGH]]

    @property
    def transmission(self) -> Floats:
        """The least transmission angle, 0 to pi/2; 0 where the input has dead points."""
        return self.numbers[:, MU]

    @property
    def extent(self) -> Floats:
        """Of the coupler point's path: lowest and highest x, lowest and highest y, with the ground along x."""
        return self.numbers[:, X0 : Y1 + 1]

    @property
    def path_length(self) -> Floats:
        return self.numbers[:, TRACED]

    def counts(self) -> dict[str, int]:
        """How many there are of each type."""
        codes = self.numbers[:, TYPE].astype(int)
        return {name: int((codes == (i if i < 6 else -1)).sum()) for i, name in enumerate(TYPES)}

    def rows(self) -> list[list[str]]:
        return [
            [name, str(count), f"{100 * count / len(self):.2f} %"] for name, count in self.counts().items()
        ]

    def __str__(self) -> str:
        lines = [f"{name}: {count}, {share}" for name, count, share in self.rows()]
        return "\n".join([f"survey of {counted(len(self), 'four-bar')}", *lines])

    def _parts(self) -> Iterator[Part]:
        yield f"survey of {counted(len(self), 'four-bar')}"
        yield Rows(["type", "count", "share"], self.rows())

    def plot(self, ax: Axes | None = None) -> Axes:
        """How many there are of each type."""
        from .pictures import plot_survey

        return plot_survey(self, ax)


def survey_four_bars(
    lengths: Any, point: Any = None, *, points: int = 72, threads: int | None = None
) -> FourBarSurvey:
    """Classify four-bars and trace them: rows of input, coupler, output and ground.

    `point` is (x, y) of the traced point from the input's pin along and across the coupler, one for all or a row for
    each; by default the coupler's middle. A path has `points` points over the whole circuit.
    """
    table = np.array(lengths, dtype=float, ndmin=2)
    if table.ndim != 2 or table.shape[1] != 4 or not np.isfinite(table).all():
        raise ModelError(
            "survey_four_bars: give rows of four finite lengths: input, coupler, output, ground."
        )
    if points < 4:
        raise ModelError(f"survey_four_bars: points = {points}; a path needs at least 4.")
    places = (
        np.column_stack([0.5 * table[:, 1], np.zeros(len(table))])
        if point is None
        else np.array(point, float)
    )
    inputs = np.ascontiguousarray(np.column_stack([table, np.broadcast_to(places, (len(table), 2))]))
    return FourBarSurvey(table, surveyed(inputs, points, threads or os.cpu_count() or 1))


def surveyed(inputs: Floats, points: int, threads: int) -> Floats:
    """The rows of a table, in pieces on several threads; the kernel runs without the GIL."""
    out = np.empty((len(inputs), OUTPUTS))
    bound = survey.bind(SurveyContext(points))

    def piece(start: int) -> None:
        rows = slice(start, start + CHUNK)
        call_beside(bound, 0.0, inputs[rows].reshape(-1), out[rows].reshape(-1))

    assert inputs.shape[1] == INPUTS
    starts = range(0, len(inputs), CHUNK)
    if starts:
        piece(0)  # compiles
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(piece, starts[1:]))
    return out
