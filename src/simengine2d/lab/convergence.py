"""`order`: how fast the error of a method falls when its steps are halved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..analyses.dynamics.dynamics import dynamics
from ..answer import Part, PlottedAnswer, Rows
from ..errors import ModelError, UnsupportedError, answers_misspellings
from ..integrators import ivp
from ..methods import CoordinatesName, Formulation, FormulationName, Integrator, IntegratorName
from ..model import builders
from ..model.model import Model
from ..numerics.arrays import Floats
from ..results.results import Results
from ..system.system import System
from .combinations import label
from .trial import differences, motion_of, sizes_of, tight

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FIRST, LAST = 10, 1280  # steps over the whole motion
ROUNDING = {"y": 1e-12, "q": 1e-10, "qd": 1e-10, "qdd": 1e-9, "reactions": 1e-9}
"""Errors below which rounding, or the end of Newton's iteration, is seen instead of the method."""
LOST = 0.25  # order below which errors do not fall
SWING = 0.4  # seconds of the pendulum


class KnownMotion(NamedTuple):
    """y' = f(t, y) from t = 0 on, with its solution."""

    f: Callable[[float, Floats], Any]
    exact: Callable[[float], Any]
    t_end: float
    name: str = "y' = f(t, y)"


def elliptic() -> KnownMotion:
    """A free body that turns about its center: y = (sn, cn, dn) of tau = t + t^2 / 4, with k^2 = 1/2.

    y' = (1 + t / 2) (y2 y3, -y1 y3, -k^2 y1 y2)
    """
    from scipy.special import ellipj

    def f(t: float, y: Floats) -> list[float]:
        rate = 1.0 + 0.5 * t
        return [rate * y[1] * y[2], -rate * y[0] * y[2], -0.5 * rate * y[0] * y[1]]

    return KnownMotion(
        f, lambda t: np.array(ellipj(t + 0.25 * t * t, 0.5)[:3]), 3.0, "Jacobi's elliptic functions"
    )


@dataclass(frozen=True, repr=False)
class Order(PlottedAnswer):
    """Errors in ever smaller steps, each half of the one before; one array for each quantity."""

    method: str
    problem: str
    claimed: int
    steps: Floats
    errors: dict[str, Floats]

    @property
    def observed(self) -> dict[str, float]:
        """log2 of the ratio of the last two errors that rounding does not disturb."""
        return {name: _slope(errors, ROUNDING[name]) for name, errors in self.errors.items()}

    @property
    def remarks(self) -> list[str]:
        """What does not converge, and why."""
        lost = [name for name, value in self.observed.items() if value < LOST]
        if not lost:
            return []
        verb = "does" if len(lost) == 1 else "do"
        return [f"{' and '.join(lost)} {verb} not converge: the method does not damp what constraints excite"]

    def table(self) -> str:
        """The errors, and below them the order observed."""
        return "\n".join(
            [self._title(), *Rows(("step", *self.errors), self._rows(), 0).lines(), *self.remarks]
        )

    def _title(self) -> str:
        return f"{self.method} on {self.problem}, claimed order {self.claimed}"

    def _rows(self) -> list[list[str]]:
        rows = [
            [f"{step:.4g}", *(f"{errors[i]:.2e}" for errors in self.errors.values())]
            for i, step in enumerate(self.steps)
        ]
        return [*rows, ["order", *(f"{value:.2f}" for value in self.observed.values())]]

    def _summary(self) -> str:
        observed = ", ".join(f"{value:.2f} of {name}" for name, value in self.observed.items())
        return f"{self._title()}\nobserved order: {observed}\nprint() shows the errors, plot() draws them"

    def _parts(self) -> Iterator[Part]:
        yield self._title()
        yield Rows(["step", *self.errors], self._rows(), 0)
        yield from self.remarks

    def plot(self, ax: Axes | None = None) -> Axes:
        """The errors against the step, and the slope that is claimed."""
        from .pictures import plot_order

        return plot_order(self, ax)

    def __str__(self) -> str:
        return self.table()


@answers_misspellings
def order(
    method: IntegratorName | str | Integrator,
    problem: KnownMotion | Model | None = None,
    *,
    formulation: FormulationName | str | Formulation | None = None,
    coordinates: CoordinatesName = "reference_point",
    t_end: float | None = None,
) -> Order:
    """The order of a method, observed by halving its steps.

    By default on differential equations with a known solution. With a formulation, a model, or a method that solves
    differential-algebraic equations only, on a mechanism: the model given up to `t_end`, else a pendulum that falls.
    """
    solver = Integrator.registry.made(method)
    if not isinstance(solver, Integrator):
        raise UnsupportedError(f"order needs an integrator or its name, not {method!r}.")
    on_mechanism = isinstance(problem, Model) or formulation is not None or "ode" not in solver.solves
    if on_mechanism and not isinstance(problem, KnownMotion):
        model = builders.chain(1, angle=0.3) if problem is None else problem
        return _on_mechanism(solver, model, formulation, coordinates, SWING if problem is None else t_end)
    known = elliptic() if problem is None else problem
    if not isinstance(known, KnownMotion) or on_mechanism:
        raise ModelError(f"problem = {problem!r} must be a KnownMotion for '{solver.name}', or a Model.")
    return _on_known_motion(solver, known)


def _on_known_motion(solver: Integrator, known: KnownMotion) -> Order:
    wanted = np.asarray(known.exact(known.t_end), dtype=float)

    def errors(count: int) -> dict[str, float]:
        found = ivp.solve(
            known.f, (0.0, known.t_end), known.exact(0.0), solver, h=known.t_end / count, t_eval=[known.t_end]
        )
        return {"y": float(np.abs(found.y[:, -1] - wanted).max())}

    return _halved(solver, known.name, known.t_end, errors)


def _on_mechanism(
    solver: Integrator, model: Model, formulation: Any, coordinates: CoordinatesName, t_end: float | None
) -> Order:
    if solver.adaptive:
        raise UnsupportedError(
            f"the integrator '{solver.name}' chooses its own steps on a mechanism; none can be halved."
        )
    if t_end is None:
        raise ModelError("give t_end, the last time of the model's motion in seconds.")
    system = System(model)
    reference = tight(system, np.array([0.0, float(t_end)]))
    sizes = sizes_of(motion_of(reference))
    wanted = motion_of(reference, sizes)

    def errors(count: int) -> dict[str, float]:
        found: Results = dynamics(
            system, t_eval=reference.t, step=t_end / count, integrator=solver, formulation=formulation,
            coordinates=coordinates,
        )  # fmt: skip
        return differences(motion_of(found, sizes), wanted)

    return _halved(solver, model.name, float(t_end), errors)


def _halved(
    solver: Integrator, problem: str, t_end: float, errors: Callable[[int], dict[str, float]]
) -> Order:
    """Halve the steps until rounding disturbs every quantity."""
    counts, history = [FIRST], [errors(FIRST)]
    while counts[-1] < LAST and any(value > ROUNDING[name] for name, value in history[-1].items()):
        counts.append(2 * counts[-1])
        history.append(errors(counts[-1]))
    columns = {name: np.array([each[name] for each in history]) for name in history[0]}
    return Order(label(solver), problem, solver.order, t_end / np.array(counts), columns)


def _slope(errors: Floats, rounding: float) -> float:
    undisturbed = max(1, int(np.sum(errors > rounding)) - 1)
    if errors.size < 2 or not errors[undisturbed] > 0.0:
        return float("nan")
    return float(np.log2(errors[undisturbed - 1] / errors[undisturbed]))
