"""What natural and mixed coordinates have in common: bodies as rigid elements of points and vectors."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import cos, hypot, sin, tau

import numpy as np
from numpy.typing import NDArray

from ...model.frame import GROUND, PlacedFrame, Pose, to_global
from ...system.applied_forces import Loads
from ...system.constraints import SystemArrays
from ...system.system import System
from ..base import Family
from . import kernels
from .kernels import NaturalArrays
from .layout import CoordinateLayout
from .rigid_elements import RigidElement

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NONE = -1


class PointFamily(Family, abstract=True):
    """Points at the pins, unit vectors if a body has only one, and the angles and distances that are needed.

    `remember` is to be called at the end of each step, with y = (z, zd) and `turns`: an angle that is read from a
    vector is taken at the turn nearest to what the last one and the rates predict.
    """

    evaluate = kernels.evaluate_matrices
    directions: Collection[int]
    """Rows of angles for which the directions of the bodies are enough."""

    def lay_out(self, q: Floats, angles: Collection[str], distances: Collection[int]) -> None:
        """Set up the family, with the angles of these bodies and the distances of these rows."""
        self.layout = CoordinateLayout(self.system, angles, distances)
        self.names, self.own_rows, self.remaining_rows = (
            self.layout.names,
            self.layout.own_rows,
            self.layout.remaining_rows,
        )
        self.sizes = np.array(self.layout.sizes)
        angles = np.array(q[2::3], dtype=float)
        self.turns = np.concatenate([angles, np.zeros(angles.size + kernels.TAIL)])
        self.own_arrays = _arrays(self.layout, self.turns)
        self.prepare()
        for b, e in enumerate(self.layout.elements):
            self._fill_constants(b, e)
        self.remember = kernels.remember.bind(self.context)

    def count_from(self, t: float, q: Floats, qd: Floats) -> None:
        self.turns[:] = np.concatenate([q[2::3], qd[2::3], [t, 1.0, 0.0]])

    @property
    def miscounted(self) -> bool:
        return bool(self.turns[2 * len(self.system.bodies) + kernels.DOUBT] > 1.0)

    def positions(self, q: Floats) -> Floats:
        at, z = self.layout, np.empty(self.n)
        poses: dict[str, Pose] = {GROUND: (0.0, 0.0, 0.0)}
        poses |= {body.name: tuple(q[3 * i : 3 * i + 3]) for i, body in enumerate(self.system.bodies)}
        for point, j in at.point.items():
            if point.fixed is None:
                body, s = next(iter(point.places.items()))
                z[j : j + 2] = to_global(poses[body], s.real, s.imag, 0.0)[:2]
        for body, j in at.vector.items():
            z[j : j + 2] = cos(poses[body][2]), sin(poses[body][2])
        for body, j in at.angle.items():
            z[j] = poses[body][2]
        for row, j in at.distance.items():
            z[j] = _distance(self.system, row, poses)
        return z

    def _fill_constants(self, b: int, e: RigidElement) -> None:
        """The constant parts of M, R and the Jacobian; columns of fixed points drop out."""
        E, at, n, body = self.matrices, self.layout, self.n, self.system.bodies[b]
        places = [(j, j + 1) for j in (at.point[e.origin], at.tip(e)) if j is not None]
        free = [k for k, j in enumerate(sum(places, ())) if j < n]
        columns = [j for j in sum(places, ()) if j < n]
        E.M[np.ix_(columns, columns)] += e.mass_matrix(body.mass, body.inertia)[np.ix_(free, free)]
        E.R[3 * b : 3 * b + 2, columns] = e.matrix(0.0)[:, free]
        if e.body in at.angle:
            E.R[3 * b + 2, at.angle[e.body]] = 1.0
        for p in e.further:
            i, j = at.point_row[e.body, p], at.point[p]
            E.J[i : i + 2, columns] = -e.matrix(p.places[e.body])[:, free]
            if j < n:
                E.J[i : i + 2, j : j + 2] = np.eye(2)

    def reduced(self) -> tuple[SystemArrays, Loads]:
        """Angles held by their directions may differ by full turns."""
        arrays, loads = super().reduced()
        period = np.where(np.isin(self.remaining_rows, list(self.directions)), tau, arrays.row_period)
        return arrays._replace(row_period=period), loads


def _arrays(at: CoordinateLayout, turns: Floats) -> NaturalArrays:
    elements = at.elements
    further = [(b, e, p) for b, e in enumerate(elements) for p in e.further]
    return NaturalArrays(
        turns=turns,
        fixed=np.array(at.fixed, dtype=float),
        origin=_integers(at.point[e.origin] for e in elements),
        tip=_integers(map(at.tip, elements)),
        reach=np.array([e.reach for e in elements]),
        center=_pairs(e.weight(0.0) for e in elements),
        heading=np.array([e.heading for e in elements]),
        length=np.array([e.length for e in elements]),
        alpha=_integers(at.angle.get(e.body) for e in elements),
        length_row=_integers(at.length_row.get(e.body) for e in elements),
        angle_row=_integers(at.angle_row.get(e.body) for e in elements),
        D=np.zeros((len(elements), 4)),
        point_body=_integers(b for b, _, _ in further),
        point=_integers(at.point[p] for _, _, p in further),
        point_row=_integers(at.point_row[e.body, p] for _, e, p in further),
        point_weight=_pairs(e.weight(p.places[e.body]) for _, e, p in further),
        distance=_integers(at.distance.values()),
        distance_row=_integers(at.distance_row.values()),
        distance_kept=_integers(at.remaining_rows.index(row) for row in at.distance),
    )


def _distance(system: System, row: int, poses: dict[str, Pose]) -> float:
    (term,) = system.rows[row][1].measure.terms
    a, b = term.a, term.b
    assert isinstance(a, PlacedFrame) and isinstance(b, PlacedFrame)
    (ax, ay, _), (bx, by, _) = (to_global(poses[f.body], f.x, f.y, 0.0) for f in (a, b))
    return hypot(bx - ax, by - ay)


def _integers(values: Iterable[int | None]) -> Ints:
    return np.array([NONE if value is None else value for value in values], dtype=np.int64)


def _pairs(values: Iterable[complex]) -> Floats:
    return np.array([(c.real, c.imag) for c in values], dtype=float).reshape(-1, 2)
