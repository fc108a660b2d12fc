"""The multipliers of a known motion: Phi_q^T lam = QA - M qdd at every time.

If rows are redundant, the smallest lam is taken; what all solutions have in common is exact. If several actuators share
the effort, the motion determines only their sum Z^T (G^T u) = Z^T (M qdd - QA), with the free motions Z of the joints
and the rows G of the actuators; `shared` chooses u = -lam of the actuators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import SimEngineError, SingularityError, UnsupportedError, counted, listed
from ...numerics.arrays import Floats
from ...numerics.rank import DEPENDENT, surely_independent, unit_rows
from ...results.results import Results
from ...system.failures import finite_QA
from ...system.residuals import States, jacobians, residuals
from ...system.system import System
from ..assembly.closure import coordinate_scale, scaled_jacobian, smallest_change
from ..assembly.diagnose import in_words
from ..statics.tangent_space import tangent_space

DENSE = 300  # coordinates up to which dense matrices are faster
CHUNK = 1_000_000  # numbers of the stacked matrices at a time
EXACT = 1e-7  # residual that the multipliers may leave, relative to the forces


class Multipliers(NamedTuple):
    """lam at every time, and the times at which the pose is singular and they are unreliable."""

    lam: Floats
    singular: list[float]


def needed_forces(motion: Results, system: System) -> Floats:
    """QA - M qdd at every time: what the constraints must carry."""
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    t, q, qd, qdd, _ = motion.motion
    if system.callbacks:  # whose exceptions belong to an instant
        applied = [finite_QA(system, *state) for state in zip(t, q, qd, strict=True)]
        return np.array(applied).reshape(q.shape) - qdd * system.masses
    found = -residuals(system, States(t, q, qd, qdd, np.zeros((t.size, system.m)))).force
    for i in np.flatnonzero(~np.isfinite(found).all(axis=1)).tolist():
        finite_QA(system, float(t[i]), q[i], qd[i])  # says why
    return found


def multipliers(motion: Results, system: System) -> Multipliers:
    """lam of all rows."""
    b = needed_forces(motion, system)
    if system.n > DENSE:
        states = zip(motion.t, motion.q, b, strict=True)
        return Multipliers(np.array([_sparse(system, t, q, force) for t, q, force in states]), [])
    lam, singular = np.zeros((motion.t.size, system.m)), []
    count = max(1, CHUNK // max(1, system.n * system.m))
    for first in range(0, motion.t.size, count):
        part = slice(first, first + count)
        lam[part], bad = _dense(system, motion.t[part], motion.q[part], b[part])
        singular += [first + i for i in bad]
    for i in singular:
        lam[i] = _with_power(system, float(motion.t[i]), motion.q[i], motion.qd[i], b[i], lam[i])
    return Multipliers(lam, [float(motion.t[i]) for i in singular])


def _with_power(system: System, t: float, q: Floats, qd: Floats, b: Floats, lam: Floats) -> Floats:
    """lam in a pose where no forces balance the motion, with the effort that the only moving driver has beside it.

    nu^T lam = qd^T (QA - M qdd): the power of a driver passes such poses smoothly, while forces in joints may grow
    without bound.
    """
    nu = system.nu(t, q)
    moving = np.flatnonzero(np.abs(nu) > EXACT * np.abs(nu).max(initial=0.0))
    if moving.size != 1:
        return lam
    others, known = np.setdiff1d(np.arange(system.m), moving), np.zeros(system.m)
    known[moving] = (qd @ b) / nu[moving]
    space = tangent_space(system, t, q, others)
    known[others] = space.multipliers(b - system.Phi_q(t, q).T @ known)
    return known


def _dense(system: System, T: Floats, Q: Floats, b: Floats) -> tuple[Floats, list[int]]:
    """lam at each pose, and which poses are singular."""
    lam = np.zeros((Q.shape[0], system.m))
    regular = np.zeros(Q.shape[0], dtype=bool)
    if system.m == system.n:
        J = jacobians(system, T, Q)
        regular = _regular(J * coordinate_scale(system))
        transposed = J[regular].transpose(0, 2, 1)
        solution = np.linalg.solve(transposed, b[regular][:, :, None])
        solution += np.linalg.solve(transposed, b[regular][:, :, None] - transposed @ solution)
        lam[regular] = solution[:, :, 0]
    singular = []
    for i in np.flatnonzero(~regular):
        space = tangent_space(system, T[i], Q[i])
        lam[i] = space.multipliers(b[i])
        rest = space.scale * (b[i] - system.Phi_q(T[i], Q[i]).T @ lam[i])
        if np.linalg.norm(rest) > EXACT * np.linalg.norm(space.scale * b[i]):
            singular.append(int(i))
    return lam, singular


def _regular(J: Floats) -> NDArray[np.bool_]:
    """Which of the stacked matrices are far from singular, after scaling the rows to norm one."""
    regular = surely_independent(J)
    others = unit_rows(J[~regular])[0]
    regular[~regular] = np.linalg.svd(others, compute_uv=False)[:, -1] > DEPENDENT
    return regular


def _sparse(system: System, t: float, q: Floats, b: Floats) -> Floats:
    """The same for large systems; redundant rows are regularized and refined."""
    from scipy.sparse import csc_array, csr_array
    from scipy.sparse.linalg import splu

    J = csr_array(scaled_jacobian(system, system.Phi_q_data(q, t), np.ones(system.n)))
    if system.m == system.n:
        try:
            lam = splu(csc_array(J.T)).solve(b)
        except RuntimeError:  # exactly singular
            lam = np.full(system.m, np.inf)
        if np.all(np.isfinite(lam)) and np.abs(J.T @ lam - b).max() <= EXACT * np.abs(b).max(initial=0.0):
            return np.asarray(lam)
    J_T, norms = unit_rows(J.T.tocsr())
    return smallest_change(J_T, b / norms, np.ones(system.m))


# Several actuators ------------------------------------------------------------------------------------


def shared_multipliers(
    motion: Results, system: System, actuators: list[str], limits: dict[str, tuple[float, float]]
) -> Iterator[Floats]:
    """lam at each time, with the effort shared by the rows of the actuators within their limits."""
    rows = np.array([[n for n, _ in system.rows].index(name) for name in actuators], dtype=np.int64)
    joints = np.setdiff1d(np.arange(system.m), rows)
    low, high = (np.array([limits.get(name, (-np.inf, np.inf))[k] for name in actuators]) for k in (0, 1))
    for t, q, b in zip(motion.t, motion.q, needed_forces(motion, system), strict=True):
        space = tangent_space(system, t, q, joints)
        J, Z = system.Phi_q(t, q), space.motions
        A, tau = Z.T @ J[rows].T, -Z.T @ b
        rank = int(
            np.sum(np.linalg.svd(A, compute_uv=False) > DEPENDENT * np.abs(J[rows] * space.scale).max())
        )
        if not _reached(A, tau, rank):
            raise _out_of_reach(system, t, q, Z, A, tau, rank, actuators)
        u = shared(A, tau, low, high, rank)
        if u is None:
            raise UnsupportedError(
                f"at t = {t:g} s {listed(actuators)} cannot produce the motion within their limits: "
                f"{_wishes(A, tau, actuators)}. Widen the limits, or add an actuator."
            )
        lam = np.zeros(system.m)
        lam[rows] = -u
        lam[joints] = space.multipliers(b - J[rows].T @ lam[rows])
        yield lam


def _reached(A: Floats, tau: Floats, rank: int) -> bool:
    """Whether the actuators can produce what is needed."""
    missing = np.linalg.svd(A)[0][:, rank:].T @ tau
    return bool(np.linalg.norm(missing) <= EXACT * max(float(np.linalg.norm(tau)), 1e-300))


def _out_of_reach(
    system: System, t: float, q: Floats, Z: Floats, A: Floats, tau: Floats, rank: int, actuators: list[str]
) -> SimEngineError:
    U = np.linalg.svd(A)[0][:, rank:]
    words = in_words(system, q, Z @ U @ (U.T @ tau))
    needed = f"{listed(actuators)} cannot produce the motion: at t = {t:g} s it needs a force in the motion '{words}'"
    if A.shape[1] >= A.shape[0]:
        return SingularityError(
            f"{needed}, to which they contribute nothing in this pose, a dead point. "
            "Choose another actuator, or end before it."
        )
    count = counted(A.shape[0], "free motion")
    return UnsupportedError(
        f"{needed}, to which no actuator contributes. There are {count}; name as many actuators."
    )


def _wishes(A: Floats, tau: Floats, actuators: list[str]) -> str:
    """The effort of each without limits."""
    free = np.linalg.lstsq(A, tau, rcond=None)[0]
    return ", ".join(f"{name} would need {value:.4g}" for name, value in zip(actuators, free, strict=True))


def shared(A: Floats, tau: Floats, low: Floats, high: Floats, rank: int) -> Floats | None:
    """The smallest u within the limits; None if the limits allow none. `rank` singular values of A count.

        A u = tau,      |u| as small as possible,      low <= u <= high

    Without active limits it is u = A^+ tau. With limits, u = u0 + N z with the smallest z, where N spans the efforts
    that do not affect the motion: a least-distance problem, which non-negative least squares solves exactly.

    C. L. Lawson, R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23.
    """
    U, sizes, Vt = np.linalg.svd(A)
    u = Vt[:rank].T @ ((U[:, :rank].T @ tau) / sizes[:rank])
    if np.all(u >= low) and np.all(u <= high):
        return u
    N = Vt[rank:].T
    z = _least_distance(np.vstack([N, -N]), np.concatenate([low - u, u - high])) if N.shape[1] else None
    return None if z is None else np.clip(u + N @ z, low, high)


def _least_distance(G: Floats, h: Floats) -> Floats | None:
    """The smallest z with G z >= h; None if there is none."""
    from scipy.optimize import nnls

    kept = np.isfinite(h)
    G, h = G[kept], h[kept]
    size = float(np.abs(h).max())
    E = np.vstack([G.T, h / size])
    y, distance = nnls(E, np.append(np.zeros(G.shape[1]), 1.0))
    if distance < 1e-7:
        return None
    r = E @ y
    r[-1] -= 1.0
    return np.asarray(-size * r[:-1] / r[-1])
