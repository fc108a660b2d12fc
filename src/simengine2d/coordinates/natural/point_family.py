"""What natural and mixed coordinates have in common: bodies as rigid elements of points and vectors."""

from __future__ import annotations

from cmath import rect
from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import product
from math import tau
from typing import ClassVar, NamedTuple

import numpy as np

from ...errors import ModelError
from ...model.frame import GROUND, PlacedFrame, as_frame
from ...numerics.arrays import Floats, Ints
from ...system.applied_forces import Loads
from ...system.constraints import SystemArrays
from ...system.system import System
from ..base import refuse_unknown
from ..body_map import BodyMap, MapLayout, MapPointers, MapShape
from ..mapped import MappedFamily
from . import kernels, point_map
from .kernels import NaturalArrays
from .layout import CoordinateLayout, WantedCoordinates

NONE = -1


class PointFamily(MappedFamily, abstract=True):
    """Points at the pins, unit vectors if a body has only one, and the angles and distances that are needed.

    `remember` is to be called at the end of each step, with y = (z, zd) and `turns`: an angle that is read from a
    vector is taken at the turn nearest to what the last one and the rates predict.
    """

    evaluate = point_map.evaluate_matrices
    choices: ClassVar[tuple[str, ...]] = ("points", "vectors")
    """Points that are coordinates though no bodies share them; bodies with a unit vector though two points would do."""
    directions: Collection[int]
    """Rows of angles for which the directions of the bodies are enough."""

    def lay_out(self, q: Floats, angles: Collection[str] = (), distances: Collection[int] = ()) -> None:
        """Set up the family, with the angles of these bodies, the distances of these rows, and what was chosen."""
        vectors = refuse_unknown(self, "vectors", [body.name for body in self.system.bodies], "body")
        wanted = WantedCoordinates(angles, distances, self._chosen_points(), vectors)
        self.layout = at = CoordinateLayout(self.system, wanted)
        self.names, self.own_rows, self.remaining_rows = at.names, at.own_rows, at.remaining_rows
        self.sizes = np.array(at.sizes)
        angles = np.array(q[2::3], dtype=float)
        self.turns = np.concatenate([angles, np.zeros(angles.size + kernels.TAIL)])
        self.points = _arrays(self.layout, self.turns)
        self.masses = self._masses()
        _, X = MapLayout(self.map_shape(), *self.reduced()).body_map(self.n)
        self.own_arrays = point_map.map_context(self, X)
        self.to_bodies = point_map.move_bodies.bind(self.own_arrays)
        self.remember = kernels.remember.bind_like(self.to_bodies)
        self.prepare()
        for pair, mass in self.masses.items():
            self.matrices.M[pair] = mass

    def _chosen_points(self) -> dict[str, PlacedFrame]:
        """Points such as rod.P, by these names; a body stands for its mass center."""
        found = {}
        for name in self.chosen.get("points", ()):
            frame = self.system.resolved.frame(as_frame(name))
            if frame.body == GROUND:
                raise ModelError(
                    f"{self.name} coordinates, points: '{name}' is on the ground, which does not move. "
                    "Name a point of a body."
                )
            found[name] = frame
        return found

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

    def point_matrix(self, z: Floats, body: str, s: complex) -> Floats:
        """C_P of r_P = C_P z + what fixed points add: constant, and zero but for the points of the body."""
        e = self.layout.elements[[each.name for each in self.system.bodies].index(body)]
        out = np.zeros((2, self.n))
        for j, part in zip(
            (self.layout.point[e.origin], self.layout.tip(e)), np.split(e.matrix(s), 2, axis=1), strict=True
        ):
            if j is not None and j < self.n:
                out[:, j : j + 2] += part
        return out

    def _masses(self) -> dict[tuple[int, int], float]:
        """M by pairs of coordinates; those of fixed points drop out."""
        masses: dict[tuple[int, int], float] = defaultdict(float)
        for e, body in zip(self.layout.elements, self.system.bodies, strict=True):
            first = [j for j in (self.layout.point[e.origin], self.layout.tip(e)) if j is not None]
            places = [j + k for j in first for k in range(2)]
            M = e.mass_matrix(body.mass, body.inertia)
            for (i, p), (j, u) in product(enumerate(places), repeat=2):
                if p < self.n and u < self.n:
                    masses[p, u] += float(M[i, j])
        return dict(masses)

    def map_shape(self) -> MapShape:
        return point_map.map_shape(self)

    def map_pointers(self, X: BodyMap) -> MapPointers:
        pointer = point_map.place.bind(point_map.map_context(self, X))
        return MapPointers(pointer, point_map.bend.bind_like(pointer))

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
