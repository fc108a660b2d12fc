"""Natural and mixed coordinates in symbols: bodies as rigid elements of points and vectors.

A body carries a point r_1 and a base vector D, which in its own axes is d. With complex numbers for the plane,

    r_P = r_1 + c D,      c = (s_P - s_1) / d,      D . D = |d|^2

Garcia de Jalon and Bayo, Kinematic and Dynamic Simulation of Multibody Systems (1994), chapters 2 and 4.
"""

from __future__ import annotations

import sympy as sp

from ..coordinates.natural.kernels import by_x
from ..coordinates.natural.point_family import PointFamily
from ..coordinates.natural.points import SAME, SharedPoint
from ..coordinates.natural.rigid_elements import RigidElement
from ..model.frame import GROUND
from .bodies import BodySymbols
from .calculus import MotionEquations
from .families import ONE, ZERO, Coordinates, PlaneVector, in_symbols, new_symbols
from .frames import SymbolicFrames
from .letters import Letter


@in_symbols.register
def point_coordinates(
    family: PointFamily, bodies: BodySymbols, frames: SymbolicFrames, core: MotionEquations
) -> Coordinates:
    """Points and vectors are coordinates themselves."""
    return _Points(bodies, frames, family, core).coordinates()


class _Points:
    """The points of a family, and its bodies on them."""

    def __init__(
        self, bodies: BodySymbols, frames: SymbolicFrames, family: PointFamily, core: MotionEquations
    ) -> None:
        self.bodies, self.frames, self.family, self.core = bodies, frames, family, core
        self.at = family.layout
        self.z, self.zd, self.zdd = (new_symbols(bodies, family.names, order) for order in range(3))
        self.own: dict[int, sp.Expr] = {}
        self.q: list[sp.Expr] = []
        self.directions: dict[sp.Expr, sp.Expr] = {}
        self.energy = sp.Integer(0)

    def coordinates(self) -> Coordinates:
        for b, element in enumerate(self.at.elements):
            self._body(b, element)
        held = {row: self._held(row, j) for row, j in self.at.distance.items()}
        own_rows = [self.own[i] for i in range(len(self.family.own_rows))]
        return Coordinates(
            self.z, self.zd, self.zdd, self.q, self.directions, own_rows, held, sp.expand(self.energy)
        )

    def _body(self, b: int, e: RigidElement) -> None:
        """r_G = r_1 + c_G D, the angle of D, the rows that keep the body rigid, and its kinetic energy."""
        s1 = self._place(e.body, e.s1)
        d = ONE if e.tip is None else self._place(e.body, e.d + e.s1).minus(s1)
        r1, D = self._point(e.origin), self._base(e)
        center = r1.plus(ZERO.minus(s1).over(d).times(D))
        self.q += [center.x, center.y, self._angle(b, e, d, D)]
        m, J = self.bodies.masses[b], self.bodies.inertias[b]
        rate = lambda p: PlaneVector(*(self._rate(part) for part in p))
        self.energy += (m * rate(center).size2 + J * rate(D).size2 / d.size2) / 2
        if e.body in self.at.length_row:
            self.own[self.at.length_row[e.body]] = D.size2 - d.size2
        for p in e.further:
            i, c = self.at.point_row[e.body, p], self._place(e.body, p.places[e.body]).minus(s1).over(d)
            gap = self._point(p).minus(r1.plus(c.times(D)))
            self.own[i], self.own[i + 1] = gap
        if e.body in self.at.angle:
            self.own[self.at.angle_row[e.body]] = self._angle_row(b, e, d, D)

    def _angle(self, b: int, e: RigidElement, d: PlaneVector, D: PlaneVector) -> sp.Expr:
        """Its own coordinate; or that of D / d, whose cosine and sine are known without it."""
        if e.body in self.at.angle:
            return self.z[self.at.angle[e.body]]
        if not e.turns:
            what = f"angle of {e.body}, rad"
            return self.bodies.angle(
                f"phi_{e.body}", Letter("phi", e.body), float(self.family.turns[b]), what
            )
        turn = D.over(d)
        size = sp.sqrt(turn.size2) if e.tip is None else sp.sqrt(D.size2 / d.size2)
        phi = self.core.q[3 * b + 2]
        self.directions |= {sp.cos(phi): turn.x / size, sp.sin(phi): turn.y / size}
        return sp.atan2(D.y, D.x) - sp.atan2(d.y, d.x)

    def _angle_row(self, b: int, e: RigidElement, d: PlaneVector, D: PlaneVector) -> sp.Expr:
        """D_x = L cos(alpha + heading), or where this is flat D_y = L sin(alpha + heading)"""
        alpha = self.z[self.at.angle[e.body]]
        turned = PlaneVector(sp.cos(alpha), sp.sin(alpha)).times(d)
        now = float(self.family.turns[b]) + e.heading
        steep = by_x(now, float(sp.cos(now)), float(sp.sin(now)))
        return D.x - turned.x if steep else D.y - turned.y

    def _held(self, row: int, j: int) -> sp.Expr:
        """d . d = s^2 in a row of its own, and s - f(t) in place of |d| - f(t)."""
        joint, function = self.bodies.system.rows[row][0], self.bodies.system.functions[row]
        value = self.bodies.function(function, joint)
        distance = self.frames.measure(self.bodies.system.rows[row][1].measure, joint)
        rule = {**self.directions, **dict(zip(self.core.q, self.q, strict=True))}
        self.own[self.at.distance_row[row]] = (distance**2).xreplace(rule) - self.z[j] ** 2
        return self.z[j] - value

    # points

    def _point(self, point: SharedPoint) -> PlaneVector:
        j = self.at.point[point]
        if point.fixed is None:
            return PlaneVector(self.z[j], self.z[j + 1])
        return self._place(GROUND, point.fixed)

    def _base(self, e: RigidElement) -> PlaneVector:
        j = self.at.tip(e)
        if j is None:
            return ZERO
        if e.tip is None:
            return PlaneVector(self.z[j], self.z[j + 1])
        return self._point(e.tip).minus(self._point(e.origin))

    def _place(self, body: str, s: complex) -> PlaneVector:
        """Symbols of a place in a body, which some frame has; the mass center is at zero."""
        near = SAME * (self.bodies.system.length + abs(s))
        for frame, (x, y, _) in self.frames.local.items():
            if frame.body == body and abs(complex(frame.x, frame.y) - s) <= near:
                return PlaneVector(x, y)
        return ZERO if abs(s) <= near else PlaneVector(*self.frames.own_place(body, s))

    def _rate(self, expression: sp.Expr) -> sp.Expr:
        pairs = zip(self.z, self.zd, strict=True)
        return sum((sp.diff(expression, z) * zd for z, zd in pairs), sp.Integer(0))
