"""Models: check and examine them, list the shipped ones, print the schema of their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import MissingFileError, ModelError, SimEngineError
from ...model import library
from .. import completion
from ..terminal import Settings, answer, say, show, show_text, table, warn
from .app import ModelArgument, command
from .wanted import (
    NOTHING,
    DegreesOption,
    PictureOption,
    Wanted,
    check_picture,
    write_picture,
    writes_results,
)

if TYPE_CHECKING:
    from ...model.model import Model

CopyOption = Annotated[
    Path | None, typer.Option("--copy", metavar="DIR", help="Copy one or all into this folder.")
]
FileOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it into this file.")]


def read_model(name: str) -> Model:
    """The model in a file, or the shipped mechanism of that name."""
    from ...io import load

    return load(name, Settings.laws)


@command()
def check(model: ModelArgument, degrees: DegreesOption = False, picture: PictureOption = None) -> None:
    """Read a model, close it, and say what its constraints allow."""
    from ...analyses.assembly.assemble import assemble
    from ...analyses.assembly.diagnose import diagnose
    from ...analyses.doctor.data import suspicions
    from ...analyses.doctor.finding import WARNING
    from ...model.attachment import center_gaps
    from ...system.system import System
    from .. import answers, summary

    check_picture(picture)
    system = System(read_model(model))
    try:
        assembly = assemble(system)
    except SimEngineError:  # show what was read before saying why it does not close
        show(*summary.model_tables(system.resolved, system.drawn_q))
        raise
    diagnosis = diagnose(assembly)
    show(*summary.model_tables(system.resolved, assembly.q), *summary.constraint_lines(assembly, diagnosis))
    warnings = [f"{gap.text} {gap.remedy}" for gap in center_gaps(system.resolved)]
    doubts = [finding for finding in suspicions(system.resolved) if finding.severity == WARNING]
    warnings += [f"{finding.text} {finding.remedy}" for finding in doubts]
    if diagnosis.redundant:
        equations = "1 equation is" if diagnosis.redundant == 1 else f"{diagnosis.redundant} equations are"
        warnings.append(f"{equations} redundant: {'; '.join(map(str, diagnosis.dependent))}.")
    for sentence in warnings:
        warn(sentence)
    parts = {"assembly": answers.of_assembly(assembly), "diagnosis": answers.of_diagnosis(diagnosis)}
    answer(
        answers.of_model(system.resolved, assembly.q)
        | parts
        | {"warnings": warnings}
        | write_picture(assembly.plot, picture)
    )


@command()
@writes_results
def assemblies(
    model: ModelArgument,
    driver: Annotated[
        str | None, typer.Option("--driver", metavar="NAME", help="Whose range is wanted; else the first.")
    ] = None,
    picture: PictureOption = None,
    wanted: Wanted = NOTHING,
) -> None:
    """Find all poses in which a driven mechanism closes.

    Each is listed with how far it can be driven. --out, --plot, --animate and --html show them one after the other, a
    second for each.
    """
    from ...analyses.assembly.assembly_modes import assembly_modes
    from .. import answers

    check_picture(picture)
    outputs, mechanism = wanted.checked(model), read_model(model)
    outputs.check_channels(mechanism, forces=False)
    assemblies = assembly_modes(mechanism, driver=driver)
    show(str(assemblies).splitlines()[0])
    columns = ["pose", f"range of {assemblies.driver}"]
    show(table("assembly", columns, assemblies.rows(), words=columns))
    written = outputs.write(assemblies.motion) if outputs.any else {}
    answer(answers.of_assemblies(assemblies) | written | write_picture(assemblies.plot, picture))


@command()
def models(
    name: Annotated[
        str | None,
        typer.Argument(help="Print this mechanism's file.", autocompletion=completion.shipped),
    ] = None,
    copy: CopyOption = None,
) -> None:
    """List the shipped mechanisms; print or copy them."""
    if copy is not None:
        copy.mkdir(parents=True, exist_ok=True)
        written = [library.copy(each, copy) for each in ([name] if name else library.names())]
        for path in written:
            say(f"wrote {path}")
        answer({"saved": written})
    elif name is not None:
        show_text(library.text(name))
        answer({"name": name, "description": library.description(name), "file": library.text(name)})
    else:
        rows = ([each, words] for each, words in library.models().items())
        show(table("name", ["description"], rows, words=["description"]))
        show("`simengine2d run NAME` runs one, `simengine2d models NAME` prints its file.")
        answer({"models": library.models()})


@command()
def schema(out: FileOption = None) -> None:
    """Print the JSON Schema of model files."""
    import json

    from ...io import json_schema
    from ...io.files import write_text

    text = json.dumps(json_schema(), indent=2) + "\n"
    if out is None:
        show_text(text)
        answer(json_schema())
    else:
        say(f"wrote {write_text(out, text)}")
        answer({"saved": [out]})


@command()
def doctor(model: ModelArgument) -> None:
    """Report what is wrong or suspicious in a model.

    Likely causes come first, each with what to do about it. The exit code is 1 where there are problems.
    """
    from ...analyses.doctor.doctor import doctor as examine
    from ...analyses.doctor.doctor import of_problems

    try:
        checkup = examine(read_model(model))
    except MissingFileError:
        raise
    except ModelError as error:
        checkup = of_problems(model, error)
    show(str(checkup))
    answer(checkup.data())
    if not checkup.healthy:
        raise typer.Exit(1)
