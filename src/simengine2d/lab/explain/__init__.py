"""One step of a method, laid open: guess, residual, matrix, correction, and how fast they converge."""

from .explain import explain
from .explanation import Equation, Explanation, Line

__all__ = ["Equation", "Explanation", "Line", "explain"]
