"""Defects of a four-bar that meets all positions on paper: circuit, branch, order.

A linkage is assembled once. It must reach every position without being taken apart (circuit), without its input passing
a dead point (branch), and in the given order. With pins A, B, C, D and the input AB:

- the triangle BCD keeps its sense on a branch of the input; it is flat at the input's dead points;
- a linkage of Grashof's class I has two circuits. The angles at the two pins away from its shortest link never
  pass through 0 or pi: they keep their sense on a circuit. Linkages of class II have one circuit.

T. R. Chase, J. A. Mirth, ASME Journal of Mechanical Design 115 (1993) 223-230; K. J. Waldron, E. N. Stevensen,
Elimination of branch, Grashof and order defects, ASME Journal of Mechanical Design 101 (1979) 428-437.
"""

from __future__ import annotations

import cmath
from math import acos, pi
from typing import NamedTuple

import numpy as np

from ...analyses.linkage.grashof import GrashofClass, grashof_of
from ...analyses.linkage.loops import FourBarLengths
from ...numerics.arrays import Floats

CIRCUIT, BRANCH, ORDER = "circuit", "branch", "order"


class FourBarPositions(NamedTuple):
    """A four-bar in its positions: fixed pins A and D, moving pins B and C, one value for each position."""

    A: complex
    D: complex
    B: np.ndarray
    C: np.ndarray

    @property
    def lengths(self) -> FourBarLengths:
        A, D, B, C = self
        return FourBarLengths(abs(B[0] - A), abs(C[0] - B[0]), abs(C[0] - D), abs(D - A))

    @property
    def grashof(self) -> GrashofClass:
        return grashof_of(self.lengths)

    @property
    def angles(self) -> Floats:
        """The input angle in each position, from the x axis."""
        return np.angle(self.B - self.A)

    def turned_around(self) -> FourBarPositions:
        """The same linkage with the other ground link as its input."""
        return FourBarPositions(self.D, self.A, self.C, self.B)


def sense(corner: np.ndarray, first: np.ndarray, second: np.ndarray) -> Floats:
    """1 if the turn from `first` to `second`, seen from the corner, is to the left, -1 to the right."""
    return np.sign(((second - corner) * np.conj(first - corner)).imag)


def branches(positions: FourBarPositions) -> Floats:
    """The sense of the triangle BCD: 1 where C is left of the line from B to D."""
    _, D, B, C = positions
    return sense(B, np.full_like(B, D), C)


def circuits_of(positions: FourBarPositions) -> Floats:
    """A number for each position, the same on the same circuit."""
    A, D, B, C = positions
    kind = positions.grashof
    if kind.kind != "I":
        return np.zeros(len(B))
    if kind.type in ("crank-rocker", "double-crank"):
        return sense(C, B, np.full_like(B, D))
    if kind.type == "rocker-crank":
        return sense(B, np.full_like(B, A), C)
    return sense(np.full_like(B, A), np.full_like(B, D), B)


def input_range(lengths: FourBarLengths) -> tuple[float, float] | None:
    """The input's range from the ground line, on one side of it or about 0 or pi; None for a full turn.

    The diagonal from B to D is between |b - c| and b + c: cos theta = (a^2 + d^2 - f^2) / (2 a d).
    """
    a, b, c, d = lengths.input, lengths.coupler, lengths.output, lengths.ground
    low, high = ((a * a + d * d - f * f) / (2.0 * a * d) for f in (b + c, abs(b - c)))
    if low <= -1.0 and high >= 1.0:
        return None
    if high >= 1.0:
        return -acos(low), acos(low)
    return acos(high), 2.0 * pi - acos(high) if low <= -1.0 else acos(low)


def travel(positions: FourBarPositions) -> tuple[Floats, bool]:
    """The input angles in one go from the first position to the last, and whether they keep their order.

    An input that turns fully goes round, either way; any other goes to and fro in its range.
    """
    angles = positions.angles
    limits = input_range(positions.lengths)
    if limits is None:
        return _round(angles)
    line = cmath.phase(positions.D - positions.A)
    center = 0.5 * (limits[0] + limits[1]) if limits[1] > pi or limits[0] < 0.0 else 0.0
    inside = center + np.angle(np.exp(1j * (angles - line - center)))
    steps = np.diff(inside)
    return inside + line, bool((steps > 0.0).all() or (steps < 0.0).all())


def _round(angles: Floats) -> tuple[Floats, bool]:
    """All the way round: forward or, if that takes more than a turn, backward."""
    forward = np.mod(np.diff(angles), 2.0 * pi)
    backward = forward - 2.0 * pi
    steps = forward if forward.sum() <= -backward.sum() else backward
    in_order = abs(steps.sum()) < 2.0 * pi
    return angles[0] + np.append(0.0, np.cumsum(steps)), bool(in_order)


def defects_of(positions: FourBarPositions) -> list[str]:
    """The names of the defects; none if the linkage can be driven through all positions in order."""
    found = []
    if np.unique(circuits_of(positions)).size > 1:
        found.append(CIRCUIT)
    elif np.unique(branches(positions)).size > 1:
        found.append(BRANCH)
    if not travel(positions)[1]:
        found.append(ORDER)
    return found


def best_driven(positions: FourBarPositions) -> FourBarPositions:
    """The linkage with the input that has fewer defects; of two equals, one that turns fully, then the first."""
    options = positions, positions.turned_around()

    def rank(each: FourBarPositions) -> tuple[int, bool]:
        return len(defects_of(each)), input_range(each.lengths) is not None

    return min(options, key=rank)
