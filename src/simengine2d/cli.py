"""The command `simengine2d`. What is slow to import is imported inside the commands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import __version__, shipped
from .errors import ModelError, SimEngineError, UnsupportedError, listed, unknown
from .terminal import Bar, Settings, complain, exit_code, prepare, sentences, show, show_text, table, warn

if TYPE_CHECKING:
    from .model import Model
    from .results import Results

EXIT_CODES = (
    "Exit codes: 0 all is well; 1 the model or a file is wrong; 2 the command was written wrongly; "
    "3 the analysis failed or is not available; 130 stopped by Ctrl-C. "
    "With --out, the results up to a failure or a stop are saved."
)
ANALYSES = ("kinematics",)
"""What this version can run."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


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
    """A positive number of seconds."""
    if value is not None and not (isfinite(value) and value > 0.0):
        raise typer.BadParameter(f"{value:g} is not a positive number of seconds.")
    return value


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
VersionOption = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]
AnalysisArgument = Annotated[Path | None, typer.Argument(metavar="ANALYSIS.acf", help="What to run.")]
EndOption = Annotated[float, typer.Option("--t-end", callback=positive, metavar="T", help="Last time, s.")]
StepOption = Annotated[
    float | None, typer.Option("--step", callback=positive, metavar="H", help="Time between outputs, s.")
]
PointsOption = Annotated[
    int | None,
    typer.Option("--points", min=2, max=10**8, metavar="N", help="Number of outputs, both ends included."),
]
CopyOption = Annotated[
    Path | None, typer.Option("--copy", metavar="DIR", help="Copy one or all into this folder.")
]
FileOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it into this file.")]


def main() -> None:
    """The installed command."""
    prepare()
    app(prog_name="simengine2d")


@app.callback(epilog=EXIT_CODES)
def options(
    version: VersionOption = False,
    debug: DebugOption = False,
) -> None:
    """Planar mechanisms: check a model, move it, look at the motion."""
    Settings.debug = debug


# Models -----------------------------------------------------------------------------------------------


def read_model(name: str) -> Model:
    """The model in a file; where there is no such file, the shipped mechanism of that name."""
    from .io import load

    word = name.removesuffix(shipped.ENDING)
    if Path(name).is_file() or not _may_be_shipped(word):
        return load(name)
    if not shipped.is_shipped(word):
        hint = unknown("shipped mechanism", word, shipped.names())
        raise ModelError(f"there is no file '{name}' here and no shipped mechanism of that name. {hint}")
    with shipped.file(word) as path:
        return load(path)


def _may_be_shipped(word: str) -> bool:
    """One of the shipped names, or a bare word that names nothing here."""
    path = Path(word)
    return shipped.is_shipped(word) or (path.name == word and not path.suffix and not path.exists())


@app.command(epilog=EXIT_CODES)
@sentences()
def check(model: ModelArgument) -> None:
    """Read a model, close it, and say what its constraints allow."""
    from . import report
    from .analyses.assemble import assemble
    from .analyses.diagnose import diagnose
    from .system import System

    system = System(read_model(model))
    try:
        assembly = assemble(system)
    except SimEngineError:  # show what was read before saying why it does not close
        show(*report.model_tables(system.drawing, system.drawn_q))
        raise
    diagnosis = diagnose(assembly)
    show(*report.model_tables(system.drawing, assembly.q), *report.constraint_lines(assembly, diagnosis))
    if diagnosis.redundant:
        equations = "1 equation is" if diagnosis.redundant == 1 else f"{diagnosis.redundant} equations are"
        warn(f"{equations} redundant: {'; '.join(map(str, diagnosis.dependent))}.")


