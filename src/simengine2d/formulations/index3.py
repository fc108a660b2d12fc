"""Index 3: the constraints themselves, solved together with the discretized equations of motion.

Unknowns of a step are the accelerations and multipliers at its end; positions and velocities follow from them by
Newmark's formulas, dq = b dqdd and dqd = c dqdd. Newton's equations, with the constraints divided by b:

    [ M + b ((Phi_q^T lam)_q - QA_q) - c QA_qd   Phi_q^T ] [ d qdd ]     [ M qdd + Phi_q^T lam - QA ]
    [ Phi_q                                         0    ] [ d lam ] = - [ Phi / b                  ]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coordinates.reference_point.projection import bring_back
from ..model.formula import VELOCITY
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from ..numerics.ldl import eliminate, solve_again, substitute
from ..system.applied_forces import Loads
from ..system.constraints import SystemArrays, phi
from ..system.constraints import gamma as acceleration_side
from ..system.derivatives import newton_matrix
from ..system.equations_of_motion import EquationArrays, accelerate, evaluate_state
from ..system.workspace import Workspace
from .esdirk import Esdirk, esdirk_step, hold, smallest_multipliers
from .rank_watch import ALARMS
from .stage_iteration import StagedFormulation, stalled

Floats = NDArray[np.float64]

# entries of the state: time, counts, step to try next, and b of the factors that are kept (0: there are none)
TIME, STEPS, ITERATIONS, FACTORIZATIONS, HALVINGS, STEP, KEPT, BEGUN, ROW, WHY, HALVED = range(11)
# HALVED counts the steps that were halved; the times at which the first of them began follow
MOST_HALVED = 32
STATE_SIZE = 11 + MOST_HALVED

DONE, PAUSED, NOT_CONVERGED, NOT_A_NUMBER = range(4)
EXACT, MODIFIED, COURSE = range(3)

MOST_ITERATIONS = 12
ROUNDING = 2e-15
MOST_HALVINGS = 12
SLOW = 0.2  # reduction of an error at which modified Newton factors anew


@dataclass(frozen=True)
class Index3(StagedFormulation):
    """The constraints themselves beside the discretized equations of motion.

    M qdd + Phi_q^T lam = QA,      Phi(q, t) = 0

    Without an integrator, models of more than 60 coordinates are integrated by esdirk4: its stages solve the same
    equations with Phi_q qdd = gamma, and the constraints of positions and velocities hold at the ends of its steps.
    With `projection`, alpha methods bring velocities back onto Phi_q qd = nu after each step.
    """

    name: ClassVar[str] = "index3"
    projection: bool = False


class StepState(NamedTuple):
    """Where the integration stands, and its options."""

    q: Floats
    qd: Floats
    qdd: Floats
    lam: Floats
    a: Floats  # the weighted accelerations
    new: Floats  # (4, n): q, qd, qdd, a at the end of the step
    new_lam: Floats
    state: Floats
    scale: Floats
    method: Floats  # alpha_m, alpha_f, beta, gamma
    tolerance: Floats  # of Newton's iteration: relative, absolute; of the projection
    worst: Floats  # largest errors at the three levels at the outputs, filled on the way
    found: Floats  # what the projection found
    esdirk: Esdirk  # of steps with error control


class History(NamedTuple):
    """One row per output time."""

    Q: Floats
    Qd: Floats
    Qdd: Floats
    Lam: Floats


class Index3Loop(NamedTuple):
    """All that the loops work with."""

    S: SystemArrays
    L: Loads
    D: EquationArrays
    p: StepState
    history: History
    step: float  # the longest one
    newton: int
    rtol: float
    atol: Floats
    w: Workspace
    watch_f: Any  # the watch over the rank of the constraints; 0 where they never lose it
    watch_c: Any
    watched: Floats  # its state
    y: Floats  # (q, qd)


@kernel
def residual(S, L, t, q, qd, qdd, lam, b, c, w):
    """-(M qdd + Phi_q^T lam - QA) and -Phi / b into w.rest, with everything at the state evaluated.

    A row that holds a velocity asks for (Phi_q qd - nu) / c instead.
    """
    evaluate_state(S, L, t, q, qd, w)
    rest, data, start, column = w.rest, w.data, S.jac_start, S.jac_column
    n, m = q.size, lam.size
    for i in range(S.mass.size):
        rest[3 * i] = w.Q[3 * i] - S.mass[i] * qdd[3 * i]
        rest[3 * i + 1] = w.Q[3 * i + 1] - S.mass[i] * qdd[3 * i + 1]
        rest[3 * i + 2] = w.Q[3 * i + 2] - S.inertia[i] * qdd[3 * i + 2]
    phi(S, w, w.row)
    for i in range(m):
        rest[n + i] = -w.row[i] / b
        if S.formulas.level[i] == VELOCITY:
            rest[n + i] = w.f[i, 1] / c
        for p in range(start[i], start[i + 1]):
            rest[column[p]] -= data[p] * lam[i]
            if S.formulas.level[i] == VELOCITY:
                rest[n + i] -= data[p] * qd[column[p]] / c


@kernel(inline=True)
def predict(p, h, am, af, beta, gamma):
    """Positions and velocities at the end of the step from the accelerations tried there."""
    q, qd, qdd, a = p.new[0], p.new[1], p.new[2], p.new[3]
    for j in range(q.size):
        a[j] = ((1.0 - af) * qdd[j] + af * p.qdd[j] - am * p.a[j]) / (1.0 - am)
        q[j] = p.q[j] + h * p.qd[j] + h * h * ((0.5 - beta) * p.a[j] + beta * a[j])
        qd[j] = p.qd[j] + h * ((1.0 - gamma) * p.a[j] + gamma * a[j])


@kernel(inline=True)
def improve(S, L, D, p, t, kind, b, c, w):
    """Newton's correction into w.x; modified Newton uses the factors of an earlier matrix while they serve."""
    p.state[ITERATIONS] += 1.0
    if kind == MODIFIED and abs(p.state[KEPT] - b) < 1.0e-6 * b:
        solve_again(D.program, w.v, w.rest, w.x, w.work)
        return
    if kind == COURSE:
        b, c = 0.0, 0.0
    newton_matrix(S, L, D, t, p.new[0], p.new[1], p.new_lam, b, c, w)
    for k in range(w.rest.size):
        w.v[D.right[k]] = w.rest[k]
    eliminate(D.program, w.v)
    substitute(D.program, w.v, w.x, w.work)
    p.state[FACTORIZATIONS] += 1.0
    p.state[KEPT] = b


