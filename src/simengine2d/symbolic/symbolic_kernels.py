"""The kernels of the plane, run on symbols: the same source, with SymPy's roots, angles and cosines."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

import sympy as sp

from ..model import measure
from ..system import frames

SYMPY = {"sqrt": sp.sqrt, "atan2": sp.atan2, "cos": sp.cos, "sin": sp.sin}


def symbolic_kernels(module: ModuleType, *names: str, **others: Any) -> list[Any]:
    """The named kernels of a module as Python functions of symbols."""
    namespace = {**vars(module), **SYMPY, **others}
    for name in names:
        function = getattr(module, name)
        code = getattr(function, "py_func", function).__code__  # what numba compiles
        namespace[name] = FunctionType(code, namespace, name)
    return [namespace[name] for name in names]


(value,) = symbolic_kernels(measure, "value")
place_frames, term_value = symbolic_kernels(frames, "place_frames", "term_value", value=value)


def exact(expression: Any) -> sp.Expr:
    """The 0.5 and 1.0 of a kernel's source as fractions."""
    expression = sp.sympify(expression)
    return expression.xreplace({number: sp.Rational(number) for number in expression.atoms(sp.Float)})
