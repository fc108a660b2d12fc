"""The equations of a model, with the names of its bodies and joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import sympy as sp

from ..errors import ModelError, counted, unknown
from ..numerics.arrays import Floats
from . import html_text, latex_text
from .calculus import BETA, GAMMA, STEP, MotionEquations
from .evaluation import as_function, flat
from .letters import Letter
from .symbols import LegendEntry, SymbolTable, notation_named

COLUMNS = ("QA", "Phi", "nu", "gamma", "right_side")
QUANTITIES = ("M", "Phi_q", "augmented", *COLUMNS)


class Names(NamedTuple):
    """What the rows and columns belong to."""

    title: str
    coordinates: list[str]
    groups: dict[str, list[int]]
    """Coordinates by body, by point or by joint, as the family has them."""
    group_titles: dict[str, str]
    rows: list[str]
    joints: dict[str, list[int]]
    joint_titles: dict[str, str]


class SymbolValues(NamedTuple):
    """What the symbols mean: letters and numbers, and functions that are not formulas."""

    table: SymbolTable
    of_time: dict[sp.Expr, Any]
    python: dict[str, Any]


class Equations(MotionEquations):
    """M, QA, Phi, Phi_q, nu, gamma and Newmark's J as SymPy matrices; also under the letters of the chosen book.

    In a notebook they show themselves; `print` gives text, `latex()`, `tex()` and `html()` give files.
    """

    def __init__(self, core: MotionEquations, names: Names, numbers: SymbolValues, notation: str) -> None:
        symbols = tuple(list(part) for part in (core.q, core.qd, core.qdd, core.lam))
        super().__init__(symbols, core.t, core.M, core.QA, core.Phi, core.velocity_rows)  # type: ignore[arg-type]
        self.names, self.numbers = names, numbers
        self.notation = notation_named(notation)

    # numbers

    @property
    def letters(self) -> dict[sp.Symbol, Letter]:
        return self.numbers.table.letters

    @property
    def legend(self) -> list[LegendEntry]:
        """The symbols for numbers that occur in the equations."""
        used = set().union(
            *(part.free_symbols for part in (self.M, self.QA, self.Phi, *self.velocity_rows.values()))
        )
        return [entry for symbol, entry in self.numbers.table.legend.items() if symbol in used]

    def with_numbers(self) -> Equations:
        """The same with numbers in place of the symbols of the legend."""
        values = self.numbers.table.numbers
        M, QA, Phi = (part.xreplace(values) for part in (self.M, self.QA, self.Phi))
        symbols = tuple(list(part) for part in (self.q, self.qd, self.qdd, self.lam))
        rates = {i: v.xreplace(values) for i, v in self.velocity_rows.items()}
        core = MotionEquations(symbols, self.t, M, QA, Phi, rates)  # type: ignore[arg-type]
        other = Equations(core, self.names, self.numbers, "haug")
        other.notation = self.notation
        return other

    def lambdify(self, quantity: str, **values: float) -> Callable[..., Floats]:
        """A function f(t, q, qd) of numbers for M, QA, Phi, Phi_q, nu, gamma, augmented or right_side.

        J is one of (t, q, qd, qdd, lam, h, beta, gamma). The symbols have the numbers of the legend, or those given:
        `lambdify("M", m_crank=2)`.
        """
        matrix = getattr(self, self._quantity(quantity))
        arguments: list[Any] = [self.t, list(self.q), list(self.qd)]
        if quantity == "J":
            arguments += [list(self.qdd), list(self.lam), STEP, BETA, GAMMA]
        numbers = self.numbers.table.numbers | self._chosen(values)
        function = as_function(matrix, arguments, numbers, self.numbers.python, self.numbers.of_time)
        return flat(function) if self._quantity(quantity) in COLUMNS else function

    def _quantity(self, name: str) -> str:
        ours = self.notation.ours(name) or name
        known = (*QUANTITIES, "J")
        if ours not in known:
            raise ModelError(
                f"the equations have no {name!r}. {unknown('quantity', str(name), known, plural='quantities')}"
            )
        return ours

    def _chosen(self, values: dict[str, float]) -> dict[sp.Symbol, float]:
        known = {symbol.name: symbol for symbol in self.numbers.table.legend}
        for name in values:
            if name not in known:
                raise ModelError(f"the equations have no symbol {name!r}. {unknown('symbol', name, known)}")
        return {known[name]: value for name, value in values.items()}

    def __getattr__(self, name: str) -> Any:
        """The book's own letters: `equations.C_q` in the notation of Shabana."""
        notation = self.__dict__.get("notation")
        ours = notation.ours(name) if notation is not None else None
        if ours is None or ours == name:
            raise AttributeError(f"the equations have no '{name}'")
        return getattr(self, ours)

    # names

    @property
    def title(self) -> str:
        return self.names.title

    @property
    def coordinate_names(self) -> list[str]:
        return self.names.coordinates

    @property
    def row_names(self) -> list[str]:
        return self.names.rows

    @property
    def remarks(self) -> list[str]:
        """The book whose letters these are, and what differs from it."""
        sentences = [f"Letters of {self.notation.book}."]
        if self.notation.remark:
            sentences.append(self.notation.remark)
        if self.Phi.has(sp.atan2):
            sentences.append("Constraints with atan2 hold up to whole turns.")
        return sentences

    # text

    def latex(self) -> str:
        """Headings and formulas, for a document that uses amsmath and graphicx."""
        return latex_text.fragment(self)

    def tex(self) -> str:
        """A complete document for LaTeX."""
        return latex_text.document(self)

    def html(self) -> str:
        """A page with MathML, which browsers show without any script."""
        return html_text.page(self)

    def _repr_html_(self) -> str:
        return html_text.fragment(self)

    def _repr_latex_(self) -> str:
        return latex_text.summary(self)

    def __str__(self) -> str:
        return text(self)

    def __repr__(self) -> str:
        return (
            f"<Equations of {self.title}: {counted(self.n, 'coordinate')}, {counted(self.m, 'constraint')}>"
        )