@kernel
def newton(S, L, D, p, t, h, kind, w):
    """Solve one step; the new state is in p.new and p.new_lam. Returns DONE or why not."""
    am, af, beta, gamma = p.method[0], p.method[1], p.method[2], p.method[3]
    share = (1.0 - af) / (1.0 - am)
    b, c = beta * h * h * share, gamma * h * share
    n, m = p.q.size, p.lam.size
    for j in range(n):
        p.new[2, j] = p.qdd[j]
    for i in range(m):
        p.new_lam[i] = p.lam[i]
    before = 1.0e300
    for iteration in range(MOST_ITERATIONS):
        predict(p, h, am, af, beta, gamma)
        residual(S, L, t, p.new[0], p.new[1], p.new[2], p.new_lam, b, c, w)
        improve(S, L, D, p, t, kind, b, c, w)
        size, largest, reach = 0.0, 0.0, 0.0
        for k in range(n + m):
            if not abs(w.x[k]) < 1.0e200:  # max(0, nan) would be 0
                p.state[KEPT] = 0.0
                return NOT_A_NUMBER
        for j in range(n):
            p.new[2, j] += w.x[j]
            size = max(size, abs(w.x[j]) / p.scale[j])
            largest = max(largest, abs(p.new[2, j]) / p.scale[j])
            reach = max(reach, abs(p.new[0, j]) / p.scale[j])
        for i in range(m):
            p.new_lam[i] += w.x[n + i]
        # positions carry rounding, and the constraints divided by b make accelerations of it
        rounding = ROUNDING * reach / b
        if size <= p.tolerance[0] * largest + p.tolerance[1] + rounding:
            predict(p, h, am, af, beta, gamma)
            return DONE
        if kind == EXACT and iteration > 1 and stalled(size, before, largest, rounding):
            predict(p, h, am, af, beta, gamma)
            return DONE
        if size > SLOW * before:
            p.state[KEPT] = 0.0
        if iteration > 3 and size > 2.0 * before:
            return NOT_CONVERGED
        before = size
    return NOT_CONVERGED


@kernel(inline=True)
def accept(p, t):
    p.state[TIME] = t
    p.state[STEPS] += 1.0
    for j in range(p.q.size):
        p.q[j], p.qd[j], p.qdd[j], p.a[j] = p.new[0, j], p.new[1, j], p.new[2, j], p.new[3, j]
    for i in range(p.lam.size):
        p.lam[i] = p.new_lam[i]


@kernel
def write_output(S, L, p, t, k, history, w):
    """The state as it stands, and what is left of the constraint equations at the three levels."""
    evaluate_state(S, L, t, p.q, p.qd, w)
    phi(S, w, w.row)
    for i in range(w.row.size):
        p.worst[0] = max(p.worst[0], abs(w.row[i]))
    acceleration_side(S, w, w.row)
    for i in range(w.row.size):
        rate, acceleration = -w.f[i, 1], -w.row[i]
        for e in range(S.jac_start[i], S.jac_start[i + 1]):
            rate += w.data[e] * p.qd[S.jac_column[e]]
            acceleration += w.data[e] * p.qdd[S.jac_column[e]]
        p.worst[1], p.worst[2] = max(p.worst[1], abs(rate)), max(p.worst[2], abs(acceleration))
        history.Lam[k, i] = p.lam[i]
    for j in range(p.q.size):
        history.Q[k, j], history.Qd[k, j], history.Qdd[k, j] = p.q[j], p.qd[j], p.qdd[j]


@kernel
def note_halving(state):
    """Remember when a step was halved."""
    count = int(state[HALVED])
    if count < MOST_HALVED:
        state[HALVED + 1 + count] = state[TIME]
    state[HALVED] += 1.0


