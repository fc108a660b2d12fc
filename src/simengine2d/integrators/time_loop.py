"""The loop of every integrator: steps, outputs between them, what is kept of the past.

How a step is tried is a kernel pointer, as the equations are, and so is the loop itself. It is compiled once, for all
methods and all equations.

A step that was found good waits until it is known whether outputs lie inside it: `state[TAKE]` is then its size, and
it leads from (t, y) to (t1, y1) with the slopes K_0 and K_last. Steps of adaptive methods do not depend on the
outputs; so a run that goes on later goes on as if it had never stopped.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from .step_control import first_step, longest_step, next_step, trial_step

Floats = NDArray[np.float64]

# entries of the state
TIME, END, TAKE, STEP, TRIED, ERROR, ESTIMATE, CONVERGED, KNOWN, NEW_KNOWN, DENSE, BEGUN = range(12)
STEPS, REJECTED, EVALUATIONS, JACOBIANS, FACTORIZATIONS, STIFF, LONGEST, ROW, WHY = range(12, 21)
# where steps must end next; steps since the last start, where that was and the size of equal steps from there on
LIMIT, SINCE, ORIGIN, SPACING = range(21, 25)
# whether the step has to end before a switch of the state, where, how near to it, and how often it was cut already;
# breaks passed so far
CUTTING, CUT, NEAR, CUTS, BREAKS = range(25, 30)
STATE_SIZE = 30
# why the loop ended
DONE, PAUSED, STEP_TOO_SMALL, TOO_STIFF, NO_CONVERGENCE, COLLAPSED, BLEW_UP, AT_LIMIT, JUMPS, CHATTERS = (
    range(10)
)
# how steps are chosen: equal ones between two outputs, equal ones all along, by their error
BETWEEN_OUTPUTS, EQUAL, ADAPTIVE = range(3)

STIFF_STEPS = 15  # in a row, beyond the limit of stability of the method
FINER = 0.25  # of a step whose iteration does not converge


class BoundEquations(NamedTuple):
    """Kernel pointers with their contexts; 0 where there is none."""

    f: Any  # y' = f(t, y)
    f_c: Any
    attempt: Any  # (t, state) -> the new state: one step of the size state[TRIED]
    attempt_c: Any
    between: Any  # (t, state) -> y(t) inside the step; a cubic where there is none
    between_c: Any
    finish: Any  # (t, y1) -> notes: may change the end of a step
    finish_c: Any


class Rules(NamedTuple):
    """What the loop has to know of a method."""

    kind: int
    order: int  # of the error estimate, plus one
    uses_slope: int  # whether a step begins with f(t, y)
    last: int  # row of K that is the slope at the end of the step
    stability: float  # largest h |lambda| of explicit methods where that is watched, else infinite
    step: float  # the size of fixed ones, the longest of others; 0 where there is no longest
    begin: float
    limit: float  # last time at which the equations have a value
    collapse: float  # of the longest step: refused steps below it end the loop; 0 where nobody asks
    careful: int  # whether steps are kept short, since functions may jump that nobody can look into


class Path(NamedTuple):
    """Where an integration stands, and the arrays it works in."""

    y: Floats
    new: Floats
    trial: Floats
    out: Floats
    K: Floats
    state: Floats
    rtol: Floats
    atol: Floats
    notes: Floats
    old_notes: Floats  # those of the beginning of the step
    past_t: Floats  # rings of the states and slopes before, as many as the method looks back
    past_y: Floats
    past_slopes: Floats
    memory: Floats  # all of these behind each other, but for the tolerances and notes


class TimeLoop(NamedTuple):
    """All that the loop works with."""

    E: BoundEquations
    rules: Rules
    p: Path


def new_path(y: Floats, rows: int, past: int, rtol: float, atol: Floats, notes: Floats) -> Path:
    n = y.size
    shapes = [(n,), (n,), (n,), (n,), (rows, n), (STATE_SIZE,), (past,), (past, n), (past, n)]
    ends = np.cumsum([prod(shape) for shape in shapes])
    memory = np.zeros(ends[-1])
    parts = [part.reshape(shape) for part, shape in zip(np.split(memory, ends[:-1]), shapes, strict=True)]
    first, new, trial, out, K, state, past_t, past_y, past_slopes = parts
    first[:] = y
    return Path(
        first, new, trial, out, K, state, np.array([rtol]), atol.copy(), notes, notes.copy(), past_t, past_y,
        past_slopes, memory,
    )  # fmt: skip


@kernel(inline=True)
def past_row(p, steps_ago):
    """Row of the rings that holds the state so many steps before y, from 1 on."""
    return (int(p.state[STEPS]) - steps_ago) % p.past_t.size


# Slopes -----------------------------------------------------------------------------------------------


@kernel
def know_slopes(E, rules, p, first, last):
    """f at the beginning and at the end of the step, where they are asked for and not known yet."""
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
    """Hermite's cubic a fraction x into the step, into p.out; bent to go through the state before, where it is kept.

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
    """The state at a time inside the step, into p.out; before it at a break that was passed, where it begins."""
    if t == p.state[END] or t <= p.state[TIME]:
        for j in range(p.y.size):
            p.out[j] = p.new[j] if t == p.state[END] else p.y[j]
    elif E.between != 0:
        know_slopes(E, rules, p, True, True)
        invoke(E.between, E.between_c, t, p.state, p.out)
    else:
        cubic(E, rules, p, (t - p.state[TIME]) / p.state[TAKE])


