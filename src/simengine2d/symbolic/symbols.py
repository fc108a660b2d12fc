"""Letters: how a symbol is printed, and the table of all symbols of a set of equations with their numbers.

Notations are the letters of four textbooks. The signs stay those of this package, M qdd + Phi_q^T lam = QA.
"""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

import sympy as sp
from sympy.printing.latex import tex_greek_dictionary
from sympy.printing.pretty.pretty_symbology import greek_unicode

from ..errors import ModelError, unknown

GREEK = set(greek_unicode)
LATEX_SIGNS = {
    "\\": r"\backslash ",
    "_": r"\_",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "^": r"\hat{\ }",
    "~": r"\sim ",
    " ": r"\ ",
}
DOTS = {1: "\u02d9", 2: "\u00a8"}


class Letter(NamedTuple):
    """A base such as "x" or "phi" with a sign before it, words below and above, and dots for time derivatives."""

    base: str
    below: str = ""
    above: str = ""
    dots: int = 0
    sign: str = ""
    bold: bool = False
    """Vectors and matrices are."""

    def latex(self) -> str:
        base = _latex_base(self.base)
        base = rf"\boldsymbol{{{base}}}" if self.bold else base
        if self.dots:
            base = rf"\{'d' * self.dots}ot{{{base}}}"
        below = f"_{{{_latex_word(self.below)}}}" if self.below else ""
        above = f"^{{{_latex_word(self.above)}}}" if self.above else ""
        return self.sign + base + below + above

    def mathml(self) -> str:
        base = greek_unicode.get(self.base, escape(self.base))
        if self.bold:
            base = f'<mi mathvariant="normal" class="bold">{base}</mi>'
        elif len(base) > 1:  # a word, which should not run into the next letter
            base = f'<mrow><mi>{base}</mi><mspace width="0.17em"/></mrow>'
        else:
            base = f"<mi>{base}</mi>"
        if self.dots:
            base = f'<mover accent="true">{base}<mo stretchy="false">{DOTS[self.dots]}</mo></mover>'
        below, above = f"<mi>{escape(self.below)}</mi>", f"<mi>{escape(self.above)}</mi>"
        if self.below and self.above:
            base = f"<msubsup>{base}{below}{above}</msubsup>"
        elif self.below:
            base = f"<msub>{base}{below}</msub>"
        elif self.above:
            base = f"<msup>{base}{above}</msup>"
        return f"<mrow><mo>{self.sign}</mo>{base}</mrow>" if self.sign else base

    def of(self, *groups: str) -> Letter:
        """The part that belongs to a body, or to two."""
        return self._replace(below=", ".join(part for part in (self.below, *groups) if part))

    def at(self, joint: str) -> Letter:
        """The part that belongs to a joint."""
        return self._replace(above=joint or self.above)


class LegendEntry(NamedTuple):
    """A symbol of the legend."""

    symbol: sp.Symbol
    value: float
    meaning: str


class SymbolTable:
    """Makes symbols with names that differ, and stores their letters and numbers."""

    def __init__(self) -> None:
        self.letters: dict[sp.Symbol, Letter] = {}
        self.legend: dict[sp.Symbol, LegendEntry] = {}

    def new(self, name: str, letter: Letter, **assumptions: bool) -> sp.Symbol:
        """A symbol by a name that is one word; a name that is taken gets a number."""
        plain = re.sub(r"\W+", "_", name)
        taken = {symbol.name for symbol in self.letters}
        unique, number = plain, 1
        while unique in taken:
            number += 1
            unique = f"{plain}_{number}"
        if number > 1:
            letter = letter.of(str(number))
        symbol = sp.Symbol(unique, **(assumptions or {"real": True}))
        self.letters[symbol] = letter
        return symbol

    def constant(self, name: str, letter: Letter, value: float, meaning: str) -> sp.Symbol:
        """A symbol for a number."""
        sign = {"positive": True} if value > 0.0 else {"real": True}
        symbol = self.new(name, letter, **sign)
        self.legend[symbol] = LegendEntry(symbol, float(value), meaning)
        return symbol

    @property
    def numbers(self) -> dict[sp.Symbol, sp.Expr]:
        """The meaning of each symbol of the legend."""
        return {symbol: as_number(entry.value) for symbol, entry in self.legend.items()}


