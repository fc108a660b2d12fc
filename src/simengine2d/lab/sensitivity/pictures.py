"""The picture of sensitivities: a tornado."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...draw.figure import axes_or_new
from ...draw.plots import COLORS, QUIET
from ...errors import ModelError, unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .sensitivities import Sensitivity

PERCENT = 0.01


def plot_tornado(answer: Sensitivity, ax: Axes | None, output: str | None) -> Axes:
    """The change of an output for one percent more of each parameter; of a parameter that is zero, for 0.01."""
    names = answer.numbers
    name = names[0] if output is None and names else output
    if name is None or name not in names:
        hint = unknown("output", str(name or ""), names) if names else "Reduce one, as in max(coupler.y)."
        raise ModelError(f"there is no output '{name or ''}' of one number to be drawn. {hint}")
    gradient = answer[name]
    changes = {key: PERCENT * (abs(p) or 1.0) * gradient[key] for key, p in answer.parameters.items()}
    order = sorted(changes, key=lambda key: abs(changes[key]))
    ax = axes_or_new(ax, 6.4, 1.2 + 0.45 * len(order))
    colors = [COLORS[0] if changes[key] >= 0.0 else COLORS[1] for key in order]
    ax.barh(range(len(order)), [changes[key] for key in order], color=colors, height=0.62)
    ax.axvline(0.0, color="#606060", linewidth=0.8)
    ax.set_yticks(range(len(order)), order)
    ax.set(xlabel=f"change of {name} for one percent more")
    ax.grid(True, axis="x", color=QUIET, linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
