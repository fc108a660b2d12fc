"""Commands for the analyses of the catalog that have none written by hand: their options are those of the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ...analyses.catalog import CATALOG, OPTIONS, Analysis
from ..terminal import answer

UsageError: Any = typer.BadParameter.__base__
"""Of click, or of the click that newer versions of typer bring with them."""


class CatalogGroup(TyperGroup):
    """The commands of this package, then those that the catalog adds."""

    wants_json = False

    def make_context(self, info_name: Any, args: list[str], *more: Any, **extra: Any) -> Any:
        self.wants_json = "--json" in args
        with self._mistakes_as_data():
            return super().make_context(info_name, args, *more, **extra)

    def invoke(self, ctx: Any) -> Any:
        with self._mistakes_as_data():
            return super().invoke(ctx)

    @contextmanager
    def _mistakes_as_data(self) -> Iterator[None]:
        """With --json, a command that was written wrongly has an answer, too."""
        try:
            yield
        except UsageError as error:
            if self.wants_json:
                answer({"error": error.format_message(), "exit_code": error.exit_code}, wanted=True)
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        return list(dict.fromkeys([*super().list_commands(ctx), *map(command_name, CATALOG.values())]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        written = super().get_command(ctx, cmd_name)
        if written is not None:
            return written
        analyses = [analysis for analysis in CATALOG.values() if command_name(analysis) == cmd_name]
        return command_of(analyses[0]) if analyses else None


def command_name(analysis: Analysis) -> str:
    return analysis.command or analysis.name.replace("_", "-")


def command_of(analysis: Analysis) -> Any:
    """A command that runs the analysis with its options."""
    from . import app as shared
    from .wanted import Wanted, writes_results

    # the arguments that every such command has
    annotations: dict[str, Any] = {"model": shared.ModelArgument}
    defaults: dict[str, Any] = {"strict": False}
    for name in analysis.options:
        if name == "t_end":
            annotations[name] = shared.EndOption
        elif name == "output_steps":
            annotations["points"], defaults["points"] = shared.PointsOption, None
        else:
            annotations[name], defaults[name] = _option(name), None
    annotations |= {"wanted": Wanted, "strict": shared.StrictOption}

    def run(model: str, wanted: Wanted, strict: bool, points: int | None = None, **given: Any) -> None:
        from ...io.job import Job
        from .models import read_model
        from .motion import perform

        outputs = wanted.checked(model)
        perform(Job(analysis.name, given, points), read_model(model), outputs)

    command: Any = run
    command.__doc__ = analysis.words
    command.__signature__ = Signature(
        [
            Parameter(
                name, Parameter.KEYWORD_ONLY, default=defaults.get(name, Parameter.empty), annotation=kind
            )
            for name, kind in annotations.items()
        ]
    )
    only = typer.Typer(add_completion=False, rich_markup_mode=None)
    only.command(command_name(analysis), epilog=shared.EXIT_CODES)(
        shared.for_every_day(writes_results(command))
    )
    return typer.main.get_command(only)


def _option(name: str) -> Any:
    """An option of the catalog as one of the command line."""
    option = OPTIONS[name]
    kind = float if option.is_number else int if option.accepts is int else str
    flag = f"--{name.replace('_', '-')}"
    return Annotated[kind | None, typer.Option(flag, metavar=name.upper(), help=option.words)]  # type: ignore[valid-type]
