"""Explanations as LaTeX: the equations, the table of the lines, every vector and matrix in the letters of the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from ...numerics.arrays import Floats
from ...symbolic.latex_text import DOCUMENT, FITTED, plain
from ...symbolic.letters import COORDINATE_LETTERS, Letter, coordinate_letter
from .explanation import Explanation, Line
from .writing import labels, number, table_of_lines

MOST_UPRIGHT = 6  # columns whose names are not turned
SPACED = r"\vphantom{\bigl(}"  # letters with signs above and below do not touch those of the next row
QUANTITIES = {
    "Phi": r"\Phi",
    "Phi_q": r"\Phi_q",
    "Psi": r"\Psi",
    "nu": r"\nu",
    "gamma": r"\gamma",
    "lam": r"\lambda",
    "qd": r"\dot q",
    "qdd": r"\ddot q",
    "Z^T QA": "Z^T Q^A",
    "Z^T K Z": "Z^T K Z",
    "y1": "y_1",
    "y predicted": "y^*",
    "f predicted": "f^*",
}
MULTIPLIERS = {"lam": "lambda", "mu": "mu"}
OF_ROWS = ("Phi", "Phi_q", "Psi", "nu", "gamma", "Jacobian", "residual")
"""What has an entry for each equation rather than for each unknown."""
ENTRY = re.compile(
    r"(?:(?P<kind>lam|mu|e|balance|slip|rate) )?(?P<owner>.+)\.(?P<label>[^.]+?)(?P<dots>d{0,2})"
    r"(?: \((?P<stage>\d+)\))?"
)
COORDINATES = ("x", "y", "phi", "s", "ux", "uy", *COORDINATE_LETTERS)


def latex_document(explanation: Explanation) -> str:
    """A file for pdflatex."""
    return DOCUMENT % (plain(explanation.title), _preamble_and(_sections(explanation)))


def as_latex(explanation: Explanation) -> str:
    """For a document of one's own; needs amsmath and graphicx."""
    return _preamble_and(_sections(explanation))


def _preamble_and(sections: Iterable[str]) -> str:
    return "\n\n".join([FITTED, *sections])


def _sections(explanation: Explanation) -> Iterable[str]:
    for each in explanation.every:
        if each is not explanation:
            yield f"\\subsection*{{{plain(each.title)}}}"
        yield from _section(each)


def _section(explanation: Explanation) -> Iterable[str]:
    if explanation.equations:
        equations = "\\\\\n".join(equation.latex for equation in explanation.equations)
        yield f"\\begin{{gather*}}\n{equations}\n\\end{{gather*}}"
    names, rows = table_of_lines(explanation)
    if rows:
        yield _table(names, rows)
    for line in explanation.lines:
        if line.arrays:
            yield _line(explanation, line)
    if explanation.found:
        found = (_array(explanation, name, np.atleast_1d(value)) for name, value in explanation.found.items())
        yield _side_by_side("result", found)
    for note in explanation.notes:
        yield f"\\par\\medskip {plain(note)}"


# Tables, vectors and matrices -------------------------------------------------------------------------


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" & ".join(map(plain, names)) + r" \\ \hline"]
    lines += [" & ".join(map(_cell, row)) + r" \\" for row in rows]
    body = "\n".join(lines)
    return f"\\begin{{tabular}}{{l{'r' * (len(names) - 1)}}}\n{body}\n\\end{{tabular}}"


def _cell(text: str) -> str:
    """A number, or the name of its line."""
    return f"${_power(text)}$" if re.fullmatch(r"[-+.\d]+(e[-+]\d+)?", text) else plain(text)


def _line(explanation: Explanation, line: Line) -> str:
    return _side_by_side(line.name, (_array(explanation, *part) for part in line.arrays.items()))


def _side_by_side(title: str, arrays: Iterable[str]) -> str:
    """As far as the page is wide."""
    return "\n".join(
        [rf"\paragraph{{{plain(title)}}}\mbox{{}}\par\nobreak", r"{\raggedright", *arrays, r"\par}"]
    )


def _array(explanation: Explanation, name: str, array: Floats) -> str:
    """name = ( ), with the names of rows before it and those of columns above it."""
    rows = array if array.ndim == 2 else array[:, None]
    before, above = labels(explanation, name, rows)
    head = _head(above) if array.ndim == 2 else ""
    lines = [head or "&"]
    for entry, values in zip(before, rows, strict=True):
        lines.append(
            " & ".join([SPACED + entry_letter(entry, name), *(_power(number(value)) for value in values)])
        )
    matrix = r" \cr ".join(lines)
    return rf"\fitted{{{quantity(name)} = \bordermatrix{{{matrix} \cr}}}}\hspace{{2em}}"


def _head(columns: Sequence[str]) -> str:
    names = [entry_letter(column) for column in columns]
    if len(columns) > MOST_UPRIGHT:
        names = [rf"\rotatebox{{90}}{{${name}$}}" for name in names]
    return " & ".join(["", *names])


def _power(text: str) -> str:
    """1.2e-07 as a product with a power of ten."""
    mantissa, e, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else text


# Letters ----------------------------------------------------------------------------------------------


def quantity(name: str) -> str:
    """A letter where it has one, else its name."""
    letter = QUANTITIES.get(name, name)
    return letter if name in QUANTITIES or len(name) == 1 else rf"\text{{{plain(name)}}}"


def entry_letter(name: str, of: str = "") -> str:
    r"""`bar.xdd` as \ddot x_bar, `lam pin.x` as lambda with x below and pin above; names of equations as they are."""
    entry = ENTRY.fullmatch(name)
    if entry is None:
        return rf"\text{{{plain(name)}}}"
    kind, owner, label = entry["kind"] or ("lam" if of == "lam" else ""), entry["owner"], entry["label"]
    stage = rf"\text{{ ({entry['stage']})}}" if entry["stage"] else ""
    if kind in MULTIPLIERS:
        return Letter(MULTIPLIERS[kind], label, owner).latex() + stage
    if kind == "rate" or label not in COORDINATES or (of in OF_ROWS and not kind):
        return rf"\text{{{plain(name)}}}"
    dots = len(entry["dots"]) + {"qd": 1, "qdd": 2}.get(of, 0)
    word = rf"\text{{{kind} }}" if kind else ""
    return word + coordinate_letter(f"{owner}.{label}", dots).latex() + stage
