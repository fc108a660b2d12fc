"""What a worker can be asked for: each request is a verb and plain data, each answer plain data."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ...errors import ModelError

Progress = Callable[[float], None]


TYPES: dict[str, tuple[type, str]] = {
    "text": (str, "a text"),
    "values": (dict, "a mapping of numbers"),
    "analysis": (dict, "a mapping"),
    "edit": (dict, "a mapping"),
}
"""What the parts of a request are."""
NEEDED = {"look": ("text",), "edit": ("text", "edit"), "export": ("text",), "drag_begin": ("text",)}
"""Parts that cannot be left out."""


def work(request: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    """The answer to a request; any that is not for a frame of a drag ends the drag."""
    if request["do"] != "drag_frame":
        _end_drag()
    _check(request)
    return VERBS[request["do"]]({**request, "progress": progress or _unheard})


def _check(request: dict[str, Any]) -> None:
    """The page asks rightly; others get a sentence."""
    for part, (kind, word) in TYPES.items():
        given = request.get(part)
        if given is None and part not in NEEDED.get(request["do"], ()):
            continue
        if not isinstance(given, kind):
            raise ModelError(f"{request['do']}: {part} is {word}, not {str(given)[:40]}.")


def _unheard(part: float) -> None:
    """Nobody wants to know how far it is."""


def _found(module: str, name: str) -> Any:
    """Imported when it is asked for."""
    return getattr(import_module(f".{module}", __package__), name)


def _look(request: dict[str, Any]) -> dict[str, Any]:
    return _found("answers", "look")(request)


def _edit(request: dict[str, Any]) -> dict[str, Any]:
    return _found("edits", "edited")(request["text"], request["edit"])


def _export(request: dict[str, Any]) -> dict[str, Any]:
    return _found("exports", "export")(request)


# A drag lasts over many requests ----------------------------------------------------------------------

_drags: list[Any] = []
"""The drag of this process; at most one."""


def _drag_begin(request: dict[str, Any]) -> dict[str, Any]:
    names = ("text", "body", "point", "at", "folder", "poses")
    given = {name: request[name] for name in names if name in request}
    _drags.append(_found("dragging", "Drag")(**given))
    return {}


def _drag_frame(request: dict[str, Any]) -> dict[str, Any]:
    if not _drags:
        raise ModelError("nothing is dragged.")
    if request.get("point") is not None:
        _drags[0].to(request["point"])
    return _drags[0].frame(request["seconds"])


def _end_drag() -> None:
    while _drags:
        _drags.pop().end()


VERBS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "look": _look,
    "edit": _edit,
    "export": _export,
    "drag_begin": _drag_begin,
    "drag_frame": _drag_frame,
}
