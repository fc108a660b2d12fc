"""Symbolic quantities as functions of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from ..errors import ModelError, listed
from ..numerics.arrays import Floats

TimeJet = Callable[[float], tuple[float, float, float]]


class _StandIn(NamedTuple):
    """Symbols for f, f' and f'' of a function of time."""

    jet: TimeJet
    value: sp.Symbol
    first: sp.Symbol
    second: sp.Symbol

    def put_into(self, matrix: sp.Matrix, f: sp.Expr) -> sp.Matrix:
        matrix = matrix.xreplace({sp.Derivative(f, (*f.args, 2)): self.second})
        return matrix.xreplace({sp.Derivative(f, *f.args): self.first}).xreplace({f: self.value})


def flat(function: Callable[..., Floats]) -> Callable[..., Floats]:
    """A column as an array of one dimension."""
    return lambda *arguments: function(*arguments).ravel()


def as_function(
    matrix: sp.Matrix,
    arguments: Sequence[Any],
    numbers: Mapping[sp.Symbol, Any],
    functions: Mapping[str, Any] | None = None,
    of_time: Mapping[sp.Expr, TimeJet] | None = None,
) -> Callable[..., Floats]:
    """A Python function of the arguments (the first is t) that returns an array of the matrix's shape.

    `functions` are those of Python by name; `of_time` holds f, f', f'' of functions that SymPy does not know.
    """
    stand_ins = [_StandIn(jet, *sp.symbols("f fd fdd", cls=sp.Dummy)) for jet in (of_time or {}).values()]
    for f, symbols in zip(of_time or {}, stand_ins, strict=True):
        matrix = symbols.put_into(matrix, f)
    matrix = matrix.xreplace({symbol: sp.sympify(number) for symbol, number in numbers.items()})
    jets = [symbol for symbols in stand_ins for symbol in symbols[1:]]
    _refuse_unknown(matrix, [*_flat(arguments), *jets])
    modules = [{"Whole": np.floor, **(functions or {})}, "numpy"]
    compiled = sp.lambdify([*arguments, jets], list(matrix), modules=modules, cse=True)

    def evaluated(t: float, *others: Any) -> Floats:
        seeds = [part for symbols in stand_ins for part in symbols.jet(t)]
        return np.array([float(entry) for entry in compiled(t, *others, seeds)]).reshape(matrix.shape)

    return evaluated


def _flat(arguments: Sequence[Any]) -> list[Any]:
    return [
        s
        for argument in arguments
        for s in (argument if isinstance(argument, sp.MatrixBase | list | tuple) else [argument])
    ]


def _refuse_unknown(matrix: sp.Matrix, known: Sequence[Any]) -> None:
    unknown = sorted(symbol.name for symbol in matrix.free_symbols - set(known))
    if unknown:
        example = f"parameters={{'{unknown[0]}': 1.0}}"
        raise ModelError(f"the equations hold {listed(unknown)} without a value; give {example}.")
