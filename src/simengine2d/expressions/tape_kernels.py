"""Values and derivatives on tapes, in compiled code.

Forward, every operation computes its value, its derivatives with respect to its operands, and the first and second
derivatives along a direction. Backward, dg/dw of every operation w gives the gradient. The second derivatives are sums,

    g_jk = sum_w dg/dw (w_aa a_j a_k + w_ab (a_j b_k + b_j a_k) + w_bb b_j b_k)

where a and b are the operands of w, and a_j their derivatives with respect to the variables, computed forward.

The results of operation k are z[RESULT * k : RESULT * (k + 1)], after those of the variables.
"""

from __future__ import annotations

from ..numerics.kernel import kernel
from . import operations as jets
from .table import spline_at
from .tape import COS_BESIDE, LOOKUP, PERIODIC_LOOKUP, POSITIVE, SIN_BESIDE

# results of an operation: value, derivatives along the direction, dg/dw, derivatives by the operands
VALUE, FIRST, SECOND, WEIGHT, A, B, AA, AB, BB = range(9)
RESULT = 9


@kernel(inline=True)
def forward(operations, numbers, start, stop, first_number, inputs, z):
    """All operations start .. stop - 1; the first rows of z hold the inputs. Returns the index of the result."""
    k = RESULT * (inputs - 1)
    for p in range(start, stop):
        code, a, b = operations[p, 0], RESULT * operations[p, 1], RESULT * operations[p, 2]
        k += RESULT
        # the most frequent operations first, written out
        if code == jets.NUMBER:
            z[k], z[k + FIRST], z[k + SECOND] = numbers[first_number + operations[p, 1]], 0.0, 0.0
        elif code == jets.MULTIPLY:
            u, u1, v, v1 = z[a], z[a + FIRST], z[b], z[b + FIRST]
            z[k], z[k + FIRST] = u * v, u1 * v + u * v1
            z[k + SECOND] = z[a + SECOND] * v + 2.0 * u1 * v1 + u * z[b + SECOND]
        elif code == jets.ADD:
            for c in range(3):
                z[k + c] = z[a + c] + z[b + c]
        elif code == jets.SUBTRACT:
            for c in range(3):
                z[k + c] = z[a + c] - z[b + c]
        # all others
        elif code == jets.SELECT:
            choose(z, a, b, RESULT * operations[p, 3], k)
        elif code >= LOOKUP:
            look_up(numbers, first_number + operations[p, 3], code == PERIODIC_LOOKUP, z, a, k)
        elif code < jets.ADD or code > jets.SELECT:
            operate_on_one(code, z, a, b, k)
        else:
            operate_on_two(code, z, a, b, k)
    return k


@kernel(inline=True)
def by_operands(code, z, a, b, k):
    """Derivatives of an operation with respect to its two operands."""
    if code == jets.ADD:
        return 1.0, 1.0
    if code == jets.SUBTRACT:
        return 1.0, -1.0
    if code == jets.MULTIPLY:
        return z[b], z[a]
    if code < jets.ADD or code > jets.SELECT:
        return z[k + A], 0.0
    return z[k + A], z[k + B]


@kernel(inline=True)
def operate_on_one(code, z, a, partner, k):
    """h(u), h_u, h_uu, and along the direction h' = h_u u', h'' = h_u u'' + h_uu u'^2."""
    u, u1 = z[a], z[a + FIRST]
    if code < jets.ADD:
        value, first, second = jets.derivatives(code, u)
    elif code == COS_BESIDE:
        value, first, second = z[partner + A], -z[partner], -z[partner + A]
    elif code == SIN_BESIDE:
        value, first, second = -z[partner + A], z[partner], z[partner + A]
    elif code == POSITIVE:
        value, first, second = (u if u > 0.0 else jets.NAN), 1.0, 0.0
    else:
        value, first, second = jets.rise_derivatives(code, u)
    z[k], z[k + A], z[k + AA] = value, first, second
    z[k + FIRST], z[k + SECOND] = first * u1, first * z[a + SECOND] + second * u1 * u1


@kernel
def look_up(numbers, start, periodic, z, a, k):
    """A table at u, as an operation on one operand; its numbers come after their count."""
    stop = start + 1 + int(numbers[start])
    value, first, second = spline_at(numbers, start + 1, stop, periodic, z[a])
    z[k], z[k + A], z[k + AA] = value, first, second
    z[k + FIRST], z[k + SECOND] = (
        first * z[a + FIRST],
        first * z[a + SECOND] + second * z[a + FIRST] * z[a + FIRST],
    )


