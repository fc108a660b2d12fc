"""Statics at a closed pose: which forces are balanced by the joints, and which remain in the free motions.

With the motions Z that the constraints leave free, Phi_q Z = 0, a pose is an equilibrium if

    Z^T QA = 0,      and its stiffness there is Z^T K Z with K = (Phi_q^T lam)_q - QA_q

Z is orthonormal in coordinates that are all lengths, so the components of Z^T QA are forces of comparable size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...errors import UnsupportedError, listed
from ...numerics.arrays import Floats
from ...system.system import System
from ..assembly.diagnose import in_words
from .stiffness import constraint_stiffness, finite_slopes
from .tangent_space import TangentSpace, closed_near

LARGEST_TURN = 0.5  # rad in one step: beyond it a linear model is useless
LARGEST_SHIFT = 0.5  # of a typical length
SHIFT = 1e-2  # of a typical length, in which forces change as over the whole of it
AT_REST = 1e-6  # residual force on a body, relative to those that act on it, below which it stays at rest
ROUNDING = 1e-14  # relative to the largest forces of the mechanism


class Hold(NamedTuple):
    """Springs from every coordinate to its value in `pose` that replace a part of the mechanism's own forces."""

    part: float
    stiffness: float
    pose: Floats


@dataclass(frozen=True)
class Balance:
    """Forces at rest in a closed pose."""

    system: System
    t: float
    space: TangentSpace
    hold: Hold | None = None

    @property
    def q(self) -> Floats:
        return self.space.q

    @cached_property
    def Z(self) -> Floats:
        return self.space.motions

    @cached_property
    def applied(self) -> Floats:
        """QA; while it is held, (1 - part) QA - part k (q - pose)."""
        own = self.system.QA(self.t, self.q, np.zeros(self.system.n))
        if self.hold is None:
            return own
        part, k, pose = self.hold
        return (1.0 - part) * own - part * k * (self.q - pose) / self.space.scale**2

    @cached_property
    def lam(self) -> Floats:
        """Phi_q^T lam = QA, in the least-squares sense."""
        return self.space.multipliers(self.applied)

    @cached_property
    def force(self) -> Floats:
        """Z^T QA: the residual forces in the free motions."""
        return np.asarray(self.Z.T @ self.applied)

    @cached_property
    def stiffness(self) -> Floats:
        """Z^T K Z."""
        part, k, _ = self.hold or (0.0, 0.0, None)
        own = finite_slopes(self.system, self.t, self.q, np.zeros(self.system.n))[0]
        K = constraint_stiffness(self.system, self.t, self.q, self.lam) - (1.0 - part) * own
        return np.asarray(self.Z.T @ K @ self.Z) + part * k * np.eye(self.Z.shape[1])

    @property
    def left_over(self) -> float:
        return float(np.linalg.norm(self.force))

    @cached_property
    def size(self) -> float:
        """The scale of forces: those applied, or those of a shift by a typical length."""
        return max(
            float(np.linalg.norm(self.space.scale * self.applied)), float(self.shift_forces.max()), 1e-300
        )

    @cached_property
    def shift_forces(self) -> Floats:
        """The change of the force on each coordinate, as a force, in a shift by a typical length.

        By a small shift and not by derivatives: a spring of zero length has infinite stiffness.
        """
        n, random = self.system.n, np.random.default_rng(0)
        shift = SHIFT * self.system.length * self.space.scale * random.choice([-1.0, 1.0], n)
        forces = [self.system.QA(self.t, self.q + sign * shift, np.zeros(n)) for sign in (1.0, -1.0)]
        changes = [np.abs(self.space.scale * (force - self.applied)) / SHIFT for force in forces]
        return np.asarray(np.nan_to_num(np.max(changes, axis=0), nan=0.0, posinf=0.0))

    @cached_property
    def unbalanced(self) -> list[tuple[str, float, float]]:
        """Bodies that would begin to move: name, residual force on it, and the forces that act on it."""
        J = self.system.Phi_q(self.t, self.q)
        rest = np.abs(self.space.scale * (self.applied - J.T @ self.lam)).reshape(-1, 3).max(axis=1)
        acting = np.abs(self.applied) + np.abs(J).T @ np.abs(self.lam)
        acting = np.maximum(self.space.scale * acting, self.shift_forces).reshape(-1, 3).max(axis=1)
        allowed = AT_REST * acting + ROUNDING * self.size
        return [
            (body.name, float(rest[i]), float(acting[i]))
            for i, body in enumerate(self.system.bodies)
            if not rest[i] <= allowed[i]
        ]

    @property
    def coordinates(self) -> str | None:
        """The coordinates in which steps are taken; None are those of the bodies."""
        return None

    def near(self, q: Floats) -> Balance | None:
        """The balance in the closed pose near q."""
        return balance_near(self.system, self.t, q)

    def moved(self, y: Floats) -> Balance | None:
        """The balance after the free motion Z y, projected onto the constraints; None if it does not close."""
        return balance_near(self.system, self.t, self.q + self.Z @ y, self.hold)

    def is_near(self, other: Balance) -> bool:
        """Whether another pose is a hundredth of a typical length away at most."""
        return bool(np.abs((other.q - self.q) / self.space.scale).max() <= 0.01 * self.system.length)

    def in_words(self) -> str:
        """The motion in which a residual force acts."""
        return in_words(self.system, self.q, self.Z @ self.force)


def balance_near(system: System, t: float, q: Floats, hold: Hold | None = None) -> Balance | None:
    """Forces in the closed pose near q; None if it does not close, or if a force has no value there."""
    space = closed_near(system, t, q)
    here = None if space is None else Balance(system, t, space, hold)
    return here if here is not None and np.all(np.isfinite(here.applied)) else None


def limited(system: System, move: Floats) -> float:
    """The fraction of a move for which a linear model is valid."""
    turn = float(np.abs(move[2::3]).max(initial=0.0))
    shift = float(np.abs(np.concatenate([move[0::3], move[1::3]])).max(initial=0.0)) / system.length
    return min(1.0, LARGEST_TURN / turn if turn else 1.0, LARGEST_SHIFT / shift if shift else 1.0)


def check_static(system: System) -> None:
    """Refuse models without forces."""
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    if system.n == 0:
        raise UnsupportedError(f"model '{system.model.name}' has no bodies; add one with model.body(...).")


def moving_in_time(system: System) -> list[str]:
    """Elements whose value or force changes with time."""
    names = [system.rows[row][0] for row in system.moving_rows]
    names += [name for name, law in system.laws if law.reads_time]
    return list(dict.fromkeys(names))


def held_at(system: System, t: float) -> list[str]:
    """A note on functions of time, which are held at their value at t."""
    moving = moving_in_time(system)
    if not moving:
        return []
    words = (
        "changes with time and was held as it is"
        if len(moving) == 1
        else "change with time and were held as they are"
    )
    return [f"{listed(moving)} {words} at t = {t:g} s"]
