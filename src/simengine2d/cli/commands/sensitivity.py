"""Sensitivity: exact derivatives of outputs with respect to numbers of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..terminal import answer, say, show, table
from . import app as shared
from .app import command
from .models import read_model
from .sweep import AnalysisOption, EndOption, OutputOption, analysis_in, outputs_in
from .wanted import check_picture

if TYPE_CHECKING:
    from ...lab.sensitivity.sensitivities import Sensitivity

NumberOption = Annotated[
    list[str],
    typer.Option(
        "--param",
        metavar="NAME",
        help="A number of the model, such as L or spring.stiffness. May be repeated.",
    ),
]
EventOption = Annotated[
    list[str] | None,
    typer.Option(
        "--event",
        metavar="NAME=EXPRESSION",
        help="An event for time(NAME) and at(..., NAME): where the expression passes zero. May be repeated.",
    ),
]
TornadoOption = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the first output as a tornado: .png, .svg or .pdf."),
]


@command()
def sensitivity(
    model: shared.ModelArgument,
    param: NumberOption,
    output: OutputOption,
    analysis: AnalysisOption = None,
    t_end: EndOption = None,
    step: shared.StepOption = None,
    points: shared.PointsOption = None,
    rtol: shared.ToleranceOption = None,
    event: EventOption = None,
    plot: TornadoOption = None,
) -> None:
    """How outputs change with numbers of a model, exactly.

    Derivatives are in SI units; beside them stands by how many percent an output changes for one percent of a number.
    """
    from ...lab.sensitivity.sensitivity import sensitivity as run

    check_picture(plot, "--plot")
    mechanism = read_model(model)
    kind, options = analysis_in(mechanism, analysis, t_end, step, points, rtol)
    if event:
        options["events"] = [_event(text) for text in event]
    found = run(mechanism, param, kind, outputs_in(output), **options)
    answer(present(found) | _drawn(found, plot))


def present(found: Sensitivity) -> dict[str, Any]:
    """Show a table for each output; the answer as plain data."""
    show(found.title)
    for name in found.values:
        show(found.head(name), table("", found.HEADS[1:], found.rows(name)))
    for note in found.notes:
        show(note)
    return {
        "title": found.title,
        "parameters": found.parameters,
        "values": found.values,
        "gradients": {name: found[name] for name in found.values},
        "notes": found.notes,
    }


def _drawn(found: Sensitivity, plot: Path | None) -> dict[str, Any]:
    if plot is None:
        return {}
    from ...draw.panels import save_figure

    path = save_figure(found.plot().figure, plot)  # type: ignore[arg-type]
    say(f"wrote {path}")
    return {"saved": [path]}


def _event(text: str) -> Any:
    from ...results.events import Event

    name, sign, expression = text.partition("=")
    if not sign or not name.strip() or not expression.strip():
        raise typer.BadParameter(f"--event {text}: write NAME=EXPRESSION, such as landing=stone.y.")
    return Event(expression.strip(), stop=False, name=name.strip())
