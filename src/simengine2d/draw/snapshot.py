"""Still pictures of models and of moments of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.model import Model
from ..results.results import Results
from .figure import draw_scene
from .resampling import nearest_row
from .scene import scene_of, scene_of_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_model(model: Model, ax: Axes | None = None, *, labels: bool = True, centers: bool = False) -> Axes:
    """A model in its assembled pose."""
    scene = scene_of_model(model)
    ax = draw_scene(scene, ax, bounds=scene.bounds_of_picture(0), labels=labels, centers=centers)
    ax.set_title("; ".join([scene.title, *scene.notes]))
    return ax


def draw_results(
    results: Results,
    t: float = 0.0,
    ax: Axes | None = None,
    *,
    trace: Sequence[str] = (),
    forces: bool = True,
    labels: bool = True,
    centers: bool = False,
) -> Axes:
    """The mechanism at the output nearest to t."""
    scene = scene_of(results, trace)
    i = nearest_row(results, t)
    bounds = scene.bounds_with_forces if forces else scene.bounds
    ax = draw_scene(scene, ax, at=i, bounds=bounds, forces=forces, labels=labels, centers=centers)
    ax.set_title(f"{scene.title} at t = {results.t[i]:.4g} s")
    return ax
