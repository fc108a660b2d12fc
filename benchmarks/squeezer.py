"""Andrews' squeezing mechanism: its constants and its geometry in complex numbers.

The constants are those of E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (1996), section VII.7.
The state is seven absolute angles of the bodies K1 .. K7:

    a = (beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon, epsilon)

Every point is a complex number z = z0 + sum_j w_j exp(i a_j), so that a point is its constant and its weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Angles = NDArray[np.float64]

MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIA = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
TORQUE = 0.033
STIFFNESS, FREE = 4530.0, 0.07785
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
ZA, ZB = complex(*A), complex(*B)

# lengths of the drawing in the book: from pins to pins, and (second letter a, b) to the mass centers
RR, RA, D, DA, E, EA = 0.007, 0.00092, 0.028, 0.0115, 0.02, 0.01421
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
ZT, TA, TB, U, UA, UB, ZF, FA = 0.04, 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.01421

# the published start: beta, Theta, gamma, Phi, delta, Omega, epsilon
_BETA, _THETA, _GAMMA, _PHI = -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885
_DELTA, _OMEGA, _EPSILON = 0.487364979543842550, -0.222668390165885885, 1.23054744454982119
# and the published values of the same angles at t = 0.03 s (test set for initial value problem solvers)
PUBLISHED_TIME = 0.03
PUBLISHED = (
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    1.048080741042263,
)  # fmt: skip


def absolute(angles: tuple[float, ...]) -> Angles:
    """Absolute angles of the bodies from the angles of the book."""
    beta, theta, gamma, phi, delta, omega, epsilon = angles
    return np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])


START = absolute((_BETA, _THETA, _GAMMA, _PHI, _DELTA, _OMEGA, _EPSILON))

# points: a constant, and the weights of exp(i a_j) by j
POINTS: dict[str, tuple[complex, dict[int, complex]]] = {
    "O": (0j, {}),
    "A": (ZA, {}),
    "B": (ZB, {}),
    "E": (0j, {0: RR}),
    "F": (0j, {0: RR, 1: -D}),
    "H": (ZA, {4: ZT}),
    "K": (ZA, {6: -1j * U}),
    "D": (ZB, {2: SD - 1j * SC}),
}
# the same pin F seen from the bodies K3, K4 and K6
F_AGAIN = ((ZB, {2: -1j * SS}), (ZA, {4: ZT, 3: -1j * E}), (ZA, {6: -1j * U, 5: ZF}))
CENTERS: list[tuple[complex, dict[int, complex]]] = [
    (0j, {0: RA}),
    (0j, {0: RR, 1: -DA}),
    (ZB, {2: SB - 1j * SA}),
    (ZA, {4: ZT, 3: -1j * (E - EA)}),
    (ZA, {4: TA + 1j * TB}),
    (ZA, {6: -1j * U, 5: ZF - FA}),
    (ZA, {6: -UB - 1j * UA}),
]


def place(point: tuple[complex, dict[int, complex]], a: Angles) -> complex:
    return complex(point[0] + sum(w * np.exp(1j * a[j]) for j, w in point[1].items()))


def points(a: Angles) -> dict[str, tuple[float, float]]:
    """Global places of the named points."""
    return {name: (z.real, z.imag) for name, z in ((k, place(p, a)) for k, p in POINTS.items())}


def poses(a: Angles) -> list[tuple[float, float, float]]:
    """x, y, angle of the seven bodies."""
    return [(z.real, z.imag, float(a[j])) for j, z in enumerate(place(c, a) for c in CENTERS)]
