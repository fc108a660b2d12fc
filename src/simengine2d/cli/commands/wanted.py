"""What a command writes beside its tables: results in a file, plots, a report, a moving picture, a page that plays.

The options are declared here once; `writes_results` gives them to a command, which receives what was asked for as
`wanted`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...model.names import between_commas
from ..terminal import Settings, say
from . import app as shared
from .saving import Target, at_rest, check_folder, save, target_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...model.model import Model
    from ...results.results import Results

PICTURES, PAGES, FILMS = (".png", ".svg", ".pdf"), (".html", ".htm"), (".gif", ".mp4")


def _set_degrees(wanted: bool) -> bool:
    Settings.degrees = wanted
    return wanted


DegreesOption = Annotated[
    bool, typer.Option("--degrees", callback=_set_degrees, help="Angles of tables and plots in degrees.")
]
OPTIONS: dict[str, Any] = {
    "out": shared.OutOption,
    "format": shared.FormatOption,
    "channel": shared.ChannelOption,
    "plot": Annotated[
        list[str] | None,
        typer.Option(
            "--plot",
            metavar="CHANNELS",
            help="Plot channels such as 'crank.phi, B.fx', a body, a joint or energy; once for each panel.",
        ),
    ],
    "plot_file": Annotated[
        Path | None,
        typer.Option(
            "--plot-file", metavar="FILE", help="Where --plot draws: .png, .svg or .pdf; else MODEL.png."
        ),
    ],
    "report": Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE.html", help="Write a report: what was computed, how accurately."
        ),
    ],
    "animate": Annotated[
        Path | None,
        typer.Option("--animate", metavar="FILE.gif", help="Write the motion as .gif or, with ffmpeg, .mp4."),
    ],
    "html": Annotated[
        Path | None, typer.Option("--html", metavar="FILE.html", help="Write a page that plays the motion.")
    ],
    "degrees": DegreesOption,
}


def writes_results(function: Callable[..., None]) -> Callable[..., None]:
    """The command with the options above instead of its parameter `wanted`."""

    @wraps(function)
    def run(**given: Any) -> None:
        function(wanted=Wanted(**{name: given.pop(name) for name in OPTIONS}), **given)

    own = [p for p in inspect.signature(function, eval_str=True).parameters.values() if p.name != "wanted"]
    keyword = inspect.Parameter.KEYWORD_ONLY
    more = [
        inspect.Parameter(name, keyword, default=False if name == "degrees" else None, annotation=kind)
        for name, kind in OPTIONS.items()
    ]
    run.__signature__ = inspect.Signature([p.replace(kind=keyword) for p in own] + more)  # type: ignore[attr-defined]
    return run


@dataclass(frozen=True)
class Wanted:
    """The options as they were given."""

    out: Path | None = None
    format: shared.Format | None = None
    channel: list[str] | None = None
    plot: list[str] | None = None
    plot_file: Path | None = None
    report: Path | None = None
    animate: Path | None = None
    html: Path | None = None
    degrees: bool = False

    def checked(self, name: str, default: Target | None = None) -> OutputFiles:
        """The files of a run of the model or result `name`; what would prevent writing them is said before it."""
        target = target_file(name, self.out, self.format, self.channel) or default
        if self.degrees and target is not None and target.path.suffix.lower() == ".npz":
            raise typer.BadParameter("--degrees is for tables and plots; .npz holds SI units and radians.")
        if self.plot_file is not None and not self.plot:
            raise typer.BadParameter("--plot-file says where to plot; say what, with --plot CHANNELS.")
        panels = tuple([name for name in between_commas(text) if name] for text in self.plot or ())
        files = [name for panel in panels for name in panel if name.lower().endswith(PICTURES)]
        if files:
            raise typer.BadParameter(
                f"--plot says what to plot; write --plot CHANNELS --plot-file {files[0]}."
            )
        folder = target.path.parent if target is not None else Path()
        figure = (self.plot_file or folder / f"{Path(name).stem}.png") if panels else None
        for option, path, endings in (
            ("--plot-file", figure, PICTURES),
            ("--report", self.report, PAGES),
            ("--animate", self.animate, FILMS),
            ("--html", self.html, PAGES),
        ):
            if path is not None:
                _check_file(option, path, endings)
        return OutputFiles(target, panels, figure, self.report, self.animate, self.html, self.degrees)


NOTHING = Wanted()


def _check_file(option: str, path: Path, endings: tuple[str, ...]) -> None:
    if path.suffix.lower() not in endings:
        raise typer.BadParameter(f"{option} {path}: the ending must be one of {', '.join(endings)}.")
    check_folder(path)
    if path.suffix.lower() == ".mp4":
        from ...draw.animation import check_film

        check_film(path)


@dataclass(frozen=True)
class OutputFiles:
    """The files that are to be written."""

    target: Target | None = None
    panels: tuple[list[str], ...] = ()
    figure: Path | None = None
    report: Path | None = None
    film: Path | None = None
    page: Path | None = None
    degrees: bool = False

    @property
    def any(self) -> bool:
        return self != OutputFiles(degrees=self.degrees)

    def check_channels(self, model: Model, forces: bool) -> None:
        """A misspelled channel is reported before the run: the model at rest must have them all."""
        from ...results.tables import columns_of
        from ..summary import view_of

        named = [
            *(self.target.channels if self.target else ()),
            *(name for panel in self.panels for name in panel),
        ]
        if named:
            columns_of(view_of(at_rest(model, forces)), named, True)

    def write(self, results: Results, motion: Results | None = None) -> dict[str, Any]:
        """Write all of them; what the answer says of it. `motion` is what moves, where that is not the results."""
        from ...draw.panels import plot_panels, save_figure
        from ..summary import view_of

        shown = results if motion is None else motion
        saved = save(results, self.target, self.degrees).get("saved", [])
        if self.figure is not None:
            saved.append(save_figure(plot_panels(view_of(shown), self.panels), self.figure))
        if self.report is not None:
            saved.append(view_of(results).report(self.report))
        if self.film is not None:
            saved.append(
                shown.animate(self.film, speed=_speed(shown), progress=_silent if Settings.quiet else None)
            )
        if self.page is not None:
            saved.append(view_of(shown).html(self.page))
        for path in saved[self.target is not None :]:
            say(f"wrote {path}")
        return {"saved": saved} if saved else {}


# Pictures of answers ----------------------------------------------------------------------------------


PictureOption = Annotated[
    Path | None, typer.Option("--picture", metavar="FILE", help="Draw the answer: .png, .svg or .pdf.")
]


def check_picture(path: Path | None, option: str = "--picture") -> None:
    """What would prevent writing the picture is said before the analysis."""
    if path is not None:
        _check_file(option, path, PICTURES)


def write_picture(draw: Callable[[Axes], Any], path: Path | None) -> dict[str, Any]:
    """Draw an answer where that is wanted; what the JSON answer says of it."""
    if path is None:
        return {}
    from ...draw.panels import picture, save_figure

    save_figure(picture(draw), path)
    say(f"wrote {path}")
    return {"picture": path}


# Films ------------------------------------------------------------------------------------------------


LONGEST_FILM, SEARCH_FILM = 20.0, 4.0  # seconds


def _silent(part: float) -> None:
    """No bar of progress."""


def _speed(results: Results) -> float:
    """Real time, except where that would take too long to look at, or would be over at once."""
    span = float(results.t[-1] - results.t[0]) if results.t.size else 0.0
    if results.analysis == "search":
        return max(span / SEARCH_FILM, 1.0)
    return max(span / LONGEST_FILM, 1.0) if span >= 1.0 or span == 0.0 else span / 2.0