@kernel(inline=True)
def take_step(S, L, D, p, t, kind, w):
    """One step to t, halved where even exact Newton does not converge. Returns DONE or why not."""
    halvings, first = 0, True
    while p.state[TIME] < t:
        h = (t - p.state[TIME]) * 0.5**halvings
        t_new = t if halvings == 0 else p.state[TIME] + h
        why = newton(S, L, D, p, t_new, h, kind, w)
        if why != DONE and kind != EXACT:
            why = newton(S, L, D, p, t_new, h, EXACT, w)
        if why == DONE:
            accept(p, t_new)
            halvings = max(0, halvings - 1)
            continue
        if first:
            note_halving(p.state)
            first = False
        halvings += 1
        p.state[HALVINGS] += 1.0
        if halvings > MOST_HALVINGS:
            return why
    if p.tolerance[2] < np.inf:
        bring_back(S, D, t, p.q, p.qd, p.tolerance[2], p.found, w)
        p.state[KEPT] = 0.0
    return DONE


@kernel
def lost_rank(c):
    """Look at the constraints behind a step; whether they may have lost rank in it."""
    if c.watch_f == 0:
        return False
    p, n = c.p, c.p.q.size
    for j in range(n):
        c.y[j], c.y[n + j] = p.q[j], p.qd[j]
    invoke(c.watch_f, c.watch_c, p.state[TIME], c.y, c.y)
    return c.watched[ALARMS] > 0.0


@kernel
def begin(S, L, D, p, w):
    """The first accelerations and multipliers."""
    n = p.q.size
    accelerate(S, L, D, p.state[TIME], p.q, p.qd, w)
    for j in range(n):
        p.qdd[j], p.a[j] = w.x[j], w.x[j]
    for i in range(p.lam.size):
        p.lam[i] = w.x[n + i]
    p.state[BEGUN] = 1.0


@kernel
def fixed_steps(c, times, most_steps):
    """Fill the rows of the history by steps that are equal in an output interval. Returns (next row, why it ended)."""
    S, L, D, p, history, w = c.S, c.L, c.D, c.p, c.history, c.w
    k, steps = int(p.state[ROW]), 0
    if p.state[BEGUN] == 0.0:
        begin(S, L, D, p, w)
    while k < times.size:
        remaining = times[k] - p.state[TIME]
        if remaining <= 0.0:
            write_output(S, L, p, times[k], k, history, w)
            k += 1
            continue
        if steps == most_steps:
            return k, PAUSED
        steps += 1
        count = max(1.0, np.ceil(remaining / c.step * (1.0 - 1.0e-9)))
        t = times[k] if count == 1.0 else p.state[TIME] + remaining / count
        why = take_step(S, L, D, p, t, c.newton, w)
        if why != DONE:
            return k, why
        if lost_rank(c):
            return k, PAUSED
    return k, DONE


@kernel
def controlled_steps(c, times, most_steps):
    """Fill the rows of the history by error-controlled steps that end at the outputs, of the method in `esdirk`.

    p.state[STEP] is the step to try next. Returns (next row, why it ended).
    """
    S, L, D, p, history, w = c.S, c.L, c.D, c.p, c.history, c.w
    k, steps = int(p.state[ROW]), 0
    if p.state[BEGUN] == 0.0:
        begin(S, L, D, p, w)
    while k < times.size:
        if times[k] <= p.state[TIME]:
            if D.refinements[0] > 0:
                smallest_multipliers(S, D, p, times[k], w)
            write_output(S, L, p, times[k], k, history, w)
            k += 1
            continue
        if steps == most_steps:
            return k, PAUSED
        steps += 1
        remaining = times[k] - p.state[TIME]
        h = min(p.state[STEP], remaining, c.step)
        if remaining - h < 0.1 * h and remaining <= c.step:
            h = remaining
        t_new = times[k] if h == remaining else p.state[TIME] + h
        if h < 1.0e-13 * max(abs(p.state[TIME]), abs(t_new)):
            return k, NOT_CONVERGED
        error = esdirk_step(S, L, D, p, t_new, h, c.rtol, c.atol, w)
        if not error <= 1.0:
            p.state[HALVINGS] += 1.0
            p.state[STEP] = h * max(0.2, 0.9 * min(error, 1.0e10) ** -0.25)
            continue
        accept(p, t_new)
        hold(S, D, p, t_new, w)
        grown = h * min(5.0, 0.9 * max(error, 1.0e-6) ** -0.25)
        p.state[STEP] = max(p.state[STEP], grown) if h == remaining and grown < p.state[STEP] else grown
        if lost_rank(c):
            return k, PAUSED
    return k, DONE


@kernel_pointer
def walk_fixed(c, most_steps, times, out):
    """Fixed steps; state[ROW] and state[WHY] tell where and why they ended."""
    c.p.state[ROW], c.p.state[WHY] = fixed_steps(c, times, int(most_steps))


@kernel_pointer
def walk_controlled(c, most_steps, times, out):
    """The same with error control."""
    c.p.state[ROW], c.p.state[WHY] = controlled_steps(c, times, int(most_steps))
