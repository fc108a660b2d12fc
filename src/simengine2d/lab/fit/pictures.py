"""Pictures of a fit: data as dots, the model as a line, and what remains below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...draw.figure import axes_or_new, closed_figure
from ...draw.plots import COLORS, QUIET, WIDTH
from ...errors import ModelError, unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .fitted import Fit, FittedChannel

RESIDUALS = 0.38  # of the height above them
PANEL = 6.4, 3.4  # inches
ACROSS = 2  # panels beside each other


def plot_fit(fit: Fit, ax: Axes | None, channel: str | None, experiment: int) -> Axes:
    """One channel of one experiment, by default the first."""
    titles = list(dict.fromkeys(each.experiment for each in fit.channels))
    if not 0 <= experiment < len(titles):
        raise ModelError(f"there is no experiment {experiment}; they are numbered 0 to {len(titles) - 1}.")
    there = {each.channel: each for each in fit.channels if each.experiment == titles[experiment]}
    name = next(iter(there)) if channel is None else channel
    if name not in there:
        raise ModelError(f"{titles[experiment]} has no channel '{name}'. {unknown('channel', name, there)}")
    return _panel(there[name], axes_or_new(ax, 6.4, 4.6))


def figure_of(fit: Fit) -> Figure:
    """A panel for each channel of each experiment."""
    count = len(fit.channels)
    across = min(ACROSS, count)
    down = -(-count // across)
    figure = closed_figure(PANEL[0] * across, PANEL[1] * down + 0.6)
    figure.set_layout_engine("constrained")
    several = len({each.experiment for each in fit.channels}) > 1
    for i, each in enumerate(fit.channels):
        ax = _panel(each, figure.add_subplot(down, across, i + 1))
        ax.set_title(each.experiment if several else "", loc="left", fontsize="medium")
    return figure


def _panel(each: FittedChannel, ax: Axes) -> Axes:
    """Data and model above, residuals below on the same times."""
    unit = each.unit
    dots: dict[str, Any] = {"linestyle": "", "marker": ".", "markersize": 4, "color": COLORS[1]}
    ax.plot(each.t, unit.of(each.data), label="data", **dots)
    ax.plot(each.t, unit.of(each.model), label="model", color=COLORS[0], linewidth=WIDTH)
    below = _below(ax)
    below.plot(each.t, unit.of(each.residuals), **dots)
    below.axhline(0.0, color=COLORS[0], linewidth=0.8)
    ax.set_ylabel(f"{each.channel} [{unit.name}]" if unit.name else each.channel)
    ax.tick_params(labelbottom=False)
    ax.legend(frameon=False, fontsize=9)
    below.set(xlabel="t [s]", ylabel="data - model")
    for axes in (ax, below):
        axes.grid(True, color=QUIET, linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return ax


def _below(ax: Axes) -> Axes:
    """Axes in the lower part of the place of others, which they keep in any layout."""
    place, figure = ax.get_subplotspec(), ax.get_figure()
    if place is None or figure is None:
        from mpl_toolkits.axes_grid1 import make_axes_locatable

        size = f"{RESIDUALS:.0%}"
        return make_axes_locatable(ax).append_axes("bottom", size=size, pad=0.12, sharex=ax)  # type: ignore[no-any-return]
    parts = place.subgridspec(2, 1, height_ratios=(1.0, RESIDUALS), hspace=0.12)
    ax.set_subplotspec(parts[0])
    return figure.add_subplot(parts[1], sharex=ax)
