"""Still pictures: of models, of moments of a motion, and of several poses as under a stroboscope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError, listed
from ..model.frame import GROUND
from ..model.model import Model
from ..results.in_units import ResultsInUnits
from .figure import LEVEL, SceneArtists, axes_for, draw_scene, prepare
from .figure_legend import with_strip
from .forces import ON_REQUEST
from .marks import Layer, Mark, Outline
from .scene import nearest_row, resampled, scene_of, scene_of_model
from .style import TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_model(model: Model, ax: Axes | None = None, *, labels: bool = True, centers: bool = False) -> Axes:
    """A model in its assembled pose."""
    scene = scene_of_model(model)
    ax = draw_scene(scene, ax, bounds=scene.bounds_of_picture(0), labels=labels, centers=centers)
    ax.set_title("; ".join([scene.title, *scene.notes]))
    return ax


def draw_results(
    view: ResultsInUnits,
    t: float,
    ax: Axes | None,
    trace: Sequence[str],
    arrows: Sequence[str] = (),
    **shown: bool,
) -> Axes:
    """The mechanism at the output nearest to t; forces, labels and mass centers may be shown."""
    check_arrows(arrows)
    results = view.in_si
    scene = scene_of(results, trace, view.units)
    i = nearest_row(results, t)
    explained = bool(arrows) or (shown["forces"] and bool(scene.arrows))
    bounds = with_strip(scene.bounds_with_forces) if explained else scene.bounds
    ax = draw_scene(scene, ax, at=i, bounds=bounds, legend=explained, arrows=arrows, **shown)
    ax.set_title(f"{scene.title} at t = {results.t[i]:.4g} s")
    return ax


def check_arrows(kinds: Sequence[str]) -> None:
    """A wrong kind of arrow is refused."""
    strange = [kind for kind in kinds if kind not in ON_REQUEST]
    if strange:
        raise ModelError(f"arrows = {strange[0]!r} is unknown; there are {listed(ON_REQUEST)}.")


def poster(view: ResultsInUnits, poses: int, trace: Sequence[str], forces: bool, ax: Axes | None) -> Axes:
    """A stroboscopic picture: evenly spaced poses over each other, the later the darker."""
    results = view.in_si
    if poses < 2:
        raise ModelError(f"poses = {poses!r}: a poster needs two at least.")
    times = np.linspace(results.t[0], results.t[-1], poses) if results.t.size else results.t
    scene = scene_of(resampled(results, times))
    ax = axes_for(scene.bounds, ax)
    prepare(ax, scene.bounds)
    for i in range(scene.motion.t.size):
        is_last = i == poses - 1
        shown = scene if is_last else replace(scene, marks=_moving(scene.marks))
        alpha = 0.15 + 0.85 * (i / (poses - 1)) ** 1.5
        SceneArtists(shown, ax, alpha=alpha, forces=forces and is_last, level=i * LEVEL).show(i)
    full = scene_of(results, trace)
    for line in full.traces:
        path = full.motion.path(line.spot)
        ax.plot(*path.T, color=TEXT["light"], linewidth=1.0, label=line.name, zorder=poses * LEVEL)
    return ax


def _moving(marks: Sequence[Mark]) -> list[Mark]:
    """Without the ground, which is drawn once, and without arrows of motors."""
    outlines = [mark for mark in marks if isinstance(mark, Outline)]
    return [mark for mark in outlines if mark.carrier != GROUND and mark.layer < Layer.DRIVE]
