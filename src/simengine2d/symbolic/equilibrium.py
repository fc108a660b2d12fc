"""Equilibrium of a symbolic system: Phi_q^T lam = QA and Phi = 0 at rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyses.equation_system import EquationSystem
from ..errors import ConvergenceError, ModelError, UnsupportedError, listed
from ..numerics.arrays import Floats
from .initial import CLOSED, ConsistentState

if TYPE_CHECKING:
    from .system import SymbolicSystem

BALANCED = 1e-9  # forces left over, against the largest
SETTLED = 1e-10  # last change of the coordinates, against their size


@dataclass(frozen=True)
class SymbolicEquilibrium(EquationSystem):
    """A state of rest. `stable` says whether small motions about it die out or stay small."""

    system: SymbolicSystem
    t: float
    q: Floats
    lam: Floats

    @property
    def state(self) -> ConsistentState:
        return ConsistentState(self.system, self.t, self.q, np.zeros_like(self.q))

    def __getitem__(self, name: str) -> float:
        return self.state[name]

    @property
    def stable(self) -> bool:
        """No small motion grows."""
        rates = self.linearize().eigenvalues
        return bool(np.all(rates.real <= 1e-7 * np.abs(rates).max(initial=0.0)))

    def dynamics(self, **options: Any) -> Any:
        return self.state.dynamics(**options)

    def equilibrium(self, **options: Any) -> Any:
        return self.state.equilibrium(**options)

    def linearize(self, **options: Any) -> Any:
        from .linearize import linearize

        return linearize(self.system, **{"at": self, **{k: v for k, v in options.items() if v is not None}})


def equilibrium(
    system: SymbolicSystem, *, start: Any = None, t: float = 0.0, **others: Any
) -> SymbolicEquilibrium:
    """The equilibrium next to `start`: a state, or values by name."""
    refused = [name for name, value in others.items() if value not in (None, False, "newton")]
    if refused:
        raise UnsupportedError(
            f"equilibrium of a symbolic system does not know {listed(refused)}; leave it out."
        )
    state = _state(system, start, t)
    q = _newton(system, state.t, state.q)
    return SymbolicEquilibrium(system, state.t, q, _multipliers(system, state.t, q))


def _state(system: SymbolicSystem, start: Any, t: float) -> ConsistentState:
    if isinstance(start, ConsistentState | SymbolicEquilibrium):
        return start if isinstance(start, ConsistentState) else start.state
    if start is None or isinstance(start, Mapping):
        return system.initial(t, start)  # type: ignore[no-any-return]
    raise ModelError(f"start = {start!r} must be a state, or values such as {{'theta': 0.1}}.")


def _multipliers(system: SymbolicSystem, t: float, q: Floats) -> Floats:
    """The smallest lam that comes nearest to Phi_q^T lam = QA."""
    still = np.zeros_like(q)
    across, QA = system.numeric.Phi_q(t, q, still).T, system.numeric.QA(t, q, still)
    lam: Floats = np.linalg.lstsq(across, QA, rcond=1e-12)[0]
    return lam


def _newton(system: SymbolicSystem, t: float, q: Floats) -> Floats:
    """Newton's method for q and lam, until its steps vanish."""
    n, y = q.size, np.concatenate([q, _multipliers(system, t, q)])
    for _ in range(100):
        step = _step(system, t, y)
        y = y + step
        if np.abs(step[:n]).max() <= SETTLED * max(1.0, float(np.abs(y[:n]).max())):
            break
    left, size = _left_over(system, t, y)
    if np.abs(left[:n]).max() <= BALANCED * size and np.abs(left[n:]).max(initial=0.0) <= CLOSED * max(
        1.0, float(np.abs(y[:n]).max())
    ):
        return y[:n]
    raise ConvergenceError(
        f"no equilibrium of '{system.title}' was found near {system.numeric.words(q)}; give another start, "
        "or add damping and let dynamics bring it to rest."
    )


def _step(system: SymbolicSystem, t: float, y: Floats) -> Floats:
    """Newton's step, halved until what is not balanced shrinks."""
    n, left = system.n, _left_over(system, t, y)[0]
    still = np.zeros(n)
    J = np.zeros((y.size, y.size))
    J[:n, :n] = system.numeric.stiffness(t, y[:n], still, still, y[n:])
    J[n:, :n] = system.numeric.Phi_q(t, y[:n], still)
    J[:n, n:] = J[n:, :n].T
    step: Any = np.linalg.lstsq(J, -left, rcond=1e-12)[0]
    norm = np.linalg.norm(left)
    for _ in range(30):
        after = _left_over(system, t, y + step)[0]
        if np.linalg.norm(after) < norm:
            break
        step = step / 2
    return step


def _left_over(system: SymbolicSystem, t: float, y: Floats) -> tuple[Floats, float]:
    """What is not balanced, and the size of forces: those that act, and those that a change of q by 1 would make."""
    n, numeric = system.n, system.numeric
    q, lam, still = y[:n], y[n:], np.zeros(n)
    pull, QA = numeric.Phi_q(t, q, still).T @ lam, numeric.QA(t, q, still)
    stiff = numeric.stiffness(t, q, still, still, lam)
    size = max(float(np.abs(part).max(initial=0.0)) for part in (QA, pull, stiff)) or 1.0
    return np.concatenate([pull - QA, numeric.Phi(t, q, still)]), size
