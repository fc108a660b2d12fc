"""Motion: kinematics and dynamics, by name or as the model requests; continuing a run that ended early."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import Interrupted, ModelError, SimEngineError
from .. import completion
from ..terminal import DOUBTFUL, ProgressBar, Settings, answer, complain, exit_code, say, show
from . import app as shared
from .app import command, positive
from .keeping import Keeper
from .models import read_model
from .saving import Target
from .wanted import NOTHING, OutputFiles, Wanted, writes_results

if TYPE_CHECKING:
    from ...analyses.dynamics.run import Keep, Progress
    from ...io.job import Job
    from ...model.model import Model
    from ...results.results import Results


@command()
@writes_results
def run(
    model: shared.ModelArgument,
    analysis: shared.AnalysisArgument = None,
    wanted: Wanted = NOTHING,
    strict: shared.StrictOption = False,
) -> None:
    """Run the analysis that a file or the model itself asks for.

    Where neither does, a driven mechanism is moved for 1 s, another is left to its forces for 5 s.
    """
    from ...io.job import job_for

    outputs = wanted.checked(model)
    mechanism = read_model(model)
    job = job_for(mechanism, analysis)
    if job.remark:
        show(job.remark)
    perform(job, mechanism, outputs)


@command()
@writes_results
def kinematics(
    model: shared.ModelArgument,
    t_end: shared.EndOption,
    step: shared.StepOption = None,
    points: shared.PointsOption = None,
    on_singular: shared.SingularOption = shared.OnSingular.go_on,
    coordinates: shared.ChosenCoordinatesOption = None,
    wanted: Wanted = NOTHING,
    strict: shared.StrictOption = False,
) -> None:
    """Move a driven mechanism from t = 0 to T.

    Without --step and --points, the results are given at 101 equally spaced times.
    """
    from ...io.job import Job

    check_spacing(t_end, step, points)
    outputs = wanted.checked(model)
    options = {
        "t_end": t_end,
        "step": step,
        "on_singular": on_singular.value,
        "coordinates": coordinates,
    }
    job = Job("kinematics", options, points)
    perform(job, read_model(model), outputs)


@command()
@writes_results
def dynamics(
    model: shared.ModelArgument,
    t_end: shared.EndOption,
    integrator: shared.IntegratorOption = None,
    formulation: shared.FormulationOption = None,
    coordinates: shared.ChosenCoordinatesOption = None,
    step: shared.IntegrationStepOption = None,
    rtol: shared.ToleranceOption = None,
    atol: shared.AbsoluteOption = None,
    max_step: shared.LongestOption = None,
    points: shared.PointsOption = None,
    wanted: Wanted = NOTHING,
    strict: shared.StrictOption = False,
) -> None:
    """Let a mechanism move under its forces from t = 0 to T.

    Without --integrator, the steps adapt to the motion: each errs by less than --rtol, and --step is the time
    between outputs; without it, there are as many as the motion needs. An integrator with fixed steps takes steps
    of --step; --points then spaces the outputs.
    """
    from ...io.job import Job

    if _has_fixed_steps(integrator):
        _check_fixed_steps(integrator, t_end, step, rtol)
    else:
        check_spacing(t_end, step, points)
    outputs = wanted.checked(model)
    options = {
        "t_end": t_end,
        "step": step,
        "integrator": integrator,
        "formulation": formulation,
        "coordinates": coordinates,
        "rtol": rtol,
        "atol": atol,
        "max_step": max_step,
    }
    job = Job("dynamics", options, points)
    perform(job, read_model(model), outputs)


def check_spacing(t_end: float, step: float | None, points: int | None) -> None:
    """OutputFiles lie --step apart, or there are --points of them."""
    if step is not None and points is not None:
        raise typer.BadParameter("give --step or --points, not both.")
    _check_step(t_end, step)


def _check_step(t_end: float, step: float | None) -> None:
    if step is not None and step > t_end:
        raise typer.BadParameter(f"--step {step:g} is larger than --t-end {t_end:g}.")


def _has_fixed_steps(integrator: str | None) -> bool:
    if integrator is None:
        return False
    from ...methods import Integrator

    try:
        return not Integrator.registry.made(integrator).adaptive
    except ModelError as error:
        raise typer.BadParameter(str(error)) from None


def _check_fixed_steps(integrator: str | None, t_end: float, step: float | None, rtol: float | None) -> None:
    if step is None:
        raise typer.BadParameter(f"the integrator '{integrator}' takes fixed steps; give --step, in seconds.")
    if rtol is not None:
        raise typer.BadParameter(
            f"the integrator '{integrator}' takes fixed steps and has no --rtol; choose --step instead."
        )
    _check_step(t_end, step)


def perform(job: Job, model: Model, outputs: OutputFiles) -> None:
    """Run the job, show its summary, write what is wanted."""
    if not (job.options.get("actuators") or job.options.get("motion")):  # which bring channels of their own
        outputs.check_channels(model, forces=job.kind != "kinematics")
    perform_with(lambda progress, keep: job.run(model, progress, keep), job.t_end or 0.0, outputs)


def perform_with(run: Callable[[Progress, Keep], Results], t_end: float, outputs: OutputFiles) -> None:
    """Run, show the summary, write the results; what a failed run has finished is written too."""
    from .. import answers, summary

    keeper = Keeper(outputs.target.path if outputs.target is not None else None)
    try:
        with ProgressBar(t_end) as progress:
            results = run(progress, keeper)
    except (SimEngineError, Interrupted) as error:
        if error.results is None or error.results.t.size == 0:
            raise
        show(*summary.motion(error.results))
        complain(str(error))
        saved = outputs.write(error.results)
        if isinstance(error, Interrupted) and keeper.is_needed():
            keeper.keep(error.results)
            say(f"go on later with: simengine2d resume {keeper.path}")
            saved |= {"resume": keeper.path}
        else:
            keeper.clear()
        failed = {"error": str(error), "exit_code": exit_code(error)}
        answer(answers.of_motion(error.results) | saved | failed)
        raise typer.Exit(exit_code(error)) from None
    show(*summary.motion(results))
    answer(answers.of_motion(results) | outputs.write(results))
    keeper.clear()
    if Settings.strict and not results.verdict.is_good:
        raise typer.Exit(DOUBTFUL)


# Resuming ---------------------------------------------------------------------------------------------


ResultArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT.npz",
        help="Results of dynamics, finished or kept from a run that was stopped.",
        autocompletion=completion.results,
    ),
]
UntilOption = Annotated[
    float | None,
    typer.Option(
        "--t-end", callback=positive, metavar="T", help="Last time, s; if not given, the one of the run."
    ),
]


@command()
@writes_results
def resume(
    result: ResultArgument,
    t_end: UntilOption = None,
    wanted: Wanted = NOTHING,
    strict: shared.StrictOption = False,
) -> None:
    """Continue a run of dynamics as if it had never been stopped.

    The results are the same, bit for bit. Without --out, they replace those in RESULT.npz.
    """
    from ...results.results import Results as Loaded

    earlier = Loaded.load(result)
    outputs = wanted.checked(str(result), default=Target(result))
    outputs.check_channels(earlier.model, forces=True)
    end = t_end or float(earlier.settings.get("t_end", 0.0))

    def go_on(progress: Progress, keep: Keep) -> Results:
        return earlier.resume(t_end, progress=progress, keep=keep)

    perform_with(go_on, end, outputs)
