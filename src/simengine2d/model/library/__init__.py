"""The sample mechanisms that come with the package; each can be given by name in place of a model file."""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from ...errors import ModelError, unknown

ENDING = ".yaml"


def names() -> list[str]:
    """The names of the mechanisms, sorted."""
    return sorted(_files())


def text(name: str) -> str:
    """The text of the model file."""
    return _find(name).read_text(encoding="utf-8")


def description(name: str) -> str:
    """The comment at the head of the file, or the model's own name."""
    comments: list[str] = []
    for line in text(name).splitlines():
        if not line.startswith("#") and (comments or line.strip()):
            break
        comments += [line.lstrip("# ").strip()] if line.strip("# ") else []
    return " ".join(comments) or _title(name)


def file(name: str) -> AbstractContextManager[Path]:
    """The mechanism as a file on disk, during the context."""
    return as_file(_find(name))


def copy(name: str, folder: Path) -> Path:
    """Write a copy into the folder; an existing file is not overwritten."""
    target = folder / f"{name}{ENDING}"
    content = text(name)
    try:
        with target.open("x", encoding="utf-8") as new:
            new.write(content)
    except FileExistsError:
        sentence = f"{target} already exists and was not overwritten. Move it, or give another folder."
        raise ModelError(sentence) from None
    return target


def is_shipped(name: str) -> bool:
    return name in _files()


def _files() -> dict[str, Traversable]:
    folder = files(__name__)
    if not folder.is_dir():
        return {}
    entries = [entry for entry in folder.iterdir() if entry.name.endswith(ENDING)]
    return {entry.name.removesuffix(ENDING): entry for entry in entries}


def _find(name: str) -> Traversable:
    known = _files()
    if name not in known:
        hint = unknown("mechanism", name, sorted(known))
        raise ModelError(f"there is no shipped mechanism '{name}'. {hint}")
    return known[name]


def _title(name: str) -> str:
    for line in text(name).splitlines():
        if line.startswith("name:"):
            return line.removeprefix("name:").strip().strip("'\"")
    return ""
