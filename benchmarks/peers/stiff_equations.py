"""The stiff cases as y' = f(y) with a Jacobian, compiled by numba, for solvers of ordinary equations.

    M q'' = Q(q, q'),    f_y = [0 1; -M^-1 K  -M^-1 C]

K and C are those of springs and dampers; what weight and rates add to them is small beside, and an iteration forgives
it. Each case is in coordinates in which its springs are linear, which takes the fewest iterations: the pendulum in
polar ones, bodies on bushings in absolute ones, the chain in absolute angles.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
import references
from cases import Case
from measuring import State

Floats = np.ndarray
GRAVITY = 9.81


class StiffEquations:
    """f, its Jacobian and the start; `state` reads y."""

    y0: Floats
    rates: Callable[[float, Floats], Floats]
    jacobian: Callable[[float, Floats], Floats]

    def __init__(self, case: Case) -> None:
        self.case = case
        self.compile()
        self.rates(0.0, self.y0), self.jacobian(0.0, self.y0)

    def compile(self) -> None:
        raise NotImplementedError

    def state(self, y: Floats) -> State:
        raise NotImplementedError


def stiff_equations(case: Case) -> StiffEquations:
    if case.springs:
        return Polar(case)
    return Absolute(case) if case.bushings else Angles(case)


class Polar(StiffEquations):
    """A pendulum by the length and angle of its rod.

    m (r'' - r theta'^2) = -k (r - free) - c r' - m g sin theta,    r theta'' + 2 r' theta' = -g cos theta
    """

    def compile(self) -> None:
        ((_, _, _, k, free, c),), (m,) = self.case.springs, self.case.mass
        self.y0 = np.array([1.0, 0.0, 0.0, 0.0])

        @numba.njit
        def rates(t, y):
            r, theta, rd, omega = y
            rdd = r * omega**2 - (k * (r - free) + c * rd) / m - GRAVITY * np.sin(theta)
            return np.array([rd, omega, rdd, -(GRAVITY * np.cos(theta) + 2 * rd * omega) / r])

        @numba.njit
        def jacobian(t, y):
            r, theta, rd, omega = y
            turn = GRAVITY * np.cos(theta) + 2 * rd * omega
            return np.array([
                [0.0, 0.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
                [omega**2 - k / m, -GRAVITY * np.cos(theta), -c / m, 2 * r * omega],
                [turn / r**2, GRAVITY * np.sin(theta) / r, -2 * omega / r, -2 * rd / r],
            ])  # fmt: skip

        self.rates, self.jacobian = rates, jacobian

    def state(self, y: Floats) -> State:
        """The bob does not turn."""
        r, theta, rd, omega = y
        z, zd = r * np.exp(1j * theta), (rd + 1j * omega * r) * np.exp(1j * theta)
        return np.array([[z.real, z.imag, 0.0]]), np.array([[zd.real, zd.imag, 0.0]])


class Absolute(StiffEquations):
    """Bodies on bushings: with the gap d = r_b - r_a and B = d_q, Q = -B^T (k d + c B q')."""

    def compile(self) -> None:
        case, n = self.case, 3 * self.case.n
        self.y0 = np.concatenate([case.q0.ravel(), case.qd0.ravel()])
        ends = np.array([[3 * u.a, 3 * u.b] for u in case.bushings])
        local = np.array([[*case.local(u.a, u.at), *case.local(u.b, u.at)] for u in case.bushings])
        ks, cs = (np.array([u[i] for u in case.bushings]) for i in (3, 4))
        M = np.column_stack([case.mass, case.mass, case.inertia]).ravel()

        @numba.njit
        def rates(t, y):
            f = np.empty(2 * n)
            f[:n], f[n:] = y[n:], 0.0
            for i in range(ends.shape[0]):
                a, b = ends[i]
                ax, ay, x1, y1, xd1, yd1 = point(y, a, n, local[i, 0], local[i, 1])
                bx, by, x2, y2, xd2, yd2 = point(y, b, n, local[i, 2], local[i, 3])
                fx = -ks[i] * (x2 - x1) - cs[i] * (xd2 - xd1)
                fy = -ks[i] * (y2 - y1) - cs[i] * (yd2 - yd1)
                push(f, n, b, bx, by, fx, fy)
                push(f, n, a, ax, ay, -fx, -fy)
            for i in range(n):
                f[n + i] /= M[i]
            f[n + 1 :: 3] -= GRAVITY
            return f

        @numba.njit
        def jacobian(t, y):
            J, B = np.zeros((2 * n, 2 * n)), np.empty((2, n))
            for i in range(n):
                J[i, n + i] = 1.0
            for i in range(ends.shape[0]):
                B[:] = 0.0
                for side in range(2):
                    b, sign = ends[i, side], 2.0 * side - 1.0
                    if b >= 0:
                        ax, ay = point(y, b, n, local[i, 2 * side], local[i, 2 * side + 1])[:2]
                        B[0, b] = B[1, b + 1] = sign
                        B[0, b + 2], B[1, b + 2] = -sign * ay, sign * ax
                spread(J, B, M, ks[i], cs[i])
            return J

        self.rates, self.jacobian = rates, jacobian

    def state(self, y: Floats) -> State:
        q, qd = np.split(y, 2)
        return q.reshape(-1, 3), qd.reshape(-1, 3)


@numba.njit
def point(y, b, n, sx, sy):
    """Arm, place and velocity of a point of the body whose coordinates begin at b; the ground is before 0."""
    if b < 0:
        return sx, sy, sx, sy, 0.0, 0.0
    cosine, sine = np.cos(y[b + 2]), np.sin(y[b + 2])
    ax, ay, spin = cosine * sx - sine * sy, sine * sx + cosine * sy, y[n + b + 2]
    return ax, ay, y[b] + ax, y[b + 1] + ay, y[n + b] - spin * ay, y[n + b + 1] + spin * ax


@numba.njit
def push(f, n, b, ax, ay, fx, fy):
    if b >= 0:
        f[n + b] += fx
        f[n + b + 1] += fy
        f[n + b + 2] += ax * fy - ay * fx


@numba.njit
def spread(J, B, M, k, c):
    """-M^-1 B^T k B and -M^-1 B^T c B."""
    n = M.size
    for i in range(n):
        for r in range(2):
            if B[r, i] == 0.0:
                continue
            for j in range(n):
                J[n + i, j] -= k * B[r, i] * B[r, j] / M[i]
                J[n + i, n + j] -= c * B[r, i] * B[r, j] / M[i]


class Angles(StiffEquations):
    """A chain of bars of 1 m and 1 kg: M_ij = A_ij cos(phi_i - phi_j) + 1/12, A = W^T W, mass centers z = W e."""

    def compile(self) -> None:
        n, (_, _, k, c) = self.case.n, self.case.joint_springs[0]
        self.y0 = np.zeros(2 * n)
        W = np.tril(np.ones((n, n))) - np.eye(n) / 2
        A, weight = W.T @ W, W.sum(axis=0)
        line = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)  # K = k line, C = c line
        line[-1, -1] = 1.0

        @numba.njit
        def mass(cosine, sine):
            M = np.empty((n, n))
            for i in range(n):
                for j in range(n):
                    M[i, j] = A[i, j] * (cosine[i] * cosine[j] + sine[i] * sine[j])
                M[i, i] += 1.0 / 12.0
            return M

        @numba.njit
        def rates(t, y):
            cosine, sine, omega = np.cos(y[:n]), np.sin(y[:n]), y[n:]
            Q = -GRAVITY * weight * cosine
            for i in range(n):
                for j in range(n):
                    Q[i] -= A[i, j] * (sine[i] * cosine[j] - cosine[i] * sine[j]) * omega[j] ** 2
            for i in range(n):
                torque = k * y[i] + c * omega[i]
                if i > 0:
                    torque -= k * y[i - 1] + c * omega[i - 1]
                    Q[i - 1] += torque
                Q[i] -= torque
            f = np.empty(2 * n)
            f[:n], f[n:] = omega, np.linalg.solve(mass(cosine, sine), Q)
            return f

        @numba.njit
        def jacobian(t, y):
            J = np.zeros((2 * n, 2 * n))
            K = np.linalg.solve(mass(np.cos(y[:n]), np.sin(y[:n])), line)
            J[n:, :n], J[n:, n:] = -k * K, -c * K
            for i in range(n):
                J[i, n + i] = 1.0
            return J

        self.rates, self.jacobian = rates, jacobian

    def state(self, y: Floats) -> State:
        angles, spins = np.split(y, 2)
        tangent = np.column_stack([-np.sin(angles), np.cos(angles)]) * spins[:, None]
        speeds = np.cumsum(tangent, axis=0) - tangent / 2
        q = np.column_stack([references.chain_centers(angles), angles])
        return q, np.column_stack([speeds, spins])
