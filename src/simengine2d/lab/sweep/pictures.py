"""Pictures of a study. Each takes and returns its axes, and shows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...draw.figure import axes_or_new, closed_figure, pyplot
from ...draw.plots import COLORS, QUIET, WIDTH, line_style
from ...errors import ModelError, listed, unknown
from ...numerics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .table import SweepTable

MAP = "viridis"
ACROSS, PANEL = 3, (5.0, 3.8)  # panels of a figure side by side, and inches of one
MOST = 6  # columns of a matrix that are chosen where none are named


def plot_table(table: SweepTable, ax: Axes | None, output: str | None) -> Axes:
    """By the number of parameters that vary: a curve, a map, a tornado."""
    varied = varied_in(table)
    if len(varied) <= 1:
        return plot_response(table, None, output, ax)
    return plot_map(table, None, None, output, ax) if len(varied) == 2 else plot_tornado(table, output, ax)


def figure_of(table: SweepTable) -> Figure:
    """A panel for each output that is a number."""
    names = list(table.numbers)
    if not names:
        raise ModelError(
            "no output is one number a sample, so there is nothing to draw against the parameters."
        )
    across = min(ACROSS, len(names))
    down = -(-len(names) // across)
    figure = closed_figure(PANEL[0] * across, PANEL[1] * down)
    figure.set_layout_engine("constrained")
    for i, name in enumerate(names):
        plot_table(table, figure.add_subplot(down, across, i + 1), name)
    return figure


def varied_in(table: SweepTable) -> list[str]:
    return [name for name, values in table.parameters.items() if np.unique(values).size > 1]


def plot_response(table: SweepTable, parameter: str | None, output: str | None, ax: Axes | None) -> Axes:
    """An output against a parameter: median, and quartiles where other parameters vary too."""
    name, result = _parameter(table, parameter, 0), _output(table, output)
    ax = axes_or_new(ax, 6.4, 4.0)
    good = table.ok & np.isfinite(table[result])
    x, y = table[name][good], table[result][good]
    places = np.unique(x)
    if places.size == x.size or places.size > 200:  # one value at each, or no grid
        order = np.argsort(x, kind="stable")
        ax.plot(x[order], y[order], **(line_style(0) if len(varied_in(table)) <= 1 else _dots()))
    else:
        quartiles = np.array([np.percentile(y[x == place], (25, 50, 75)) for place in places])
        ax.fill_between(places, quartiles[:, 0], quartiles[:, 2], color=COLORS[0], alpha=0.2, linewidth=0)
        ax.plot(places, quartiles[:, 1], **line_style(0))
    _mark_failures(table, name, ax)
    ax.set(xlabel=name, ylabel=result)
    return _quiet(ax)


def _dots() -> dict[str, Any]:
    return {"color": COLORS[0], "linestyle": "", "marker": ".", "markersize": 4}


def _mark_failures(table: SweepTable, name: str, ax: Axes) -> None:
    """Where samples failed, short lines at the lower edge."""
    places = np.unique(table[name][~table.ok])
    if places.size:
        ax.plot(
            places,
            np.zeros(places.size),
            "|",
            color=COLORS[1],
            transform=ax.get_xaxis_transform(),
            label="failed",
            markersize=9,
            clip_on=False,
        )
        ax.legend(frameon=False, fontsize=9)


def plot_map(table: SweepTable, x: str | None, y: str | None, output: str | None, ax: Axes | None) -> Axes:
    """Colors over two parameters: cells of a grid, else triangles between scattered samples."""
    across, up, result = _parameter(table, x, 0), _parameter(table, y, 1), _output(table, output)
    ax = axes_or_new(ax, 6.2, 4.6)
    a, b = np.unique(table[across]), np.unique(table[up])
    values = np.where(table.ok, table[result], np.nan)
    if a.size * b.size == len(table):
        cells = np.full((b.size, a.size), np.nan)
        cells[np.searchsorted(b, table[up]), np.searchsorted(a, table[across])] = values
        picture: Any = ax.pcolormesh(a, b, cells, cmap=MAP, shading="nearest")
    else:
        good = np.isfinite(values)
        picture = ax.scatter(table[across][good], table[up][good], c=values[good], cmap=MAP, s=14)
    ax.figure.colorbar(picture, ax=ax, label=result)
    ax.set(xlabel=across, ylabel=up)
    return ax


def plot_tornado(table: SweepTable, output: str | None, ax: Axes | None) -> Axes:
    """The mean of an output in the lowest and in the highest fifth of each parameter, around the mean of all."""
    result = _output(table, output)
    effects = effects_of(table, result)
    center = float(np.mean(table[result][table.ok & np.isfinite(table[result])]))
    names = sorted(effects, key=lambda name: np.ptp([*effects[name], center]))
    ax = axes_or_new(ax, 6.4, 1.2 + 0.45 * len(names))
    for place, name in enumerate(names):
        bars = list(zip(effects[name], COLORS, strict=False))
        for value, color in sorted(bars, key=lambda bar: -abs(bar[0] - center)):  # the longer one below
            ax.barh(place, value - center, left=center, color=color, height=0.62)
    ax.axvline(center, color="#606060", linewidth=0.8)
    ax.set_yticks(range(len(names)), names)
    for color, words in zip(COLORS, ("lowest values", "highest values"), strict=False):
        ax.barh(0, 0.0, left=center, color=color, label=words)
    ax.legend(frameon=False, fontsize=8)
    ax.set(xlabel=f"mean of {result}")
    return _quiet(ax)


def effects_of(table: SweepTable, output: str) -> dict[str, tuple[float, float]]:
    """For each parameter that varies, the mean output where it is low and where it is high."""
    good = table.ok & np.isfinite(table[output])
    if not good.any():
        raise ModelError(f"no sample has a value of '{output}'.")
    y, effects = table[output][good], {}
    for name in varied_in(table):
        x = table[name][good]
        low, high = np.quantile(x, 0.2), np.quantile(x, 0.8)
        effects[name] = float(np.mean(y[x <= low])), float(np.mean(y[x >= high]))
    return effects


def plot_matrix(table: SweepTable, columns: Sequence[str]) -> Figure:
    """Every column against every other one, with histograms on the diagonal; failed samples are left out."""
    chosen = list(columns) or [*varied_in(table), *table.numbers][:MOST]
    data = {name: table[name][table.ok] for name in chosen}
    count = len(chosen)
    figure, axes = pyplot().subplots(
        count, count, figsize=(1.0 + 1.5 * count, 1.0 + 1.4 * count), layout="constrained", squeeze=False
    )
    for i, vertical in enumerate(chosen):
        for j, horizontal in enumerate(chosen):
            _pair(axes[i, j], data[horizontal], data[vertical], i == j)
            axes[i, j].set(xlabel=horizontal if i == count - 1 else "", ylabel=vertical if j == 0 else "")
    return figure  # type: ignore[no-any-return]


def _pair(ax: Axes, x: Floats, y: Floats, same: bool) -> None:
    if same:
        ax.hist(x[np.isfinite(x)], bins=min(30, max(5, x.size // 10)), color=COLORS[0])
    else:
        ax.plot(x, y, ".", color=COLORS[0], markersize=3)
    ax.tick_params(labelsize=7)
    _quiet(ax)


def plot_curves(table: SweepTable, x: str, y: str, color: str | None, ax: Axes | None) -> Axes:
    """Whole channels of all variants over each other."""
    whole = [name for name, column in table.outputs.items() if column.dtype == object]
    for name in (x, y):
        if name not in whole:
            raise ModelError(
                f"'{name}' is not a whole channel of the table; it has {listed(whole)}. Keep one by an output "
                "without a reducer, such as {'px': 'coupler.end.x'}."
            )
    by = _parameter(table, color, 0)
    ax = axes_or_new(ax, 6.0, 5.0)
    values = table[by]
    scale = pyplot().Normalize(
        values.min(), values.max() if values.max() > values.min() else values.min() + 1.0
    )
    shade = pyplot().get_cmap(MAP)
    for i in np.flatnonzero(table.ok):
        ax.plot(table[x][i], table[y][i], color=shade(scale(values[i])), linewidth=0.7 * WIDTH)
    ax.figure.colorbar(pyplot().cm.ScalarMappable(scale, shade), ax=ax, label=by)
    ax.set(xlabel=x, ylabel=y, aspect="equal")
    return _quiet(ax)


def _parameter(table: SweepTable, name: str | None, place: int) -> str:
    names = [*varied_in(table), *(n for n in table.parameters if n not in varied_in(table))]
    if name is None and place < len(names):
        return names[place]
    if name is None or name not in table.parameters:
        shown = "a second parameter" if name is None else f"parameter '{name}'"
        raise ModelError(
            f"the study has not varied {shown}. {unknown('parameter', name or '', table.parameters)}"
        )
    return name


def _output(table: SweepTable, name: str | None) -> str:
    numbers = list(table.numbers)
    if name is None and numbers:
        return numbers[0]
    if name is None or name not in numbers:
        raise ModelError(
            f"there is no output '{name}' of one number a sample. {unknown('output', name or '', numbers)}"
            if numbers
            else "the study has no output of one number a sample; ask for one, such as 'max(coupler.y)'."
        )
    return name


def _quiet(ax: Axes) -> Axes:
    ax.grid(True, color=QUIET, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
