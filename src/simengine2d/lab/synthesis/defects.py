"""Defects of a linkage that meets all positions on paper: circuit, branch, order.

A linkage is assembled once. It must reach every position without being taken apart (circuit), without its input passing
a dead point (branch), and in the given order. With pins A, B, C, D and the input AB:

- the triangle BCD keeps its sense on a branch of the input; it is flat at the input's dead points;
- a linkage of Grashof's class I has two circuits. The angles at the two pins away from its shortest link never
  pass through 0 or pi: they keep their sense on a circuit. Linkages of class II have one circuit.

Of a slider-crank D is at infinity: on a branch the rod does not turn across its guide, which is also a circuit if the
crank turns fully; if the rod does, the crank does not turn across the guide.

T. R. Chase, J. A. Mirth, ASME Journal of Mechanical Design 115 (1993) 223-230; K. J. Waldron, E. N. Stevensen,
Elimination of branch, Grashof and order defects, ASME Journal of Mechanical Design 101 (1979) 428-437.
"""

from __future__ import annotations

import cmath
from math import pi
from typing import NamedTuple

import numpy as np

from ...analyses.linkage.grashof import grashof_of
from ...analyses.linkage.loops import FourBarLengths, SliderCrankLengths
from ...numerics.arrays import Floats

CIRCUIT, BRANCH, ORDER = "circuit", "branch", "order"


def sense(corner: np.ndarray, first: np.ndarray, second: np.ndarray) -> Floats:
    """1 if the turn from `first` to `second`, seen from the corner, is to the left, -1 to the right."""
    return np.sign(((second - corner) * np.conj(first - corner)).imag)


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

    def turned_around(self) -> FourBarPositions:
        """The same linkage with the other ground link as its input."""
        return FourBarPositions(self.D, self.A, self.C, self.B)

    def branches(self) -> Floats:
        """The sense of the triangle BCD: 1 where C is left of the line from B to D."""
        _, D, B, C = self
        return sense(B, np.full_like(B, D), C)

    def circuits(self) -> Floats:
        """A number for each position, the same on the same circuit."""
        A, D, B, C = self
        kind = grashof_of(self.lengths)
        if kind.kind != "I":
            return np.zeros(len(B))
        if kind.type in ("crank-rocker", "double-crank"):
            return sense(C, B, np.full_like(B, D))
        if kind.type == "rocker-crank":
            return sense(B, np.full_like(B, A), C)
        return sense(np.full_like(B, A), np.full_like(B, D), B)

    def middle(self) -> float | None:
        """An angle about which the input goes to and fro, from the x axis; None if it turns fully.

        The diagonal from B to D is between |b - c| and b + c: cos theta = (a^2 + d^2 - f^2) / (2 a d). An input that
        passes neither 0 nor pi is on one side of the ground line.
        """
        a, b, c, d = (length for _, length in self.lengths.named())
        low, high = ((a * a + d * d - f * f) / (2.0 * a * d) for f in (b + c, abs(b - c)))
        if low <= -1.0 and high >= 1.0:
            return None
        line = cmath.phase(self.D - self.A)
        return line + pi if high < 1.0 and low <= -1.0 else line


class SliderCrankPositions(NamedTuple):
    """A slider-crank in its positions: fixed pin A, moving pins B and, along a direction of length 1, C."""

    A: complex
    direction: complex
    B: np.ndarray
    C: np.ndarray

    @property
    def lengths(self) -> SliderCrankLengths:
        A, u, B, C = self
        return SliderCrankLengths(abs(B[0] - A), abs(C[0] - B[0]), ((C[0] - A) * u.conjugate()).imag)

    def branches(self) -> Floats:
        """1 where the rod points along the guide, -1 against it."""
        return np.sign(((self.C - self.B) * self.direction.conjugate()).real)

    def circuits(self) -> Floats:
        """A number for each position, the same on the same circuit."""
        if grashof_of(self.lengths).kind != "I":
            return np.zeros(len(self.B))
        if self.lengths.crank < self.lengths.rod:
            return self.branches()
        return np.sign(((self.B - self.A) * self.direction.conjugate()).real)

    def middle(self) -> float | None:
        """An angle about which the input goes to and fro, from the x axis; None if it turns fully.

        The rod l bridges the distance from B to the guide at the offset e: |e - r sin theta| <= l, with theta from the
        guide.
        """
        r, rod, e = self.lengths.crank, self.lengths.rod, self.lengths.offset
        low, high = (e - rod) / r, (e + rod) / r
        if low <= -1.0 and high >= 1.0:
            return None
        line = cmath.phase(self.direction)
        if low > -1.0 and high < 1.0:
            return line if self.circuits()[0] > 0.0 else line + pi
        return line + (0.5 * pi if high >= 1.0 else -0.5 * pi)


PinPositions = FourBarPositions | SliderCrankPositions


def travel(positions: PinPositions) -> tuple[Floats, bool]:
    """The input angles in one go from the first position to the last, and whether they keep their order.

    An input that turns fully goes round, either way; any other goes to and fro in its range.
    """
    angles = np.angle(positions.B - positions.A)
    middle = positions.middle()
    if middle is None:
        return _round(angles)
    inside = middle + np.angle(np.exp(1j * (angles - middle)))
    steps = np.diff(inside)
    return inside, bool((steps > 0.0).all() or (steps < 0.0).all())


def _round(angles: Floats) -> tuple[Floats, bool]:
    """All the way round: forward or, if that takes more than a turn, backward."""
    forward = np.mod(np.diff(angles), 2.0 * pi)
    backward = forward - 2.0 * pi
    steps = forward if forward.sum() <= -backward.sum() else backward
    in_order = abs(steps.sum()) < 2.0 * pi
    return angles[0] + np.append(0.0, np.cumsum(steps)), bool(in_order)


def defects_of(positions: PinPositions) -> list[str]:
    """The names of the defects; none if the linkage can be driven through all positions in order."""
    found = []
    if np.unique(positions.circuits()).size > 1:
        found.append(CIRCUIT)
    elif np.unique(positions.branches()).size > 1:
        found.append(BRANCH)
    if not travel(positions)[1]:
        found.append(ORDER)
    return found


def best_driven(positions: FourBarPositions) -> FourBarPositions:
    """The linkage with the input that has fewer defects; of two equals, one that turns fully, then the first."""
    options = positions, positions.turned_around()

    def rank(each: FourBarPositions) -> tuple[int, bool]:
        return len(defects_of(each)), each.middle() is not None

    return min(options, key=rank)
