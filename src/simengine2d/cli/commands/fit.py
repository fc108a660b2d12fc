"""Fit: numbers of a model from measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..terminal import DOUBTFUL, CountBar, Settings, answer, say, show, table, warn
from . import app as shared
from .app import command
from .models import read_model
from .saving import check_folder
from .wanted import check_picture

if TYPE_CHECKING:
    from ...lab.fit.fitted import Fit

DataArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA.csv...", help="Columns t and channels; several files are several experiments."
    ),
]
ParameterOption = Annotated[
    list[str],
    typer.Option(
        "--param",
        "--parameter",
        metavar="NAME[=LOW:HIGH]",
        help="What to find, with bounds LOW:HIGH or a start NAME=VALUE; may be repeated.",
    ),
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--channel",
        metavar="[COLUMN=]CHANNEL",
        help="A column that counts, and the channel it is, such as angle=bar.phi; all if not given. May be repeated.",
    ),
]
NoiseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--noise",
        metavar="CHANNEL=SIGMA",
        help="A known standard deviation, such as bar.phi='0.5 deg'; estimated if not given. May be repeated.",
    ),
]
AnalysisOption = Annotated[
    str | None,
    typer.Option(
        "--analysis",
        metavar="NAME",
        help="dynamics, kinematics or inverse; if not given, what the model asks for.",
    ),
]
LossOption = Annotated[
    str, typer.Option("--loss", metavar="NAME", help="linear; or huber, soft_l1, cauchy against outliers.")
]
StartsOption = Annotated[
    int | None,
    typer.Option(
        "--starts", min=1, metavar="N", help="Searches; if not given, further ones where one missed."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Of the further starts.")]
FittedOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE.yaml", help="Write the model with the fitted numbers; its text is kept."
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw data, model and residuals: .png, .svg or .pdf."),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Exit with 4 where the data do not determine every parameter.")
]


@command()
def fit(
    model: shared.ModelArgument,
    data: DataArgument,
    parameter: ParameterOption,
    channel: ColumnOption = None,
    noise: NoiseOption = None,
    analysis: AnalysisOption = None,
    rtol: shared.ToleranceOption = None,
    loss: LossOption = "linear",
    starts: StartsOption = None,
    seed: SeedOption = 0,
    out: FittedOption = None,
    plot: PlotOption = None,
    strict: StrictOption = False,
) -> None:
    """Find numbers of a model from measurements.

    The parameters are chosen such that the motion of the model comes close to the data, by least squares; each has a 95
    % interval, and what the data do not determine is said.
    """
    from ...lab.fit.fit import fit as run

    check_picture(plot, "--plot")
    if out is not None:
        check_folder(out)
    mechanism = read_model(model)
    names, bounds, start = parameters_in(parameter)
    options = {} if rtol is None else {"rtol": rtol}
    with RunBar() as bar:
        found = run(
            mechanism, [str(path) for path in data], names, analysis,
            bounds=bounds, start=start, channels=dict(map(_column, channel)) if channel else None,
            noise=dict(map(_noise, noise)) if noise else None, loss=loss,  # type: ignore[arg-type]
            starts=starts, seed=seed, progress=bar, **options,
        )  # fmt: skip
    answer(present(found) | written(found, out, plot))
    if strict and not found.success:
        raise typer.Exit(DOUBTFUL)


class RunBar(CountBar):
    """The number of runs; nobody knows how many there will be."""

    def __init__(self) -> None:
        super().__init__("runs")
        self.t_end = 1.0

    def __enter__(self) -> RunBar:
        return self

    def words(self, t: float, now: float) -> str:
        return f"{t:.0f} runs"


def present(found: Fit) -> dict[str, Any]:
    """Show the table and the sentences; the answer as plain data."""
    show(found.head(), table("", found.heads[1:], found.rows()), found.noise_line())
    for sentence in found.message.splitlines():
        if found.success:
            show(sentence)
        elif not Settings.json:
            warn(sentence)
    return {
        "model": found.model.name,
        "parameters": found.parameters,
        "units": found.units,
        "errors": found.errors,
        "intervals": found.intervals,
        "confidence": found.level,
        "correlation": found.correlation,
        "noise": found.noise,
        "success": found.success,
        "message": found.message,
        "runs": found.runs,
    }


def written(found: Fit, out: Path | None, plot: Path | None) -> dict[str, Any]:
    """Write the model and the picture, where they are wanted."""
    saved = []
    if out is not None:
        saved.append(found.model.save(out))
    if plot is not None:
        from ...draw.panels import save_figure

        saved.append(save_figure(found.figure(), plot))
    for path in saved:
        say(f"wrote {path}")
    return {"saved": saved} if saved else {}


# What is asked for ------------------------------------------------------------------------------------


def parameters_in(texts: list[str]) -> tuple[list[str], dict[str, tuple[Any, Any]], dict[str, str]]:
    """`k`, `c=1:10` with bounds, `c=1:` with one of them, `m=2` with a start."""
    names, bounds, start = [], {}, {}
    for text in texts:
        name, sign, given = (part.strip() for part in text.partition("="))
        low, colon, high = (part.strip() for part in given.partition(":"))
        if not name or (sign and not (low or high)):
            raise typer.BadParameter(f"--param {text}: write NAME, NAME=LOW:HIGH or NAME=START.")
        names.append(name)
        if colon:
            bounds[name] = low or None, high or None
        elif sign:
            start[name] = low
    return names, bounds, start


def _column(text: str) -> tuple[str, str]:
    column, sign, channel = text.partition("=")
    return column.strip(), (channel if sign else column).strip()


def _noise(text: str) -> tuple[str, str]:
    channel, sign, sigma = text.partition("=")
    if not sign or not sigma.strip():
        raise typer.BadParameter(f"--noise {text}: write CHANNEL=SIGMA, such as bar.phi=0.01.")
    return channel.strip(), sigma.strip()
