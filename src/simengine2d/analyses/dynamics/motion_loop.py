"""A motion from its start to its outputs in compiled code, by a prepared stepper.

The state of the stepper is set back, and the same kernels are called in the same order as by `Run`. Where a run would
have to think (a suspicion of a singular pose, a stiff motion, more steps than are stored, an output that is not
finite), the answer is marked, and a `Run` has to compute it. The numbers of variants are written into the arrays of the
stepper, one variant after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...coordinates.equations import OutputMonitors
from ...coordinates.relative.tree_motion import INERTIA, MASS
from ...formulations import rank_watch
from ...integrators.loop_state import (
    DONE,
    END,
    EVALUATIONS,
    FINER,
    GRID,
    LIMIT,
    REJECTED,
    ROW,
    STEPS,
    STORED,
    TAKE,
    TIME,
    WAITS,
    WHY,
    Path,
)
from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from ...system.renumbering import copied
from ..singular_poses import SOON
from .outputs import look_for_peaks

# entries of an answer before the motion, which is all times, then all q, all qd, all qdd and all lam: whether it is
# complete; number of outputs
COMPLETE, OUTPUTS = range(2)
# steps, rejected steps and evaluations; violations of positions and velocities after steps; then the monitors
TAKEN, REFUSED, EVALUATED, VIOLATIONS, MONITORS = 2, 3, 4, 5, 7
HEAD = 16
# entries of `limits`, which are also sizes
BEGIN, LAST, IN_STEPS, TIGHT, SPACING, MOST_STEPS, OF_FORCES, COORDINATES, MULTIPLIERS, PEAKS = range(10)
# entries of `calls`
INTEGRATE, LOOK_BACK, LOOP, FINISH, FINISH_CONTEXT, RECOVER, RECOVER_CONTEXT, WATCH, WATCH_CONTEXT = range(9)
WAITING, WAITING_CONTEXT = 9, 10


class MotionNumbers(NamedTuple):
    """Where the numbers of a variant are written; see `numbers_for_dynamics`."""

    mass: Floats
    inertia: Floats
    gravity: Floats
    load_weight: Floats
    laws: Floats
    masses: Floats  # of each coordinate
    shares: Floats
    atol: Floats
    first: Floats  # (z, zd) at the start
    # and again, from these
    weight: Floats  # gravity of the recursion
    constant: Floats  # of each body in the tree
    body: Ints
    template: Floats
    diagonal: Ints


class OutputRoom(NamedTuple):
    """Arrays for the outputs of one motion."""

    times: Floats
    rows: Floats  # [y, notes] of each, and times
    finer: Floats  # times beside peaks, and scratch
    motion: Floats  # where outputs follow the steps: the motion at these times
    more: Floats  # and at those beside peaks
    starts: Ints
    largest: Floats
    squares: Floats
    y: Floats
    nothing: Floats


class PreparedMotion(NamedTuple):
    """The context of one motion."""

    p: Path
    monitors: OutputMonitors
    tolerance: Floats
    watch: Floats  # state of the watch over the rank
    first: Floats  # (z, zd) at the start
    limits: Floats
    r: OutputRoom
    asked: Floats  # times; where they follow the steps, the first and the last
    calls: Ints


class MotionVariants(NamedTuple):
    """The context of many of them."""

    N: MotionNumbers
    motion_f: Any
    motion_c: Any


# Kernels ----------------------------------------------------------------------------------------------


@kernel(inline=True)
def take_numbers(N, numbers, at):
    """The numbers of a variant, and what follows from them."""
    at = copied(numbers, at, N.mass)
    at = copied(numbers, at, N.inertia)
    copied(numbers, at, N.weight)
    at = copied(numbers, at, N.gravity)
    at = copied(numbers, at, N.load_weight)
    at = copied(numbers, at, N.laws)
    at = copied(numbers, at, N.masses)
    at = copied(numbers, at, N.shares)
    at = copied(numbers, at, N.atol)
    at = copied(numbers, at, N.first)
    for k in range(N.body.size):
        N.constant[k, MASS], N.constant[k, INERTIA] = N.mass[N.body[k]], N.inertia[N.body[k]]
    for j in range(N.masses.size):
        N.template[N.diagonal[j]] = N.masses[j]
    return at


@kernel(inline=True)
def set_back(c):
    """The stepper as `OdeStepper.begin` has it: the first state is treated as the end of a step."""
    p, m, y = c.p, c.monitors, c.r.y
    for k in range(p.memory.size):
        p.memory[k] = 0.0
    p.state[TIME] = p.state[END] = c.limits[BEGIN]
    p.state[LIMIT], p.state[GRID] = c.limits[LAST], c.limits[SPACING]
    p.state[FINER] = 1.0 if c.limits[SPACING] > 0.0 else 0.0
    p.state[STORED] = 1.0 if c.limits[SPACING] > 0.0 or c.calls[WAITING] != 0 else 0.0
    for k in range(p.notes.size):
        p.notes[k] = 0.0
    for k in range(2):
        m.singular_at[k], m.lost[k], m.changed[k] = np.nan, 0.0, 0.0
    for k in range(3):
        m.errors[k] = 0.0
    for k in range(c.watch.size):
        c.watch[k] = 0.0
    p.alarm[0] = 0.0
    c.tolerance[0] = c.limits[IN_STEPS]
    for k in range(y.size):
        y[k] = c.first[k]
    invoke(c.calls[FINISH], c.calls[FINISH_CONTEXT], c.limits[BEGIN], y, p.notes)
    p.notes[0] = p.notes[1] = 0.0
    for k in range(y.size):
        p.y[k] = y[k]
    for k in range(p.notes.size):
        p.old_notes[k] = p.notes[k]


@kernel
def integrated(c):
    """All steps, and the rows at the outputs. Returns their number, 0 if something happened on the way.

    Rows may wait until all steps are over, to have the stages that outputs need computed side by side.
    """
    r, p, last = c.r, c.p, c.asked.size - 1
    for k in range(r.times.size):
        r.times[k] = c.asked[min(k, last)]
    waits = c.calls[WAITING] != 0
    p.state[ROW], p.state[WAITS] = 0.0, 1.0 if waits else 0.0
    invoke(c.calls[INTEGRATE], c.calls[LOOP], c.limits[MOST_STEPS], r.times, r.rows)
    p.state[WAITS], count = 0.0, int(p.state[ROW])
    if p.state[WHY] != DONE:
        return 0
    if waits:
        invoke(c.calls[WAITING], c.calls[WAITING_CONTEXT], 0.0, r.times[:count], r.rows)
    return count


@kernel
def recovered(c, times, count, out):
    """The motion of the bodies at the rows; False if it is not finite."""
    rows, wide = c.r.rows, c.p.y.size + c.p.notes.size
    for k in range(count):
        rows[count * wide + k] = times[k]
    c.tolerance[0] = c.limits[TIGHT]
    invoke(c.calls[RECOVER], c.calls[RECOVER_CONTEXT], 0.0, rows[: count * (1 + wide)], out)
    c.tolerance[0] = c.limits[IN_STEPS]
    finite = True
    for k in range(out.size):
        finite &= abs(out[k]) < np.inf
    return finite


@kernel
def suspicious(c):
    """Whether the constraints may have lost rank on the way to the end of the last step."""
    p, watch = c.p, c.watch
    if watch.size == 0:
        return False
    watch[rank_watch.SHORTEST] = SOON
    end = p.new if p.state[TAKE] > 0.0 else p.y
    invoke(c.calls[WATCH], c.calls[WATCH_CONTEXT], p.state[END], end, c.r.nothing)
    return watch[rank_watch.ALARMS] > 0.0


@kernel
def times_beside_peaks(c, motion, count, n):
    """How many there are; they are in `finer`. They are those of forces, or of accelerations if there are no joints."""
    r, width = c.r, c.r.starts[c.r.starts.size - 1]
    first = (3 if c.limits[OF_FORCES] == 1.0 else 2) * count * n
    for j in range(r.largest.size):
        r.largest[j] = 0.0
    scratch = r.finer[4 * count : 6 * count]
    values, squares = motion[first : first + count * width], r.squares[:count]
    return look_for_peaks(
        r.times[:count], values, r.starts, c.limits[PEAKS], r.largest, squares, scratch, r.finer[: 4 * count]
    )


@kernel(inline=True)
def tell(c, answer):
    """What is known of the steps and outputs."""
    p, m = c.p, c.monitors
    answer[TAKEN] = p.state[STEPS] + (1.0 if p.state[TAKE] > 0.0 else 0.0)
    answer[REFUSED], answer[EVALUATED] = p.state[REJECTED], p.state[EVALUATIONS]
    for k in range(2):
        answer[VIOLATIONS + k] = p.notes[k]
        answer[MONITORS + 3 + k] = m.singular_at[k]
        answer[MONITORS + 5 + k], answer[MONITORS + 7 + k] = m.lost[k], m.changed[k]
    for k in range(3):
        answer[MONITORS + k] = m.errors[k]


@kernel
def moved(c, answer, room, n, wide):
    """A motion into an answer: its outputs, with those beside peaks; False if `dynamics` has to compute it."""
    count = integrated(c)
    if count == 0 or count > room:
        return False
    if c.limits[SPACING] > 0.0:
        return moved_along(c, answer, room, count, n, wide)
    for k in range(count):
        answer[HEAD + k] = c.r.times[k]
    answer[OUTPUTS], first = count, HEAD + count
    return recovered(c, c.r.times, count, answer[first : first + count * wide]) and not suspicious(c)


@kernel
def moved_along(c, answer, room, count, n, wide):
    """The same where outputs follow the steps: those beside peaks are computed when the others are known."""
    there = HEAD + count
    motion = answer[there : there + count * wide]
    if not recovered(c, c.r.times, count, motion) or suspicious(c):
        return False
    beside = times_beside_peaks(c, motion, count, n)
    if count + beside > room:
        return False
    answer[OUTPUTS] = count + beside
    if beside == 0:
        for k in range(count):
            answer[HEAD + k] = c.r.times[k]
        return True
    first, finer, more = c.r.motion[: motion.size], c.r.finer[:beside], c.r.more[: beside * wide]
    for k in range(motion.size):
        first[k] = motion[k]
    invoke(c.calls[LOOK_BACK], c.calls[LOOP], 0.0, finer, c.r.rows)
    if not recovered(c, finer, beside, more):
        return False
    merge(c, answer, first, count, finer, more, beside, n)
    return True


@kernel
def merge(c, answer, motion, count, finer, more, beside, n):
    """The outputs that follow the steps and those beside peaks, in the order of time."""
    i = j = 0
    for k in range(count + beside):
        if j == beside or (i < count and c.r.times[i] < finer[j]):
            put(answer, k, count + beside, c.r.times, motion, i, count, n)
            i += 1
        else:
            put(answer, k, count + beside, finer, more, j, beside, n)
            j += 1


@kernel(inline=True)
def put(answer, k, outputs, times, motion, i, count, n):
    """Row i of a motion with so many rows becomes output k of the answer."""
    answer[HEAD + k] = times[i]
    there, here, width = HEAD + outputs, 0, n
    for part in range(4):
        if part == 3:
            width = motion.size // count - 3 * n
        for column in range(width):
            answer[there + k * width + column] = motion[here + i * width + column]
        there, here = there + outputs * width, here + count * width


@kernel_pointer
def run_motion(c, unused, given, answer):
    """The motion from its start."""
    n, m = int(c.limits[COORDINATES]), int(c.limits[MULTIPLIERS])
    wide = 3 * n + m
    room = (answer.size - HEAD) // (1 + wide)
    set_back(c)
    answer[COMPLETE] = 1.0 if moved(c, answer, room, n, wide) else 0.0
    tell(c, answer)


@kernel_pointer
def run_motions(v, each, numbers, answers):
    """The motion of each variant; an answer has `each` numbers."""
    size, at = int(each), 0
    for k in range(answers.size // size):
        at = take_numbers(v.N, numbers, at)
        answer = answers[k * size : (k + 1) * size]
        invoke(v.motion_f, v.motion_c, 0.0, answer, answer)
