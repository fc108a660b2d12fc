"""Letters: how a symbol is printed, and the table of all symbols of a set of equations with their numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

import sympy as sp
from sympy.printing.latex import tex_greek_dictionary
from sympy.printing.pretty.pretty_symbology import greek_unicode

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
XML_SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


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
        base = greek_unicode.get(self.base, _xml(self.base))
        if self.bold:
            base = f'<mi mathvariant="normal" class="bold">{base}</mi>'
        elif len(base) > 1:  # a word, which should not run into the next letter
            base = f'<mrow><mi>{base}</mi><mspace width="0.17em"/></mrow>'
        else:
            base = f"<mi>{base}</mi>"
        if self.dots:
            base = f'<mover accent="true">{base}<mo stretchy="false">{DOTS[self.dots]}</mo></mover>'
        below, above = f"<mi>{_xml(self.below)}</mi>", f"<mi>{_xml(self.above)}</mi>"
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


def _xml(text: str) -> str:
    return "".join(XML_SIGNS.get(sign, sign) for sign in text)
