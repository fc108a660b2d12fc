"""Equations as LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from .layout import Formula, PageLayout
from .letters import DIGITS_BELOW, GREEK_NAMES, Letter, greek_command, without_accent

if TYPE_CHECKING:
    from .equations import Equations

DOCUMENT = r"""\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath,amsbsy,graphicx}
\setlength{\parindent}{0pt}
\setcounter{MaxMatrixCols}{60}
\allowdisplaybreaks
\begin{document}
\section*{%s}
%s
\end{document}
"""


FITTED = (
    r"\providecommand{\fitted}[1]{\resizebox{\ifdim\width>0.9\linewidth0.9\linewidth\else\width\fi}"
    r"{!}{$\displaystyle #1$}}"
)
"""A formula, made smaller where it is wider than the page."""


def document(equations: Equations) -> str:
    """A file for pdflatex."""
    return DOCUMENT % (plain(equations.title), fragment(equations))


def fragment(equations: Equations) -> str:
    """Headings and formulas, for a document of one's own; needs amsmath and graphicx."""
    layout = PageLayout(equations)
    parts = [FITTED, *(plain(sentence) + "\n" for sentence in equations.remarks)]
    for section in layout.sections:
        lines = " \\\\\n".join(_line(_fitted(f, layout.letters), layout.letters) for f in section.formulas)
        head = f"\\subsection*{{{plain(section.title)}}}\n{plain(section.sentence)}"
        parts.append(f"{head}\n\\begin{{align*}}\n{lines}\n\\end{{align*}}\n")
    if equations.legend:
        parts.append(_legend(equations, layout.letters))
    return "\n".join(parts)


def summary(equations: Equations) -> str:
    """One formula with all of it, for a notebook."""
    layout = PageLayout(equations)
    names = ("M", "QA", "Phi", "Phi_q", "nu", "gamma")
    formulas = [[layout.symbol(layout.letter(name)), "=", getattr(equations, name)] for name in names]
    lines = " \\\\\n".join(_line(formula, layout.letters) for formula in formulas if formula[2].shape[0])
    return f"$$\\begin{{aligned}}\n{lines}\n\\end{{aligned}}$$"


def latex(expression: sp.Basic, letters: dict[sp.Symbol, Letter]) -> str:
    """Rows with fractions are further apart."""
    names = {symbol: letter.latex() for symbol, letter in letters.items()}
    text = str(sp.latex(expression, symbol_names=names, mat_str="matrix"))
    return text.replace(r"\\", r"\\[4pt]") if r"\frac" in text else text


def _fitted(formula: Formula, letters: dict[sp.Symbol, Letter]) -> Formula:
    """With matrices that are no wider than the page."""
    return [
        rf"\fitted{{{latex(part, letters)}}}" if isinstance(part, sp.MatrixBase) else part for part in formula
    ]


def _line(formula: Formula, letters: dict[sp.Symbol, Letter]) -> str:
    signs = {"=": "&="}
    return " ".join(signs.get(p, p) if isinstance(p, str) else latex(p, letters) for p in formula)


def _legend(equations: Equations, letters: dict[sp.Symbol, Letter]) -> str:
    rows = [
        f"${letters[entry.symbol].latex()}$ & {entry.value:.10g} & {plain(entry.meaning)} \\\\"
        for entry in equations.legend
    ]
    lines = "\n".join(rows)
    return f"\\subsection*{{Numbers}}\n\\begin{{tabular}}{{lll}}\n{lines}\n\\end{{tabular}}\n"


SIGNS = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{sign: "\\" + sign for sign in "_%#&${}"},
    **{chr(sign): f"$_{digit}$" for sign, digit in DIGITS_BELOW.items()},
}


def plain(text: str) -> str:
    """Words between formulas."""
    return "".join(map(_plain_sign, text))


def _plain_sign(sign: str) -> str:
    bare = without_accent(sign)
    return f"${greek_command(GREEK_NAMES[bare])}$" if bare in GREEK_NAMES else SIGNS.get(sign, sign)
