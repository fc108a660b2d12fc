"""The command `simengine2d`. What is slow to import is imported inside the commands."""

from __future__ import annotations

from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import __version__, shipped
from .errors import ModelError, SimEngineError, UnsupportedError, unknown
from .terminal import Bar, Settings, complain, exit_code, prepare, sentences, show, show_text, table, warn

if TYPE_CHECKING:
    from .jobs import Job
    from .model import Model
    from .results import Results

EXIT_CODES = (
    "Exit codes: 0 all is well; 1 the model or a file is wrong; 2 the command was written wrongly; "
    "3 the analysis failed or is not available; 130 stopped by Ctrl-C. "
    "With --out, the results up to a failure or a stop are saved."
)

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


@app.command(epilog=EXIT_CODES)
@sentences()
def run(
    model: ModelArgument,
    analysis: AnalysisArgument = None,
    out: OutOption = None,
    format: FormatOption = None,
) -> None:
    """Run the analysis that a file or the model itself asks for.

    Where neither does, a driven mechanism is moved for 1 s, another is left to its forces for 5 s.
    """
    from .jobs import job_for

    target = _target(model, out, format)
    mechanism = read_model(model)
    job = job_for(mechanism, analysis)
    if job.remark:
        show(job.remark)
    perform(job, mechanism, target)


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
    from .jobs import Job

    _check_spacing(t_end, step, points)
    target = _target(model, out, format)
    perform(Job("kinematics", t_end, step, points), read_model(model), target)


@app.command(epilog=EXIT_CODES)
@sentences()
def dynamics(
    model: ModelArgument,
    t_end: EndOption,
    integrator: IntegratorOption = None,
    step: IntegrationStepOption = None,
    rtol: ToleranceOption = None,
    points: PointsOption = None,
    out: OutOption = None,
    format: FormatOption = None,
) -> None:
    """Let a mechanism move under its forces from t = 0 to T.

    Without --integrator, the steps adapt to the motion: each errs by less than --rtol, and --step is the time
    between outputs. An integrator with fixed steps takes steps of --step; --points then spaces the outputs.
    """
    from .jobs import Job

    if _has_fixed_steps(integrator):
        _check_fixed_steps(integrator, t_end, step, rtol)
    else:
        _check_spacing(t_end, step, points)
    target = _target(model, out, format)
    perform(Job("dynamics", t_end, step, points, integrator, rtol), read_model(model), target)


def _check_spacing(t_end: float, step: float | None, points: int | None) -> None:
    """Outputs lie --step apart, or there are --points of them."""
    if step is not None and points is not None:
        raise typer.BadParameter("give --step or --points, not both.")
    _check_step(t_end, step)


def _check_step(t_end: float, step: float | None) -> None:
    if step is not None and step > t_end:
        raise typer.BadParameter(f"--step {step:g} is larger than --t-end {t_end:g}.")


def _has_fixed_steps(integrator: str | None) -> bool:
    if integrator is None:
        return False
    from .integrators import integrator_named

    try:
        return not integrator_named(integrator).adaptive
    except ModelError as error:
        raise typer.BadParameter(str(error)) from None


def _check_fixed_steps(integrator: str | None, t_end: float, step: float | None, rtol: float | None) -> None:
    if step is None:
        raise typer.BadParameter(f"the integrator '{integrator}' takes fixed steps; give --step, in seconds.")
    if rtol is not None:
        raise typer.BadParameter(
            f"the integrator '{integrator}' takes fixed steps and keeps no --rtol; choose --step instead."
        )
    _check_step(t_end, step)


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


def perform(job: Job, model: Model, target: Path | None) -> None:
    """Run the job, show its summary, save its results; what a failed run has finished is saved too."""
    from . import report

    try:
        with Bar(job.t_end) as progress:
            results = job.run(model, progress)
    except SimEngineError as error:
        if error.results is None or error.results.t.size == 0:
            raise
        show(*report.motion(error.results))
        complain(str(error))
        _save(error.results, target)
        raise typer.Exit(exit_code(error)) from None
    show(*report.motion(results))
    _save(results, target)


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
    """Take a small four-bar linkage through every analysis and every kind of integrator."""
    from . import builders
    from .analyses.assemble import assemble
    from .analyses.diagnose import diagnose
    from .analyses.dynamics import dynamics as motion_under_forces
    from .analyses.kinematics import kinematics as driven_motion
    from .forces.spring import Spring

    driven = builders.four_bar(1, 2, 3, 3, speed=1)
    diagnose(assemble(driven))
    results = driven_motion(driven, t_end=0.1)
    results.measure("distance(crank.start, rocker.end) + direction(ground, coupler)")
    free = builders.four_bar(1, 2, 3, 3)
    motion_under_forces(free, t_end=0.1, integrator="newmark", step=0.05)
    results = motion_under_forces(free, t_end=0.1)
    results.summary()
    results.power_balance()
    results.reaction("B", on="crank")
    free.add(Spring("stiff", "angle(ground, crank)", damping=1e4))
    motion_under_forces(free, t_end=0.1)
