"""How several actuators share the required effort.

    A u = tau,      |u| as small as possible,      low <= u <= high

Without active limits it is u = A^+ tau. With limits, u = u0 + N z with the smallest z, where N spans the efforts that
do not affect the motion: a least-distance problem, which non-negative least squares solves exactly.
C. L. Lawson, R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Floats


def shared(A: Floats, tau: Floats, low: Floats, high: Floats, rank: int) -> Floats | None:
    """The smallest u within the limits; None if the limits allow none. `rank` singular values of A count."""
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
