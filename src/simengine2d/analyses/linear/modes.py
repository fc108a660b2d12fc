"""Modes: natural frequencies, damping ratios and shapes of small vibrations about an equilibrium.

    (r^2 M + r C + K) y = 0,      dq = Z y

A mode with the rate r has the natural frequency |r| and the damping ratio -Re r / |r|. Without damping and with a
symmetric K the problem is K y = w^2 M y, and w is accurate to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import pi
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import ModelError, counted
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from ..assembly.pose import Pose
from .linearize import operating_point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Complex = NDArray[np.complex128]

SYMMETRIC, ROUNDING = 1e-9, 1e-13
FRAMES = 60  # of one period


@dataclass(frozen=True, repr=False)
class Modes(PlottedAnswer):
    """Sorted by frequency. `shapes` has a column for each mode, over the coordinates; the largest movement has size 1.

    Of a pair r, conj(r) the one with positive frequency is listed.
    """

    model: Model
    q: Floats
    rates: Complex
    shapes: Complex
    coordinates: list[str]
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return int(self.rates.size)

    @property
    def omega(self) -> Floats:
        """Natural frequencies, rad/s."""
        return np.abs(self.rates)

    @property
    def frequency(self) -> Floats:
        """Natural frequencies, Hz."""
        return self.omega / (2.0 * pi)

    @property
    def damping(self) -> Floats:
        """Damping ratios: 0 oscillates forever, 1 creeps back, below 0 grows."""
        size = self.omega
        return 0.0 - self.rates.real / np.where(size > 0.0, size, 1.0)

    def shape(self, mode: int) -> dict[str, complex]:
        """One mode by coordinates; those that do not move are omitted."""
        column = self.shapes[:, self._checked(mode)]
        return {name: complex(v) for name, v in zip(self.coordinates, column, strict=True) if abs(v) > 1e-9}

    def motion(self, mode: int, amplitude: float = 0.1) -> Results:
        """One period of a mode, without its decay, as results that can be plotted or animated."""
        column, size = self.shapes[:, self._checked(mode)], self.omega[mode]
        spin = 1j * (size if size > 0.0 else 1.0)
        t = np.linspace(0.0, 2.0 * pi / abs(spin), FRAMES + 1)
        swing = amplitude * np.exp(spin * t)[:, None] * column
        status = f"mode {mode}: {self.frequency[mode]:.6g} Hz, amplitude {amplitude:g}"
        q, qd, qdd = (part.real for part in (self.q + swing, spin * swing, spin**2 * swing))
        return Results(System(self.model), t, q, qd, qdd, analysis="modes", status=status)

    def _checked(self, mode: int) -> int:
        if not 0 <= mode < len(self):
            raise ModelError(
                f"there is no mode {mode}; the model has {counted(len(self), 'mode')}, counted from 0."
            )
        return mode

    def __str__(self) -> str:
        lines = [f"{self.model.name}: {counted(len(self), 'mode')}"]
        for i, (f, z) in enumerate(zip(self.frequency, self.damping, strict=True)):
            lines.append(f"{i}: {f:.6g} Hz ({self.omega[i]:.6g} rad/s), damping ratio {z:.4g}")
        return "\n".join(lines + self.notes)

    def movers(self, mode: int, most: int = 3) -> str:
        """The coordinates that move most, `crank.phi 2.22, slider.x 0.507`."""
        shape = self.shape(mode)
        names = sorted(shape, key=lambda name: -abs(shape[name]))[:most]
        return ", ".join(f"{name} {shape[name].real:.3g}" for name in names)

    def _parts(self) -> Iterator[Part]:
        yield str(self).splitlines()[0]
        numbers = zip(self.frequency, self.omega, self.damping, strict=True)
        rows = [[str(i), self.movers(i), *map(digits, values)] for i, values in enumerate(numbers)]
        yield Rows(["mode", "moves most", "frequency Hz", "rad/s", "damping ratio"], rows, 2)
        yield from self.notes

    def plot(self, ax: Axes | None = None, *, mode: int = 0) -> Axes:
        """The shape of a mode: the mechanism at rest, and pale, as far as it swings to both sides."""
        from ...draw.answer_plots import plot_mode

        return plot_mode(self, self._checked(mode), ax)


def modes(model: Model, *, at: Pose = None, t: float = 0.0) -> Modes:
    """Frequencies, damping ratios and shapes about the pose `at`, by default the equilibrium near the initial pose."""
    variation, notes = operating_point(model, at, t, "modes")
    if np.any(variation.qd):
        raise ModelError("modes need a pose at rest, but velocities were given; use linearize or floquet.")
    system, Z = variation.system, variation.Z
    M, C, K = variation.mass, Z.T @ variation.damping @ Z, Z.T @ variation.stiffness @ Z
    largest = np.abs(K).max(initial=0.0)
    weight = float(np.abs(variation.space.scale * variation.applied).max(initial=0.0)) / system.length
    K[np.abs(K) < ROUNDING * max(weight, float(largest))] = 0.0
    conservative = np.abs(K - K.T).max(initial=0.0) <= SYMMETRIC * largest and not np.any(C)
    rates, y = _undamped(M, K) if conservative else _damped(M, C, K)
    order = np.argsort(np.abs(rates), kind="stable")
    shapes = _normalized(system, Z @ y[:, order])
    return Modes(model, variation.q, rates[order], shapes, system.coordinate_names, notes)


def _undamped(M: Floats, K: Floats) -> tuple[Complex, Complex]:
    """r = i w; real and growing if the stiffness is negative."""
    from scipy.linalg import eigh

    squares, y = eigh(0.5 * (K + K.T), M)
    squares[np.abs(squares) <= 1e-12 * np.abs(squares).max(initial=0.0)] = 0.0
    rates = np.where(squares >= 0.0, 1j * np.sqrt(np.abs(squares)), np.sqrt(np.abs(squares)))
    return rates, y.astype(complex)


def _damped(M: Floats, C: Floats, K: Floats) -> tuple[Complex, Complex]:
    d = M.shape[0]
    A = np.block([[np.zeros((d, d)), np.eye(d)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    rates, vectors = np.linalg.eig(A)
    kept = rates.imag >= 0.0
    return rates[kept].astype(complex), vectors[:d, kept].astype(complex)


def _normalized(system: System, shapes: Complex) -> Complex:
    """The largest displacement, or turn times a typical length, of each mode is one length; it is real and positive."""
    scale = np.tile([1.0, 1.0, system.length], len(system.bodies))[:, None]
    for j in range(shapes.shape[1]):
        sizes = np.abs(scale[:, 0] * shapes[:, j])
        largest = int(np.argmax(np.round(sizes / max(sizes.max(), 1e-300), 9)))
        shapes[:, j] /= scale[largest, 0] * shapes[largest, j]
    return shapes
