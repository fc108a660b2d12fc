"""What a formulation hands to an integrator, and how outputs are told in terms of the bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..doors import Bound, call
from ..kernels import kernel

Floats = NDArray[np.float64]


class Posed(NamedTuple):
    """y' = f(t, y) with y = (z, zd)."""

    rhs: Bound
    finish: Bound
    """What follows each step: onto the constraints, other independent coordinates, turns."""
    notes: Floats
    """Largest errors of positions and velocities that `finish` found, then the turns of the bodies."""
    tolerance: Floats
    """To which the constraints are solved; one number, which may be changed."""
    kept: dict[str, Any]
    """Arrays in which the doors remember something from step to step."""
    choice: Any = None
    """Number of the dependent coordinates among them: 0 before they are chosen."""

    def begin(self) -> None:
        """Forget the run before."""
        self.notes[:] = 0.0
        if self.choice is not None:
            self.choice[:] = 0


class Doors(NamedTuple):
    """The doors that lead from a row of outputs to the motion of the bodies."""

    finish_f: Any
    finish_c: Any
    rhs_f: Any
    rhs_c: Any
    bodies_f: Any  # (z, zd, zdd) to (q, qd, qdd)
    bodies_c: Any
    lam_f: Any  # (q, qd, qdd) to lam
    lam_c: Any


class Room(NamedTuple):
    """Scratch arrays for one row of outputs."""

    y: Floats  # (z, zd)
    yd: Floats
    z: Floats  # (z, zd, zdd)
    q: Floats  # (q, qd, qdd)
    notes: Floats
    turns: Floats


def new_room(n: int, bodies: int, notes: Floats, turns: Floats) -> Room:
    y, yd = np.zeros((2, 2 * n))
    return Room(y, yd, np.zeros(3 * n), np.zeros(3 * bodies), notes.copy(), turns)


@kernel(entry=True)
def recover(d, room, times, Y, first, stop, history):
    """Rows [z, zd, notes] as motions of the bodies with the accelerations and multipliers of the formulation."""
    size = room.y.size
    n = size // 2
    before = Y.shape[1] - room.turns.size
    for k in range(first, stop):
        for j in range(room.turns.size):
            room.turns[j] = Y[k, before + j]
        for j in range(size):
            room.y[j] = Y[k, j]
        call(d.finish_f, d.finish_c, times[k], room.y, room.notes)
        call(d.rhs_f, d.rhs_c, times[k], room.y, room.yd)
        for j in range(n):
            room.z[j], room.z[n + j], room.z[2 * n + j] = room.y[j], room.y[n + j], room.yd[n + j]
        tell(d, room, times[k], history, k)


@kernel(entry=True)
def recover_given(d, room, times, Y, Zdd, first, stop, history):
    """The same where the integrator itself has found the accelerations."""
    n, before = Zdd.shape[1], Y.shape[1] - room.turns.size
    for k in range(first, stop):
        for j in range(room.turns.size):
            room.turns[j] = Y[k, before + j]
        for j in range(n):
            room.z[j], room.z[n + j], room.z[2 * n + j] = Y[k, j], Y[k, n + j], Zdd[k, j]
        tell(d, room, times[k], history, k)


@kernel
def tell(d, room, t, history, k):
    """q, qd, qdd and lam of room.z into row k."""
    bodies, q = history.Q.shape[1], room.q
    call(d.bodies_f, d.bodies_c, t, room.z, q)
    for j in range(bodies):
        history.Q[k, j], history.Qd[k, j], history.Qdd[k, j] = q[j], q[bodies + j], q[2 * bodies + j]
    call(d.lam_f, d.lam_c, t, q, history.Lam[k])
