"""Systems without bodies: coordinates, constraints and energies as formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import sympy as sp

from ..analyses.equation_system import EquationSystem, RestOptions, RunOptions, SmallMotionOptions
from ..errors import ModelError, listed, unknown
from ..methods import NotationName
from .calculus import MotionEquations, jacobian, simplify, simplify_angles
from .drawing import lines_of
from .equations import Equations, Names, SymbolValues
from .evaluation import Evaluation
from .letters import Letter
from .linearize import SymbolicLinearization, linearize
from .states import ConsistentState, SymbolicEquilibrium, equilibrium, initial
from .user_input import UserInput


class SymbolicSystem(Equations, EquationSystem):
    """Equations of motion from formulas: q, constraints C(q, t) = 0, and masses and forces.

    Either M qdd + C_q^T lam = Q - V_q with the mass matrix `M` (velocity terms belong into Q then), or Lagrange's
    equations of the kinetic energy `T` and the potential energy `V`, with further forces `Q`. Everything may be SymPy
    or text; the rate of x is xd, or x(t).diff(t). `C` and `Q` may be dictionaries, which name constraints and forces.
    `draw` says what is seen of it: lines between points, {"rod": ["0, 0", "L*cos(theta), L*sin(theta)"]}.

        system = System(q="x y theta", C=["x - L/2*cos(theta)", "y - L/2*sin(theta)"],
                        M=["m", "m", "m*L^2/12"], Q=[0, "-m*g", 0], parameters={"L": 0.5, "m": 0.3, "g": 9.81})
        system.C_q, system.Q_d, system.augmented
        r = simengine2d.dynamics(system.initial(theta=0), t_end=3)
    """

    def __init__(
        self,
        q: Any,
        *,
        C: Any = (),
        M: Any = None,
        T: Any = None,
        V: Any = 0,
        Q: Any = None,
        parameters: Mapping[Any, Any] | None = None,
        draw: Mapping[str, Sequence[Any]] | None = None,
        notation: NotationName = "shabana",
        name: str = "system",
    ) -> None:
        given = self.given = UserInput(q, parameters)
        self.lines = lines_of(given, draw or {})
        rows = list(map(str, C)) if isinstance(C, Mapping) else []
        Phi = given.column(list(C.values()) if isinstance(C, Mapping) else C, "C")
        rows = rows or [str(k + 1) for k in range(Phi.rows)]
        _refuse_rates(Phi, rows, given)
        mass, force = _masses_and_forces(given, M, T, V, Q)
        lam = [given.table.new(f"lambda_{row}", Letter("lambda", row)) for row in rows]
        core = MotionEquations((given.q, given.qd, given.qdd, lam), given.t, mass, force, Phi)
        super().__init__(core, _names(name, given.names, rows), SymbolValues(given.table, {}, {}), notation)

    def initial(
        self, t: float = 0.0, guess: Mapping[str, float] | None = None, **held: float
    ) -> ConsistentState:
        """A state with C = 0 and C_q qd = -C_t. Coordinates and rates may be held: `initial(theta=0, thetad=1)`.

        The others start at the `guess`, or at zero, and change as little as possible.
        """
        return initial(self, t, guess or {}, held)

    def values(self, given: Mapping[str, float]) -> dict[str, float]:
        """Numbers for coordinates and rates by name."""
        known = [*self.coordinate_names, *(f"{name}d" for name in self.coordinate_names)]
        for name in given:
            if name not in known:
                raise ModelError(
                    f"'{name}' is neither a coordinate nor a rate. {unknown('name', name, known)}"
                )
        return {name: float(value) for name, value in given.items()}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "numeric"}

    @cached_property
    def numeric(self) -> Evaluation:
        """The equations as functions of numbers."""
        return Evaluation(self)

    # analyses

    def dynamics(self, **options: Unpack[RunOptions]) -> Any:
        return self.initial().dynamics(**options)

    def equilibrium(self, **options: Unpack[RestOptions]) -> SymbolicEquilibrium:
        return equilibrium(self, **options)

    def linearize(self, **options: Unpack[SmallMotionOptions]) -> SymbolicLinearization:
        return linearize(self, **options)


def _masses_and_forces(given: UserInput, M: Any, T: Any, V: Any, Q: Any) -> tuple[sp.Matrix, sp.Matrix]:
    """M and everything on the right-hand side."""
    if (M is None) == (T is None):
        raise ModelError("give either the mass matrix M or the kinetic energy T.")
    potential = given.expression(V, "V")
    _refuse(potential, given.qd, "V", "a potential energy depends on coordinates and t")
    force = _forces(given, Q) - jacobian(sp.Matrix([potential]), given.q).T
    if M is not None:
        return _mass_matrix(given, M), force
    return _lagrange(given, T, force)


def _lagrange(given: UserInput, T: Any, force: sp.Matrix) -> tuple[sp.Matrix, sp.Matrix]:
    """d/dt T_qd - T_q = Q - V_q  with  d/dt T_qd = T_qdqd qdd + T_qdq qd + T_qdt"""
    energy = sp.Matrix([given.expression(T, "T")])
    momentum = jacobian(energy, given.qd).T
    M = simplify_angles(simplify(jacobian(momentum, given.qd)))
    _refuse(M, given.qd, "T", "a kinetic energy is quadratic in the rates")
    rates = sp.Matrix(given.qd)
    return M, force + jacobian(energy, given.q).T - jacobian(momentum, given.q) * rates - momentum.diff(
        given.t
    )


def _mass_matrix(given: UserInput, M: Any) -> sp.Matrix:
    """n x n; a list of n entries is a diagonal."""
    n = len(given.names)
    rows = M.tolist() if isinstance(M, sp.MatrixBase | np.ndarray) else M
    if not isinstance(rows, list | tuple):
        raise ModelError(f"M is {M!r}; give {n} masses or a matrix of {n} x {n}.")
    if any(isinstance(row, list | tuple) for row in rows):
        if len(rows) != n or any(not isinstance(row, list | tuple) or len(row) != n for row in rows):
            raise ModelError(f"M must be {n} x {n}, one row for each of {listed(given.names)}.")
        matrix = sp.Matrix([[given.expression(entry, "M") for entry in row] for row in rows])
    else:
        matrix = sp.diag(*given.column(rows, "M", n))
    _refuse(matrix, given.qd, "M", "masses depend on coordinates and t")
    if matrix != matrix.T and not simplify_angles(simplify(matrix - matrix.T)).is_zero_matrix:
        raise ModelError("M must be symmetric.")
    return matrix


def _forces(given: UserInput, Q: Any) -> sp.Matrix:
    n = len(given.names)
    if Q is None:
        return sp.zeros(n, 1)
    if isinstance(Q, Mapping):
        by_name = {str(getattr(key, "name", key)): value for key, value in Q.items()}
        for name in by_name:
            if name not in given.names:
                raise ModelError(f"Q names '{name}'. {unknown('coordinate', name, given.names)}")
        Q = [by_name.get(name, 0) for name in given.names]
    return given.column(Q, "Q", n)


def _refuse(matrix: Any, symbols: list[sp.Symbol], what: str, sentence: str) -> None:
    strange = sorted(symbol.name for symbol in matrix.free_symbols & set(symbols))
    if strange:
        raise ModelError(f"{what} holds {listed(strange)}; {sentence}.")


def _refuse_rates(Phi: sp.Matrix, rows: list[str], given: UserInput) -> None:
    for row, entry in zip(rows, Phi, strict=True):
        _refuse(entry, given.qd, f"constraint '{row}'", "constraints are equations of coordinates and t")
        if not entry.free_symbols & set(given.q):
            raise ModelError(
                f"constraint '{row}', {entry} = 0, holds no coordinate of {listed(given.names)}."
            )


def _names(title: str, coordinates: list[str], rows: list[str]) -> Names:
    everything = list(range(len(coordinates)))
    return Names(
        title, coordinates, {"": everything}, {"": "Coordinates, masses and forces"},
        rows, {"": list(range(len(rows)))} if rows else {}, {"": "Constraints"},
    )  # fmt: skip
