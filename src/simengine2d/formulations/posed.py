"""What a formulation hands to an integrator, and how outputs are told in terms of the bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..doors import Bound, call, door
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
    lam: Bound | None = None
    """The multipliers of the state whose accelerations were just found, where they are known."""

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


class Recovery(NamedTuple):
    """Rows of outputs, and the motions that they mean."""

    d: Doors
    room: Room
    Y: Floats  # rows [z, zd, notes]
    Zdd: Floats  # their accelerations, where the integrator itself has found them; else empty
    Q: Floats
    Qd: Floats
    Qdd: Floats
    Lam: Floats


@door
def recover(c, first, times, out):
    """The rows from `first` on, one for each time, as motions of the bodies with accelerations and multipliers."""
    d, room = c.d, c.room
    n, before = room.y.size // 2, c.Y.shape[1] - room.turns.size
    for i in range(times.size):
        k = int(first) + i
        for j in range(room.turns.size):
            room.turns[j] = c.Y[k, before + j]
        for j in range(2 * n):
            room.y[j] = c.Y[k, j]
        if c.Zdd.size > 0:
            for j in range(n):
                room.yd[n + j] = c.Zdd[k, j]
        else:
            call(d.finish_f, d.finish_c, times[i], room.y, room.notes)
            call(d.rhs_f, d.rhs_c, times[i], room.y, room.yd)
        for j in range(n):
            room.z[j], room.z[n + j], room.z[2 * n + j] = room.y[j], room.y[n + j], room.yd[n + j]
        tell(c, times[i], k)


@kernel
def tell(c, t, k):
    """q, qd, qdd and lam of room.z into row k."""
    d, q, bodies = c.d, c.room.q, c.Q.shape[1]
    call(d.bodies_f, d.bodies_c, t, c.room.z, q)
    for j in range(bodies):
        c.Q[k, j], c.Qd[k, j], c.Qdd[k, j] = q[j], q[bodies + j], q[2 * bodies + j]
    call(d.lam_f, d.lam_c, t, q, c.Lam[k])
