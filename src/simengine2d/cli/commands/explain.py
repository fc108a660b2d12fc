"""One step of a method, laid open: on the terminal, or as a worksheet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..terminal import answer, say, show_text
from .analyses import MethodOption
from .app import (
    ChosenCoordinatesOption,
    FormulationOption,
    IntegratorOption,
    ModelArgument,
    StepOption,
    command,
)
from .models import read_model

ProblemArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM", help="dynamics, position, velocity, acceleration, kinematics or equilibrium."
    ),
]
AtOption = Annotated[
    float | None, typer.Option("--at", metavar="SECONDS", help="The time; of dynamics, the end of the step.")
]
SheetOption = Annotated[
    list[Path] | None,
    typer.Option("--out", metavar="FILE", help="A worksheet with every matrix: .html, .tex or .txt."),
]


@command()
def explain(
    model: ModelArgument,
    what: ProblemArgument = "dynamics",
    at: AtOption = None,
    step: StepOption = None,
    integrator: IntegratorOption = None,
    formulation: FormulationOption = None,
    coordinates: ChosenCoordinatesOption = None,
    method: MethodOption = "newton",
    out: SheetOption = None,
) -> None:
    """Show one step of a method line by line."""
    from ...lab.explain import explain as explained

    if what == "dynamics" and step is None:
        step = 0.01
    e = explained(
        read_model(model), what, at=at, step=step, integrator=integrator, formulation=formulation,
        coordinates=coordinates, method=method,
    )  # fmt: skip
    show = say if out else show_text
    show(repr(e))
    saved = [e.save(path) for path in out or []]
    for path in saved:
        say(f"wrote {path}")
    parts = [{"title": each.title, "norms": each.norms.tolist(), **_plain(each.found)} for each in e.every]
    answer({"problem": what, "parts": parts, "saved": saved})


def _plain(found: object) -> dict[str, object]:
    import numpy as np

    return {name: np.asarray(value).tolist() for name, value in dict(found).items()}  # type: ignore[call-overload]
