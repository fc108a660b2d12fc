"""Where the mass centers are at the end of each case, from equations of their own in minimal coordinates.

    python references.py       # computes them anew and prints how well independent ways agree

With angles a, every mass center is a complex number z = z0 + W e, e = exp(i a). Loops are rows Re(c0 + C e) = 0. In a
mechanism of one freedom all angles follow from the first, theta; with k = da/dtheta and k' = dk/dtheta,

    M theta'' + h theta'^2 = Q,    M = sum m |z'|^2 + sum J k^2,    h = sum m z' . z'' + sum J k k',
    z' = W i e k,    z'' = W (i e k' - e k^2)

They are integrated by SciPy's DOP853 with rtol 1e-13 and kept in the user's cache folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cases
import numpy as np
import squeezer
import stiff_references as stiff
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]
Rates = Callable[[float, Floats], Floats]
Torques = Callable[[Floats, Floats], Floats]

TIGHT = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
# where stability limits the step, the slow motion is exact to 1e-13 anyway, and stiffness times rounding is above 1e-13
STIFF = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-10}
G = -1j * 9.81


# One freedom ------------------------------------------------------------------------------------------


@dataclass
class Linkage:
    """Bodies that all follow the angle theta = a[0]."""

    z0: Complex
    W: Complex
    mass: Floats
    inertia: Floats  # per angle
    start: Floats
    rate: float = 0.0
    c0: Complex = field(default_factory=lambda: np.zeros(0, complex))
    C: Complex = field(default_factory=lambda: np.zeros((0, 1), complex))
    weight: complex = G
    torque: Callable[[Floats], Floats] = np.zeros_like  # per angle

    def __post_init__(self) -> None:
        self.a = np.array(self.start)

    def angles(self, theta: float) -> Floats:
        """Close the loops by Newton's method, from where they were closed last."""
        a = self.a.copy()
        a[0] = theta
        for _ in range(50):
            e = np.exp(1j * a)
            gap = (self.c0 + self.C @ e).real
            if gap.size == 0:
                break
            step = np.linalg.solve((1j * self.C * e).real[:, 1:], gap)
            a[1:] -= step
            if np.abs(step).max() < 1e-15:
                break
        self.a = a
        return a

    def slopes(self, a: Floats) -> tuple[Floats, Floats]:
        """k and k'."""
        e = np.exp(1j * a)
        J = (1j * self.C * e).real
        k, kk = np.eye(a.size)[0], np.zeros(a.size)
        k[1:] = np.linalg.solve(J[:, 1:], -J[:, 0])
        kk[1:] = np.linalg.solve(J[:, 1:], (self.C @ (e * k**2)).real)
        return k, kk

    def rates(self, t: float, y: Floats) -> Floats:
        a = self.angles(y[0])
        e, (k, kk) = np.exp(1j * a), self.slopes(a)
        z1, z2 = self.W @ (1j * e * k), self.W @ (1j * e * kk - e * k**2)
        M = self.mass @ np.abs(z1) ** 2 + self.inertia @ k**2
        h = self.mass @ (z1.conj() * z2).real + self.inertia @ (k * kk)
        Q = self.mass @ (np.conj(self.weight) * z1).real + self.torque(a) @ k
        return np.array([y[1], (Q - h * y[1] ** 2) / M])

    def centers(self, theta: float) -> Floats:
        z = self.z0 + self.W @ np.exp(1j * self.angles(theta))
        return np.column_stack([z.real, z.imag])

    def velocities(self, theta: float, rate: float) -> Floats:
        """Of centers and angles, where every body has an angle of its own."""
        a = self.angles(theta)
        k, _ = self.slopes(a)
        z = self.W @ (1j * np.exp(1j * a) * k)
        return rate * np.column_stack([z.real, z.imag, k])


def closed(rows: list[tuple[complex, dict[int, complex]]], angles: int) -> tuple[Complex, Complex]:
    """Complex loop equations c0 + C e = 0 as pairs of real ones."""
    c0 = np.array([row[0] for row in rows], complex)
    C = weights(rows, angles)
    return np.concatenate([c0, -1j * c0]), np.vstack([C, -1j * C])


def weights(rows: list[tuple[complex, dict[int, complex]]], angles: int) -> Complex:
    W = np.zeros((len(rows), angles), complex)
    for i, (_, row) in enumerate(rows):
        W[i, list(row)] = list(row.values())
    return W


def four_bar() -> Linkage:
    case = cases.four_bar()
    a, b, c, d = cases.CRANK, cases.COUPLER, cases.ROCKER, cases.BASE
    c0, C = closed([(-d, {0: a, 1: b, 2: -c})], 3)
    W = np.array([[a / 2, 0, 0], [a, b / 2, 0], [0, 0, c / 2]], complex)
    z0 = np.array([0, 0, d], complex)
    return Linkage(z0, W, case.mass, case.inertia, case.q0[:, 2], c0=c0, C=C)


