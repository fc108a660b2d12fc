"""Some rows of a system: their arrays are parts of those of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..expressions.function import Function
from ..expressions.function_table import ALONG, pack
from ..numerics.arrays import Ints, ascending, constant, starts
from ..numerics.patterns import once_per_pattern
from .constraints import RowStructure, SystemArrays, row_structure
from .formulas.constraints import NO_FORMULAS


def some_rows(S: SystemArrays, rows: Ints, functions: Sequence[Function]) -> SystemArrays:
    """The arrays of some rows that are not formulas, with their functions."""
    P = part_of_rows(S.mass.size, rows, S.frame_body, S.row_start, S.term_kind, S.term_a, S.term_b)
    R, frames = P.structure, P.frames
    x, y, angle, cosine, sine = (
        part[frames] for part in (S.frame_x, S.frame_y, S.frame_angle, S.frame_cos, S.frame_sin)
    )
    weight, periods = S.term_weight[P.terms], S.row_period[rows] if R.has_directions else R.no_period
    constant((x, y, angle, cosine, sine, weight, periods))
    return SystemArrays(
        S.mass, S.inertia, S.gravity, R.frame_body, x, y, angle, cosine, sine, R.term_kind, R.term_a,
        R.term_b, weight, R.row_start, periods, pack(functions, order=ALONG),
        NO_FORMULAS._replace(level=R.no_level), R.jac_start, R.jac_column, R.term_slot,
    )  # fmt: skip


class RowPart(NamedTuple):
    """Some rows: the frames and terms that they consist of, and their structure."""

    frames: Ints
    terms: Ints
    structure: RowStructure


@once_per_pattern
def part_of_rows(
    nb: int, rows: Ints, frame_body: Ints, row_start: Ints, kind: Ints, a: Ints, b: Ints
) -> RowPart:
    sizes = np.diff(row_start)[rows]
    terms = np.repeat(row_start[rows] - starts(sizes)[:-1], sizes) + np.arange(sizes.sum())
    frames = ascending(np.concatenate([a[terms], b[terms]]))
    numbers = (np.searchsorted(frames, ends[terms]) for ends in (a, b))
    return RowPart(frames, terms, row_structure(nb, frame_body[frames], sizes, kind[terms], *numbers))
