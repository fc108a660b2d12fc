"""Balancing: counterweights that make the shaking force of a mechanism zero, or least.

A weight of mass m at the place p + U / m of a link adds to the force on the frame

    -(m a_p + d^2/dt^2 (A U))

with the link's rotation matrix A. On a link that is pinned to the ground at p, a_p = 0, and the force is linear in
U = (m x, m y), its mass moment about the pin. The U of all counterweights follow from least squares over a motion,

    sum |F + sum F_k(U_k)|^2 -> min

For a four-bar with weights on its two pinned links the minimum is zero, and the U are those of the method of linearly
independent vectors: R. S. Berkof, G. G. Lowen, A new method for completely force balancing simple linkages, ASME
Journal of Engineering for Industry 91 (1969) 21-26. A weight on the crank of a slider-crank balances it in part. A
weight on a link that is not pinned to the ground also counts with its mass m = |U| / radius, found by repetition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...answer import Answer, Part, PlottedAnswer, Rows
from ...errors import ConvergenceError, ModelError, counted, listed
from ...expressions.unit_system import SI, UnitSystem
from ...model.frame import GROUND, Frame, PlacedFrame, as_frame
from ...model.joints.fixed import Fixed
from ...model.joints.revolute import Revolute
from ...model.measure import x, y
from ...model.model import Model
from ...model.si_values import units_of
from ...numerics.arrays import Floats
from ...results.results import Results
from ..kinematics.kinematics import kinematics
from .free_motion import ground_joint
from .shaking import Shaking, shaking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_REPETITIONS = 100
SETTLED = 1e-12  # relative change of the mass moments at the end
NEGLIGIBLE = 1e-12  # mass moment, relative to that of all bodies, that needs no weight


@dataclass(frozen=True, repr=False)
class Counterweight(Answer):
    """A weight on a body: its mass, and its place in the body's axes."""

    body: str
    mass: float
    place: tuple[float, float]
    moment: tuple[float, float]
    """Mass moment about the body's pivot, in body axes."""
    units: UnitSystem = SI
    """In which mass and place are shown."""

    def __str__(self) -> str:
        mass = self.units.shown("kg").text(self.mass, ".5g")
        return f"{mass} on {self.body} at ({', '.join(self.coordinates())})"

    def coordinates(self) -> list[str]:
        """The place in digits; rounding errors are zero."""
        size = max(map(abs, self.place))
        unit = self.units.shown("m")
        return [f"{unit.of(value):.5g}" if abs(value) > NEGLIGIBLE * size else "0" for value in self.place]


@dataclass(frozen=True, repr=False)
class Balancing(PlottedAnswer):
    """Counterweights, and the shaking force without and with them."""

    source: Model
    counterweights: list[Counterweight]
    before: Shaking
    after: Shaking
    results: Results
    """The motion of the balanced model."""

    @property
    def model(self) -> Model:
        """The model with the counterweights welded to their links."""
        return self.results.model

    @property
    def units(self) -> UnitSystem:
        """In which masses and places are shown."""
        return units_of(self.source)

    @property
    def remainder(self) -> float:
        """The part of the root mean square of the shaking force that is left."""
        return self.after.rms_force / (self.before.rms_force or 1.0)

    def rows(self) -> list[list[str]]:
        """The table: link, mass of its counterweight, place in its axes."""
        unit = self.units.shown("kg")
        return [[w.body, f"{unit.of(w.mass):.5g}", *w.coordinates()] for w in self.counterweights]

    def __str__(self) -> str:
        total = sum(weight.mass for weight in self.counterweights)
        part = 100.0 * self.remainder
        weights = counted(len(self.counterweights), "counterweight")
        return f"{weights} of {self.units.shown('kg').text(total)}; {part:.3g} % of the shaking force left"

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        mass, length = self.units.shown("kg").name, self.units.shown("m").name
        yield Rows(["link", f"mass {mass}", f"x {length}", f"y {length}"], self.rows())

    def plot(self, ax: Axes | None = None) -> Axes:
        """The tip of the shaking force over the motion, without and with counterweights."""
        from ...draw.linkage_plots import plot_shaking_polar

        return plot_shaking_polar(
            {"without counterweights": self.before, "with counterweights": self.after}, ax
        )


def balance(
    model: Model,
    counterweights: Mapping[str, float],
    *,
    t_end: float,
    step: float | None = None,
    weights: tuple[float, float] = (1.0, 1.0),
) -> Balancing:
    """Counterweights for the least shaking force over the motion of the drivers up to t_end, mostly one turn.

    `counterweights` gives the links and the distance of each weight from its pivot: {"crank": 0.05, "rocker": 0.1}. The
    pivot is the link's pin in the ground, or a point that is named: {"rod.start": 0.1}. `weights` says how much the
    forces along x and y count: with (2, 1) the crank of an engine on a horizontal guide balances two thirds of the
    reciprocating mass. `.model` is the model with the weights.
    """
    if not isinstance(model, Model):
        raise ModelError(f"balance needs a Model, not {model!r}; read a file with load(path).")
    pivots = {name: _pivot(model, name, radius) for name, radius in _checked(counterweights).items()}
    _check_weights(weights)
    moved = kinematics(model, t_end=t_end, step=step if step is not None else t_end / 360.0)
    sites = [Site(moved, *pivot) for pivot in pivots.values()]
    moments = _mass_moments(moved, sites, np.sqrt(np.array(weights)))
    found = [site.weight(U) for site, U in zip(sites, moments, strict=True) if np.any(U != 0.0)]
    balanced = with_counterweights(model, found)
    results = kinematics(balanced, t_eval=moved.t)
    return Balancing(model, found, shaking(moved), shaking(results), results)


