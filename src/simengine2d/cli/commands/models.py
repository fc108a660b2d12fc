"""Models: check and examine them, list the shipped ones, print the schema of their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import MissingFileError, ModelError, SimEngineError
from ...model import library
from ..terminal import sentences, show, show_text, table, warn
from .app import EXIT_CODES, ModelArgument, app

if TYPE_CHECKING:
    from ...model.model import Model

CopyOption = Annotated[
    Path | None, typer.Option("--copy", metavar="DIR", help="Copy one or all into this folder.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")]
FileOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it into this file.")]


def read_model(name: str) -> Model:
    """The model in a file, or the shipped mechanism of that name."""
    from ...io import load

    return load(name)


@app.command(epilog=EXIT_CODES)
@sentences()
def check(model: ModelArgument) -> None:
    """Read a model, close it, and say what its constraints allow."""
    from ...analyses.assembly.assemble import assemble
    from ...analyses.assembly.diagnose import diagnose
    from ...model.attachment import center_gaps
    from ...system.system import System
    from .. import summary

    system = System(read_model(model))
    try:
        assembly = assemble(system)
    except SimEngineError:  # show what was read before saying why it does not close
        show(*summary.model_tables(system.resolved, system.drawn_q))
        raise
    diagnosis = diagnose(assembly)
    show(*summary.model_tables(system.resolved, assembly.q), *summary.constraint_lines(assembly, diagnosis))
    for gap in center_gaps(system.resolved):
        warn(f"{gap.text} {gap.remedy}")
    if diagnosis.redundant:
        equations = "1 equation is" if diagnosis.redundant == 1 else f"{diagnosis.redundant} equations are"
        warn(f"{equations} redundant: {'; '.join(map(str, diagnosis.dependent))}.")


@app.command(epilog=EXIT_CODES)
@sentences()
def assemblies(
    model: ModelArgument,
    driver: Annotated[
        str | None, typer.Option("--driver", metavar="NAME", help="Whose range is wanted; else the first.")
    ] = None,
) -> None:
    """Find all poses in which a driven mechanism closes, and how far each can be driven."""
    from ...analyses.assembly.assembly_modes import assembly_modes

    assemblies = assembly_modes(read_model(model), driver=driver)
    show(str(assemblies).splitlines()[0])
    show(table("assembly", ["pose", f"range of {assemblies.driver}"], assemblies.rows(), words=True))


@app.command()
@sentences()
def models(
    name: Annotated[str | None, typer.Argument(help="Print this mechanism's file.")] = None,
    copy: CopyOption = None,
) -> None:
    """List the shipped mechanisms; print or copy them."""
    if copy is not None:
        copy.mkdir(parents=True, exist_ok=True)
        for each in [name] if name else library.names():
            show_text(f"wrote {library.copy(each, copy)}")
    elif name is not None:
        show_text(library.text(name))
    else:
        rows = ([each, words] for each, words in library.models().items())
        show(table("name", ["description"], rows, words=True))
        show("`simengine2d run NAME` runs one, `simengine2d models NAME` prints its file.")


@app.command()
@sentences()
def schema(out: FileOption = None) -> None:
    """Print the JSON Schema of model files."""
    import json

    from ...io import json_schema
    from ...io.files import write_text

    text = json.dumps(json_schema(), indent=2) + "\n"
    show_text(text if out is None else f"wrote {write_text(out, text)}")


@app.command(epilog=EXIT_CODES)
@sentences()
def doctor(model: ModelArgument, json: JsonOption = False) -> None:
    """Report what is wrong or suspicious in a model, likely causes first, and what to do; exit 1 on problems."""
    from ...analyses.doctor.doctor import doctor as examine
    from ...analyses.doctor.doctor import of_problems

    try:
        checkup = examine(read_model(model))
    except MissingFileError:
        raise
    except ModelError as error:
        checkup = of_problems(model, error)
    show_text(checkup.json() if json else str(checkup))
    if not checkup.healthy:
        raise typer.Exit(1)
