"""What a formulation hands to an integrator, and how outputs become motions of the bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..methods import Formulation
from ..numerics.arrays import Floats, Ints
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, invoke, kernel_pointer
from .equations import AGAIN, TURNS, UP_TO, WANTED, Configuration, OutputMultipliers, Several, leaving

if TYPE_CHECKING:
    from .base import Family


FEWEST = 3  # outputs that take longer one by one than side by side
NOT_SEVERAL = Several(BoundKernel(0, 0, None), np.zeros(3, dtype=np.int64), ())


@dataclass(frozen=True)
class OdeProblem:
    """y' = f(t, y) with y = (z, zd)."""

    rhs: BoundKernel
    finish: BoundKernel
    """Called after each step: projects, chooses other independent coordinates, counts turns."""
    monitors: Floats
    """Largest violations of positions and velocities seen by `finish`, then the turns of the bodies."""
    tolerance: Floats
    """To which the constraints are solved; one number, which may be changed."""
    memory: dict[str, NDArray[Any]]
    """Arrays in which the kernel pointers remember something from step to step."""
    multipliers: OutputMultipliers | None = None
    """The multipliers of the state whose accelerations were just computed, if known."""
    bodies: BoundKernel | None = None
    """The motion of the bodies at that state, if known."""
    several: Several | None = None
    """How several outputs are made at once, if that is known."""

    @classmethod
    def of(
        cls,
        family: Family,
        rhs: BoundKernel,
        finish: BoundKernel,
        *,
        tolerance: Floats | None = None,
        memory: dict[str, NDArray[Any]] | None = None,
        multipliers: OutputMultipliers | None = None,
        bodies: BoundKernel | None = None,
        several: Several | None = None,
    ) -> OdeProblem:
        """A problem in the coordinates of a family."""
        turns = {"turns": family.turns} if family.turns.size else {}
        tolerance = np.zeros(1) if tolerance is None else tolerance
        monitors = np.zeros(TURNS + family.turns.size)
        return cls(rhs, finish, monitors, tolerance, (memory or {}) | turns, multipliers, bodies, several)

    def begin(self) -> None:
        """Forget the previous run."""
        self.monitors[:] = 0.0
        if "rank" in self.memory:  # dependent coordinates are chosen again
            self.memory["rank"][:] = 0


class OdeFormulation(Formulation, abstract=True):
    """A formulation that turns the equations of motion of a family into ordinary differential equations."""

    poses: ClassVar[str] = "ode"

    def problem(self, family: Family, at: Configuration) -> OdeProblem:
        """The equations in the coordinates of a family, rows measured in a configuration; states stay as they are."""
        equations = family.equations_of_motion(self, at)
        finish, multipliers = leaving(family), equations.multipliers
        return OdeProblem.of(
            family,
            equations.accelerate,
            finish,
            multipliers=multipliers,
            bodies=equations.bodies,
            several=equations.several(None),
        )


class Pointers(NamedTuple):
    """The kernel pointers from a row of outputs to the motion of the bodies."""

    finish_f: Any
    finish_c: Any
    rhs_f: Any
    rhs_c: Any
    bodies_f: Any  # (z, zd, zdd) to (q, qd, qdd)
    bodies_c: Any
    lam_f: Any  # (q, qd, qdd) to lam
    lam_c: Any
    several_f: Any  # all of it for several rows at once; 0 if they are made one at a time
    several_c: Any


class Room(NamedTuple):
    """Scratch arrays for one row of outputs."""

    y: Floats  # (z, zd)
    yd: Floats
    z: Floats  # (z, zd, zdd)
    q: Floats  # (q, qd, qdd)
    lam: Floats
    monitors: Floats
    turns: Floats
    told: Ints  # see `Several`


class Recovery(NamedTuple):
    """Context of `recover`."""

    d: Pointers
    room: Room