@kernel(inline=True)
def choose(z, a, b, condition, k):
    """The right operand if the condition holds, else the left one; the other may have no value."""
    holds = z[condition]
    chosen = b if holds != 0.0 else a
    z[k + A], z[k + B] = (0.0, 1.0) if holds != 0.0 else (1.0, 0.0)
    for c in range(3):
        z[k + c] = z[chosen + c] if holds == holds else jets.NAN


@kernel(inline=True)
def operate_on_two(code, z, a, b, k):
    """h(u, v) with all its derivatives; along the direction only as far as u and v change, since others may be nan."""
    u1, u2, v1, v2 = z[a + FIRST], z[a + SECOND], z[b + FIRST], z[b + SECOND]
    value, h_u, h_v, h_uu, h_uv, h_vv = jets.partials(code, z[a], z[b])
    z[k], z[k + A], z[k + B], z[k + AA], z[k + AB], z[k + BB] = value, h_u, h_v, h_uu, h_uv, h_vv
    first, second = h_u * u1, h_u * u2 + h_uu * u1 * u1
    if v1 != 0.0 or v2 != 0.0:
        first += h_v * v1
        second += h_v * v2 + (2.0 * h_uv * u1 + h_vv * v1) * v1
    z[k + FIRST], z[k + SECOND] = first, second


@kernel
def backward(operations, start, stop, inputs, z):
    """dg/dw of every operation and every input into WEIGHT."""
    last = RESULT * (inputs + stop - start - 1)
    for k in range(0, last, RESULT):
        z[k + WEIGHT] = 0.0
    z[last + WEIGHT] = 1.0
    k = last + RESULT
    for p in range(stop - 1, start - 1, -1):
        code, a, b = operations[p, 0], RESULT * operations[p, 1], RESULT * operations[p, 2]
        k -= RESULT
        weight = z[k + WEIGHT]
        if code == jets.NUMBER or weight == 0.0:  # what is not chosen may have no derivatives
            continue
        by_a, by_b = by_operands(code, z, a, b, k)
        z[a + WEIGHT] += weight * by_a
        if by_b != 0.0:
            z[b + WEIGHT] += weight * by_b


@kernel
def second_derivatives(operations, start, stop, inputs, z, G, H):
    """g_jk of the inputs into H, after `backward`; G holds the gradients of the operations."""
    n = inputs
    for i in range(n):
        for j in range(n):
            G[n * i + j] = 1.0 if i == j else 0.0
            H[n * i + j] = 0.0
    for p in range(start, stop):
        k, code, a, b = inputs + p - start, operations[p, 0], operations[p, 1], operations[p, 2]
        for j in range(n):
            G[n * k + j] = 0.0
        if code == jets.NUMBER:
            continue
        by_a, by_b = by_operands(code, z, RESULT * a, RESULT * b, RESULT * k)
        for j in range(n):
            if by_a != 0.0:
                G[n * k + j] += by_a * G[n * a + j]
            if by_b != 0.0:
                G[n * k + j] += by_b * G[n * b + j]
        # what is not chosen may have no derivatives
        if z[RESULT * k + WEIGHT] != 0.0:
            add_curvature(code, z, a, b, RESULT * k, G, n, H)


@kernel
def add_curvature(code, z, a, b, k, G, n, H):
    """H += dg/dw (w_aa a_j a_k + w_ab (a_j b_k + b_j a_k) + w_bb b_j b_k)"""
    weight = z[k + WEIGHT]
    u, v = G[n * a : n * a + n], G[n * b : n * b + n]
    if code in (jets.ADD, jets.SUBTRACT, jets.SELECT):
        return
    if code == jets.MULTIPLY:
        add_outer(weight, u, v, H)
        add_outer(weight, v, u, H)
        return
    add_outer(weight * z[k + AA], u, u, H)
    if jets.ADD < code < jets.SELECT:
        add_outer(weight * z[k + AB], u, v, H)
        add_outer(weight * z[k + AB], v, u, H)
        add_outer(weight * z[k + BB], v, v, H)


@kernel
def add_outer(factor, u, v, H):
    """H += factor u v^T"""
    if factor == 0.0:
        return
    n = u.size
    for j in range(n):
        if u[j] != 0.0:
            for k in range(n):
                H[n * j + k] += factor * u[j] * v[k]
