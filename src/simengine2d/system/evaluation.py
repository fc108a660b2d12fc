"""A single evaluation of the rows of a system, outside of any run."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.contexts import lay_out_once
from ..numerics.kernel_pointer import BoundKernel, rare_kernel_pointer
from .applied_forces import Loads
from .constraints import SystemArrays, evaluate_rows
from .workspace import Pool, Workspace, new_workspace, refresh

SMALL = 60  # coordinates up to which a single evaluation is not worth compiling,
FEW = 100  # unless there have been so many of them
small_evaluations = count()


class RowContext(NamedTuple):
    """Context of `rows_at`."""

    S: SystemArrays
    w: Workspace


@rare_kernel_pointer
def rows_at(c, t, y, out):
    """Phi and gamma into out, Phi_q into w.data, with y = (q, qd)."""
    n, m = y.size // 2, out.size // 2
    evaluate_rows(c.S, t, y[:n], y[n:], c.w, out[:m], out[m:])


class Evaluator:
    """A workspace in which the rows of a system are evaluated; Python and machine code give the same bits."""

    def __init__(self, S: SystemArrays, L: Loads) -> None:
        self.S, self.w = S, new_workspace(S, L)
        lay_out_once(self, self.w)

    @cached_property
    def bound(self) -> BoundKernel:
        return rows_at.bind(RowContext(self.S, self.w))

    def turn_to(self, S: SystemArrays) -> None:
        """Evaluate the rows of another system with as many of everything."""
        self.S = S
        self.__dict__.pop("bound", None)

    def __call__(self, t: float, q: Floats, qd: Floats) -> Floats:
        """Phi; all else is left in the workspace, gamma in `row`."""
        y, out = np.concatenate([q, qd]), np.empty(2 * self.w.row.size)
        refresh(self.w, self.S)
        if q.size > SMALL or next(small_evaluations) >= FEW:
            self.bound(t, y, out)
        else:
            # as Python it would warn of states that have grown without bound, which compiled code does not
            with np.errstate(over="ignore", invalid="ignore"):
                rows_at(RowContext(self.S, self.w), t, y, out)
        self.w.row[:] = out[self.w.row.size :]
        return out[: self.w.row.size].copy()


idle = Pool()
"""Evaluators of models without formulas and forces: all that depends on a model in them is how many parts it has."""


def sizes_of(S: SystemArrays) -> Hashable:
    """How many of everything there are."""
    counts = (array.size for array in (S.mass, S.frame_body, S.term_kind, S.row_start, S.jac_column))
    return *counts, *S.functions.sizes.tolist()
