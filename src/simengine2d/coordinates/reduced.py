"""The arrays of a system with some of its rows."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.elements import Row
from ..system.applied_forces import Loads, frames_of_loads, load_arrays
from ..system.constraints import SystemArrays, constant_arrays
from ..system.system import System


def reduced_arrays(system: System, kept: Sequence[int]) -> tuple[SystemArrays, Loads]:
    """The arrays of a system with some of its rows, and with all its forces."""
    loads = [load for _, load in system.loads]
    rows: list[Row] = [system.rows[i][1] for i in kept]
    functions = [system.functions[i] for i in kept]
    arrays, numbers = constant_arrays(
        system.bodies,
        system.resolved.gravity,
        rows,
        functions,
        frames_of_loads(loads),
    )
    return arrays, load_arrays(loads, numbers)
