"""The equations of motion of a coordinate family: the verbs upon which every formulation is written.

    M zdd + Phi_z^T lam = Q,      Phi(z, t) = 0,      Phi_z zd = nu,      Phi_z zdd = gamma

Each verb is a kernel f(t, y, out) with y = (z, zd), in the form that suits the family: a sparse LDL^T factorization for
reference points, articulated bodies for relative coordinates, the map of the bodies for any. No verb is bound, and so
none is compiled, before it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel, KernelPointer

POSITION, VELOCITY = range(2)
"""Levels of the constraints: Phi = 0, and Phi_z zd = nu."""


class Configuration(NamedTuple):
    """The configuration in which the rows are measured: their effective masses, and the lengths of their errors."""

    t: float
    z: Floats
    redundant: bool
    """Whether rows may depend on each other."""
    implied: Sequence[int] = ()
    """Rows of the system that others imply, as far as known."""


class OutputMonitors(NamedTuple):
    """What is monitored at outputs, as the worst so far."""

    errors: Floats
    """Of the constraint equations at the levels of positions, velocities and accelerations."""
    singular_at: Floats
    """Time of the first output in a singular pose; spread of the pivots at the first output."""
    lost: Floats
    """Largest residual of an equation of motion, relative to its terms; largest gap as a length of the mechanism."""
    changed: Floats
    """Largest correction of accelerations, and of what rows require of them, relative to their sizes."""


class OutputMultipliers(NamedTuple):
    """How lam is computed at outputs."""

    pointer: BoundKernel
    """(t, (q, qd, qdd), lam), with qdd of the bodies, which it may correct."""
    monitors: OutputMonitors


class Verb:
    """A kernel of some equations, bound to their context, and so compiled, when it is first asked for."""

    def __init__(self, pointer: KernelPointer) -> None:
        self.pointer = pointer

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, equations: Any, owner: type | None = None) -> BoundKernel:
        bound = equations.bound(self.pointer)
        equations.__dict__[self.name] = bound
        return cast(BoundKernel, bound)


class EquationsOfMotion:
    """The equations of motion of a family in the form that it solves best."""

    evaluate: Verb
    """(t, y): the rows at a state, for `residual` and `smallest_change`."""
    residual: Verb
    """(level, y, row): -Phi, or nu - Phi_z zd, at the state evaluated."""
    smallest_change: Verb
    """(0, row, x): x of M x + Phi_z^T lam = 0, Phi_z x = row, at the state evaluated."""
    accelerate: Verb
    """(t, y, yd): (zd, zdd), with the stabilization and compliance of the formulation."""
    multipliers: OutputMultipliers | None = None
    """lam of the state whose accelerations were just computed; None if it follows from the motion of the bodies."""
    context: Any
    """The work arrays of the verbs."""
    per_row: Floats
    """The length of the mechanism that an error of each row corresponds to."""
    per_coordinate: Floats
    """The length of the mechanism that a change of each coordinate corresponds to."""
    laid_out: BoundKernel | None = None
    """A bound verb: its context is already in memory."""

    def bound(self, pointer: KernelPointer) -> BoundKernel:
        """A kernel on the common context."""
        if self.laid_out is None:
            self.laid_out = pointer.bind(self.context)
            return self.laid_out
        return pointer.bind_like(self.laid_out)


def new_monitors() -> OutputMonitors:
    return OutputMonitors(np.zeros(3), np.full(2, np.nan), np.zeros(2), np.zeros(2))
