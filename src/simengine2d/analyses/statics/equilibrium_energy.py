"""Equilibrium as a minimum of the potential energy on the constraints; conservative systems only.

The energy needs no formula of its own, since it changes by the work of the forces along any path between two poses:

    V(b) - V(a) = -integral of QA . dq from a to b

Steps are Newton's with all curvatures made positive, (Z^T K Z)+ y = Z^T QA, so they descend; from a saddle or a
maximum they leave along the most negative curvature. Minima are stable, so unstable equilibria are never found.
"""

from __future__ import annotations

import numpy as np

from ...errors import ConvergenceError, UnsupportedError, listed
from ...model.elements import Wrench
from ...numerics.arrays import Floats
from ...system.system import System
from .equilibrium_newton import FoundEquilibrium, Note, newton, no_equilibrium, unnoted
from .statics import Balance, limited
from .stiffness import force_slopes

MOST_STEPS = 300
LEAST_CURVATURE = 1e-6  # relative to a typical one
NEAR = 1e-6  # residual forces, relative to all forces, at which Newton's method takes over
# curvature, relative to a typical one, below which a maximum cannot be distinguished from a plateau
FLAT = 1e-8
NODES, WEIGHTS = (
    0.5 * (part + shift) for part, shift in zip(np.polynomial.legendre.leggauss(6), (1.0, 0.0), strict=True)
)


def lowest_energy(start: Balance, note: Note = unnoted) -> FoundEquilibrium:
    """The minimum downhill from the start."""
    _refuse_other_forces(start.system, start.t, start.q)
    here: Balance | None = start
    for iteration in range(MOST_STEPS):
        if here is None:
            break
        note(here)
        curvatures, axes = np.linalg.eigh(0.5 * (here.stiffness + here.stiffness.T))
        largest = here.size / here.system.length  # a curvature relative to which others are small
        if here.left_over <= NEAR * here.size:
            if np.all(curvatures > -FLAT * largest):
                return _polished(here, iteration)
            here = _lower(here, 0.1 * here.system.length * axes[:, 0])
            continue
        steepness = np.maximum(np.abs(curvatures), LEAST_CURVATURE * largest)
        here = _lower(here, axes @ ((axes.T @ here.force) / steepness))
    raise ConvergenceError(no_equilibrium(start, "the search for the lowest energy"))


def _polished(here: Balance, iterations: int) -> FoundEquilibrium:
    """The last digits, which the energy does not resolve, by Newton's method."""
    solution = newton(here)
    if solution is None or not here.is_near(solution.balance):
        return FoundEquilibrium(here, iterations)
    return FoundEquilibrium(solution.balance, iterations + solution.iterations)


def _lower(here: Balance, y: Floats) -> Balance | None:
    """A pose of lower energy along y, or in the opposite direction if no force decides."""
    part = limited(here.system, here.Z @ y)
    for _ in range(30):
        for sign in (1.0, -1.0):
            there = here.moved(sign * part * y)
            if there is not None and energy_change(here, there) < -1e-4 * abs(part * (here.force @ y)):
                return there
        part *= 0.5
    return None


def energy_change(a: Balance, b: Balance) -> float:
    """V(b) - V(a)."""
    system, line = a.system, b.q - a.q
    work = sum(
        w * (system.QA(a.t, a.q + x * line, np.zeros(system.n)) @ line)
        for x, w in zip(NODES, WEIGHTS, strict=True)
    )
    return -float(work)


# What is conservative ---------------------------------------------------------------------------------


def _refuse_other_forces(system: System, t: float, q: Floats) -> None:
    names = non_conservative(system, t, q)
    if names:
        titles = listed(system.model.elements[name].title for name in names)
        raise UnsupportedError(
            f"the energy method needs forces with a potential, but {titles} "
            f"{'has' if len(names) == 1 else 'have'} none. Use method='newton' or 'relaxation'."
        )


def non_conservative(system: System, t: float, q: Floats) -> list[str]:
    """Forces without a potential: at rest their derivative QA_q is not symmetric, here or in poses nearby.

    A push on a measure has the potential integral g ds, so only wrenches and formulas are examined.
    """
    names = dict.fromkeys(
        name for name, load in system.loads if isinstance(load, Wrench) or load.formula is not None
    )
    return [name for name in names if not _has_potential(system, name, t, q)]


def _has_potential(system: System, name: str, t: float, q: Floats) -> bool:
    alone = system.model.copy()
    alone.elements = {name: alone.elements[name]}
    other = System(alone)
    random = np.random.default_rng(0)
    for pose in (q, *(q + random.uniform(-1.0, 1.0, q.size) for _ in range(3))):
        by_q = force_slopes(other, t, pose, np.zeros(other.n))[0]
        size = np.abs(by_q).max() + np.abs(other.QA(t, pose, np.zeros(other.n))).max()
        if np.abs(by_q - by_q.T).max() > 1e-7 * size:  # Python functions are differentiated to nine digits
            return False
    return True
