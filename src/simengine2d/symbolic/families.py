"""Coordinate families in symbols: q = f(z) of the bodies, and what follows from it.

    M_z = R^T M R,    Q_z = R^T (QA - M Rd zd),    qd = R zd

Where a family has a constant mass matrix it gives the kinetic energy instead, and Q_z = R^T QA.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import sympy as sp

from ..analyses.assembly.assemble import assemble
from ..coordinates.base import Family, asked_for, family_of
from ..coordinates.natural.natural import Natural, refuse_counted_turns
from ..coordinates.natural.orientations import welded_angles
from ..errors import UnsupportedError, listed
from ..methods import ChosenCoordinates
from ..system.system import System
from .bodies import BodySymbols
from .calculus import MotionEquations, jacobian, simplify_angles
from .frames import SymbolicFrames
from .letters import Letter, coordinate_letter


class Coordinates(NamedTuple):
    """z, zd and zdd, and the bodies in terms of them."""

    z: list[sp.Symbol]
    zd: list[sp.Symbol]
    zdd: list[sp.Symbol]
    q: list[sp.Expr]
    directions: dict[sp.Expr, sp.Expr]
    """Cosines and sines of the bodies' angles, where they are not functions of an angle."""
    own_rows: list[sp.Expr]
    held: dict[int, sp.Expr]
    """Measures of kept rows that are coordinates themselves."""
    energy: sp.Expr | None = None
    """Kinetic energy, where its mass matrix is constant."""


def closed_family(system: System, coordinates: ChosenCoordinates) -> Family:
    """The family in numbers, which knows its coordinates and rows; an error where the system cannot have it."""
    if asked_for(coordinates)[0] is Natural:  # a driven angle would leave atan2 behind after half a turn
        refuse_counted_turns(system, welded_angles(system))
    return family_of(coordinates, system, assemble(system).q)


def new_symbols(bodies: BodySymbols, names: list[str], order: int) -> list[sp.Symbol]:
    """`A.x` by the name x_A, `slider.ux` by ux_slider, `O.angle` by theta_O."""
    symbols = []
    for name in names:
        owner, _, quantity = name.rpartition(".")
        letter = coordinate_letter(name, order)
        word = f"{quantity if letter.base == 'u' else letter.base}{'d' * order}_{owner}"
        symbols.append(bodies.table.new(word, letter))
    return symbols


@singledispatch
def in_symbols(
    family: Family, bodies: BodySymbols, frames: SymbolicFrames, core: MotionEquations
) -> Coordinates:
    """q = f(z) of a family; `in_symbols.register` adds one."""
    known = listed(sorted(name for name in Family.registry if name != family.name))
    raise UnsupportedError(
        f"the equations cannot be written in '{family.name}' coordinates, whose q = f(z) is known in numbers only. "
        f"Use one of {known}."
    )


def in_family(
    bodies: BodySymbols, frames: SymbolicFrames, family: Family, core: MotionEquations
) -> MotionEquations:
    """The equations of the bodies in the coordinates of a family."""
    from . import point_coordinates, tree_coordinates  # noqa: F401  (they register themselves)

    found = in_symbols(family, bodies, frames, core)
    z, zd = found.z, sp.Matrix(found.zd)
    q = sp.Matrix(found.q)
    R = jacobian(q, z)
    qd = R * zd
    rule: dict[Any, Any] = {
        **found.directions,
        **dict(zip(core.q, q, strict=True)),
        **dict(zip(core.qd, qd, strict=True)),
    }
    Phi = [core.Phi[i].xreplace(rule) for i in family.remaining_rows]
    for i, measure in found.held.items():
        Phi[family.remaining_rows.index(i)] = measure
    QA = core.QA.xreplace(rule)
    if found.energy is None:
        M = simplify_angles(R.T * core.M * R)
        Q = simplify_angles(R.T * (QA - core.M * jacobian(qd, z) * zd))
    else:
        M = jacobian(jacobian(sp.Matrix([found.energy]), zd).T, zd)
        Q = R.T * QA
    rows, own = [*found.own_rows, *Phi], len(found.own_rows)
    rates = {own + family.remaining_rows.index(i): v.xreplace(rule) for i, v in core.velocity_rows.items()}
    lam = [_multiplier(bodies, name) for name in family.row_names]
    return MotionEquations((z, found.zd, found.zdd, lam), core.t, M, Q, sp.Matrix(len(rows), 1, rows), rates)


def _multiplier(bodies: BodySymbols, row: str) -> sp.Symbol:
    owner, _, label = row.rpartition(".")
    return bodies.table.new(f"lambda_{owner}_{label}", Letter("lambda", label, owner))


# The plane as complex numbers x + iy, in symbols ------------------------------------------------------


class PlaneVector(NamedTuple):
    x: sp.Expr
    y: sp.Expr

    def plus(self, other: PlaneVector) -> PlaneVector:
        return PlaneVector(self.x + other.x, self.y + other.y)

    def minus(self, other: PlaneVector) -> PlaneVector:
        return PlaneVector(self.x - other.x, self.y - other.y)

    def times(self, other: PlaneVector) -> PlaneVector:
        return PlaneVector(self.x * other.x - self.y * other.y, self.y * other.x + self.x * other.y)

    def over(self, other: PlaneVector) -> PlaneVector:
        size = other.size2
        return PlaneVector(
            (self.x * other.x + self.y * other.y) / size, (self.y * other.x - self.x * other.y) / size
        )

    @property
    def size2(self) -> sp.Expr:
        return self.x**2 + self.y**2


def turned(angle: sp.Expr) -> PlaneVector:
    """The unit vector at an angle."""
    return PlaneVector(sp.cos(angle), sp.sin(angle))


ZERO, ONE = PlaneVector(sp.Integer(0), sp.Integer(0)), PlaneVector(sp.Integer(1), sp.Integer(0))