def slider_crank() -> Linkage:
    case = cases.slider_crank()
    r, b = cases.SHORT, cases.ROD
    W = np.array([[r / 2, 0], [r, b / 2], [r, b]], complex)
    height = np.array([[-1j * r, -1j * b]])  # Im(r e_0 + b e_1) = 0
    zero = np.zeros(1, complex)
    return Linkage(np.zeros(3, complex), W, case.mass, case.inertia[:2], case.q0[:2, 2], c0=zero, C=height)


def ladder(windows: int) -> Linkage:
    """Posts turn together, beams do not turn."""
    case = cases.ladder(windows)
    posts, beams = np.arange(windows + 1.0), np.arange(windows) + 0.5
    W = np.concatenate([np.full(windows + 1, 0.5), np.ones(windows)])[:, None].astype(complex)
    inertia = np.array([case.inertia[: windows + 1].sum()])
    return Linkage(
        np.concatenate([posts, beams]).astype(complex),
        W,
        case.mass,
        inertia,
        np.array([np.pi / 2]),
        rate=-1.0,
    )


def andrews() -> Linkage:
    z0 = np.array([center[0] for center in squeezer.CENTERS])
    pin, pin_weights = squeezer.POINTS["F"]
    loops = []
    for constant, row in squeezer.F_AGAIN:
        loops.append((pin - constant, pin_weights | {j: -w for j, w in row.items()}))
    c0, C = closed(loops, 7)
    return Linkage(
        z0, weights(squeezer.CENTERS, 7), np.array(squeezer.MASS), np.array(squeezer.INERTIA), squeezer.START,
        c0=c0, C=C, weight=0j, torque=_motor_and_spring,
    )  # fmt: skip


def _motor_and_spring(a: Floats) -> Floats:
    """The motor turns the first body; the spring pulls D towards C with k (s - free)."""
    constant, row = squeezer.POINTS["D"]
    (j, w), e = next(iter(row.items())), np.exp(1j * a)
    d = constant + w * e[j] - complex(*squeezer.C)
    force = -squeezer.STIFFNESS * (abs(d) - squeezer.FREE) * d / abs(d)
    torque = np.zeros(a.size)
    torque[0] = squeezer.TORQUE
    torque[j] += (np.conj(force) * 1j * w * e[j]).real
    return torque


# Chains -----------------------------------------------------------------------------------------------


def no_torques(angles: Floats, omega: Floats) -> Floats:
    return np.zeros_like(angles)


def chain_rates(n: int, torques: Torques = no_torques) -> Rates:
    """Absolute angles of n bars of 1 m and 1 kg; the forces in the pins first, which costs O(n).

    F_i acts on the start of bar i, -F_(i+1) on its end. That the ends of neighbors accelerate alike is a symmetric
    system of 2 x 2 blocks: 2 + K_i + K_(i-1) on the diagonal, K_i - 1 beside it, with K = 3 p p^T and p = i e.
    """
    from scipy.linalg import solveh_banded

    def rates(t: float, y: Floats) -> Floats:
        e, omega = np.exp(1j * y[:n]), y[n:]
        p = np.column_stack([-e.imag, e.real])
        K = 3.0 * p[:, :, None] * p[:, None, :]
        diagonal = K + np.eye(2)
        diagonal[1:] += K[:-1] + np.eye(2)
        bind_like = K[:-1] - np.eye(2)
        T = torques(y[:n], omega)
        pull = -e * omega**2 / 2 + 6.0j * e * T
        right = pull.copy()
        right[1:] += pull[:-1]
        right[0] -= G
        band = np.zeros((4, 2 * n))
        for r in range(2):
            for c in range(2):
                band[1 + r - c, 2 + c :: 2] = bind_like[:, r, c]
                if r <= c:
                    band[3 + r - c, c::2] = diagonal[:, r, c]
        F = solveh_banded(band, np.column_stack([right.real, right.imag]).ravel()).reshape(n, 2)
        F[:-1] += F[1:]  # F_i + F_(i+1)
        return np.concatenate([omega, -6.0 * (p * F).sum(axis=1) + 12.0 * T])

    return rates


def dense_chain_rates(n: int, torques: Torques = no_torques) -> Rates:
    """The same from the mass matrix, to check the one above."""
    W = np.tril(np.ones((n, n))) - np.eye(n) / 2
    A = W.T @ W

    def rates(t: float, y: Floats) -> Floats:
        e, omega = np.exp(1j * y[:n]), y[n:]
        turn = np.conj(1j * e)[:, None]
        M = (turn * A * (1j * e)).real + np.eye(n) / 12
        Q = (turn * (W.T @ np.full((n, 1), G))).real[:, 0] + (turn * A * e).real @ omega**2
        return np.concatenate([omega, np.linalg.solve(M, Q + torques(y[:n], omega))])

    return rates


def chain_centers(angles: Floats) -> Floats:
    e = np.exp(1j * angles)
    z = np.cumsum(e) - e / 2
    return np.column_stack([z.real, z.imag])


# Integration and storage ------------------------------------------------------------------------------


