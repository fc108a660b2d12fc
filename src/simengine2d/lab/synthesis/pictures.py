"""Pictures of synthesized linkages: over each other in their first position, with paths and target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...draw.figure import axes_or_new
from ...draw.plots import COLORS, QUIET, line_style
from ...numerics.arrays import Floats
from .linkage_types import LinkageType
from .solutions import SynthesizedLinkage, SynthesizedModel
from .survey import FourBarSurvey
from .targets import FUNCTION, POSES, SynthesisTarget

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARK = "#606060"
ARROW = 0.12  # of the target's size: the direction of a pose
STEPS = 240


def plot_linkages(linkages: Sequence[SynthesizedLinkage], target: SynthesisTarget, ax: Axes | None) -> Axes:
    """Links, paths of the point and the target; of a function, output over input."""
    ax = axes_or_new(ax, 6.0, 5.0)
    if target.kind == FUNCTION:
        return _plot_function(linkages, target, ax)
    for i, linkage in enumerate(linkages):
        _draw_links(ax, linkage, i)
    _draw_target(ax, target)
    ax.set(xlabel="x", ylabel="y", aspect="equal")
    return _finished(ax, len(linkages))


def _draw_links(ax: Axes, linkage: SynthesizedLinkage, i: int) -> None:
    kind, color = linkage._kind, COLORS[i % len(COLORS)]
    pins = pins_at(linkage, linkage.inputs[:1])
    line: dict[str, Any] = {
        "color": color,
        "zorder": 2.0 - 0.01 * i,
    }  # linkages share cranks: the better one is seen
    for link in kind.links:
        ends = np.array([pins[link.start], pins[link.end]])[:, :, 0]
        ax.plot(*ends.T, "-o", linewidth=1.4, markersize=4, markerfacecolor="white", **line)
    start, tip = (np.array(pins[name])[:, 0] for name in (kind.link(kind.tracer).start, "P"))
    ax.plot(*np.array([start, tip]).T, linewidth=0.9, **line)
    x, y = pins_at(linkage, _range(linkage))["P"]
    name = f"{i}: {linkage.motion}" + (f" ({', '.join(linkage.defects)} defect)" if linkage.defects else "")
    ax.plot(x, y, label=name, **line_style(i))


def _range(linkage: SynthesizedLinkage) -> Floats:
    first, last = linkage.inputs[0], linkage.inputs[-1]
    return np.linspace(first, first + 2 * np.pi if linkage.target.closed else last, STEPS)


def pins_at(linkage: SynthesizedLinkage, theta: Floats) -> dict[str, tuple[Floats, Floats]]:
    """All pins at angles of the crank; nan where the linkage does not close."""
    kind: LinkageType = linkage._kind
    pins, cosines = kind.positions(linkage.parameters, theta, linkage.sides)
    open_ = np.any([np.abs(cosine) > 1.0 + 1e-9 for cosine in cosines], axis=0)
    place = lambda xy: tuple(np.where(open_, np.nan, np.broadcast_to(value, theta.shape)) for value in xy)
    return {name: place(xy) for name, xy in pins.items()}  # type: ignore[misc]


def _draw_target(ax: Axes, target: SynthesisTarget) -> None:
    x, y = target.rows[:, 0], target.rows[:, 1]
    ax.plot(x, y, "x", color=DARK, markersize=7, markeredgewidth=1.8, label=target.kind, zorder=5)
    if target.kind == POSES:
        angle, length = target.rows[:, 2], ARROW * target.size
        for k in range(len(x)):
            ends = [x[k], x[k] + length * np.cos(angle[k])], [y[k], y[k] + length * np.sin(angle[k])]
            ax.plot(*ends, color=DARK, linewidth=1.2)


def _plot_function(linkages: Sequence[SynthesizedLinkage], target: SynthesisTarget, ax: Axes) -> Axes:
    for i, linkage in enumerate(linkages):
        theta = _range(linkage)
        kind = linkage._kind
        pins = pins_at(linkage, theta)
        if kind.output == "slider":
            (x, y), angle = pins["C"], linkage.parameters["guide_angle"]
            output = np.cos(angle) * x + np.sin(angle) * y
        else:
            output = np.degrees(np.unwrap(np.arctan2(*reversed(kind.direction(pins, kind.output)))))
        ax.plot(
            np.degrees(theta - theta[0]), output - output[0], label=f"{i}: {linkage.motion}", **line_style(i)
        )
    assert target.inputs is not None
    inputs = np.degrees(target.inputs - target.inputs[0])
    outputs = (
        target.rows[:, 0]
        if linkages and linkages[0]._kind.output == "slider"
        else np.degrees(target.rows[:, 0])
    )
    ax.plot(inputs, outputs, "x", color=DARK, markersize=7, markeredgewidth=1.8, label="target", zorder=5)
    ax.set(xlabel="input [°]", ylabel="output [°]")
    return _finished(ax, len(linkages))


def plot_model(found: SynthesizedModel, ax: Axes | None) -> Axes:
    """The target, and where the model is instead."""
    ax = axes_or_new(ax, 6.0, 5.0)
    target, n = found.target, len(found.target)
    if target.kind == FUNCTION:
        reached = target.rows[:, 0] + found.differences
        ax.plot(np.arange(n), target.rows[:, 0], "x", color=DARK, label="target")
        ax.plot(np.arange(n), reached, label=found.output, **line_style(0))
        ax.set(xlabel="position", ylabel=found.output)
        return _finished(ax, 1)
    x, y = target.rows[:, 0] + found.differences[:n], target.rows[:, 1] + found.differences[n : 2 * n]
    ax.plot(x, y, label=found.output, **line_style(0))
    _draw_target(ax, target)
    ax.set(xlabel="x", ylabel="y", aspect="equal")
    return _finished(ax, 1)


def _finished(ax: Axes, lines: int) -> Axes:
    ax.grid(True, color=QUIET, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if lines:
        ax.legend(frameon=False, fontsize=8)
    return ax


def plot_survey(survey: FourBarSurvey, ax: Axes | None) -> Axes:
    """Bars: how many linkages there are of each type."""
    ax = axes_or_new(ax, 6.4, 3.2)
    counts = survey.counts()
    ax.barh(list(counts), list(counts.values()), color=COLORS[0])
    ax.invert_yaxis()
    ax.set(xlabel="linkages")
    ax.locator_params(axis="x", integer=True)
    return _finished(ax, 0)
