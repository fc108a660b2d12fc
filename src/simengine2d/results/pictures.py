"""Pictures and pages of results, which are drawn in `draw`. Plots return their axes and open no window.

They are in the units of the model, or in those of a view, `r.in_units(length="mm").plot_energy()`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from .tables import TabularResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..draw.animation import FilmOptions
    from ..draw.html import PlayerOptions
    from ..draw.notebook import WidgetOptions


class PicturedResults(TabularResults):
    """What results and their views in other units draw."""

    def plot(self, *channels: str, ax: Axes | None = None) -> Axes:
        """Channels over time, with their units; those of a second unit get a scale on the right."""
        from ..draw.plots import plot

        return plot(self.shown, *channels, ax=ax)

    def plot_energy(self, ax: Axes | None = None) -> Axes:
        """Kinetic, potential and total energy."""
        from ..draw.answer_plots import plot_energy

        shown = self.shown
        return plot_energy(shown.in_si.energy(), ax, shown.units)

    def plot_reaction(
        self,
        name: str,
        on: str | None = None,
        expressed_in: str = "ground",
        axes: tuple[Axes, Axes] | None = None,
    ) -> tuple[Axes, Axes]:
        """The force of a joint: components and size over time, and the polar diagram of the bearing's load."""
        from ..draw.plots import plot_reaction

        return plot_reaction(self.shown, name, on, expressed_in, axes)

    def plot_path(self, *points: str, ax: Axes | None = None) -> Axes:
        """The paths of points such as "coupler.P", with the mechanism pale in the background."""
        from ..draw.plots import plot_path

        return plot_path(self.shown, *points, ax=ax)

    def plot_phase(self, channel: str, ax: Axes | None = None) -> Axes:
        """A coordinate or a measure against its rate."""
        from ..draw.plots import plot_phase

        return plot_phase(self.shown, channel, ax)

    def draw(
        self,
        t: float = 0.0,
        ax: Axes | None = None,
        *,
        trace: Sequence[str] = (),
        forces: bool = True,
        labels: bool = True,
        centers: bool = False,
        arrows: Sequence[str] = (),
    ) -> Axes:
        """The mechanism at the output nearest to t; `arrows` may name "weight", "velocity" and "acceleration"."""
        from ..draw.snapshot import draw_results

        return draw_results(self.shown, t, ax, trace, arrows, forces=forces, labels=labels, centers=centers)

    def free_body(self, body: str, t: float, ax: Axes | None = None) -> Axes:
        """A body at the output nearest to t with all forces on it, and the residual of its equations of motion."""
        from ..draw.free_body import free_body

        return free_body(self.shown, body, t, ax)

    def poster(
        self, *, poses: int = 8, trace: Sequence[str] = (), forces: bool = False, ax: Axes | None = None
    ) -> Axes:
        """Several poses in one picture, the later the darker."""
        from ..draw.snapshot import poster

        return poster(self.shown, poses, trace, forces, ax)

    def animate(self, path: str | Path, **options: Unpack[FilmOptions]) -> Path:
        """Write the motion as .gif or, where ffmpeg is installed, as .mp4; `draw.animation` names the options."""
        from ..draw.animation import animate

        return animate(self.shown, path, **options)

    def html(self, path: str | Path, **options: Unpack[PlayerOptions]) -> Path:
        """Write a page that plays the motion: one file, which needs no network. `html` names the options."""
        from ..draw.html import html

        return html(self.shown, path, **options)

    def player(self, **options: Unpack[WidgetOptions]) -> Any:
        """The same player as a widget in a notebook; needs the package anywidget."""
        from ..draw.notebook import player

        return player(self.shown, **options)

    def report(self, path: str | Path) -> Path:
        """Write a page that says what was computed, how accurate it is, and what it shows."""
        from ..draw.report import write_report

        return write_report(self.shown, path)
