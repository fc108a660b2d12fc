"""A linkage of a type against a target, as a least-squares problem with exact derivatives.

Unknown are the parameters that vary and, where the target leaves them free, the crank's turns between its positions.
Residuals are the distances to the target and, once a dyad transmits too little, its excess:

    r = (P(theta_j) - P_j) / L,        w max(0, |cos mu(theta_s)| - cos mu_min)

over angles theta_s on the whole way. |cos mu| > 1 means that the dyad does not close, so the same term leads the search
back to linkages that do. All derivatives come from one evaluation with complex steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import cos, pi
from typing import Any

import numpy as np

from ...numerics.arrays import Floats
from .linkage_types import LinkageType
from .targets import FUNCTION, PATH, POSES, SynthesisTarget

STEP = 1e-30  # of complex steps: their square vanishes
SAMPLES = 24  # angles on the way at which transmission is looked at
CLOSED = 0.9995  # |cos mu| at most: a dyad that is nearly flat jams
WEIGHT = 3.0
LEAST_TURN = 0.01  # rad between two positions


@dataclass
class LinkageProblem:
    """One type, one assembly mode, one target."""

    kind: LinkageType
    sides: tuple[int, ...]
    target: SynthesisTarget
    limits: dict[str, tuple[float, float]]
    """Of the parameters that vary."""
    fixed: dict[str, float]
    least_transmission: float = 0.0
    full_turn: bool = False
    direction: int = 1
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = list(self.limits)
        if self.target.kind == POSES:
            self.names.append("offset")
        if self.target.inputs is None:
            self.names += [f"turn{j}" for j in range(1, len(self.target))]

    # unknowns

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest values of the unknowns."""
        extra = {"offset": (-2 * pi, 2 * pi)}
        pairs = [self.limits.get(name, extra.get(name, (LEAST_TURN, 2 * pi))) for name in self.names]
        low, high = np.array(pairs, dtype=float).T
        return low, high

    def random_start(self, rng: np.random.Generator) -> Floats:
        """Anywhere between the limits; free turns make up a part of one turn."""
        low, high = self.bounds
        x = low + (high - low) * rng.random(len(low))
        n = len(self.target)
        if self.target.inputs is None:
            whole = 2 * pi * ((n - 1) / n if self.target.closed else rng.uniform(0.2, 0.9))
            shares = rng.uniform(0.5, 1.5, n - 1)
            x[-(n - 1) :] = whole * shares / shares.sum()
        return np.clip(x, low, high)

    def values(self, x: Any) -> dict[str, Any]:
        """All parameters of the type, those of the unknowns as they are given."""
        return self.fixed | {name: x[i] for i, name in enumerate(self.names) if name in self.limits}

    def inputs(self, x: Any) -> Any:
        """The crank's angle at each position, along the first axis."""
        start = self.values(x)["crank_angle"]
        n = len(self.target)
        if self.target.inputs is None:
            turns = np.concatenate([np.zeros_like(x[:1]), np.cumsum(x[-(n - 1) :], axis=0)])
        else:
            turns = self.target.inputs - self.target.inputs[0]
            turns = turns.reshape(-1, *[1] * (np.ndim(x) - 1))
        return start + self.direction * turns

    # residuals

    def residuals(self, x: Any) -> Any:
        """r of unknowns along the first axis."""
        values, theta = self.values(x), self.inputs(x)
        pins, cosines = self.kind.positions(values, theta, self.sides)
        parts = [self._errors(x, pins), *(self._excess(cosine) for cosine in cosines)]
        way = self._way(theta)
        _, cosines = self.kind.positions(values, way, self.sides)
        parts += [self._excess(cosine) for cosine in cosines]
        if self.target.inputs is None:
            parts.append(positive(theta[-1:] * self.direction - theta[:1] * self.direction - self._longest()))
        return np.concatenate([np.broadcast_to(part, (len(part), *np.shape(x)[1:])) for part in parts])

    def _longest(self) -> float:
        return 2 * pi - LEAST_TURN

    def _way(self, theta: Any) -> Any:
        """Angles from the first position to the last, or all around."""
        span = 2 * pi if self.full_turn or self.target.closed else theta[-1] - theta[0]
        shares = np.linspace(0.0, 1.0, SAMPLES).reshape(-1, *[1] * (np.ndim(theta) - 1))
        return theta[0] + shares * span

    def _excess(self, cosine: Any) -> Any:
        limit = min(CLOSED, cos(self.least_transmission))
        return WEIGHT * positive(magnitude(cosine) - limit)

    def _errors(self, x: Any, pins: Any) -> Any:
        kind, rows, size = self.kind, self.target.rows, self.target.size
        column = lambda k: rows[:, k].reshape(-1, *[1] * (np.ndim(x) - 1))
        if self.target.kind == FUNCTION:
            return self._function_errors(pins, column(0))
        px, py = pins["P"]
        errors = [(px - column(0)) / size, (py - column(1)) / size]
        if self.target.kind == POSES:
            c, s = kind.direction(pins, kind.tracer)
            turn = column(2) - x[len(self.limits)]
            errors.append(c * np.sin(turn) - s * np.cos(turn))  # sin of the angle between plane and pose
            errors.append(positive(-(c * np.cos(turn) + s * np.sin(turn))))  # not the opposite direction
        return np.concatenate(errors)

    def _function_errors(self, pins: Any, wanted: Any) -> Any:
        """The output's turns from its first position against those wanted, the sum of the errors left out."""
        kind = self.kind
        if kind.output == "slider":
            (x, y), angle = pins["C"], self.fixed.get("guide_angle", 0.0)
            moved = np.cos(angle) * (x - x[:1]) + np.sin(angle) * (y - y[:1])
            return moved - wanted
        c, s = kind.direction(pins, kind.output)
        turned = arctan(s * c[:1] - c * s[:1], c * c[:1] + s * s[:1], wanted)
        return turned - wanted

    def jacobian(self, x: Floats) -> tuple[Floats, Floats]:
        """r and dr/dx, by x_k + i h for each k at once."""
        n = len(x)
        steps = np.repeat(x[:, None].astype(complex), n, axis=1) + 1j * STEP * np.eye(n)
        r = self.residuals(steps)
        return r[:, 0].real, r.imag / STEP

    def error(self, x: Floats) -> float:
        """The sum of squared distances to the target, in its units."""
        pins, _ = self.kind.positions(self.values(x), self.inputs(x), self.sides)
        errors = self._errors(x, pins)
        count = 2 * len(self.target) if self.target.kind == PATH else len(errors)
        return float((errors[:count] ** 2).sum()) * self.target.size**2


def positive(value: Any) -> Any:
    """max(0, value), with its derivative."""
    return np.where(np.real(value) > 0.0, value, 0.0)


def magnitude(value: Any) -> Any:
    """|value|, with its derivative."""
    return np.where(np.real(value) < 0.0, -value, value)


def arctan(y: Any, x: Any, near: Any) -> Any:
    """atan2(y, x) in the turn of `near`, with its derivative d = (x dy - y dx) / (x^2 + y^2)."""
    angle = np.arctan2(np.real(y), np.real(x))
    angle = angle + 2 * pi * np.round((near - angle) / (2 * pi))
    slope = (np.real(x) * np.imag(y) - np.real(y) * np.imag(x)) / (np.real(x) ** 2 + np.real(y) ** 2)
    return angle + 1j * slope if np.iscomplexobj(y) else angle


def sides_of(kind: LinkageType) -> Sequence[tuple[int, ...]]:
    """All assembly modes."""
    from itertools import product

    return list(product((1, -1), repeat=kind.dyads))
