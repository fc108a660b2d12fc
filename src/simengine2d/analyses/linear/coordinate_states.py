"""States of a linearization in the coordinates of a family.

Independent ones z depend on the independent coordinates v of the bodies, z = g(v, t). With T = dz/dv, and its rates
along the motion about which is linearized,

    [ dz  ]     [ dv  ]          [ T     0 ]
    [ dzd ] = S [ dvd ],     S = [ Td    T ],      A_z = (S A + Sd) S^-1,   B_z = S B,   C_z = C S^-1

At rest in an equilibrium Td = Tdd = 0. Where the mechanism moves, or would begin to, they do not vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...coordinates.base import Family, family_of
from ...errors import ModelError, SingularityError, listed, unknown
from ...methods import ChosenCoordinates
from ...numerics.arrays import Floats
from ..statics.tangent_space import closed_near, named_motions, tangent_space

if TYPE_CHECKING:
    from .variation import Variation

STRIDE = 3e-3  # of a typical length, along the motion: for differences of fourth order, twice
DEPENDENT = 1e-6  # smallest singular value of T, against the largest


class CoordinateStates(NamedTuple):
    """S and its rate, and the names of the states."""

    S: Floats
    Sd: Floats
    names: list[str]


def coordinate_states(
    variation: Variation, chosen: list[int], coordinates: ChosenCoordinates, states: Sequence[str] | None
) -> CoordinateStates:
    """From (dv, dvd), with v the `chosen` coordinates of the bodies; `states` names the coordinates to keep."""
    family = family_of(coordinates, variation.system, variation.q)
    course = _Course(family, variation, chosen)
    kept = _most_moved(family, course.at(0.0)) if states is None else _named(family, course.at(0.0), states)
    T, Td, Tdd = (each[kept] for each in course.derivatives())
    none, names = np.zeros_like(T), [family.names[i] for i in kept]
    S, Sd = np.block([[T, none], [Td, T]]), np.block([[Td, none], [Tdd, Td]])
    return CoordinateStates(S, Sd, names + [f"{name}d" for name in names])


class _Course:
    """T along the motion about which is linearized, q + s qd + s^2/2 qdd with all joints closed."""

    def __init__(self, family: Family, variation: Variation, chosen: list[int]) -> None:
        self.family, self.variation, self.chosen = family, variation, chosen

    def at(self, s: float) -> Floats:
        """T of all coordinates after the time s."""
        v, system = self.variation, self.family.system
        t = v.t if v.held else v.t + s
        space = (
            closed_near(system, t, v.q + s * v.qd + 0.5 * s**2 * v.qdd)
            if s
            else tangent_space(system, t, v.q)
        )
        if space is None:
            raise SingularityError(
                f"near t = {v.t:g} s the mechanism does not close, so its coordinates have no rates. "
                "Linearize about another state, or without coordinates."
            )
        Z = named_motions(system, space, self.chosen)[0]
        still = self.family.velocities(space.q, np.zeros(system.n))
        return np.column_stack([self.family.velocities(space.q, motion) - still for motion in Z.T])

    def derivatives(self) -> tuple[Floats, Floats, Floats]:
        """T, Td and Tdd."""
        T, h = self.at(0.0), self.stride()
        if h is None:
            return T, np.zeros_like(T), np.zeros_like(T)
        back2, back, ahead, ahead2 = (self.at(k * h) for k in (-2, -1, 1, 2))
        Td = (8.0 * (ahead - back) - (ahead2 - back2)) / (12.0 * h)
        Tdd = (16.0 * (ahead + back) - (ahead2 + back2) - 30.0 * T) / (12.0 * h**2)
        return T, Td, Tdd

    def stride(self) -> float | None:
        """The time in which the mechanism moves by a small part of its size; None if it stays at rest."""
        v, system = self.variation, self.family.system
        if v.rests:
            return None
        scale = np.tile([system.length, system.length, 1.0], len(system.bodies))
        speed = float(np.abs(v.qd / scale).max(initial=0.0))
        acceleration = float(np.abs(v.qdd / scale).max(initial=0.0))
        return STRIDE / max(speed, acceleration**0.5)


def _most_moved(family: Family, T: Floats) -> list[int]:
    """As many as there are free motions: those that move most, each beside the others."""
    from scipy.linalg import qr

    return sorted(qr((T / family.sizes[:, None]).T, pivoting=True, mode="r")[1][: T.shape[1]])


def _named(family: Family, T: Floats, states: Sequence[str]) -> list[int]:
    for name in states:
        if name not in family.names:
            hint = unknown("coordinate", name, family.names)
            raise ModelError(f"the state '{name}' is not one of the {family.spelling} coordinates. {hint}")
    kept = [family.names.index(name) for name in states]
    if len(kept) != T.shape[1]:
        raise ModelError(
            f"{len(kept)} states are given, but '{family.system.model.name}' has {T.shape[1]} free motions."
        )
    sizes = np.linalg.svd(T[kept] / family.sizes[kept, None], compute_uv=False)
    if sizes[-1] < DEPENDENT * np.abs(T / family.sizes[:, None]).max():
        raise ModelError(f"{listed(states)} do not determine the pose here; choose other coordinates.")
    return kept