def chain_end(n: int, t_end: float, rates: Rates, settings: dict[str, Any] = TIGHT) -> Floats:
    from scipy.integrate import solve_ivp

    start = np.zeros(2 * n)
    motion = solve_ivp(rates, (0.0, t_end), start, t_eval=[t_end], **settings)
    return chain_centers(motion.y[:n, -1])


def free_body_end(case: cases.Case, rtol: float = 1e-10) -> Floats:
    from scipy.integrate import solve_ivp

    start, settings = np.concatenate([case.q0.ravel(), case.qd0.ravel()]), STIFF | {"rtol": rtol}
    motion = solve_ivp(stiff.free_body_rates(case), (0.0, case.t_end), start, t_eval=[case.t_end], **settings)
    return motion.y[: 3 * case.n, -1].reshape(-1, 3)[:, :2]


def spring_chain_end(n: int, rates: Callable[..., Rates] = chain_rates) -> Floats:
    case = cases.spring_chain(n)
    return chain_end(n, case.t_end, rates(n, stiff.joint_torques(case)), STIFF)


def linkage_end(linkage: Linkage, t_end: float) -> Floats:
    from scipy.integrate import solve_ivp

    start = [linkage.a[0], linkage.rate]
    return linkage.centers(float(solve_ivp(linkage.rates, (0.0, t_end), start, **TIGHT).y[0, -1]))


MAKERS: dict[str, Callable[[], Floats]] = {
    "double_pendulum": lambda: chain_end(2, 2.0, chain_rates(2)),
    "four_bar": lambda: linkage_end(four_bar(), 5.0),
    "slider_crank": lambda: linkage_end(slider_crank(), 5.0),
    "squeezer": lambda: linkage_end(andrews(), 0.05),
    **{f"chain{n}": (lambda n=n: chain_end(n, 1.0, chain_rates(n))) for n in (10, 100, 1000)},
    **{f"ladder{n}": (lambda n=n: linkage_end(ladder(n), 10.0)) for n in (1, 2, 40)},
    "rod_pendulum": lambda: free_body_end(cases.rod_pendulum()),
    "bushing_four_bar": lambda: free_body_end(cases.bushing_four_bar()),
    "spring_chain100": lambda: spring_chain_end(100),
}


def stored() -> Path:
    """The file of the references, named by the sources from which it follows."""
    folder = Path(os.environ.get("SIMENGINE2D_CACHE") or Path.home() / ".cache" / "simengine2d")
    sources = [Path(module.__file__) for module in (sys.modules[__name__], cases, squeezer, stiff)]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    return folder / f"benchmark-references-{digest}.npz"


@functools.cache
def references() -> dict[str, Floats]:
    """Mass centers at the end, (bodies, 2) per case; computed where they are not stored."""
    path = stored()
    if not path.exists():
        difference = published_difference()
        if difference > 1e-8:
            raise ValueError(f"the squeezer differs from its published angles by {difference:.1e} rad")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{os.getpid()}-{path.name}")
        np.savez(partial, **{name: make() for name, make in MAKERS.items()})
        partial.replace(path)
    with np.load(path) as file:
        return dict(file)


def error(name: str, q: Floats) -> float:
    """The largest error of a mass center at the end, in meters."""
    return float(np.hypot(*(q[:, :2] - references()[name]).T).max())


def published_difference() -> float:
    """Andrews' squeezer at t = 0.03 s: the largest difference from the published angles."""
    from scipy.integrate import solve_ivp

    linkage = andrews()
    span = (0.0, squeezer.PUBLISHED_TIME)
    theta = solve_ivp(linkage.rates, span, [linkage.a[0], 0.0], **TIGHT).y[0, -1]
    return float(np.abs(linkage.angles(theta) - squeezer.absolute(squeezer.PUBLISHED)).max())


def polar_end() -> Floats:
    from scipy.integrate import solve_ivp

    case = cases.rod_pendulum()
    rates = stiff.polar_pendulum_rates(case)
    length, angle, _, _ = solve_ivp(rates, (0.0, case.t_end), [1.0, 0.0, 0.0, 0.0], **STIFF).y[:, -1]
    return length * np.array([[np.cos(angle), np.sin(angle)]])


def check() -> None:
    """Print how well independent ways agree."""
    stored().unlink(missing_ok=True)
    ends = references()
    dense = chain_end(10, 1.0, dense_chain_rates(10))
    print(f"chain of 10, pin forces against mass matrix: {np.abs(dense - ends['chain10']).max():.1e} m")
    dense = spring_chain_end(100, dense_chain_rates)
    print(f"chain of 100 with springs, the same: {np.abs(dense - ends['spring_chain100']).max():.1e} m")
    print(f"pendulum, Cartesian against polar: {np.abs(polar_end() - ends['rod_pendulum']).max():.1e} m")
    looser = free_body_end(cases.bushing_four_bar(), rtol=1e-9)
    difference = np.abs(looser - ends["bushing_four_bar"]).max()
    print(f"four-bar on bushings, rtol 1e-9 against 1e-10: {difference:.1e} m")
    print(f"squeezer at t = 0.03 s against published angles: {published_difference():.1e} rad")
    print(f"stored in {stored()}")


if __name__ == "__main__":
    check()
