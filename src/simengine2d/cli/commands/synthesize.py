"""Linkages for a path, for poses or for a function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..terminal import CountBar, answer, say, show, table
from .app import command
from .wanted import PictureOption, check_picture, write_picture

if TYPE_CHECKING:
    from ...lab.synthesis.solutions import SynthesizedLinkages
    from ...lab.synthesis.targets import SynthesisTarget

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


ExactOption = Annotated[
    bool,
    typer.Option(
        "--exact", help="Instead of a search: all linkages that meet two to five positions exactly."
    ),
]
PivotOption = Annotated[
    list[str] | None,
    typer.Option("--fixed-pivot", metavar="X,Y", help="With --exact, for three positions; repeatable."),
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
    exact: ExactOption = False,
    fixed_pivot: PivotOption = None,
    out: ModelFileOption = Path("linkage.yaml"),
    picture: PictureOption = None,
) -> None:
    """Find a linkage that makes this motion.

    Searches over the types and their assemblies, lists the best linkages and writes the first as a model. Each has been
    run through all positions without passing a dead point. With --exact, the classical methods list all linkages that
    meet the positions, with their branch, order and circuit defects; the first without is written.
    """
    from ...lab.synthesis import synthesize as search
    from ...lab.synthesis.target_files import read_target

    check_picture(picture)
    searched = {
        "--type": type,
        "--subject-to": subject_to,
        "--limit": limit,
        "--full-turn": full_turn,
        "--starts": starts,
    }
    _refuse(exact, searched, fixed_pivot)
    wanted = read_target(target)
    if exact:
        _list_exact(wanted, fixed_pivot, out, picture)
        return
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
    linkages = [_data(each) | {"error": each.error} for each in found]
    answer({"target": str(wanted), "linkages": linkages, "model": out} | drawn)


def _refuse(exact: bool, searched: dict[str, Any], pivots: list[str] | None) -> None:
    """Options of the other way to ask."""
    if exact:
        for name, value in searched.items():
            if value:
                raise typer.BadParameter(f"{name} belongs to a search; leave it or --exact out.")
    elif pivots:
        raise typer.BadParameter("--fixed-pivot belongs to --exact; a search takes --limit Ax=VALUE.")


def _list_exact(wanted: SynthesisTarget, pivots: list[str] | None, out: Path, picture: Path | None) -> None:
    from ...lab.synthesis.exact import exact_linkages

    found = exact_linkages(wanted, [_pivot(text) for text in pivots] if pivots else None)
    heads = ["motion", "lengths", "least transmission", "defects"]
    show(table(found.title, heads, found.rows(), words=["motion", "lengths", "defects"]))
    written = _write_good(found, out)
    drawn = write_picture(found.plot, picture)
    linkages = [_data(each) | {"defects": each.defects} for each in found]
    answer({"target": str(wanted), "linkages": linkages, "model": written} | drawn)


def _write_good(found: SynthesizedLinkages, out: Path) -> Path | None:
    if not found.good:
        say(
            "none is free of defects, so no model was written; other positions, or a search without --exact, may help"
        )
        return None
    found.good[0].model().save(out)
    say(f"wrote {out}")
    return out


def _pivot(text: str) -> list[str]:
    place = text.split(",")
    if len(place) != 2:
        raise typer.BadParameter(f"'{text}' is not X,Y.")
    return place


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
        "parameters": linkage.parameters,
        "sides": linkage.sides,
        "inputs": linkage.inputs,
        "transmission": linkage.transmission,
    }
