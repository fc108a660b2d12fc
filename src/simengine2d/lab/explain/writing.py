"""Explanations as text and as a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from textwrap import wrap

import numpy as np

from ...answer import Rows
from ...numerics.arrays import Floats
from .explanation import Explanation, Line

WIDTH = 80  # columns of a terminal
SIZES = ("norm", "factor", "|correction|", "change", "residual", "correction", "error")
MOST_COLUMNS = 12  # of a matrix that is written as text
STYLE = """
.worksheet { font: 15px/1.5 system-ui, sans-serif; color-scheme: light dark; }
.worksheet h2 { font-size: 1.1rem; margin: 1.6rem 0 0.4rem; border-bottom: 1px solid #8888; }
.worksheet h3 { font-size: 1rem; margin: 1.2rem 0 0.3rem; }
.worksheet .equation { font-family: "STIX Two Math", "Cambria Math", Georgia, serif; margin: 0.3rem 1.5rem;
  white-space: pre-wrap; }
.worksheet .wide { overflow-x: auto; }
.worksheet .row { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }
.worksheet table { border-collapse: collapse; margin: 0.4rem 0 0.8rem; font-size: 0.9em;
  font-variant-numeric: tabular-nums; }
.worksheet caption { text-align: left; font-weight: 600; padding: 0.2rem 0; white-space: nowrap; }
.worksheet th, .worksheet td { padding: 0.1rem 0.6rem; text-align: right; border: 0; background: none; }
.worksheet th { font-weight: 400; opacity: 0.7; white-space: nowrap; }
.worksheet .matrix td { border-bottom: 1px solid #8883; }
.worksheet .zero { opacity: 0.4; }
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>%s</title>
<style>:root { color-scheme: light dark; } body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }</style></head>
<body>%s</body>
</html>
"""


def number(value: float) -> str:
    """Six digits; the sizes of residuals as powers of ten."""
    return "" if np.isnan(value) else f"{value + 0.0:.6g}"  # not -0


def sized(name: str, value: float) -> str:
    """In the table of lines, residuals and what they shrink by need two digits, not six."""
    if np.isnan(value):
        return ""
    return f"{value:.2e}" if name in SIZES else f"{value:.8g}"


# Text -------------------------------------------------------------------------------------------------


def as_text(explanation: Explanation) -> str:
    """Title, equations, and the table of the lines."""
    return "\n\n".join("\n".join(_short(each)) for each in explanation.every)


def whole_text(explanation: Explanation) -> str:
    """The same with every vector and matrix."""
    blocks = []
    for each in explanation.every:
        blocks += ["\n".join(_short(each))]
        for line in each.lines:
            blocks += [f"{line.name}", *(_array_text(each, *part) for part in line.arrays.items())]
        blocks += [_array_text(each, name, np.atleast_1d(value)) for name, value in each.found.items()]
    return "\n\n".join(blocks) + "\n"


def _short(explanation: Explanation) -> Iterable[str]:
    yield from wrap(explanation.title, WIDTH)
    for equation in explanation.equations:
        yield from wrap(equation.text, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
    names, rows = table_of_lines(explanation)
    if rows:
        yield ""
        yield from Rows(names, rows).lines()
    for name, value in explanation.found.items():
        array = np.asarray(value)
        if array.ndim < 2:
            yield from _wrapped(f"{name} = ", _entries_text(explanation, name, np.atleast_1d(array)))
    for note in explanation.notes:
        yield from wrap(note, WIDTH)


def table_of_lines(explanation: Explanation) -> tuple[list[str], list[list[str]]]:
    """The numbers of all lines, each in the column of its name; the entries of vectors too where there is room."""
    wide = _table_of([(line.name, _with_entries(explanation, line)) for line in explanation.lines])
    width = sum(max(map(len, column)) + 2 for column in zip(wide[0], *wide[1], strict=True))
    if width <= WIDTH:
        return wide
    return _table_of([(line.name, line.numbers) for line in explanation.lines])


def _table_of(lines: Sequence[tuple[str, dict[str, float]]]) -> tuple[list[str], list[list[str]]]:
    names = list(dict.fromkeys(name for _, numbers in lines for name in numbers))
    rows = [[line, *(sized(name, numbers.get(name, np.nan)) for name in names)] for line, numbers in lines]
    return ["", *names], rows


def _with_entries(explanation: Explanation, line: Line) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, value in line.values.items():
        array = np.asarray(value, dtype=float)
        if array.size == 1:
            numbers[name] = float(array.reshape(-1)[0])
        elif array.ndim == 1:
            entries = explanation.entries(name, array.size)
            numbers |= {f"{name} {entry}": float(v) for entry, v in zip(entries, array, strict=True)}
    return numbers


def _entries_text(explanation: Explanation, name: str, array: Floats) -> list[str]:
    names = explanation.names.get(name, ())
    if len(names) != array.size:
        return [number(value) for value in array]
    return [f"{entry} {number(value)}" for entry, value in zip(names, array, strict=True)]


def _wrapped(head: str, words: Sequence[str]) -> Iterable[str]:
    line = head
    for i, word in enumerate(words):
        word = word + ("," if i + 1 < len(words) else "")
        if len(line) + len(word) > WIDTH and line.strip():
            yield line.rstrip()
            line = " " * len(head)
        line += word + " "
    yield line.rstrip()


def _array_text(explanation: Explanation, name: str, array: Floats) -> str:
    if array.ndim < 2:
        return "\n".join(_wrapped(f"{name} = ", _entries_text(explanation, name, array)))
    rows, head = labels(explanation, name, array)
    shown = [["", *head], *([row, *map(number, values)] for row, values in zip(rows, array, strict=True))]
    parts = []
    for first in range(1, len(shown[0]), MOST_COLUMNS):
        widths = [max(len(cell) for cell in column) for column in zip(*shown, strict=True)]
        kept = [0, *range(first, min(first + MOST_COLUMNS, len(shown[0])))]
        parts.append("\n".join("  ".join(row[k].rjust(widths[k]) for k in kept) for row in shown))
    return f"{name} =\n" + "\n\n".join(parts)


def labels(explanation: Explanation, name: str, array: Floats) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the rows and of the columns of a matrix."""
    columns = explanation.columns.get(name, ())
    if len(columns) != array.shape[1]:
        columns = tuple(str(i + 1) for i in range(array.shape[1]))
    return explanation.entries(name, array.shape[0]), columns


# HTML -------------------------------------------------------------------------------------------------


def page(explanation: Explanation) -> str:
    """A page that needs nothing from elsewhere."""
    return PAGE % (escape(explanation.title), as_html(explanation))


def as_html(explanation: Explanation) -> str:
    sections = "".join(_html_section(each) for each in explanation.every)
    return f'<style>{STYLE}</style><div class="worksheet">{sections}</div>'


def _html_section(explanation: Explanation) -> str:
    parts = [f"<h2>{escape(explanation.title)}</h2>"]
    parts += [
        f'<div class="equation">{escape(_signs(equation.text))}</div>' for equation in explanation.equations
    ]
    names, rows = table_of_lines(explanation)
    if rows:
        parts.append(_html_table("", names, rows, ""))
    for line in explanation.lines:
        if line.arrays:
            arrays = "".join(_html_array(explanation, *part) for part in line.arrays.items())
            parts.append(f'<h3>{escape(line.name)}</h3><div class="row">{arrays}</div>')
    if explanation.found:
        arrays = "".join(
            _html_array(explanation, name, np.atleast_1d(value)) for name, value in explanation.found.items()
        )
        parts.append(f'<h3>Result</h3><div class="row">{arrays}</div>')
    parts += [f"<p>{escape(note)}</p>" for note in explanation.notes]
    return "".join(parts)


SIGNS = {
    "Phi": "Φ", "Psi": "Ψ", "lam": "λ", "dlam": "Δλ", "da": "Δa", "dq": "Δq", "beta": "β", "gamma": "γ", "nu": "ν",
    "mu": "μ", "qd": "q̇", "qdd": "q̈", "w": "ω", "dY": "ΔY", "<-": "←", "^T": "ᵀ", "^2": "²",
}  # fmt: skip
WORDS = re.compile(r"<-|\^T|\^2|(?<![A-Za-z])[A-Za-z]+(?=\d?(?![A-Za-z]))")


def _signs(text: str) -> str:
    """Greek letters, dots and powers in the place of their names."""
    return WORDS.sub(lambda word: SIGNS.get(word[0], word[0]), text)


def _html_array(explanation: Explanation, name: str, array: Floats) -> str:
    if array.ndim < 2:
        rows = [
            [entry, number(v)] for entry, v in zip(explanation.entries(name, array.size), array, strict=True)
        ]
        return _html_table(name, [], rows, "matrix")
    row_names, columns = labels(explanation, name, array)
    rows = [[entry, *map(number, values)] for entry, values in zip(row_names, array, strict=True)]
    return _html_table(name, ["", *columns], rows, "matrix")


def _html_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], kind: str) -> str:
    cell: Callable[[str], str] = lambda text: (
        f'<td class="zero">{text}</td>' if text == "0" else f"<td>{text}</td>"
    )
    top = f"<caption>{escape(caption)}</caption>" if caption else ""
    if head:
        top += f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in head)}</tr>"
    body = "".join(
        f"<tr><th>{escape(first)}</th>{''.join(map(cell, map(escape, others)))}</tr>"
        for first, *others in rows
    )
    return f'<div class="wide"><table class="{kind}">{top}{body}</table></div>'
