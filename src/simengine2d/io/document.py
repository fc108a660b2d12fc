"""Document: plain data from a text file that remembers the line of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    collected: list[Problem] = field(default_factory=list)
    """Problems with their lines, not yet reported."""
    arithmetic: dict[Path, str] = field(default_factory=dict)
    """Numbers that were written as arithmetic, where the reader allows it."""

    @property
    def problems(self) -> list[Problem]:
        """All problems so far, from the top of the file to its end."""
        in_order = sorted(self.collected, key=lambda problem: problem.line)
        return [problem.begun(f"{self.at(problem.line)}: ") for problem in in_order]

    def line(self, path: Sequence[str | int] = ()) -> int:
        """The line of a key; a missing one has that of its parent; 0 is the whole file."""
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
        """Collect a problem; the reader goes on and reports all of them at once."""
        self.collected.append(Problem(sentence, tuple(path), self.line(path)))

    def located(self, error: ModelError, paths: Mapping[str, Path] | None = None) -> ModelError:
        """The same problems with their lines; `paths` says where elements are that have another name in the file."""
        return ModelError([self._located(problem, paths or {}) for problem in error.problems])

    def _located(self, problem: Problem, paths: Mapping[str, Path]) -> Problem:
        elsewhere = paths.get(problem.element or "")
        path = problem.path if elsewhere is None else (*elsewhere, *problem.path[2:])
        return Problem(f"{self.where(path)}: {problem}", problem.path, self.line(path))

    def add(self, mapping: dict[str, Any], path: Path, line: int) -> bool:
        """Note the line of a key; False where the key is there already."""
        key = path[-1]
        if key in mapping:
            inside = " of ".join(f"'{part}'" for part in reversed(path[:-1])) or "the file"
            first = self.lines[path]
            sentence = (
                f"'{key}' occurs twice in {inside}, first in line {first}. Rename one of them, or delete it."
            )
            self.collected.append(Problem(sentence, path, line))
            return False
        self.lines[path] = line
        return True


def syntax_error(name: str, line: int, column: int, sentence: str) -> ModelError:
    """The error of a text that cannot be read any further."""
    return ModelError(f"{name}, line {line}, column {column}: {sentence}")
