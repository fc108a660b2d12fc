"""Four-bars of the classical methods, made of their pins in all positions."""

from __future__ import annotations

import cmath

import numpy as np

from .defects import FourBarPositions, best_driven, branches, defects_of, travel
from .linkage_types import FOUR_BAR
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
    inputs, _ = travel(positions)
    parameters = four_bar_parameters(positions, _point(positions, target))
    side = (int(branches(positions)[0]) or 1,)
    angle = least_transmission(parameters, inputs[0], inputs[-1])
    phase = cmath.phase(positions.C[0] - positions.B[0])
    offset = float(target.rows[0, 2]) - phase if target.kind == POSES else 0.0
    return SynthesizedLinkage(
        FOUR_BAR,
        parameters,
        side,
        inputs,
        target,
        positions.grashof.type,
        angle,
        defects_of(positions),
        offset,
    )


def _point(positions: FourBarPositions, target: SynthesisTarget) -> complex:
    """The led point in the first position; of a function generator, the coupler's middle."""
    if target.kind == FUNCTION:
        return complex(0.5 * (positions.B[0] + positions.C[0]))
    return complex(*target.rows[0, :2])


def four_bar_parameters(positions: FourBarPositions, P: complex) -> dict[str, float]:
    """The parameters of the type from the pins in the first position."""
    A, D, B, C = positions.A, positions.D, complex(positions.B[0]), complex(positions.C[0])
    local = (P - B) * (C - B).conjugate() / abs(C - B)
    return {
        "Ax": A.real, "Ay": A.imag, "ground": abs(D - A), "ground_angle": cmath.phase(D - A),
        "crank_angle": cmath.phase(B - A), "crank": abs(B - A), "coupler": abs(C - B), "rocker": abs(C - D),
        "Px": local.real, "Py": local.imag,
    }  # fmt: skip


def least_transmission(parameters: dict[str, float], start: float, end: float) -> float:
    """min mu on the way, folded to 0 ... pi/2: cos mu = (b^2 + c^2 - f^2) / (2 b c)."""
    theta = np.linspace(start, end, SAMPLES) - parameters["ground_angle"]
    a, b, c, d = (parameters[name] for name in ("crank", "coupler", "rocker", "ground"))
    f2 = a * a + d * d - 2.0 * a * d * np.cos(theta)
    cosine = np.abs(b * b + c * c - f2).max() / (2.0 * b * c)
    return float(np.arccos(min(1.0, cosine)))
