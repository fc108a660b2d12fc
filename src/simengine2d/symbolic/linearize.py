"""Small motions of a symbolic system about a state of rest: dx/dt = A x + B u."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..analyses.linear.linearize import matrix_rows
from ..answer import Part, PlottedAnswer, Rows, digits
from ..errors import ModelError, UnsupportedError, listed, unknown
from ..numerics.arrays import Floats
from ..numerics.rank import row_space
from .calculus import jacobian
from .states import SymbolicEquilibrium, equilibrium

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .system import SymbolicSystem


@dataclass(frozen=True, repr=False)
class SymbolicLinearization(PlottedAnswer):
    """A and B with names. States are deviations of independent coordinates and of their rates."""

    A: Floats
    B: Floats
    states: list[str]
    inputs: list[str]
    rest: SymbolicEquilibrium

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        return np.linalg.eigvals(self.A).astype(complex)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The eigenvalues in the plane, on the axes given or on new ones, which are returned."""
        from ..draw.answer_plots import plot_eigenvalues

        return plot_eigenvalues(self, ax)

    def __str__(self) -> str:
        rates = ", ".join(digits(value) for value in np.sort_complex(self.eigenvalues))
        names = f"{len(self.states)} states: {listed(self.states)}\ninputs: {listed(self.inputs)}"
        return f"{names}\neigenvalues: {rates}"

    def _parts(self) -> Iterator[Part]:
        yield "dx/dt = A x + B u"
        yield Rows(["eigenvalues 1/s"], [[digits(value)] for value in np.sort_complex(self.eigenvalues)], 0)
        for name, matrix, across in (("A", self.A, self.states), ("B", self.B, self.inputs)):
            if matrix.size:
                yield Rows([name, *across], matrix_rows(self.states, matrix))


def linearize(
    system: SymbolicSystem,
    *,
    at: Any = None,
    inputs: Sequence[str] | str = (),
    states: Sequence[str] | None = None,
    t: float = 0.0,
    **others: Any,
) -> SymbolicLinearization:
    """About the equilibrium `at`, or the one next to a state. `inputs` are parameters that forces depend on.

    Z^T M Z vdd + Z^T D Z vd + Z^T K Z v = Z^T QA_u u,      Phi_q Z = 0,  Z = 1 in the rows of the states
    """
    refused = [name for name, value in others.items() if value is not None]
    if refused:
        raise UnsupportedError(
            f"linearize of a symbolic system does not know {listed(refused)}; leave it out."
        )
    point = at if isinstance(at, SymbolicEquilibrium) else equilibrium(system, start=at, t=t)
    q, still, numeric = point.q, np.zeros_like(point.q), system.numeric
    Z, chosen = _free_motions(system, numeric.Phi_q(point.t, q, still), states)
    names = [system.coordinate_names[i] for i in chosen]
    wanted = [inputs] if isinstance(inputs, str) else list(inputs)
    K = numeric.stiffness(point.t, q, still, still, point.lam)
    mass = Z.T @ numeric.M(point.t, q, still) @ Z
    d = len(chosen)
    D, forces = numeric.damping(point.t, q, still), _input_forces(system, point, wanted)
    right = np.hstack([-Z.T @ K @ Z, -Z.T @ D @ Z, Z.T @ forces])
    below = np.linalg.solve(mass, right)
    A = np.vstack([np.hstack([np.zeros((d, d)), np.eye(d)]), below[:, : 2 * d]])
    B = np.vstack([np.zeros((d, len(wanted))), below[:, 2 * d :]])
    return SymbolicLinearization(A, B, [*names, *(f"{name}d" for name in names)], wanted, point)


def _input_forces(system: SymbolicSystem, point: SymbolicEquilibrium, inputs: list[str]) -> Floats:
    """QA_u, one column per parameter."""
    known = {symbol.name: symbol for symbol in system.numbers.table.legend}
    for name in inputs:
        if name not in known:
            raise ModelError(f"the input '{name}' is not a parameter. {unknown('parameter', name, known)}")
    if not inputs:
        return np.zeros((system.n, 0))
    slopes = system.numeric.function(jacobian(system.QA, [known[name] for name in inputs]))
    forces: Floats = slopes(point.t, point.q, np.zeros_like(point.q))
    return forces


def _free_motions(
    system: SymbolicSystem, J: Floats, states: Sequence[str] | None
) -> tuple[Floats, list[int]]:
    """Motions that the constraints allow, one for each state, and the numbers of the states."""
    from scipy.linalg import qr

    free = row_space(J).null
    count = free.shape[1]
    if count == 0:
        raise UnsupportedError(f"nothing of '{system.title}' can move freely; there is nothing to linearize.")
    if states is None:
        chosen = sorted(int(i) for i in qr(free.T, pivoting=True)[2][:count])
    else:
        system.values(dict.fromkeys(states, 0.0))
        chosen = [system.coordinate_names.index(name) for name in states]
        if len(chosen) != count:
            raise ModelError(
                f"{len(chosen)} states are given, but '{system.title}' has {count} free motions."
            )
    if np.linalg.svd(free[chosen], compute_uv=False)[-1] < 1e-6:
        raise ModelError(
            f"{listed(states or ())} do not determine the position here; choose other coordinates."
        )
    return free @ np.linalg.inv(free[chosen]), chosen
