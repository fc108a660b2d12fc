"""The derivatives of the equations of a stage. Second derivatives are exact.

Those of the bodies are known, K_q = (Phi_q^T lam - QA)_q and D_q = -QA_qd; the map takes them to its columns:

    R^T (K_q R + D_q Rd + M Rdd) + R_X^T force      by positions
    R^T (D_q R + 2 M Rd)                            by velocities
    R^T M R                                         by accelerations
"""

from __future__ import annotations

from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke
from ..system.derivatives import add_tangent, rate_slopes
from .stage_balance import add_slopes, find_balance, mass_of
from .stages import ACCELERATION, LEVEL, POSITION, VELOCITY, tangent_shares


@kernel
def find_tangent(c, i):
    """The numbers of a stage that is posed."""
    st, X, w, S = c.st, c.X, c.w, c.S
    X.tangent[:] = 0.0
    X.Rd[:] = 0.0
    X.Rdd[:] = 0.0
    X.G[:] = 0.0
    if tangent_shares(st) == 1.0:
        find_balance(c, i)
        for j in range(c.target.size):
            c.lam[j] = c.stretch[j] * st.lam[i, c.target[j]]
            for p in range(S.jac_start[j], S.jac_start[j + 1]):
                X.force[S.jac_column[p]] += w.data[p] * c.lam[j]
        invoke(c.bend_f, c.bend_c, st.t[i], c.y, st.lam[i])
        find_rate_slopes(c, i)
        find_stiffness(c, i)
        for k in range(c.couple.shape[0]):
            transform_couple(c, k)
    for k in range(c.mass.size):
        X.tangent[c.mass_pair[k], ACCELERATION] += c.mass[k]
    for b in range(S.mass.size if c.inertial == 1 else 0):
        transform_mass(c, b)


@kernel
def weigh(c):
    """The diagonal of M; coordinates without a mass are given what they feel through the rows, or else the mean.

    Row i makes Phi_ij^2 / sum_k Phi_ik^2 / m_k of the coordinates k that have a mass.
    """
    X, mass, felt, n = c.X, c.weights, c.right, c.st.a.shape[1]
    find_diagonal(c)
    total, heavy = 0.0, 0
    for j in range(n):
        felt[j, 0] = 0.0
        if mass[j] > 0.0:
            total += mass[j]
            heavy += 1
    for k in range(c.st.lam.shape[1]):
        share = 0.0
        for p in range(X.row_start[k], X.row_start[k + 1]):
            if X.row_column[p] < n and mass[X.row_column[p]] > 0.0:
                share += X.J[p] ** 2 / mass[X.row_column[p]]
        for p in range(X.row_start[k], X.row_start[k + 1] if share > 0.0 else X.row_start[k]):
            if X.row_column[p] < n:
                felt[X.row_column[p], 0] += X.J[p] ** 2 / share
    for j in range(n):
        if mass[j] == 0.0:
            mass[j] = felt[j, 0] if felt[j, 0] > 0.0 else total / max(1, heavy)


@kernel
def find_diagonal(c):
    """R^T M R, where the inertia of a ghost is that of all that depends on its body."""
    S, X, n, nb, outboard = c.S, c.X, c.st.a.shape[1], c.S.mass.size, c.outboard
    c.weights[:] = 0.0
    outboard[:] = 0.0
    for k in range(c.mass.size):
        if c.mass_row[k] == c.mass_column[k]:
            c.weights[c.mass_row[k]] += c.mass[k]
    for b in X.order:
        for r in range(3 if b < nb and c.inertial == 1 else 0):
            outboard[b, r, r] = mass_of(S, 3 * b + r)
        for p in range(X.start[b], X.start[b + 1]):
            for u in range(X.start[b], X.start[b + 1]):
                one, other = X.column[p], X.column[u]
                if one == other < n:
                    c.weights[one] += inertia_between(outboard[b], X.R[p], X.R[u])
                elif one >= n and other >= n:
                    outboard[nb + (one - n) // 3, (one - n) % 3, (other - n) % 3] += inertia_between(
                        outboard[b], X.R[p], X.R[u]
                    )


@kernel
def inertia_between(M, one, other):
    """one^T M other"""
    total = 0.0
    for r in range(3):
        for s in range(3):
            total += one[r] * M[r, s] * other[s]
    return total


