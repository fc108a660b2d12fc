"""After a step of Radau IIA, and inside it.

The end of a step is brought onto the constraints by the smallest change in the metric of Newton's matrix, which a stiff
spring resists. An output inside is one more stage, at a fraction x of the step, which integrates cubics exactly:

    v = qd + h (sum_j w_j a_j + gamma a),      sum_j w_j x_j^p + gamma x^p = x^(p + 1) / (p + 1),   p = 0 ... 3

Its accelerations and forces balance, so that a stiff spring has the length that its force asks for. If positions were
interpolated, it would be as wrong as these, times its stiffness.
"""

from __future__ import annotations

import numpy as np

from ..coordinates.equations import LARGEST_CORRECTION
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from . import loop_state
from .radau_step import LEFT, correct_beside, enough_of, forgotten, lagrange, place_stages, set_size

MOST_CORRECTIONS = 4
ROUNDING = 1e-16
SURELY = 10.0  # by which a prediction must be better than what is asked for
CLOSED = 1e-14  # of the length of the mechanism, to which constraints are held as far as rounding allows
NEARLY, CLOSELY = 1e-5, 1e-8  # of the tolerance, to which they are held at the ends of steps and at outputs


@kernel
def largest_of(k, gaps):
    """What is left of the constraints, as a length of the mechanism."""
    found = 0.0
    for i in range(k.per_row.size):
        found = max(found, abs(gaps[i]) * k.per_row[i])
    return found


@kernel
def move_back(k, values, change, violation):
    """values += change, unless that is out of proportion, as in a singular pose."""
    size = 0.0
    for j in range(values.size):
        size = max(size, abs(change[j]) * k.per_coordinate[j])
    if size <= LARGEST_CORRECTION * violation:
        for j in range(values.size):
            values[j] += change[j]


@kernel
def hold_constraints(k, t, y, goal):
    """Bring q and qd onto the constraints by the factors of the step, until neither comes closer.

    Rates change with the pose too: they may close one correction later.
    """
    one, n, earlier, earlier_rate = k.one, k.rates.shape[1], np.inf, np.inf
    one.t[0] = t
    for _ in range(2 * MOST_CORRECTIONS if k.per_row.size > 0 else 0):
        for j in range(n):
            one.z[0, j], one.zd[0, j] = y[j], y[n + j]
        invoke(k.look_f, k.look_c, t, one.state, one.state)
        gap, rate = largest_of(k, one.gap[0]), largest_of(k, one.rate[0])
        if (gap <= goal or gap > 0.5 * earlier) and (rate <= goal or rate > 0.5 * earlier_rate):
            break
        invoke(k.back_f, k.back_c, t, one.state, one.state)
        move_back(k, y[:n], one.da[0], gap)
        move_back(k, y[n:], one.de[0], rate)
        share = max(gap / earlier, rate / earlier_rate)
        if share > 0.0 and SURELY * share * max(gap, rate) <= goal:  # as it goes on
            break
        earlier, earlier_rate = max(gap, ROUNDING), max(rate, ROUNDING)


@kernel_pointer
def hold(k, t, y, out):
    """Errors here do not add up; those of outputs are brought back once more."""
    hold_constraints(k, t, y, max(CLOSED, NEARLY * k.rtol[0]) * k.length)


@kernel
def weight_of_slope(T, x, i):
    """w_i of an output a fraction x into the step."""
    weight, power = 0.0, 1.0  # x^p
    for p in range(T.nodes.size):
        weight += T.moments[i, p] * power * (x / (p + 1) - T.gamma)
        power *= x
    return weight


@kernel
def place_output(k, x, h):
    """The stage a fraction x into the step, with a guess of its accelerations, multipliers and forces."""
    one, n, T = k.one, k.rates.shape[1], k.T
    for j in range(n):
        one.base_zd[0, j], one.base_z[0, j], one.a[0, j] = k.y[n + j], k.y[j], 0.0
    for j in range(one.lam.shape[1]):
        one.lam[0, j] = 0.0
    for i in range(T.nodes.size):
        weight, value = h * weight_of_slope(T, x, i), lagrange(T, x, i, 0)
        for j in range(n):
            one.base_zd[0, j] += weight * k.nodes[i, j]
            one.base_z[0, j] += weight * k.rates[i, j]
            one.a[0, j] += value * k.nodes[i, j]
        for j in range(one.lam.shape[1]):
            one.lam[0, j] += value * k.nodes[i, n + j]
    for j in range(n):
        one.base_z[0, j] += h * T.gamma * one.base_zd[0, j]
    place_stages(one)


@kernel_pointer
def look_into_radau_step(k, t, state, out):
    """q and qd at a time inside the step, and what balances there into k.inside."""
    one, n, h = k.one, k.rates.shape[1], state[loop_state.TAKE]
    one.t[0] = t
    set_size(k, h)
    place_output(k, (t - state[loop_state.TIME]) / h, h)
    left = forgotten(k.own[LEFT])
    for _ in range(MOST_CORRECTIONS):
        if left * correct_beside(k) <= enough_of(k):
            break
    for j in range(n):
        out[j], out[n + j] = one.z[0, j], one.zd[0, j]
        k.inside[j] = one.a[0, j]
    for j in range(k.ends.shape[1] - n):
        k.inside[n + j] = one.lam[0, j]
    hold_constraints(k, t, out, max(CLOSED, CLOSELY * k.rtol[0]) * k.length)
