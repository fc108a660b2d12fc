"""Figures: a scene on matplotlib axes. Nothing here opens a window."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import needed
from ..numerics.arrays import Floats
from .figure_legend import explain
from .label_places import places
from .marks import Arrow, Bounds, Label, Mark, Outline, Spot, Stretched, Trace
from .outlines import arc_arrow
from .scene import FONT, SMALLEST_ARC, Scene
from .style import PAPER, ink_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEAD = 11.0  # of force arrows, in points
SMALLEST_ARROW = 0.3  # in symbol sizes; shorter ones are not seen
TRACE, ARROW, LABEL, LEVEL = 20, 21, 22, 30  # painted after all layers of marks; a picture upon a picture


def pyplot() -> Any:
    """matplotlib.pyplot, which is slow to import."""
    return needed("matplotlib.pyplot", "figures need", "", ", or use results.html(path), which does without")


def axes_or_new(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """The axes given, or those of a new figure."""
    return ax if ax is not None else pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def axes_for(bounds: Bounds, ax: Axes | None) -> Axes:
    """The axes given, or new ones in the shape of a picture."""
    x0, y0, x1, y1 = bounds
    ratio = min(2.5, max(0.4, (x1 - x0) / (y1 - y0)))
    return axes_or_new(ax, 5.0 * ratio**0.5, 5.0 / ratio**0.5)


def closed_figure(width: float, height: float, dpi: float = 100.0) -> Figure:
    """A figure for a file, unknown to pyplot."""
    pyplot()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=dpi)
    FigureCanvasAgg(figure)
    return figure


def prepare(ax: Axes, bounds: Bounds) -> None:
    """Axes for a picture of a mechanism: both scales equal, nothing but the picture."""
    x0, y0, x1, y1 = bounds
    ax.set(xlim=(x0, x1), ylim=(y0, y1), aspect="equal")
    ax.set_axis_off()


class SceneArtists:
    """The artists of a scene, made once and then moved from pose to pose."""

    def __init__(
        self,
        scene: Scene,
        ax: Axes,
        *,
        theme: str = "light",
        alpha: float = 1.0,
        forces: bool = True,
        labels: bool = False,
        centers: bool = False,
        arrows: Sequence[str] = (),
        level: float = 0.0,
    ) -> None:
        """`arrows` are kinds that are shown on request; `level` lifts everything over what was drawn below it."""
        self.scene, self.ax, self.theme, self.alpha, self.level = scene, ax, theme, alpha, level
        shown_marks = [*scene.marks, *(scene.centers if centers else [])]
        self.marks = [(mark, self._patch(mark)) for mark in shown_marks]
        self.traces = [(trace, self._trace(trace)) for trace in scene.traces]
        shown = [arrow for arrow in scene.arrows if forces or arrow.is_load] + scene.requested(arrows)
        self.scales = {kind: scene.scale_of(kind) for kind in {arrow.ink for arrow in shown}}
        self.arrows = [(arrow, *self._arrow(arrow)) for arrow in shown]
        self.labels = [(label, self._label(label)) for label in scene.labels if labels]

    # making

    def _patch(self, mark: Mark) -> Any:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        ink = ink_of(mark.ink, self.theme)
        patch = PathPatch(
            Path(np.zeros((1, 2))),
            facecolor=(ink.fill if mark.area else None) or "none",
            edgecolor=ink.edge or "none",
            linewidth=ink.width,
            linestyle=(0, (6, 2, 1, 2)) if ink.dashed else "-",
            joinstyle="round",
            capstyle="round",
            alpha=self.alpha,
            zorder=mark.layer + self.level,
        )
        if isinstance(mark, Outline):
            patch.set_path(_compound(mark.paths, mark.area))
        self.ax.add_patch(patch)
        return patch

    def _trace(self, trace: Trace) -> Any:
        ink = ink_of(trace.ink, self.theme)
        (line,) = self.ax.plot(
            [], [], color=ink.edge, lw=1.6, zorder=TRACE + self.level, label=trace.name, alpha=self.alpha
        )
        return line

    def _arrow(self, arrow: Arrow) -> tuple[Any, Any, Any]:
        from matplotlib.patches import FancyArrowPatch, PathPatch
        from matplotlib.path import Path

        ink = ink_of(arrow.ink, self.theme)
        style: dict[str, Any] = {"color": ink.edge, "linewidth": ink.width, "alpha": self.alpha}
        style["zorder"] = ARROW + self.level
        force = FancyArrowPatch(
            (0, 0), (0, 0), arrowstyle="-|>", mutation_scale=HEAD, shrinkA=0, shrinkB=0, **style
        )
        arc = PathPatch(Path(np.zeros((1, 2))), fill=False, **style)
        head = PathPatch(Path(np.zeros((1, 2))), fill=True, **style)
        for patch in (force, arc, head):
            self.ax.add_patch(patch)
        return force, arc, head

    def _label(self, label: Label) -> Any:
        style: dict[str, Any] = {
            "color": ink_of(label.ink, self.theme).edge,
            "fontsize": FONT,
            "ha": "center",
            "va": "center",
        }
        return self.ax.text(
            0, 0, label.text, path_effects=halo(self.theme), zorder=LABEL + self.level, **style
        )

    # moving

    def show(self, i: int) -> None:
        """Take the pose of the i-th time."""
        motion = self.scene.motion
        for mark, patch in self.marks:
            if isinstance(mark, Outline):
                patch.set_transform(self._transform(mark.carrier, i))
            else:
                patch.set_path(_compound(stretched_paths(mark, *self._ends(mark, i)), mark.area))
        for trace, line in self.traces:
            line.set_data(*motion.place(trace.spot)[: i + 1].T)
        for arrow, force, arc, head in self.arrows:
            self._show_arrow(arrow, i, force, arc, head)
        if self.labels:
            self._show_labels(i)

    def _transform(self, carrier: str, i: int) -> Any:
        from matplotlib.transforms import Affine2D

        x, y, phi = self.scene.motion.poses[carrier][i]
        return Affine2D().rotate(phi).translate(x, y) + self.ax.transData

    def _at(self, spot: Spot, i: int) -> Floats:
        x, y, phi = self.scene.motion.poses[spot.carrier][i]
        c, s = np.cos(phi), np.sin(phi)
        return np.array([x + c * spot.x - s * spot.y, y + s * spot.x + c * spot.y])

    def _ends(self, mark: Stretched, i: int) -> tuple[Floats, Floats]:
        return self._at(mark.a, i), self._at(mark.b, i)

    def _show_labels(self, i: int) -> None:
        """Each where there is room for it; the letters are measured on the figure."""
        scene, canvas = self.scene, self._limits()
        boxes = self._label_sizes()
        arrows = [(*self._at(arrow.spot, i), *self._vector(arrow, i)) for arrow, *_ in self.arrows]
        free = places(scene.labels, scene.motion, i, scene.size, boxes, canvas, arrows)
        for (label, text), place in zip(self.labels, free, strict=True):
            text.set_position((place.x, place.y))
            text.set_visible(place.is_free and is_inside(self._at(label.spot, i), canvas))

    def _vector(self, arrow: Arrow, i: int) -> Floats:
        """An arrow from its beginning to its tip."""
        return self.scales[arrow.ink] * np.array([arrow.fx[i], arrow.fy[i]])

    def _label_sizes(self) -> list[tuple[float, float]]:
        """Widths and heights of the labels in meters."""
        self.ax.apply_aspect()
        meters = self.ax.transData.inverted()
        corner = meters.transform((0.0, 0.0))
        extents = [text.get_window_extent() for _, text in self.labels]
        return [tuple(meters.transform((e.width + 4, e.height)) - corner) for e in extents]

    def _limits(self) -> Bounds:
        (x0, x1), (y0, y1) = self.ax.get_xlim(), self.ax.get_ylim()
        return x0, y0, x1, y1

    def _show_arrow(self, arrow: Arrow, i: int, force: Any, arc: Any, head: Any) -> None:
        """A force begins where it acts, and is cut at the edge; a torque is an arc about that place."""
        scene, at = self.scene, self._at(arrow.spot, i)
        d = self._vector(arrow, i)
        room = room_along(at, d, self._limits())
        force.set_positions(at, at + min(1.0, room) * d)
        force.set_linestyle("-" if room >= 1.0 else (0, (4, 2)))
        force.set_visible(bool(room > 0.0 and np.hypot(*d) > SMALLEST_ARROW * scene.size))
        sweep = scene.torque_scale * arrow.torque[i]
        visible = abs(sweep) > SMALLEST_ARC
        arc.set_visible(visible)
        head.set_visible(visible)
        if visible:
            radius = scene.arc_radius(arrow)
            line, triangle = arc_arrow(radius, np.pi / 2 - sweep / 2, sweep, 1.2 * scene.size)
            arc.set_path(_compound([line + at], False))
            head.set_path(_compound([triangle + at], True))


def is_inside(at: Floats, canvas: Bounds) -> bool:
    x0, y0, x1, y1 = canvas
    return bool(x0 <= at[0] <= x1 and y0 <= at[1] <= y1)


def room_along(at: Floats, d: Floats, canvas: Bounds) -> float:
    """How many times a vector fits between a point and the edge of the canvas; 0 where the point lies outside."""
    if not is_inside(at, canvas):
        return 0.0
    x0, y0, x1, y1 = canvas
    edges = ((x0, x1), (y0, y1))
    rooms = [
        ((high if dc > 0.0 else low) - p) / dc for p, dc, (low, high) in zip(at, d, edges, strict=True) if dc
    ]
    return min(rooms, default=np.inf)


def halo(theme: str = "light") -> list[Any]:
    """Paper around letters, so that they are read over anything."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground=PAPER[theme], alpha=0.8)]


