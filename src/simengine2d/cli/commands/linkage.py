"""What designers ask of a linkage, at a glance."""

from __future__ import annotations

from typing import Annotated

import typer

from ..terminal import sentences, show, show_text, table
from .app import EXIT_CODES, ModelArgument, app
from .models import read_model

InputOption = Annotated[
    str | None, typer.Option("--driver", metavar="NAME", help="The driver that is the input; else the first.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print it as JSON, in SI units and radians.")]


@app.command(epilog=EXIT_CODES)
@sentences()
def linkage(model: ModelArgument, driver: InputOption = None, json: JsonOption = False) -> None:
    """Grashof class, circuits, range of the input, dead points, transmission angles and mobility of a linkage."""
    from json import dumps

    from ...linkage.summary import linkage_summary

    summary = linkage_summary(read_model(model), driver=driver)
    if json:
        show_text(dumps(summary.to_dict(), indent=2))
    else:
        show(table(summary.model.name, [""], summary.rows(), words=True))
