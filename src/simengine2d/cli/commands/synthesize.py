"""Linkages for a path, for poses or for a function."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..terminal import CountBar, answer, say, show, table
from .app import command
from .wanted import PictureOption, check_picture, write_picture

TargetArgument = Annotated[
    Path, typer.Argument(metavar="TARGET", help="CSV with x, y (and angle, input) or input, output; or YAML.")
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type", metavar="TYPE", help="four-bar, slider-crank, watt, watt-2, stephenson; repeatable."
    ),
]
RequirementOption = Annotated[
    list[str] | None,
    typer.Option("--subject-to", metavar="TEXT", help="Such as 'transmission > 40*deg'; repeatable."),
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option("--limit", metavar="NAME=LOW:HIGH", help="Limits of a parameter, or its value; repeatable."),
]
FullTurnOption = Annotated[bool, typer.Option("--full-turn", help="The crank must turn fully.")]
StartsOption = Annotated[
    int | None, typer.Option("--starts", metavar="N", help="Random starts of each type and assembly.")
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="Of the random starts.")]
ModelFileOption = Annotated[
    Path, typer.Option("--out", metavar="FILE.yaml", help="Where the best linkage is written as a model.")
]


@command()
def synthesize(
    target: TargetArgument,
    type: TypeOption = None,
    subject_to: RequirementOption = None,
    limit: LimitOption = None,
    full_turn: FullTurnOption = False,
    starts: StartsOption = None,
    seed: SeedOption = 0,
    out: ModelFileOption = Path("linkage.yaml"),
    picture: PictureOption = None,
) -> None:
    """Find a linkage that makes this motion.

    Searches over the types and their assemblies, lists the best linkages and writes the first as a model. Each has been
    run through all positions without passing a dead point.
    """
    from ...lab.synthesis import synthesize as search
    from ...lab.synthesis.target_files import read_target

    check_picture(picture)
    wanted = read_target(target)
    limits = dict(map(_limit, limit or []))
    with CountBar("starts") as bar:
        found = search(
            type or ["four-bar"], wanted, limits, None, subject_to,
            full_turn=full_turn, starts=starts, seed=seed, progress=bar.count,
        )  # fmt: skip
    heads = ["error", "motion", "lengths", "least transmission"]
    show(table(found.title, heads, found.rows(), words=["motion", "lengths"]))
    found.model().save(out)
    say(f"wrote {out}")
    drawn = write_picture(found.plot, picture)
    answer({"target": str(wanted), "linkages": [_data(each) for each in found], "model": out} | drawn)


def _limit(text: str) -> tuple[str, object]:
    name, _, given = text.partition("=")
    low, colon, high = given.partition(":")
    if not given or (colon and not high):
        raise typer.BadParameter(f"'{text}' is not NAME=LOW:HIGH or NAME=VALUE.")
    return name.strip(), (low, high) if colon else low


def _data(linkage: object) -> dict[str, object]:
    from ...lab.synthesis.solutions import SynthesizedLinkage

    assert isinstance(linkage, SynthesizedLinkage)
    return {
        "type": linkage.type,
        "motion": linkage.motion,
        "error": linkage.error,
        "parameters": linkage.parameters,
        "sides": linkage.sides,
        "inputs": linkage.inputs,
        "transmission": linkage.transmission,
    }
