"""The start of a dynamics run: a closed pose, consistent velocities, and what is known about the constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...coordinates.reference_point.sparse import SparseEquations
from ...errors import ModelError, UnsupportedError, listed
from ...numerics.arrays import Floats
from ...numerics.rank import DEPENDENT, Rank, free_motions, rank_of_rows, unit_rows
from ...system.connections import can_lose_rank
from ...system.elimination import elimination_program
from ...system.evaluation import SMALL
from ...system.geometry import once_per_geometry
from ...system.system import System
from ...system.workspace import once_per_system
from ..assembly.assemble import Assembly, assemble, closed_pose
from ..assembly.closure import coordinate_scale
from ..assembly.diagnose import in_words, names_of_rows

EPS = float(np.finfo(float).eps)
# coordinates up to which dependent constraints are identified by a dense factorization
LARGEST_EXAMINED = 900
# pivot of a constraint, relative to what the masses of its bodies give, below which it may be dependent
WEAK = 1e-9
# share of velocities that are given which is rounding
ROUNDING = 1e-9


class InitialState(NamedTuple):
    """`redundant` names the constraints whose reactions are not unique; `regular` says that there are none.

    `implied` are the rows that earlier rows imply in this pose, `pace` how fast the motion begins, and `rounding` the
    error of the farthest position, relative to the smallest body.
    """

    assembly: Assembly
    redundant: list[str]
    regular: bool
    implied: tuple[int, ...]
    pace: float
    rounding: float

    @property
    def notes(self) -> list[str]:
        """Notes on the assembly, and on reactions that are not unique."""
        if not self.redundant:
            return list(self.assembly.notes)
        reactions = f"the reactions of {listed(self.redundant)} are not unique"
        return [
            *self.assembly.notes,
            f"{reactions}, since these constraints are redundant; the smallest ones are given",
        ]


@once_per_system
def start(system: System, t: float) -> InitialState:
    """Assemble and examine a system."""
    if system.n == 0:
        raise UnsupportedError(f"model '{system.model.name}' has no bodies; add one with model.body(...).")
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    assembly = assemble(system, t)
    rounding = EPS * float(np.abs(assembly.q).max(initial=0.0) / system.arms.min(initial=np.inf))
    begins = pace(system, assembly.qd, system.drawn_qd, system.arrays.gravity)
    return InitialState(assembly, *_examine(system, assembly), begins, rounding)


def _examine(system: System, assembly: Assembly) -> tuple[list[str], bool, tuple[int, ...]]:
    """Names of redundant constraints, and implied rows; raises if a free motion has no mass."""
    if system.n > SMALL and system.masses.min() > 0.0 and not _weak(system, assembly.t, assembly.q):
        return [], True, ()
    if system.n > LARGEST_EXAMINED:
        return [], False, ()
    rank = _rank(system, assembly.t)
    for motion in _massless_motions(system, assembly):
        words = in_words(system, assembly.q, motion)
        raise ModelError(
            f"a free motion has no mass, so forces do not determine it: {words}. "
            "Give these bodies a mass and an inertia, or drive the motion."
        )
    rows = sorted({i for row, partners in rank.dependent.items() for i in (row, *partners)})
    return names_of_rows(system, rows), not rows, tuple(rank.dependent)


@once_per_geometry
def _rank(system: System, t: float) -> Rank:
    """Which rows are independent in the closed pose."""
    return rank_of_rows(_scaled_slopes(system, t, closed_pose(system, t)[1].q))


def _scaled_slopes(system: System, t: float, q: Floats) -> Floats:
    return system.Phi_q(t, q) * coordinate_scale(system)


def _massless_motions(system: System, at: Assembly) -> Iterator[Floats]:
    """Free motions of massless coordinates alone."""
    light = np.flatnonzero(system.masses == 0.0)
    if light.size == 0:
        return
    part = unit_rows(_scaled_slopes(system, at.t, at.q))[0][:, light]
    rank = int(np.sum(np.linalg.svd(part, compute_uv=False) > DEPENDENT)) if system.m else 0
    for found in free_motions(part, rank).T:
        motion = np.zeros(system.n)
        motion[light] = found
        yield coordinate_scale(system) * motion


def _weak(system: System, t: float, q: Floats) -> bool:
    """Whether a pivot of the constraints nearly vanishes: some may be dependent."""
    if not can_lose_rank(system):
        return False
    d = elimination_program(system, False, False)
    w = system.new_workspace(d)
    equations = SparseEquations(system, d, w)
    equations.evaluate(t, q, q)
    equations.smallest_change(0.0, np.zeros(system.m), np.empty(system.n))
    with np.errstate(divide="ignore"):
        pivots = np.abs(1.0 / w.v[d.diagonal[system.n :]])
    rows = np.repeat(np.arange(system.m), np.diff(system.arrays.jac_start))
    shares = np.bincount(rows, w.data**2 / system.masses[system.arrays.jac_column], minlength=system.m)
    return bool(not np.all(pivots > WEAK * shares))


def pace(system: System, qd: Floats, given: Floats, gravity: Floats) -> float:
    """How fast velocities change a pose, 1/s, if that is slow; 1 if it is not, or if unknown.

    A mechanism of 1000 km swings in minutes: a velocity error that is small within a second is not small then. What the
    joints leave of `given` velocities that they do not allow is rounding, and no pace.
    """
    fastest = float(max(_rates(system, qd), np.sqrt(np.hypot(*gravity) / system.length)))
    left = ROUNDING * _rates(system, np.nan_to_num(given))
    return min(1.0, fastest) if left < fastest < np.inf else 1.0


def _rates(system: System, qd: Floats) -> float:
    L = system.length
    return float(np.abs(qd.reshape(-1, 3) / [L, L, 1.0]).max(initial=0.0))
