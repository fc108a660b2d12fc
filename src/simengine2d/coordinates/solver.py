"""Which kernel pointers serve a formulation in a coordinate family: the quickest that there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..methods import Formulation
from ..system.elimination import unequal
from ..system.equations_of_motion import EquationArrays
from ..system.workspace import MOST_WHOLE
from . import dense
from .base import Family
from .dense import TURNS, pose_dense
from .ode_problem import OdeProblem
from .reference_point import sparse
from .reference_point.reference_point import ReferencePoint
from .relative import recursive
from .relative.relative import Relative
from .row_scales import given_by_bodies

Floats = NDArray[np.float64]


def pose(
    formulation: Formulation,
    family: Family,
    d: EquationArrays,
    t: float,
    z: Floats,
    redundant: bool,
    tolerance: float,
) -> OdeProblem:
    """The ordinary differential equations of a formulation; d is the elimination program of the system."""
    multipliers = formulation.rhs is dense.accelerations
    if multipliers and isinstance(family, ReferencePoint):
        return _sparse(formulation, family, d, t, z, tolerance)
    if multipliers and isinstance(family, Relative) and recursive.suits(family) and not _needs_rows(family):
        return recursive.pose_recursive(formulation, family, t, z, redundant, tolerance)
    return pose_dense(formulation, family, t, z, redundant, tolerance)


def _needs_rows(family: Family) -> bool:
    """Whether loops join bodies so unequal that a matrix with row exchanges serves better than Phi_z M^-1 Phi_z^T."""
    return family.m > 0 and family.n + family.m <= MOST_WHOLE and unequal(family.system)


def _sparse(
    formulation: Formulation, family: Family, d: EquationArrays, t: float, z: Floats, tolerance: float
) -> OdeProblem:
    d = d._replace(stabilization=np.array(formulation.stabilization))
    if formulation.gives_way:
        compliances = formulation.compliances(given_by_bodies(family.system, t, z))
        d = sparse.softened(d, family.system.n, compliances)
    context = sparse.new_context(family.system, d, family.system.new_workspace(d), tolerance)
    finish = sparse.project if formulation.projects else sparse.watch
    rhs = sparse.accelerations.bind(context)
    lam = sparse.latest_multipliers.bind_like(rhs)
    return OdeProblem(rhs, finish.bind_like(rhs), np.zeros(TURNS), context.tolerance, {}, lam=lam)
