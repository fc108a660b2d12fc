"""Pictures of the laboratory. Each takes and returns its axes, and shows nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..draw.figure import axes_or_new, pyplot
from ..draw.plots import COLORS, QUIET, line_style
from ..numerics.arrays import Floats
from .trial import RAN, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .comparison import Comparison
    from .convergence import Order
    from .work import WorkPrecision


MARKERS = "osD^vP*Xph<>"
SMALLEST = 1e-16  # error that is drawn where there is none
INSIDE, EDGE = "#cfe3f1", COLORS[0]


def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Error of q against time: a color for each formulation, a symbol for each coordinate family."""
    ax = axes_or_new(ax, 7.2, 4.6)
    formulations = list(dict.fromkeys(trial.formulation for trial in comparison.ran))
    families = list(dict.fromkeys(trial.coordinates for trial in comparison.ran))
    for trial in comparison.ran:
        color = COLORS[formulations.index(trial.formulation) % len(COLORS)]
        marker = MARKERS[families.index(trial.coordinates) % len(MARKERS)]
        hollow = formulations.index(trial.formulation) >= len(COLORS)
        face = "white" if hollow else color
        ax.loglog(
            1e3 * trial.seconds, _shown(trial.q), marker, color=color, markerfacecolor=face, markersize=7
        )
    handles = [_handle(name, "o", i, len(COLORS)) for i, name in enumerate(formulations)]
    handles += [_handle(name, MARKERS[i % len(MARKERS)], None, 0) for i, name in enumerate(families)]
    ax.legend(handles=handles, frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ax.set(xlabel="milliseconds of the solve", ylabel="largest difference of q to the reference")
    return _quiet(ax)


def _handle(name: str, marker: str, number: int | None, filled: int) -> Any:
    from matplotlib.lines import Line2D

    color = "#606060" if number is None else COLORS[number % len(COLORS)]
    face = "white" if number is not None and number >= filled else color
    return Line2D([], [], color=color, marker=marker, linestyle="", markerfacecolor=face, label=name)


def plot_work_precision(work: WorkPrecision, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """Error of q against milliseconds, and against evaluations."""
    left, right = axes or pyplot().subplots(1, 2, figsize=(10.0, 4.4), sharey=True, layout="constrained")[1]
    for i, (name, curve) in enumerate(work.curves.items()):
        ran = [trial for trial in curve if trial.status == RAN]
        style = line_style(i) | {"marker": MARKERS[i % len(MARKERS)], "markersize": 4.5, "label": name}
        for ax, cost in ((left, _milliseconds), (right, _evaluations)):
            ax.loglog([cost(trial) for trial in ran], [_shown(trial.q) for trial in ran], **style)
    left.set(xlabel="milliseconds of the solve", ylabel="largest difference of q to the reference")
    right.set(xlabel="evaluations of the equations of motion")
    right.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return _quiet(left), _quiet(right)


def _milliseconds(trial: Trial) -> float:
    return 1e3 * trial.seconds


def _evaluations(trial: Trial) -> float:
    return max(1.0, float(trial.evaluations))


def plot_order(order: Order, ax: Axes | None = None) -> Axes:
    """Errors against the step, and a line of the order that is claimed."""
    ax = axes_or_new(ax, 5.6, 4.2)
    for i, (name, errors) in enumerate(order.errors.items()):
        text = f"{name}: order {order.observed[name]:.2f}"
        ax.loglog(order.steps, np.maximum(errors, SMALLEST), marker=MARKERS[i], label=text, **line_style(i))
    first = next(iter(order.errors.values()))
    claimed = 0.4 * first[0] * (order.steps / order.steps[0]) ** order.claimed
    seen = claimed > 0.1 * min(errors.min() for errors in order.errors.values())
    ax.loglog(order.steps[seen], claimed[seen], ":", color="#606060", label=f"slope {order.claimed}, claimed")
    ax.set(xlabel="step [s]", ylabel="error at the end", title=f"{order.method} on {order.problem}")
    ax.legend(frameon=False, fontsize=9)
    return _quiet(ax)


def plot_stability(name: str, x: Floats, y: Floats, size: Floats, ax: Axes | None = None) -> Axes:
    """The region of |R| <= 1."""
    ax = axes_or_new(ax, 4.4, 4.4)
    # rounding must not cut into a region where |R| = 1 all over an axis
    level = np.minimum(np.nan_to_num(size, nan=10.0, posinf=10.0), 10.0) - 1e-12
    ax.contourf(x, y, level, levels=[-1.0, 1.0], colors=[INSIDE])
    ax.contour(x, y, level, levels=[1.0], colors=[EDGE], linewidths=1.5)
    ax.axhline(0.0, color="#808080", linewidth=0.7)
    ax.axvline(0.0, color="#808080", linewidth=0.7)
    ax.set(title=name, xlabel="Re z", ylabel="Im z", aspect="equal")
    return ax


def _shown(error: float) -> float:
    return max(error, SMALLEST)


def _quiet(ax: Axes) -> Axes:
    ax.grid(True, which="major", color=QUIET, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
