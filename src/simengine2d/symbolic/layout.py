"""What is shown of a set of equations: sections of formulas, by body and by joint. Writers turn them into text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy as sp

from .calculus import BETA, GAMMA, STEP
from .letters import Letter

if TYPE_CHECKING:
    from .equations import Equations

Formula = list[Any]
"""SymPy objects side by side; "=" is between two sides."""


class Section(NamedTuple):
    title: str
    formulas: list[Formula]
    sentence: str = ""


class PageLayout:
    """The sections, and the letters of every symbol in them."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self.letters: dict[sp.Symbol, Letter] = {**equations.letters, **NEWMARK_LETTERS}
        self.sections = list(self._sections())

    def _sections(self) -> Iterator[Section]:
        names = self.equations.names
        yield Section("Equations of motion", list(self._overview()))
        for group, columns in names.groups.items():
            yield Section(names.group_titles[group], list(self._group(group, columns)))
        for joint, rows in names.joints.items():
            yield Section(names.joint_titles[joint], list(self._joint(joint, rows)))
        yield Section("Newton's matrix of Newmark's method", list(self._newmark()), self._newmark_sentence())

    def symbol(self, letter: Letter) -> sp.Symbol:
        """A stand-in that is printed as the letter."""
        stand_in = sp.Dummy(letter.base)
        self.letters[stand_in] = letter
        return stand_in

    def letter(self, quantity: str) -> Letter:
        return self.equations.notation.letter(quantity)

    def _overview(self) -> Iterator[Formula]:
        """The equations in letters."""
        M, Phi_q, across, zero = self._blocks()
        Phi, nu, gamma, QA, lam = (
            self.symbol(self.letter(name)) for name in ("Phi", "nu", "gamma", "QA", "lam")
        )
        qd, qdd = (self.symbol(self.letter("q")._replace(dots=dots)) for dots in (1, 2))
        if self.equations.m == 0:
            yield [M, qdd, "=", QA]
            return
        yield [Phi, "=", zero]
        yield [Phi_q, qd, "=", nu]
        yield [sp.Matrix([[M, across], [Phi_q, zero]]), sp.Matrix([qdd, lam]), "=", sp.Matrix([QA, gamma])]

    def _blocks(self) -> tuple[sp.Symbol, sp.Symbol, sp.Symbol, sp.Symbol]:
        """M, Phi_q, Phi_q^T and 0."""
        Phi_q = self.letter("Phi_q")
        letters = (self.letter("M"), Phi_q, Phi_q._replace(above="T"), Letter("0", bold=True))
        M, rows, across, zero = map(self.symbol, letters)
        return M, rows, across, zero

    def _group(self, group: str, columns: list[int]) -> Iterator[Formula]:
        """Coordinates, masses and forces of a body."""
        eq = self.equations
        yield [self.symbol(self.letter("q").of(group)), "=", _part(eq.q, columns)]
        for other, others in eq.names.groups.items():
            block = eq.M.extract(columns, others)
            if others >= columns and not block.is_zero_matrix:
                names = (group,) if other == group else (group, other)
                yield [self.symbol(self.letter("M").of(*names)), "=", block]
        yield [self.symbol(self.letter("QA").of(group)), "=", _part(eq.QA, columns)]

    def _joint(self, joint: str, rows: list[int]) -> Iterator[Formula]:
        """Constraints of a joint, their derivatives by the bodies that it touches, their right-hand sides."""
        eq = self.equations
        left = lambda quantity: self.symbol(self.letter(quantity).at(joint))
        yield [left("Phi"), "=", _part(eq.Phi, rows)]
        for group, columns in eq.names.groups.items():
            block = eq.Phi_q.extract(rows, columns)
            if not block.is_zero_matrix:
                yield [self.symbol(self.letter("Phi_q").at(joint).of(group)), "=", block]
        if not _part(eq.nu, rows).is_zero_matrix:
            yield [left("nu"), "=", _part(eq.nu, rows)]
        yield [left("gamma"), "=", _part(eq.gamma, rows)]

    def _newmark(self) -> Iterator[Formula]:
        """The matrix in letters, then the parts of K and D that are not zero."""
        M, rows, across, zero = self._blocks()
        J, S, K, D = (Letter(letter, bold=True) for letter in "JSKD")
        stiff, damp, corner = self.symbol(K), self.symbol(D), self.symbol(S)
        yield [
            self.symbol(J),
            "=",
            sp.Matrix([[corner, across], [rows, zero]]) if self.equations.m else corner,
        ]
        yield [corner, "=", M, "+", BETA * STEP**2, stiff, "+", GAMMA * STEP, damp]
        for letter, whole in ((K, self.equations.stiffness), (D, self.equations.damping)):
            yield from self._nonzero_blocks(letter, whole)

    def _newmark_sentence(self) -> str:
        q, M, QA, Phi_q, lam = (
            self.equations.notation.letters[k][0] for k in ("q", "M", "QA", "Phi_q", "lam")
        )
        return f"K is the derivative of {M} {q}dd + {Phi_q}^T {lam} - {QA} by {q}, D that of -{QA} by {q}d."

    def _nonzero_blocks(self, letter: Letter, whole: sp.Matrix) -> Iterator[Formula]:
        groups = self.equations.names.groups
        for (group, columns), (other, others) in product(groups.items(), repeat=2):
            block = whole.extract(columns, others)
            if not block.is_zero_matrix:
                names = (group,) if other == group else (group, other)
                yield [self.symbol(letter.of(*names)), "=", block]


NEWMARK_LETTERS = {BETA: Letter("beta"), GAMMA: Letter("gamma"), STEP: Letter("h")}


def _part(column: sp.Matrix, rows: list[int]) -> sp.Matrix:
    return column.extract(rows, [0])