@kernel
def write_row(p, notes, k, rows):
    """[y, notes] into row k of those that stand behind each other."""
    n = p.y.size
    start = k * (n + notes.size)
    for j in range(n):
        rows[start + j] = p.out[j]
    for j in range(notes.size):
        rows[start + n + j] = notes[j]


@kernel
def write_outputs(E, rules, p, times, k, rows):
    """All outputs up to the end of the step that is to be taken; the next row to fill."""
    while k < times.size and times[k] <= p.state[END]:
        state_between(E, rules, p, times[k])
        write_row(p, p.notes if times[k] == p.state[END] else p.old_notes, k, rows)
        k += 1
    return k


# Steps ------------------------------------------------------------------------------------------------


@kernel
def take_step(rules, p):
    """The end of the step becomes the beginning of the next; the rings remember the beginning."""
    state = p.state
    if p.past_t.size > 0:
        row = past_row(p, 0)
        p.past_t[row] = state[TIME]
        for j in range(p.y.size):
            p.past_y[row, j], p.past_slopes[row, j] = p.y[j], p.K[0, j]
    for j in range(p.y.size):
        p.y[j], p.K[0, j] = p.new[j], p.K[rules.last, j]
    for j in range(p.notes.size):
        p.old_notes[j] = p.notes[j]
    state[TIME], state[KNOWN] = state[END], state[NEW_KNOWN]
    state[TAKE] = state[CUTS] = 0.0
    state[STEPS] += 1.0
    state[SINCE] += 1.0


@kernel
def choose_step(rules, p, output):
    """Size of the step that is tried next, and its end; outputs matter to steps of the kind BETWEEN_OUTPUTS alone."""
    t, h, end, limit = p.state[TIME], 0.0, 0.0, p.state[LIMIT]
    if rules.kind == BETWEEN_OUTPUTS:
        target = min(output, limit)
        count = max(1.0, np.ceil((target - t) / rules.step * (1.0 - 1.0e-9)))
        h = (target - t) / count
        end = target if count == 1.0 else t + h
    elif rules.kind == EQUAL:
        h = p.state[SPACING]
        end = p.state[ORIGIN] + (p.state[SINCE] + 1.0) * h
        if abs(end - limit) < 1.0e-6 * h:
            end = limit
    else:
        h = p.state[STEP]
        if rules.step > 0.0:
            h = min(h, rules.step)
        if rules.careful == 1:
            h = min(h, longest_step(t - rules.begin))
        h = (
            h if limit - t > 2.0 * h or limit - t <= h else 0.5 * (limit - t)
        )  # no sliver is left before a limit
        h = min(h, limit - t)
        end = limit if h == limit - t else t + h
    p.state[TRIED] = h
    return h, end


@kernel
def finish_step(E, p):
    """The step may be taken; where its end is changed, the slope there is not known any more."""
    state, changed = p.state, False
    if E.finish != 0:
        for j in range(p.y.size):
            p.out[j] = p.new[j]
        invoke(E.finish, E.finish_c, state[END], p.new, p.notes)
        for j in range(p.y.size):
            changed = changed or p.out[j] != p.new[j]
    if changed:
        state[NEW_KNOWN] = 0.0


@kernel
def stiffness(E, rules, p, h):
    """h |lambda| estimated from the last two slopes of an explicit method, both at the end of the step."""
    know_slopes(E, rules, p, False, True)
    top, bottom, s = 0.0, 0.0, rules.last
    for k in range(p.y.size):
        top += (p.K[s, k] - p.K[s - 1, k]) ** 2
        bottom += (p.new[k] - p.trial[k]) ** 2
    return h * np.sqrt(top / bottom) if bottom > 0.0 else 0.0


@kernel
def finite(values):
    for k in range(values.size):  # noqa: SIM110
        if not abs(values[k]) < np.inf:
            return False
    return True


