"""The state of a run of kinematics, its work arrays, and the pointers to what solves the equations of its mechanism."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...expressions.function_table import Scratch, new_scratch
from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import JIT
from ...numerics.kernel_pointer import BoundKernel
from ...numerics.sparse_lu import Pattern
from ...system.constraints import SystemArrays
from ...system.formulas.constraints import NO_POINTERS, row_pointers
from ...system.frames import FRAME_STATE
from .groups import NO_GROUPS, Groups
from .hinges import BC, BODY_STATE

# why the loop or a step ended
DONE, STUCK, REPIVOT, SIGN, SUSPECT, PAUSE, CONTRADICTION = range(7)

# entries of the state: time, accepted and rejected steps, steps before a pause; how much larger the determinant that
# falls most was one step ago, and that step (0 at the start); the distance to the singular pose predicted by it, in rad
# or lengths of the mechanism, and the distance that raises the alert; the kink of the step just tried, the step to try
# next, and the smallest; and the outputs: the next one, where to stop, and why the loop ended
TIME, ACCEPTED, REJECTED, BUDGET, FALL, LAST_STEP, DISTANCE, ALERT, KINK = range(9)
WANTED, SMALLEST, NEXT, STOP, ENDED = range(9, 14)

# entries of an answer: DONE or why not, smallest pivot; determinants, one for each group, and the pivots of each
WHY, PIVOT, DETERMINANTS, PIVOTS_EACH = range(4)

# entries of the calls: kernel pointers, and their context
SOLVE, MEASURE, SOLVE_LARGER, MEASURE_OTHERS, CONTEXT = range(5)

LARGEST_TURN = 0.5  # rad in one substep
CONTRACTION = 0.2  # ratio of successive corrections
NEARBY = 0.02  # rad, or lengths, within which a singular pose is examined
FAR = 1e300


class RowState(NamedTuple):
    """The rows at a state, as the kernels of `system.constraints` write them."""

    scratch: Scratch
    f: Floats
    F: Floats
    weight: Floats
    data: Floats
    row: Floats
    rows_f: Any
    rows_c: Any
    kept: Ints  # keeps alive what rows that are formulas work in


def new_rows(S: SystemArrays) -> RowState:
    m, F, weight = S.row_start.size - 1, np.zeros((S.frame_body.size, FRAME_STATE)), S.term_weight.copy()
    formulas = NO_POINTERS
    if S.formulas.row.size:
        memory = np.full((S.formulas.g.contacts.contacts.shape[0], 2), np.nan)
        formulas = row_pointers(S.formulas, F, weight, memory)
    return RowState(
        new_scratch(S.functions),
        np.zeros((m, 3)),
        F,
        weight,
        np.empty(S.jac_column.size),
        np.empty(m),
        formulas.rows_f,
        formulas.rows_c,
        formulas.rows_kept,
    )


class Stepper(NamedTuple):
    """The present state of the run, and its work arrays."""

    q: Floats
    qd: Floats
    qdd: Floats
    state: Floats
    calls: Ints
    answer: Floats
    worst: Floats  # errors of outputs at the three levels
    scale: Floats  # of each coordinate, such that scaled coordinates are lengths
    size: Floats  # 1 / scale: the size of each coordinate as a length
    length: Floats
    rows: RowState
    new: Floats
    new_d: Floats
    new_dd: Floats
    jerk: Floats
    # reciprocals of the pivots of determinants, at the pose just solved and at the last good one; how much larger each
    # determinant is than one step ago, and how much larger it was one step before that
    pivots: Floats
    good_pivots: Floats
    growth: Floats
    fall: Floats
    level: Floats  # of each determinant, relative to its largest so far
    # a mechanism as a whole: Phi, Phi_q and a correction
    Phi: Floats
    lu: Floats
    work: Floats
    dq: Floats
    # groups: the side of each dyad; states of bodies and accelerations of frames; tangents, K and its solution
    side: Floats
    bodies: Floats
    A: Floats
    T: Floats
    K: Floats
    x: Floats
    norms: Floats
    exchanged: Ints
    group_answer: Floats


class DrivenMechanism(NamedTuple):
    """What kernel pointers know: constant arrays, how their equations are solved, and the state of the run."""

    S: SystemArrays
    P: Pattern
    G: Groups
    w: Stepper


def new_stepper(
    S: SystemArrays, P: Pattern, t: float, q: Floats, scale: Floats, length: float, G: Groups = NO_GROUPS
) -> Stepper:
    """A stepper in the pose q at time t."""
    n, k = q.size, G.most_unknowns
    state = np.zeros(14)
    state[[TIME, FALL, DISTANCE, ALERT, WANTED]] = t, 1.0, FAR, NEARBY, FAR
    bodies = np.zeros((n // 3 + 1, BODY_STATE))  # the ground, which comes last, is at the origin
    bodies[-1, BC] = 1.0
    zeros = np.zeros((10, n))
    return Stepper(
        q=q.copy(),
        qd=zeros[0],
        qdd=zeros[1],
        state=state,
        calls=np.zeros(5, dtype=np.int64 if JIT else object),
        answer=np.zeros(4),
        worst=np.zeros(3),
        scale=scale,
        size=1.0 / scale,
        length=np.array([length]),
        rows=new_rows(S),
        new=q.copy(),
        new_d=zeros[2],
        new_dd=zeros[3],
        jerk=zeros[4],
        pivots=zeros[5],
        good_pivots=zeros[8],
        growth=zeros[9],
        fall=np.ones(n),
        level=np.ones(n),
        Phi=np.empty(S.row_start.size - 1),
        lu=np.empty(P.columns.size),
        work=zeros[6],
        dq=zeros[7],
        side=np.ones(G.form.size),
        bodies=bodies,
        A=np.zeros((S.frame_body.size, 3)),
        T=np.zeros((G.chain.size, 3)),
        K=np.zeros((k, k)),
        x=np.zeros(k),
        norms=np.zeros(k),
        exchanged=np.zeros(k, dtype=np.int64),
        group_answer=np.zeros(2),
    )


def connect(w: Stepper, pointers: dict[int, BoundKernel]) -> None:
    """Let kernels call pointers of the same context; whoever holds the stepper must hold them too."""
    for place, pointer in pointers.items():
        w.calls[place], w.calls[CONTEXT] = (int(pointer.f), int(pointer.c)) if JIT else pointer[:2]


def carry_levels(old: Stepper, new: Stepper) -> None:
    """How large determinants are in another pose, relative to their largest in the run so far."""
    shape = [int(old.answer[entry]) for entry in (DETERMINANTS, PIVOTS_EACH)]
    if shape != [int(new.answer[entry]) for entry in (DETERMINANTS, PIVOTS_EACH)]:
        return
    count, used = shape[0], shape[0] * shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(old.good_pivots[:used] / new.good_pivots[:used]).reshape(shape)
        level = old.level[:count] * np.exp(np.log(ratios).sum(axis=1))
    new.level[:count] = np.where(np.isfinite(level), np.minimum(level, 1.0), 1.0)
