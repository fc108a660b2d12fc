"""What designers ask of a linkage, at a glance."""

from __future__ import annotations

from typing import Annotated

import typer

from ..terminal import answer, show, table
from .app import ModelArgument, command
from .models import read_model
from .wanted import NOTHING, PictureOption, Wanted, check_picture, write_picture, writes_results

InputOption = Annotated[
    str | None, typer.Option("--driver", metavar="NAME", help="The driver that is the input; else the first.")
]

OutputOption = Annotated[
    str | None,
    typer.Option(
        "--output", metavar="MEASURE", help="What --picture draws over the input; else the driven link."
    ),
]

CircuitOption = Annotated[
    int, typer.Option("--circuit", min=0, metavar="N", help="The circuit that moves in --html and its like.")
]


@command()
@writes_results
def linkage(
    model: ModelArgument,
    driver: InputOption = None,
    output: OutputOption = None,
    circuit: CircuitOption = 0,
    picture: PictureOption = None,
    wanted: Wanted = NOTHING,
) -> None:
    """Grashof class, circuits, dead points, transmission angles.

    Each circuit is listed with the range of the input, and what ends it. --out, --plot, --animate and --html show the
    mechanism along one of them, --circuit, pose by pose.
    """
    from ...analyses.linkage.summary import linkage_summary

    check_picture(picture)
    outputs, mechanism = wanted.checked(model), read_model(model)
    outputs.check_channels(mechanism, forces=False)
    summary = linkage_summary(mechanism, driver=driver)
    show(table(summary.model.name, [""], summary.rows(), words=[""]))
    drawn = write_picture(lambda ax: summary.circuits.plot(ax, output=output), picture)
    written = outputs.write(summary.circuits.motion(circuit)) if outputs.any else {}
    answer(summary.to_dict() | drawn | written)
