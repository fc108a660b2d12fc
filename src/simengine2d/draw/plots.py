"""Plots of channels, energy, reactions and paths: each returns its axes, labelled with units, and shows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, listed
from ..expressions.unit_system import ShownUnit, UnitSystem
from ..model.frame import GROUND
from ..model.measure import KINDS
from ..numerics.arrays import Floats
from ..results.channels import unit_of
from ..results.in_units import ResultsInUnits
from .figure import axes_or_new, draw_scene, pyplot
from .scene import scene_of
from .style import LINES, TEXT, ink_of, mixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = LINES["light"]
QUIET = mixed(TEXT["light"], "#ffffff", 0.15)
WIDTH = 1.7
LEGEND = 76  # letters beside each other
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
"""Lines differ in their dashes too, for print without color."""


def plot(results: ResultsInUnits, *channels: str, ax: Axes | None = None) -> Axes:
    """Channels over time. Those of a second unit get a scale on the right."""
    if not channels:
        raise ModelError(f"plot needs channels, such as {listed(results.channels[:3])}.")
    arrays = [results[channel] for channel in channels]
    units = list(dict.fromkeys(results.unit(channel) for channel in channels))
    if len(units) > 2:
        raise ModelError(
            f"the channels {listed(channels)} have {len(units)} units, {listed(units)}; one plot shows two at most. "
            "Plot them on axes of their own, with ax=."
        )
    left = axes_or_new(ax)
    scales = {unit: left if i == 0 else left.twinx() for i, unit in enumerate(units)}
    for i, (channel, values) in enumerate(zip(channels, arrays, strict=True)):
        scales[results.unit(channel)].plot(results.t, values, label=channel, **line_style(i))
    for unit, axes in scales.items():
        named = [channel for channel in channels if results.unit(channel) == unit]
        axes.set_ylabel(f"{listed(named, 3)} [{unit}]" if unit else listed(named, 3))
    tidy(left, right=len(units) == 2)
    if len(channels) > 1:
        _common_legend(left, list(scales.values()))
    return left


def line_style(i: int) -> dict[str, Any]:
    """The i-th line: a color of its own, and dashes of its own among its neighbors."""
    return {"color": COLORS[i % len(COLORS)], "linestyle": DASHES[i % len(DASHES)], "linewidth": WIDTH}


def tidy(ax: Axes, right: bool = False) -> None:
    """Time axis below, a light grid, no frame where there is no scale."""
    ax.set_xlabel("t [s]")
    ax.grid(True, color=QUIET, linewidth=0.6)
    ax.set_axisbelow(True)
    for axes in [ax, *(other for other in ax.figure.axes if right and other.bbox.bounds == ax.bbox.bounds)]:
        axes.margins(x=0.0)
        axes.spines["top"].set_visible(False)
        axes.spines["right"].set_visible(right)
        axes.ticklabel_format(axis="y", useOffset=False)
        _level_constants(axes)


def _level_constants(ax: Axes) -> None:
    """What varies only by rounding is shown as a straight line."""
    values = np.concatenate(
        [np.asarray(line.get_ydata(), dtype=float) for line in ax.get_lines()] or [np.zeros(1)]
    )
    values = values[np.isfinite(values)]
    size = float(np.abs(values).max(initial=0.0))
    if values.size and np.ptp(values) <= 1e-9 * size:
        ax.set_ylim(values[0] - 0.1 * (size or 1.0), values[0] + 0.1 * (size or 1.0))


def _common_legend(ax: Axes, several: Sequence[Axes]) -> None:
    lines = [line for axes in several for line in axes.get_lines()]
    words = [str(line.get_label()) for line in lines]
    columns = min(4, len(lines), max(1, LEGEND // (max(map(len, words)) + 7)))
    several[-1].legend(lines, words, frameon=False, ncols=columns,
                       loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)  # fmt: skip


def plot_phase(results: ResultsInUnits, channel: str, ax: Axes | None = None) -> Axes:
    """A channel and its rate, as a curve with its beginning marked."""
    of, unit = results.in_si, results.unit(channel)
    if any(f"{kind}(" in channel for kind in KINDS):
        value, rate, _ = of.measure(channel)
        rate_name = f"d/dt {channel}"
    else:
        value, rate, rate_name = of[channel], of[f"{channel}d"], f"{channel}d"
    shown = results.units.shown(unit_of(of, channel))  # a rate is in the same unit, by time
    value, rate = shown.of(value), shown.of(rate)
    ax = axes_or_new(ax, 4.8, 4.4)
    ax.plot(value, rate, color=COLORS[0], linewidth=WIDTH)
    ax.plot(value[:1], rate[:1], "o", color=COLORS[0], markersize=5)
    tidy(ax)
    ax.margins(0.05)
    ax.set(xlabel=f"{channel} [{unit}]", ylabel=f"{rate_name} [{per_second(unit)}]")
    return ax


def per_second(unit: str) -> str:
    """m/s of m, m/s² of m/s."""
    return f"{unit.removesuffix('/s')}/s²" if unit.endswith("/s") else f"{unit}/s"


# Reactions --------------------------------------------------------------------------------------------


def plot_reaction(
    results: ResultsInUnits,
    name: str,
    on: str | None = None,
    expressed_in: str = GROUND,
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """The force of a joint over time, and as a polar bearing-load diagram; a torque gets a scale on the right."""
    fx, fy, torque = results.reaction(name, on=on, expressed_in=expressed_in)
    size, units = np.hypot(fx, fy), results.units
    force, moment = units.shown("N"), units.shown("N m")
    time, polar = axes if axes is not None else _time_and_polar()
    for i, (label, values) in enumerate((("fx", fx), ("fy", fy), ("|f|", size))):
        time.plot(results.t, values, label=label, **line_style(i))
    axes_of = "" if expressed_in == GROUND else f" in the axes of {expressed_in}"
    time.set_ylabel(f"{name}{f' on {on}' if on else ''}{axes_of} [{force.name}]")
    scales = [time]
    rounding = 1e-9 * force.factor * size.max(initial=0.0) * results.in_si.system.length
    if moment.factor * np.abs(torque).max(initial=0.0) > rounding:
        scales.append(time.twinx())
        scales[1].plot(results.t, torque, label="torque", **line_style(3))
        scales[1].set_ylabel(f"torque [{moment.name}]")
    tidy(time, right=len(scales) == 2)
    _common_legend(time, scales)
    _bearing_load(polar, fx, fy, name, force.name)
    return time, polar


def _time_and_polar() -> tuple[Axes, Axes]:
    figure = pyplot().figure(figsize=(8.6, 3.8), layout="constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=(1.7, 1.0))
    return figure.add_subplot(grid[0]), figure.add_subplot(grid[1], projection="polar")


def _bearing_load(ax: Any, fx: Floats, fy: Floats, name: str, unit: str) -> None:
    """The force as a curve in the plane of its direction; the largest is marked."""
    if ax.name != "polar":
        raise ModelError("the second of the axes must be polar: figure.add_subplot(projection='polar').")
    from matplotlib.ticker import MaxNLocator

    angle, size = np.arctan2(fy, fx), np.hypot(fx, fy)
    ax.plot(np.unwrap(angle), size, color=COLORS[0], linewidth=WIDTH)
    if size.size:
        k = int(size.argmax())
        red = ink_of("reaction").edge
        ax.plot([angle[k], angle[k]], [0.0, size[k]], color=red, linewidth=1.2)
        ax.plot(angle[k], size[k], "o", color=red, markersize=5)
        ax.set_title(
            f"{name}: largest {size[k]:.4g} {unit} at {np.degrees(angle[k]):.0f}°", fontsize="medium"
        )
    ax.grid(True, color=QUIET, linewidth=0.6)
    ax.tick_params(labelsize="small")
    ax.set_yticks(
        [tick for tick in MaxNLocator(4).tick_values(0.0, size.max(initial=0.0) or 1.0) if tick > 0.0]
    )


# Paths ------------------------------------------------------------------------------------------------


def plot_path(results: ResultsInUnits, *points: str, ax: Axes | None = None) -> Axes:
    """The paths of points such as "rod.B" (coupler curves), with the mechanism pale in the background."""
    if not points:
        raise ModelError("plot_path needs points, such as 'coupler.end'.")
    scene = scene_of(results.in_si, points)
    ax = axes_or_new(ax, 6.0, 5.0)
    draw_scene(scene, ax, alpha=0.3, forces=False, labels=False)
    lines = ax.get_lines()[-len(points) :]
    for i, (trace, line) in enumerate(zip(scene.traces, lines, strict=True)):
        line.set(alpha=1.0, **line_style(i))
        ax.plot(*scene.motion.place(trace.spot)[0], "o", color=COLORS[i % len(COLORS)], markersize=5)
    ax.set_axis_on()
    tidy(ax)
    name_plane(ax, results.units)
    ax.legend(lines, points, frameon=False)
    return ax


def name_plane(ax: Axes, units: UnitSystem) -> None:
    """Both axes of the plane, which is drawn in meters, in units of length."""
    length = units.shown("m")
    for axis, name in ((ax.xaxis, "x"), (ax.yaxis, "y")):
        axis.set_label_text(f"{name} [{length.name}]")
        if length.factor != 1.0:
            axis.set_major_locator(locator_in(length))
            axis.set_major_formatter(lambda value, _: f"{length.of(value):.6g}")


def locator_in(unit: ShownUnit) -> Any:
    """Ticks at round numbers of a unit."""
    from matplotlib.ticker import AutoLocator

    class UnitLocator(AutoLocator):
        def tick_values(self, vmin: float, vmax: float) -> Any:
            return unit.factor * np.asarray(super().tick_values(vmin / unit.factor, vmax / unit.factor))

    return UnitLocator()
