"""Studio: draw a mechanism in a browser, see it move, read its forces."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...model import library
from .. import completion
from ..terminal import Settings, answer, say, show_text
from .app import command
from .models import read_model
from .show import open_page

if TYPE_CHECKING:
    from ..studio.studio import FirstModel


@command()
def studio(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL|FOLDER]",
            help="A model file, a folder of them, a shipped mechanism, or a link that the studio made.",
            autocompletion=completion.models,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, metavar="N", help="The port; otherwise a free one."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
) -> None:
    """Draw a mechanism in a browser and see it move.

    The page is served to this machine only, at an address with a secret in it. Ctrl-C ends it; unsaved work is kept
    beside the file and offered again.
    """
    from ..studio.serving import HOST, check_packages, serve

    folder, first = _wanted(what)
    check_packages()
    from ..studio.folder import ModelFolder
    from ..studio.guard import new_token
    from ..studio.studio import Studio

    models = ModelFolder(folder)
    if first.name is not None:
        models.read(first.name)  # what cannot be read is a sentence here, not on a page
    with _listener(port) as listener, suppress(KeyboardInterrupt):
        token = new_token()
        address = f"http://{HOST}:{listener.getsockname()[1]}/{token}/"
        say(f"the studio is at {address}")
        say("Ctrl-C ends it.")
        if Settings.quiet:
            show_text(address)
        answer({"address": address, "folder": models.root, "file": first.name})
        if not no_browser:
            open_page(address)
        serve(Studio(models, first), token, listener)


def _listener(port: int | None) -> socket.socket:
    from ..studio.serving import listening

    try:
        return listening(port)
    except OSError as error:
        raise typer.BadParameter(
            f"--port {port}: {(error.strerror or str(error)).lower()}. "
            "Choose another port, or leave the option out for one that is free."
        ) from None


def _wanted(what: str | None) -> tuple[Path, FirstModel]:
    """The folder of the studio, and what its first window shows."""
    from ..studio.folder import ENDINGS
    from ..studio.links import MARK, text_of
    from ..studio.studio import FirstModel

    if what is None:
        return Path(), FirstModel()
    if MARK in what:
        return Path(), FirstModel(text=text_of(what))
    path = Path(what)
    if path.is_dir():
        return path, FirstModel()
    if path.is_file() and path.suffix.lower() in ENDINGS:
        return path.parent, FirstModel(path.name)
    if library.is_shipped(what):
        return Path(), FirstModel(text=library.text(what))
    return path.parent, FirstModel(text=_as_yaml(what))


def _as_yaml(what: str) -> str:
    """A model in another format, or a sentence that there is none."""
    from ...io import SECTIONS
    from ...io.model_writer import model_data
    from ...io.text_writer import to_yaml

    return to_yaml(model_data(read_model(what)), SECTIONS)
