"""Floquet multipliers: how small deviations from a periodic motion grow within one period.

The equations linearized about the motion, d(dq)/dt = dqd and d(dqd)/dt = dqdd(t; dq, dqd), are integrated over one
period by Gauss's method of order 6, for a basis of the deviations that the constraints allow; the eigenvalues of that
map are the multipliers. The motion is stable if all are inside the unit circle. Without drivers, one multiplier is 1:
a shift in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import ModelError, UnsupportedError
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from ..dynamics.dynamics import dynamics
from ..statics.stability import NEUTRAL, STABLE, UNSTABLE
from ..statics.statics import check_static
from .variation import Variation

Complex = NDArray[np.complex128]

# Gauss's method with three stages: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 1996, table 5.2
ROOT = np.sqrt(15.0)
NODES = np.array([0.5 - ROOT / 10.0, 0.5, 0.5 + ROOT / 10.0])
STAGES = np.array(
    [
        [5.0 / 36.0, 2.0 / 9.0 - ROOT / 15.0, 5.0 / 36.0 - ROOT / 30.0],
        [5.0 / 36.0 + ROOT / 24.0, 2.0 / 9.0, 5.0 / 36.0 - ROOT / 24.0],
        [5.0 / 36.0 + ROOT / 30.0, 2.0 / 9.0 + ROOT / 15.0, 5.0 / 36.0],
    ]
)
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0
PERIODIC = 1e-5  # gap after one period, relative to a typical length, a radian, and their rates
RTOL = 1e-11
UNIT = 1e-5  # width of the unit circle: a double multiplier is accurate to the square root of the precision


@dataclass(frozen=True, repr=False)
class Floquet(PlottedAnswer):
    """The multipliers of one period, largest first."""

    multipliers: Complex
    period: float
    notes: list[str] = field(default_factory=list)

    @property
    def exponents(self) -> Complex:
        """Mean growth rates, 1/s: log(multiplier) / period."""
        return np.asarray(np.log(self.multipliers) / self.period, dtype=complex)

    @property
    def verdict(self) -> str:
        """ "stable" if deviations decay, or only a shift in time remains; "neutral" if others remain too."""
        sizes = np.abs(self.multipliers)
        if np.any(sizes > 1.0 + UNIT):
            return UNSTABLE
        return STABLE if np.sum(sizes > 1.0 - UNIT) <= 1 else NEUTRAL

    @property
    def stable(self) -> bool:
        return self.verdict == STABLE

    def __str__(self) -> str:
        lines = [f"periodic motion of {self.period:g} s: {self.verdict}"]
        lines += [f"multiplier {m:.6g}, size {abs(m):.6g}" for m in self.multipliers]
        return "\n".join(lines + self.notes)

    def _parts(self) -> Iterator[Part]:
        yield str(self).splitlines()[0]
        rows = [
            [digits(m), digits(abs(m)), digits(e)]
            for m, e in zip(self.multipliers, self.exponents, strict=True)
        ]
        yield Rows(["multiplier", "size", "exponent 1/s"], rows, 0)
        yield from self.notes


def floquet(model: Model, period: float, *, steps: int = 200) -> Floquet:
    """Multipliers of the motion that starts as drawn at t = 0 and repeats after `period`, in `steps` steps."""
    if not isinstance(model, Model):
        raise ModelError(f"floquet needs a Model, not {model!r}; read a file with load(path).")
    if not (np.isfinite(period) and period > 0.0):
        raise ModelError(f"period = {period!r} must be a positive number of seconds.")
    system = System(model)
    check_static(system)
    system.refuse_velocity_rows("floquet")
    # the periodic motion, at the nodes of all steps
    h = period / steps
    times = (np.arange(steps)[:, None] * h + h * NODES).ravel()
    motion = dynamics(model, t_eval=np.concatenate([[0.0], times, [period]]), rtol=RTOL)
    _check_periodic(system, motion.q, motion.qd, period)
    # a basis of deviations, carried over one period
    start = Variation(system, 0.0, motion.q[0], motion.qd[0])
    basis = _allowed(start)
    if basis.shape[1] == 0:
        raise UnsupportedError(f"every motion of '{model.name}' is prescribed; there are no deviations.")
    x = basis.copy()
    for k in range(steps):
        stages = range(3 * k + 1, 3 * k + 4)
        slopes = [_slopes(Variation(system, motion.t[i], motion.q[i], motion.qd[i])) for i in stages]
        x = _step(slopes, h, x)
    # the eigenvalues of that map
    map_ = np.linalg.lstsq(basis, x, rcond=None)[0]
    multipliers = np.linalg.eigvals(map_).astype(complex)
    return Floquet(multipliers[np.argsort(-np.abs(multipliers))], period, list(motion.notes))


def _check_periodic(system: System, q: Floats, qd: Floats, period: float) -> None:
    """Bodies may have made full turns."""
    gap = q[-1] - q[0]
    gap[2::3] -= 2.0 * np.pi * np.round(gap[2::3] / (2.0 * np.pi))
    sizes = np.tile([system.length, system.length, 1.0], len(system.bodies))
    off = np.abs(gap) / sizes
    rate = np.abs(qd[-1] - qd[0]) / sizes / (1.0 + np.abs(qd / sizes).max())
    if max(off.max(), rate.max()) > PERIODIC:
        worst = int(np.argmax(np.maximum(off, rate)))
        name = system.coordinate_names[worst]
        raise ModelError(
            f"the motion does not repeat after {period:g} s: {name} is off by {gap[worst]:.3g} and its rate by "
            f"{(qd[-1] - qd[0])[worst]:.3g}. Start on the periodic motion, or correct the period."
        )


def _allowed(v: Variation) -> Floats:
    """Deviations (dq, dqd) that satisfy the linearized constraints, 2n x 2d."""
    Z = v.Z
    return np.block([[Z, np.zeros_like(Z)], [v.rates_with(Z), Z]])


def _slopes(v: Variation) -> Floats:
    """d(dq, dqd)/dt = A (dq, dqd), 2n x 2n."""
    n = v.system.n
    dq, dqd = np.hstack([np.eye(n), np.zeros((n, n))]), np.hstack([np.zeros((n, n)), np.eye(n)])
    return np.vstack([dqd, v.answer(dq, dqd, np.zeros((n, 2 * n)))[0]])


def _step(slopes: list[Floats], h: float, x: Floats) -> Floats:
    """x after one step: k_i = A_i (x + h sum_j a_ij k_j), x + h sum_i b_i k_i."""
    size = x.shape[0]
    matrix = np.eye(3 * size)
    for i in range(3):
        for j in range(3):
            matrix[i * size : (i + 1) * size, j * size : (j + 1) * size] -= h * STAGES[i, j] * slopes[i]
    k = np.linalg.solve(matrix, np.vstack([A @ x for A in slopes]))
    return x + h * sum(w * k[i * size : (i + 1) * size] for i, w in enumerate(WEIGHTS))
