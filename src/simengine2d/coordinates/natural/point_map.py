"""Natural and mixed coordinates as a map: a body depends on two points, and on its angle.

    r_G = r_1 + c_G D,      phi = atan2(D) - heading,      D = sum_p base_p z_p

with base = 1 for the tip of a body, -1 for its origin. With g and H the gradient and the Hessian of atan2,
phi_z = base g, and its rate is base H Dd.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, sin
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Ints
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import invoke, kernel_pointer
from ..body_map import BodyMap, MapContext, MapShape, integers
from ..transform import transform_rows
from .kernels import angle_at, base_vectors, by_x, place_bodies, point_rows, position, rate, rate_at

if TYPE_CHECKING:
    from .layout import CoordinateLayout
    from .point_family import PointFamily
    from .points import SharedPoint
    from .rigid_elements import RigidElement


class BaseColumns(NamedTuple):
    """Of each column of each body: its share of the base vector, along which axis; its entries in own rows, or -1."""

    base: Floats
    axis: Ints  # -1 for an angle
    length: Ints
    angle: Ints


# Kernels ----------------------------------------------------------------------------------------------


@kernel_pointer
def place(c, t, y, lam):
    """Bodies and own rows; what is constant is there already."""
    n = y.size // 3
    place_points(c, t, y[: 2 * n])
    for b in range(c.Z.tip.size):
        accelerate_body(c, b, y[2 * n :])


@kernel
def place_points(c, t, y):
    """The same without accelerations, at y = (z, zd)."""
    X, Z = c.X, c.Z
    base_vectors(Z, y)
    place_bodies(Z, X, y)
    for b in range(Z.tip.size):
        k = 3 * b + 2
        X.q[k], X.qd[k] = angle_at(Z, t, y, b), rate_at(Z, y, b)
        turn_body(c, b)
        hold_length(c, b)
        hold_angle(c, b, y)
    point_rows(Z, X.own_phi, y)


@kernel_pointer
def move_bodies(c, t, y, out):
    """(z, zd, zdd) to (q, qd, qdd)"""
    X, n, count = c.X, y.size // 3, out.size // 3
    place_points(c, t, y[: 2 * n])
    for b in range(c.Z.tip.size):
        accelerate_body(c, b, y[2 * n :])
    for k in range(count):
        out[k], out[count + k], out[2 * count + k] = X.q[k], X.qd[k], X.qdd[k]


@kernel
def turn_body(c, b):
    """phi_z = base g,      g = (-D_y, D_x) / D.D"""
    X, Z, W = c.X, c.Z, c.W
    dx, dy = Z.D[b, 0], Z.D[b, 1]
    if Z.alpha[b] >= 0 or Z.tip[b] < 0:
        return
    for p in range(X.start[b], X.start[b + 1]):
        X.R[p, 2] = W.base[p] * (dx if W.axis[p] == 1 else -dy) / (dx * dx + dy * dy)


@kernel
def accelerate_body(c, b, a):
    """qdd = R zdd + Rd zd"""
    X = c.X
    for r in range(3):
        X.qdd[3 * b + r] = 0.0
        for p in range(X.start[b], X.start[b + 1]):
            X.qdd[3 * b + r] += X.R[p, r] * a[X.column[p]]
    X.qdd[3 * b + 2] += bias_of(c, b)


@kernel
def bias_of(c, b):
    """Rd zd, which phi alone has: Dd H Dd = -2 (D.Dd) phid / D.D, zero on the constraints."""
    Z = c.Z
    if Z.alpha[b] >= 0 or Z.tip[b] < 0:
        return 0.0
    dx, dy, vx, vy = Z.D[b, 0], Z.D[b, 1], Z.D[b, 2], Z.D[b, 3]
    return -2.0 * (dx * vx + dy * vy) * c.X.qd[3 * b + 2] / (dx * dx + dy * dy)


@kernel
def hold_length(c, b):
    """D.D - L^2 = 0"""
    X, Z, W, i = c.X, c.Z, c.W, c.Z.length_row[b]
    if i < 0:
        return
    dx, dy, vx, vy = Z.D[b, 0], Z.D[b, 1], Z.D[b, 2], Z.D[b, 3]
    X.own_phi[i] = dx * dx + dy * dy - Z.length[b] * Z.length[b]
    X.own_gamma[i] = -2.0 * (vx * vx + vy * vy)
    for p in range(X.start[b], X.start[b + 1]):
        if W.length[p] >= 0:
            X.J[W.length[p]] = 2.0 * W.base[p] * Z.D[b, W.axis[p]]


@kernel
def hold_angle(c, b, y):
    """D_x - L cos theta = 0   or   D_y - L sin theta = 0,   theta = alpha + heading"""
    X, Z, W, i = c.X, c.Z, c.W, c.Z.angle_row[b]
    if i < 0:
        return
    L, w, theta = Z.length[b], rate(y, Z.alpha[b]), position(Z, y, Z.alpha[b]) + Z.heading[b]
    C, S = cos(theta), sin(theta)
    along_x = by_x(Z.turns[b] + Z.heading[b], C, S)
    X.own_phi[i] = Z.D[b, 0] - L * C if along_x else Z.D[b, 1] - L * S
    X.own_gamma[i] = -L * w * w * (C if along_x else S)
    for p in range(X.start[b], X.start[b + 1]):
        if W.axis[p] < 0:
            X.J[W.angle[p]] = L * S if along_x else -L * C
        elif W.angle[p] >= 0:
            X.J[W.angle[p]] = W.base[p] if (W.axis[p] == 0) == along_x else 0.0


@kernel_pointer
def bend(c, t, y, lam):
    """Second derivatives of angles, lengths and angle rows."""
    Z, n = c.Z, y.size // 3
    for b in range(Z.tip.size):
        if Z.tip[b] >= 0:
            bend_base(c, b, lam)
        if Z.angle_row[b] >= 0:
            bend_angle(c, b, y[: 2 * n], lam[Z.angle_row[b]])


@kernel
def bend_base(c, b, lam):
    """lam 2 of a length and phi_DD times the torque, by the base vector; rates of both."""
    X, Z, W, i = c.X, c.Z, c.W, c.Z.length_row[b]
    dx, dy, vx, vy = Z.D[b, 0], Z.D[b, 1], Z.D[b, 2], Z.D[b, 3]
    d4 = (dx * dx + dy * dy) ** 2
    H = (2.0 * dx * dy / d4, (dy * dy - dx * dx) / d4)  # [H0 H1; H1 -H0]
    torque = X.force[3 * b + 2]
    if Z.alpha[b] >= 0:
        H, torque = (0.0, 0.0), 0.0
    stretch = 2.0 * lam[i] if i >= 0 else 0.0
    swing = (H[0] * vx + H[1] * vy, H[1] * vx - H[0] * vy)
    at = X.pair_start[b]
    for p in range(X.start[b], X.start[b + 1]):
        for u in range(X.start[b], X.start[b + 1]):
            if W.axis[p] >= 0 and W.axis[u] >= 0:
                bent = torque * H[1]
                if W.axis[p] == W.axis[u]:
                    bent = stretch + torque * (H[0] if W.axis[p] == 0 else -H[0])
                X.tangent[X.pair[at], 0] += W.base[p] * W.base[u] * bent
            at += 1
        if W.axis[p] >= 0:
            X.Rd[p, 2] = W.base[p] * swing[W.axis[p]]
        if W.length[p] >= 0:
            X.G[W.length[p]] = 2.0 * W.base[p] * Z.D[b, 2 + W.axis[p]]


@kernel
def bend_angle(c, b, y, lam):
    """(L cos theta)'s second derivative by alpha, or that of L sin theta."""
    X, Z, W = c.X, c.Z, c.W
    theta = position(Z, y, Z.alpha[b]) + Z.heading[b]
    C, S = cos(theta), sin(theta)
    curve = Z.length[b] * (C if by_x(Z.turns[b] + Z.heading[b], C, S) else S)
    for p in range(X.start[b], X.start[b + 1]):
        if W.axis[p] < 0:
            k, columns = p - X.start[b], X.start[b + 1] - X.start[b]
            X.tangent[X.pair[X.pair_start[b] + k * columns + k], 0] += lam * curve
            X.G[W.angle[p]] = curve * rate(y, Z.alpha[b])


