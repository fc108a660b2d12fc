"""Linear systems of second order by Newmark's method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import ModelError, SingularityError, answers_misspellings, counted
from ...numerics.arrays import Floats
from ..alpha_methods import Newmark
from .growth import has_grown, outgrows
from .inputs import real_array, span_of, start_of
from .integration import frame_of

if TYPE_CHECKING:
    import pandas


@dataclass(repr=False)
class SecondOrderSolution(PlottedAnswer):
    """q, qd and qdd with one column for each entry of t. It unpacks, `t, q, qd, qdd = newmark(...)`."""

    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    success: bool = True
    """Whether the steps were short enough to be stable."""
    message: str = "the end of t_span was reached"

    def __iter__(self) -> Iterator[Floats]:
        """t, q, qd, qdd."""
        return iter((self.t, self.q, self.qd, self.qdd))

    def to_frame(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """A pandas DataFrame indexed by t: q[0], ..., qd[0], ..., qdd[0], ..., or the names given."""
        return frame_of(self.t, {"q": self.q, "qd": self.qd, "qdd": self.qdd}, names)

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        levels = {"q": self.q, "qd": self.qd, "qdd": self.qdd}
        rows = [
            [f"{letter}[{i}]", *map(digits, (row[0], row[-1], row.min(), row.max()))]
            for letter, rows in levels.items()
            for i, row in enumerate(rows)
        ]
        yield Rows(["", f"at {self.t[0]:g}", f"at {self.t[-1]:g}", "lowest", "highest"], rows)

    def __str__(self) -> str:
        first, last = self.t[[0, -1]]
        count = counted(len(self.q), "coordinate")
        size = f"{count} at {self.t.size} times from {first:g} to {last:g}, by Newmark's method"
        return size if self.success else f"{size}\n{self.message}"


@answers_misspellings
def newmark(
    M: Any,
    C: Any,
    K: Any,
    F: Callable[[float], Any] | Any,
    t_span: tuple[float, float],
    q0: Any,
    qd0: Any,
    h: float,
    beta: float = 0.3025,
    gamma: float = 0.6,
) -> SecondOrderSolution:
    """M qdd + C qd + K q = F(t) in steps of h; F may be a function, an array or 0; scalars serve as 1 x 1 matrices.

        q1  = q + h qd + h^2 ((1/2 - beta) qdd + beta qdd1)
        qd1 = qd + h ((1 - gamma) qdd + gamma qdd1)
        (M + gamma h C + beta h^2 K) qdd1 = F(t1) - C (qd + h (1 - gamma) qdd) - K (q + h qd + h^2 (1/2 - beta) qdd)

    Newmark, Journal of Engineering Mechanics 85 (1959) 67-94.
    """
    rule = Newmark(beta, gamma)
    q, qd = start_of(q0), start_of(qd0)
    if q.shape != qd.shape:
        raise ModelError(f"q0 has {q.size} entries and qd0 has {qd.size}; they must be equally many.")
    M, C, K = (_square(name, given, q.size) for name, given in (("M", M), ("C", C), ("K", K)))
    times, h = _times(t_span, h)
    force = lambda t: _force(F, t, q.size)
    solve_start = _solver(M, "M")
    solve_step = _solver(M + rule.gamma * h * C + rule.beta * h**2 * K, "M + gamma h C + beta h^2 K")
    qdd = solve_start(force(times[0]) - C @ qd - K @ q)
    rows = [(q, qd, qdd)]
    for t in times[1:]:
        # the known part of the end of the step, then its accelerations
        q = q + h * qd + h**2 * (0.5 - rule.beta) * qdd
        qd = qd + h * (1.0 - rule.gamma) * qdd
        qdd = solve_step(force(t) - C @ qd - K @ q)
        q, qd = q + h**2 * rule.beta * qdd, qd + h * rule.gamma * qdd
        rows.append((q, qd, qdd))
    levels = [np.array(level).T for level in zip(*rows, strict=True)]
    success, message = _outcome(levels, M, C, K, h, rule)
    q, qd, qdd = levels
    return SecondOrderSolution(times, q, qd, qdd, success, message)


def _outcome(
    levels: list[Floats], M: Floats, C: Floats, K: Floats, h: float, rule: Newmark
) -> tuple[bool, str]:
    """Whether steps of h are stable, where the motion has grown far."""
    q, qd, qdd = (np.abs(level) for level in levels)
    n, span = len(q), h * (q.shape[1] - 1)
    finite = bool(np.isfinite(q[:, -1]).all())
    if finite and not has_grown(q[:, 0] + span * qd[:, 0] + span**2 * qdd[:, 0], q[:, -1]):
        return True, "the end of t_span was reached"
    slopes = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    z = h * np.linalg.eigvals(slopes)
    if finite and not outgrows(z, np.array([np.abs(_roots(each, rule)).max() for each in z])):
        return True, "the end of t_span was reached"
    return (
        False,
        f"steps of h = {h:g} are not stable: the values have grown to {q[:, -1].max():.1e}. Take a smaller h",
    )


def _roots(z: complex, rule: Newmark) -> Any:
    """The eigenvalues of a step of qdd = 2 Re(z) qd - |z|^2 q with h = 1."""
    stiffness, damping = abs(z) ** 2, -2.0 * z.real
    beta, gamma = rule.beta, rule.gamma
    # unknown a1: a1 + damping (v + (1 - gamma) a + gamma a1) + stiffness (q + v + (1/2 - beta) a + beta a1) = 0
    a1 = -np.array([stiffness, damping + stiffness, damping * (1 - gamma) + stiffness * (0.5 - beta)])
    a1 /= 1.0 + damping * gamma + stiffness * beta
    position = np.array([1.0, 1.0, 0.5 - beta]) + beta * a1
    velocity = np.array([0.0, 1.0, 1.0 - gamma]) + gamma * a1
    return np.linalg.eigvals(np.array([position, velocity, a1]))


def _times(t_span: Any, h: float) -> tuple[Floats, float]:
    t0, t1 = span_of(t_span)
    if not (isinstance(h, int | float) and 0.0 < h <= (t1 - t0) * (1.0 + 1e-9)):
        raise ModelError(
            f"h = {h!r} must be positive and not longer than t_span = ({t0:g}, {t1:g}), which runs forward."
        )
    count = round((t1 - t0) / h)
    if abs(count * h - (t1 - t0)) > 1e-9 * (t1 - t0):
        raise ModelError(f"t_span = ({t0:g}, {t1:g}) must be a whole number of steps h = {h:g}.")
    return np.asarray(t0 + h * np.arange(count + 1), dtype=float), float(h)


def _square(name: str, given: Any, n: int) -> Floats:
    matrix = real_array(name, given)
    matrix = matrix * np.eye(n) if matrix.ndim == 0 else matrix
    if matrix.shape != (n, n):
        raise ModelError(f"{name} has the shape {matrix.shape}; q0 asks for {(n, n)}.")
    return matrix


def _force(F: Any, t: float, n: int) -> Floats:
    value = real_array(f"F at t = {t:g}", F(t) if callable(F) else F)
    if value.shape not in ((), (n,)):
        raise ModelError(f"F at t = {t:g} has the shape {value.shape}; q0 asks for {(n,)}.")
    return np.broadcast_to(value, (n,))


def _solver(A: Floats, name: str) -> Callable[[Floats], Floats]:
    """Solve with a matrix factored once."""
    import warnings

    from scipy.linalg import LinAlgWarning, lu_factor, lu_solve

    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            factors = lu_factor(A)
        except (LinAlgWarning, np.linalg.LinAlgError):
            raise SingularityError(f"the matrix {name} is singular.") from None
    return lambda b: np.asarray(lu_solve(factors, b))
