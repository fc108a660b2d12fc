"""The equations of a model: on the terminal, in LaTeX, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from ...methods import CoordinatesName, NotationName
from .. import completion
from ..terminal import answer, say, show_text
from .app import CoordinatesOption, ModelArgument, command
from .models import read_model

LatexOption = Annotated[
    Path | None, typer.Option("--latex", metavar="FILE.tex", help="Write a LaTeX document.")
]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", metavar="FILE.html", help="Write a page that needs no network.")
]
NotationOption = Annotated[
    str,
    typer.Option(
        "--notation",
        metavar="BOOK",
        help="haug, nikravesh, garcia_de_jalon or shabana.",
        autocompletion=completion.notations,
    ),
]
NumbersOption = Annotated[bool, typer.Option("--numbers", help="Numbers in place of masses and lengths.")]


@command()
def equations(
    model: ModelArgument,
    latex: LatexOption = None,
    html: HtmlOption = None,
    coordinates: CoordinatesOption = "reference_point",
    notation: NotationOption = "haug",
    numbers: NumbersOption = False,
) -> None:
    """Write down the equations of motion by body and by joint."""
    from ...io.files import write_text

    asked = cast(CoordinatesName, coordinates), cast(NotationName, notation)
    written = read_model(model).equations(asked[0], notation=asked[1], numbers=numbers)
    if latex is None and html is None:
        show_text(str(written))
    if latex is not None:
        say(f"wrote {write_text(latex, written.tex())}")
    if html is not None:
        say(f"wrote {write_text(html, written.html())}")
    answer(
        {
            "coordinates": coordinates,
            "notation": notation,
            "text": str(written),
            "latex": written.latex(),
            "saved": [path for path in (latex, html) if path is not None],
        }
    )
