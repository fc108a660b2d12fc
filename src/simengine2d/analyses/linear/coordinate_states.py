"""States of a linearization in the coordinates of a family.

    dq = Z dv,      dz = R^+ Z dv = T dv,      A_z = T A T^-1

R^+ takes velocities of bodies to those of the coordinates. Of dz as many are kept as there are free motions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...coordinates.base import Family
from ...errors import UnsupportedError
from ...methods import CoordinatesName
from ...numerics.arrays import Floats

if TYPE_CHECKING:
    from .variation import Variation


def coordinate_states(
    variation: Variation, Z: Floats, coordinates: CoordinatesName
) -> tuple[Floats, list[str]]:
    """The matrix from (dv, dvd) to the states, and their names."""
    if np.any(variation.qd):
        raise UnsupportedError(
            "states in other coordinates are those about a pose at rest; leave out coordinates, or the velocities."
        )
    from scipy.linalg import qr

    family = Family.registry.named(coordinates)(variation.system, variation.q)
    dz = np.column_stack([family.velocities(variation.q, motion) for motion in Z.T])
    d = Z.shape[1]
    # the coordinates that move most, each beside the others
    chosen = sorted(qr((dz / family.sizes[:, None]).T, pivoting=True, mode="r")[1][:d])
    T: Floats = np.kron(np.eye(2), dz[chosen]).astype(np.float64)
    names = [family.names[i] for i in chosen]
    return T, names + [f"{name}d" for name in names]
