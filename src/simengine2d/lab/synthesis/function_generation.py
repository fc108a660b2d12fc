"""Function generation: four-bars whose output turns as prescribed at three, four or five angles of the input.

Freudenstein's equation of a four-bar with input a at angle phi, coupler b, output c at angle psi, and ground d:

    K1 cos psi - K2 cos phi + K3 = cos(phi - psi),    K1 = d/a, K2 = d/c, K3 = (a^2 - b^2 + c^2 + d^2) / (2 a c)

Three pairs of angles make it linear in K1, K2, K3. With more pairs the angles at which input and output begin become
unknowns. Seen from the output link, the input link then moves through given poses, and the coupler is a crank of that
motion (Burmester); the ground link is one too, and known beforehand.

F. Freudenstein, Approximate synthesis of four-bar linkages, Trans. ASME 77 (1955) 853-861;
J. M. McCarthy, G. S. Soh, Geometric Design of Linkages, 2nd ed., 2011, section 5.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ModelError, UnsupportedError
from ...expressions.evaluate import number
from ...numerics.arrays import Floats
from .defects import FourBarPositions
from .dyads import Displacements, Dyad, common_point, five_pose_dyads, roots_on_line
from .linkages_from_pins import synthesized_four_bar
from .solutions import SynthesizedLinkages, sorted_by_quality
from .targets import SynthesisTarget, function_target

PARALLEL = 1e-12


def function_generator(
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    *,
    input_start: Any = None,
    output_start: Any = None,
    ground: Any = 1.0,
) -> SynthesizedLinkages:
    """All four-bars that turn their output link by `outputs` when the input link is turned by `inputs`.

    Both are counted from the angles at which the links begin, from the ground line. With three pairs these are given,
    0 by default; with four, `input_start` is, and `output_start` is found; with five, both are found.
    """
    target = function_target(inputs, outputs)
    assert target.inputs is not None
    phi, psi, d = target.inputs, np.array([number(angle) for angle in outputs]), number(ground)
    if d <= 0.0:
        raise ModelError(f"function_generator: ground = {d:g} must be positive.")
    _refuse_starts(len(phi), input_start, output_start)
    start, end = (number(angle or 0.0) for angle in (input_start, output_start))
    if len(phi) == 3:
        pairs = freudenstein(phi + start, psi + end, d)
    else:
        pairs = by_inversion(phi, psi, d, start)
    linkages = [_four_bar(dyad, phi, psi, d, target) for dyad in pairs]
    kept = [linkage for linkage in linkages if linkage is not None]
    return SynthesizedLinkages(f"function generator, {len(phi)} points", target, sorted_by_quality(kept))


def _refuse_starts(n: int, input_start: Any, output_start: Any) -> None:
    if not 3 <= n <= 5:
        raise ModelError(
            f"function_generator: {n} pairs of angles; a four-bar meets three to five exactly. For more, "
            "synthesize('four-bar', function_target(inputs, outputs)) approximates them."
        )
    found = {4: {"output_start": output_start}, 5: {"input_start": input_start, "output_start": output_start}}
    for name, value in found.get(n, {}).items():
        if value is not None:
            raise ModelError(f"function_generator: with {n} pairs {name} is found, not given; leave it out.")


def freudenstein(phi: Floats, psi: Floats, d: float) -> list[Dyad]:
    """Three pairs of angles from the ground line: the linear equations, solved for the links.

    A negative length means that the link points the other way; its turns are the same.
    """
    matrix = np.column_stack([np.cos(psi), -np.cos(phi), np.ones(3)])
    if np.linalg.cond(matrix) > 1.0 / PARALLEL:
        raise UnsupportedError(
            "function_generator: Freudenstein's equations of the three pairs are dependent; "
            "choose other angles at which the links begin."
        )
    K1, K2, _ = np.linalg.solve(matrix, np.cos(phi - psi))
    if min(abs(K1), abs(K2)) < PARALLEL:
        return []  # an endless link
    a, c = d / K1, d / K2
    return [Dyad(m=complex(d + c * np.exp(1j * psi[0])), w=complex(a * np.exp(1j * phi[0])))]


def by_inversion(phi: Floats, psi: Floats, d: float, start: float) -> list[Dyad]:
    """Four or five pairs: the coupler from B = w on the input link to C = m on the output link, in the first position.

    Turned back with the output about D, B is at B_j = exp(-i psi_j) (exp(i phi_j) B - D) + D.
    """
    phi, psi = phi - phi[0], psi - psi[0]
    move = Displacements(np.zeros((len(phi), 3)))
    move.e = np.exp(1j * (phi - psi))[1:]
    move.t = d * (1.0 - np.exp(-1j * psi))[1:]
    if len(phi) == 5:
        return [
            dyad for dyad in five_pose_dyads(move) if abs(dyad.w) > 1e-6 * d or abs(dyad.m - d) > 1e-6 * d
        ]
    # B is on the ray at the given angle; A is on the curve of circle points, with the center D
    direction = d * np.exp(1j * start)
    roots = roots_on_line(move.of_circle_point, 0.0, direction)
    return [Dyad(common_point(move.of_circle_point(r * direction)), complex(r * direction)) for r in roots]


def _four_bar(dyad: Dyad, phi: Floats, psi: Floats, d: float, target: SynthesisTarget) -> Any:
    """Input and output turn about A = 0 and D = d."""
    if not np.isfinite(dyad.m):
        return None
    B = dyad.w * np.exp(1j * (phi - phi[0]))
    C = d + (dyad.m - d) * np.exp(1j * (psi - psi[0]))
    return synthesized_four_bar(FourBarPositions(0j, complex(d), B, C), target, either_input=False)
