"""Figures for files: plots of channels below each other, and the picture of an answer."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.files import write_bytes
from ..results.in_units import ResultsInUnits
from ..results.tables import expanded
from .figure import closed_figure
from .plots import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, FIRST, MORE = 7.2, 3.0, 2.2  # inches: of the figure, its first panel, each further one
PICTURE = 6.4, 4.8


def plot_panels(results: ResultsInUnits, panels: Sequence[Sequence[str]]) -> Figure:
    """Channels and groups of them over time, a panel for each list; one for each unit where there are more than two."""
    groups = [group for panel in panels for group in _by_units(results, expanded(results.in_si, panel))]
    figure = closed_figure(WIDTH, FIRST + MORE * (len(groups) - 1))
    figure.set_layout_engine("constrained")
    for i, group in enumerate(groups):
        ax = plot(results, *group, ax=figure.add_subplot(len(groups), 1, i + 1))
        if len(group) == 1:
            ax.set_title(group[0], loc="left", fontsize="medium")
        if i < len(groups) - 1:
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
    for ax in figure.axes:  # legends and titles name the channels
        _, sign, unit = ax.get_ylabel().rpartition("[")
        ax.set_ylabel(sign + unit if sign else "")
    return figure


def _by_units(results: ResultsInUnits, channels: Sequence[str]) -> list[list[str]]:
    units = list(dict.fromkeys(results.unit(channel) for channel in channels))
    if len(units) <= 2:
        return [list(channels)]
    return [[channel for channel in channels if results.unit(channel) == unit] for unit in units]


def picture(draw: Callable[[Axes], Any]) -> Figure:
    """What an answer draws of itself."""
    figure = closed_figure(*PICTURE)
    figure.set_layout_engine("constrained")
    draw(figure.add_subplot())
    return figure


def save_figure(figure: Figure, path: Path) -> Path:
    """Write .png, .svg or .pdf; the file is complete or not written at all."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower().removeprefix("."), dpi=150)
    return write_bytes(path, buffer.getvalue())
