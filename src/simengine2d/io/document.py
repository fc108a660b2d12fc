"""Document: plain data from a text file that remembers where each part stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import ModelError, Path, Problem

DEEPEST = 60
"""Levels of nesting that are read; a mechanism needs six, and a bottomless file must not end Python."""


@dataclass
class Document:
    """The data of a file, the line of every key, and the problems that did not stop the reading."""

    name: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    found: list[Problem] = field(default_factory=list)
    """Problems with their lines, which are not yet told in words."""
    arithmetic: dict[Path, str] = field(default_factory=dict)
    """Numbers that were written as arithmetic, where the reader was told to allow it."""

    @property
    def problems(self) -> list[Problem]:
        """What was found so far, from the top of the file to its end."""
        in_order = sorted(self.found, key=lambda problem: problem.line)
        return [problem.begun(f"{self.at(problem.line)}: ") for problem in in_order]

    def line(self, path: Sequence[str | int] = ()) -> int:
        """The line of a key; what is missing is sought where it should stand; 0 for the whole file."""
        path = tuple(path)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines[path] if path else 0

    def at(self, line: int) -> str:
        """`slider_crank.yaml, line 14`"""
        return f"{self.name}, line {line}" if line else self.name

    def where(self, path: Sequence[str | int] = ()) -> str:
        return self.at(self.line(path))

    def complain(self, path: Sequence[str | int], sentence: str) -> None:
        """Keep a problem; the reader goes on and tells all of them at once."""
        self.found.append(Problem(sentence, tuple(path), self.line(path)))

    def add(self, mapping: dict[str, Any], path: Path, line: int) -> bool:
        """Note the line of a key; False where the key stands there already."""
        key = path[-1]
        if key in mapping:
            inside = " of ".join(f"'{part}'" for part in reversed(path[:-1])) or "the file"
            first = self.lines[path]
            sentence = (
                f"'{key}' stands twice in {inside}, first in line {first}. Rename one of them, or delete it."
            )
            self.found.append(Problem(sentence, path, line))
            return False
        self.lines[path] = line
        return True


def syntax_error(name: str, line: int, column: int, sentence: str) -> ModelError:
    """The text cannot be read on."""
    return ModelError(f"{name}, line {line}, column {column}: {sentence}")
