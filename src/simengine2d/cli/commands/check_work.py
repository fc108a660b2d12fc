"""The work of students against the engine: one file, or a whole class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..terminal import answer, say, show, table
from .app import ChosenCoordinatesOption, ModelArgument, command
from .models import read_model

if TYPE_CHECKING:
    from ...lab import ClassMarks

WorkArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="WORK...",
        help="A .csv file with named blocks or a folder of arrays per student, or a folder of these.",
    ),
]
PointsOption = Annotated[
    Path | None,
    typer.Option("--points", metavar="FILE.yaml", help="Points of each array, such as {Phi_q: 4, M: 2}."),
]
TimeOption = Annotated[
    float | None, typer.Option("--at", metavar="SECONDS", help="The time at which the arrays are taken.")
]
FeedbackOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder for a text for each student, and class.csv."),
]


@command("check-work")
def check_work(
    model: ModelArgument,
    work: WorkArgument,
    points: PointsOption = None,
    at: TimeOption = None,
    coordinates: ChosenCoordinatesOption = None,
    out: FeedbackOption = None,
) -> None:
    """Check arrays, reactions and motions that students computed."""
    from ...lab import mark

    task = _task(points, at, coordinates)
    marks = mark(read_model(model), work, task)
    _present(marks)
    saved = marks.save_feedback(out) if out is not None else []
    if saved:
        say(f"wrote {len(saved)} files into {out}")
    answer({"model": marks.model, "students": [each.record() for each in marks.students], "saved": saved})


def _task(points: Path | None, at: float | None, coordinates: str | None) -> dict[str, Any]:
    """The file with points; what the command line says goes before it."""
    from ...errors import ModelError
    from ...io.files import read_text
    from ...io.yaml_reader import read_yaml

    data: Any = {} if points is None else read_yaml(read_text(points), str(points)).data
    if not isinstance(data, dict):
        raise ModelError(f"{points} holds no points; write lines such as Phi_q: 4.")
    more = {name: value for name, value in (("at", at), ("coordinates", coordinates)) if value is not None}
    if more and data and "points" not in data:
        data = {"points": data}
    return {**data, **more}


def _present(marks: ClassMarks) -> None:
    if len(marks.students) == 1:
        show(str(marks.students[0]))
        return
    heads = marks.heads
    show(table(heads[0], heads[1:], marks.rows()))
    for each in marks.students:
        if each.problem:
            show(f"{each.student}: {each.problem}")
