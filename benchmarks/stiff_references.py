"""Where the mass centers of the stiff cases are at the end, from equations of their own.

Bodies without joints, on springs and bushings: with z = x + i y and a the arm of a point, the force F on it gives

    m z'' = sum F + m g,    J phi'' = sum Im(conj(a) F)

Explicit steps of DOP853 follow every vibration, so the error is that of rtol 1e-13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cases
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rates = Callable[[float, Floats], Floats]

G = -1j * 9.81


def free_body_rates(case: cases.Case) -> Rates:
    """y: x, y, phi of every body, then their rates; the last row of the poses is the ground."""

    def ends(elements: list[Any], side: int) -> tuple[Any, Any]:
        local = [complex(*case.local(element[side], element.at)) for element in elements]
        return np.array([element[side] for element in elements], int), np.array(local)

    (a, local_a), (b, local_b) = ends(case.bushings, 0), ends(case.bushings, 1)
    k, c = (np.array([bushing[i] for bushing in case.bushings]) for i in (3, 4))

    def rates(t: float, y: Floats) -> Floats:
        q, qd = (np.vstack([part.reshape(-1, 3), np.zeros(3)]) for part in np.split(y, 2))
        z, zd = (pose[:, 0] + 1j * pose[:, 1] for pose in (q, qd))
        turn, spin = np.exp(1j * q[:, 2]), qd[:, 2]
        force, torque = np.zeros(case.n + 1, complex), np.zeros(case.n + 1)

        def push(body: Any, arm: Any, F: Any) -> None:
            np.add.at(force, body, F)
            np.add.at(torque, body, (np.conj(arm) * F).imag)

        arm_a, arm_b = turn[a] * local_a, turn[b] * local_b
        gap = z[b] + arm_b - z[a] - arm_a
        rate = zd[b] + 1j * spin[b] * arm_b - zd[a] - 1j * spin[a] * arm_a
        push(b, arm_b, -k * gap - c * rate)
        push(a, arm_a, k * gap + c * rate)
        for body, at, anchor, stiffness, free, damping in case.springs:
            arm = turn[body] * complex(*case.local(body, at))
            d, dd = z[body] + arm - complex(*anchor), zd[body] + 1j * spin[body] * arm
            u = d / abs(d)
            push(body, arm, -(stiffness * (abs(d) - free) + damping * (np.conj(u) * dd).real) * u)
        zdd = force[:-1] / case.mass + G
        qdd = np.column_stack([zdd.real, zdd.imag, torque[:-1] / case.inertia])
        return np.concatenate([y[3 * case.n :], qdd.ravel()])

    return rates


def polar_pendulum_rates(case: cases.Case) -> Rates:
    """The pendulum by its length r and angle, to check the one above.

    m (r'' - r theta'^2) = -k (r - free) - c r' - m g sin theta,    r theta'' + 2 r' theta' = -g cos theta
    """
    ((_, _, _, k, free, c),), (m,) = case.springs, case.mass

    def rates(t: float, y: Floats) -> Floats:
        r, theta, rd, omega = y
        rdd = r * omega**2 - (k * (r - free) + c * rd) / m - 9.81 * np.sin(theta)
        return np.array([rd, omega, rdd, -(9.81 * np.cos(theta) + 2 * rd * omega) / r])

    return rates


def joint_torques(case: cases.Case) -> Callable[[Floats, Floats], Floats]:
    """Of the springs in the joints of a chain on its bars, from their angles and rates."""
    _, _, k, c = case.joint_springs[0]

    def torques(angles: Floats, omega: Floats) -> Floats:
        torque = -k * np.diff(angles, prepend=0.0) - c * np.diff(omega, prepend=0.0)
        torque[:-1] -= torque[1:]
        return torque

    return torques
