"""The coordinates of a tree as measures between its bodies, z = s(q), in constant arrays.

The angle of a pin is that between the axes of two bodies, a displacement that along the frames of its slide; a floating
body is measured from the ground. There is a row for each coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...expressions.function_table import ALONG as IN_TIME
from ...expressions.function_table import pack
from ...model.frame import GROUND
from ...model.measure import ALONG, ANGLE, X, Y
from ...numerics.arrays import Ints, constant
from ...numerics.patterns import once_per_pattern
from ...system.constraints import RowStructure, SystemArrays, row_structure
from ...system.formulas.constraints import NO_FORMULAS
from ...system.functions_of_parts import NOTHING
from ...system.system import System
from .tree import Branch


class TreeMeasures(NamedTuple):
    """The rows, and the frames of slides: their numbers here, and in the system. All others are axes of bodies."""

    arrays: SystemArrays
    here: Ints
    there: Ints


def tree_measures(system: System, branches: Sequence[Branch]) -> TreeMeasures:
    """Without the numbers of the frames of slides."""
    S, nb, rows, slides = system.arrays, len(system.bodies), list[tuple[int, int, int]](), list[int]()
    number = {name: i for i, name in enumerate([*system.body_names, GROUND])}
    for body, _, joint in branches:
        if joint is None:
            rows += [(kind, nb, number[body]) for kind in (X, Y, ANGLE)]
            continue
        if joint.on_line:
            term = S.row_start[joint.rows[0]]
            slides += [S.term_a[term], S.term_b[term]]
            rows.append((ALONG, nb + len(slides) - 1, nb + len(slides)))
        if joint.angle is None:
            rows.append((ANGLE, number[joint.a.body], number[joint.b.body]))
    there = np.array(slides, dtype=np.int64)
    F, here = _structure(nb, S.frame_body[there], np.array(rows, dtype=np.int64).reshape(-1, 3))
    x, y, angle, sine = np.zeros((4, F.frame_body.size))
    cosine, weight = np.ones(F.frame_body.size), np.ones(len(rows))
    constant((x, y, angle, cosine, sine, weight))
    table = pack([NOTHING] * len(rows), order=IN_TIME)
    arrays = SystemArrays(
        S.mass, S.inertia, S.gravity, F.frame_body, x, y, angle, cosine, sine, F.term_kind, F.term_a, F.term_b, weight,
        F.row_start, F.no_period, table, NO_FORMULAS._replace(level=F.no_level), F.jac_start, F.jac_column, F.term_slot,
    )  # fmt: skip
    return TreeMeasures(arrays, here, there)


@once_per_pattern
def _structure(nb: int, slides: Ints, rows: Ints) -> tuple[RowStructure, Ints]:
    """Rows of one term each on frames that are sorted by body, and the numbers of the frames of slides."""
    body = np.concatenate([np.arange(nb + 1), slides])
    order = np.argsort(body, kind="stable")
    number = np.empty_like(order)
    number[order] = np.arange(order.size)
    kind, a, b = rows.T.copy()
    return row_structure(nb, body[order], np.ones_like(kind), kind, number[a], number[b]), number[nb + 1 :]
