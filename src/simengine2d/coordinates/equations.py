"""The equations of motion of a coordinate family: the verbs upon which every formulation is written.

    M zdd + Phi_z^T lam = Q,      Phi(z, t) = 0,      Phi_z zd = nu,      Phi_z zdd = gamma

Each verb is a kernel f(t, y, out) with y = (z, zd), in the form that suits the family: a sparse LDL^T factorization for
reference points, articulated bodies for relative coordinates, the map of the bodies for any. No verb is bound, and so
none is compiled, before it is asked for.

Projection is written upon the verbs: a state is brought back onto the constraints by the smallest change in the metric
of M, first the positions, by Newton's method, then the velocities.

    [ M      Phi_z^T ] [ dz  ]   [ 0    ]        [ M      Phi_z^T ] [ dzd ]   [ 0             ]
    [ Phi_z     0    ] [ lam ] = [ -Phi ],       [ Phi_z     0    ] [ mu  ] = [ nu - Phi_z zd ]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..numerics.arrays import Floats, Ints
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, KernelPointer, compiled_together, invoke, kernel_pointer

if TYPE_CHECKING:
    from .base import Family

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


# entries of `Several.told`: up to where outputs are made, k if not one is; from where on it is worth asking again;
# whether to ask at all
UP_TO, AGAIN, WANTED = range(3)


class LaneSlopes(NamedTuple):
    """zdd of as many states as there are lanes."""

    pointer: BoundKernel
    """Reads y at the times, writes zdd; done[0] is then 1, or 0 where a state is no ordinary one."""
    y: Floats  # (2 n, LANES), z and zd
    zdd: Floats  # (n, LANES)
    times: Floats  # (LANES)
    done: Ints  # (1)


class Several(NamedTuple):
    """How several outputs are made at once, to the last bit as one by one."""

    pointer: BoundKernel
    """(k, rows, out): outputs from k on, as `recover` makes them."""
    told: Ints
    kernels: tuple[KernelPointer, ...]
    slopes: LaneSlopes | None = None
    """The accelerations of several states at once."""

    def want(self) -> None:
        """Ask for it from now on: so many outputs will be made that compiling it pays.

        Lanes are an extension of numba. Where that does not know them, outputs are made one by one.
        """
        if compiled_together(self.kernels):
            self.told[WANTED] = 1


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
    bodies: BoundKernel | None = None
    """(q, qd, qdd) of the state whose accelerations were just computed; None if it follows from (z, zd, zdd) alone."""
    context: Any
    """The work arrays of the verbs."""
    per_row: Floats
    """The length of the mechanism that an error of each row corresponds to."""
    per_coordinate: Floats
    """The length of the mechanism that a change of each coordinate corresponds to."""
    laid_out: BoundKernel | None = None
    """A bound verb: its context is already in memory."""

    def several(self, tolerance: Floats | None) -> Several | None:
        """How outputs are made several at once, with the multipliers of `multipliers`; None if one at a time.

        Where there is a `tolerance` they are projected onto the constraints, as `project` does.
        """
        return None

    def bound(self, pointer: KernelPointer) -> BoundKernel:
        """A kernel on the common context."""
        if self.laid_out is None:
            self.laid_out = pointer.bind(self.context)
            return self.laid_out
        return pointer.bind_like(self.laid_out)


def new_monitors() -> OutputMonitors:
    return OutputMonitors(np.zeros(3), np.full(2, np.nan), np.zeros(2), np.zeros(2))


# Projection -------------------------------------------------------------------------------------------


MOST_CORRECTIONS = 8  # at each level
LEFT = 1e-9  # of an error of velocities, which are linear, that a correction may leave
# of a coordinate, against the violation it removes, both as lengths of the mechanism
LARGEST_CORRECTION = 1e4
# where the turns of the bodies begin among the monitors, after the largest violations of both levels
TURNS = 2


class Turns(NamedTuple):
    """How a family that does not hold full turns counts them; 0 if there is nothing to count."""

    count_f: Any
    count_c: Any
    turns: Floats


class ProjectionContext(NamedTuple):
    """Context of `project`."""

    evaluate_f: Any
    evaluate_c: Any
    residual_f: Any
    residual_c: Any
    change_f: Any
    change_c: Any
    per_row: Floats
    per_coordinate: Floats
    tolerance: Floats  # one number, a length of the mechanism
    row: Floats
    x: Floats
    counting: Turns


@kernel_pointer
def project(c, t, y, monitors):
    """Bring y = (z, zd) onto the constraints, first z, then zd. The violations go into the monitors."""
    n, tolerance = y.size // 2, c.tolerance[0]
    before, level = np.inf, POSITION
    for iteration in range(2 * MOST_CORRECTIONS):
        invoke(c.evaluate_f, c.evaluate_c, t, y, y)
        error, violation = errors_at(c, level, y)
        if iteration == 0:
            monitors[POSITION] = max(monitors[POSITION], violation)
        # positions are as accurate as they get
        if level == POSITION and (error <= tolerance or error > 0.5 * before):
            level, before = VELOCITY, np.inf
            error, violation = errors_at(c, level, y)
            monitors[VELOCITY] = max(monitors[VELOCITY], violation)
        if level == VELOCITY and (error <= tolerance or error > 0.5 * before):
            break
        before = error
        invoke(c.change_f, c.change_c, 0.0, c.row, c.x)
        correct(c, y[level * n : (level + 1) * n], error)
        if level == VELOCITY and LEFT * error <= tolerance:
            break
    count_turns(c.counting, t, y, monitors)


@kernel
def errors_at(c, level, y):
    """-Phi, or nu - Phi_z zd, into c.row; the largest as a length of the mechanism, and unscaled."""
    invoke(c.residual_f, c.residual_c, float(level), y, c.row)
    error, violation = 0.0, 0.0
    for i in range(c.row.size):
        error = max(error, abs(c.row[i]) * c.per_row[i])
        violation = max(violation, abs(c.row[i]))
    return error, violation


@kernel
def correct(c, z, error):
    """z += c.x, unless the change is out of proportion, as in a singular pose."""
    size = 0.0
    for j in range(z.size):
        moved = abs(c.x[j]) * c.per_coordinate[j]
        size = size if moved <= size else moved  # nan stays
    if size <= LARGEST_CORRECTION * error:
        for j in range(z.size):
            z[j] += c.x[j]


@kernel
def count_turns(counting, t, y, monitors):
    """The turns of the bodies at the end of a step; monitors and family hold the same numbers."""
    if counting.count_f != 0:
        invoke(counting.count_f, counting.count_c, t, y, monitors[TURNS:])
        for j in range(counting.turns.size):
            counting.turns[j] = monitors[TURNS + j]


@kernel_pointer
def leave(counting, t, y, monitors):
    """Leave y unchanged; only count turns."""
    count_turns(counting, t, y, monitors)


# Building ---------------------------------------------------------------------------------------------


def turns_of(family: Family | None) -> Turns:
    """How a family counts turns; None counts nothing."""
    if family is None or family.remember is None:
        return Turns(0, 0, np.zeros(0))
    return Turns(family.remember.f, family.remember.c, family.turns)


def leaving(family: Family | None) -> BoundKernel:
    """`leave` for a family."""
    return leave.bind(turns_of(family))


def projection(equations: EquationsOfMotion, tolerance: Floats, counted: Family | None = None) -> BoundKernel:
    """`project` for the equations of a family; the turns of `counted` are counted at the end."""
    if equations.per_row.size == 0:
        return leaving(counted)
    place, row, change = equations.evaluate, equations.residual, equations.smallest_change
    per_row, per_coordinate = equations.per_row, equations.per_coordinate
    return project.bind(
        ProjectionContext(
            place.f, place.c, row.f, row.c, change.f, change.c, per_row, per_coordinate, tolerance,
            np.zeros(per_row.size), np.zeros(per_coordinate.size), turns_of(counted),
        )
    )  # fmt: skip
