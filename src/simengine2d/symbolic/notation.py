"""Notations: the letters of four textbooks, in one table.

The signs stay those of this package, M qdd + Phi_q^T lam = QA, whatever the letters.
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import ModelError, unknown
from .symbols import Letter


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
