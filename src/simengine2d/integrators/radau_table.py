"""Coefficients of Radau IIA with any odd number of stages, of which one eigenvalue is real.

The stages are collocation points of order 2 s - 1. The slope at the beginning of the step, weighted by that eigenvalue
gamma, and the stages make an embedded method of order s:

    gamma + sum_i b^_i = 1,      sum_i b^_i c_i^(k - 1) = 1 / k,   k = 2 ... s

Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), sections IV.5 and IV.8.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats, constant


class RadauTable(NamedTuple):
    """Coefficients."""

    A: Floats
    AA: Floats  # A^2
    c: Floats
    nodes: Floats  # beginning and stages
    gamma: float  # real eigenvalue of A
    error: Floats  # (s + 1), of the slopes at the nodes: the embedded method less the method
    moments: Floats  # (s + 1, s + 1): the inverse of nodes_j^k


def radau_points(stages: int) -> Floats:
    """The zeros of P_s - P_(s-1), moved from (-1, 1] to (0, 1]."""
    polynomial = np.zeros(stages + 1)
    polynomial[-2:] = -1.0, 1.0
    inner = np.sort(np.polynomial.legendre.legroots(polynomial))[:-1]
    return np.append(0.5 * (1.0 + inner), 1.0)


@cache
def radau_table(stages: int) -> RadauTable:
    c, powers = radau_points(stages), np.arange(stages)
    of_points = np.vander(c, increasing=True).T
    integrals = c[:, None] ** (powers + 1) / (powers + 1)
    A: Floats = np.linalg.solve(of_points, integrals.T).T.astype(float, order="C")
    values = np.linalg.eigvals(A)
    gamma = float(values[np.argmin(np.abs(values.imag))].real)
    embedded = np.linalg.solve(of_points, 1.0 / (powers + 1) - np.where(powers == 0, gamma, 0.0))
    nodes = np.append(0.0, c)
    moments = np.linalg.inv(np.vander(nodes, increasing=True).T)
    error = np.append(gamma, embedded - A[-1])
    return constant(RadauTable(A, A @ A, c, nodes, gamma, error, moments))
