"""The elimination program of `ldl` with a block of 2 x 2 numbers in place of each number.

An unknown is a pair: two rows on the same bodies, such as x and y of a pin. Block (k, i) of row k holds its numbers row
by row, a right-hand side its two numbers first. A pair of which one is missing has 1 in its place, coupled to nothing.
"""

from __future__ import annotations

from .kernel import kernel


@kernel(inline=True)
def eliminate_pairs(E, V):
    """V_ij -= V_ki^T V_kk^-1 V_kj for i <= j in row k, right-hand sides among them; V_kk becomes its inverse."""
    pivot, target = E.pivot, E.target
    p = 0
    for k in range(pivot.size - 1):
        first, last = int(pivot[k]), int(pivot[k + 1]) - 1
        a, b, d = V[first, 0], V[first, 1], V[first, 3]
        inverse = 1.0 / (a * d - b * b)
        a, b, d = d * inverse, -b * inverse, a * inverse
        V[first, 0], V[first, 1], V[first, 2], V[first, 3] = a, b, b, d
        for i in range(first + 1, last):
            x00, x01, x10, x11 = V[i, 0], V[i, 1], V[i, 2], V[i, 3]
            l00, l01, l10, l11 = x00 * a + x10 * b, x00 * b + x10 * d, x01 * a + x11 * b, x01 * b + x11 * d
            for j in range(i, last):
                t, y00, y01, y10, y11 = target[p], V[j, 0], V[j, 1], V[j, 2], V[j, 3]
                V[t, 0] -= l00 * y00 + l01 * y10
                V[t, 1] -= l00 * y01 + l01 * y11
                V[t, 2] -= l10 * y00 + l11 * y10
                V[t, 3] -= l10 * y01 + l11 * y11
                p += 1
            t, y0, y1 = target[p], V[last, 0], V[last, 1]
            V[t, 0] -= l00 * y0 + l01 * y1
            V[t, 1] -= l10 * y0 + l11 * y1
            p += 1


@kernel(inline=True)
def substitute_pairs(E, V, rows, x, work):
    """The unknowns, from the last eliminated to the first: x_k = V_kk^-1 (b_k - sum_j V_kj x_j).

    Those of pair k are x[rows[k, 0]] and x[rows[k, 1]].
    """
    order, pivot, column = E.order, E.pivot, E.column
    for k in range(order.size - 1, -1, -1):
        first, last = pivot[k], pivot[k + 1] - 1
        one, two = V[last, 0], V[last, 1]
        for p in range(first + 1, last):
            x0, x1 = work[column[p], 0], work[column[p], 1]
            one -= V[p, 0] * x0 + V[p, 1] * x1
            two -= V[p, 2] * x0 + V[p, 3] * x1
        x0, x1 = V[first, 0] * one + V[first, 1] * two, V[first, 2] * one + V[first, 3] * two
        work[k, 0], work[k, 1], pair = x0, x1, order[k]
        x[rows[pair, 0]], x[rows[pair, 1]] = x0, x1


@kernel(inline=True)
def solve_pair(V, at, right, x, i, j):
    """x_i and x_j of one pair alone, which follow no program; its block becomes its inverse."""
    a, b, d, one, two = V[at, 0], V[at, 1], V[at, 3], V[right, 0], V[right, 1]
    inverse = 1.0 / (a * d - b * b)
    a, b, d = d * inverse, -b * inverse, a * inverse
    V[at, 0], V[at, 1], V[at, 2], V[at, 3] = a, b, b, d
    x[i], x[j] = a * one + b * two, b * one + d * two


@kernel
def solve_pairs_again(E, V, rows, b, x, work):
    """The unknowns for another right-hand side b, after `eliminate_pairs`."""
    order, pivot, column = E.order, E.pivot, E.column
    for k in range(order.size):
        pair, last = order[k], pivot[k + 1] - 1
        V[last, 0], V[last, 1] = b[rows[pair, 0]], b[rows[pair, 1]]
    for k in range(order.size):
        first, last = pivot[k], pivot[k + 1] - 1
        one, two = V[last, 0], V[last, 1]
        one, two = V[first, 0] * one + V[first, 1] * two, V[first, 2] * one + V[first, 3] * two
        for p in range(first + 1, last):
            other = pivot[column[p] + 1] - 1
            V[other, 0] -= V[p, 0] * one + V[p, 2] * two
            V[other, 1] -= V[p, 1] * one + V[p, 3] * two
    substitute_pairs(E, V, rows, x, work)
