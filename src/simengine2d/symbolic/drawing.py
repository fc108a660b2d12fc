"""Pictures of systems without bodies: lines between points that are given as expressions.

A line of constant length becomes a bar of a model, any other a spring; so all that draws mechanisms draws them too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy as sp

from ..errors import ModelError
from ..model.forces.spring import Spring
from ..model.joints.revolute import Revolute
from ..model.measure import distance
from ..model.model import Model
from ..model.names import between_commas
from ..numerics.arrays import Floats
from ..results.results import Results
from ..system.system import System
from .user_input import UserInput

if TYPE_CHECKING:
    from .motion import SymbolicMotion

RIGID = 1e-6  # change of a length, relative to it, up to which a line is a bar
EXAMPLE = "draw={'rod': ['0, 0', 'L*cos(theta), L*sin(theta)']}"

Lines = dict[str, list[sp.Matrix]]
"""Points (x, y) of each line, by name."""


def lines_of(given: UserInput, draw: Mapping[str, Sequence[Any]]) -> Lines:
    """Lines as users write them: points as text "x, y", or as pairs of expressions."""
    lines = {}
    for name, points in draw.items():
        if isinstance(points, str) or not isinstance(points, Sequence) or len(points) < 2:
            raise ModelError(f"the line '{name}' is {points!r}; give at least two points, such as {EXAMPLE}.")
        lines[name] = [_point(given, point, f"a point of '{name}'") for point in points]
    return lines


def _point(given: UserInput, point: Any, what: str) -> sp.Matrix:
    parts = between_commas(point) if isinstance(point, str) else list(point)
    if len(parts) != 2:
        raise ModelError(f"{what} is {point!r}; a point is 'x, y', two expressions.")
    return sp.Matrix([given.expression(part, what) for part in parts])


class _Track(NamedTuple):
    """A point over time: r, rd and rdd have the rows x and y."""

    r: Floats
    rd: Floats
    rdd: Floats


def drawn(motion: SymbolicMotion, lines: Lines) -> Results:
    """The lines as bars and springs of a model, which move with the motion."""
    if not lines:
        raise ModelError(f"nothing says what to draw; give lines between points, such as {EXAMPLE}.")
    model, states = Model(motion.system.title, gravity=(0, 0)), []
    for name, points in lines.items():
        tracks = [_track(motion, point) for point in points]
        for i in range(len(tracks) - 1):
            part = name if len(tracks) == 2 else f"{name} {i + 1}"
            states += _add_line(model, part, tracks[i], tracks[i + 1])
    q, qd, qdd = (np.vstack(level).T for level in zip(*states, strict=True))
    return Results(System(model), motion.t, q, qd, qdd, analysis="drawing", status=motion.status)


def _track(motion: SymbolicMotion, r: sp.Matrix) -> _Track:
    """r, and  d/dt = ( )_q qd + ( )_qd qdd + ( )_t  of it, once and twice."""
    s = motion.system
    rate = lambda e: e.jacobian(s.q) * s.qd + e.jacobian(s.qd) * s.qdd + e.diff(s.t)
    rd = rate(r)
    f = s.numeric.function(sp.Matrix.hstack(r, rd, rate(rd)), list(s.qdd))
    rows = zip(motion.t, motion.q, motion.qd, motion.qdd, strict=True)
    return _Track(*np.array([f(*row) for row in rows]).reshape(-1, 2, 3).transpose(2, 1, 0))


def _add_line(model: Model, name: str, a: _Track, b: _Track) -> list[tuple[Floats, Floats, Floats]]:
    """Add a line between two points; the coordinates, rates and accelerations of its bodies, three rows each."""
    length = np.hypot(*(b.r - a.r))
    if np.ptp(length) > RIGID * length.max(initial=0.0) or not length.min(initial=1.0) > 0.0:
        return _add_spring(model, name, a, b)
    bar = model.bar(name, tuple(a.r[:, 0]), tuple(b.r[:, 0]))
    for end, track in (("start", a), ("end", b)):
        if not np.ptp(track.r, axis=1).any():  # a point that stays is a bearing
            model.add(Revolute(f"{name} {end}", model.ground, bar[end]))
    return [_bar_rates(a, b)]


def _bar_rates(a: _Track, b: _Track) -> tuple[Floats, Floats, Floats]:
    """The middle of the bar, and phi of d = b - a:  phid = d x dd / d.d,   phidd = (d x ddd - 2 (d . dd) phid) / d.d"""
    middle = [0.5 * (p + q) for p, q in zip(a, b, strict=True)]
    d, dd, ddd = (q - p for p, q in zip(a, b, strict=True))
    cross = lambda u, v: u[0] * v[1] - u[1] * v[0]
    square = (d**2).sum(axis=0)
    phi = np.unwrap(np.arctan2(d[1], d[0]))
    phid = cross(d, dd) / square
    phidd = (cross(d, ddd) - 2.0 * (d * dd).sum(axis=0) * phid) / square
    q, qd, qdd = (np.vstack([r, angle]) for r, angle in zip(middle, (phi, phid, phidd), strict=True))
    return q, qd, qdd


def _add_spring(model: Model, name: str, a: _Track, b: _Track) -> list[tuple[Floats, Floats, Floats]]:
    """A spring between two bodies that are points."""
    ends = [model.body(f"{name} {end}", at=tuple(track.r[:, 0])) for end, track in (("start", a), ("end", b))]
    model.add(Spring(name, distance(*ends)))
    still = np.zeros((1, a.r.shape[1]))
    rates = [tuple(np.vstack([level, still]) for level in track) for track in (a, b)]
    return rates  # type: ignore[return-value]
