"""Coordinates that runs have left, with the steppers prepared in them: later runs take them over.

Those of a System serve its next run. Those of a tree serve every model of the same structure, with its numbers.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ...coordinates.base import Family, family_of
from ...coordinates.relative.relative import Relative
from ...formulations.projection import Projection
from ...methods import Formulation
from ...system.renumbering import OwnSystem, is_shareable
from ...system.system import System
from ...system.workspace import Pool
from .initial_state import InitialState

MOST_WRITERS = 200  # what many different runs have prepared is not kept for ever

shared = Pool()
"""Of the last structures; each family has one user at a time."""


def take_family(system: System, coordinates: str, posed: Formulation, start: InitialState) -> Family:
    """The coordinates of a system from where it starts: idle ones, or new ones."""
    own: Family | None = system.idle.take((coordinates, start.assembly.t))
    if own is not None:
        return own
    q, shares = start.assembly.q, can_share(system, coordinates, posed, start)
    idle: Family | None = shared.take(structure(system)) if shares else None
    if idle is not None and idle.take_numbers(system, q):
        return idle
    return family_of(coordinates, OwnSystem(system) if shares else system, q)


def leave_family(family: Family, system: System, posed: Formulation, start: InitialState) -> None:
    """Leave coordinates to the next run: of any model alike, or of this System from its second run on."""
    first, system.has_run = not system.has_run, True
    own = family.system if isinstance(family.system, OwnSystem) else None
    if own and len(own.writers) > MOST_WRITERS:
        return
    if own and first and can_share(system, family.spelling, posed, start):
        shared.give(structure(system), family)
    else:
        system.idle.give((family.spelling, start.assembly.t), family)


def can_share(system: System, coordinates: str, posed: Formulation, start: InitialState) -> bool:
    """Whether what a run prepares depends on structure alone, but for numbers that can be written again."""
    plain = coordinates == Relative.name and isinstance(posed, Projection)
    return plain and start.regular and is_shareable(system) and bool(np.all(system.masses > 0.0))


def structure(system: System) -> Hashable:
    """The same for models that share their pattern; whether all else is alike is seen when numbers are written."""
    return id(system.arrays.term_slot), len(system.loads)
