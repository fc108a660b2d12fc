"""Pictures in the plane of a mechanism: instant centers, centrodes, velocity and acceleration polygons."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyses.linkage.instant_centers import instant_centers, pose_of
from ..expressions.unit_system import SI
from ..model.frame import GROUND
from ..model.si_values import units_of
from ..numerics.arrays import Floats
from .figure import axes_or_new, draw_scene
from .linkage_plots import GRAY, RED
from .plots import COLORS, QUIET, WIDTH, line_style, name_plane
from .scene import nearest_row, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..analyses.linkage.instant_centers import Centrodes, InstantCenters
    from ..analyses.linkage.polygons import VectorPolygon


def plot_instant_centers(centers: InstantCenters, t: float, ax: Axes | None) -> Axes:
    """The mechanism pale, each center with the numbers of its bodies; arrows lead to those at infinity."""
    i = nearest_row(centers.results, t)
    here = centers.results.at_rows(slice(i, i + 1))
    ax = axes_or_new(ax, 6.4, 5.2)
    draw_scene(scene_of(here), ax, alpha=0.35, forces=False, labels=False)
    numbers = {body: str(k + 1) for k, body in enumerate(centers.bodies)}
    spots: dict[tuple[float, float], list[str]] = {}
    far: dict[float, list[str]] = {}
    for a, b in centers:
        center = centers[a, b]
        name = f"{numbers[a]}{numbers[b]}" if len(numbers) < 10 else f"{numbers[a]},{numbers[b]}"
        if center.at_infinity[i]:
            far.setdefault(round(float(center.direction[i]) % np.pi, 6), []).append(name)
        elif np.isfinite(center.x[i]):
            spots.setdefault((round(float(center.x[i]), 9), round(float(center.y[i]), 9)), []).append(name)
    _mark_centers(ax, spots, far)
    ax.set_axis_on()
    ax.grid(True, color=QUIET, linewidth=0.6)
    ax.set_aspect("equal")
    name_plane(ax, units_of(centers.results.model))
    words = ", ".join(f"{number} {body}" for body, number in numbers.items())
    ax.set_title(words if len(words) < 90 else f"{len(numbers)} bodies", fontsize="medium")
    return ax


def _mark_centers(ax: Axes, spots: dict[tuple[float, float], list[str]], far: dict[float, list[str]]) -> None:
    for (x, y), names in spots.items():
        ax.plot(x, y, "o", color=RED, markersize=5, zorder=50)
        ax.annotate(", ".join(names), (x, y), (5, 5), textcoords="offset points", color=RED, zorder=50)
    ax.relim()
    ax.autoscale_view()
    if spots:
        places = np.array(list(spots))
        low, high = places.min(axis=0), places.max(axis=0)
        pad = 0.12 * max(float(np.max(high - low)), 1e-9)
        x0, x1 = ax.get_xlim()
        y0, y1 = ax.get_ylim()
        ax.set_xlim(min(x0, low[0] - pad), max(x1, high[0] + pad))
        ax.set_ylim(min(y0, low[1] - pad), max(y1, high[1] + pad))
    for angle, names in far.items():
        c, s = np.cos(angle), np.sin(angle)
        ax.annotate("", (0.5 + 0.45 * c, 0.5 + 0.45 * s), (0.5 + 0.33 * c, 0.5 + 0.33 * s), xycoords="axes fraction",
                    textcoords="axes fraction", arrowprops={"arrowstyle": "-|>", "color": GRAY})  # fmt: skip
        ax.text(0.5 + 0.30 * c, 0.5 + 0.30 * s, f"{', '.join(names)} at infinity", transform=ax.transAxes, color=GRAY,
                ha="center", va="center")  # fmt: skip


def plot_centrodes(centrodes: Centrodes, t: float, ax: Axes | None) -> Axes:
    """Both curves in the pose of the output nearest to t, with the mechanism pale, and the point where they touch."""
    results = centrodes.results
    i = nearest_row(results, t)
    ax = axes_or_new(ax, 6.0, 5.4)
    draw_scene(scene_of(results.at_rows(slice(i, i + 1))), ax, alpha=0.35, forces=False, labels=False)
    rotation = instant_centers(results).homogeneous(centrodes.relative_to, centrodes.body)[:, 2]
    for k, (name, body, curve) in enumerate(
        (("fixed", centrodes.relative_to, centrodes.fixed), ("moving", centrodes.body, centrodes.moving))
    ):
        x, y, phi = (float(part[i]) for part in pose_of(results, body))
        c, s = np.cos(phi), np.sin(phi)
        path = np.column_stack([x + c * curve[:, 0] - s * curve[:, 1], y + s * curve[:, 0] + c * curve[:, 1]])
        ax.plot(*_through_infinity(path, rotation).T, label=f"{name} centrode", zorder=40, **line_style(k))
        ax.plot(*path[i], "o", color=RED, markersize=5, zorder=50)
    _show_near(ax, centrodes)
    ax.set_axis_on()
    ax.grid(True, color=QUIET, linewidth=0.6)
    ax.legend(frameon=False)
    name_plane(ax, units_of(results.model))
    return ax


def _through_infinity(path: Floats, rotation: Floats) -> Floats:
    """The path with a gap wherever the rotation changes its sign, since the center passes through infinity there."""
    gaps = np.flatnonzero(rotation[:-1] * rotation[1:] < 0.0) + 1
    return np.insert(path, gaps, np.nan, axis=0)


def _show_near(ax: Axes, centrodes: Centrodes) -> None:
    """Centrodes often lead to infinity: show three times the size of the mechanism at most."""
    ax.set_aspect("equal")
    seen = centrodes.fixed[np.isfinite(centrodes.fixed[:, 0])]
    x0, x1 = ax.get_xlim()
    y0, y1 = ax.get_ylim()
    reach = 1.5 * max(x1 - x0, y1 - y0)
    if seen.size and centrodes.relative_to == GROUND:
        middle = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
        near = seen[np.max(np.abs(seen - middle), axis=1) < reach]
        if near.size:
            pad = 0.03 * reach
            ax.set_xlim(min(x0, near[:, 0].min() - pad), max(x1, near[:, 0].max() + pad))
            ax.set_ylim(min(y0, near[:, 1].min() - pad), max(y1, near[:, 1].max() + pad))


# Polygons ---------------------------------------------------------------------------------------------


def plot_polygon(polygon: VectorPolygon, ax: Axes | None) -> Axes:
    """Vectors from the pole o to the points, and dashed images of the bodies; parts of accelerations are thin."""
    ax = axes_or_new(ax, 5.6, 5.0)
    polygon = _in_shown_units(polygon)
    ends = np.array([[0.0, 0.0], *(point.vector for point in polygon.points.values())])
    size = float(np.abs(ends).max(initial=0.0)) or 1.0
    named: dict[tuple[float, float], list[str]] = {(0.0, 0.0): ["o"]}
    for point in polygon.points.values():
        if point.size > 1e-9 * size:
            _arrow(ax, (0.0, 0.0), point.vector, COLORS[0])
        key = next(
            (k for k in named if np.hypot(*(point.vector - k)) < 1e-6 * size), tuple(point.vector.tolist())
        )
        named.setdefault(key, []).append(point.name)  # type: ignore[arg-type]
    _images(ax, polygon, size)
    for place, names in named.items():
        ax.plot(*place, "o", color=GRAY, markersize=4)
        ax.annotate(", ".join(dict.fromkeys(names)), place, (5, 4), textcoords="offset points")
    ax.update_datalim(ends)
    ax.autoscale_view()
    ax.margins(0.12)
    ax.grid(True, color=QUIET, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set(xlabel=f"x [{polygon.unit}]", ylabel=f"y [{polygon.unit}]")
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(f"{polygon.kind} polygon at t = {polygon.t:.4g} s", fontsize="medium")
    _key(ax, polygon)
    return ax


def _key(ax: Axes, polygon: VectorPolygon) -> None:
    """What is absolute, which body a dashed line is the image of, and what the thin lines are."""
    from matplotlib.lines import Line2D

    handles, _ = ax.get_legend_handles_labels()
    handles.insert(0, Line2D([], [], color=COLORS[0], linewidth=WIDTH, label="of a point"))
    if polygon.kind == "acceleration":
        handles.append(Line2D([], [], color=GRAY, linewidth=0.8, label="normal, tangential"))
    ax.legend(handles=handles, frameon=False, fontsize=9)


def _in_shown_units(polygon: VectorPolygon) -> VectorPolygon:
    """The same vectors in the units in which they are shown; places keep their ratio to them."""
    unit = polygon.shown_unit
    points = {
        name: replace(point, place=unit.of(point.place), vector=unit.of(point.vector))
        for name, point in polygon.points.items()
    }
    return replace(polygon, points=points, unit=unit.name, units=SI)


def _images(ax: Axes, polygon: VectorPolygon, size: float) -> None:
    """Between the points of each body that moves: a dashed line, and for accelerations normal and tangential part."""
    bodies = [body for body in polygon.rotation if body != GROUND]
    for k, body in enumerate(bodies):
        names = [point.name for point in polygon.points.values() if body in point.bodies]
        for a, b in pairwise(names):
            start, end = polygon[a], polygon[b]
            if np.hypot(*(end - start)) < 1e-9 * size:
                continue
            color = COLORS[(k + 1) % len(COLORS)]
            at_pole = min(np.hypot(*start), np.hypot(*end)) < 1e-9 * size  # the vector of a point itself
            label = "" if at_pole else body
            ax.plot(*np.array([start, end]).T, color=color, linewidth=WIDTH, linestyle="--", label=label)
            if polygon.kind == "acceleration":
                corner = start + polygon.parts(f"{b}/{a}")[0]
                ax.plot(*np.array([start, corner, end]).T, color=color, linewidth=0.8)


def _arrow(ax: Axes, start: Any, end: Any, color: str) -> None:
    style = {"arrowstyle": "-|>", "color": color, "linewidth": WIDTH, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tuple(end), tuple(start), arrowprops=style)