@app.command()
@sentences()
def models(
    name: Annotated[str | None, typer.Argument(help="Print this mechanism's file.")] = None,
    copy: CopyOption = None,
) -> None:
    """List the shipped mechanisms; print or copy them."""
    if copy is not None:
        copy.mkdir(parents=True, exist_ok=True)
        for each in [name] if name else shipped.names():
            show_text(f"wrote {shipped.copy(each, copy)}")
    elif name is not None:
        show_text(shipped.text(name))
    else:
        rows = ([each, shipped.description(each)] for each in shipped.names())
        show(table("name", ["description"], rows, words=True))
        show("`simengine2d run NAME` runs one, `simengine2d models NAME` prints its file.")


@app.command()
@sentences()
def schema(out: FileOption = None) -> None:
    """Print the JSON Schema of model files."""
    import json

    from .io import json_schema
    from .io.files import write_text

    text = json.dumps(json_schema(), indent=2) + "\n"
    show_text(text if out is None else f"wrote {write_text(out, text)}")


# Analyses ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One kinematic run."""

    model: Model
    t_end: float
    step: float | None = None
    points: int | None = None
    """Number of equally spaced output points, both ends included; replaces `step`."""


@app.command(epilog=EXIT_CODES)
@sentences()
def run(
    model: ModelArgument,
    analysis: AnalysisArgument = None,
    out: OutOption = None,
    format: FormatOption = None,
) -> None:
    """Run the analysis that a file or the model itself asks for."""
    target = _target(model, out, format)
    mechanism = read_model(model)
    wanted = _wanted(mechanism, analysis)
    if wanted["kind"] not in ANALYSES:
        raise UnsupportedError(
            f"{wanted['source']} asks for {wanted['kind'].replace('_', ' ')}, which this version cannot do. "
            f"It can do {listed(ANALYSES)} (`simengine2d kinematics {model} --t-end T`), "
            f"assembly and diagnosis (`simengine2d check {model}`)."
        )
    steps = wanted.get("output_steps")
    points = None if steps is None else steps + 1
    perform(Job(mechanism, wanted["t_end"], wanted.get("step"), points), target)


def _wanted(model: Model, path: Path | None) -> dict[str, Any]:
    """What to run, and which file says so; where none does, an assumption that is told."""
    if path is not None:
        from .io import load_analysis

        return {**load_analysis(path), "source": path.name}
    if not model.analysis:
        return _assumed(model)
    wanted = {**model.analysis, "source": f"the analysis of model '{model.name}'"}
    if wanted["kind"] in ANALYSES:
        _check_options(model, wanted)
    return wanted


def _check_options(model: Model, wanted: dict[str, Any]) -> None:
    """Evaluate the numbers of a model's own analysis; name options that mean nothing."""
    scope = model.check()
    for option in ("t_end", "step"):
        if wanted.get(option) is not None:
            wanted[option] = scope.number(wanted[option], f"analysis, {option}")
    t_end = wanted.get("t_end")
    if t_end is None or t_end <= 0.0:
        found = "no t_end" if t_end is None else f"t_end = {t_end:g}"
        raise ModelError(f"{wanted['source']} has {found}. Write a positive time, such as t_end: 2.")
    steps = wanted.get("output_steps")
    if steps is not None and steps < 1:
        raise ModelError(f"{wanted['source']} has output_steps = {steps}. Write a number of at least 1.")
    strange = [key for key in wanted if key not in ("kind", "t_end", "step", "output_steps", "source")]
    if strange:
        warn(f"{wanted['source']}: {listed(strange)} is no option of {wanted['kind']} and was ignored.")


def _assumed(model: Model) -> dict[str, Any]:
    """Kinematics for one second, or for as long as the tables of the drivers last."""
    from .system import System

    ends = [function.domain[1] for function in System(model).functions]
    t_end = min([time for time in ends if isfinite(time) and time > 0.0], default=1.0)
    show(
        "Neither the command nor the model says what to run. "
        f"Assumed: kinematics from 0 to {t_end:g} s in 100 steps. Choose with `simengine2d kinematics`, "
        "or write 'analysis: {kind: kinematics, t_end: ..., step: ...}' into the model."
    )
    return {"kind": "kinematics", "t_end": t_end}