@kernel
def refuse_step(rules, p, h, last_output):
    """The next try is shorter. Returns DONE, or COLLAPSED where somebody asks."""
    state = p.state
    state[REJECTED] += 1.0
    if state[CONVERGED] == 0.0:
        state[STEP] = FINER * h
    # functions may have no value behind the last output, which need not be passed
    remaining = last_output - state[TIME]
    if not state[ESTIMATE] < 1.0e10 and 0.0 < remaining < h:
        state[STEP] = remaining
    return COLLAPSED if h < rules.collapse * state[LONGEST] else DONE


@kernel
def try_step(E, rules, p, output, last_output):
    """One attempt; where it is good, it is left to be taken. Returns DONE, or why it is hopeless to go on."""
    state = p.state
    h, end = choose_step(rules, p, output)
    adaptive = rules.kind == ADAPTIVE
    if adaptive and not h >= 1.0e-14 * max(abs(state[TIME]), abs(last_output)):
        return STEP_TOO_SMALL if state[CONVERGED] == 1.0 else NO_CONVERGENCE
    if rules.uses_slope == 1:
        know_slopes(E, rules, p, True, False)
    state[CONVERGED], state[NEW_KNOWN], state[DENSE], state[ESTIMATE] = 1.0, 0.0, 0.0, 0.0
    invoke(E.attempt, E.attempt_c, state[TIME], state, p.new)
    if not adaptive and state[CONVERGED] == 0.0:
        return NO_CONVERGENCE
    if not adaptive and not finite(p.new):
        return BLEW_UP
    if adaptive:
        error = state[ESTIMATE] if state[CONVERGED] == 1.0 else np.inf
        wanted = state[STEP]
        state[STEP] = next_step(rules, h, error, state[ERROR])
        if not error <= 1.0 or not finite(p.new):
            return refuse_step(rules, p, h, last_output)
        state[ERROR] = error
        state[STEP] = max(state[STEP], wanted) if end == state[LIMIT] else state[STEP]
    state[TAKE], state[END], state[LONGEST] = h, end, max(state[LONGEST], h)
    finish_step(E, p)
    if rules.stability < np.inf:
        state[STIFF] = state[STIFF] + 1.0 if stiffness(E, rules, p, h) > rules.stability else 0.0
        if state[STIFF] > STIFF_STEPS:
            state[TAKE], state[END] = 0.0, state[TIME]
            return TOO_STIFF
    return DONE


@kernel
def guess_step(E, rules, p):
    """A first step, from the slopes at the start and a little later."""
    state = p.state
    know_slopes(E, rules, p, True, False)
    h = min(trial_step(p), state[LIMIT] - state[TIME])
    for k in range(p.y.size):
        p.trial[k] = p.y[k] + h * p.K[0, k]
    invoke(E.f, E.f_c, state[TIME] + h, p.trial, p.out)
    state[EVALUATIONS] += 1.0
    state[STEP] = first_step(p, h, p.out, max(2, rules.order))


@kernel
def begin(E, rules, p, times, k, rows):
    """A first step, and row k where it is due at the start; the next row to fill."""
    state = p.state
    state[BEGUN] = 1.0
    if rules.kind == ADAPTIVE and state[STEP] == 0.0:
        guess_step(E, rules, p)
    if k == times.size or times[k] > state[TIME]:
        return k
    for j in range(p.y.size):
        p.out[j] = p.y[j]
    write_row(p, p.notes, k, rows)
    return k + 1


# Kernel pointers ------------------------------------------------------------------------------------------------


@kernel_pointer
def integrate(c, most_steps, times, rows):
    """Fill the rows from row state[ROW] on; state[ROW] and state[WHY] then tell where and why it ended."""
    E, rules, p = c.E, c.rules, c.p
    k, why = int(p.state[ROW]), PAUSED
    if p.state[BEGUN] == 0.0:
        k = begin(E, rules, p, times, k, rows)
    for _ in range(int(most_steps)):
        if p.state[TAKE] > 0.0:
            k = write_outputs(E, rules, p, times, k, rows)
            if k < times.size:
                take_step(rules, p)
                if p.state[TIME] >= p.state[LIMIT]:
                    why = AT_LIMIT
                    break
        why = DONE if k == times.size else try_step(E, rules, p, times[k], times[times.size - 1])
        if k == times.size or why != DONE:
            break
        why = PAUSED
    p.state[ROW], p.state[WHY] = k, why


@kernel_pointer
def look_into_step(c, t, state, out):
    """The state at a time inside the step, for Python; `out` is that of the path."""
    state_between(c.E, c.rules, c.p, t)
