"""The legend of a figure with forces: the kinds of arrows below it, and in it an arrow of a round size as a scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from .forces import KINDS, ON_REQUEST
from .marks import Arrow, Bounds
from .scene import Scene
from .style import TEXT, ink_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRIP = 0.07  # of the height, at the bottom, which the scale has for itself
LONGEST, SHORTER = 0.2, 0.13  # of the width, for the arrow of a single scale, and of one among others
SMALL = 8.0  # points of letters
LEGEND = 23  # painted over everything


def with_strip(bounds: Bounds) -> Bounds:
    """The bounds with room for the scale below them."""
    x0, y0, x1, y1 = bounds
    return x0, y0 - STRIP * (y1 - y0), x1, y1


def kinds_of(arrows: Sequence[Arrow]) -> list[str]:
    """The kinds that are among these arrows."""
    return [kind for kind in KINDS if any(arrow.ink == kind for arrow in arrows)]


def columns(kinds: Sequence[str], points: float) -> int:
    """How many of the kinds are explained side by side in so much width."""
    widest = max((0.6 * len(KINDS[kind]) + 4.0) * SMALL for kind in kinds)
    return max(1, min(len(kinds), int(points / widest)))


def height_below(arrows: Sequence[Arrow], points: float) -> float:
    """Points that the legend takes below a picture of so many points."""
    kinds = kinds_of(arrows)
    return 2.0 * SMALL * ceil(len(kinds) / columns(kinds, points)) if kinds else 0.0


def explain(ax: Axes, scene: Scene, arrows: Sequence[Arrow], theme: str = "light") -> None:
    """What the colors of these arrows mean, and how long they are."""
    kinds = kinds_of(arrows)
    if not kinds:
        return
    from matplotlib.lines import Line2D

    def handle(color: str | None) -> Any:
        return Line2D([], [], color=color, linewidth=2.0, marker=">", markersize=5)

    handles = [handle(ink_of(kind, theme).edge) for kind in kinds]
    points = 72.0 * ax.get_window_extent().width / ax.figure.dpi
    layout: dict[str, Any] = {"ncols": columns(kinds, points), "handlelength": 1.6, "columnspacing": 1.2}
    layout |= {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 0.2, "frameon": False}
    ax.legend(handles, [KINDS[kind] for kind in kinds], fontsize=SMALL, labelcolor=TEXT[theme], **layout)
    _scales(ax, scene, kinds, theme)


def _scales(ax: Axes, scene: Scene, kinds: Sequence[str], theme: str) -> None:
    """One scale for all forces, and one each for velocities and accelerations, side by side in the strip."""
    motions = [kind for kind in kinds if kind in ("velocity", "acceleration")]
    scales = [("N", scene.force_scale, TEXT[theme])] if len(motions) < len(kinds) else []
    scales += [(ON_REQUEST[kind], scene.scale_of(kind), ink_of(kind, theme).edge or "") for kind in motions]
    for k, (unit, scale, color) in enumerate(scales):
        if scale > 0.0:
            longest, shown = LONGEST if len(scales) == 1 else SHORTER, scene.units.shown(unit)
            _scale(ax, 0.02 + 0.33 * k, longest, shown.name, scale * shown.factor, color)


def _scale(ax: Axes, at: float, longest: float, unit: str, scale: float, color: str) -> None:
    """An arrow of a round size in the strip, as long as those of the picture; `scale` is in meters per unit."""
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    size = round_below(longest * (x1 - x0) / scale)
    start, y = x0 + at * (x1 - x0), y0 + 0.4 * STRIP * (y1 - y0)
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "color": color,
        "linewidth": 2.0,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    end = start + size * scale
    ax.annotate("", (end, y), (start, y), arrowprops=style, zorder=LEGEND)
    ax.annotate(
        f"= {size:g} {unit}", (end, y), (5, 0), textcoords="offset points", va="center", fontsize=SMALL, color=color,
        zorder=LEGEND,
    )  # fmt: skip


def round_below(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a value."""
    power = 10.0 ** floor(log10(value) + 1e-9)
    return next(m * power for m in (5.0, 2.0, 1.0) if m * power <= value * (1 + 1e-9))
