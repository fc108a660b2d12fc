"""Whether an equilibrium is stable.

If the stiffness Z^T K Z is symmetric, as for weights and springs, and dampers dissipate energy, its lowest eigenvalue
decides. Otherwise the rates r of the linearization do, with M, C, K in the free motions:

    (r^2 M + r C + K) y = 0
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.arrays import Floats
from .statics import Balance
from .stiffness import finite_slopes

STABLE, UNSTABLE, NEUTRAL = "stable", "unstable", "neutral"
ROUNDING = 1e-15  # of the largest stiffness
ZERO = 1e-9  # relative to the largest entries: an eigenvalue below it may be zero


class Stability(NamedTuple):
    """The verdict, and what decided it: the lowest stiffness (N/m), or the largest growth rate (1/s)."""

    verdict: str
    value: float
    by_stiffness: bool

    def __str__(self) -> str:
        what = (
            f"lowest stiffness {self.value:.4g} N/m" if self.by_stiffness else f"growth {self.value:.4g} 1/s"
        )
        return f"{self.verdict} ({what})"


def stability(here: Balance) -> Stability:
    """Neutral: the linear terms do not decide."""
    K = here.stiffness
    if K.size == 0:  # nothing can move
        return Stability(STABLE, np.inf, True)
    C = -here.Z.T @ finite_slopes(here.system, here.t, here.q, np.zeros(here.system.n))[1] @ here.Z
    size = max(here.size / here.system.length, ROUNDING / ZERO * float(np.abs(K).max()))
    symmetric = np.abs(K - K.T).max() <= ZERO * np.abs(K).max()
    drag = np.linalg.eigvalsh(0.5 * (C + C.T)).min()
    if symmetric and drag >= -ZERO * np.abs(C).max():
        lowest = float(np.linalg.eigvalsh(0.5 * (K + K.T)).min())
        return Stability(_verdict(-lowest, ZERO * size), lowest, True)
    r = rates(here.Z.T @ here.system.M() @ here.Z, C, K)
    growth = float(r.real.max(initial=-np.inf))
    return Stability(_verdict(growth, ZERO * float(np.abs(r).max(initial=0.0))), growth, False)


def _verdict(growth: float, zero: float) -> str:
    return UNSTABLE if growth > zero else STABLE if growth < -zero else NEUTRAL


def rates(M: Floats, C: Floats, K: Floats) -> NDArray[np.complex128]:
    """r of (r^2 M + r C + K) y = 0; infinite ones, of massless motions, are omitted."""
    from scipy.linalg import eig

    d, zero, one = M.shape[0], np.zeros_like(M), np.eye(M.shape[0])
    alpha, beta = eig(
        np.block([[zero, one], [-K, -C]]),
        np.block([[one, zero], [zero, M]]),
        right=False,
        homogeneous_eigvals=True,
    )
    finite = np.abs(beta) > 1e-12 * np.abs(alpha)
    r: NDArray[np.complex128] = alpha[finite] / beta[finite]
    return r if d else np.zeros(0, dtype=complex)
