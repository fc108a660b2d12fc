"""Sweep: one analysis for many values of the parameters."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import Interrupted, ModelError, SimEngineError
from ..terminal import CountBar, answer, complain, exit_code, say, show, table
from . import app as shared
from .app import command, positive
from .models import read_model
from .wanted import check_picture

if TYPE_CHECKING:
    from ...lab.sweep.samples import Sampler
    from ...lab.sweep.table import SweepTable
    from ...model.model import Model

WORST = 3  # reasons of failures that are shown


class Design(StrEnum):
    """How samples lie in their ranges."""

    random = "random"
    latin = "latin"
    sobol = "sobol"


ParamOption = Annotated[
    list[str],
    typer.Option(
        "--param",
        metavar="NAME=VALUES",
        help="START:STOP:STEP, START:STOP:#COUNT or A,B,C; with --samples the range LOW:HIGH. May be repeated.",
    ),
]
OutputOption = Annotated[
    list[str],
    typer.Option(
        "--output",
        metavar="[NAME=]EXPRESSION",
        help="What is kept, such as 'max(B.force)', 'final(slider.x)' or 'top=max(coupler.y)'. May be repeated.",
    ),
]
AnalysisOption = Annotated[
    str | None,
    typer.Option(
        "--analysis",
        metavar="NAME",
        help="kinematics, dynamics, inverse, equilibrium or modes; if not given, what the model asks for.",
    ),
]
EndOption = Annotated[
    float | None, typer.Option("--t-end", callback=positive, metavar="T", help="Last time, s.")
]
SamplesOption = Annotated[
    int | None,
    typer.Option("--samples", min=1, metavar="N", help="Draw N samples from the ranges, instead of a grid."),
]
DesignOption = Annotated[Design, typer.Option("--design", help="How the samples are drawn.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Of the samples that are drawn.")]
ExecutorOption = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="NAME|ADDRESS",
        help="threads, serial, processes, or a Dask scheduler: tcp://HOST:8786.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, metavar="N", help="Threads or processes; if not given, all processors."),
]
FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Keep the rows in this folder as Parquet files; the same command goes on after a stop.",
    ),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw each output against the parameters, as a curve, a map or a tornado: .png, .svg or .pdf.",
    ),
]


@command()
def sweep(
    model: shared.ModelArgument,
    param: ParamOption,
    output: OutputOption,
    analysis: AnalysisOption = None,
    t_end: EndOption = None,
    step: shared.StepOption = None,
    points: shared.PointsOption = None,
    rtol: shared.ToleranceOption = None,
    samples: SamplesOption = None,
    design: DesignOption = Design.random,
    seed: SeedOption = 0,
    executor: ExecutorOption = "threads",
    workers: WorkersOption = None,
    out: FolderOption = None,
    plot: PlotOption = None,
) -> None:
    """Run an analysis for many values of the parameters.

    All combinations of the values are computed, or --samples drawn from the ranges, and some numbers of each kept.
    Samples that fail are rows with their reason. With --out, a study that was stopped goes on where it ended.
    """
    from ...lab.sweep.sweep import sweep as run

    check_picture(plot, "--plot")
    mechanism = read_model(model)
    parameters = dict(values_in(text, samples is not None) for text in param)
    kind, options = analysis_in(mechanism, analysis, t_end, step, points, rtol)
    chosen = None if samples is None else _sampler(samples, design, seed)
    study: dict[str, Any] = {"samples": chosen, "executor": executor, "workers": workers, "out": out}
    try:
        with CountBar("samples") as bar:
            rows = run(
                mechanism, parameters, kind, outputs_in(output), progress=bar.count, **study, **options
            )
    except (SimEngineError, Interrupted) as error:
        if error.results is None:
            raise
        complain(str(error))
        report = present(error.results, out) | {"error": str(error), "exit_code": exit_code(error)}
        answer(report)
        raise typer.Exit(exit_code(error)) from None
    answer(present(rows, out) | drawn(rows, plot))


def present(rows: SweepTable, out: Path | None) -> dict[str, Any]:
    """Show the summary; the answer as plain data."""
    show(rows.head(), table("", rows.HEADS[1:], rows.summary_rows()))
    for sample, reason in list(rows.failed.items())[:WORST]:
        show(f"sample {sample} failed: {reason}")
    if out is not None:
        say(f"{len(rows)} rows are in {out}")
    data = {"title": rows.title, "samples": rows.total, "rows": len(rows), "columns": rows.columns}
    return data | {"failed": rows.failed} | ({} if out is None else {"saved": [out]})


def drawn(rows: SweepTable, plot: Path | None) -> dict[str, Any]:
    """Draw the study, where that is wanted."""
    if plot is None:
        return {}
    from ...draw.panels import save_figure

    path = save_figure(rows.figure(), plot)
    say(f"wrote {path}")
    return {"plot": path}


# What is asked for ------------------------------------------------------------------------------------


def values_in(text: str, ranged: bool) -> tuple[str, Any]:
    """`L=0.5:2:0.01`, `L=0.5:2:#16` or `L=1,2,3`; of a range `L=0.5:2`, where samples are drawn."""
    import numpy as np

    name, sign, values = text.partition("=")
    parts = values.split(":")
    if not sign or not values.strip() or len(parts) > 3:
        raise typer.BadParameter(
            f"--param {text}: write NAME=START:STOP:STEP, NAME=START:STOP:#COUNT or NAME=A,B,C."
        )
    if len(parts) == 1:
        return name.strip(), [_number(text, part) for part in values.split(",")]
    first, last = _number(text, parts[0]), _number(text, parts[1])
    if len(parts) == 2:
        if not ranged:
            raise typer.BadParameter(
                f"--param {text}: give a step or a #COUNT too, or draw --samples from the range."
            )
        return name.strip(), (first, last)
    if parts[2].strip().startswith("#"):
        return name.strip(), np.linspace(first, last, _count(text, parts[2].strip()[1:]))
    return name.strip(), stepped(text, first, last, _number(text, parts[2]))


def stepped(text: str, first: float, last: float, step: float) -> Any:
    """From the first to the last value, which counts where a step ends there but for rounding."""
    import numpy as np

    if step == 0.0 or (last - first) / step < 0.0:
        raise typer.BadParameter(
            f"--param {text}: the range is empty; a step of {step:g} does not lead to {last:g}."
        )
    return first + step * np.arange(int(np.floor((last - first) / step * (1.0 + 1e-12) + 1e-9)) + 1)


def _number(text: str, part: str) -> float:
    from ...expressions.evaluate import number

    try:
        return number(part)
    except ModelError as error:
        raise typer.BadParameter(f"--param {text}: {error}") from None


def _count(text: str, part: str) -> int:
    if not part.isdigit() or int(part) < 1:
        raise typer.BadParameter(f"--param {text}: #{part} is not a number of values.")
    return int(part)


def outputs_in(given: list[str]) -> dict[str, str]:
    """By name; without one, the expression is its name."""
    pairs = [text.partition("=") for text in given]
    return {name.strip(): (expression if sign else name).strip() for name, sign, expression in pairs}


def _sampler(count: int, design: Design, seed: int) -> Sampler:
    from ...lab.sweep.samples import LatinHypercube, MonteCarlo, Sobol

    kinds: dict[str, Any] = {"random": MonteCarlo, "latin": LatinHypercube, "sobol": Sobol}
    return kinds[design.value](count, seed)  # type: ignore[no-any-return]


def analysis_in(
    model: Model,
    analysis: str | None,
    t_end: float | None,
    step: float | None,
    points: int | None,
    rtol: float | None,
) -> tuple[Any, dict[str, Any]]:
    """The analysis, a word that is checked where it is used, and its options: those given, else those of the model."""
    import numpy as np

    from ...io.job import job_for

    options: dict[str, Any] = {}
    if analysis is None:
        job = job_for(model)
        if job.remark:
            show(job.remark)
        analysis, options, points = job.kind, dict(job.options), points or job.points
    options |= {k: v for k, v in (("t_end", t_end), ("step", step), ("rtol", rtol)) if v is not None}
    if points is not None and options.get("t_end") is not None:
        options["t_eval"] = np.linspace(0.0, options.pop("t_end"), points)
        options.pop("step", None)
    return analysis, {name: value for name, value in options.items() if value is not None}
