"""The time loop of every integrator: steps, and outputs between them.

How a step is tried is a kernel pointer, like the equations and the loop itself. It is compiled once, for all methods
and all equations. Steps of adaptive methods do not depend on the outputs; so a run that is resumed later continues as
if it had never stopped.
"""

from __future__ import annotations

import numpy as np

from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from .loop_state import (
    ADAPTIVE,
    ALARMED,
    AT_LIMIT,
    BEGUN,
    BETWEEN_OUTPUTS,
    BLEW_UP,
    CALM,
    COLLAPSED,
    CONVERGED,
    CUTS,
    DENSE,
    DONE,
    END,
    EQUAL,
    ERROR,
    ESTIMATE,
    EVALUATIONS,
    FINER,
    GRID,
    KNOWN,
    LIMIT,
    LONGEST,
    NEW_KNOWN,
    NO_CONVERGENCE,
    ORIGIN,
    PAUSED,
    REJECTED,
    ROW,
    SINCE,
    SPACING,
    STEP,
    STEP_TOO_SMALL,
    STEPS,
    STIFF,
    STORED,
    TAKE,
    TIME,
    TOO_STIFF,
    TRIED,
    WAITS,
    WHY,
    know_slopes,
    past_row,
    recall_step,
    state_between,
    store_step,
    write_row,
)
from .step_control import finite, first_step, longest_step, next_step, trial_step

SLIVER = 1e-9  # of a fixed step
STIFF_STEPS = 15  # beyond the stability limit of the method
CALM_STEPS = 6  # in a row that are not, after which those are counted again
SHORTENED = 0.5  # of a step whose iteration does not converge
MOST_HALVINGS = 40  # of the spacing of outputs
CLOSEST = 1e-6  # to the end, relative to their spacing: outputs

# Outputs ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def is_complete(times, k):
    """Whether the first k outputs are all. Where times follow the steps, the array is longer, filled with the end."""
    return k == times.size or (k > 0 and times[k - 1] == times[times.size - 1])


@kernel(inline=True)
def multiple_after(spacing, t, end):
    """The next multiple of the spacing, or the end."""
    number = np.floor(t / spacing) + 1.0
    later = number * spacing
    if later <= t:  # t / spacing was rounded
        later = (number + 1.0) * spacing
    return end if later > end - CLOSEST * spacing else later


@kernel
def output_ahead(p, times, k):
    """The time of output k as far as it does not depend on steps."""
    if p.state[GRID] == 0.0 or k == 0 or k == times.size - 1:
        return times[k]
    return multiple_after(p.state[GRID], times[k - 1], times[times.size - 1])


@kernel
def output_inside(rules, p, times, k):
    """The time of output k, where it lies inside the accepted step; else any after it.

    Outputs that follow the steps are multiples of a half, a quarter, ... of their spacing: at least one for each step,
    about two for the long steps of high order.
    """
    state, last = p.state, times.size - 1
    if state[GRID] == 0.0 or k == 0 or k == last:
        return times[k]
    spacing, longest = state[GRID], state[TAKE] * (0.75 if rules.order > 5 else 1.0)
    if state[FINER] == 1.0:
        for _ in range(MOST_HALVINGS):
            if spacing <= longest:
                break
            spacing *= 0.5
    return multiple_after(spacing, max(times[k - 1], state[TIME]), times[last])


@kernel
def write_outputs(E, rules, p, times, k, rows):
    """All outputs up to the end of the accepted step; returns the next row to fill."""
    while not is_complete(times, k):
        t = output_inside(rules, p, times, k)
        if t > p.state[END]:
            break
        times[k] = t
        if p.state[WAITS] == 0.0:
            state_between(E, rules, p, t)
            inside = p.old_notes if t <= p.state[TIME] else p.inside
            write_row(p, p.notes if t == p.state[END] else inside, k, rows)
        k += 1
    return k


# Steps that are over ----------------------------------------------------------------------------------


@kernel_pointer
def look_back(c, unused, times, rows):
    """Rows [y, notes] at increasing times inside the steps that are stored, or inside the present one."""
    E, rules, p = c.E, c.rules, c.p
    count, present = int(p.state[STORED]) - 1, p.stored.shape[0] - 1
    end = (4 + p.K.shape[0]) * p.y.size + END  # where in the memory
    store_step(p, present)
    step = -1
    for k in range(times.size):
        wanted = max(step, 0)
        while wanted < count and p.stored[wanted, end] <= times[k]:
            wanted += 1
        if wanted != step:
            recall_step(p, present if wanted == count else wanted)
            step = wanted
        state_between(E, rules, p, times[k])
        write_row(p, p.inside, k, rows)
    recall_step(p, present)


# Steps ------------------------------------------------------------------------------------------------


@kernel
def take_step(rules, p):
    """The end of the step becomes the beginning of the next; its beginning goes into the rings."""
    state = p.state
    if 0.0 < state[STORED] < p.stored.shape[0]:
        store_step(p, int(state[STORED]) - 1)
        state[STORED] += 1.0
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
    """Size and end of the next step to try; some kinds of steps end at the next output."""
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
        h = without_sliver(h, limit - t)
        end = limit if h == limit - t else t + h
    p.state[TRIED] = h
    return h, end


@kernel
def without_sliver(h, rest):
    """A step of about h that leaves no sliver of what remains."""
    return min(h if rest > 2.0 * h or rest <= h else 0.5 * rest, rest)


