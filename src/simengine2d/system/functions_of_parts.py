"""The functions of a model's parts: what rows are held at, and the laws of forces."""

from __future__ import annotations

from math import copysign

from ..expressions.function import Function, as_function
from ..model.elements import Load, Row, Wrench
from ..model.formula import VELOCITY

NOTHING = as_function(0.0)


def laws_of(load: Load) -> list[Function]:
    """The laws of a force along a measure, or of a wrench."""
    return [load.fx, load.fy, load.torque] if isinstance(load, Wrench) else [load.law]


def function_of(row: Row) -> Function:
    """What a row is held at; most are held at zero, and share one function."""
    if type(row.value) is float and row.value == 0.0 and copysign(1.0, row.value) > 0.0:
        return NOTHING
    return as_function(row.value)


def moves(row: Row, function: Function) -> bool:
    """Whether time has a part in a row that is held at a function."""
    if row.formula is None:
        return not function.is_constant
    return row.formula.reads_time or (row.formula.level == VELOCITY and not row.formula.is_homogeneous)
