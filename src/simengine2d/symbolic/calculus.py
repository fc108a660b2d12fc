"""Equations of motion from Phi(q, t), M and QA, derived by SymPy.

    Phi_q qd  = nu    = -Phi_t
    Phi_q qdd = gamma = -((Phi_q qd)_q qd + 2 Phi_qt qd + Phi_tt)

    [ M      Phi_q^T ] [ qdd ]   [ QA    ]
    [ Phi_q     0    ] [ lam ] = [ gamma ]

A row of velocities, v(q, qd, t) = 0, is linear in qd and holds no position: its Phi is 0, and

    Phi_q = v_qd,      nu = -v(q, 0, t),      gamma = -(v_q qd + v_t)

Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems (1989), sections 3.6 and 6.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import sympy as sp
from sympy.simplify.fu import TR8

STEP = sp.Symbol("h", positive=True)
BETA, GAMMA = sp.symbols("beta gamma", positive=True)
"""The step and the two numbers of Newmark's method."""


def jacobian(column: sp.Matrix, variables: Iterable[sp.Symbol]) -> sp.Matrix:
    """Derivatives, one row per entry; also where there are none."""
    variables = list(variables)
    return between_jumps(
        sp.Matrix(column.rows, len(variables), lambda i, j: sp.diff(column[i], variables[j]))
    )


def between_jumps(matrix: sp.Matrix) -> sp.Matrix:
    """The same without the impulses at the jumps of sign(x) and its like."""
    return matrix.replace(sp.DiracDelta, lambda *_: sp.Integer(0)) if matrix.has(sp.DiracDelta) else matrix


class MotionEquations:
    """The equations of a mechanical system as SymPy matrices of the symbols q, qd, qdd, lam and t."""

    def __init__(
        self,
        symbols: tuple[list[sp.Symbol], list[sp.Symbol], list[sp.Symbol], list[sp.Symbol]],
        t: sp.Symbol,
        M: sp.Matrix,
        QA: sp.Matrix,
        Phi: sp.Matrix,
        velocity_rows: dict[int, sp.Expr] | None = None,
    ) -> None:
        self.q, self.qd, self.qdd, self.lam = (sp.Matrix(len(part), 1, part) for part in symbols)
        self.t = t
        self.M, self.QA, self.Phi = M, QA, Phi
        self.velocity_rows = velocity_rows or {}
        """v of the rows that hold velocities."""

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return int(self.q.rows)

    @property
    def m(self) -> int:
        """Number of constraint equations."""
        return int(self.Phi.rows)

    @cached_property
    def Phi_q(self) -> sp.Matrix:
        """Jacobian of the constraints."""
        rows = jacobian(self.Phi, self.q)
        for i, v in self.velocity_rows.items():
            rows[i, :] = jacobian(sp.Matrix([v]), self.qd)
        return rows

    @cached_property
    def nu(self) -> sp.Matrix:
        """Right-hand side of the velocity equation, -Phi_t."""
        column = between_jumps(-self.Phi.diff(self.t))
        still = dict.fromkeys(self.qd, sp.Integer(0))
        for i, v in self.velocity_rows.items():
            column[i] = -v.xreplace(still)
        return column

    @cached_property
    def gamma(self) -> sp.Matrix:
        """Right-hand side of the acceleration equation."""
        curvature = jacobian(self.Phi_q * self.qd, self.q) * self.qd
        moving = 2 * self.Phi_q.diff(self.t) * self.qd + self.Phi.diff(self.t, 2)
        column = -(curvature + moving)
        for i, v in self.velocity_rows.items():
            column[i] = -(jacobian(sp.Matrix([v]), self.q) * self.qd)[0] - sp.diff(v, self.t)
        return simplify(between_jumps(column))

    @cached_property
    def augmented(self) -> sp.Matrix:
        """[M, Phi_q^T; Phi_q, 0]."""
        return _bordered(self.M, self.Phi_q)

    @cached_property
    def right_side(self) -> sp.Matrix:
        """[QA; gamma]."""
        return sp.Matrix(self.n + self.m, 1, [*self.QA, *self.gamma])

    def baumgarte(self, alpha: Any = None, beta: Any = None) -> sp.Matrix:
        """gamma - 2 alpha (Phi_q qd - nu) - beta^2 Phi, the stabilized right-hand side."""
        alpha = sp.Symbol("alpha", positive=True) if alpha is None else alpha
        beta = sp.Symbol("beta", positive=True) if beta is None else beta
        return self.gamma - 2 * alpha * (self.Phi_q * self.qd - self.nu) - beta**2 * self.Phi

    @cached_property
    def stiffness(self) -> sp.Matrix:
        """(M qdd + Phi_q^T lam - QA)_q."""
        return jacobian(self.M * self.qdd + self.Phi_q.T * self.lam - self.QA, self.q)

    @cached_property
    def damping(self) -> sp.Matrix:
        """-QA_qd."""
        return -jacobian(self.QA, self.qd)

    @cached_property
    def J(self) -> sp.Matrix:
        """Newton's matrix of Newmark's method, by qdd and lam.

        [ M + beta h^2 ((M qdd)_q + (Phi_q^T lam)_q - QA_q) - gamma h QA_qd    Phi_q^T ]
        [ Phi_q                                                                   0    ]
        """
        corner = self.M + BETA * STEP**2 * self.stiffness + GAMMA * STEP * self.damping
        return _bordered(corner, self.Phi_q)


def _bordered(corner: sp.Matrix, rows: sp.Matrix) -> sp.Matrix:
    if rows.rows == 0:
        return sp.Matrix(corner)
    return sp.Matrix(sp.BlockMatrix([[corner, rows.T], [rows, sp.zeros(rows.rows)]]))


# Shorter forms, by steps that are quick and change no value -------------------------------------------


LONGEST = 1000  # operations up to which a shorter form is looked for
HIGHEST = 4  # power of a sum up to which it is multiplied out


def simplify(matrix: sp.Matrix) -> sp.Matrix:
    """Each entry multiplied out, where that is shorter."""
    return matrix.applyfunc(_expanded)


def simplify_angles(matrix: sp.Matrix) -> sp.Matrix:
    """Each entry with cos(a - b) for cos(a) cos(b) + sin(a) sin(b), where that is shorter."""
    return matrix.applyfunc(_with_differences)


def _expanded(entry: sp.Expr) -> sp.Expr:
    return min(entry, sp.expand(entry), key=sp.count_ops) if _is_short(entry) else entry


def _is_short(entry: sp.Expr) -> bool:
    """Whether multiplying out ends soon."""
    sums = (p for p in entry.atoms(sp.Pow) if p.base.is_Add)
    return sp.count_ops(entry) <= LONGEST and all(p.exp.is_number and abs(p.exp) <= HIGHEST for p in sums)


def _with_differences(entry: sp.Expr) -> sp.Expr:
    if not entry.has(sp.sin, sp.cos) or not _is_short(entry):
        return entry
    expanded = sp.expand(entry)
    products = sp.expand(TR8(expanded))
    return min(entry, expanded, products, key=sp.count_ops)
