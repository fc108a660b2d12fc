"""The motion through a singular pose, between states on both sides of it.

It is the polynomial through positions, velocities and accelerations there, in Chebyshev's T_k(x), -1 <= x <= 1. Stages
of the steps across the pose, which are near it, have lost their digits.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Floats
from .approach import Approach

if TYPE_CHECKING:
    from .bridge import Bridge

CLOSED = 1e-9  # to which the polynomial satisfies the constraints at the pose, relative to a length of the mechanism


class Passage:
    """The motion from the beginning of an approach, through the pose, to a time after it."""

    def __init__(
        self,
        bridge: Bridge,
        approach: Approach,
        known: list[tuple[float, Floats, Floats]],
        end: float,
        last: Floats,
    ) -> None:
        """`known` are time, state and accelerations on both sides of the pose; `last` is the state at the end."""
        self.bridge, self.approach, self.begin, self.end, self.last = (
            bridge,
            approach,
            approach.begin,
            end,
            last,
        )
        self.first, (self.before, _, _), (self.after, self.beyond, _) = approach.first, known[0], known[-1]
        n, self.half = bridge.system.n, 0.5 * (self.after - self.before)
        values = [part for _, y, qdd in known for part in (y[:n], self.half * y[n:], self.half**2 * qdd)]
        nodes = self.places(np.array([t for t, _, _ in known]))
        self.coefficients = solver(tuple(np.round(nodes, 12))) @ np.array(values)

    def places(self, times: Floats) -> Floats:
        """x, from -1 to 1."""
        return (times - 0.5 * (self.before + self.after)) / self.half

    def through(self, times: Floats) -> Floats:
        """States between the two sides of the pose."""
        degree, x = len(self.coefficients) - 1, self.places(times)
        T, Td = chebyshev(x, degree)[:2]
        return np.hstack([T @ self.coefficients, Td @ self.coefficients / self.half])

    def __call__(self, times: Floats) -> list[tuple[Floats, Floats]]:
        n = self.bridge.system.n
        return [(y[:n], y[n:]) for y in self.through(times)]

    def closes_at(self, t: float) -> bool:
        """Whether the joints stay closed at the pose: they would not where the motion only comes near to it."""
        return (
            self.before < t < self.after and self.bridge.misses(t, self.through(np.array([t]))[0]) <= CLOSED
        )

    def states(self, times: Floats) -> Floats:
        """States at increasing times from the beginning to the end."""
        parts = np.searchsorted(times, [self.before, self.after], side="right")
        earlier, inside, later = np.split(times, parts)
        rows = [self.through(inside)]
        if earlier.size:
            approached = self.approach.states(earlier)
            assert approached is not None
            rows.insert(0, approached)
        if later.size:
            moved = self.bridge.integrate(self.after, self.beyond, later)
            assert moved is not None
            rows.append(moved)
        return np.vstack(rows)


def chebyshev(x: Floats, degree: int) -> Floats:
    """T_k(x), k = 0 ... degree, and two derivatives: T_k+1 = 2 x T_k - T_k-1."""
    T = np.zeros((3, x.size, degree + 1))
    T[0, :, 0], T[0, :, 1], T[1, :, 1] = 1.0, x, 1.0
    for k in range(1, degree):
        T[0, :, k + 1] = 2.0 * x * T[0, :, k] - T[0, :, k - 1]
        T[1, :, k + 1] = 2.0 * (T[0, :, k] + x * T[1, :, k]) - T[1, :, k - 1]
        T[2, :, k + 1] = 2.0 * (2.0 * T[1, :, k] + x * T[2, :, k]) - T[2, :, k - 1]
    return T


@cache
def solver(nodes: tuple[float, ...]) -> Floats:
    """The matrix from values and two derivatives at each node to the coefficients."""
    T = chebyshev(np.array(nodes), 3 * len(nodes) - 1)
    return np.linalg.inv(np.vstack([T[:, i] for i in range(len(nodes))]))
