"""What changes while the equations of a system are evaluated: one workspace for each run.

The arrays of a System are constant, so that any number of runs and threads may read them at once. Whatever a kernel
writes is here. The type is the same for every model; parts that a run does not need are empty.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..expressions.function_table import Scratch, new_scratch
from ..numerics.arrays import Floats, Ints, constant
from ..numerics.contexts import holds_addresses
from ..numerics.kernel_pointer import NOTHING, BoundKernel, words_of
from .applied_forces import Loading, Loads, add_loads
from .constraints import SystemArrays
from .derivatives import Tangent, add_blocks
from .equations_of_motion import EquationArrays
from .formulas.constraints import NO_POINTERS, row_pointers
from .frames import FRAME_STATE
from .kkt_refinement import Refinement, refine_kkt

if TYPE_CHECKING:
    from .system import System

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_KINDS = 16  # of idle workspaces
MOST_KNOWN = 16  # arguments for which a constant is stored
MOST_WHOLE = 150  # unknowns up to which a matrix may be factored as a whole


@holds_addresses
class Workspace(NamedTuple):
    """Scratch of one run."""

    scratch: Scratch  # of functions of time and laws
    # the rows at a state
    f: Floats  # f, f' and f'' of each function of time
    F: Floats  # state of each frame
    weight: Floats  # of each term; those of formulas follow the state
    data: Floats  # non-zeros of Phi_q
    Q: Floats  # QA
    row: Floats
    # rows that are formulas: the kernel pointers to them, 0 where there are none
    rows_f: Any
    rows_c: Any
    bends_f: Any
    bends_c: Any
    rows_kept: Ints  # keeps alive what these work in
    # likewise: applied forces, second derivatives of formulas and forces, refinement of a solution
    loads_f: Any
    loads_c: Any
    blocks_f: Any
    blocks_c: Any
    refine_f: Any
    refine_c: Any
    rare_kept: Ints
    bends: Floats  # second derivatives
    memory: Floats  # where contacts touched last
    # the matrix, and the solution of its equations
    v: Floats
    x: Floats
    rest: Floats
    correction: Floats
    work: Floats
    terms: Floats  # sums of the sizes of the terms of each equation
    reach: Floats  # size of each acceleration, as that of its body
    K: Floats  # the whole matrix, for equations whose numbers differ too much; empty where that cannot be
    pivots: Ints
    null: Floats  # (dropped rows, m): multipliers without effect
    # second derivatives
    H: Floats
    law: Floats  # a force and its derivatives by the variables of its law
    given: Floats  # factors of derivatives by q and qd, as they are and transposed, then the multipliers
    G: Floats  # gradients over the coordinates of a block
    where: Ints  # where each body begins in a block
    B: Floats  # the largest block of a formula or a force


def new_workspace(S: SystemArrays, L: Loads | None = None, d: EquationArrays | None = None) -> Workspace:
    """A workspace for rows alone, with `L` for applied forces too, with `d` for the equations of motion."""
    m, n, frames = S.row_start.size - 1, 3 * S.mass.size, S.frame_body.size
    F, weight = np.zeros((frames, FRAME_STATE)), S.term_weight.copy()
    memory = np.full((S.formulas.g.contacts.contacts.shape[0], 2), np.nan)
    pointers = row_pointers(S.formulas, F, weight, memory) if S.formulas.row.size else NO_POINTERS
    unknowns = 0 if d is None else n + m
    whole = unknowns if d is not None and d.refinements[0] > 0 and unknowns <= MOST_WHOLE else 0
    block = 0 if d is None else int(np.diff(d.couplings.start).max(initial=0))
    variables = 0 if L is None else int(L.laws.sizes[0])
    w = Workspace(
        scratch=new_scratch(S.functions, *(() if L is None else (L.laws,))),
        f=np.zeros((m, 3)),
        F=F,
        weight=weight,
        data=np.empty(S.jac_column.size),
        Q=np.empty(n),
        row=np.empty(m),
        **pointers._asdict(),
        **RarePointers()._asdict(),
        bends=np.zeros(int(S.formulas.bend_start[-1])),
        memory=memory,
        v=np.zeros(
            0 if d is None else d.program.column.size
        ),  # part of checkpoints: never what memory held before
        x=np.empty(unknowns),
        rest=np.empty(unknowns),
        correction=np.empty(unknowns),
        work=np.empty(unknowns),
        terms=np.zeros(unknowns),
        reach=np.zeros(n),
        K=np.empty((whole, whole)),
        pivots=np.empty(whole, dtype=np.int64),
        null=np.zeros((0 if d is None or not whole else d.dropped.size, m)),
        H=np.empty((6, 6)),
        law=np.zeros(1 + variables + variables**2),
        given=np.zeros(4 + m),
        G=np.empty((4, block)),
        where=np.full(S.mass.size + 1, -1, dtype=np.int64),
        B=np.zeros((block, block)),
    )
    return w._replace(**rare_pointers(w, S, L, d)._asdict())


def refresh(w: Workspace, S: SystemArrays) -> None:
    """Numbers of the system that a workspace holds, after they have changed."""
    w.weight[:] = S.term_weight
    w.scratch.known[:] = np.nan  # what laws were at some time


class RarePointers(NamedTuple):
    """The words of kernel pointers that work in a workspace; zeros if its model does not need them."""

    loads_f: Any = 0
    loads_c: Any = 0
    blocks_f: Any = 0
    blocks_c: Any = 0
    refine_f: Any = 0
    refine_c: Any = 0
    rare_kept: Ints = NOTHING


def rare_pointers(w: Workspace, S: SystemArrays, L: Loads | None, d: EquationArrays | None) -> RarePointers:
    loads = blocks = refine = BoundKernel(0, 0, None)
    if L is not None and L.laws.functions.shape[0] > 0:
        loads = add_loads.bind(Loading(S, L, w.F, w.scratch, w.Q))
    if d is not None and L is not None and d.couplings.start.size > 1:
        blocks = add_blocks.bind(Tangent(S, L, d.couplings, w))
    if d is not None and d.refinements[0] > 0:
        refine = refine_kkt.bind(Refinement(S, constant(d), w))
    return RarePointers(*words_of(loads, blocks, refine))


# What a System stores for reuse ------------------------------------------------------------------------


class Pool:
    """Idle workspaces. Each has one user at a time; threads may take and give at once, without a lock."""

    def __init__(self) -> None:
        self.waiting: dict[Hashable, list[Any]] = {}

    def take(self, kind: Hashable) -> Any:
        """An idle workspace; None if there is none."""
        try:
            return self.waiting[kind].pop()
        except (KeyError, IndexError):
            return None

    def give(self, kind: Hashable, workspace: Any) -> None:
        """Make it idle again; if there are too many kinds, the oldest are dropped."""
        self.waiting.setdefault(kind, []).append(workspace)
        if len(self.waiting) > MOST_KINDS:
            for oldest in list(self.waiting)[:-MOST_KINDS]:
                self.waiting.pop(oldest, None)


def once_per_system(function: Function) -> Function:
    """Compute a constant of a System, and of hashable arguments, once; `system.known` stores it.

    Two threads may do that at once, with the same result. The answer must never be written to.
    """

    @wraps(function)
    def known(system: System, *arguments: Hashable) -> Any:
        answers = system.known.setdefault(known, {})
        if (answer := answers.get(arguments)) is None:
            answer = answers[arguments] = function(system, *arguments)
            for oldest in list(answers)[:-MOST_KNOWN]:
                answers.pop(oldest, None)
        return answer

    return known  # type: ignore[return-value]
