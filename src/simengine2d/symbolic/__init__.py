"""Symbols: the equations of a model, and systems written as formulas. By SymPy, which is imported when asked for."""

from __future__ import annotations

from ..errors import UnsupportedError

try:
    import sympy as _sympy  # noqa: F401
except ImportError:
    raise UnsupportedError(
        "formulas need the package sympy, which is not installed. Install it with: pip install 'simengine2d[symbolic]'."
    ) from None

from .equations import Equations
from .equilibrium import SymbolicEquilibrium
from .initial import ConsistentState
from .linearize import SymbolicLinearization
from .motion import SymbolicMotion
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
