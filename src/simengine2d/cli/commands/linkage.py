"""What designers ask of a linkage, at a glance."""

from __future__ import annotations

from typing import Annotated

import typer

from ..terminal import answer, show, table
from .app import ModelArgument, command
from .models import read_model
from .wanted import PictureOption, check_picture, write_picture

InputOption = Annotated[
    str | None, typer.Option("--driver", metavar="NAME", help="The driver that is the input; else the first.")
]

OutputOption = Annotated[
    str | None,
    typer.Option(
        "--output", metavar="MEASURE", help="What --picture draws over the input; else the driven link."
    ),
]


@command()
def linkage(
    model: ModelArgument,
    driver: InputOption = None,
    output: OutputOption = None,
    picture: PictureOption = None,
) -> None:
    """Grashof class, circuits, dead points, transmission angles.

    Each circuit is listed with the range of the input, and what ends it.
    """
    from ...analyses.linkage.summary import linkage_summary

    check_picture(picture)
    summary = linkage_summary(read_model(model), driver=driver)
    show(table(summary.model.name, [""], summary.rows(), words=[""]))
    drawn = write_picture(lambda ax: summary.circuits.plot(ax, output=output), picture)
    answer(summary.to_dict() | drawn)
