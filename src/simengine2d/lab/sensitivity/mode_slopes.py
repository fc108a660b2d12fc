"""Derivatives of natural frequencies, damping ratios and state matrices.

The pose of rest q(p) moves with the parameters, as equilibria do (`motion_slopes.py`). Along its tangent the rates r of
the modes and the matrices A, B, C, D are formulas, which are differentiated as all others in `varied.py`:

    dr/dp = d/ds r(q + s q_p; p + s)    at s = 0
    w = |r|,  w_p = Re(conj(r) r_p) / w,      zeta = -Re r / w,  zeta_p = -(Re r_p + zeta w_p) / w
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import pi
from typing import Any

import numpy as np

from ...analyses.linear.linearize import Linearization, linearize, operating_point
from ...analyses.linear.modes import Modes, modes
from ...analyses.statics.equilibrium import Equilibria
from ...errors import ModelError, UnsupportedError, unknown
from ...expressions.syntax import Call, Node, to_text
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ..sweep.reading import AVERAGES, REDUCED, Reading, Value, averaged
from .motion_slopes import equilibrium_slopes
from .sloped import Sloped
from .varied import VariedNumber

MATRICES = ("A", "B", "C", "D")


class StateReading(Reading):
    """Expressions of the arrays of an answer that is no motion."""

    def __init__(
        self, answer: Modes | Linearization, arrays: Mapping[str, Sloped], numbers: Sequence[VariedNumber]
    ):
        self.answer, self.arrays, self.numbers = answer, arrays, numbers

    def channel(self, name: str) -> Value:
        if name in self.arrays:
            return self.arrays[name]
        parameters = self.numbers[0].system(0.0).resolved.parameters
        if name in parameters:
            slopes = [each.slope(lambda system, _: system.resolved.parameters[name]) for each in self.numbers]
            return Sloped(parameters[name], np.array(slopes))
        raise ModelError(f"there is no array '{name}' here. {unknown('array', name, list(self.arrays))}")

    def call(self, node: Call, name: str, args: tuple[Node, ...]) -> Value:
        if name in REDUCED and len(args) == 1:
            return self._reduced(node, name, self.value(args[0]))
        return super().call(node, name, args)

    def _reduced(self, node: Call, name: str, values: Any) -> Value:
        if not isinstance(values, Sloped) or values.value.ndim == 0:
            return values
        flat: Any = Sloped(values.value.ravel(), values.slope.reshape(-1, values.slope.shape[-1]))
        if not flat.value.size:
            raise ModelError(f"{to_text(node)}: there is no mode.")
        if name in ("first", "final"):
            return flat[0 if name == "first" else -1]
        if name in AVERAGES:
            return averaged(name, flat, np.zeros(0))
        if name == "peak_to_peak":
            return np.subtract(self._extreme(node, flat, 1.0), self._extreme(node, flat, -1.0))
        return self._extreme(node, flat, 1.0 if name == "max" else -1.0)

    @staticmethod
    def _extreme(node: Call, values: Sloped, sign: float) -> Any:
        best = int(np.argmax(sign * values.value))
        same = np.flatnonzero(np.abs(values.value - values.value[best]) <= 1e-9 * np.abs(values.value[best]))
        if np.abs(values.slope[same] - values.slope[best]).max() > 1e-6 * np.abs(values.slope[best]).max(
            initial=0.0
        ):
            raise UnsupportedError(
                f"{to_text(node)} has no derivatives: two values are the same, and depend on the parameters in "
                "different ways."
            )
        return values[best]


def mode_reading(model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]) -> StateReading:
    """Natural frequencies and damping ratios."""
    pose = resting_pose(model, numbers, options, "modes")
    others = {name: value for name, value in options.items() if name != "at"}
    found = modes(model, at=pose(None, 0.0), **others)
    arrays = _slopes(numbers, pose, lambda other, at: _parts(modes(other, at=at, **others), len(found)))
    r, r_p = found.rates, arrays[0] + 1j * arrays[1]
    return StateReading(found, frequencies(r, r_p), numbers)


def frequencies(r: Any, r_p: Any) -> dict[str, Sloped]:
    """omega, frequency and damping from the rates; a free motion with r = 0 that stays so depends on nothing."""
    size = np.abs(r)[:, None]
    with np.errstate(all="ignore"):
        omega_p = np.where(r_p == 0.0, 0.0, np.real(np.conj(r)[:, None] * r_p) / size)
        ratio = -np.real(r)[:, None] / size
        ratio_p = np.where(r_p == 0.0, 0.0, -(np.real(r_p) + ratio * omega_p) / size)
    found = Sloped(size[:, 0], omega_p), Sloped(size[:, 0] / (2 * pi), omega_p / (2 * pi))
    damping = Sloped(np.where(size > 0.0, ratio, 0.0)[:, 0], ratio_p)
    return dict(zip(("omega", "frequency", "damping"), (*found, damping), strict=True))


def _parts(found: Modes, count: int) -> Floats:
    """Real and imaginary parts; nan where a pair of modes has ceased to oscillate, which is no smooth change."""
    if len(found) != count:
        return np.full((2, count), np.nan)
    return np.stack([found.rates.real, found.rates.imag])


def matrix_reading(model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any]) -> StateReading:
    """A, B, C and D with respect to the same states."""
    pose = resting_pose(model, numbers, options, "linearize")
    others = {name: value for name, value in options.items() if name != "at"}
    found = linearize(model, at=pose(None, 0.0), **others)
    others.setdefault("states", found.states[: len(found.states) // 2])
    arrays = {}
    for name in MATRICES:
        read = lambda other, at, name=name: getattr(linearize(other, at=at, **others), name)
        arrays[name] = Sloped(getattr(found, name), _slopes(numbers, pose, read))
    return StateReading(found, arrays, numbers)


Pose = Callable[[int | None, float], Any]
"""The pose of rest, moved along its tangent by a change of a parameter."""


def resting_pose(
    model: Model, numbers: Sequence[VariedNumber], options: Mapping[str, Any], analysis: str
) -> Pose:
    """How the pose follows the parameters: as an equilibrium, or as the pose `at` that closes the joints."""
    at, t = options.get("at"), options.get("t", 0.0)
    if isinstance(at, Results):
        raise UnsupportedError(
            f"{analysis} at results has no derivatives: how their state depends on the parameters is not known here. "
            "Give an equilibrium, a pose, or nothing."
        )
    if at is not None and not isinstance(at, Equilibria):
        return lambda k, change: at
    variation, _ = operating_point(model, at, t, analysis)
    still = np.zeros((1, variation.system.n))
    results = Results(variation.system, np.array([t]), variation.q[None], still, still, variation.lam[None])
    q_p = equilibrium_slopes(results, numbers).q[0]
    return lambda k, change: variation.q if k is None else variation.q + change * q_p[:, k]


def _slopes(numbers: Sequence[VariedNumber], pose: Pose, read: Callable[[Model, Any], Floats]) -> Floats:
    def slope(k: int, number: VariedNumber) -> Floats:
        return number.slope(lambda _, change: read(number.variant(change), pose(k, change)))

    return np.stack([slope(k, number) for k, number in enumerate(numbers)], axis=-1)


READINGS = {"modes": mode_reading, "linearize": matrix_reading}
