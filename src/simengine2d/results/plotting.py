"""Plots and pages of results. The drawing itself is in `draw`, which is imported on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .results import Results


class ResultsPictures:
    """Plots, animations and pages of results. Plots return their axes and open no window."""

    def plot(self, *channels: str, ax: Axes | None = None) -> Axes:
        """Channels over time, with their units; those of a second unit get a scale on the right."""
        from ..draw.plots import plot

        return plot(self._results, *channels, ax=ax)

    def plot_energy(self, ax: Axes | None = None) -> Axes:
        """Kinetic, potential and total energy."""
        from ..draw.plots import plot_energy

        return plot_energy(self._results, ax)

    def plot_reaction(
        self,
        name: str,
        on: str | None = None,
        expressed_in: str = "ground",
        axes: tuple[Axes, Axes] | None = None,
    ) -> tuple[Axes, Axes]:
        """The force of a joint: components and size over time, and the polar diagram of the bearing's load."""
        from ..draw.plots import plot_reaction

        return plot_reaction(self._results, name, on, expressed_in, axes)

    def plot_path(self, *points: str, ax: Axes | None = None) -> Axes:
        """The paths of points such as "coupler.P", with the mechanism pale in the background."""
        from ..draw.plots import plot_path

        return plot_path(self._results, *points, ax=ax)

    def plot_phase(self, channel: str, ax: Axes | None = None) -> Axes:
        """A coordinate or a measure against its rate."""
        from ..draw.plots import plot_phase

        return plot_phase(self._results, channel, ax)

    def draw(
        self,
        t: float = 0.0,
        ax: Axes | None = None,
        *,
        trace: Sequence[str] = (),
        forces: bool = True,
        labels: bool = True,
        centers: bool = False,
    ) -> Axes:
        """The mechanism at the output nearest to t."""
        from ..draw.snapshot import draw_results

        shown = {"forces": forces, "labels": labels, "centers": centers}
        return draw_results(self._results, t, ax, trace=trace, **shown)

    def free_body(self, body: str, t: float, ax: Axes | None = None) -> Axes:
        """A body at the output nearest to t with all forces on it, and the residual of its equations of motion."""
        from ..draw.free_body import free_body

        return free_body(self._results, body, t, ax)

    def poster(
        self, *, poses: int = 8, trace: Sequence[str] = (), forces: bool = False, ax: Axes | None = None
    ) -> Axes:
        """Several poses in one picture, the later the darker."""
        from ..draw.snapshot import poster

        return poster(self._results, poses=poses, trace=trace, forces=forces, ax=ax)

    def animate(
        self,
        path: str | Path,
        *,
        fps: float = 25.0,
        speed: float = 1.0,
        trace: Sequence[str] = (),
        forces: bool = True,
        labels: bool = False,
        theme: str = "light",
        size: int = 720,
        progress: Callable[[float], None] | None = None,
    ) -> Path:
        """Write the motion as .gif or, where ffmpeg is installed, as .mp4. `trace` names points such as "rod.B"."""
        from ..draw.animation import animate

        look: dict[str, Any] = {"forces": forces, "labels": labels, "theme": theme, "size": size}
        return animate(self._results, path, fps=fps, speed=speed, trace=trace, progress=progress, **look)

    def html(self, path: str | Path, **options: Any) -> Path:
        """Write a page that plays the motion: one file, which needs no network. `html` names the options."""
        from ..draw.html import html

        return html(self._results, path, **options)

    def player(self, **options: Any) -> Any:
        """The same player as a widget in a notebook; needs the package anywidget."""
        from ..draw.notebook import player

        return player(self._results, **options)

    def report(self, path: str | Path) -> Path:
        """Write a page that says what was computed, how accurate it is, and what it shows."""
        from ..draw.report import write_report

        return write_report(self._results, path)

    def _repr_html_(self) -> str:
        from ..draw.notebook import results_html

        return results_html(self._results)

    @property
    def _results(self) -> Results:
        return cast("Results", self)
