"""Motion generation: four-bars and slider-cranks that lead a plane through two to five poses.

Two cranks of Burmester's make a four-bar, a crank and a slider a slider-crank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

from ...errors import ModelError, counted
from ...expressions.evaluate import number
from .defects import FourBarPositions, SliderCrankPositions
from .dyads import (
    Displacements,
    Dyad,
    burmester_curves,
    by_center,
    by_circle_point,
    by_rotation,
    five_pose_dyads,
)
from .linkages_from_pins import synthesized_four_bar, synthesized_slider_crank
from .slider_dyads import SliderDyad, by_guide, slider_dyads
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
    guide: Any = None,
    samples: int = SAMPLES,
) -> SynthesizedLinkages:
    """All four-bars and slider-cranks whose coupler passes through the poses (x, y, angle).

    - five poses: a finite number, at most six;
    - four: two curves of pivots, looked at in 2 `samples` places or fewer, and one slider;
    - three: two of the pivots are chosen, fixed ones or moving ones as they are in the first pose; of a slider-crank
      one of them and, at an angle, the `guide`;
    - two: two pivots are chosen, and the `rotations` of both cranks from one pose to the other.
    """
    target = pose_target(poses)
    n = len(target)
    if n > 5:
        raise ModelError(
            f"motion: {n} poses; a four-bar meets two to five exactly. synthesize('four-bar', poses) approximates more."
        )
    move = Displacements(target.rows)
    if n >= 4:
        _refuse(n, fixed_pivots=fixed_pivots, moving_pivots=moving_pivots, rotations=rotations, guide=guide)
        cranks = five_pose_dyads(move) if n == 5 else burmester_curves(move, samples)
        sliders = slider_dyads(move)
    else:
        sliders = _chosen_sliders(move, guide)
        cranks = _chosen(move, fixed_pivots, moving_pivots, rotations, 2 - len(sliders))
    linkages = four_bars_of(combinations(cranks, 2), move, target)
    linkages += slider_cranks_of(product(cranks, sliders), move, target)
    return SynthesizedLinkages(f"motion through {n} poses", target, sorted_by_quality(linkages))


def _refuse(n: int, **choices: Any) -> None:
    for name, value in choices.items():
        if value is not None:
            raise ModelError(f"motion: {n} poses leave no choice of {name}; leave it out.")


def _chosen_sliders(move: Displacements, guide: Any) -> list[SliderDyad]:
    """Three poses: the slider of a guide, if one was chosen."""
    if guide is None:
        return []
    if len(move.e) == 1:
        raise ModelError(
            "motion: a guide needs three poses; of two, every point of the plane can slide from its first place to its "
            "second. Leave it out."
        )
    return [by_guide(move, number(guide))]


def _chosen(move: Displacements, fixed: Any, moving: Any, rotations: Any, count: int) -> list[Dyad]:
    """Two or three poses: the cranks of the pivots that were chosen."""
    n = len(move.e) + 1
    if (fixed is None) == (moving is None):
        raise ModelError(
            f"motion: {n} poses leave the pivots open. Choose {counted(count, 'pivot')}: fixed_pivots or moving_pivots."
        )
    points = [complex(number(x), number(y)) for x, y in (moving if fixed is None else fixed)]
    if len(points) != count:
        linkage = "four-bar has two of a kind" if count == 2 else "slider-crank has one beside its guide"
        raise ModelError(f"motion: {counted(len(points), 'pivot')} chosen; a {linkage}.")
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
    """The pins in all poses."""
    return FourBarPositions(first.m, second.m, move.places(first.w), move.places(second.w))


def slider_cranks_of(
    pairs: Iterable[tuple[Dyad, SliderDyad]], move: Displacements, target: SynthesisTarget
) -> list[SynthesizedLinkage]:
    """The slider-cranks of pairs of a crank and a slider, those left out of which a link has no length."""
    linkages = []
    for crank, slider in pairs:
        pins = SliderCrankPositions(crank.m, slider.direction, move.places(crank.w), move.places(slider.w))
        linkage = synthesized_slider_crank(pins, target)
        linkages += [] if linkage is None else [linkage]
    return linkages