@kernel
def find_rate_slopes(c, i):
    """G = Phi_q Rd + G_q R of the rows of the bodies; none where a constraint has a level of its own."""
    S, X, w, T = c.S, c.X, c.w, c.distances
    n = c.st.a.shape[1]
    if c.st.options[LEVEL] != POSITION:
        X.G[:] = 0.0
        return
    rate_slopes(S, c.st.t[i], X.qd, w, c.slopes)
    for j in range(c.target.size):
        for p in range(S.jac_start[j], S.jac_start[j + 1]):
            add_slopes(c, p, c.stretch[j] * c.slopes[p], X.R, X.G)
            add_slopes(c, p, c.stretch[j] * w.data[p], X.Rd, X.G)
    for k in range(T.kept.size):
        bend_distance(c, k, c.y[n + T.column[k]], c.st.lam[i, T.own[k]])


@kernel
def bend_distance(c, k, sd, lam):
    """Of d . d - s^2, beyond what |d| adds: G += 2 dd d_X, and lam 2 (d_X^T d_X - 1) in the tangent."""
    T, X, n = c.distances, c.X, c.st.a.shape[1]
    row, d = T.own[k], 0.5 * c.stretch[T.kept[k]]
    first, last, dd, at = X.row_start[row], X.row_start[row + 1], 0.0, T.square_start[k]
    for p in range(first, last):
        if p != T.own_slope[k]:
            dd += X.J[p] * c.y[n + X.row_column[p]] / (2.0 * d)
    for p in range(first, last):
        slope = X.J[p] / (2.0 * d)
        X.G[p] = -2.0 * sd if p == T.own_slope[k] else X.G[p] + 2.0 * dd * slope
        for u in range(first, last):
            both = -1.0 if p == u == T.own_slope[k] else 0.0
            if p != T.own_slope[k] and u != T.own_slope[k]:
                both = slope * X.J[u] / (2.0 * d)
            X.tangent[T.square[at], POSITION] += 2.0 * lam * both
            at += 1


@kernel
def find_stiffness(c, i):
    """K_q into c.stiffness and D_q into w.v, 3 x 3 numbers for each couple of bodies."""
    t, S, X, w = c.st.t[i], c.S, c.X, c.w
    w.v[:] = 0.0
    add_tangent(S, c.upper, t, X.q, X.qd, c.lam, 1.0, 0.0, 1.0, 0.0, w)
    add_tangent(S, c.lower, t, X.q, X.qd, c.lam, 1.0, 0.0, 0.0, 1.0, c.below)
    for k in range(c.stiffness.size):
        c.stiffness[k], w.v[k] = w.v[k], 0.0
    if c.loads == 1:
        add_tangent(S, c.upper, t, X.q, X.qd, c.lam, 0.0, 1.0, 1.0, 0.0, w)
        add_tangent(S, c.lower, t, X.q, X.qd, c.lam, 0.0, 1.0, 0.0, 1.0, c.below)


@kernel
def transform_couple(c, k):
    """R^T (K_q R + D_q Rd) and R^T D_q R of a couple of bodies."""
    X, K, D, first = c.X, c.stiffness, c.w.v, 9 * k
    one, other, at = c.couple[k, 0], c.couple[k, 1], c.couple_start[k]
    columns = X.start[other + 1] - X.start[other]
    for u in range(X.start[other], X.start[other + 1]):
        for r in range(3):
            force, damping = 0.0, 0.0
            for s in range(3):
                force += K[first + 3 * r + s] * X.R[u, s] + D[first + 3 * r + s] * X.Rd[u, s]
                damping += D[first + 3 * r + s] * X.R[u, s]
            for p in range(
                X.start[one] if force != 0.0 or damping != 0.0 else X.start[one + 1], X.start[one + 1]
            ):
                pair = c.couple_pair[at + (p - X.start[one]) * columns + u - X.start[other]]
                X.tangent[pair, POSITION] += X.R[p, r] * force
                X.tangent[pair, VELOCITY] += X.R[p, r] * damping


@kernel
def transform_mass(c, b):
    """R^T M of a body, by what its accelerations depend on."""
    X, at = c.X, c.X.pair_start[b]
    columns = X.start[b + 1] - X.start[b]
    for p in range(X.start[b], X.start[b + 1]):
        for u in range(X.start[b], X.start[b + 1]):
            pair = X.pair[at + (p - X.start[b]) * columns + u - X.start[b]]
            for r in range(3):
                push = X.R[p, r] * mass_of(c.S, 3 * b + r)
                X.tangent[pair, ACCELERATION] += push * X.R[u, r]
                X.tangent[pair, VELOCITY] += 2.0 * push * X.Rd[u, r]
                X.tangent[pair, POSITION] += push * X.Rdd[u, r]
