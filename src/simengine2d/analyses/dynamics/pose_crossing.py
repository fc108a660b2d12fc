"""The motion through a singular pose, between states on both sides of it.

It is the polynomial through positions, velocities and accelerations there:

    q(t) = q_0 + sum_k c_k x^k,      -1 <= x <= 1

Stages of the steps across the pose, which are near it, have lost their digits.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from .approach import Approach

if TYPE_CHECKING:
    from .bridge import Bridge

CLOSED = 1e-11  # to which the polynomial satisfies the constraints at the pose, relative to a length of the mechanism


class PoseCrossing:
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
        self.origin, h = known[0][1][:n], self.half
        values = [part for _, y, qdd in known for part in (y[:n] - self.origin, h * y[n:], h * h * qdd)]
        nodes = self.places(np.array([t for t, _, _ in known]))
        self.coefficients = solver(tuple(np.round(nodes, 12).tolist())) @ np.array(values)

    def places(self, times: Floats) -> Floats:
        """x, from -1 to 1."""
        return (times - 0.5 * (self.before + self.after)) / self.half

    def through(self, times: Floats) -> Floats:
        """States between the two sides of the pose."""
        states = np.empty((times.size, 2 * self.origin.size))
        along_polynomial(self.coefficients, self.places(times), self.origin, self.half, states)
        return states

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


@kernel(entry=True)
def along_polynomial(c, places, origin, half, states):
    """q and qd at each x, by Horner's scheme."""
    last, n = c.shape[0] - 1, c.shape[1]
    for i in range(places.size):
        x = places[i]
        for j in range(n):
            q, slope = c[last, j], 0.0
            for k in range(last - 1, -1, -1):
                slope = slope * x + q
                q = q * x + c[k, j]
            states[i, j], states[i, n + j] = origin[j] + q, slope / half


def powers_of(x: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """x^k, k x^(k - 1) and k (k - 1) x^(k - 2), one row for each x."""
    k = np.arange(count)
    powers = x[:, None] ** k
    slopes, bends = np.zeros_like(powers), np.zeros_like(powers)
    slopes[:, 1:] = k[1:] * powers[:, :-1]
    bends[:, 2:] = k[2:] * slopes[:, 1:-1]
    return powers, slopes, bends


@lru_cache(8)
def solver(nodes: tuple[float, ...]) -> Floats:
    """The matrix from values and two derivatives at each node to the coefficients."""
    rows = powers_of(np.array(nodes), 3 * len(nodes))
    inverse: Floats = np.linalg.inv(np.stack(rows, axis=1).reshape(-1, 3 * len(nodes))).astype(np.float64)
    return inverse
