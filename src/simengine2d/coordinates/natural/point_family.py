"""What natural and mixed coordinates have in common: bodies as rigid elements of points and vectors."""

from __future__ import annotations

from cmath import rect
from collections.abc import Collection, Iterable
from itertools import product
from math import tau
from typing import NamedTuple

import numpy as np

from ...model.frame import GROUND, PlacedFrame
from ...numerics.arrays import Floats, Ints
from ...system.applied_forces import Loads
from ...system.constraints import SystemArrays
from ...system.system import System
from ..body_map import BodyMap, MapPointers, MapShape
from ..mapped import MappedFamily
from . import kernels, stage_map
from .kernels import NaturalArrays
from .layout import CoordinateLayout
from .rigid_elements import RigidElement

NONE = -1


class PointFamily(MappedFamily, abstract=True):
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
        self.masses: dict[tuple[int, int], float] = {}
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
        return self._state(q, np.zeros(q.size))[0]

    def velocities(self, q: Floats, qd: Floats) -> Floats:
        return self._state(q, qd)[1]

    def _state(self, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """z and zd; the plane is complex here. A point of several bodies is that of the first of them."""
        at, z, zd = self.layout, np.empty(self.n), np.empty(self.n)
        poses = _poses(self.system, q, qd)
        for point, j in at.point.items():
            if point.fixed is None:
                body, s = next(iter(point.places.items()))
                _write(poses[body].carry(s), j, z, zd)
        for body, j in at.vector.items():
            _write(poses[body].turn(1.0 + 0.0j), j, z, zd)
        for body, j in at.angle.items():
            z[j], zd[j] = poses[body].phi, poses[body].omega
        for row, j in at.distance.items():
            z[j], zd[j] = _distance(self.system, row, poses)
        return z, zd

    def _fill_constants(self, b: int, e: RigidElement) -> None:
        """The constant parts of M, R and the Jacobian; columns of fixed points drop out."""
        E, at, n, body = self.matrices, self.layout, self.n, self.system.bodies[b]
        places = [(j, j + 1) for j in (at.point[e.origin], at.tip(e)) if j is not None]
        free = [k for k, j in enumerate(sum(places, ())) if j < n]
        columns = [j for j in sum(places, ()) if j < n]
        M = e.mass_matrix(body.mass, body.inertia)[np.ix_(free, free)]
        E.M[np.ix_(columns, columns)] += M
        for (i, first), (j, second) in product(enumerate(columns), enumerate(columns)):
            pair = first, second
            self.masses[pair] = self.masses.get(pair, 0.0) + float(M[i, j])
        E.R[3 * b : 3 * b + 2, columns] = e.matrix(0.0)[:, free]
        if e.body in at.angle:
            E.R[3 * b + 2, at.angle[e.body]] = 1.0
        for p in e.further:
            i, j = at.point_row[e.body, p], at.point[p]
            E.J[i : i + 2, columns] = -e.matrix(p.places[e.body])[:, free]
            if j < n:
                E.J[i : i + 2, j : j + 2] = np.eye(2)

    def map_shape(self) -> MapShape:
        return stage_map.map_shape(self)

    def map_pointers(self, X: BodyMap) -> MapPointers:
        return stage_map.map_pointers(self, X)

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


class _Pose(NamedTuple):
    """Position and velocity of a body."""

    r: complex
    v: complex
    phi: float
    omega: float

    def turn(self, s: complex) -> tuple[complex, complex]:
        """A vector of the body, and its rate."""
        turned = s * rect(1.0, self.phi)
        return turned, 1j * self.omega * turned

    def carry(self, s: complex) -> tuple[complex, complex]:
        """A point of the body, and its velocity."""
        turned, rate = self.turn(s)
        return self.r + turned, self.v + rate


def _poses(system: System, q: Floats, qd: Floats) -> dict[str, _Pose]:
    poses = {GROUND: _Pose(0.0j, 0.0j, 0.0, 0.0)}
    for body, (x, y, phi), (xd, yd, phid) in zip(
        system.bodies, q.reshape(-1, 3).tolist(), qd.reshape(-1, 3).tolist(), strict=True
    ):
        poses[body.name] = _Pose(complex(x, y), complex(xd, yd), phi, phid)
    return poses


def _write(state: tuple[complex, complex], j: int, z: Floats, zd: Floats) -> None:
    for value, out in zip(state, (z, zd), strict=True):
        out[j], out[j + 1] = value.real, value.imag


def _distance(system: System, row: int, poses: dict[str, _Pose]) -> tuple[float, float]:
    """Of two points, and its rate."""
    (term,) = system.rows[row][1].measure.terms
    a, b = term.a, term.b
    assert isinstance(a, PlacedFrame) and isinstance(b, PlacedFrame)
    (ra, va), (rb, vb) = (poses[f.body].carry(complex(f.x, f.y)) for f in (a, b))
    d = abs(rb - ra)
    return d, ((rb - ra).conjugate() * (vb - va)).real / d if d > 0.0 else 0.0


def _integers(values: Iterable[int | None]) -> Ints:
    return np.array([NONE if value is None else value for value in values], dtype=np.int64)


def _pairs(values: Iterable[complex]) -> Floats:
    return np.array([(c.real, c.imag) for c in values], dtype=float).reshape(-1, 2)
