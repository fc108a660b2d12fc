"""Initial states: C = 0 and C_q qd = -C_t, with chosen coordinates and rates held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyses.equation_system import EquationSystem
from ..errors import AssemblyError
from ..numerics.arrays import Floats

if TYPE_CHECKING:
    from .system import SymbolicSystem

CLOSED = 1e-10  # error of a constraint, against the size of the coordinates
TRIES = 8


@dataclass(frozen=True)
class ConsistentState(EquationSystem):
    """Coordinates and rates that satisfy the constraints. Analyses start from it."""

    system: SymbolicSystem
    t: float
    q: Floats
    qd: Floats

    def __getitem__(self, name: str) -> float:
        values = [*self.q, *self.qd]
        known = [*self.system.coordinate_names, *(f"{n}d" for n in self.system.coordinate_names)]
        self.system.values({name: 0.0})  # says what there is, where the name is unknown
        return float(values[known.index(name)])

    def dynamics(self, **options: Any) -> Any:
        from .motion import move

        return move(self, **options)

    def equilibrium(self, **options: Any) -> Any:
        from .equilibrium import equilibrium

        return equilibrium(
            self.system, **{"start": self, **{k: v for k, v in options.items() if v is not None}}
        )

    def linearize(self, **options: Any) -> Any:
        return self.equilibrium().linearize(**options)


def initial(
    system: SymbolicSystem, t: float, guess: Mapping[str, float], held: Mapping[str, float]
) -> ConsistentState:
    """See `SymbolicSystem.initial`."""
    begin, fixed = system.values(guess), system.values(held)
    names = system.coordinate_names
    q = np.array([fixed.get(name, begin.get(name, 0.0)) for name in names])
    free = np.array([name not in fixed for name in names])
    q = _closed(system, t, q, free, fixed)
    qd = np.array([fixed.get(f"{name}d", begin.get(f"{name}d", 0.0)) for name in names])
    free = np.array([f"{name}d" not in fixed for name in names])
    return ConsistentState(system, t, q, _consistent(system, t, q, qd, free, fixed))


def _closed(system: SymbolicSystem, t: float, q: Floats, free: Any, fixed: Mapping[str, float]) -> Floats:
    """Gauss-Newton steps of the free coordinates; where they lead nowhere, from a start shaken a little."""
    random = np.random.default_rng(0)
    best = np.inf
    for attempt in range(TRIES):
        shaken = q + free * random.standard_normal(q.size) * (0.1 * attempt)
        found, error = _gauss_newton(system, t, shaken, free)
        if error <= CLOSED:
            return found
        best = min(best, error)
    Phi = np.abs(system.numeric.Phi(t, found, np.zeros_like(q)))
    worst = system.row_names[int(np.argmax(Phi))]
    held = ", ".join(f"{name} = {value:g}" for name, value in fixed.items()) or "nothing held"
    raise AssemblyError(
        f"no position satisfies the constraints at t = {t:g} with {held}: constraint '{worst}' stays at "
        f"{Phi.max():.3g}. Hold other coordinates, or give a guess."
    )


def _gauss_newton(system: SymbolicSystem, t: float, q: Floats, free: Any) -> tuple[Floats, float]:
    still = np.zeros_like(q)
    error = 0.0
    for _ in range(60):
        Phi = system.numeric.Phi(t, q, still)
        error = float(np.abs(Phi).max(initial=0.0)) / max(1.0, float(np.abs(q).max()))
        if not np.isfinite(error):
            return q, np.inf
        J = system.numeric.Phi_q(t, q, still)[:, free] if system.m else np.zeros((0, int(free.sum())))
        change = np.linalg.lstsq(J, -Phi, rcond=1e-12)[0] if J.size else np.zeros(int(free.sum()))
        q = q.copy()
        q[free] += change
        if np.abs(change).max(initial=0.0) <= 1e-15 * max(1.0, float(np.abs(q).max())):
            break
    return q, error


def _consistent(
    system: SymbolicSystem, t: float, q: Floats, qd: Floats, free: Any, fixed: Mapping[str, float]
) -> Floats:
    """The smallest change of the free rates that makes C_q qd = -C_t."""
    if system.m == 0:
        return qd
    slip = system.numeric.slip(t, q, qd)
    J = system.numeric.Phi_q(t, q, qd)[:, free]
    qd = qd.copy()
    qd[free] -= np.linalg.lstsq(J, slip, rcond=1e-12)[0] if J.size else 0.0
    left = np.abs(system.numeric.slip(t, q, qd))
    if left.max() > 1e-9 * max(1.0, float(np.abs(qd).max())):
        worst = system.row_names[int(np.argmax(left))]
        held = ", ".join(f"{name} = {value:g}" for name, value in fixed.items()) or "nothing held"
        raise AssemblyError(
            f"no velocity satisfies the constraints at t = {t:g} with {held}: constraint '{worst}' opens with "
            f"{left.max():.3g}. Hold other rates."
        )
    return qd
