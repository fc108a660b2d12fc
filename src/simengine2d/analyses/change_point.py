"""Change points: instants at which two branches of the motion meet, passed on the smooth one.

The walk stops a hair before the singular instant. From clean states on this side a polynomial reaches over it;
if Newton finds a closed pose there with nearly the same velocity, that pose is the smooth continuation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..sparse_lu import analyze
from .march import DETERMINANT, DONE, march, new_motion, new_walker, position, rates

if TYPE_CHECKING:
    from .walk import Walk

Floats = NDArray[np.float64]

# half widths to try, relative to the time one radian or one length takes: the wider, the cleaner both states;
# the interpolation error of the sixth order stays below rounding
REACHES = (4e-3, 1e-3, 1e-4, 1e-5)


class State(NamedTuple):
    t: float
    q: Floats
    qd: Floats
    qdd: Floats


class Crossing(NamedTuple):
    """A singular instant t, and clean states before and behind it."""

    t: float
    before: State
    after: State

    def at(self, t: float) -> tuple[Floats, Floats, Floats]:
        """Quintic between the two states: matches position, velocity and acceleration at both."""
        from numpy.polynomial import polynomial

        h = self.after.t - self.before.t
        coefficients = _quintic(self.before, self.after, h)
        s = (t - self.before.t) / h
        q, qd, qdd = (
            np.asarray(polynomial.polyval(s, polynomial.polyder(coefficients, order)) / h**order)
            for order in range(3)
        )
        return q, qd, qdd


def _quintic(a: State, b: State, h: float) -> Floats:
    """Coefficients in s = (t - t_a) / h, one column per coordinate."""
    c0, c1, c2 = a.q, h * a.qd, 0.5 * h * h * a.qdd
    d0 = b.q - c0 - c1 - c2
    d1 = h * b.qd - c1 - 2 * c2
    d2 = h * h * b.qdd - 2 * c2
    return np.array([c0, c1, c2, 10 * d0 - 4 * d1 + d2 / 2, -15 * d0 + 7 * d1 - d2, 6 * d0 - 3 * d1 + d2 / 2])


def cross(walk: Walk) -> Crossing | None:
    """The smooth continuation behind the singular instant at which the walk is stuck, or None."""
    t = walk.t
    for reach in REACHES:
        last = walk.done - 1
        if last < 0:
            return None
        speed = float(np.max(np.abs(walk.motion.Qd[last] / walk.scale))) / walk.system.length
        width = reach / speed if speed > 0.0 else reach
        while last > 0 and walk.times[last] > t - 3 * width:  # outputs inside the crossing are not clean
            last -= 1
        early, late = _state_at(walk, last, t - 2 * width), _state_at(walk, last, t - width)
        if early is None or late is None:
            continue
        after = _beyond(walk, early, late, width)
        if after is not None:
            return Crossing(t, late, after)
    return None


def _state_at(walk: Walk, last: int, t: float) -> State | None:
    """March anew from output `last` to t."""
    start = float(walk.times[last])
    if t <= start:
        return None
    arrays, n = walk.system.arrays, walk.system.n
    w = new_walker(arrays, walk.pattern, start, walk.motion.Q[last], walk.scale, walk.system.length)
    w.state[DETERMINANT] = walk.walker.state[DETERMINANT]
    _, why = march(arrays, walk.pattern, w, np.array([t]), 0, 1, new_motion(1, n), walk.smallest_step, 1)
    return State(t, w.q, w.qd, w.qdd) if why == DONE else None


def _beyond(walk: Walk, early: State, late: State, width: float) -> State | None:
    """The pose `width` behind the singular instant, where the polynomial through this side leads to one."""
    system, h = walk.system, 2 * width
    t = late.t + h
    jerk = (late.qdd - early.qdd) / width
    predicted = late.q + h * (late.qd + h * (late.qdd / 2 + h / 6 * jerk))
    expected = late.qd + h * (late.qdd + h / 2 * jerk)
    arrays = system.arrays
    data = system.Phi_q_data(predicted, t)
    pattern = analyze(walk.rows, arrays.jac_start, arrays.jac_column, data, walk.scale)
    if pattern is None:
        return None
    w = new_walker(arrays, pattern, t, predicted, walk.scale, system.length)
    w.f[:] = system.functions_at(t)
    if not position(arrays, pattern, w, t, w.q)[0]:
        return None
    pivot = rates(arrays, pattern, w, t, w.q, w.qd, w.qdd)[0]
    travel = np.max(np.abs(w.q - late.q) / walk.scale)
    miss = np.max(np.abs(w.q - predicted) / walk.scale)
    turn = np.max(np.abs(w.qd - expected) / walk.scale)
    smooth = miss <= 0.02 * travel and turn <= 0.02 * np.max(np.abs(expected) / walk.scale)
    return State(t, w.q, w.qd, w.qdd) if smooth and pivot > 0.0 else None