@kernel_pointer
def recover(c, given, rows, out):
    """Outputs as motions of the bodies: all q, then all qd, all qdd and all lam.

    `rows` holds all rows [z, zd, monitors], then all times, then all zdd where they are given; else these are computed.
    """
    d, room = c.d, c.room
    n, wide = room.y.size // 2, room.y.size + room.monitors.size
    count = out.size // (room.q.size + room.lam.size)
    told = room.told
    together = d.several_f != 0 and told[WANTED] == 1 and given == 0.0
    told[UP_TO] = told[AGAIN] = 0
    for k in range(count):
        if k < told[UP_TO]:
            continue
        if together and k >= told[AGAIN] and count - k >= FEWEST:
            invoke(d.several_f, d.several_c, float(k), rows, out)
            if k < told[UP_TO]:
                continue
        row, t, zdd = k * wide, rows[count * wide + k], count * (1 + wide) + k * n
        for j in range(room.turns.size):
            room.turns[j] = rows[row + wide - room.turns.size + j]
        for j in range(2 * n):
            room.y[j] = rows[row + j]
        if given == 1.0:
            for j in range(n):
                room.yd[n + j] = rows[zdd + j]
        else:
            invoke(d.finish_f, d.finish_c, t, room.y, room.monitors)
            invoke(d.rhs_f, d.rhs_c, t, room.y, room.yd)
        for j in range(n):
            room.z[j], room.z[n + j], room.z[2 * n + j] = room.y[j], room.y[n + j], room.yd[n + j]
        tell(d, room, t, k, count, out)


@kernel
def tell(d, room, t, k, count, out):
    """q, qd, qdd and lam of room.z, for output k."""
    invoke(d.bodies_f, d.bodies_c, t, room.z, room.q)
    invoke(d.lam_f, d.lam_c, t, room.q, room.lam)
    n, m = room.q.size // 3, room.lam.size
    for j in range(n):
        out[k * n + j] = room.q[j]
        out[(count + k) * n + j] = room.q[n + j]
        out[(2 * count + k) * n + j] = room.q[2 * n + j]
    for i in range(m):
        out[3 * count * n + k * m + i] = room.lam[i]


MOST_KEPT = 100_000  # numbers


class Recoverer:
    """Computes the motions of the bodies from outputs."""

    def __init__(
        self,
        pointers: tuple[BoundKernel, ...],
        sizes: tuple[int, int, int],
        monitors: Floats,
        turns: Floats,
        several: Several | None = None,
    ) -> None:
        """`pointers` as in `Pointers`; `sizes` are the numbers of coordinates z, coordinates q and multipliers."""
        n, q, m = sizes
        y, yd = np.zeros((2, 2 * n))
        more, told, *_ = several or NOT_SEVERAL
        room = Room(y, yd, np.zeros(3 * n), np.zeros(3 * q), np.zeros(m), monitors.copy(), turns, told)
        self.q, self.m, self.rows = q, m, np.zeros(0)
        self.bound = recover.bind(
            Recovery(Pointers(*(part for pointer in (*pointers, more) for part in pointer[:2])), room)
        )

    def __call__(self, times: Floats, Y: Floats, Zdd: Floats | None = None) -> list[Floats]:
        """Q, Qd, Qdd and Lam at the times."""
        count, q, given = times.size, self.q, Zdd is not None
        out = np.empty(count * (3 * q + self.m))
        parts = [Y.reshape(-1), times, Zdd.reshape(-1)] if given else [Y.reshape(-1), times]  # type: ignore[union-attr]
        self.bound(float(given), np.concatenate(parts, out=self._room_for(parts)), out)
        return motion_in(out, count, q, self.m)

    def _room_for(self, parts: list[Floats]) -> Floats:
        """Memory for all of them, which is kept where it is little: new memory costs as much as the copying."""
        size = sum(part.size for part in parts)
        if size > MOST_KEPT:
            return np.empty(size)
        if size > self.rows.size:
            self.rows = np.empty(size)
        return self.rows[:size]


def motion_in(out: Floats, count: int, q: int, m: int) -> list[Floats]:
    """Q, Qd, Qdd and Lam in what `recover` has written."""
    return [*out[: 3 * count * q].reshape(3, count, q), out[3 * count * q :].reshape(count, m)]
