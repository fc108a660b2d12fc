"""Figures as SVG text, for pages and notebooks. The same figure gives the same bytes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .figure import closed_figure, draw_scene
from .scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "simengine2d",
    "font.family": "sans-serif",
}


def figure_svg(draw: Callable[[Figure], Any], width: float, height: float) -> str:
    """What `draw` puts on a figure of so many inches."""
    import matplotlib

    figure = closed_figure(width, height)
    with matplotlib.rc_context(SETTINGS):
        draw(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def scene_svg(scene: Scene, width: float, highest: float) -> str:
    """A scene as it begins, without forces."""
    x0, y0, x1, y1 = bounds = scene.bounds_of_picture(0)
    height = min(highest, max(0.3 * width, width * (y1 - y0) / (x1 - x0)))

    def draw(figure: Figure) -> None:
        draw_scene(scene, figure.add_axes((0, 0, 1, 1)), bounds=bounds, forces=False)

    return figure_svg(draw, width, height)
