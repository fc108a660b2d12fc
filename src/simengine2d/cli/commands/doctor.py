"""The doctor on the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import ModelError
from ..terminal import sentences, show_text
from .app import EXIT_CODES, ModelArgument, app
from .models import read_model

JsonOption = Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")]


@app.command(epilog=EXIT_CODES)
@sentences()
def doctor(model: ModelArgument, json: JsonOption = False) -> None:
    """Report what is wrong or suspicious in a model, likely causes first, and what to do; exit 1 on problems."""
    from ...analyses.doctor.doctor import doctor as examine
    from ...analyses.doctor.doctor import of_problems

    try:
        checkup = examine(read_model(model))
    except ModelError as error:
        checkup = of_problems(model, error)
    show_text(checkup.json() if json else str(checkup))
    if not checkup.healthy:
        raise typer.Exit(1)
