"""A stiff motion from its start to its outputs in compiled code, by two prepared steppers.

Explicit steps begin, and notice that the motion is stiff; implicit ones go on, and now and then an explicit one is
tried again: the same kernels in the same order as by `Run` and its `Takeover`. Where explicit steps would go on, or
anything else happens, the answer is marked, and a `Run` has to compute it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...coordinates.equations import OutputMonitors
from ...integrators.loop_state import (
    DONE,
    END,
    EVALUATIONS,
    FINER,
    GRID,
    LIMIT,
    PAUSED,
    REJECTED,
    ROW,
    STEP,
    STEPS,
    TAKE,
    TIME,
    TOO_STIFF,
    WHY,
    Path,
)
from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from .motion_loop import (
    FINISH,
    FINISH_CONTEXT,
    INTEGRATE,
    LAST,
    LOOP,
    MOST_STEPS,
    SPACING,
    PreparedMotion,
    recovered,
    set_back,
)
from .takeover import FIRST_WAIT, TRIAL

# entries of an answer before the motion, which is all times, then all q, all qd, all qdd and all lam: whether it is
# complete; number of outputs; when it became stiff; steps, rejected steps and evaluations of explicit steps; implicit
# steps
COMPLETE, OUTPUTS, STIFF_AT, TAKEN, REFUSED, EVALUATED, IMPLICIT = range(7)
HEAD = 7
BEYOND = 1e3  # where no step leads


class StiffMotion(NamedTuple):
    """The context of one motion."""

    first: PreparedMotion
    p: Path  # of the implicit steps
    monitors: OutputMonitors
    restart_f: Any
    restart_c: Any
    march_f: Any
    march_c: Any
    note_f: Any
    note_c: Any
    limit: float  # of the implicit steps
    most: float  # steps of which the rows find room
    times: Floats
    rows: Floats  # of the implicit steps
    early: Floats  # the motion before them
    beyond: Floats  # one time


@kernel
def count(c, answer):
    """What explicit steps have cost since they began, or began again."""
    state = c.first.p.state
    answer[TAKEN] += state[STEPS] + (1.0 if state[TAKE] > 0.0 else 0.0)
    answer[REFUSED] += state[REJECTED]
    answer[EVALUATED] += state[EVALUATIONS]


@kernel(inline=True)
def attempts(p):
    return p.state[STEPS] + (1.0 if p.state[TAKE] > 0.0 else 0.0) + p.state[REJECTED]


@kernel(inline=True)
def step_ahead(p):
    waiting, following = p.state[TAKE], p.state[STEP]
    return min(waiting, following) if waiting > 0.0 and following > 0.0 else max(waiting, following)


@kernel(inline=True)
def begin_implicit(c):
    """The implicit stepper as `DaeStepper.begin` has it, in the last state of the explicit one."""
    f, p, m = c.first.p, c.p, c.monitors
    for k in range(2):
        m.singular_at[k], m.lost[k], m.changed[k] = np.nan, 0.0, 0.0
    for k in range(3):
        m.errors[k] = 0.0
    invoke(c.restart_f, c.restart_c, f.state[TIME], f.y, f.y)
    p.state[LIMIT], p.state[STEP] = c.limit, step_ahead(f)
    p.state[GRID] = c.first.limits[SPACING]
    p.state[FINER] = 1.0 if c.first.limits[SPACING] > 0.0 else 0.0


@kernel(inline=True)
def begin_explicit(c):
    """The explicit stepper as `OdeStepper.restart_at` has it, in the last state of the implicit one."""
    first, f, t = c.first, c.first.p, c.p.state[TIME]
    of_q, of_qd, y = f.notes[0], f.notes[1], first.r.y
    for k in range(f.notes.size):
        f.notes[k] = 0.0
    for k in range(y.size):
        y[k] = c.p.y[k]
    invoke(first.calls[FINISH], first.calls[FINISH_CONTEXT], t, y, f.notes)
    f.notes[0], f.notes[1] = of_q, of_qd
    for k in range(f.memory.size):
        f.memory[k] = 0.0
    for k in range(y.size):
        f.y[k] = y[k]
    for k in range(f.notes.size):
        f.old_notes[k] = f.notes[k]
    f.state[TIME] = f.state[END] = t
    f.state[LIMIT], f.state[STEP] = first.limits[LAST], step_ahead(c.p)


@kernel
def explicit_steps(c, most):
    """Some steps that write no outputs; returns whether they could go on."""
    first, f, t = c.first, c.first.p, c.p.state[TIME]
    c.beyond[0], f.state[ROW] = t + BEYOND * (1.0 + abs(t)), 0.0
    invoke(first.calls[INTEGRATE], first.calls[LOOP], most, c.beyond, first.r.rows)
    return f.state[WHY] == PAUSED


@kernel
def stays_stiff(c, answer):
    """Whether explicit steps are shorter than the implicit ones, or as long a one is refused: `Takeover.lead_far`."""
    f, step = c.first.p, step_ahead(c.p)
    count(c, answer)
    begin_explicit(c)
    explicit_steps(c, 1.0)
    if f.state[END] == c.p.state[TIME] or not explicit_steps(c, float(TRIAL)):
        return True
    middle = f.state[END]
    return not explicit_steps(c, float(TRIAL)) or not f.state[END] - middle > TRIAL * step


@kernel
def implicit_steps(c, answer, done):
    """Up to the last output. Returns the number of outputs, 0 if something happened on the way."""
    p, wait, until = c.p, float(FIRST_WAIT), float(FIRST_WAIT)
    p.state[ROW] = done
    while attempts(p) < c.most:
        invoke(c.march_f, c.march_c, until - attempts(p), c.times, c.rows)
        if p.state[WHY] != PAUSED:
            break
        if not stays_stiff(c, answer):
            return 0
        wait *= 2.0
        until = min(attempts(p) + wait, c.most)
    return int(p.state[ROW]) if p.state[WHY] == DONE else 0


@kernel
def write_motion(c, done, total, answer):
    """Times, and all q, then all qd, qdd and lam. Returns whether they are finite."""
    n, wide = c.p.y.size // 2, c.p.y.size + c.p.notes.size
    at, early, finite = HEAD + total, 0, True
    for k in range(total):
        answer[HEAD + k] = c.times[k]
    for part in range(4):
        first, size = part * n, n if part < 3 else wide - 3 * n
        for i in range(done * size):
            answer[at + i] = c.early[early + i]
        early += done * size
        for k in range(done, total):
            for j in range(size):
                value = c.rows[k * wide + first + j]
                answer[at + k * size + j] = value
                finite &= abs(value) < np.inf
        at += total * size
    return finite


@kernel
def moved(c, answer, room):
    """A motion into an answer; False if a `Run` has to compute it."""
    first, f, last = c.first, c.first.p, c.first.asked.size - 1
    wide = c.p.y.size + c.p.notes.size
    for k in range(c.times.size):
        c.times[k] = first.asked[min(k, last)]
    f.state[ROW] = 0.0
    invoke(first.calls[INTEGRATE], first.calls[LOOP], first.limits[MOST_STEPS], c.times, first.r.rows)
    done = int(f.state[ROW])
    if f.state[WHY] != TOO_STIFF or done > first.r.times.size:
        return False
    if not recovered(first, c.times, done, c.early[: done * wide]):
        return False
    answer[STIFF_AT] = f.state[TIME]
    begin_implicit(c)
    total = implicit_steps(c, answer, done)
    if total == 0 or total > room:
        return False
    if 2 * wide > 3 * c.p.y.size:  # there are constraints
        invoke(c.note_f, c.note_c, 0.0, c.rows[done * wide : total * wide], c.times[done:total])
    answer[OUTPUTS] = total
    return write_motion(c, done, total, answer)


@kernel_pointer
def run_stiff_motion(c, unused, given, answer):
    """The motion from its start."""
    room = (answer.size - HEAD) // (1 + c.p.y.size + c.p.notes.size)
    for k in range(HEAD):
        answer[k] = 0.0
    set_back(c.first)
    complete = moved(c, answer, room)
    count(c, answer)
    answer[IMPLICIT] = c.p.state[STEPS] + (1.0 if c.p.state[TAKE] > 0.0 else 0.0)
    answer[COMPLETE] = 1.0 if complete else 0.0
