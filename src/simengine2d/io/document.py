"""Document: plain data from a text file that remembers where each part stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import ModelError

Path = tuple[str | int, ...]
"""The keys that lead to a value: ("joints", "A", "b")."""

DEEPEST = 60
"""Levels of nesting that are read; a mechanism needs six, and an endless bracket must not end the interpreter."""


@dataclass
class Document:
    """The data of a file, the line of every key and list item, and the problems that do not stop the reading."""

    name: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    arithmetic: dict[Path, str] = field(default_factory=dict)
    """Numbers that were written as arithmetic, where the reader was told to allow it."""

    def where(self, path: Sequence[str | int] = ()) -> str:
        """`slider_crank.yaml, line 14`; what is missing is sought where it should stand."""
        path = tuple(path)
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}, line {self.lines[path]}" if path else self.name

    def complain(self, path: Sequence[str | int], sentence: str) -> None:
        """Keep a problem; the reader goes on and tells all of them at once."""
        self.problems.append(f"{self.where(path)}: {sentence}")

    def add(self, mapping: dict[str, Any], path: Path, line: int) -> bool:
        """Note the line of a key; False where the key stands there already."""
        key = path[-1]
        if key in mapping:
            inside = " of ".join(f"'{part}'" for part in reversed(path[:-1])) or "the file"
            first = self.lines[path]
            self.problems.append(
                f"{self.name}, line {line}: '{key}' stands twice in {inside}, first in line {first}. "
                "Rename one of them, or delete it."
            )
            return False
        self.lines[path] = line
        return True


def syntax_error(name: str, line: int, column: int, sentence: str) -> ModelError:
    """The text cannot be read on."""
    return ModelError(f"{name}, line {line}, column {column}: {sentence}")