@app.command(epilog=EXIT_CODES)
@sentences()
def kinematics(
    model: ModelArgument,
    t_end: EndOption,
    step: StepOption = None,
    points: PointsOption = None,
    out: OutOption = None,
    format: FormatOption = None,
) -> None:
    """Move a driven mechanism from t = 0 to T.

    Without --step and --points, the results are given at 101 equally spaced times.
    """
    if step is not None and points is not None:
        raise typer.BadParameter("give --step or --points, not both.")
    if step is not None and step > t_end:
        raise typer.BadParameter(f"--step {step:g} is larger than --t-end {t_end:g}.")
    target = _target(model, out, format)
    perform(Job(read_model(model), t_end, step, points), target)


def _target(model: str, out: Path | None, format: Format | None) -> Path | None:
    """The file to save in, named after the model. What would stop the saving is said before the run."""
    from importlib.util import find_spec
    from os import W_OK, access

    if out is None:
        if format is not None:
            raise typer.BadParameter("--format says how to save; give the folder too, with --out.")
        return None
    if format is Format.parquet and not (find_spec("pandas") and find_spec("pyarrow")):
        raise UnsupportedError("parquet files need pandas and pyarrow: pip install 'simengine2d[tables]'.")
    out.mkdir(parents=True, exist_ok=True)
    if not access(out, W_OK):
        raise ModelError(f"the folder {out} is not writable. Give another one.")
    return out / f"{Path(model).stem}.{format or Format.csv}"


def perform(job: Job, target: Path | None) -> None:
    """Run the job, show its summary, save its results; what a failed run has finished is saved too."""
    from . import report

    try:
        results = _move(job)
    except SimEngineError as error:
        if error.results is None or error.results.t.size == 0:
            raise
        show(*report.motion(error.results))
        complain(str(error))
        _save(error.results, target)
        raise typer.Exit(exit_code(error)) from None
    show(*report.motion(results))
    _save(results, target)


def _move(job: Job) -> Results:
    import numpy as np

    from .analyses.kinematics import kinematics as motion

    times: dict[str, Any] = {"t_end": job.t_end, "step": job.step}
    if job.points is not None:
        times = {"t_eval": np.linspace(0.0, job.t_end, job.points)}
    with Bar(job.t_end) as progress:
        return motion(job.model, **times, progress=progress)


def _save(results: Results, target: Path | None) -> None:
    if target is not None:
        show_text(f"saved {results.t.size} points in {results.save(target)}")


# Kernels ----------------------------------------------------------------------------------------------


@app.command()
@sentences()
def warmup() -> None:
    """Compile everything now, and say where it is kept."""
    from . import kernels

    seconds, folder = kernels.warmup(_use_every_kernel)
    kept = f"the machine code is kept in {folder}" if folder else "without numba there is nothing to keep"
    show_text(f"ready after {seconds:.1f} s; {kept}")


def _use_every_kernel() -> None:
    """Take a small driven four-bar linkage through every analysis."""
    from .analyses.assemble import assemble
    from .analyses.diagnose import diagnose
    from .analyses.kinematics import kinematics as motion

    model = _four_bar()
    diagnose(assemble(model))
    results = motion(model, t_end=0.1)
    results.measure("distance(crank.start, rocker.end) + direction(ground, coupler)")


def _four_bar() -> Model:
    from .joints.driver import Driver
    from .joints.revolute import Revolute
    from .model import Model

    model = Model("four-bar")
    crank = model.bar("crank", (0, 0), (0, 1))
    coupler = model.bar("coupler", (0, 1), (4, 3))
    rocker = model.bar("rocker", (4, 3), (4, 0))
    model.add(Revolute("O", model.ground, crank["start"]))
    model.add(Revolute("A", crank["end"], coupler["start"]))
    model.add(Revolute("B", coupler["end"], rocker["start"]))
    model.add(Revolute("C", model.ground, rocker["end"]))
    model.add(Driver("motor", "angle(ground, crank)", "pi/2 + 2*pi*t"))
    return model
