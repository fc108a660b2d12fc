"""Sliders (PR dyads) that lead a moving plane through three to five poses: cranks of Burmester's without end.

A point w of the plane is a slider point if its places w_j = e_j w + t_j are on one line. With a normal n of the line

    Re(conj(n) (w_j - w)) = Re(conj(n) (e_j - 1) w) + Re(conj(n) t_j) = 0,    j = 2 ... n

which is linear in w. Three poses leave the direction of the line free, and each has one slider point; together they are
a circle. For four poses the three equations must have a common solution, det(n) = 0: a cubic of the components of n. It
is zero for n = (1, i) and (1, -i), where two columns are in proportion, so there is one real direction, and one slider.
Five poses have a slider by chance only; if so, it is one of the four cranks of Burmester's.

The synthesis of dyads with one prismatic joint, ASME Journal of Mechanical Design 130 (2008) 034501; C. Chen, S. Bai,
J. Angeles, A comprehensive solution of the classic Burmester problem, Transactions of the CSME (2008).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from .dyads import Displacements, common_point, line_crossing

ON_LINE = 1e-7  # distance from a line, relative to how far the plane is moved


class SliderDyad(NamedTuple):
    """A slider: its pin w as it is in the first pose, and the direction of its guide, of length 1."""

    w: complex
    direction: complex


def slider_rows(move: Displacements, normal: complex) -> Floats:
    """The equations for the slider point of a guide with this normal: rows of (x, y, 1)."""
    g, k = np.conj(normal) * (move.e - 1.0), np.conj(normal) * move.t
    return np.column_stack([g.real, -g.imag, k.real])


def by_guide(move: Displacements, angle: float) -> SliderDyad:
    """Three poses: the slider of a guide at an angle."""
    direction = complex(np.exp(1j * angle))
    return SliderDyad(line_crossing(slider_rows(move, 1j * direction)), direction)


def slider_dyads(move: Displacements) -> list[SliderDyad]:
    """Four poses: the one slider; five: the same, if it leads through the fifth.

    On |n| = 1 the cubic is linear: det(cos tau, sin tau) = a cos tau + b sin tau.
    """
    four = move.first(3)
    a, b = (np.linalg.det(slider_rows(four, n)) for n in (1.0, 1j))
    if np.hypot(a, b) == 0.0:
        return []
    normal = complex(b, -a) / np.hypot(a, b)
    w = common_point(slider_rows(four, normal))
    off = slider_rows(move, normal) @ np.array([w.real, w.imag, 1.0])
    if not np.isfinite(w) or np.abs(off).max() > ON_LINE * max(move.size, abs(w)):
        return []
    return [SliderDyad(w, -1j * normal)]
