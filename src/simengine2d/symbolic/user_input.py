"""What a user writes for a system without bodies: symbols, functions of time or text, turned into plain symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from ..errors import ModelError, listed
from ..expressions.evaluate import names_in, number
from ..expressions.parser import parse
from .letters import letter_of
from .symbols import SymbolTable
from .to_sympy import to_sympy


class UserInput:
    """The coordinates, their rates, the parameters and time; and every other expression in terms of these."""

    def __init__(self, q: Any, parameters: Mapping[Any, Any] | None) -> None:
        self.given = _coordinates(q)
        self.names = [_name(coordinate, "a coordinate") for coordinate in self.given]
        _refuse_twice([*self.names, *(name + "d" for name in self.names), "t"])
        self.table = SymbolTable()
        self.t = self.table.new("t", letter_of("t"))
        self.q, self.qd, self.qdd = (
            [self.table.new(name + "d" * order, letter_of(name, order)) for name in self.names]
            for order in range(3)
        )
        self.by_name: dict[str, sp.Symbol] = {s.name: s for s in (self.t, *self.q, *self.qd)}
        for symbol, value in (parameters or {}).items():
            name = _name(symbol, "a parameter")
            _refuse_twice([*self.by_name, name])
            self.by_name[name] = self.table.constant(
                name, letter_of(name), number(value), f"parameter {name}"
            )

    def expression(self, given: Any, what: str) -> sp.Expr:
        """A number, an expression of SymPy, or text."""
        if isinstance(given, str):
            tree = parse(given)
            return to_sympy(tree, {name: self._symbol(name) for name in names_in(tree)})
        try:
            expression = sp.sympify(given, strict=True)
        except (sp.SympifyError, TypeError):
            raise ModelError(
                f"{what} is {given!r}; write an expression of SymPy or text such as 'x - L*cos(theta)'."
            ) from None
        if not isinstance(expression, sp.Expr):
            raise ModelError(f"{what} is {expression}, which is not an expression.")
        return self._in_plain_symbols(expression, what)

    def column(self, given: Any, what: str, rows: int | None = None) -> sp.Matrix:
        """Several expressions, as many as are needed."""
        several = isinstance(given, Sequence | sp.MatrixBase) and not isinstance(given, str)
        entries = list(given) if several else [given]
        if rows is not None and len(entries) != rows:
            raise ModelError(
                f"{what} has {len(entries)} entries; {rows} are needed, one for each of {listed(self.names)}."
            )
        return sp.Matrix(
            len(entries), 1, [self.expression(entry, f"{what}[{k}]") for k, entry in enumerate(entries)]
        )

    def _symbol(self, name: str) -> sp.Symbol:
        if name not in self.by_name:
            if not name.isidentifier():
                raise ModelError(
                    f"'{name}' is not a name; a name is letters, digits and _, such as {self.names[0]}."
                )
            self.by_name[name] = self.table.new(name, letter_of(name))
        return self.by_name[name]

    def _in_plain_symbols(self, expression: sp.Expr, what: str) -> sp.Expr:
        """Functions x(t) and their derivatives become x and xd; symbols are known by their names."""
        rates = {}
        for derivative in expression.atoms(sp.Derivative):
            order = derivative.derivative_count
            if (
                derivative.expr in self.given
                and derivative.variables[0] == derivative.expr.args[0]
                and order == 1
            ):
                rates[derivative] = self.qd[self.given.index(derivative.expr)]
        expression = expression.xreplace(rates)
        functions = expression.atoms(AppliedUndef)
        expression = expression.xreplace(
            {f: self.q[self.given.index(f)] for f in functions if f in self.given}
        )
        left = expression.atoms(AppliedUndef, sp.Derivative)
        if left:
            raise ModelError(
                f"{what} holds {listed(sorted(map(str, left)))}, which is neither a coordinate nor the rate of one."
            )
        return expression.xreplace({s: self._symbol(s.name) for s in expression.free_symbols})


def _coordinates(q: Any) -> list[Any]:
    given = q.replace(",", " ").split() if isinstance(q, str) else list(q) if isinstance(q, Iterable) else [q]
    if not given:
        raise ModelError("q is empty; name the coordinates, for example q='x y theta'.")
    return given


def _name(given: Any, what: str) -> str:
    name = given.func.__name__ if isinstance(given, AppliedUndef) else getattr(given, "name", given)
    if not isinstance(name, str) or not name.isidentifier():
        raise ModelError(f"{what} is {given!r}; give a symbol, a function of time such as x(t), or a name.")
    return name


def _refuse_twice(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ModelError(
                f"the name '{name}' has two meanings: coordinates, their rates ({name}d), parameters and t differ."
            )