def letter_of(name: str, dots: int = 0) -> Letter:
    """A name with a word after `_` as a letter with that word below."""
    base, _, below = name.partition("_")
    return Letter(base, below, dots=dots) if base else Letter(name, dots=dots)


def as_number(value: float) -> sp.Expr:
    """Whole numbers stay whole."""
    return sp.Integer(int(value)) if float(value).is_integer() and abs(value) < 1e15 else sp.Float(value)


def _latex_base(base: str) -> str:
    if base in GREEK:
        return str(tex_greek_dictionary.get(base, rf"\{base}"))
    return base if len(base) == 1 and base.isalnum() else rf"\mathrm{{{_latex_signs(base)}}}\,"


def _latex_word(words: str) -> str:
    """Words below or above a letter; those of one letter in italics."""
    parts = words.split(", ")
    return ",".join(
        _latex_base(w) if w in GREEK else w if len(w) == 1 and w.isalnum() else _upright(w) for w in parts
    )


def _upright(word: str) -> str:
    return rf"\mathrm{{{_latex_signs(word)}}}"


def _latex_signs(text: str) -> str:
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in text)


# Notations --------------------------------------------------------------------------------------------


class Notation(NamedTuple):
    """`letters` gives for each of our names the book's, as a name in Python and as it is printed."""

    book: str
    letters: dict[str, tuple[str, Letter]]
    remark: str = ""

    def letter(self, quantity: str) -> Letter:
        """As it is printed: a vector or a matrix, in bold."""
        return self.letters[quantity][1]._replace(bold=True)

    def ours(self, name: str) -> str | None:
        """Our name of what the book calls `name`."""
        return next((ours for ours, (theirs, _) in self.letters.items() if theirs == name), None)


def _letters(**changes: tuple[str, Letter]) -> dict[str, tuple[str, Letter]]:
    """Haug's letters with those that a book has instead."""
    return {
        "q": ("q", Letter("q")),
        "M": ("M", Letter("M")),
        "QA": ("QA", Letter("Q", above="A")),
        "Phi": ("Phi", Letter("Phi")),
        "Phi_q": ("Phi_q", Letter("Phi", "q")),
        "nu": ("nu", Letter("nu")),
        "gamma": ("gamma", Letter("gamma")),
        "lam": ("lam", Letter("lambda")),
    } | changes


NOTATIONS = {
    "haug": Notation(
        "Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems (1989)",
        _letters(),
    ),
    "nikravesh": Notation(
        "Nikravesh, Planar Multibody Dynamics (2008)",
        _letters(
            q=("c", Letter("c")),
            QA=("h_a", Letter("h", above="(a)")),
            Phi_q=("D", Letter("D")),
            nu=("minus_Phi_t", Letter("Phi", "t", sign="-")),
        ),
        "The book's multipliers have the opposite sign: there the reactions are +D^T lambda.",
    ),
    "garcia_de_jalon": Notation(
        "García de Jalón and Bayo, Kinematic and Dynamic Simulation of Multibody Systems (1994)",
        _letters(QA=("Q", Letter("Q")), nu=("b", Letter("b")), gamma=("c", Letter("c"))),
    ),
    "shabana": Notation(
        "Shabana, Dynamics of Multibody Systems",
        _letters(
            QA=("Q_e", Letter("Q", "e")),
            Phi=("C", Letter("C")),
            Phi_q=("C_q", Letter("C", "q")),
            nu=("minus_C_t", Letter("C", "t", sign="-")),
            gamma=("Q_d", Letter("Q", "d")),
        ),
    ),
}


def notation_named(name: str) -> Notation:
    if name not in NOTATIONS:
        raise ModelError(f"there is no notation {name!r}. {unknown('notation', str(name), NOTATIONS)}")
    return NOTATIONS[name]
