"""Files of numbers as people and programs write them: commas, semicolons, tabs or blanks between them.

With semicolons, a comma is a decimal point. Lines that begin with # or % are comments.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..errors import ModelError
from ..io.files import read_text
from ..numerics.arrays import Floats

COMMENTS = ("#", "%", "//")


def lines_of(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of each line that is no comment, with its number; an empty line has none."""
    lines = []
    for number, text in enumerate(read_text(path).split("\n"), 1):
        text = text.strip()
        if not text.startswith(COMMENTS):
            lines.append((number, cells(text)))
    return lines


def cells(text: str) -> list[str]:
    """The cells of a line, without the empty ones at its end that spreadsheets add."""
    if ";" in text:
        parts = text.replace(",", ".").split(";")
    elif "," in text or "\t" in text:
        parts = re.split(r"[,\t]", text)
    else:
        parts = text.split()
    found = [part.strip().strip('"').strip() for part in parts]
    while found and not found[-1]:
        found.pop()
    return found


def number(cell: str) -> float | None:
    """A number; None for a word."""
    try:
        return float(cell.replace("−", "-"))
    except ValueError:
        return None


def numbers(path: Path, line: int, row: list[str]) -> list[float]:
    """A row of numbers."""
    values = []
    for cell in row:
        value = number(cell)
        if value is None:
            raise ModelError(f"{path.name}, line {line}: '{cell}' is not a number.")
        values.append(value)
    return values


def matrix(path: Path, rows: list[tuple[int, list[str]]]) -> Floats:
    """Rows of the same length."""
    values = [(line, numbers(path, line, row)) for line, row in rows if row]
    if not values:
        raise ModelError(f"{path.name} holds no numbers.")
    width = len(values[0][1])
    for line, row in values:
        if len(row) != width:
            raise ModelError(
                f"{path.name}, line {line} has {len(row)} numbers, line {values[0][0]} has {width}."
            )
    array = np.array([row for _, row in values])
    return array[0] if len(array) == 1 else array


def read_table(path: Path) -> dict[str, Floats]:
    """Columns by the names of the first line."""
    (line, names), *rows = [each for each in lines_of(path) if each[1]] or [(0, [])]
    if not names or all(number(name) is not None for name in names):
        raise ModelError(f"{path.name}, line {line}: the first line names the columns: t, then channels.")
    table = np.atleast_2d(matrix(path, rows))
    if table.shape[1] != len(names):
        raise ModelError(f"{path.name}: {len(names)} names in line {line}, but {table.shape[1]} columns.")
    return dict(zip(names, table.T, strict=True))
