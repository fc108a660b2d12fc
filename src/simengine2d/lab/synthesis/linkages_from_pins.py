"""Linkages of the classical methods, made of their pins in all positions."""

from __future__ import annotations

import cmath

import numpy as np

from ...analyses.linkage.grashof import grashof_of
from .defects import FourBarPositions, PinPositions, SliderCrankPositions, best_driven, defects_of, travel
from .linkage_types import FOUR_BAR, SLIDER_CRANK, LinkageType
from .solutions import SynthesizedLinkage
from .targets import FUNCTION, POSES, SynthesisTarget

SHORTEST = 1e-6  # of the longest link: a link of less is no link
SAMPLES = 90


def synthesized_four_bar(
    positions: FourBarPositions, target: SynthesisTarget, either_input: bool = True
) -> SynthesizedLinkage | None:
    """The linkage with its defects; None if one of its links has no length."""
    sides = [length for _, length in positions.lengths.named()]
    if not np.isfinite(sides).all() or min(sides) <= SHORTEST * max(sides) or not positions.lengths.closes():
        return None
    if either_input:
        positions = best_driven(positions)
    parameters = four_bar_parameters(positions, _point(positions, target))
    return _synthesized(FOUR_BAR, parameters, positions, target)


def synthesized_slider_crank(
    positions: SliderCrankPositions, target: SynthesisTarget
) -> SynthesizedLinkage | None:
    """The linkage, driven at its crank, with its defects; None if crank or rod has no length."""
    r, rod = positions.lengths.crank, positions.lengths.rod
    if not np.isfinite([r, rod]).all() or min(r, rod) <= SHORTEST * max(r, rod):
        return None
    parameters = slider_crank_parameters(positions, _point(positions, target))
    return _synthesized(SLIDER_CRANK, parameters, positions, target)


def _synthesized(
    kind: LinkageType, parameters: dict[str, float], positions: PinPositions, target: SynthesisTarget
) -> SynthesizedLinkage:
    inputs, _ = travel(positions)
    sides = (int(positions.branches()[0]) or 1,)
    way = np.linspace(inputs[0], inputs[-1], SAMPLES)
    phase = cmath.phase(positions.C[0] - positions.B[0])
    return SynthesizedLinkage(
        kind,
        parameters,
        sides,
        inputs,
        target,
        grashof_of(positions.lengths).type,
        kind.least_transmission(parameters, way, sides),
        defects_of(positions),
        float(target.rows[0, 2]) - phase if target.kind == POSES else 0.0,
    )


def _point(positions: PinPositions, target: SynthesisTarget) -> complex:
    """The led point in the first position; of a function generator, the coupler's middle."""
    if target.kind == FUNCTION:
        return complex(0.5 * (positions.B[0] + positions.C[0]))
    return complex(*target.rows[0, :2])


def four_bar_parameters(positions: FourBarPositions, P: complex) -> dict[str, float]:
    """The parameters of the type from the pins in the first position."""
    A, D, B, C = positions.A, positions.D, complex(positions.B[0]), complex(positions.C[0])
    return {
        "Ax": A.real, "Ay": A.imag, "ground": abs(D - A), "ground_angle": cmath.phase(D - A),
        "crank_angle": cmath.phase(B - A), "crank": abs(B - A), "coupler": abs(C - B), "rocker": abs(C - D),
        **_local(P, B, C),
    }  # fmt: skip


def slider_crank_parameters(positions: SliderCrankPositions, P: complex) -> dict[str, float]:
    """The parameters of the type from the pins in the first position."""
    A, B, C = positions.A, complex(positions.B[0]), complex(positions.C[0])
    return {
        "Ax": A.real, "Ay": A.imag, "guide_angle": cmath.phase(positions.direction),
        "offset": positions.lengths.offset, "crank_angle": cmath.phase(B - A), "crank": abs(B - A), "rod": abs(C - B),
        **_local(P, B, C),
    }  # fmt: skip


def _local(P: complex, B: complex, C: complex) -> dict[str, float]:
    """P from B, along BC and across it."""
    local = (P - B) * (C - B).conjugate() / abs(C - B)
    return {"Px": local.real, "Py": local.imag}
