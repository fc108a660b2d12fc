"""Rows of outputs that are written when all steps of an explicit method are over and stored.

The stages that only its dense output needs are then computed for as many steps at once as there are lanes, each with
the numbers it would have alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..coordinates.equations import LaneSlopes
from ..numerics.arrays import Floats, Ints
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, invoke, rare_kernel_pointer
from ..numerics.lanes import LANES
from .integration import CompiledIntegration
from .loop_state import (
    DENSE,
    END,
    EVALUATIONS,
    NEW_KNOWN,
    STORED,
    TAKE,
    TIME,
    TimeLoop,
    state_between,
    write_row,
)
from .runge_kutta import ExplicitStep, add_slopes, weigh_slopes

# columns of a group
STEP, FIRST, LAST = range(3)


class WaitingRows(NamedTuple):
    """Context of `write_waiting_rows`."""

    loop: TimeLoop
    s: ExplicitStep
    slopes_f: Any
    slopes_c: Any
    y: Floats
    zdd: Floats
    times: Floats
    done: Ints
    group: Ints  # (LANES, 3): stored steps, with the first and the last row inside each
    first: Floats  # (LANES, size): where they begin
    K: Floats  # (LANES, all stages, size): their slopes


@rare_kernel_pointer
def write_waiting_rows(c, unused, times, rows):
    """The rows [y, notes] at all times, which increase, of the steps since `store_steps`."""
    p = c.loop.p
    at, count = state_in_row(c), int(p.state[STORED]) - 1
    used, step = 0, 0
    for k in range(times.size):
        t, before = times[k], step
        while step < count and p.stored[step, at + END] <= t:
            step += 1
        if step == count:  # the last step is not stored
            state_between(c.loop.E, c.loop.rules, p, t)
            write_row(p, p.notes, k, rows)
        elif t <= p.stored[step, at + TIME]:
            for j in range(p.y.size):
                p.out[j] = p.stored[step, j]
            write_row(p, p.notes, k, rows)
        elif used > 0 and step == before and c.group[used - 1, STEP] == step:
            c.group[used - 1, LAST] = k
        else:
            if used == LANES:
                write_group(c, used, times, rows)
                used = 0
            c.group[used, STEP], c.group[used, FIRST], c.group[used, LAST] = step, k, k
            used += 1
    if used > 0:
        write_group(c, used, times, rows)


@kernel(inline=True)
def state_in_row(c):
    """Where the state is in a stored step."""
    return (4 + c.s.T.C.size) * c.loop.p.y.size


@kernel
def write_group(c, used, times, rows):
    """The stages of some steps, and the rows inside them."""
    p, T, at = c.loop.p, c.s.T, state_in_row(c)
    for lane in range(LANES):
        recall_slopes(c, lane, c.group[min(lane, used - 1), STEP])
    for i in range(T.stages + 1, T.C.size):
        add_stage(c, used, i)
    for lane in range(used):
        step = c.group[lane, STEP]
        keep_slopes(c, lane, step)
        begin, h = p.stored[step, at + TIME], p.stored[step, at + TAKE]
        for k in range(c.group[lane, FIRST], c.group[lane, LAST] + 1):
            weigh_slopes(c.s, (times[k] - begin) / h)
            add_slopes(c.first[lane], h, c.s.flat, c.K[lane], T.C.size, p.out)
            write_row(p, p.notes, k, rows)
    p.state[EVALUATIONS] += used * (T.C.size - T.stages - 1)


@kernel(inline=True)
def add_stage(c, used, i):
    """K_i = f(t + c_i h, y + h sum_j a_ij K_j) of all lanes; alone where some state is no ordinary one."""
    p, T, at, size = c.loop.p, c.s.T, state_in_row(c), c.loop.p.y.size
    n, E = size // 2, c.loop.E
    for lane in range(LANES):
        step = c.group[min(lane, used - 1), STEP]
        h = p.stored[step, at + TAKE]
        c.times[lane] = p.stored[step, at + TIME] + T.C[i] * h
        add_slopes(c.first[lane], h, T.A[i], c.K[lane], i, p.trial)
        for j in range(size):
            c.y[j, lane] = p.trial[j]
    invoke(c.slopes_f, c.slopes_c, 0.0, c.times, c.times)
    for lane in range(used):
        if c.done[0] == 1:
            for j in range(n):
                c.K[lane, i, j], c.K[lane, i, n + j] = c.y[n + j, lane], c.zdd[j, lane]
        else:
            for j in range(size):
                p.trial[j] = c.y[j, lane]
            invoke(E.f, E.f_c, c.times[lane], p.trial, c.K[lane, i])


@kernel(inline=True)
def recall_slopes(c, lane, step):
    """The beginning of a stored step and its slopes, of which the last is the first one of the next step."""
    p, size, last = c.loop.p, c.loop.p.y.size, c.s.T.stages
    following = step + 1 < int(p.state[STORED]) - 1
    known = p.stored[step, state_in_row(c) + NEW_KNOWN] == 1.0
    for j in range(size):
        c.first[lane, j] = p.stored[step, j]
    for i in range(last):
        for j in range(size):
            c.K[lane, i, j] = p.stored[step, (4 + i) * size + j]
    for j in range(size):
        if known:
            c.K[lane, last, j] = p.stored[step, (4 + last) * size + j]
        else:
            c.K[lane, last, j] = p.stored[step + 1, 4 * size + j] if following else p.K[0, j]


@kernel(inline=True)
def keep_slopes(c, lane, step):
    """What was found, for those who look back later."""
    p, at, size, T = c.loop.p, state_in_row(c), c.loop.p.y.size, c.s.T
    for i in range(T.stages, T.C.size):
        for j in range(size):
            p.stored[step, (4 + i) * size + j] = c.K[lane, i, j]
    p.stored[step, at + NEW_KNOWN] = p.stored[step, at + DENSE] = 1.0


def waiting_rows(integration: CompiledIntegration, slopes: LaneSlopes) -> BoundKernel | None:
    """`write_waiting_rows` for the steps of an integration; None if its outputs need no stages of their own."""
    step = integration.attempt.kept[1]
    if not isinstance(step, ExplicitStep) or step.T.C.size == step.T.stages + 1:
        return None
    loop, size = TimeLoop(integration.equations, integration.rules, integration.path), step.p.y.size
    return write_waiting_rows.bind(
        WaitingRows(
            loop, step, slopes.pointer.f, slopes.pointer.c, slopes.y, slopes.zdd, slopes.times, slopes.done,
            np.zeros((LANES, 3), dtype=np.int64), np.zeros((LANES, size)), np.zeros((LANES, step.T.C.size, size)),
        )
    )  # fmt: skip