# Matrices ---------------------------------------------------------------------------------------------


@kernel_pointer
def evaluate_matrices(c, t, y, out):
    """M is constant, so Q = R^T QA without velocity terms."""
    X, E = c.Z.X, c.E
    place_points(c.Z, t, y)
    spread(c.Z, E)
    invoke(c.bodies_f, c.bodies_c, t, E.q, E.qd)
    transform_rows(c.S, E)
    for j in range(E.Q.size):
        E.Q[j] = 0.0
    for b in range(c.S.mass.size):
        for p in range(X.start[b], X.start[b + 1]):
            for r in range(3):
                E.Q[X.column[p]] += X.R[p, r] * E.QA[3 * b + r]
    distance_rows(c.S, c.Z.Z, E, y)


@kernel
def spread(c, E):
    """The map and the own rows as matrices."""
    X = c.X
    for b in range(c.Z.tip.size):
        for r in range(3):
            k = 3 * b + r
            E.q[k], E.qd[k] = X.q[k], X.qd[k]
            for p in range(X.start[b], X.start[b + 1]):
                E.R[k, X.column[p]] = X.R[p, r]
        E.bias[3 * b + 2] = bias_of(c, b)
    for i in range(X.own_phi.size):
        E.Phi[i], E.gamma[i] = X.own_phi[i], X.own_gamma[i]
        for p in range(X.row_start[i], X.row_start[i + 1]):
            E.J[i, X.row_column[p]] = X.J[p]


