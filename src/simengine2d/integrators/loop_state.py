"""An integration in memory: its state, its last step, and what is known between the ends of that.

An accepted step waits until it is known whether outputs lie inside it: `state[TAKE]` is then its size, and it leads
from (t, y) to (t1, y1) with the slopes K_0 and K_last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke

# entries of the state
TIME, END, TAKE, STEP, TRIED, ERROR, ESTIMATE, CONVERGED, KNOWN, NEW_KNOWN, DENSE, BEGUN = range(12)
STEPS, REJECTED, EVALUATIONS, JACOBIANS, FACTORIZATIONS, STIFF, LONGEST, ROW, WHY = range(12, 21)
# where steps must end next; steps since the last start, its time, and the size of equal steps from there on
LIMIT, SINCE, ORIGIN, SPACING = range(21, 25)
# whether the step has to end before a switch of the state, where, how close to it, and how often it was shortened;
# breaks passed so far
CUTTING, CUT, NEAR, CUTS, BREAKS = range(25, 30)
# one more than the number of steps that are stored, 0 if none are to be; steps in a row that were not stiff
STORED, CALM = 30, 31
# where outputs follow the steps: their largest spacing, and whether it is halved in short steps; else 0
GRID, FINER = 32, 33
# corrections of implicit stages so far
ITERATED = 34
# whether only the times of outputs are written, since all rows follow when the steps are over
WAITS = 35
STATE_SIZE = 36
# why the loop ended
DONE, PAUSED, STEP_TOO_SMALL, TOO_STIFF, NO_CONVERGENCE = range(5)
COLLAPSED, BLEW_UP, AT_LIMIT, JUMPS, CHATTERS, ALARMED = range(5, 11)
# how steps are chosen: equal between two outputs or throughout, by their error
BETWEEN_OUTPUTS, EQUAL, ADAPTIVE = range(3)


class BoundEquations(NamedTuple):
    """Kernel pointers with their contexts; 0 if absent."""

    f: Any  # y' = f(t, y)
    f_c: Any
    attempt: Any  # (t, state) -> the new state: one step of the size state[TRIED]
    attempt_c: Any
    between: Any  # (t, state) -> y(t) inside the step; a cubic if absent
    between_c: Any
    finish: Any  # (t, y1) -> notes: may change the end of a step
    finish_c: Any


class Rules(NamedTuple):
    """What the loop needs to know about a method."""

    kind: int
    order: int  # of the error estimate, plus one
    uses_slope: int  # whether a step begins with f(t, y)
    last: int  # row of K that is the slope at the end of the step
    stability: float  # largest h |lambda| of explicit methods if that is watched, else infinite
    step: float  # size of fixed steps, longest adaptive step; 0 if unlimited
    begin: float
    limit: float  # last time at which the equations have a value
    collapse: float  # relative to the longest step: rejected steps below it end the loop; 0 if not watched
    careful: int  # whether steps are kept short because opaque functions may jump
    looks_at_slopes: int = 1  # whether f at both ends is needed inside a step
    keeps: float = 1.0  # growth up to which a step keeps its size, since its matrix is known
    safety: float = 0.9  # share of the step that the error allows
    smooth: float = (
        0.2  # exponent of the last error: growing errors shorten the next step before it is rejected
    )


class Path(NamedTuple):
    """The present state of an integration, and its work arrays."""

    y: Floats
    new: Floats
    trial: Floats
    out: Floats
    K: Floats
    state: Floats
    rtol: Floats
    atol: Floats
    notes: Floats
    old_notes: Floats  # notes at the beginning of the step
    inside: Floats  # notes at outputs inside it; usually the same array
    past_t: Floats  # rings of earlier states and slopes, as many as the method uses
    past_y: Floats
    past_slopes: Floats
    memory: Floats  # all of these in one array, except the tolerances and notes
    stored: Floats  # (steps + 1, ...): memory and notes at the ends of some steps, and a row for the present
    alarm: Floats  # (1,): set to 1 by `finish` if the loop is to return after the step


class TimeLoop(NamedTuple):
    """Context of `integrate`."""

    E: BoundEquations
    rules: Rules
    p: Path


@kernel(inline=True)
def past_row(p, steps_ago):
    """Row of the rings that holds the state this many steps before y, from 1 on."""
    return (int(p.state[STEPS]) - steps_ago) % p.past_t.size


# Slopes -----------------------------------------------------------------------------------------------


@kernel
def know_slopes(E, rules, p, first, last):
    """f at the beginning and at the end of the step, if asked for and not yet known."""
    state = p.state
    if first and state[KNOWN] == 0.0:
        invoke(E.f, E.f_c, state[TIME], p.y, p.K[0])
        state[KNOWN] = 1.0
        state[EVALUATIONS] += 1.0
    if last and state[NEW_KNOWN] == 0.0:
        invoke(E.f, E.f_c, state[END], p.new, p.K[rules.last])
        state[NEW_KNOWN] = 1.0
        state[EVALUATIONS] += 1.0


# Between the ends of a step ---------------------------------------------------------------------------


@kernel
def cubic(E, rules, p, x):
    """Hermite's cubic a fraction x into the step, into p.out; made to pass through the previous state if stored.

    y + x (d + (1 - x) ((1 - x) (h K_0 - d) - x (h K_last - d))),   d = y1 - y
    """
    know_slopes(E, rules, p, True, True)
    h = p.state[TAKE]
    bent = p.past_t.size > 0 and p.state[SINCE] > 0.0
    row, ago = 0, 0.0
    if bent:
        row = past_row(p, 1)
        ago = (p.past_t[row] - p.state[TIME]) / h
    for k in range(p.y.size):
        d = p.new[k] - p.y[k]
        a, b = h * p.K[0, k] - d, h * p.K[rules.last, k] - d
        value = p.y[k] + x * (d + (1.0 - x) * ((1.0 - x) * a - x * b))
        if bent:
            there = p.y[k] + ago * (d + (1.0 - ago) * ((1.0 - ago) * a - ago * b))
            value += (p.past_y[row, k] - there) * (x * (1.0 - x) / (ago * (1.0 - ago))) ** 2
        p.out[k] = value


@kernel
def state_between(E, rules, p, t):
    """The state at a time inside the step, into p.out; at a break before it, the state where it begins."""
    if t == p.state[END] or t <= p.state[TIME]:
        for j in range(p.y.size):
            p.out[j] = p.new[j] if t == p.state[END] else p.y[j]
    elif E.between != 0:
        if rules.looks_at_slopes == 1:
            know_slopes(E, rules, p, True, True)
        invoke(E.between, E.between_c, t, p.state, p.out)
    else:
        cubic(E, rules, p, (t - p.state[TIME]) / p.state[TAKE])


@kernel
def write_row(p, notes, k, rows):
    """[y, notes] into row k of a flat array of rows."""
    n = p.y.size
    start = k * (n + notes.size)
    for j in range(n):
        rows[start + j] = p.out[j]
    for j in range(notes.size):
        rows[start + n + j] = notes[j]


# Steps that are over ----------------------------------------------------------------------------------


@kernel
def store_step(p, row):
    """The present step, and the notes at its beginning."""
    size = p.memory.size
    for j in range(size):
        p.stored[row, j] = p.memory[j]
    for j in range(p.old_notes.size):
        p.stored[row, size + j] = p.old_notes[j]


@kernel
def recall_step(p, row):
    size = p.memory.size
    for j in range(size):
        p.memory[j] = p.stored[row, j]
    for j in range(p.old_notes.size):
        p.old_notes[j] = p.stored[row, size + j]
