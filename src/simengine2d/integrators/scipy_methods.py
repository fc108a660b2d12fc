"""Methods of variable order, by SciPy, with the interface of all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError, UnsupportedError
from ..expressions.breaks import SMALLEST_TIME, Break
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel
from . import loop_state as loop
from .break_crossing import CHATTER, EPS, HOP, MOST_HOPS, Broken
from .implicit_runge_kutta import RadauIIA
from .integration import careful
from .ode_method import Integration, OdeMethod, OdeTask, Stability
from .step_control import LONGEST_FIRST_STEP, longest_step
from .time_loop import CLOSEST, is_complete, multiple_after


@dataclass(frozen=True)
class ScipyMethod(OdeMethod, abstract=True):
    """A method provided by SciPy. Its integrations cannot be saved and resumed, nor can its states be changed."""

    adaptive: ClassVar[bool] = True
    accepts_finish: ClassVar[bool] = False
    keeps: ClassVar[bool] = False
    solver: ClassVar[str]
    """The name of the class in scipy.integrate."""

    def started(self, problem: OdeTask) -> Integration:
        if problem.rtol is None and problem.step is not None:
            raise ModelError(
                f"the integrator '{self.name}' chooses its own steps; give rtol=... instead of a step."
            )
        return ScipyIntegration(problem, self.solver)

    def stability(self, z: Any) -> Stability:
        raise UnsupportedError(
            f"the integrator '{self.name}' changes its order, so it has no single stability function."
        )


IMPLICIT = "Radau", "BDF"


class ScipyIntegration(Integration):
    """An integration around an object of scipy.integrate."""

    def __init__(self, problem: OdeTask, name: str) -> None:
        rtol, atol = problem.tolerances(1e-6)
        self.problem, self.name = problem, name
        self.options: dict[str, Any] = {"rtol": rtol, "atol": atol, "max_step": problem.step or np.inf}
        self.f = _returning(problem.f, problem.y0.size)
        if problem.jac is not None:
            self.options["jac"] = _returning(problem.jac, problem.y0.size, square=True)
        elif name in IMPLICIT or (problem.broken is not None and problem.broken.breaks.placed):
            self.options["jac"] = self.jacobian
        self.notes, self.steps, self.counted = problem.notes, 0, np.zeros(3, dtype=int)
        self.follow: BoundKernel | None = None
        """Called with the end of each step, which it must not change, and the notes."""
        self.old_notes = self.notes
        self.hops: list[float] = []
        self.space_outputs(0.0, False)
        self.cut = np.inf
        self.next_break: Break | None = None
        self.begin(problem.t0, problem.y0.copy())

    def jacobian(self, t: float, y: Floats) -> Floats:
        """df/dy by differences on this side of all switches: a difference across a jump of f is not a derivative.

        Those of SciPy move a coordinate on which nothing depends ten times as far every time, up to infinity.
        """
        broken = self.problem.broken
        side = broken.sides if broken is not None and broken.breaks.placed else lambda t, y: ()
        here, sides, J = self.f(t, y), side(t, y), np.empty((y.size, y.size))
        for j, size in enumerate(np.maximum(np.abs(y), 1e-3 * np.abs(y).max(initial=0.0))):
            beside = y.copy()
            beside[j] += EPS**0.5 * (size or 1.0)
            if side(t, beside) != sides:
                beside[j] = y[j] - EPS**0.5 * (size or 1.0)
            J[:, j] = (self.f(t, beside) - here) / (beside[j] - y[j])
        return J

    def begin(self, t: float, y: Floats) -> None:
        """A solver that starts here and ends at the next break."""
        import scipy.integrate

        broken, limit = self.problem.broken, self.problem.limit
        self.next_break = None if broken is None else broken.breaks.after(t)
        while (
            self.next_break is not None
            and self.next_break.hard
            and self.next_break.t - self.next_break.width <= t
        ):
            t = self.next_break.t + self.next_break.width
            self.next_break = broken.breaks.after(t)  # type: ignore[union-attr]
        if self.next_break is not None:
            limit = min(limit, self.next_break.t - (self.next_break.width if self.next_break.hard else 0.0))
        limit = min(limit, self.cut)
        if careful(self.problem):  # LSODA does not take a longest step together with an end
            limit = min(limit, t + longest_step(t - self.problem.t0))
        # without motion, LSODA would derive its first step from the time left
        endless = self.name == "LSODA" and limit == np.inf and not np.any(self.f(t, y))
        options = self.options | ({"first_step": LONGEST_FIRST_STEP} if endless else {})
        self.solver = getattr(scipy.integrate, self.name)(self.f, t, y, limit, **options)
        self.look, self.y_old = None, y.copy()

    def integrate(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        for _ in range(most_steps):
            while not is_complete(times, first) and (t := self.output_after(times, first)) <= self.solver.t:
                notes = self.notes if t == self.solver.t else self.old_notes
                times[first], Y[first] = t, np.concatenate([self.between(t), notes])
                first += 1
            if is_complete(times, first):
                return first, loop.DONE
            why = self.go_on(float(times[-1]))
            if why != loop.PAUSED:
                return first, why
        return first, loop.PAUSED

    def space_outputs(self, spacing: float, finer: bool) -> None:
        self.spacing, self.finer = spacing, finer

    def output_after(self, times: Floats, k: int) -> float:
        """The time of output k: as given, or a multiple of the spacing, or the end of a step before that."""
        if not self.spacing or k in (0, times.size - 1):
            return float(times[k])
        last, here = float(times[k - 1]), float(self.solver.t)
        ahead = multiple_after(self.spacing, last, float(times[-1]))
        return here if self.finer and last + CLOSEST * self.spacing < here < ahead else ahead

    def go_on(self, end: float) -> int:
        """Take a step, or cross the break at which the solver has ended."""
        broken, solver = self.problem.broken, self.solver
        if broken is not None and solver.status == "finished":
            return self.pass_limit(broken, end)
        if not self.step():
            return loop.STEP_TOO_SMALL
        if broken is not None and broken.breaks.placed:
            return self.search_step(broken)
        return loop.PAUSED

    def start_at(self, t: float, y: Floats) -> None:
        s = self.solver
        self.counted += [s.nfev, s.njev, s.nlu]
        self.begin(float(t), np.array(y))

    def pass_limit(self, broken: Broken, end: float) -> int:
        t, y = float(self.solver.t), np.array(self.solver.y)
        if t == self.cut:
            self.cut = np.inf
            return self.hop(broken, t, y, end)
        if self.next_break is None or t < self.next_break.t - self.next_break.width:
            self.start_at(t, y)
            return loop.PAUSED if t < self.problem.limit else loop.STEP_TOO_SMALL
        if self.next_break.hard and broken.breaks.jumps_at(self.next_break, broken.q_qd(t, y)[0]):
            return loop.JUMPS
        broken.kick(self.next_break, y)
        self.start_at(self.next_break.t + self.next_break.width, y)
        return loop.PAUSED

    def search_step(self, broken: Broken) -> int:
        """If a switch lies inside the step, the step is taken back, to end before the switch."""
        look = lambda t: broken.q_qd(t, self.between(t))
        t0, t1 = float(self.solver.t_old), float(self.solver.t)
        t = broken.breaks.first_crossing(t0, t1, look)
        if t is None:
            return loop.PAUSED
        self.notes[:] = self.old_notes
        near = max(HOP * (t1 - t0), 64.0 * EPS * t1)
        self.cut = max(t - 0.5 * near, t0)
        if t - t0 <= near:
            self.cut = np.inf
            return self.hop(broken, t0, self.y_old, t1)
        self.start_at(t0, self.y_old)
        return loop.PAUSED

    def hop(self, broken: Broken, t: float, y: Floats, end: float) -> int:
        """Cross a switch that is close, in a tiny step along the slope."""
        slope, sides = self.f(t, y), broken.sides(t, y)
        far = 64.0 * EPS * max(abs(t), SMALLEST_TIME)
        while broken.sides(t + far, y + far * slope) == sides and far < 1e-9 * max(abs(t), SMALLEST_TIME):
            far *= 2.0
        self.start_at(t + far, y + far * slope)
        self.hops = [*self.hops[1 - MOST_HOPS :], t]
        quick = len(self.hops) == MOST_HOPS and t - self.hops[0] < CHATTER * (end - self.problem.t0)
        return loop.CHATTERS if quick else loop.PAUSED

    def step(self) -> bool:
        """One step; False if it fails."""
        if self.solver.status != "running":
            return False
        self.y_old, self.look, before = self.solver.y.copy(), None, self.solver.t
        try:
            with np.errstate(all="ignore"):
                self.solver.step()
        except (ValueError, np.linalg.LinAlgError):  # values that are not finite
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
        if t == self.solver.t or self.solver.t_old is None:
            return np.array(self.solver.y)
        if self.look is None:
            self.look = self.solver.dense_output()
        return np.array(self.look(t))  # type: ignore[misc]

    @property
    def step_ahead(self) -> float:
        return self.step_end - self.t

    def counts(self) -> dict[str, int]:
        s = self.solver
        counted = self.counted + np.array([s.nfev, s.njev, s.nlu])
        evaluations, jacobians, factorizations = counted.tolist()
        return {
            "steps": self.steps,
            "rejected steps": 0,
            "evaluations": evaluations,
            "jacobians": jacobians,
            "factorizations": factorizations,
        }

    def kept(self) -> dict[str, Floats]:
        raise UnsupportedError(
            "the state of SciPy's integrators cannot be saved; choose another integrator to resume."
        )


def _returning(bound: BoundKernel, n: int, square: bool = False) -> Any:
    """A kernel pointer as a function that returns its values."""

    def function(t: float, y: Floats) -> Floats:
        out = np.zeros(n * n if square else n)
        bound(float(t), np.ascontiguousarray(y, dtype=float), out)
        return out.reshape(n, n) if square else out

    return function


@dataclass(frozen=True)
class AdamsVariable(ScipyMethod):
    """Adams methods of order 1 to 12, for smooth problems at tight tolerances; BDF methods where they turn stiff.

    Petzold, SIAM Journal on Scientific and Statistical Computing 4 (1983) 136-148; SciPy's LSODA.
    """

    name: ClassVar[str] = "adams_variable"
    order: ClassVar[int] = 12
    share: ClassVar[float] = 0.005
    solver: ClassVar[str] = "LSODA"
    variable_order: ClassVar[bool] = True


@dataclass(frozen=True)
class BDFVariable(ScipyMethod):
    """BDF methods of order 1 to 5 for stiff problems, at moderate tolerances.

    Shampine & Reichelt, SIAM Journal on Scientific Computing 18 (1997) 1-22; SciPy's BDF.
    """

    name: ClassVar[str] = "bdf_variable"
    order: ClassVar[int] = 5
    share: ClassVar[float] = 0.002
    solver: ClassVar[str] = "BDF"
    variable_order: ClassVar[bool] = True


@dataclass(frozen=True)
class RadauAdaptive(ScipyMethod):
    """Radau IIA of order 5 with error control, for stiff problems at tight tolerances.

    Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd edition (1996), section IV.8; SciPy's Radau.
    """

    name: ClassVar[str] = "radau_adaptive"
    order: ClassVar[int] = 5
    solver: ClassVar[str] = "Radau"

    def stability(self, z: Any) -> Stability:
        return RadauIIA().stability(z)
