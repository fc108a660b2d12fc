"""Symbols: the equations of a model, and systems written as formulas. By SymPy, which is imported when asked for."""

# ruff: noqa: E402  (SymPy is asked for first)
from __future__ import annotations

from ..errors import needed

needed("sympy", "formulas need", "symbolic")

from .equations import Equations
from .linearize import SymbolicLinearization
from .motion import SymbolicMotion
from .states import ConsistentState, SymbolicEquilibrium
from .symbols import NOTATIONS
from .system import SymbolicSystem

__all__ = [
    "NOTATIONS",
    "ConsistentState",
    "Equations",
    "SymbolicEquilibrium",
    "SymbolicLinearization",
    "SymbolicMotion",
    "SymbolicSystem",
]
