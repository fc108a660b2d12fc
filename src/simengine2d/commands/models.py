"""Models: check them, list the shipped ones, print the schema of their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import shipped
from ..errors import ModelError, SimEngineError, unknown
from ..terminal import sentences, show, show_text, table, warn
from .app import EXIT_CODES, ModelArgument, app

if TYPE_CHECKING:
    from ..model import Model

CopyOption = Annotated[
    Path | None, typer.Option("--copy", metavar="DIR", help="Copy one or all into this folder.")
]
FileOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it into this file.")]


def read_model(name: str) -> Model:
    """The model in a file; where there is no such file, the shipped mechanism of that name."""
    from ..io import load

    word = name.removesuffix(shipped.ENDING)
    if Path(name).is_file() or not _may_be_shipped(word):
        return load(name)
    if not shipped.is_shipped(word):
        hint = unknown("shipped mechanism", word, shipped.names())
        raise ModelError(f"there is no file '{name}' here and no shipped mechanism of that name. {hint}")
    with shipped.file(word) as path:
        return load(path)


def _may_be_shipped(word: str) -> bool:
    """One of the shipped names, or a bare word that names nothing here."""
    path = Path(word)
    return shipped.is_shipped(word) or (path.name == word and not path.suffix and not path.exists())


@app.command(epilog=EXIT_CODES)
@sentences()
def check(model: ModelArgument) -> None:
    """Read a model, close it, and say what its constraints allow."""
    from .. import report
    from ..analyses.assemble import assemble
    from ..analyses.diagnose import diagnose
    from ..system import System

    system = System(read_model(model))
    try:
        assembly = assemble(system)
    except SimEngineError:  # show what was read before saying why it does not close
        show(*report.model_tables(system.drawing, system.drawn_q))
        raise
    diagnosis = diagnose(assembly)
    show(*report.model_tables(system.drawing, assembly.q), *report.constraint_lines(assembly, diagnosis))
    if diagnosis.redundant:
        equations = "1 equation is" if diagnosis.redundant == 1 else f"{diagnosis.redundant} equations are"
        warn(f"{equations} redundant: {'; '.join(map(str, diagnosis.dependent))}.")


@app.command()
@sentences()
def models(
    name: Annotated[str | None, typer.Argument(help="Print this mechanism's file.")] = None,
    copy: CopyOption = None,
) -> None:
    """List the shipped mechanisms; print or copy them."""
    if copy is not None:
        copy.mkdir(parents=True, exist_ok=True)
        for each in [name] if name else shipped.names():
            show_text(f"wrote {shipped.copy(each, copy)}")
    elif name is not None:
        show_text(shipped.text(name))
    else:
        rows = ([each, shipped.description(each)] for each in shipped.names())
        show(table("name", ["description"], rows, words=True))
        show("`simengine2d run NAME` runs one, `simengine2d models NAME` prints its file.")


@app.command()
@sentences()
def schema(out: FileOption = None) -> None:
    """Print the JSON Schema of model files."""
    import json

    from ..io import json_schema
    from ..io.files import write_text

    text = json.dumps(json_schema(), indent=2) + "\n"
    show_text(text if out is None else f"wrote {write_text(out, text)}")
