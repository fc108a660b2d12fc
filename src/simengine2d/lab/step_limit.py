"""`largest_step`: how long steps may be before a numerical solution grows though the motion does not.

In directions in which y' = f(t, y) has the eigenvalue lambda, a step multiplies errors by R(h lambda). Steps are stable
while |R(h lambda)| <= 1 for all eigenvalues that do not grow themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..analyses.linear.linearize import Linearization, linearize
from ..answer import Part, PlottedAnswer, Rows, digits
from ..errors import ModelError, answers_misspellings
from ..integrators.ivp.growth import slopes_of
from ..methods import Integrator, IntegratorName
from ..model.model import Model
from ..numerics.arrays import Floats
from .combinations import label
from .stability import growth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Eigenvalues = NDArray[np.complex128]
RADII = np.geomspace(1e-3, 1e6, 4000)  # of h lambda
ROUNDING = 1e-12  # of |R|
SEEN = 1e-7  # growth beyond a boundary, 5 percent behind it
GROWS = 1e-9  # real part of an eigenvalue, against the largest, from which the motion itself grows


@dataclass(frozen=True, repr=False)
class StepLimit(PlottedAnswer):
    """The longest stable step `h`: inf where there is no limit, 0 where no step is stable."""

    method: str
    h: float
    eigenvalues: Eigenvalues
    limits: Floats
    """The longest step for each eigenvalue; inf for those with which the motion itself grows."""
    integrator: Integrator

    @property
    def critical(self) -> complex | None:
        """The eigenvalue that limits the step; None where nothing does."""
        return complex(self.eigenvalues[int(np.argmin(self.limits))]) if np.isfinite(self.h) else None

    def __str__(self) -> str:
        if not self.eigenvalues.size:
            return f"{self.method}: there is no free motion, so any step is stable"
        if np.isinf(self.h):
            return f"{self.method}: steps of any size are stable here"
        size = f"steps up to {self.h:.5g} s are stable" if self.h > 0.0 else "no step is stable"
        return f"{self.method}: {size}; the limit is set by the eigenvalue {digits(self.critical)} 1/s"

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        rows = [[digits(e), digits(h)] for e, h in zip(self.eigenvalues, self.limits, strict=True)]
        yield Rows(["eigenvalue 1/s", "largest step s"], rows, 0)

    def plot(self, ax: Axes | None = None, *, h: float | None = None) -> Axes:
        """h lambda in the stability region of the method, for the largest step or for another one."""
        from .pictures import plot_step_limit

        return plot_step_limit(self, ax, self._shown() if h is None else float(h))

    def _shown(self) -> float:
        """A finite step for a picture."""
        if np.isfinite(self.h) and self.h > 0.0:
            return self.h
        largest = np.abs(self.eigenvalues).max(initial=0.0)
        return 1.0 / largest if largest > 0.0 else 1.0


@answers_misspellings
def largest_step(
    problem: Model | Callable[..., Any] | Linearization | complex | Any,
    method: IntegratorName | str | Integrator = "rk4",
    *,
    at: Any = None,
    t: float = 0.0,
    y0: Any = None,
) -> StepLimit:
    """How long the steps of a method may be, from its stability region and the eigenvalues of small motions.

    The problem is a model, linearized `at` a pose as `linearize` does; a function f(t, y) at the state `y0`; or its
    eigenvalues themselves. Eigenvalues change along a motion: ask where they are largest.
    """
    solver = Integrator.registry.made(method)
    values = eigenvalues_of(problem, at, t, y0)
    limits = np.array([stable_up_to(solver, value, values) for value in values])
    return StepLimit(label(solver), float(limits.min(initial=np.inf)), values, limits, solver)


def eigenvalues_of(problem: Any, at: Any, t: float, y0: Any) -> Eigenvalues:
    """Of a model, a linearization, a function, or given as numbers."""
    if isinstance(problem, Model):
        return linearize(problem, at=at, t=t).eigenvalues
    if isinstance(problem, Linearization):
        return problem.eigenvalues
    if callable(problem):
        if y0 is None:
            raise ModelError("give the state y0 at which f(t, y) is linearized.")
        f = lambda t, y: np.atleast_1d(np.asarray(problem(t, y), dtype=float))
        slopes = slopes_of(f, t, np.atleast_1d(np.asarray(y0, dtype=float)))
        return np.linalg.eigvals(slopes).astype(complex)
    try:
        return np.atleast_1d(np.asarray(problem, dtype=complex)).ravel()
    except (TypeError, ValueError):
        raise ModelError(f"{problem!r} is no model, no function f(t, y) and no eigenvalue.") from None


def stable_up_to(method: Integrator, value: complex, others: Eigenvalues) -> float:
    """The largest h with |R(h' lambda)| <= 1 for all h' up to it."""
    size = abs(value)
    if size == 0.0 or value.real > GROWS * np.abs(others).max():
        return np.inf
    radius = boundary_along(lambda r: growth(method, r * (value / size)) - 1.0)
    return radius / size


def boundary_along(excess: Callable[[Any], Any]) -> float:
    """The first radius at which growth begins; 0 where it begins at once."""
    beyond = ~(np.asarray(excess(RADII)) <= ROUNDING)
    if not beyond.any():
        return np.inf
    k = int(np.argmax(beyond))
    low, high = (RADII[k - 1], RADII[k]) if k else (0.0, RADII[0])
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) <= ROUNDING else (low, middle)
    # of an error like z^p, that grows from zero on, rounding hides the beginning
    return low if float(excess(1.05 * high)) > SEEN else 0.0
