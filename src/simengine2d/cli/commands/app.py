"""The command line itself: its name, its options, and the arguments that several commands take."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import __version__
from .. import completion
from ..terminal import Settings, sentences
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
    xlsx = "xlsx"


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


def _set_laws(given: list[str] | None) -> list[str] | None:
    parts = [text.partition("=") for text in given or ()]
    for name, sign, _ in parts:
        if not sign:
            raise typer.BadParameter(f"--law {name}: write NAME=EXPRESSION, such as piston='-100*x, 0'.")
    Settings.laws = {name.strip(): law.strip() for name, _, law in parts}
    return given


def _set_json(wanted: bool) -> bool:
    Settings.json = wanted
    return wanted


def _set_quiet(wanted: bool) -> bool:
    Settings.quiet = wanted
    logging.getLogger("simengine2d").setLevel(logging.ERROR if wanted else logging.NOTSET)
    return wanted


# Commands ---------------------------------------------------------------------------------------------


JsonOption = Annotated[
    bool,
    typer.Option(
        "--json", callback=_set_json, help="Answer in JSON on standard output, and nothing else there."
    ),
]
LawOption = Annotated[
    list[str] | None,
    typer.Option(
        "--law",
        metavar="NAME=EXPRESSION",
        callback=_set_laws,
        help="A force law that the file only names, such as piston='-100*x, 0'; may be repeated.",
    ),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_set_quiet, help="No tables, no progress, no warnings.")
]


def command(name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        app.command(name, epilog=EXIT_CODES)(for_every_day(function))
        return function

    return register


def for_every_day(function: Callable[..., None]) -> Callable[..., None]:
    """The function with the options that all commands have; whatever happens in it ends in a sentence."""
    own = inspect.signature(function, eval_str=True).parameters
    laws = {"law": LawOption} if "model" in own else {}
    options = {**laws, "json": JsonOption, "quiet": QuietOption}

    @wraps(function)
    def run(**given: Any) -> None:
        with sentences():
            function(**{name: value for name, value in given.items() if name not in options})

    keyword = inspect.Parameter.KEYWORD_ONLY
    more = [
        inspect.Parameter(name, keyword, default=None if name == "law" else False, annotation=kind)
        for name, kind in options.items()
    ]
    run.__signature__ = inspect.Signature([p.replace(kind=keyword) for p in own.values()] + more)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in run.__signature__.parameters.values()}  # type: ignore[attr-defined]
    return run


# Options that several commands have -------------------------------------------------------------------


VersionOption = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]
ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file (.yaml, .json, .adm) or the name of a shipped mechanism.",
        autocompletion=completion.models,
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="PATH",
        help="Save the results in this folder, or in this file: .csv, .npz, .parquet or .xlsx.",
    ),
]
ChannelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--channel",
        metavar="NAME",
        help="A column of the table that --out saves: a channel such as crank.phi, a body, a joint for its reaction, "
        "or energy; may be repeated.",
    ),
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
        "--integrator",
        metavar="NAME",
        help="Method, such as newmark; if not given, an adaptive one.",
        autocompletion=completion.integrators,
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
        "--formulation",
        metavar="NAME",
        help="How the equations are posed, such as index3 or augmented.",
        autocompletion=completion.formulations,
    ),
]
CoordinatesOption = Annotated[
    str,
    typer.Option(
        "--coordinates",
        metavar="NAME",
        help="reference_point, natural, mixed or relative.",
        autocompletion=completion.coordinates,
    ),
]
ChosenCoordinatesOption = Annotated[
    str | None,
    typer.Option(
        "--coordinates",
        metavar="NAME",
        help="reference_point, natural, mixed or relative; by default the quickest that suit.",
        autocompletion=completion.coordinates,
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
