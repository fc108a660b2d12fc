"""Values and derivatives on tapes, in compiled code.

Forward, every operation finds its value, its derivatives by its operands, and the first and second derivative along a
direction. Backward, dg/dw of every operation w gives the gradient. The second derivatives are sums over operations,

    g_jk = sum_w dg/dw (w_aa a_j a_k + w_ab (a_j b_k + b_j a_k) + w_bb b_j b_k)

where a and b are the operands of w, and a_j their derivatives by the variables, found forward.
"""

from __future__ import annotations

from ..numerics.kernel import kernel
from . import operations as jets
from .tape import COS_BESIDE, LEFT_NUMBER, POSITIVE, RIGHT_NUMBER, SIN_BESIDE

# columns of the results: value, derivatives along the direction, dg/dw, derivatives by the operands
VALUE, FIRST, SECOND, WEIGHT, A, B, AA, AB, BB = range(9)
RESULT = 9


@kernel
def forward(operations, numbers, start, stop, inputs, z):
    """All operations start .. stop - 1; the first rows of z hold the inputs. Returns where the result lies."""
    for p in range(start, stop):
        k, code, a, b = inputs + p - start, operations[p, 0], operations[p, 1], operations[p, 2]
        if code == jets.ADD:
            for c in range(3):
                z[k, c] = z[a, c] + z[b, c]
        elif code == jets.SUBTRACT:
            for c in range(3):
                z[k, c] = z[a, c] - z[b, c]
        elif code == jets.MULTIPLY:
            u, u1, v, v1 = z[a, VALUE], z[a, FIRST], z[b, VALUE], z[b, FIRST]
            z[k, VALUE], z[k, FIRST] = u * v, u1 * v + u * v1
            z[k, SECOND] = z[a, SECOND] * v + 2.0 * u1 * v1 + u * z[b, SECOND]
        elif code == jets.NUMBER:
            z[k, VALUE], z[k, FIRST], z[k, SECOND] = numbers[p], 0.0, 0.0
        elif code == jets.SELECT:
            choose(z, a, b, operations[p, 3], k)
        elif code < jets.ADD or code > jets.SELECT:
            operate_on_one(code, z, a, b, k)
            u1 = z[a, FIRST]
            z[k, FIRST], z[k, SECOND] = z[k, A] * u1, z[k, A] * z[a, SECOND] + z[k, AA] * u1 * u1
        else:
            operate_on_two(code, z, a, b, operations[p, 3], k)
            u1, v1 = z[a, FIRST], z[b, FIRST]
            z[k, FIRST] = z[k, A] * u1 + z[k, B] * v1
            curved = z[k, AA] * u1 * u1 + 2.0 * z[k, AB] * u1 * v1 + z[k, BB] * v1 * v1
            z[k, SECOND] = z[k, A] * z[a, SECOND] + z[k, B] * z[b, SECOND] + curved
    return inputs + stop - start - 1


@kernel(inline=True)
def by_operands(code, z, a, b, k):
    """Derivatives of an operation by its two operands."""
    if code == jets.ADD:
        return 1.0, 1.0
    if code == jets.SUBTRACT:
        return 1.0, -1.0
    if code == jets.MULTIPLY:
        return z[b, VALUE], z[a, VALUE]
    if code < jets.ADD or code > jets.SELECT:
        return z[k, A], 0.0
    return z[k, A], z[k, B]


@kernel
def operate_on_one(code, z, left, partner, k):
    """g(u), g', g''."""
    u = z[left, VALUE]
    if code == COS_BESIDE:
        z[k, VALUE], z[k, A], z[k, AA] = z[partner, A], -z[partner, VALUE], -z[partner, A]
    elif code == SIN_BESIDE:
        z[k, VALUE], z[k, A], z[k, AA] = -z[partner, A], z[partner, VALUE], z[partner, A]
    elif code == POSITIVE:
        z[k, VALUE], z[k, A], z[k, AA] = (u if u > 0.0 else jets.NAN), 1.0, 0.0
    elif code > jets.SELECT:
        z[k, VALUE], z[k, A], z[k, AA] = jets.rise_derivatives(code, u)
    else:
        z[k, VALUE], z[k, A], z[k, AA] = jets.derivatives(code, u)