@kernel
def finish_step(E, p):
    """Called for an accepted step; if that changes its end, the slope there is no longer known."""
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
def is_stiff(E, rules, p, h):
    """Whether many steps were as long as stability allows. Step control lets some of them be shorter.

    Hairer, Norsett & Wanner, Solving Ordinary Differential Equations II, section IV.2.
    """
    state = p.state
    if stiffness(E, rules, p, h) > rules.stability:
        state[STIFF] += 1.0
        state[CALM] = 0.0
    else:
        state[CALM] += 1.0
        if state[CALM] >= CALM_STEPS:
            state[STIFF] = 0.0
    return state[STIFF] > STIFF_STEPS


@kernel
def refuse_step(rules, p, h, last_output):
    """Shorten the next attempt. Returns DONE, or COLLAPSED if that is watched."""
    state = p.state
    state[REJECTED] += 1.0
    if state[CONVERGED] == 0.0:
        state[STEP] = SHORTENED * h
    # time functions may be undefined after the last output
    remaining = last_output - state[TIME]
    if not state[ESTIMATE] < 1.0e10 and 0.0 < remaining < h:
        state[STEP] = remaining
    return COLLAPSED if h < rules.collapse * state[LONGEST] else DONE


@kernel
def try_step(E, rules, p, output, last_output):
    """One attempt; an accepted step is left to be taken. Returns DONE, or why the loop cannot continue."""
    state = p.state
    # the size of the step
    h, end = choose_step(rules, p, output)
    adaptive = rules.kind == ADAPTIVE
    if adaptive and not h >= 1.0e-14 * max(abs(state[TIME]), abs(last_output)):
        return STEP_TOO_SMALL if state[CONVERGED] == 1.0 else NO_CONVERGENCE
    if rules.uses_slope == 1:
        know_slopes(E, rules, p, True, False)
    # the step itself
    state[CONVERGED], state[NEW_KNOWN], state[DENSE], state[ESTIMATE] = 1.0, 0.0, 0.0, 0.0
    invoke(E.attempt, E.attempt_c, state[TIME], state, p.new)
    # without error control: only failures are rejected
    if not adaptive and state[CONVERGED] == 0.0:
        return NO_CONVERGENCE
    if not adaptive and not finite(p.new):
        return BLEW_UP
    # with error control: the error decides, and gives the size of the next step
    if adaptive:
        error = state[ESTIMATE] if state[CONVERGED] == 1.0 else np.inf
        wanted = state[STEP]
        state[STEP] = next_step(rules, h, error, state[ERROR])
        if not error <= 1.0 or not finite(p.new):
            return refuse_step(rules, p, h, last_output)
        state[ERROR] = error
        if h <= state[STEP] <= rules.keeps * h:
            state[STEP] = h
        state[STEP] = max(state[STEP], wanted) if end == state[LIMIT] else state[STEP]
    # the step is accepted
    state[TAKE], state[END], state[LONGEST] = h, end, max(state[LONGEST], h)
    finish_step(E, p)
    if rules.stability < np.inf and is_stiff(E, rules, p, h):
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
def begin(E, rules, p):
    """The size of a first step."""
    p.state[BEGUN] = 1.0
    if rules.kind == ADAPTIVE and p.state[STEP] == 0.0:
        guess_step(E, rules, p)


@kernel
def write_due(rules, p, times, k, rows):
    """Outputs that are due before any step: at the start, and where a break was left a little later.

    Fixed steps would otherwise end in slivers, too short for methods that divide by their square.
    """
    due = p.state[TIME] + (SLIVER * rules.step if rules.kind == BETWEEN_OUTPUTS else 0.0)
    while p.state[TAKE] == 0.0 and not is_complete(times, k):
        t = output_ahead(p, times, k)
        if t > due:
            break
        times[k] = t
        for j in range(p.y.size):
            p.out[j] = p.y[j]
        write_row(p, p.notes, k, rows)
        k += 1
    return k


# Kernel pointers ------------------------------------------------------------------------------------------------


@kernel_pointer
def integrate(c, most_steps, times, rows):
    """Fill the rows from row state[ROW] on; state[ROW] and state[WHY] then say where and why it ended.

    Where outputs follow the steps, their times are written too.
    """
    E, rules, p = c.E, c.rules, c.p
    k, why = int(p.state[ROW]), PAUSED
    if p.state[BEGUN] == 0.0:
        begin(E, rules, p)
    k = write_due(rules, p, times, k, rows)
    for _ in range(int(most_steps)):
        # take the accepted step once the outputs inside it are written
        if p.state[TAKE] > 0.0:
            k = write_outputs(E, rules, p, times, k, rows)
            if not is_complete(times, k):
                take_step(rules, p)
                k = write_due(rules, p, times, k, rows)
                if p.state[TIME] >= p.state[LIMIT]:
                    why = AT_LIMIT
                    break
        # try the next one
        if is_complete(times, k):
            why = DONE
            break
        why = try_step(E, rules, p, output_ahead(p, times, k), times[times.size - 1])
        if why == DONE and p.alarm[0] == 1.0:
            p.alarm[0], why = 0.0, ALARMED
        if why != DONE:
            break
        why = PAUSED
    p.state[ROW], p.state[WHY] = k, why


@kernel_pointer
def look_into_step(c, t, state, out):
    """The state at a time inside the step, for Python; `out` is that of the path."""
    state_between(c.E, c.rules, c.p, t)
