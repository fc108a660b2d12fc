"""All equilibria in a region: Newton's method from many poses.

The poses lie on walks over the constraints, away from the start. With one free motion two walks pass every pose of the
region, so nothing wider than a stride is missed. With more, walks in many directions (a Sobol sequence) cover the
region sparsely, and an equilibrium may be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

import numpy as np

from ...errors import ModelError
from ...numerics.arrays import Floats
from ...results.results import Results
from .equilibrium_newton import FoundEquilibrium, newton
from .stability import NEUTRAL, stability
from .statics import Balance
from .tangent_space import tangent_space

Region = Mapping[str, tuple[float, float]]
Test = Callable[[Floats], bool]

STRIDE, FAR_STRIDE = 0.2, 0.5  # typical lengths from one pose to the next, with one free motion and with more
TURNS, REACH = 2.0 * np.pi, 20.0  # the default region: a turn and 20 lengths in either direction
MOST_STRIDES = 1000
MOST_WALKS = 9  # binary logarithm of the number of walks, which doubles with every free motion
SAME = 1e-6  # typical lengths between poses that count as the same


def search(start: Balance, region: Region | None) -> list[FoundEquilibrium]:
    """Every equilibrium found, in the order of their coordinates."""
    inside = _inside(start, region)
    equilibria: list[FoundEquilibrium] = []
    for pose in _poses(start, inside):
        there = newton(pose)
        if (
            there is not None
            and inside(there.balance.q)
            and not any(_same(there, other) for other in equilibria)
        ):
            back = _turned_back(there, start)
            equilibria.append(back if inside(back.balance.q) else there)
    return sorted(
        equilibria, key=lambda f: tuple(np.round(f.balance.q[2::3], 6)) + tuple(np.round(f.balance.q, 6))
    )


def _inside(start: Balance, region: Region | None) -> Test:
    """A test whether a pose lies in the region."""
    if region is None:
        limits = np.tile([REACH * start.system.length] * 2 + [TURNS], len(start.system.bodies))
        return lambda q: bool(np.all(np.abs(q - start.q) <= limits + SAME))
    for channel, pair in region.items():
        if np.shape(pair) != (2,) or not pair[0] < pair[1]:
            raise ModelError(f"the region of '{channel}' is {pair!r}; write (low, high).")

    def test(q: Floats) -> bool:
        row, zero = q[None, :], np.zeros((1, q.size))
        results = Results(start.system, np.zeros(1), row, zero, zero)
        return all(
            low - SAME <= results[channel][0] <= high + SAME for channel, (low, high) in region.items()
        )

    if not test(start.q):
        raise ModelError("the start lies outside the region; start inside, or widen it.")
    return test


def _poses(start: Balance, inside: Test) -> Iterator[Balance]:
    """The start; then the promising poses on both sides of it, or the ends and middles of walks in all directions."""
    yield start
    d = start.space.freedom
    if d == 0:
        return
    if d == 1:
        for sign in (1.0, -1.0):
            yield from _promising(start, list(_walk(start, np.array([sign]), STRIDE, MOST_STRIDES, inside)))
        return
    from scipy.stats import qmc

    spread = 2.0 * qmc.Sobol(d, scramble=False).random_base2(min(d + 4, MOST_WALKS)) - 1.0
    for heading in TURNS / FAR_STRIDE * spread:
        walk = list(_walk(start, heading, FAR_STRIDE, int(np.linalg.norm(heading)), inside))
        yield from walk[len(walk) // 2 : len(walk) // 2 + 1] + walk[-1:]


def _walk(start: Balance, heading: Floats, stride: float, strides: int, inside: Test) -> Iterator[Balance]:
    """Poses a stride apart, straight on, up to the end of the region or of the constraints."""
    here, scale, direction = start, start.space.scale, start.Z @ heading
    for _ in range(strides):
        y = (here.Z / scale[:, None]).T @ (direction / scale)  # the part of the direction that is free here
        size = float(np.linalg.norm(y))
        there = here.moved(stride * here.system.length * y / size) if size > 1e-9 else None
        if there is None or not inside(there.q):
            return
        direction, here = there.q - here.q, there
        yield here


def _promising(start: Balance, walk: list[Balance]) -> Iterator[Balance]:
    """Poses where the force along a walk changes sign or has a local minimum; and the ends."""
    line = [start, *walk]
    forces = []
    for before, here in pairwise(line):
        along = np.sign((here.q - before.q) @ (here.Z[:, 0] / here.space.scale**2))
        forces.append(along * here.force[0])
    for i in range(1, len(forces)):
        dips = i + 1 < len(forces) and abs(forces[i]) < min(abs(forces[i - 1]), abs(forces[i + 1]))
        if forces[i] * forces[i - 1] <= 0.0 or dips:
            yield line[i]
            yield line[i + 1]
    yield from line[1:2] + line[-1:]


def _turned_back(equilibrium: FoundEquilibrium, start: Balance) -> FoundEquilibrium:
    """The same pose without the full turns since the start, if they do not change any force."""
    q = equilibrium.balance.q.copy()
    q[2::3] -= 2.0 * np.pi * np.round((q - start.q)[2::3] / (2.0 * np.pi))
    other = FoundEquilibrium(
        Balance(start.system, start.t, tangent_space(start.system, start.t, q)), equilibrium.iterations
    )
    opened = start.system.Phi(start.t, q) - start.system.Phi(start.t, equilibrium.balance.q)
    closed = np.abs(opened).max(initial=0.0) <= SAME
    return other if closed and _same_pose(equilibrium.balance, other.balance) else equilibrium


def _same(a: FoundEquilibrium, b: FoundEquilibrium) -> bool:
    """Equal poses, or poses of one family along which nothing holds the mechanism."""
    return _same_pose(a.balance, b.balance) or _same_family(a.balance, b.balance)


def _same_pose(a: Balance, b: Balance) -> bool:
    """Full turns do not count if they do not change any force."""
    difference = a.q - b.q
    turns = np.round(difference[2::3] / (2.0 * np.pi))
    difference[2::3] -= 2.0 * np.pi * turns
    if np.abs(difference / a.space.scale).max() > SAME * a.system.length:
        return False
    forces = np.abs(a.applied - b.applied) * a.space.scale
    return bool(not turns.any() or forces.max() <= SAME * a.size)


def _same_family(a: Balance, b: Balance) -> bool:
    """Neutral in some motion, and equally stiff in all."""
    if stability(a).verdict != NEUTRAL or stability(b).verdict != NEUTRAL:
        return False
    stiff, other = (np.linalg.eigvalsh(0.5 * (c.stiffness + c.stiffness.T)) for c in (a, b))
    return bool(np.abs(stiff - other).max() <= SAME * a.size / a.system.length)
