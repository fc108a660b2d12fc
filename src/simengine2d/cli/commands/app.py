"""The command line itself: its name, its options, and the arguments that several commands take."""

from __future__ import annotations

from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from ... import __version__
from ..terminal import Settings
from .catalog import CatalogGroup

EXIT_CODES = (
    "Exit codes: 0 all is well; 1 the model or a file is wrong; 2 the command was written wrongly, "
    "or there is no such file; "
    "3 the analysis failed or is not available; 4 with --strict, the results are in doubt; "
    "130 stopped by Ctrl-C. "
    "With --out, the results up to a failure or a stop are saved."
)

app = typer.Typer(
    cls=CatalogGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


class OnSingular(StrEnum):
    """What kinematics does at a change point."""

    go_on = "pass"
    stop = "stop"
    error = "raise"


class Format(StrEnum):
    """Kinds of result files."""

    csv = "csv"
    npz = "npz"
    parquet = "parquet"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"simengine2d {__version__}")
        raise typer.Exit


def positive(value: float | None) -> float | None:
    """A positive number."""
    if value is not None and not (isfinite(value) and value > 0.0):
        raise typer.BadParameter(f"{value:g} is not a positive number.")
    return value


def _set_strict(wanted: bool) -> bool:
    Settings.strict = wanted
    return wanted


VersionOption = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]
ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model file (.yaml, .json, .adm) or the name of a shipped mechanism."
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Save the results in this folder.")
]
FormatOption = Annotated[
    Format | None, typer.Option("--format", help="Kind of the file that --out saves; csv if not given.")
]
AnalysisArgument = Annotated[Path | None, typer.Argument(metavar="ANALYSIS.acf", help="What to run.")]
EndOption = Annotated[float, typer.Option("--t-end", callback=positive, metavar="T", help="Last time, s.")]
StepOption = Annotated[
    float | None, typer.Option("--step", callback=positive, metavar="H", help="Time between outputs, s.")
]
IntegrationStepOption = Annotated[
    float | None,
    typer.Option(
        "--step",
        callback=positive,
        metavar="H",
        help="Step of an integrator with fixed steps; of others, the time between outputs, s.",
    ),
]
IntegratorOption = Annotated[
    str | None,
    typer.Option(
        "--integrator", metavar="NAME", help="Method, such as newmark; if not given, an adaptive one."
    ),
]
ToleranceOption = Annotated[
    float | None,
    typer.Option(
        "--rtol", min=1e-14, max=0.1, metavar="R", help="Relative error of a step of an adaptive method."
    ),
]
AbsoluteOption = Annotated[
    float | None,
    typer.Option("--atol", callback=positive, metavar="A", help="Absolute error of a step, in m and rad."),
]
LongestOption = Annotated[
    float | None,
    typer.Option("--max-step", callback=positive, metavar="H", help="Longest step of an adaptive method, s."),
]
FormulationOption = Annotated[
    str | None,
    typer.Option(
        "--formulation", metavar="NAME", help="How the equations are posed, such as index3 or augmented."
    ),
]
CoordinatesOption = Annotated[
    str, typer.Option("--coordinates", metavar="NAME", help="reference_point, natural, mixed or relative.")
]
ChosenCoordinatesOption = Annotated[
    str | None,
    typer.Option(
        "--coordinates",
        metavar="NAME",
        help="reference_point, natural, mixed or relative; by default the quickest that suit.",
    ),
]
StrictOption = Annotated[
    bool,
    typer.Option(
        "--strict", callback=_set_strict, help="Exit with 4 where the verdict on the results is not 'trust'."
    ),
]
SingularOption = Annotated[
    OnSingular,
    typer.Option("--on-singular", help="At a change point: pass smoothly, stop there, or raise an error."),
]
PointsOption = Annotated[
    int | None,
    typer.Option("--points", min=2, max=10**8, metavar="N", help="Number of outputs, both ends included."),
]


@app.callback(epilog=EXIT_CODES)
def options(
    version: VersionOption = False,
    debug: DebugOption = False,
) -> None:
    """Planar mechanisms: check a model, move it, look at the motion."""
    Settings.debug = debug
