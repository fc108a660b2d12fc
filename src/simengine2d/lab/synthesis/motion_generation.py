"""Motion generation: four-bars that lead a plane through two to five poses. Two cranks of Burmester's make one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ...errors import ModelError
from ...expressions.evaluate import number
from .defects import FourBarPositions
from .dyads import (
    Displacements,
    Dyad,
    burmester_curves,
    by_center,
    by_circle_point,
    by_rotation,
    five_pose_dyads,
)
from .four_bars import synthesized_four_bar
from .solutions import SynthesizedLinkage, SynthesizedLinkages, sorted_by_quality
from .targets import SynthesisTarget, pose_target

SAMPLES = 12  # lines through a pole on which cranks of four poses are looked for
SAME = 1e-6  # distance of two pivots, relative to the poses, that are one


def motion(
    poses: Sequence[Sequence[Any]],
    *,
    fixed_pivots: Sequence[Sequence[Any]] | None = None,
    moving_pivots: Sequence[Sequence[Any]] | None = None,
    rotations: Sequence[Any] | None = None,
    samples: int = SAMPLES,
) -> SynthesizedLinkages:
    """All four-bars whose coupler passes through the poses (x, y, angle).

    - five poses: a finite number, at most six;
    - four: two curves of pivots, looked at in 2 `samples` places or fewer;
    - three: two of the pivots are chosen, fixed ones or moving ones as they are in the first pose;
    - two: so are they, and the `rotations` of both cranks from one pose to the other.
    """
    target = pose_target(poses)
    n = len(target)
    if n > 5:
        raise ModelError(
            f"motion: {n} poses; a four-bar meets two to five exactly. synthesize('four-bar', poses) approximates more."
        )
    move = Displacements(target.rows)
    if n >= 4:
        _refuse(n, fixed_pivots=fixed_pivots, moving_pivots=moving_pivots, rotations=rotations)
        dyads = five_pose_dyads(move) if n == 5 else burmester_curves(move, samples)
    else:
        dyads = _chosen(move, fixed_pivots, moving_pivots, rotations)
    linkages = four_bars_of(combinations(dyads, 2), move, target)
    return SynthesizedLinkages(f"motion through {n} poses", target, sorted_by_quality(linkages))


def _refuse(n: int, **choices: Any) -> None:
    for name, value in choices.items():
        if value is not None:
            raise ModelError(f"motion: {n} poses leave no choice of {name}; leave it out.")


def _chosen(move: Displacements, fixed: Any, moving: Any, rotations: Any) -> list[Dyad]:
    """Two or three poses: the cranks of the two pivots that were chosen."""
    n = len(move.e) + 1
    if (fixed is None) == (moving is None):
        raise ModelError(
            f"motion: {n} poses leave the pivots open. Choose two: fixed_pivots or moving_pivots."
        )
    points = [complex(number(x), number(y)) for x, y in (moving if fixed is None else fixed)]
    if len(points) != 2:
        raise ModelError(f"motion: {len(points)} pivots were chosen; a four-bar has two of a kind.")
    if n == 3:
        _refuse(n, rotations=rotations)
        return [by_circle_point(move, w) if fixed is None else by_center(move, w) for w in points]
    if rotations is None or len(rotations) != 2:
        raise ModelError("motion: two poses need the rotations of both cranks, rotations=[...].")
    angles = [number(angle) for angle in rotations]
    name = "w" if fixed is None else "m"
    return [by_rotation(move, beta, **{name: point}) for beta, point in zip(angles, points, strict=True)]


def four_bars_of(
    pairs: Iterable[tuple[Dyad, Dyad]],
    move: Displacements,
    target: SynthesisTarget,
    either_input: bool = True,
) -> list[SynthesizedLinkage]:
    """The four-bars of pairs of cranks, those left out of which a link has no length."""
    linkages = []
    for first, second in pairs:
        if abs(first.m - second.m) > SAME * move.size and abs(first.w - second.w) > SAME * move.size:
            linkage = synthesized_four_bar(pins_of(first, second, move), target, either_input)
            linkages += [] if linkage is None else [linkage]
    return linkages


def pins_of(first: Dyad, second: Dyad, move: Displacements) -> FourBarPositions:
    """The pins in all poses: w_j = e_j w + t_j."""
    B, C = (np.append(dyad.w, move.e * dyad.w + move.t) for dyad in (first, second))
    return FourBarPositions(first.m, second.m, B, C)
