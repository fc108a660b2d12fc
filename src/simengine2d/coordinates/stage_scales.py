"""Units in which Newton's equations of dense stages are solved: the mass of each coordinate and of each row is 1."""

from __future__ import annotations

import numpy as np

from ..numerics.kernel import kernel


@kernel
def scale(A, J, s, mass, felt, unit):
    """A in units of the masses; stiffness and damping are masses to a step."""
    n, m = mass.size, felt.size
    for k in range(s * n):
        unit[k] = 1.0 / np.sqrt(max(mass[k % n], abs(A[k, k])))
    for k in range(s * n, unit.size):
        i, row = (k - s * n) // m % s, (k - s * n) % m
        # what a constraint feels of these
        feels = 0.0
        for p in range(n):
            feels += (J[i, row, p] * unit[i * n + p]) ** 2
        unit[k] = 1.0 / np.sqrt(feels) if feels > 0.0 else 1.0 / np.sqrt(felt[row])
    for i in range(unit.size):
        for j in range(unit.size):
            A[i, j] *= unit[i] * unit[j]


@kernel
def keep_masses(M, J, mass):
    """The diagonal of M; coordinates without a mass are given what they feel through the rows, or else the mean.

    Row i makes Phi_ij^2 / sum_k Phi_ik^2 / m_k of the coordinates k that have a mass.
    """
    total, heavy = 0.0, 0
    for j in range(mass.size):
        mass[j] = 0.0
        if M[j, j] > 0.0:
            total += M[j, j]
            heavy += 1
    for i in range(J.shape[0]):
        share = 0.0
        for k in range(mass.size):
            if M[k, k] > 0.0:
                share += J[i, k] ** 2 / M[k, k]
        for j in range(mass.size if share > 0.0 else 0):
            mass[j] += J[i, j] ** 2 / share
    for j in range(mass.size):
        if M[j, j] > 0.0:
            mass[j] = M[j, j]
        elif mass[j] == 0.0:
            mass[j] = total / max(1, heavy)


@kernel
def weigh(J, mass, felt):
    """What each constraint feels of the masses."""
    for i in range(felt.size):
        felt[i] = 0.0
        for j in range(mass.size):
            felt[i] += J[i, j] ** 2 / mass[j]
        if felt[i] == 0.0:
            felt[i] = 1.0