def stretched_paths(mark: Stretched, a: Floats, b: Floats) -> list[Floats]:
    """The paths of a stretched mark between the places of its ends."""
    length = float(np.hypot(*(b - a)))
    along = (b - a) / length if length > 0.0 else np.array([1.0, 0.0])
    left = np.array([-along[1], along[0]])
    return [
        a + np.outer(path[:, 0] + path[:, 1] * length, along) + np.outer(path[:, 2], left)
        for path in mark.paths
    ]


def _compound(paths: Sequence[Floats], closed: bool) -> Any:
    """Several polygons or lines as one matplotlib path."""
    from matplotlib.path import Path

    return Path.make_compound_path(
        *(Path(np.vstack([p, p[:1]]) if closed else p, closed=closed) for p in paths)
    )


def draw_scene(
    scene: Scene,
    ax: Axes | None = None,
    *,
    at: int = 0,
    bounds: Bounds | None = None,
    alpha: float = 1.0,
    forces: bool = True,
    labels: bool = True,
    centers: bool = False,
    arrows: Sequence[str] = (),
    legend: bool = False,
) -> Axes:
    """The scene at its `at`-th time; `bounds` are those of the whole motion where none are given."""
    bounds = bounds or scene.bounds
    ax = axes_for(bounds, ax)
    prepare(ax, bounds)
    artists = SceneArtists(
        scene, ax, alpha=alpha, forces=forces, labels=labels, centers=centers, arrows=arrows
    )
    artists.show(at)
    if legend:
        explain(ax, scene, [arrow for arrow, *_ in artists.arrows])
    for trace, line in artists.traces:  # a still picture shows whole paths, and where on them it is
        line.set_data(*scene.motion.path(trace.spot).T)
        line.set(marker="o", markersize=4, markevery=[at * scene.motion.per_output])
    return ax


# Figures as SVG text: the same figure gives the same bytes --------------------------------------------


SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "simengine2d",
    "font.family": "sans-serif",
}
OUTLINES = SETTINGS | {"svg.fonttype": "path"}
"""Letters as shapes: where a page takes pictures out, as notebooks that are not trusted do, no loose words are left."""


def figure_svg(
    draw: Callable[[Figure], Any], width: float, height: float, settings: dict[Any, Any] = SETTINGS
) -> str:
    """What `draw` puts on a figure of so many inches."""
    import matplotlib

    figure = closed_figure(width, height)
    with matplotlib.rc_context(settings):
        draw(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def scene_svg(scene: Scene, width: float, highest: float, settings: dict[Any, Any] = SETTINGS) -> str:
    """A scene as it begins, without forces."""
    x0, y0, x1, y1 = bounds = scene.bounds_of_picture(0)
    height = min(highest, max(0.3 * width, width * (y1 - y0) / (x1 - x0)))

    def draw(figure: Figure) -> None:
        draw_scene(scene, figure.add_axes((0, 0, 1, 1)), bounds=bounds, forces=False)

    return figure_svg(draw, width, height, settings)
