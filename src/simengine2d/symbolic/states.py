"""States of a symbolic system: initial ones, and those of rest.

C = 0,  C_q qd = -C_t      with chosen coordinates and rates held
Phi_q^T lam = QA,  Phi = 0      at rest
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..analyses.equation_system import EquationSystem, RestOptions, RunOptions, SmallMotionOptions
from ..answer import Answer, Part, Rows, digits
from ..errors import AssemblyError, ConvergenceError, ModelError, UnsupportedError, listed
from ..numerics.arrays import Floats

if TYPE_CHECKING:
    from .system import SymbolicSystem

CLOSED = 1e-10  # error of a constraint, against the size of the coordinates
TRIES = 8


@dataclass(frozen=True, repr=False)
class ConsistentState(Answer, EquationSystem):
    """Coordinates and rates that satisfy the constraints. Analyses start from it."""

    system: SymbolicSystem
    t: float
    q: Floats
    qd: Floats

    def __str__(self) -> str:
        names = self.system.coordinate_names
        values = [f"{name} = {value:.6g}" for name, value in zip(names, self.q, strict=True)]
        return f"{self.system.title} at t = {self.t:g}: {listed(values)}"

    def _parts(self) -> Iterator[Part]:
        yield f"{self.system.title}: state at t = {self.t:g}"
        values = zip(self.system.coordinate_names, self.q, self.qd, strict=True)
        yield Rows(["coordinate", "value", "rate"], [[n, digits(q), digits(qd)] for n, q, qd in values])

    def __getitem__(self, name: str) -> float:
        values = [*self.q, *self.qd]
        known = [*self.system.coordinate_names, *(f"{n}d" for n in self.system.coordinate_names)]
        self.system.values({name: 0.0})  # says what there is, where the name is unknown
        return float(values[known.index(name)])

    def dynamics(self, **options: Unpack[RunOptions]) -> Any:
        from .motion import move

        return move(self, **options)

    def equilibrium(self, **options: Unpack[RestOptions]) -> Any:
        return equilibrium(self.system, **given_or({"start": self}, options))

    def linearize(self, **options: Unpack[SmallMotionOptions]) -> Any:
        return self.equilibrium().linearize(**options)


def given_or(own: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, and our own in place of the others."""
    return {**own, **{name: value for name, value in options.items() if value is not None}}


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


# Rest -------------------------------------------------------------------------------------------------


BALANCED = 1e-9  # forces left over, against the largest
SETTLED = 1e-10  # last change of the coordinates, against their size


@dataclass(frozen=True, repr=False)
class SymbolicEquilibrium(Answer, EquationSystem):
    """A state of rest. `stable` says whether small motions about it die out or stay small."""

    system: SymbolicSystem
    t: float
    q: Floats
    lam: Floats

    def __str__(self) -> str:
        return f"at rest, {'stable' if self.stable else 'not stable'}: {self.state}"

    def _parts(self) -> Iterator[Part]:
        _, table = self.state._parts()
        yield f"{self.system.title}: at rest, {'stable' if self.stable else 'not stable'}"
        yield table

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

    def dynamics(self, **options: Unpack[RunOptions]) -> Any:
        return self.state.dynamics(**options)

    def equilibrium(self, **options: Unpack[RestOptions]) -> Any:
        return self.state.equilibrium(**options)

    def linearize(self, **options: Unpack[SmallMotionOptions]) -> Any:
        from .linearize import linearize

        return linearize(self.system, **given_or({"at": self}, options))


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
