"""Pictures of the laboratory, and files of a folder. Each picture takes and returns its axes, and shows nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..draw.figure import axes_or_new, closed_figure, pyplot
from ..draw.plots import COLORS, QUIET, line_style
from ..errors import UnsupportedError
from ..io.files import write_text
from ..methods import Integrator
from ..numerics.arrays import Floats
from .stability import growth, reach_of_boundary, stability_region
from .trial import RAN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .comparison import Comparison
    from .convergence import Order
    from .step_limit import StepLimit
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
        errors = [_shown(trial.q) for trial in ran]
        left.loglog([1e3 * trial.seconds for trial in ran], errors, **style)
        right.loglog([max(1.0, float(trial.evaluations)) for trial in ran], errors, **style)
    left.set(xlabel="milliseconds of the solve", ylabel="largest difference of q to the reference")
    right.set(xlabel="evaluations of the equations of motion")
    right.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return _quiet(left), _quiet(right)


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


def plot_step_limit(limit: StepLimit, ax: Axes | None, h: float) -> Axes:
    """h lambda as crosses on the stability region."""
    z = h * limit.eigenvalues
    reach = 1.15 * float(np.abs(z).max(initial=1.0))
    width = max(reach, reach_of_boundary(limit.integrator)) if _has_region(limit.integrator) else reach
    ax = stability_region(limit.integrator, ax, width=width)
    ax.plot(z.real, z.imag, "x", color=COLORS[1], markersize=7, markeredgewidth=2, zorder=4)
    ax.set(title=f"{limit.method}, h = {h:.4g} s", xlabel="Re h lambda", ylabel="Im h lambda")
    return ax


def _shown(error: float) -> float:
    return max(error, SMALLEST)


def _quiet(ax: Axes) -> Axes:
    ax.grid(True, which="major", color=QUIET, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


# Files of a folder ------------------------------------------------------------------------------------


DPI = 130
COLUMNS = 4  # of stability regions


def save_comparison(comparison: Comparison, folder: Path) -> list[Path]:
    """comparison.txt, .csv and .png."""
    figure = _figure(8.4, 4.8)
    comparison.plot(figure.add_subplot())
    return _save("comparison", folder, comparison.table(), comparison.records(), figure)


def save_work_precision(work: WorkPrecision, folder: Path) -> list[Path]:
    """work_precision.txt, .csv and .png."""
    figure = _figure(11.0, 4.6)
    left = figure.add_subplot(1, 2, 1)
    work.plot((left, figure.add_subplot(1, 2, 2, sharey=left)))
    return _save("work_precision", folder, work.table(), work.records(), figure)


def save_stability(integrators: Sequence[Integrator], folder: Path) -> list[Path]:
    """stability.png with one region for each integrator that has one."""
    shown = [each for each in integrators if _has_region(each)]
    if not shown:
        return []
    lines = -(-len(shown) // COLUMNS)
    figure = _figure(3.2 * min(COLUMNS, len(shown)), 3.3 * lines)
    for i, each in enumerate(shown, 1):
        stability_region(each, figure.add_subplot(lines, min(COLUMNS, len(shown)), i))
    path = folder / "stability.png"
    figure.savefig(path)
    return [path]


def _figure(width: float, height: float) -> Figure:
    figure = closed_figure(width, height, DPI)
    figure.set_layout_engine("constrained")
    return figure


def _has_region(method: Integrator) -> bool:
    try:
        growth(method, 0.0)
    except UnsupportedError:  # its order changes
        return False
    return True


def _save(name: str, folder: Path, text: str, records: list[dict[str, Any]], figure: Figure) -> list[Path]:
    picture = folder / f"{name}.png"
    figure.savefig(picture)
    return [
        write_text(folder / f"{name}.txt", text + "\n"),
        write_text(folder / f"{name}.csv", csv_text(records)),
        picture,
    ]


def csv_text(records: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    if records:
        writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    return out.getvalue()
