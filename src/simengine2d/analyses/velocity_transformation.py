"""Independent coordinates of a state: the matrix R, and the equations of motion in them.

    qd = R zd + b,      qdd = R zdd + c,      M_bar zdd = Q_bar,      M_bar = R^T M R,      Q_bar = R^T (QA - M c)

The columns of R are the motions in which one independent velocity is 1 and the others are 0.

Garcia de Jalon & Bayo, Kinematic and Dynamic Simulation of Multibody Systems (1994), section 5.2.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import qr

from ..errors import ModelError, listed, unknown
from ..numerics.arrays import Floats

DEPENDENT = 1e-10  # of the largest pivot
HELD = 1e-8  # left of a constraint that cannot be met, relative


def independent_columns(Phi_q: Floats, names: Sequence[str], asked: Sequence[str] | None) -> list[int]:
    """The places of the independent coordinates: those named, or the best conditioned."""
    if asked is not None:
        wanted = [asked] if isinstance(asked, str) else list(asked)
        for name in wanted:
            if name not in names:
                raise ModelError(f"there is no coordinate '{name}'. {unknown('coordinate', name, names)}")
        return [list(names).index(name) for name in wanted]
    if not len(Phi_q):
        return list(range(len(names)))
    _, triangle, order = qr(Phi_q, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    rank = int(np.sum(pivots > DEPENDENT * pivots.max(initial=0.0)))
    return sorted(int(j) for j in order[rank:])


def matrix_of_motions(Phi_q: Floats, independent: list[int], names: Sequence[str]) -> Floats:
    """R = [ -Phi_d^-1 Phi_i ; 1 ], in the order of the coordinates."""
    return _solved(
        Phi_q, np.zeros((len(Phi_q), len(independent))), independent, np.eye(len(independent)), names
    )


def particular_motion(Phi_q: Floats, right: Floats, independent: list[int], names: Sequence[str]) -> Floats:
    """The rates that meet Phi_q x = right while the independent ones are zero."""
    none = np.zeros((len(independent), 1))
    return _solved(Phi_q, right[:, None], independent, none, names)[:, 0]


def _solved(
    Phi_q: Floats, right: Floats, independent: list[int], given: Floats, names: Sequence[str]
) -> Floats:
    n = Phi_q.shape[1]
    dependent = [j for j in range(n) if j not in independent]
    out = np.zeros((n, given.shape[1]))
    out[independent] = given
    left = right - Phi_q[:, independent] @ given
    x, _, rank, _ = np.linalg.lstsq(Phi_q[:, dependent], left, rcond=DEPENDENT)
    missed = np.abs(Phi_q[:, dependent] @ x - left).max(initial=0.0)
    if rank < len(dependent) or missed > HELD * max(1.0, np.abs(left).max(initial=0.0)):
        chosen = listed([names[j] for j in independent]) if independent else "no coordinate"
        free = n - int(np.linalg.matrix_rank(Phi_q)) if len(Phi_q) else n
        raise ModelError(
            f"{chosen} cannot be independent here: the mechanism has {free} free motions in this pose, and the other "
            "coordinates do not follow. Choose others, or leave out `independent`."
        )
    out[dependent] = x
    return out
