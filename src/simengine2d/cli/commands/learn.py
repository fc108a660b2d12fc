"""Learn: the notebooks, and commented models to begin with."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from ...model.library import starters
from .. import completion
from ..notebooks import notebook, notebooks
from ..terminal import answer, say, show, table
from .app import command
from .show import OpenOption

INSTALL = {"marimo": "'simengine2d[learn]'", "jupyterlab": "jupyterlab ipywidgets 'simengine2d[learn]'"}
"""What pip installs for the program."""
RUN_AT_ONCE = {"_MARIMO_CONFIG_OVERLOAD_RUNTIME_AUTO_INSTANTIATE": "true"}
"""For marimo, which else shows a notebook that it was given with all its cells still to be run."""


@command()
def new(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The kind of mechanism, such as four-bar; without it they are listed.",
            autocompletion=completion.starters,
        ),
    ] = None,
    python: Annotated[
        bool, typer.Option("--python", help="A Python program instead of a YAML file.")
    ] = False,
) -> None:
    """Write a commented model to begin with.

    The file is written into the present folder and runs as it is; a comment on every line says what it does and what
    can be changed. An existing file is not overwritten.
    """
    if name is None:
        rows = ([starters.spelled(each), starters.description(each)] for each in starters.names())
        show(table("name", ["description"], rows, words=["description"]))
        show("`simengine2d new NAME` writes one, `simengine2d new NAME --python` as a program.")
        answer(
            {"starters": {starters.spelled(each): starters.description(each) for each in starters.names()}}
        )
        return
    path = starters.write(name, Path(), starters.PYTHON if python else starters.YAML)
    say(f"wrote {path}: open it in an editor, change a number, then type")
    width = max(len(line) for line, _ in _next(path))
    for line, words in _next(path):
        say(f"  {line:{width}}  # {words}")
    answer({"saved": [path], "next": [line for line, _ in _next(path)]})


def _next(path: Path) -> list[tuple[str, str]]:
    """What to type, and what it does."""
    if path.suffix == starters.PYTHON:
        return [(f"python {path}", "runs it; writes a plot and the player")]
    channel = starters.WATCH[path.stem.removeprefix("my_")]
    return [
        (f"simengine2d check {path}", "what the joints allow"),
        (f"simengine2d show {path}", "play in a browser"),
        (f"simengine2d run {path} --plot {channel}", "numbers, and a plot"),
    ]


@command()
def learn(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NOTEBOOK",
            help="Its number or name; without it they are listed.",
            autocompletion=completion.notebooks,
        ),
    ] = None,
    jupyter: Annotated[
        bool, typer.Option("--jupyter", help="As .ipynb in JupyterLab instead of marimo.")
    ] = False,
    open: OpenOption = True,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Start the notebook's server, but no browser.")
    ] = False,
) -> None:
    """List the notebooks, or open one.

    It is copied into the present folder, where you can change it; a copy that is already there is opened as it is.
    """
    if name is None:
        _list()
        return
    chosen = notebook(name)
    source = chosen.for_jupyter if jupyter else chosen.path
    target = Path(source.name)
    kept = target.exists()
    if not kept:
        target.write_bytes(source.read_bytes())
    say(f"{'kept your' if kept else 'wrote'} {target}")
    words = _start(target, jupyter, no_browser)
    program = "jupyterlab" if jupyter else "marimo"
    able = find_spec(program) is not None
    if not able:
        say(f"{program} is not installed; get it with pip install {INSTALL[program]}, then type")
    if not able or not open:
        say("  " + " ".join(words[2:]))
    answer({"notebook": chosen.title, "saved": [target], "next": " ".join(words[2:])})
    if able and open:
        if jupyter:
            say("In JupyterLab, Run > Run All Cells computes everything.")
        raise typer.Exit(subprocess.run(words, check=False, env=os.environ | RUN_AT_ONCE).returncode)


def _list() -> None:
    rows = ([str(each.number), each.name, each.title] for each in notebooks())
    show(table("", ["name", "title"], rows, words=["name", "title"]))
    show("`simengine2d learn 1` copies the first one into this folder and opens it; --jupyter in JupyterLab.")
    answer({"notebooks": {each.name: each.title for each in notebooks()}})


def _start(target: Path, jupyter: bool, no_browser: bool) -> list[str]:
    """The program that opens a notebook, run by this Python."""
    words = ["jupyter", "lab"] if jupyter else ["marimo", "edit"]
    quiet = (["--no-browser"] if jupyter else ["--headless"]) if no_browser else []
    return [sys.executable, "-m", *words, *quiet, str(target)]