@kernel
def choose(z, left, right, condition, k):
    """The right operand where the condition holds, else the left one; the other may have no value."""
    holds = z[condition, VALUE]
    chosen = right if holds != 0.0 else left
    z[k, A], z[k, B] = (0.0, 1.0) if holds != 0.0 else (1.0, 0.0)
    for c in range(3):
        z[k, c] = z[chosen, c] if holds == holds else jets.NAN


@kernel
def operate_on_two(code, z, left, right, marks, k):
    """Value and derivatives by both operands, those that are numbers left out; the mixed one from their sum."""
    a, b = z[left, VALUE], z[right, VALUE]
    z[k, A] = z[k, B] = z[k, AA] = z[k, AB] = z[k, BB] = 0.0
    if code == jets.DIVIDE and b != 0.0:
        h = a / b
        z[k, VALUE], z[k, A], z[k, B], z[k, AB], z[k, BB] = (
            h,
            1.0 / b,
            -h / b,
            -1.0 / (b * b),
            2.0 * h / (b * b),
        )
        return
    z[k, VALUE] = jets.combine(code, a, 0.0, 0.0, b, 0.0, 0.0)[0]
    if marks & LEFT_NUMBER == 0:
        _, z[k, A], z[k, AA] = jets.combine(code, a, 1.0, 0.0, b, 0.0, 0.0)
    if marks & RIGHT_NUMBER == 0:
        _, z[k, B], z[k, BB] = jets.combine(code, a, 0.0, 0.0, b, 1.0, 0.0)
    if marks == 0:
        both = jets.combine(code, a, 1.0, 0.0, b, 1.0, 0.0)[2]
        z[k, AB] = 0.5 * (both - z[k, AA] - z[k, BB])


@kernel
def backward(operations, start, stop, inputs, z):
    """dg/dw of every operation and every input into the column WEIGHT."""
    last = inputs + stop - start - 1
    for k in range(last):
        z[k, WEIGHT] = 0.0
    z[last, WEIGHT] = 1.0
    for p in range(stop - 1, start - 1, -1):
        k, code, a, b = inputs + p - start, operations[p, 0], operations[p, 1], operations[p, 2]
        weight = z[k, WEIGHT]
        if code == jets.NUMBER or weight == 0.0:  # what is not chosen may have no derivatives
            continue
        by_a, by_b = by_operands(code, z, a, b, k)
        z[a, WEIGHT] += weight * by_a
        if by_b != 0.0:
            z[b, WEIGHT] += weight * by_b


@kernel
def second_derivatives(operations, start, stop, inputs, z, G, H):
    """g_jk by the inputs into H, where `backward` has been; G holds the gradients of the operations on the way."""
    for i in range(inputs):
        for j in range(inputs):
            G[i, j] = 1.0 if i == j else 0.0
            H[i, j] = 0.0
    for p in range(start, stop):
        k, code, a, b = inputs + p - start, operations[p, 0], operations[p, 1], operations[p, 2]
        for j in range(inputs):
            G[k, j] = 0.0
        if code == jets.NUMBER:
            continue
        by_a, by_b = by_operands(code, z, a, b, k)
        for j in range(inputs):
            if by_a != 0.0:
                G[k, j] += by_a * G[a, j]
            if by_b != 0.0:
                G[k, j] += by_b * G[b, j]
        # what is not chosen may have no derivatives
        if z[k, WEIGHT] != 0.0:
            add_curvature(code, z, a, b, k, G, inputs, H)


@kernel
def add_curvature(code, z, a, b, k, G, inputs, H):
    """H += dg/dw (w_aa a_j a_k + w_ab (a_j b_k + b_j a_k) + w_bb b_j b_k)"""
    weight = z[k, WEIGHT]
    if code in (jets.ADD, jets.SUBTRACT, jets.SELECT):
        return
    if code == jets.MULTIPLY:
        add_outer(weight, G[a], G[b], inputs, H)
        add_outer(weight, G[b], G[a], inputs, H)
        return
    add_outer(weight * z[k, AA], G[a], G[a], inputs, H)
    if jets.ADD < code < jets.SELECT:
        add_outer(weight * z[k, AB], G[a], G[b], inputs, H)
        add_outer(weight * z[k, AB], G[b], G[a], inputs, H)
        add_outer(weight * z[k, BB], G[b], G[b], inputs, H)


@kernel
def add_outer(factor, u, v, count, H):
    """H += factor u v^T"""
    if factor == 0.0:
        return
    for j in range(count):
        if u[j] != 0.0:
            for k in range(count):
                H[j, k] += factor * u[j] * v[k]
