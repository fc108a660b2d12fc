"""What is left of the equations of a stage: bodies and rows at its state, the balance of forces, gaps of rows."""

from __future__ import annotations

from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke
from ..system.constraints import gamma, phi
from ..system.equations_of_motion import evaluate_state
from .stages import ACCELERATION, EVALUATIONS, LEVEL, POSITION, SIZE_B, SIZE_C, VELOCITY


@kernel
def pose(c, i):
    """Bodies, forces, rows and their derivatives at stage i."""
    st, S, X, w = c.st, c.S, c.X, c.w
    n = st.a.shape[1]
    for k in range(n):
        c.y[k], c.y[n + k], c.y[2 * n + k] = st.z[i, k], st.zd[i, k], st.a[i, k]
    invoke(c.place_f, c.place_c, st.t[i], c.y, st.lam[i])
    evaluate_state(S, st.t[i], X.q, X.qd, w)
    st.state[EVALUATIONS] += 1.0
    find_errors(c)
    find_distances(c)
    for p in range(c.slope.size):
        X.J[c.slope[p]] = 0.0
    for j in range(c.target.size):
        for p in range(S.jac_start[j], S.jac_start[j + 1]):
            add_slopes(c, p, c.stretch[j] * w.data[p], X.R, X.J)


@kernel
def add_slopes(c, p, value, R, out):
    """A derivative by a coordinate of a body, taken to the columns of the body."""
    X, body, r, at = c.X, c.S.jac_column[p] // 3, c.S.jac_column[p] % 3, c.slope_start[p]
    for k in range(X.start[body], X.start[body + 1]):
        out[c.slope[at + k - X.start[body]]] += value * R[k, r]


@kernel
def find_errors(c):
    """Phi, Phi_z zd - nu and Phi_z zdd - gamma of all rows."""
    S, X, w, errors = c.S, c.X, c.w, c.errors
    own, n = X.own_phi.size, c.st.a.shape[1]
    phi(S, w, c.lam)
    for j in range(c.target.size):
        errors[own + j, POSITION] = c.lam[j]
    gamma(S, w, c.lam)
    for j in range(c.target.size):
        rate, rise = -w.f[j, 1], -c.lam[j]
        for p in range(S.jac_start[j], S.jac_start[j + 1]):
            rate += w.data[p] * X.qd[S.jac_column[p]]
            rise += w.data[p] * X.qdd[S.jac_column[p]]
        errors[own + j, VELOCITY], errors[own + j, ACCELERATION] = rate, rise
    for k in range(own):
        rate, rise = 0.0, -X.own_gamma[k]
        for p in range(X.row_start[k], X.row_start[k + 1]):
            rate += X.J[p] * c.y[n + X.row_column[p]]
            rise += X.J[p] * c.y[2 * n + X.row_column[p]]
        errors[k, POSITION], errors[k, VELOCITY], errors[k, ACCELERATION] = X.own_phi[k], rate, rise


@kernel
def find_distances(c):
    """|d| - f = 0 becomes d . d - s^2 = 0 and s - f = 0."""
    T, X, errors, f = c.distances, c.X, c.errors, c.w.f
    own, n = X.own_phi.size, c.st.a.shape[1]
    for k in range(T.kept.size):
        j, u = T.kept[k], T.column[k]
        one, other = errors[T.own[k]], errors[own + j]
        d, dd, ddd = other[POSITION] + f[j, 0], other[VELOCITY] + f[j, 1], other[ACCELERATION] + f[j, 2]
        s, sd, sdd = c.y[u], c.y[n + u], c.y[2 * n + u]
        one[POSITION], one[VELOCITY] = d * d - s * s, 2.0 * (d * dd - s * sd)
        one[ACCELERATION] = 2.0 * (d * ddd + dd * dd - s * sdd - sd * sd)
        other[POSITION], other[VELOCITY], other[ACCELERATION] = s - f[j, 0], sd - f[j, 1], sdd - f[j, 2]
        c.stretch[j] = 2.0 * d
        X.J[T.own_slope[k]], X.J[T.kept_slope[k]] = -2.0 * s, 1.0


@kernel
def find_balance(c, i):
    """M a + Phi_X^T lam - Q into c.pull; that of a pivotal body is the force on its ghost."""
    X, Q, a, pull = c.X, c.w.Q, c.st.a[i], c.pull
    pull_of_rows(c, c.st.lam[i])
    for k in range(c.mass.size):
        pull[c.mass_row[k]] += c.mass[k] * a[c.mass_column[k]]
    for k in range(Q.size):
        X.force[k] = -Q[k]
        if c.inertial == 1:
            X.force[k] += mass_of(c.S, k) * X.qdd[k]
    for b in X.order:
        carry(c, b)


@kernel(inline=True)
def mass_of(S, k):
    return S.inertia[k // 3] if k % 3 == 2 else S.mass[k // 3]


@kernel
def pull_of_rows(c, lam):
    """Phi_X^T lam"""
    X, pull = c.X, c.pull
    for k in range(pull.size):
        pull[k] = 0.0
    for k in range(lam.size):
        for p in range(X.row_start[k], X.row_start[k + 1]):
            pull[X.row_column[p]] += X.J[p] * lam[k]


@kernel
def carry(c, b):
    """R^T force of a body, or of a ghost."""
    X, pull, n, nb = c.X, c.pull, c.st.a.shape[1], c.S.mass.size
    for r in range(3):
        if b >= nb:
            X.force[3 * b + r] = pull[n + 3 * (b - nb) + r]
        force = X.force[3 * b + r]
        for p in range(X.start[b], X.start[b + 1]):
            pull[X.column[p]] += X.R[p, r] * force


@kernel
def find_gaps(c, i):
    """Phi / b and (Phi_z zd - nu) / c; or the rate itself, or Phi_z zdd - gamma, where that is the level."""
    st, errors = c.st, c.errors
    level, b, rates = int(st.options[LEVEL]), st.state[SIZE_B], st.state[SIZE_C]
    for k in range(st.lam.shape[1]):
        if level != POSITION:
            st.gap[i, k] = errors[k, level]
            continue
        st.gap[i, k], st.rate[i, k] = errors[k, POSITION] / b, errors[k, VELOCITY] / rates
        if c.holds_rate[k] == 1:
            st.gap[i, k] = st.rate[i, k] if c.twice == 0 else c.share[k] * st.mu[i, k]


@kernel
def find_slips(c, i):
    """(c / b) W^-1 e - Phi_z^T mu"""
    st, nb = c.st, c.S.mass.size
    pull_of_rows(c, st.mu[i])
    for b in c.X.order:
        if b >= nb:
            carry(c, b)
    for j in range(st.a.shape[1]):
        st.slip[i, j] = st.state[SIZE_C] / st.state[SIZE_B] * c.weights[j] * st.e[i, j] - c.pull[j]
