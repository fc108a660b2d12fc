"""What follows from the constraints and the drawn pose alone, whatever the masses and forces: computed once.

Variants of a study often differ in masses, stiffness and damping only. They share these answers, which are found by
every byte of what they are computed from, so a shared answer is the one that would have been computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from ..numerics.patterns import AnswerCache
from .workspace import once_per_system

if TYPE_CHECKING:
    from .system import System

Function = TypeVar("Function", bound=Callable[..., Any])

LARGEST = 150  # coordinates up to which the bytes are compared more quickly than most answers are computed

geometries = AnswerCache(4_000_000, lays_out=False)
"""Of the last few hundred Systems."""


def geometry_of(system: System) -> Hashable:
    """Equal for Systems that have the same frames, rows, functions of time and drawn pose."""
    S, f = system.arrays, system.arrays.functions
    arrays = (
        S.frame_body, S.frame_x, S.frame_y, S.frame_angle, S.term_kind, S.term_a, S.term_b, S.term_weight,
        S.row_start, S.row_period, f.functions, f.operations, f.numbers, f.inputs, system.drawn_q,
    )  # fmt: skip
    return tuple(array.tobytes() for array in arrays)


def once_per_geometry(function: Function) -> Function:
    """Compute a constant of a System that depends on neither masses nor forces, nor on names, once for all alike.

    Python functions and formulas are more than numbers: a System with them computes its own.
    """

    @once_per_system
    @wraps(function)
    def known(system: System, *arguments: Hashable) -> Any:
        if system.n > LARGEST or system.has_formulas or system.callbacks:
            return function(system, *arguments)
        key = (function.__qualname__, system.geometry, *arguments)
        return system.owned(geometries.find(key, lambda: function(system, *arguments)))

    return known  # type: ignore[return-value]
