"""Methods of variable order: SciPy's, behind the same door as all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..doors import Bound
from ..errors import ModelError, UnsupportedError
from . import march as loop
from .marcher import Marcher, OdeMethod, Problem, Stability

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScipyMethod(OdeMethod, abstract=True):
    """A method that SciPy has. It cannot be left and entered again, nor can its states be changed."""

    adaptive: ClassVar[bool] = True
    accepts_finish: ClassVar[bool] = False
    keeps: ClassVar[bool] = False
    solver: ClassVar[str]
    """The name of the class in scipy.integrate."""

    def started(self, problem: Problem) -> Marcher:
        if problem.rtol is None and problem.step is not None:
            raise ModelError(
                f"the integrator '{self.name}' chooses its own steps; give rtol=... instead of a step."
            )
        return ScipyMarcher(problem, self.solver)

    def stability(self, z: Any) -> Stability:
        raise UnsupportedError(
            f"the integrator '{self.name}' changes its order, so it has no single stability function."
        )


class ScipyMarcher(Marcher):
    """A marcher around an object of scipy.integrate."""

    def __init__(self, problem: Problem, name: str) -> None:
        import scipy.integrate

        rtol, atol = problem.tolerances(1e-6)
        options = {"rtol": rtol, "atol": atol}
        if problem.jac is not None:
            options["jac"] = _returning(problem.jac, problem.y0.size, square=True)
        f = _returning(problem.f, problem.y0.size)
        y0, self.notes = problem.y0.copy(), problem.notes
        self.solver = getattr(scipy.integrate, name)(f, problem.t0, y0, problem.limit, **options)
        self.steps, self.look, self.y_old = 0, None, y0.copy()
        self.follow: Bound | None = None
        """Called with the end of each step, which it leaves as it is, and the notes."""
        self.old_notes = self.notes

    def march(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        for _ in range(most_steps):
            while first < times.size and times[first] <= self.solver.t:
                notes = self.notes if times[first] == self.solver.t else self.old_notes
                Y[first] = np.concatenate([self.between(times[first]), notes])
                first += 1
            if first == times.size:
                return first, loop.DONE
            if not self.step():
                return first, loop.STEP_TOO_SMALL
        return first, loop.PAUSED

    def step(self) -> bool:
        """One step; False where there is none."""
        if self.solver.status != "running":
            return False
        self.y_old, self.look, before = self.solver.y.copy(), None, self.solver.t
        try:
            with np.errstate(all="ignore"):
                self.solver.step()
        except (ValueError, np.linalg.LinAlgError):  # values that are no finite numbers
            return False
        good = (
            self.solver.status != "failed" and self.solver.t > before and np.all(np.isfinite(self.solver.y))
        )
        self.steps += bool(good)
        if good and self.follow is not None:
            self.old_notes = self.notes.copy()
            self.follow(float(self.solver.t), np.array(self.solver.y), self.notes)
        return bool(good)

    @property
    def t(self) -> float:
        return float(self.solver.t if self.solver.t_old is None else self.solver.t_old)

    @property
    def y(self) -> Floats:
        return self.y_old

    @property
    def step_end(self) -> float:
        return float(self.solver.t)

    def between(self, t: float) -> Floats:
        if t == self.solver.t:
            return np.array(self.solver.y)
        if self.look is None:
            self.look = self.solver.dense_output()
        return np.array(self.look(t))  # type: ignore[misc]

    def counts(self) -> dict[str, int]:
        s = self.solver
        return {
            "steps": self.steps,
            "rejected steps": 0,
            "evaluations": s.nfev,
            "jacobians": s.njev,
            "factorizations": s.nlu,
        }

    def kept(self) -> dict[str, Floats]:
        raise UnsupportedError(
            "the state of SciPy's integrators cannot be kept; take another integrator to resume."
        )


def _returning(bound: Bound, n: int, square: bool = False) -> Any:
    """A door as a function that returns its values."""

    def function(t: float, y: Floats) -> Floats:
        out = np.zeros(n * n if square else n)
        bound(float(t), np.ascontiguousarray(y, dtype=float), out)
        return out.reshape(n, n) if square else out

    return function
