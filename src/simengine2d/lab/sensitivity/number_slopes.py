"""How the numbers of a System change with the parameters of its model: N_p, for all parameters at once.

The Systems around a model are computed together, from one recording of how it is resolved. Their numbers are closed
forms of the parameters, and differences of them are exact (`differences.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...analyses.assembly.closure import scale_of
from ...numerics.arrays import Floats, Ints
from ...system.recorded_system import SystemNumbers
from ...system.system import System
from .differences import CENTRAL, STEPS, is_trusted

EQUATIONS = (
    "mass", "inertia", "gravity", "frame_x", "frame_y", "frame_angle", "term_weight", "functions", "load_weight",
    "laws",
)  # fmt: skip
"""The numbers of a System that its equations depend on, in the order of their slopes."""


class VariantNumbers(NamedTuple):
    """The arrays that the equations of variants differ in."""

    mass: Floats
    inertia: Floats
    gravity: Floats
    frame_x: Floats
    frame_y: Floats
    frame_cos: Floats
    frame_sin: Floats
    frame_angle: Floats
    term_weight: Floats
    row_period: Floats
    functions: Floats
    load_weight: Floats
    laws: Floats

    @classmethod
    def of(cls, system: System) -> VariantNumbers:
        S, L = system.arrays, system.load_arrays
        frames = S.frame_x, S.frame_y, S.frame_cos, S.frame_sin, S.frame_angle
        rows = S.term_weight, S.row_period, S.functions.numbers
        return cls(S.mass, S.inertia, S.gravity, *frames, *rows, L.term_weight, L.laws.numbers)


class Around(NamedTuple):
    """The Systems at -2, -1, 1 and 2 steps of a number, a row for each."""

    equations: Floats
    """All that `VariantNumbers` has, in its order."""
    scale: Floats
    """Of coordinates."""

    @classmethod
    def each(cls, around: SystemNumbers) -> list[Around]:
        """For each of the numbers, from the Systems around all of them."""
        equations = np.concatenate([getattr(around, name) for name in VariantNumbers._fields], axis=1)
        steps, scale = len(CENTRAL.offsets), scale_of(around.sizes, around.arms)
        cut = lambda rows: rows.reshape(-1, steps, rows.shape[1])
        return [cls(*rows) for rows in zip(cut(equations), cut(scale), strict=True)]


class NumberSlopes(NamedTuple):
    """By one parameter: the slopes of the numbers of the equations, and of what a model draws and names."""

    equations: Floats
    drawn_q: Floats
    drawn_qd: Floats
    parameters: Floats


DRAWN = NumberSlopes._fields[1:]


def number_slopes(around: SystemNumbers, center: SystemNumbers, sizes: Floats) -> list[NumberSlopes | None]:
    """By each parameter, from the numbers at -2, -1, 1 and 2 steps of it; None where two steps disagree."""
    names = (*EQUATIONS, *DRAWN)
    here = [getattr(center, name).ravel() for name in names]
    there = np.concatenate([getattr(around, name) for name in names], axis=1)
    g = np.concatenate(here)
    h = STEPS[0] * sizes[:, None]
    g_2, g_1, g1, g2 = np.moveaxis(there.reshape(sizes.size, 4, g.size), 1, 0)
    narrow, wide = (g1 - g_1) / (2.0 * h), (g2 - g_2) / (4.0 * h)
    slope = (4.0 * narrow - wide) / 3.0
    jump = (4.0 * (g1 - 2.0 * g + g_1) - (g2 - 2.0 * g + g_2)) / (2.0 * h)
    # numbers of one kind have one size; those that are not given stay so
    counts = np.array([each.size for each in here])
    starts = np.cumsum([0, *counts])
    first = starts[:-1][counts > 0]
    largest = lambda values: (
        np.maximum.reduceat(np.nan_to_num(np.abs(values), posinf=np.inf), first, axis=1).T
    )
    value, steepest = largest(_sizes(g_2, g, g2)), largest(slope)
    trusted = is_trusted(value, steepest, largest(wide - narrow), largest(jump), sizes)
    parts = np.split(np.nan_to_num(slope), starts[len(EQUATIONS) : -1], axis=1)
    return [
        NumberSlopes(*(part[k] for part in parts)) if held else None
        for k, held in enumerate(trusted.all(axis=0).tolist())
    ]


def _sizes(*values: Floats) -> Floats:
    """The largest of some values, without their sign."""
    return np.maximum.reduce(np.abs(np.broadcast_arrays(*values)))


class Directions(NamedTuple):
    """N_p of the numbers of the equations, by what is not zero: the number, the parameter, the slope."""

    place: Ints
    parameter: Ints
    slope: Floats

    @classmethod
    def of(cls, slopes: Sequence[NumberSlopes | None]) -> Directions:
        """Of those parameters for which they are known."""
        known = {k: each.equations for k, each in enumerate(slopes) if each is not None}
        table = np.array([*known.values()])
        found, place = np.nonzero(table) if known else np.zeros((2, 0), dtype=np.int64)
        return cls(
            place, np.array([*known], dtype=np.int64)[found], table[found, place] if known else np.zeros(0)
        )

    def parameters_of(self, places: Ints) -> list[int]:
        """The parameters that change some numbers."""
        return sorted({*self.parameter[np.isin(self.place, places)].tolist()})
