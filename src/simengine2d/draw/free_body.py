"""Free-body diagrams: one body with all forces on it, and how well Newton's and Euler's equations hold.

m rdd = sum of forces,      J phidd = sum of torques about the mass center
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ModelError, UnsupportedError, unknown
from ..expressions.unit_system import UnitSystem
from ..model.frame import GROUND
from ..results.in_units import ResultsInUnits
from ..results.results import Results
from .figure import SceneArtists, axes_or_new
from .layout import CarrierMotion
from .marks import Arrow, Label, Layer, Mark, Outline, Spot
from .outlines import circle
from .scene import SMALLEST_ARC, Scene, nearest_row, scene_of
from .style import TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class BodyBalance(NamedTuple):
    """Forces and torques about the mass center on one body at one time, by what causes them, and what they leave."""

    forces: dict[str, tuple[float, float, float]]
    inertia: tuple[float, float, float]
    """m xdd, m ydd, J phidd."""

    @property
    def residual(self) -> tuple[float, float, float]:
        """What the sums lack."""
        total = np.sum(list(self.forces.values()), axis=0) if self.forces else np.zeros(3)
        rx, ry, rt = total - self.inertia
        return float(rx), float(ry), float(rt)


def balance(results: Results, body: str, t: float) -> BodyBalance:
    """The balance of a body at the output nearest to t."""
    i = _row(results, body, t)
    one = results.at_rows(slice(i, i + 1))
    drawn, gravity = results.resolved.bodies[body], results.resolved.gravity
    forces = {"weight": (drawn.mass * gravity[0], drawn.mass * gravity[1], 0.0)} if any(gravity) else {}
    for name, element in results.model.elements.items():
        if body in [frame.body for frame in element.frames()]:
            fx, fy, torque = one.reaction(name, on=body, at=body)
            forces[name] = float(fx[0]), float(fy[0]), float(torque[0])
    xdd, ydd, phidd = (results[f"{body}.{c}dd"][i] for c in ("x", "y", "phi"))
    inertia = float(drawn.mass * xdd), float(drawn.mass * ydd), float(drawn.inertia * phidd)
    return BodyBalance(forces, inertia)


def _row(results: Results, body: str, t: float) -> int:
    if body not in results.bodies:
        hint = unknown("body", body, results.bodies, plural="bodies")
        raise ModelError(f"there is no body '{body}' to free. {hint}")
    if results.lam is None and results.model.joints:
        raise UnsupportedError(
            f"a free-body diagram needs the reactions, which {results.analysis or 'these results'} does not hold. "
            "Run dynamics(model, t_end=...)."
        )
    first, last = float(results.t[0]), float(results.t[-1])
    if not first <= t <= last:
        raise ModelError(f"t = {t:g} s lies outside of the results, which go from {first:g} to {last:g} s.")
    return nearest_row(results, t)


def free_body(view: ResultsInUnits, body: str, t: float, ax: Axes | None = None) -> Axes:
    """The body at the output nearest to t, the forces on it, and the residual of its equations of motion."""
    results = view.in_si
    i = _row(results, body, t)
    balanced = balance(results, body, t)
    scene = _freed(scene_of(results.at_rows(slice(i, i + 1)), (), view.units), body, balanced, results)
    ax = axes_or_new(ax, 6.0, 5.4)
    _frame(scene, ax)
    ax.set_axis_off()
    ax.set_aspect("equal")
    SceneArtists(replace(scene, labels=list(_names(scene))), ax, labels=True).show(0)
    ax.set_title(f"{body} at t = {results.t[i]:.4g} s")
    ax.text(0.5, -0.02, _sentence(balanced, view.units), transform=ax.transAxes, ha="center", va="top", fontsize=9,
            color=TEXT["light"], linespacing=1.5)  # fmt: skip
    return ax


def _freed(scene: Scene, body: str, balanced: BodyBalance, results: Results) -> Scene:
    """Only the body itself, its pins, and the arrows of the forces on it."""
    joints = set(balanced.forces) - {"weight"}
    marks: list[Mark] = [m for m in scene.marks if isinstance(m, Outline) and _belongs(m, body, joints)]
    pose = scene.motion.poses[body][0]
    spots = {arrow.name: arrow.spot for arrow in scene.arrows}
    inks = {arrow.name: arrow.ink for arrow in scene.arrows}
    arrows = []
    for name, (fx, fy, _) in balanced.forces.items():
        spot = _spot(scene.motion, spots.get(name), body, results, name)
        x, y = scene.motion.place(spot)[0] - pose[:2]
        about_spot = balanced.forces[name][2] - (x * fy - y * fx)
        ink = inks.get(name, "weight")
        arrows.append(Arrow(spot, name, ink, np.array([fx]), np.array([fy]), np.array([about_spot]), body))
        if name in results.model.joints:
            pin = circle((spot.x, spot.y), 0.5 * scene.size, 32)
            marks.append(Outline(body, [pin], "pin", Layer.PIN, name))
    return replace(
        scene,
        marks=marks,
        centers=[],
        labels=[],
        arrows=arrows,
        on_request=lambda kind: [],
        traces=[],
        notes=[],
    )


def _belongs(mark: Outline, body: str, joints: set[str]) -> bool:
    return mark.carrier == body and (mark.name == body or (mark.name in joints and mark.layer < Layer.PIN))


def _spot(motion: CarrierMotion, spot: Spot | None, body: str, results: Results, name: str) -> Spot:
    """Where a force acts, as a point of the body: the weight at its mass center, a reaction at its joint."""
    if name == "weight" or spot is None:
        return Spot(body, 0.0, 0.0)
    x, y = motion.place(spot)[0]
    px, py, phi = motion.poses[body][0]
    c, s = np.cos(phi), np.sin(phi)
    return Spot(body, float(c * (x - px) + s * (y - py)), float(-s * (x - px) + c * (y - py)))


def _names(scene: Scene) -> Iterator[Label]:
    """The name and size of each force at the tip of its arrow."""
    for arrow in scene.arrows:
        force, torque = np.array([arrow.fx[0], arrow.fy[0]]), float(arrow.torque[0])
        size = float(np.hypot(*force))
        newton, moment = scene.units.shown("N"), scene.units.shown("N m")
        shown = [newton.text(size)] if size * scene.force_scale > 0.3 * scene.size else []
        if abs(torque) * scene.torque_scale > SMALLEST_ARC:
            shown.append(moment.text(torque))
        if shown:
            at = scene.motion.place(arrow.spot)[0]
            tail, tip = (Spot(GROUND, *map(float, end)) for end in (at, at + scene.force_scale * force))
            text = f"{arrow.name}\n{', '.join(shown)}"
            yield Label(tip, text, arrow.ink, 0.8 * scene.size, (tail,), is_pin=True)


def _frame(scene: Scene, ax: Axes) -> None:
    """Room for the body and the tips of all arrows."""
    x0, y0, x1, y1 = scene.bounds
    tips = [
        scene.motion.place(a.spot)[0] + scene.force_scale * np.array([a.fx[0], a.fy[0]]) for a in scene.arrows
    ]
    low, high = np.min([(x0, y0), *tips], axis=0), np.max([(x1, y1), *tips], axis=0)
    margin = 0.17 * float(np.max(high - low))
    ax.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))


def _sentence(balanced: BodyBalance, units: UnitSystem) -> str:
    force, torque = units.shown("N"), units.shown("N m")
    parts = force, force, torque
    mx, my, jt = (unit.of(part) for unit, part in zip(parts, balanced.inertia, strict=True))
    left = (unit.of(part) for unit, part in zip(parts, balanced.residual, strict=True))
    rx, ry, rt = (f"{part:.1e}" if part else "0" for part in left)
    return (
        f"m a = ({mx:.4g}, {my:.4g}) {force.name},   J α = {jt:.4g} {torque.name}\n"
        f"ΣF − m a = ({rx}, {ry}) {force.name},   ΣT − J α = {rt} {torque.name}"
    )
