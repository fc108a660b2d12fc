"""Resume: continue a run that ended early, or beyond its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..terminal import sentences
from .app import EXIT_CODES, FormatOption, OutOption, StrictOption, app, positive
from .motion import perform_with, target_file

if TYPE_CHECKING:
    from ...analyses.dynamics.run import Keep, Progress
    from ...results.results import Results

ResultArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT.npz", help="Results of dynamics, finished or kept from a run that was stopped."
    ),
]
UntilOption = Annotated[
    float | None,
    typer.Option(
        "--t-end", callback=positive, metavar="T", help="Last time, s; if not given, the one of the run."
    ),
]


@app.command(epilog=EXIT_CODES)
@sentences()
def resume(
    result: ResultArgument,
    t_end: UntilOption = None,
    out: OutOption = None,
    format: FormatOption = None,
    strict: StrictOption = False,
) -> None:
    """Continue a run of dynamics, bit for bit as if it had never been stopped.

    Without --out, the results replace those in RESULT.npz.
    """
    from ...results.results import Results as Loaded

    earlier = Loaded.load(result)
    target = target_file(str(result), out, format) if out is not None else result
    if format is not None and out is None:
        raise typer.BadParameter("--format says how to save; give the folder too, with --out.")
    end = t_end or float(earlier.settings.get("t_end", 0.0))

    def go_on(progress: Progress, keep: Keep) -> Results:
        return earlier.resume(t_end, progress=progress, keep=keep)

    perform_with(go_on, end, target)
