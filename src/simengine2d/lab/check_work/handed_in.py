"""What a student hands in: one file with blocks, or a folder with a file for each array.

# one file: a name, then its numbers          a folder:  anna/Phi_q.csv  anna/M.csv  anna/solution.csv
at = 0.1
Phi_q
1, 0, 0.25
0, 1, -0.43
reactions
A, 12.1, 30.5
t, crank.phi
0, 0.5236
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ModelError, listed, unknown
from ...io.files import check_exist
from ...numerics.arrays import Floats
from ..number_files import lines_of, matrix, number, numbers
from .check import OTHER_NAMES, QUANTITIES, quantity_named

ENDINGS = (".csv", ".txt")
SETTINGS = ("at", "q", "qd", "coordinates")
REACTIONS, SOLUTION = "reactions", "solution"
NAMES = {name.lower(): name for name in (*QUANTITIES, *OTHER_NAMES)}

Lines = list[tuple[int, list[str]]]


@dataclass
class HandedIn:
    """The arrays, reactions and channels of one student, as options of `check`."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def quantities(self) -> list[str]:
        """What there is to check."""
        return [name for name in self.options if name not in SETTINGS]


def students_in(paths: list[Path]) -> list[Path]:
    """The files and folders, one for each student; a folder of such is opened."""
    check_exist(paths)
    found: list[Path] = []
    for path in paths:
        if path.is_dir() and not any(_is_part(entry) for entry in path.iterdir()):
            inside = [each for each in sorted(path.iterdir()) if not each.name.startswith(".")]
            found += [each for each in inside if each.is_dir() or each.suffix.lower() in ENDINGS]
        else:
            found.append(path)
    return found


def _is_part(path: Path) -> bool:
    """Phi_q.csv, reactions.csv, ..."""
    known = {*NAMES, REACTIONS, SOLUTION}
    return path.is_file() and path.suffix.lower() in ENDINGS and path.stem.lower() in known


def read_work(path: Path) -> HandedIn:
    """A file or a folder; raises a ModelError that names file and line."""
    work = HandedIn(path.stem if path.is_file() else path.name)
    if path.is_dir():
        parts = [each for each in sorted(path.iterdir()) if each.suffix.lower() in ENDINGS]
        for part in parts:
            _read_part(part, work.options)
    else:
        _read_file(path, work.options)
    if not work.quantities:
        raise ModelError(
            f"{path} holds nothing to check. Write the name of an array, such as Phi_q, and its rows below it; "
            f"names are {listed([*QUANTITIES, REACTIONS])}, or a line t and channels."
        )
    return work


def _read_part(path: Path, options: dict[str, Any]) -> None:
    """A file that is named after what it holds, or one with blocks."""
    stem, lines = path.stem.lower(), lines_of(path)
    first = next((row[0] for _, row in lines if row), "")
    if stem in NAMES and number(first) is not None:
        options[quantity_named(NAMES[stem])] = matrix(path, lines)
    elif stem == REACTIONS and first.lower() != REACTIONS:
        options[REACTIONS] = _reactions(path, [each for each in lines if each[1]])
    else:
        _read_file(path, options)


def _read_file(path: Path, options: dict[str, Any]) -> None:
    for line, head, rows in blocks(path):
        name = head[0]
        if name.lower() in NAMES:
            first = [(line, head[1:])] if head[1:] else []
            options[quantity_named(NAMES[name.lower()])] = matrix(path, [*first, *rows])
        elif name in SETTINGS:
            options[name] = _setting(path, line, head, rows)
        elif name.lower() == REACTIONS:
            options[REACTIONS] = _reactions(path, rows)
        elif len(head) > 1 and name.lower() in ("t", "time", "t [s]"):
            options[SOLUTION] = _solution(path, head, rows)
        else:
            known = (*QUANTITIES, *OTHER_NAMES, *SETTINGS, REACTIONS)
            raise ModelError(
                f"{path.name}, line {line}: '{name}' is no array. {unknown('array', name, known)}"
            )


def blocks(path: Path) -> Iterator[tuple[int, list[str], Lines]]:
    """A line that begins with a word, and the lines of numbers below it; inside reactions, lines begin with names."""
    head: tuple[int, list[str]] | None = None
    rows: Lines = []
    for line, row in lines_of(path):
        row = [cell.strip("=: ") for cell in row if cell.strip("=: ")]
        if not row:
            continue
        if number(row[0]) is None and not (head and head[1][0].lower() == REACTIONS and _is_reaction(row)):
            if head:
                yield *head, rows
            head, rows = (line, row), []
        elif head is None:
            raise ModelError(
                f"{path.name}, line {line}: numbers without a name; write Phi_q or M above them."
            )
        else:
            rows.append((line, row))
    if head:
        yield *head, rows


def _is_reaction(row: list[str]) -> bool:
    """A name that is no array's, and numbers."""
    named = row[0].lower() not in NAMES and row[0] not in SETTINGS
    return named and len(row) > 1 and all(number(cell) is not None for cell in row[1:])


def _reactions(path: Path, rows: Lines) -> dict[str, list[float]]:
    return {row[0]: numbers(path, line, row[1:]) for line, row in rows}


def _solution(path: Path, head: list[str], rows: Lines) -> dict[str, Floats]:
    table = np.atleast_2d(matrix(path, rows))
    if table.shape[1] != len(head):
        raise ModelError(f"{path.name}: {len(head)} columns are named, but there are {table.shape[1]}.")
    return dict(zip(head, table.T, strict=True))


def _setting(path: Path, line: int, head: list[str], rows: Lines) -> Any:
    if head[0] == "coordinates":
        return " ".join(head[1:])
    values = matrix(path, [*([(line, head[1:])] if head[1:] else []), *rows]).reshape(-1)
    return float(values[0]) if head[0] == "at" else values
