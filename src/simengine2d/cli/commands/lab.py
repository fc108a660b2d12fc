"""The laboratory: a mechanism in all coordinates, by all formulations, with many integrators."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import Interrupted
from ...methods import CoordinatesName, FormulationName, Integrator, IntegratorName
from .. import completion
from ..terminal import STOPPED, CountBar, answer, complain, say, show, table
from .app import ModelArgument, ToleranceOption, command, positive
from .models import read_model

if TYPE_CHECKING:
    from ...lab import Comparison
    from ...model.model import Model

ALL, DEFAULT = "all", "default"
SHOWN = ("coordinates", "formulation", "integrator", "q", "reactions", "ms")
"""Columns on the terminal; the files have all."""
ROUGHEST, FINEST = 3, 9  # rtol = 1e-3 to 1e-9 of work against precision

CoordinatesOption = Annotated[
    str,
    typer.Option(
        "--coordinates",
        metavar="NAMES",
        help="Such as natural,relative; or all.",
        autocompletion=completion.several_of(CoordinatesName, ALL),
    ),
]
FormulationsOption = Annotated[
    str,
    typer.Option(
        "--formulations",
        metavar="NAMES",
        help="Such as augmented,index3; or all.",
        autocompletion=completion.several_of(FormulationName, ALL),
    ),
]
IntegratorsOption = Annotated[
    str,
    typer.Option(
        "--integrators",
        metavar="NAMES",
        help="Such as rk4,dop853; or all that fit; or default, the one that each formulation takes by itself.",
        autocompletion=completion.several_of(IntegratorName, ALL, DEFAULT),
    ),
]
EndOption = Annotated[float, typer.Option("--t-end", callback=positive, metavar="T", help="Last time, s.")]
StepOption = Annotated[
    float | None,
    typer.Option("--step", callback=positive, metavar="H", help="Step of integrators with fixed steps, s."),
]
FolderOption = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder of the tables and pictures.")
]


@command()
def lab(
    model: ModelArgument,
    coordinates: CoordinatesOption = ALL,
    formulations: FormulationsOption = ALL,
    integrators: IntegratorsOption = DEFAULT,
    t_end: EndOption = 1.0,
    step: StepOption = None,
    rtol: ToleranceOption = None,
    out: FolderOption = Path("lab"),
) -> None:
    """Compare coordinates, formulations and integrators.

    One mechanism is moved by all of them. Tables and pictures are written into a folder: how well all agree and what
    they cost, work against precision, and stability regions. After Ctrl-C, what is finished is kept.
    """
    mechanism = read_model(model)
    out.mkdir(parents=True, exist_ok=True)
    asked = [names(each) for each in (coordinates, formulations, integrators)]
    report: dict[str, Any] = {"model": mechanism.name, "saved": []}
    try:
        comparison = _compare(mechanism, asked, t_end, step, rtol, out, report)
        solvers = used_integrators(asked[2])
        _work_precision(mechanism, solvers, t_end, comparison, out, report)
    except Interrupted as error:
        complain(str(error))
        answer(report | {"error": str(error), "exit_code": STOPPED})
        raise typer.Exit(STOPPED) from None
    _stability(solvers, out, report)
    answer(report)


def names(text: str) -> list[str | None] | None:
    """`a,b` as a list; None for all."""
    if text == ALL:
        return None
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise typer.BadParameter("give names, with commas between them, or all.")
    return [None if word == DEFAULT else word for word in words]


def _compare(
    model: Model,
    asked: list[Any],
    t_end: float,
    step: float | None,
    rtol: float | None,
    out: Path,
    report: dict[str, Any],
) -> Comparison:
    from ...lab import compare
    from ...lab.pictures import save_comparison

    options: dict[str, Any] = {} if rtol is None else {"rtol": rtol}
    try:
        with CountBar("methods") as bar:
            comparison = compare(model, *asked, t_end=t_end, step=step, progress=bar.count, **options)
    except Interrupted as error:
        _present(error.results, report)
        _say_saved(save_comparison(error.results, out), report)
        raise
    _present(comparison, report)
    _say_saved(save_comparison(comparison, out), report)
    return comparison


def _present(comparison: Comparison, report: dict[str, Any]) -> None:
    from ...lab.trial import HEADS, cells, remarks

    report["trials"] = comparison.records()

    columns = [HEADS.index(name) for name in SHOWN]
    rows = [[row[i] for i in columns] for row in map(cells, comparison.ran)]
    show(table(SHOWN[0], SHOWN[1:], rows, words=SHOWN[:3]), *remarks(comparison))


def used_integrators(asked: list[str | None] | None) -> list[Integrator]:
    """Those that were named; else all that adapt their steps."""
    if asked is not None and any(asked):
        return [Integrator.registry.made(name) for name in asked if name is not None]
    chosen = sorted(Integrator.registry.loaded().items())
    return [each() for _, each in chosen if asked is None or each.adaptive]


def _work_precision(
    model: Model,
    solvers: list[Integrator],
    t_end: float,
    comparison: Comparison,
    out: Path,
    report: dict[str, Any],
) -> None:
    from ...io.job import free_motions
    from ...lab import work_precision
    from ...lab.pictures import save_work_precision

    if free_motions(comparison.reference.system) == 0:
        show("every motion is driven, and integration has no error; so work against precision is left out.")
        return
    rtols = [10.0**-k for k in range(ROUGHEST, FINEST + 1)]
    with CountBar("methods") as bar:
        try:
            work = work_precision(model, integrators=solvers, t_end=t_end, rtols=rtols, progress=bar.count)
        except Interrupted as error:
            _say_saved(save_work_precision(error.results, out), report)
            raise
    report["work_precision"] = work.records()
    _say_saved(save_work_precision(work, out), report)


def _stability(solvers: list[Integrator], out: Path, report: dict[str, Any]) -> None:
    from ...lab.pictures import save_stability

    _say_saved(save_stability(solvers, out), report)


def _say_saved(paths: list[Path], report: dict[str, Any]) -> None:
    report["saved"] += paths
    for path in paths:
        say(f"saved {path}")