@kernel
def distance_rows(S, Z, E, y):
    """If the system holds |d| = f(t):   d.d - s^2 = 0   and   s - f(t) = 0

    (d.d)'' = 2 |d| |d|'' + 2 |d|'^2, and the row of |d| has been evaluated.
    """
    n, own = E.Q.size, E.Phi.size - (S.row_start.size - 1)
    for k in range(Z.distance.size):
        column, i, j = Z.distance[k], Z.distance_row[k], own + Z.distance_kept[k]
        f, slope, curve = E.f[j - own, 0], E.f[j - own, 1], E.f[j - own, 2]
        s, sd = position(Z, y, column), rate(y, column)
        d, dd, second = E.Phi[j] + f, 0.0, curve - E.gamma[j]
        for p in range(n):
            dd += E.J[j, p] * y[n + p]
            E.J[i, p] = 2.0 * d * E.J[j, p]
            E.J[j, p] = 0.0
        E.Phi[i], E.gamma[i] = d * d - s * s, -2.0 * (d * second + dd * dd - sd * sd)
        E.J[i, column] = -2.0 * s
        E.Phi[j], E.nu[j], E.gamma[j] = s - f, slope, curve
        E.J[j, column] = 1.0


# Building ---------------------------------------------------------------------------------------------


def map_shape(family: PointFamily) -> MapShape:
    """Columns of each body: tip, origin, angle. Fixed points have none."""
    at, n, M = family.layout, family.n, family.masses
    columns = [[u for u, _, _ in _columns(family, b)] for b in range(len(at.elements))]
    own: list[list[int]] = [[] for _ in family.own_rows]
    for b, e in enumerate(at.elements):
        of_base = [u for u, axis, _ in _columns(family, b) if axis >= 0]
        if e.body in at.length_row:
            own[at.length_row[e.body]] = of_base
        if e.body in at.angle_row:
            own[at.angle_row[e.body]] = columns[b]
        for p in e.further:
            i, j = at.point_row[e.body, p], at.point[p]
            for r in range(2):
                own[i + r] = sorted({*of_base, *([j + r] if j < n else [])})
    distances = tuple(
        (at.remaining_rows.index(row), at.distance_row[row], u) for row, u in at.distance.items()
    )
    return MapShape(columns, list(range(len(columns))), own, M, distances)


def _columns(family: PointFamily, b: int) -> list[tuple[int, int, float]]:
    """(column, axis, base) of the tip, the origin and the angle of a body."""
    at, n, e = family.layout, family.n, family.layout.elements[b]
    tip, origin = at.tip(e), at.point[e.origin]
    found = [] if tip is None else [(tip + k, k, 1.0) for k in range(2)]
    found += [(origin + k, k, -e.reach) for k in range(2)]
    angle = [(at.angle[e.body], -1, 0.0)] if e.body in at.angle else []
    return [each for each in found if each[0] < n] + angle


def map_context(family: PointFamily, X: BodyMap) -> MapContext:
    """The context of the kernels, and what is constant in the map."""
    at = family.layout
    listed = [_columns(family, b) for b in range(len(at.elements))]
    entry = [
        {int(u): p for p, u in enumerate(X.row_column[first:last].tolist(), int(first))}
        for first, last in pairwise(X.row_start[: len(family.own_rows) + 1])
    ]
    in_row = lambda rows: integers(
        entry[rows[e.body]].get(u, -1) if e.body in rows else -1
        for e, columns in zip(at.elements, listed, strict=True)
        for u, _, _ in columns
    )
    flat = [each for columns in listed for each in columns]
    base, axis = np.array([base for _, _, base in flat]), integers(axis for _, axis, _ in flat)
    W = BaseColumns(base, axis, in_row(at.length_row), in_row(at.angle_row))
    for b, e in enumerate(at.elements):
        for p, (u, axis_of, base_of) in enumerate(listed[b], int(X.start[b])):
            moved = _moved(at, e, 0.0j, u, axis_of, base_of)
            X.R[p] = (moved.real, moved.imag, axis_of < 0)
        for point in e.further:
            _point_slopes(family, b, point, entry, X)
    return MapContext(X, family.points, W)


def _moved(at: CoordinateLayout, e: RigidElement, s: complex, u: int, axis: int, base: float) -> complex:
    """r_P = r_1 + c D of a point at s, by column u."""
    if axis < 0:
        return 0.0j
    of_origin = u in (at.point[e.origin], at.point[e.origin] + 1)
    return (of_origin + base * e.weight(s)) * (1.0, 1.0j)[axis]


def _point_slopes(
    family: PointFamily, b: int, point: SharedPoint, entry: list[dict[int, int]], X: BodyMap
) -> None:
    """Rows r_3 - r_1 - c D = 0"""
    at, e = family.layout, family.layout.elements[b]
    i, j = at.point_row[e.body, point], at.point[point]
    for u, axis, base in _columns(family, b):
        moved = _moved(at, e, point.places[e.body], u, axis, base)
        for r, value in enumerate((moved.real, moved.imag) if axis >= 0 else ()):
            X.J[entry[i + r][u]] -= value
    for r in range(2 if j < family.n else 0):
        X.J[entry[i + r][j + r]] += 1.0
