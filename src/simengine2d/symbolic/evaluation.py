"""A symbolic system in numbers: accelerations and multipliers, and the projection onto the constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy as sp

from ..answer import Answer
from ..errors import ModelError, SingularityError, listed
from ..numerics.arrays import Floats
from ..numerics.rank import row_space
from .calculus import jacobian

if TYPE_CHECKING:
    from .system import SymbolicSystem

SMALLEST = 1e-10  # singular value that counts, against the largest


class Evaluation(Answer):
    """Functions of (t, q, qd) with the numbers of the parameters."""

    def __init__(self, system: SymbolicSystem) -> None:
        self.system, self.n, self.m = system, system.n, system.m
        self.M, self.Phi_q = self.function(system.M), self.function(system.Phi_q)
        columns = (system.QA, system.Phi, system.nu, system.gamma)
        self.QA, self.Phi, self.nu, self.gamma = (flat(self.function(column)) for column in columns)

    def __str__(self) -> str:
        return f"M, QA, Phi, Phi_q, nu and gamma of {self.system.title} as functions of (t, q, qd)"

    def function(self, matrix: sp.Matrix, *more: Any) -> Any:
        """A matrix of q, qd and t in numbers."""
        s = self.system
        return as_function(matrix, [s.t, list(s.q), list(s.qd), *more], s.numbers.table.numbers)

    @cached_property
    def stiffness(self) -> Any:
        """(M qdd + Phi_q^T lam - QA)_q as a function of (t, q, qd, qdd, lam)."""
        return self.function(self.system.stiffness, list(self.system.qdd), list(self.system.lam))

    @cached_property
    def damping(self) -> Any:
        """-QA_qd."""
        return self.function(self.system.damping)

    def slip(self, t: float, q: Floats, qd: Floats) -> Floats:
        """Phi_q qd - nu, how fast the constraints open."""
        error: Floats = self.Phi_q(t, q, qd) @ qd - self.nu(t, q, qd)
        return error

    @cached_property
    def slip_slope(self) -> Any:
        """(Phi_q qd - nu)_q."""
        s = self.system
        return self.function(jacobian(s.Phi_q * s.qd - s.nu, s.q))

    @cached_property
    def _posed(self) -> Any:
        """Columns: the augmented matrix, its right-hand side, and beside gamma Phi and Phi_q qd - nu."""
        s = self.system
        beside = lambda rows: sp.Matrix.vstack(sp.zeros(self.n, 1), rows) if self.m else sp.zeros(self.n, 1)
        slip = s.Phi_q * s.qd - s.nu
        return self.function(sp.Matrix.hstack(s.augmented, s.right_side, beside(s.Phi), beside(slip)))

    def accelerations(
        self,
        t: float,
        q: Floats,
        qd: Floats,
        stabilization: tuple[float, float],
        compliances: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """qdd and lam of the augmented equations, with Baumgarte's 2 alpha and beta^2; of a penalty also 1/alpha."""
        size = self.n + self.m
        posed = self._posed(t, q, qd)
        right = posed[:, size] - stabilization[1] * posed[:, size + 1] - stabilization[0] * posed[:, size + 2]
        A = posed[:, :size]
        if compliances is not None:
            A[range(self.n, size), range(self.n, size)] -= compliances
        return self.parted(t, q, A, right)

    def mobilities(self, t: float, q: Floats, qd: Floats) -> Floats:
        """Diagonal of Phi_q M^-1 Phi_q^T: one over the effective mass of each constraint."""
        Phi_q = self.Phi_q(t, q, qd)
        return np.einsum("ij,ji->i", Phi_q, np.linalg.lstsq(self.M(t, q, qd), Phi_q.T, rcond=None)[0])

    def solve(self, t: float, q: Floats, qd: Floats, top: Floats, bottom: Floats) -> tuple[Floats, Floats]:
        """[M, Phi_q^T; Phi_q, 0] [x; lam] = [top; bottom]; of dependent rows the smallest multipliers."""
        A = self._posed(t, q, qd)[:, : self.n + self.m]
        return self.parted(t, q, A, np.concatenate([top, bottom]))

    def parted(self, t: float, q: Floats, A: Floats, right: Floats) -> tuple[Floats, Floats]:
        if not (np.all(np.isfinite(A)) and np.all(np.isfinite(right))):
            raise SingularityError(f"at t = {t:g} s the equations have no finite value: {self.words(q)}.")
        x = self._solved(A, right)
        if x is None:
            raise SingularityError(
                f"at t = {t:g} s the equations cannot be solved: {self.words(q)}. "
                "A free motion has no mass, or constraints contradict each other."
            )
        return x[: self.n], x[self.n :]

    def _solved(self, A: Floats, right: Floats) -> Floats | None:
        """By equal scales of rows and columns; None where there is no solution."""
        size = np.sqrt(np.abs(A).max(axis=1))
        scale = 1.0 / np.where(size > 0.0, size, 1.0)
        scaled, b = A * scale[:, None] * scale, right * scale
        x = np.linalg.lstsq(scaled, b, rcond=SMALLEST)[0]
        residual = np.abs(scaled @ x - b).max(initial=0.0)
        if not residual <= 1e-8 * max(
            np.abs(b).max(initial=0.0), (np.abs(scaled) @ np.abs(x)).max(initial=0.0), 1e-300
        ):
            return None
        answer: Floats = x * scale
        return answer

    def project(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """The nearest state on the constraints, where masses say what is near."""
        if self.m == 0:
            return q, qd
        none = np.zeros(self.n)
        for _ in range(10):
            change = self.solve(t, q, qd, none, -self.Phi(t, q, qd))[0]
            q = q + change
            if np.abs(change).max() <= 1e-14 * max(1.0, np.abs(q).max()):
                break
        return q, qd + self.solve(t, q, qd, none, -self.slip(t, q, qd))[0]

    def examine(self, t: float, q: Floats, qd: Floats) -> list[str]:
        """Names of dependent constraints; an error where a free motion has no mass."""
        space = row_space(self.Phi_q(t, q, qd))
        free = space.null.T
        M = self.M(t, q, qd)
        energies = np.linalg.eigvalsh(free @ M @ free.T) if free.size else np.ones(1)
        if energies.min() <= 1e-14 * np.abs(M).max(initial=0.0):
            raise ModelError(
                "a free motion has no mass, so forces cannot decide it: "
                f"M is not positive for all motions that the constraints allow, at {self.words(q)}."
            )
        return [
            name for name, needed in zip(self.system.row_names, space.takes_part(), strict=True) if needed
        ]

    def words(self, q: Floats) -> str:
        return listed(
            f"{name} = {value:.6g}" for name, value in zip(self.system.coordinate_names, q, strict=True)
        )


# Functions of numbers ---------------------------------------------------------------------------------


TimeJet = Callable[[float], tuple[float, float, float]]


class _StandIn(NamedTuple):
    """Symbols for f, f' and f'' of a function of time."""

    jet: TimeJet
    value: sp.Symbol
    first: sp.Symbol
    second: sp.Symbol

    def put_into(self, matrix: sp.Matrix, f: sp.Expr) -> sp.Matrix:
        matrix = matrix.xreplace({sp.Derivative(f, (*f.args, 2)): self.second})
        return matrix.xreplace({sp.Derivative(f, *f.args): self.first}).xreplace({f: self.value})


def flat(function: Callable[..., Floats]) -> Callable[..., Floats]:
    """A column as an array of one dimension."""
    return lambda *arguments: function(*arguments).ravel()


def as_function(
    matrix: sp.Matrix,
    arguments: Sequence[Any],
    numbers: Mapping[sp.Symbol, Any],
    functions: Mapping[str, Any] | None = None,
    of_time: Mapping[sp.Expr, TimeJet] | None = None,
) -> Callable[..., Floats]:
    """A Python function of the arguments (the first is t) that returns an array of the matrix's shape.

    `functions` are those of Python by name; `of_time` holds f, f', f'' of functions that SymPy does not know.
    """
    stand_ins = [_StandIn(jet, *sp.symbols("f fd fdd", cls=sp.Dummy)) for jet in (of_time or {}).values()]
    for f, symbols in zip(of_time or {}, stand_ins, strict=True):
        matrix = symbols.put_into(matrix, f)
    matrix = matrix.xreplace({symbol: sp.sympify(number) for symbol, number in numbers.items()})
    jets = [symbol for symbols in stand_ins for symbol in symbols[1:]]
    _refuse_unknown(matrix, [*_flat(arguments), *jets])
    modules = [{"Whole": np.floor, **(functions or {})}, "numpy"]
    compiled = sp.lambdify([*arguments, jets], list(matrix), modules=modules, cse=True)

    def evaluated(t: float, *others: Any) -> Floats:
        seeds = [part for symbols in stand_ins for part in symbols.jet(t)]
        return np.array([float(entry) for entry in compiled(t, *others, seeds)]).reshape(matrix.shape)

    return evaluated


def _flat(arguments: Sequence[Any]) -> list[Any]:
    return [
        s
        for argument in arguments
        for s in (argument if isinstance(argument, sp.MatrixBase | list | tuple) else [argument])
    ]


def _refuse_unknown(matrix: sp.Matrix, known: Sequence[Any]) -> None:
    unknown = sorted(symbol.name for symbol in matrix.free_symbols - set(known))
    if unknown:
        example = f"parameters={{'{unknown[0]}': 1.0}}"
        raise ModelError(f"the equations hold {listed(unknown)} without a value; give {example}.")
