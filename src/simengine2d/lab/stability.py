"""`stability_region`: the steps for which a method is stable.

In y' = lambda y a step of size h multiplies y by R(z), z = h lambda. Where |R| <= 1 nothing grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedError, answers_misspellings
from ..integrators.ode_method import OdeMethod
from ..integrators.second_order_tables import alpha_table
from ..methods import AlphaMethod, Integrator, IntegratorName
from ..numerics.arrays import Floats
from .combinations import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SMALL, LARGE = 2.5, 40.0  # half the width of a picture, at least and at most
POINTS = 101  # along half of each side of it


def growth(method: str | Integrator, z: Any) -> Floats:
    """|R(z)|, by which a step multiplies y; of second-order methods, an oscillation with the roots z and conj z."""
    solver = Integrator.registry.made(method)
    z = np.asarray(z, dtype=complex)
    with np.errstate(all="ignore"):
        if isinstance(solver, AlphaMethod):
            return oscillation_growth(solver.coefficients, z)
        if isinstance(solver, OdeMethod):
            return np.abs(solver.stability(z))
    raise UnsupportedError(f"{method!r} has no stability function.")


def oscillation_growth(coefficients: tuple[float, float, float, float], z: NDArray[np.complex128]) -> Floats:
    """The largest eigenvalue of a step of q'' = 2 Re(z) q' - |z|^2 q with h = 1.

    With X = (q, qd, a, qdd) kept, q1 = U X + B qdd1 and qd1 = V X + C qdd1 give qdd1, and so the new X.
    """
    T = alpha_table(coefficients)
    U, V, B, C = T.U[0], T.V[0], T.B[0, 0], T.C[0, 0]
    damping, stiffness = -2.0 * z.real[..., None], (np.abs(z) ** 2)[..., None]
    acceleration = -(stiffness * U + damping * V) / (1.0 + stiffness * B + damping * C)
    position, velocity = U + B * acceleration, V + C * acceleration
    step = T.S + sum(
        T.N[:, i, None] * row[..., None, :] for i, row in enumerate((position, velocity, acceleration))
    )
    radius: Floats = np.abs(np.linalg.eigvals(step)).max(axis=-1)
    return radius


@answers_misspellings
def stability_region(
    method: IntegratorName | str | Integrator, ax: Axes | None = None, *, width: float | None = None
) -> Axes:
    """Draw where |R(z)| <= 1, in the complex plane of z = h lambda; `width` is how far the picture reaches.

    Newmark, HHT and generalized-alpha solve second-order equations: there z is one root of a damped oscillation, its
    conjugate the other.
    """
    from .pictures import plot_stability

    solver = Integrator.registry.made(method)
    reach = reach_of_boundary(solver) if width is None else float(width)
    x, y = np.linspace(-reach, reach, 2 * POINTS - 1), np.linspace(0.0, reach, POINTS)
    upper = growth(solver, x + 1j * y[:, None])
    # conjugate roots grow alike
    size, y = np.vstack([upper[:0:-1], upper]), np.concatenate([-y[:0:-1], y])
    return plot_stability(label(solver), x, y, size, ax)


def reach_of_boundary(method: Integrator) -> float:
    """How far from zero the boundary |R| = 1 goes, where it is closed, with a margin."""
    radius = np.geomspace(0.1, LARGE, 200)
    angle = np.linspace(0.02, np.pi - 0.02, 60)  # the axes themselves may be boundaries all along
    inside = growth(method, radius[:, None] * np.exp(1j * angle)) <= 1.0
    crossed = (inside[1:] != inside[:-1]).any(axis=1)
    last = radius[1:][crossed].max(initial=0.0)
    return SMALL if last > 0.8 * LARGE else float(max(SMALL, 1.15 * last))
