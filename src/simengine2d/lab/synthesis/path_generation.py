"""Path generation with prescribed timing: a point of the coupler meets points P_j when the crank has turned by beta_j.

The crank's dyad closes as A + W exp(i beta_j) + Z exp(i alpha_j) = P_j, with the coupler's turns alpha_j unknown.
Turned back with the crank, P_j - A goes from place to place as a point of a plane does, at the distance |Z| from W:

    w_j = exp(-i beta_j) (P_j - A) = e_j w + t_j,    e_j = exp(-i beta_j),  t_j = e_j (P_j - P_1),    |w_j - W| = |Z|

So W and w = P_1 - A are a crank of Burmester's. It gives the turns alpha_j, and with them P_j become poses of the
coupler, through which a second crank or a slider leads. Sandor and Erdman, Advanced Mechanism Design, vol. 2, 1984,
section 3.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ModelError
from ...expressions.evaluate import number
from ...numerics.arrays import Floats
from .dyads import (
    Displacements,
    Dyad,
    burmester_curves,
    by_center,
    by_circle_point,
    five_pose_dyads,
)
from .motion_generation import SAME, four_bars_of, slider_cranks_of
from .slider_dyads import by_guide, slider_dyads
from .solutions import SynthesizedLinkage, SynthesizedLinkages, sorted_by_quality
from .targets import SynthesisTarget, path_target

SAMPLES = 6


def path(
    points: Sequence[Sequence[Any]],
    rotations: Sequence[Any],
    *,
    fixed_pivots: Sequence[Sequence[Any]] | None = None,
    guide: Any = None,
    samples: int = SAMPLES,
) -> SynthesizedLinkages:
    """All linkages that lead a point of their coupler through `points` when the crank has turned by `rotations`.

    - five points: a finite number of four-bars, at most twelve;
    - four: cranks and rockers along curves, looked at in `samples` directions, and one slider for each crank;
    - three: the fixed pivots of crank and rocker are chosen; of a slider-crank that of the crank and the angle of the
      `guide`.
    """
    target = path_target(points, inputs=rotations)
    n = len(target)
    if not 3 <= n <= 5:
        raise ModelError(
            f"path: {n} points; with prescribed rotations a four-bar meets three to five exactly. "
            "synthesize('four-bar', path_target(points)) approximates others."
        )
    _refuse_choices(n, fixed_pivots, guide)
    pivots = [complex(number(x), number(y)) for x, y in fixed_pivots or []]
    linkages = [
        linkage
        for crank in _cranks(target, pivots, samples)
        for linkage in _with_crank(crank, target, pivots, guide, samples)
    ]
    return SynthesizedLinkages(f"path through {n} points", target, sorted_by_quality(linkages))


def _refuse_choices(n: int, fixed_pivots: Any, guide: Any) -> None:
    if n > 3 and (fixed_pivots is not None or guide is not None):
        name = "guide" if fixed_pivots is None else "fixed_pivots"
        raise ModelError(f"path: {n} points leave no choice of {name}; leave it out.")
    if n == 3 and len(fixed_pivots or []) != (2 if guide is None else 1):
        raise ModelError(
            "path: three points need fixed_pivots=[crank's, rocker's] or, of a slider-crank, fixed_pivots=[crank's] "
            "and the angle of its guide."
        )


def _cranks(target: SynthesisTarget, pivots: list[complex], samples: int) -> list[Dyad]:
    """The cranks, with their pivot A and their pin B in the first position."""
    P, beta = _places(target)
    move = Displacements(np.zeros((len(P), 3)))
    move.e = np.exp(-1j * beta[1:])
    move.t = move.e * (P[1:] - P[0])
    dyads = (
        five_pose_dyads(move)
        if len(P) == 5
        else burmester_curves(move, samples)
        if len(P) == 4
        else [by_circle_point(move, P[0] - pivots[0])]
    )
    cranks = [Dyad(complex(P[0] - w), complex(P[0] - w + W)) for W, w in dyads]
    return [crank for crank in cranks if np.isfinite(crank.w) and abs(crank.w - crank.m) > SAME * move.size]


def _with_crank(
    crank: Dyad, target: SynthesisTarget, pivots: list[complex], guide: Any, samples: int
) -> list[SynthesizedLinkage]:
    """The linkages of one crank: its coupler's turns make poses of the points."""
    P, beta = _places(target)
    Z = P - (crank.m + (crank.w - crank.m) * np.exp(1j * beta))
    poses = np.column_stack([P.real, P.imag, np.angle(Z / Z[0])])
    move = Displacements(poses)
    if np.abs(move.e - 1.0).max() < SAME:
        return []  # the coupler does not turn
    if len(P) > 3:
        rockers = five_pose_dyads(move) if len(P) == 5 else burmester_curves(move, samples)
        sliders = slider_dyads(move)
    else:
        rockers = [by_center(move, pivot) for pivot in pivots[1:]]
        sliders = [] if guide is None else [by_guide(move, number(guide))]
    linkages = four_bars_of([(crank, rocker) for rocker in rockers], move, target, either_input=False)
    return linkages + slider_cranks_of([(crank, slider) for slider in sliders], move, target)


def _places(target: SynthesisTarget) -> tuple[np.ndarray, Floats]:
    assert target.inputs is not None
    return target.rows[:, 0] + 1j * target.rows[:, 1], target.inputs - target.inputs[0]
