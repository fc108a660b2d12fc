"""The sample mechanisms that come with the package; each can be given by name in place of a model file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from html import escape
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from textwrap import fill

from ...errors import MissingFileError, ModelError, unknown

ENDING = ".yaml"
COLUMNS = 80


class ShippedModels(Mapping[str, str]):
    """The shipped mechanisms: names, each with a sentence about it."""

    def __init__(self) -> None:
        self._sentences = {name: description(name) for name in names()}

    def __getitem__(self, name: str) -> str:
        return self._sentences[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sentences)

    def __len__(self) -> int:
        return len(self._sentences)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0) + 2
        indent = " " * width
        lines = [
            fill(f"{name:{width}}{words}", COLUMNS, subsequent_indent=indent, break_on_hyphens=False)
            for name, words in self.items()
        ]
        return "\n".join([*lines, f"{len(self)} mechanisms; se.load(name) reads one."])

    def _repr_html_(self) -> str:
        cell = (
            '<td style="text-align: left; vertical-align: top; padding-right: 1em">'  # notebooks set numbers
        )
        rows = "\n".join(
            f"<tr>{cell}<code>{name}</code></td>{cell}{escape(words)}</td></tr>"
            for name, words in self.items()
        )
        return f"<table>\n{rows}\n</table>\n<div><code>se.load(name)</code> reads one.</div>"


def models() -> ShippedModels:
    """The mechanisms that come with the package, each with a sentence: `se.load("four_bar")` reads one."""
    return ShippedModels()


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
        raise MissingFileError(f"there is no shipped mechanism '{name}'. {hint}")
    return known[name]


def _title(name: str) -> str:
    for line in text(name).splitlines():
        if line.startswith("name:"):
            return line.removeprefix("name:").strip().strip("'\"")
    return ""
