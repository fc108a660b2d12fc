"""The table of all symbols of a set of equations with their numbers, and the notations in which they are written.

Notations are the letters of four textbooks. The signs stay those of this package, M qdd + Phi_q^T lam = QA.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import sympy as sp

from ..errors import ModelError, unknown
from .letters import Letter


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


def as_number(value: float) -> sp.Expr:
    """Whole numbers stay whole."""
    return sp.Integer(int(value)) if float(value).is_integer() and abs(value) < 1e15 else sp.Float(value)


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