# Text for a terminal: one line per row ----------------------------------------------------------------


def text(equations: Equations) -> str:
    """By body, then by joint; then the numbers."""
    names, force = equations.names, equations.notation.letters["QA"][0]
    lines = [equations.title, *equations.remarks]
    for group, columns in names.groups.items():
        lines += ["", names.group_titles[group]]
        lines += _matrix_lines(equations, columns)
        lines += [f"  {force}[{names.coordinates[j]}] = {equations.QA[j]}" for j in columns]
    for joint, rows in names.joints.items():
        lines += ["", names.joint_titles[joint]]
        for i in rows:
            lines += _row_lines(equations, i)
    if equations.legend:
        lines += ["", "Numbers"]
        lines += [f"  {entry.symbol} = {entry.value:.10g}  ({entry.meaning})" for entry in equations.legend]
    return "\n".join(lines)


def _matrix_lines(equations: Equations, columns: list[int]) -> list[str]:
    names = equations.coordinate_names
    return [
        f"  M[{names[i]}, {names[j]}] = {equations.M[i, j]}"
        if i != j
        else f"  M[{names[i]}] = {equations.M[i, j]}"
        for i in columns
        for j in range(i, equations.n)
        if equations.M[i, j] != 0
    ]


def _row_lines(equations: Equations, i: int) -> list[str]:
    letters = {ours: theirs for ours, (theirs, _) in equations.notation.letters.items()}
    row = equations.row_names[i]
    lines = [f"  {letters['Phi']}[{row}] = {equations.Phi[i]}"]
    lines += [
        f"  {letters['Phi_q']}[{row}, {name}] = {entry}"
        for name, entry in zip(equations.coordinate_names, equations.Phi_q.row(i), strict=True)
        if entry != 0
    ]
    if equations.nu[i] != 0:
        lines.append(f"  {letters['nu']}[{row}] = {equations.nu[i]}")
    return [*lines, f"  {letters['gamma']}[{row}] = {equations.gamma[i]}"]
