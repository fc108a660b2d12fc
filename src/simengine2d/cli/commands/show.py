"""Show: pages that play a motion, and opening them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import Interrupted, ModelError, SimEngineError
from ...model import library
from .. import completion
from ..terminal import ProgressBar, answer, complain, exit_code, say
from .app import command
from .models import read_model

if TYPE_CHECKING:
    from ...model.model import Model
    from ...results.results import Results

DEMO = "slider_crank"
RESULTS = (".npz", ".parquet", ".csv")

PageOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE.html", help="Write the page into this file.")
]
OpenOption = Annotated[
    bool, typer.Option("--open/--no-open", help="Open the page in a browser, where there is one.")
]


@command()
def demo(
    name: Annotated[
        str,
        typer.Argument(
            help="A shipped mechanism; `simengine2d models` lists them.", autocompletion=completion.shipped
        ),
    ] = DEMO,
    out: PageOption = None,
    open: OpenOption = True,
) -> None:
    """Simulate a shipped mechanism and play it in a browser."""
    if (
        "simengine2d.numerics.kernel" not in sys.modules
    ):  # these short motions are computed sooner than compiled
        os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
    if not library.is_shipped(name):
        library.text(name)  # says which there are
    model = read_model(name)
    target = _target(out, f"simengine2d_{name}.html")
    _write(lambda: _run(model, forces=True), target, open)


@command("show")
def show_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RESULT|MODEL",
            help="Saved results (.npz, .parquet), or a model.",
            autocompletion=completion.results_and_models,
        ),
    ],
    out: PageOption = None,
    open: OpenOption = True,
    still: Annotated[
        bool, typer.Option("--still", help="Draw a model in its pose, without running it.")
    ] = False,
) -> None:
    """Play saved results, or the motion of a model, in a browser.

    A model is run as `simengine2d run` does.
    """
    path = Path(what)
    target = _target(out, f"{path.stem}_player.html")
    if path.suffix.lower() in RESULTS:
        from ...results.results import Results

        _write(lambda: Results.load(path), target, open)
        return
    model = read_model(what)
    _write(lambda: _pose(model) if still else _run(model, forces=False), target, open)


def _target(out: Path | None, name: str) -> Path:
    """The file to write; by default in the present folder, or in the temporary one where that is not writable."""
    if out is not None:
        if out.suffix.lower() not in (".html", ".htm"):
            raise ModelError(f"--out {out}: a page is an .html file.")
        return out
    folder = Path.cwd()
    return (folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())) / name


def _run(model: Model, forces: bool) -> Results:
    """The motion that the model asks for; with the forces that it takes, where these are wanted."""
    from ...io.job import job_for

    job = job_for(model)
    if forces and job.kind == "kinematics":
        options = {name: job.options.get(name) for name in ("t_end", "step")}
        job = replace(job, kind="inverse_dynamics", options=options)  # the same motion, and what it takes
    with ProgressBar(job.t_end or 0.0) as progress:
        return job.run(model, progress)


def _pose(model: Model) -> Results:
    """The model at rest in its assembled pose."""
    from ...draw.scene import pose_of_model

    return pose_of_model(model)


def _write(run: Callable[[], Results], target: Path, wanted: bool) -> None:
    """Write the page of a run, and open it where that is wanted; of a failed run, what it has finished."""
    from ...draw.html import html

    error: SimEngineError | Interrupted | None = None
    try:
        results = run()
    except (SimEngineError, Interrupted) as failure:
        if failure.results is None or failure.results.t.size == 0:
            raise
        results, error = failure.results, failure
    path = html(results, target)
    opened = wanted and error is None and open_page(path.resolve().as_uri())
    say(f"wrote {path}" + ("" if opened else "; open it in a browser"))
    failed = {} if error is None else {"error": str(error), "exit_code": exit_code(error)}
    answer(
        {"model": results.model.name, "status": results.status, "saved": [path], "opened": opened} | failed
    )
    if error is not None:
        complain(str(error))
        raise typer.Exit(exit_code(error))


def open_page(address: str) -> bool:
    """Open a page for an interactive user: on a terminal, with a screen and a browser."""
    import webbrowser

    has_screen = (
        sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if not (sys.stdout.isatty() and has_screen):
        return False
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
