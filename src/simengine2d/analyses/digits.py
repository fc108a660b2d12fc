"""What double precision loses in the equations of motion, in words, and the pace at which a mechanism moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import listed
from ..system.system import System
from .assembly.assemble import Assembly

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)

REPORTED = 1e-8  # residual of an equation, relative to its terms, from which it is reported
WRONG = 1e-4  # the same from which accelerations and reactions are useless
OPEN = (
    1e-6  # gap of a joint at an output, relative to the smallest length around it, from which it is reported
)
APART = 1e-3  # the same from which the results are useless
GIVES = 1e-4  # share of the accelerations by which compliant joints may yield unreported
BROKEN = 0.1  # the same from which the results are useless


def lost_digits(system: System, lost: float) -> str | None:
    """A sentence if the equations of motion hold to too few digits at an output."""
    if lost <= REPORTED:
        return None
    return f"double precision satisfies the equations of motion{_extremes(system)} only to {lost:.0e} of their terms"


def wrong_steps(system: System, moved: float, least: float) -> str | None:
    """A sentence if steps were made with accelerations that outputs had to correct by more than `least`."""
    if moved <= least:
        return None
    return (
        f"in double precision{_extremes(system)} the accelerations of the steps were wrong by {moved:.0e} of their "
        "size; those at the outputs are right, but the motion may not be. Use the default formulation and coordinates"
    )


def soft_joints(given: float) -> str | None:
    """A sentence if compliant constraints yield at an output."""
    if given <= GIVES:
        return None
    return f"the joints yield by {given:.0e} of the accelerations, since the forces on them are large for the bodies"


def _extremes(system: System) -> str:
    """The quantities that differ by many orders of magnitude in a mechanism, in words."""
    extremes = [
        f"{what} from {values.min():.2g} to {values.max():.2g} {unit}"
        for what, values, unit in (
            ("masses", _positive(system.arrays.mass), "kg"),
            ("inertias", _positive(system.arrays.inertia), "kg m^2"),
            ("arms", system.arms, "m"),
        )
        if values.size and values.max() > 100.0 * values.min()
    ]
    return f" with {listed(extremes)} in one mechanism" if extremes else ""


def open_joints(system: System, gap: float) -> str | None:
    """A sentence if joints stay open at an output; `gap` is scaled to a length of the mechanism."""
    if gap <= OPEN * system.length:
        return None
    return f"joints stay open by {gap / system.length:.0e} of the size of their bodies"


def far_from_the_origin(system: System, q: Floats, least: float) -> str | None:
    """A sentence if rounding moves a body by more than `least` of its size."""
    if EPS * np.abs(q).max(initial=0.0) <= least * system.arms.min(initial=np.inf):
        return None
    places = np.abs(q.reshape(-1, 3)[:, :2]).max(axis=1, initial=0.0)
    shares = EPS * places / system.arms
    b = int(np.argmax(shares)) if shares.size else 0
    if not shares.size or shares[b] <= least:
        return None
    return (
        f"body '{system.bodies[b].name}' is {places[b]:.2g} m from the origin, where double precision resolves "
        f"positions only to {shares[b]:.0e} of its size ({system.arms[b]:.2g} m); move the mechanism closer to it"
    )


def _positive(values: Floats) -> Floats:
    return values[values > 0.0]


def pace(system: System, at: Assembly) -> float:
    """How fast velocities change a pose, 1/s, if that is slow; 1 if it is not, or if unknown.

    A mechanism of 1000 km swings in minutes: a velocity error that is small within a second is not small then.
    """
    L = system.length
    rates = np.abs(at.qd.reshape(-1, 3) / [L, L, 1.0]).max(initial=0.0)
    fastest = float(max(rates, np.sqrt(np.hypot(*system.arrays.gravity) / L)))
    return min(1.0, fastest) if 0.0 < fastest < np.inf else 1.0
