"""The picture of checked work: an array as a grid of its numbers, or a channel over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...draw.figure import axes_or_new
from ...draw.plots import COLORS, QUIET
from ...errors import ModelError
from ...numerics.arrays import Floats
from .checked import CheckedWork

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WRONG = COLORS[1]
MOST_CELLS = 400  # with their numbers


def plot_checked(work: CheckedWork, quantity: str, ax: Axes | None) -> Axes:
    """Wrong entries are marked in red, with what is expected in brackets."""
    if quantity not in work.given:
        raise ModelError(f"there is no picture of '{quantity}'; there are those of {', '.join(work.given)}.")
    rows, columns = work.names[quantity]
    if rows and rows[0].startswith("t = "):
        return _plot_channel(work, quantity, ax)
    given, expected = (np.reshape(work.given[quantity], (len(rows), -1)), _matrix(work, quantity))
    ax = axes_or_new(ax, 2.0 + 0.75 * given.shape[1], 1.4 + 0.38 * given.shape[0])
    wrong = np.zeros(given.shape, dtype=bool)
    for mistake in work[quantity]:
        for place in mistake.entries:
            wrong[place if len(place) == 2 else (place[0], 0)] = True
    _grid(ax, given, expected, wrong)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xticks(range(given.shape[1]), columns if any(columns) else [quantity], rotation=60, ha="right")
    ax.tick_params(length=0, labelsize=8)
    ax.set_title(f"{quantity}: {int(wrong.sum())} of {wrong.size} entries wrong", fontsize=10)
    return ax


def _matrix(work: CheckedWork, quantity: str) -> Floats:
    return np.reshape(work.expected[quantity], (len(work.names[quantity][0]), -1))


def _grid(ax: Axes, given: Floats, expected: Floats, wrong: Any) -> None:
    """Numbers in cells; wrong ones are framed, with what is expected below them."""
    m, n = given.shape
    ax.set(xlim=(-0.5, n - 0.5), ylim=(m - 0.5, -0.5))
    for k in range(m + 1):
        ax.axhline(k - 0.5, color=QUIET, linewidth=0.8)
    for k in range(n + 1):
        ax.axvline(k - 0.5, color=QUIET, linewidth=0.8)
    for i, j in np.argwhere(wrong):
        edge = [j - 0.5, j + 0.5, j + 0.5, j - 0.5, j - 0.5], [i - 0.5, i - 0.5, i + 0.5, i + 0.5, i - 0.5]
        ax.plot(*edge, color=WRONG, linewidth=1.8, zorder=3)
    if given.size > MOST_CELLS:
        return
    for i, j in np.ndindex(m, n):
        if wrong[i, j]:
            text = f"{given[i, j]:.3g}\n[{expected[i, j]:.3g}]"
            ax.text(j, i, text, ha="center", va="center", fontsize=7, weight="bold", color=WRONG)
        elif given[i, j] != 0.0:
            ax.text(j, i, f"{given[i, j]:.3g}", ha="center", va="center", fontsize=7)


def _plot_channel(work: CheckedWork, channel: str, ax: Axes | None) -> Axes:
    ax = axes_or_new(ax, 6.4, 3.8)
    t = [float(name.split()[2]) for name in work.names[channel][0]]
    ax.plot(t, work.expected[channel], color=COLORS[0], label="expected")
    ax.plot(t, work.given[channel], "--", color=WRONG, label="given")
    for mistake in work[channel]:
        ax.axvline(t[mistake.entry[0]], color=WRONG, linewidth=0.8)
    ax.set(xlabel="t [s]", ylabel=channel)
    ax.legend(frameon=False)
    return ax
