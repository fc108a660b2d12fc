"""The notebooks that come with the package: in a wheel inside it, in an editable install beside the sources."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

from ..errors import MissingFileError, unknown

PACKAGE = Path(__file__).parents[1]
PLACES = (PACKAGE / "examples", PACKAGE.parents[1] / "examples")


class Notebook(NamedTuple):
    """A notebook of marimo, which is a Python file, numbered in the order of learning."""

    path: Path

    @property
    def number(self) -> int:
        return int(self.path.stem.partition("_")[0])

    @property
    def name(self) -> str:
        """`first_mechanism`"""
        return self.path.stem.partition("_")[2]

    @property
    def for_jupyter(self) -> Path:
        return self.path.parent / "jupyter" / f"{self.path.stem}.ipynb"

    @property
    def title(self) -> str:
        """The first line of its docstring."""
        words = ast.get_docstring(ast.parse(self.path.read_text(encoding="utf-8"))) or self.name
        return words.splitlines()[0].rstrip(".")


def notebooks() -> list[Notebook]:
    """All of them, in the order of learning."""
    folder = next((place for place in PLACES if place.is_dir()), None)
    files = sorted(folder.glob("[0-9][0-9]_*.py")) if folder else []
    return [Notebook(path) for path in files if "marimo.App(" in path.read_text(encoding="utf-8")]


def notebook(wanted: str) -> Notebook:
    """By its number, its name, or both: `1`, `first_mechanism`, `01_first_mechanism`."""
    known = notebooks()
    word = wanted.strip().lower().replace("-", "_").removesuffix(".py")
    for each in known:
        if word in (each.name, each.path.stem) or (word.isdecimal() and int(word) == each.number):
            return each
    names = [each.name for each in known]
    raise MissingFileError(
        f"there is no notebook '{wanted}'. {unknown('notebook', word, names)} Numbers from 1 to {len(known)} will do."
    )