class Site:
    """Where a weight may be placed: a pivot of a link, a distance, and what a mass moment there does to the frame."""

    def __init__(self, moved: Results, pivot: PlacedFrame, radius: float) -> None:
        self.pivot, self.radius, count = pivot, radius, moved.t.size
        self.units = units_of(moved.model)
        origin = PlacedFrame(GROUND, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        a_p = [moved.measure(measure(origin, pivot))[2] for measure in (x, y)]
        self.of_mass = -np.concatenate(a_p)
        """Force (all x, then all y) of a unit mass at the pivot."""
        phi, w, alpha = (moved[f"{pivot.body}.{part}"] for part in ("phi", "phid", "phidd"))
        c, s = np.cos(phi), np.sin(phi)
        # A'' U = (alpha k x - w^2) A U
        columns = [(c, s), (-s, c)]
        rates = [(-alpha * e_y - w * w * e_x, alpha * e_x - w * w * e_y) for e_x, e_y in columns]
        self.of_moment = -np.array(rates).transpose(1, 2, 0).reshape(2 * count, 2)
        """Force of unit mass moments along the axes of the link."""

    def weight(self, U: Floats) -> Counterweight:
        """The weight with this mass moment, on its radius."""
        size = float(np.hypot(*U))
        place = (self.pivot.x + self.radius * U[0] / size, self.pivot.y + self.radius * U[1] / size)
        return Counterweight(
            self.pivot.body,
            size / self.radius,
            (float(place[0]), float(place[1])),
            (float(U[0]), float(U[1])),
            self.units,
        )


def _mass_moments(moved: Results, sites: list[Site], roots: Floats) -> Floats:
    """U of each site, by least squares, repeated until the masses at pivots that move have settled."""
    shake = shaking(moved)
    importance = np.outer(roots, np.sqrt(_spans(moved.t))).ravel()
    F = importance * np.concatenate([shake.fx, shake.fy])
    columns = importance[:, None] * np.hstack([site.of_moment for site in sites])
    at_pivots = importance[:, None] * np.column_stack([site.of_mass for site in sites])
    radii = np.array([site.radius for site in sites])
    whole = float((moved.system.arrays.mass * np.maximum(moved.system.own_arms, 0.0)).sum()) or 1.0
    U = np.zeros((len(sites), 2))
    for _ in range(MOST_REPETITIONS):
        masses = np.hypot(U[:, 0], U[:, 1]) / radii
        new = -np.linalg.lstsq(columns, F + at_pivots @ masses, rcond=1e-10)[0].reshape(-1, 2)
        change = float(np.abs(new - U).max())
        U = new
        if change <= SETTLED * max(whole, float(np.abs(U).max())):
            return np.where(np.hypot(U[:, 0], U[:, 1])[:, None] <= NEGLIGIBLE * whole, 0.0, U)
    raise ConvergenceError(
        "the counterweights grow without end: each needs more weight on another link. Place them farther from their "
        "pivots, or leave out the weight on a link that is not pinned to the ground."
    )


def _spans(t: Floats) -> Floats:
    """The time that each output stands for, by the trapezoidal rule: over a whole turn no angle counts twice."""
    h = np.diff(t)
    return 0.5 * (np.append(h, 0.0) + np.append(0.0, h))


def with_counterweights(model: Model, weights: list[Counterweight]) -> Model:
    """A copy of the model with point masses welded to its links."""
    model = model.in_si()
    other, resolved = model.copy(), model.check()
    for weight in weights:
        name = f"counterweight of {weight.body}"
        place = resolved.frame(Frame(weight.body, place=(*weight.place, 0.0)))
        at = (place.drawn_x, place.drawn_y)
        other.body(name, mass=weight.mass, inertia=0.0, at=at, angle=place.drawn_angle)
        other.add(Fixed(f"{name} weld", Frame(weight.body, place=(*weight.place, 0.0)), Frame(name)))
    return other


# What is given ----------------------------------------------------------------------------------------


def _checked(counterweights: Mapping[str, float]) -> Mapping[str, float]:
    if not isinstance(counterweights, Mapping) or not counterweights:
        raise ModelError(
            f"counterweights = {counterweights!r}: give links and distances from their pivots, such as "
            '{"crank": 0.05, "rocker": 0.1}.'
        )
    return counterweights


def _pivot(model: Model, name: str, radius: float) -> tuple[PlacedFrame, float]:
    """The pivot of a link in its axes, and the distance of the weight."""
    if not isinstance(radius, float | int) or not np.isfinite(radius) or radius <= 0.0:
        raise ModelError(
            f"the counterweight of '{name}' has the distance {radius!r}; give a positive number of m."
        )
    frame = as_frame(name)
    model.find_body(frame.body)
    if not frame.is_whole_body:
        return model.check().frame(frame), float(radius)
    joint = ground_joint(model, frame.body)
    if not isinstance(joint, Revolute):
        points = listed(model.check().bodies[frame.body].points)
        raise ModelError(
            f"body '{frame.body}' has no pin in the ground to measure the distance of its counterweight from; name a "
            f"point of it, such as '{frame.body}.A' (its points: {points})."
        )
    placed = model.check().elements[joint.name]
    return next(side for side in (placed.a, placed.b) if side.body == frame.body), float(radius)  # type: ignore


def _check_weights(weights: tuple[float, float]) -> None:
    if (
        np.shape(weights) != (2,)
        or not np.all(np.isfinite(weights))
        or min(weights) < 0.0
        or max(weights) == 0.0
    ):
        raise ModelError(
            f"weights = {weights!r} must be two numbers, how much forces along x and y count: (1, 1)."
        )
