"""Marchers: one integration of y' = f(t, y), whatever the method; and the base of the methods that start them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..doors import Bound, Door
from ..errors import ModelError, UnsupportedError, listed
from ..methods import Integrator
from . import march as loop
from .march import Equations, Marching, Path, Rules, new_path

Floats = NDArray[np.float64]
Stability = NDArray[np.complex128]

NEWTON = ("exact", "modified", "fixed_point")
NONE = Bound(0, 0, None)


@dataclass(frozen=True)
class Problem:
    """y' = f(t, y), y(t0) = y0, and how exactly it is to be solved."""

    f: Bound
    t0: float
    y0: Floats
    step: float | None
    rtol: float | None
    atol: float | Floats | None
    finish: Bound | None
    notes: Floats
    newton: str
    jac: Bound | None
    limit: float
    watch: bool

    def __post_init__(self) -> None:
        if self.newton not in NEWTON:
            raise ModelError(f"newton = {self.newton!r} must be one of {listed(NEWTON)}.")
        if self.step is not None and not 0.0 < self.step < np.inf:
            raise ModelError(f"step = {self.step!r} must be a positive number.")

    def tolerances(self, rtol: float) -> tuple[float, Floats]:
        """rtol and atol, by default of the size of the first state."""
        rtol = rtol if self.rtol is None else float(self.rtol)
        size = float(np.abs(self.y0).max(initial=0.0)) or 1.0
        atol = rtol * size if self.atol is None else self.atol
        return rtol, np.broadcast_to(np.asarray(atol, dtype=float), self.y0.shape).copy()


class Marcher(ABC):
    """One integration. It fills rows [y(t), notes] at the times asked for, and can be left and entered again."""

    @abstractmethod
    def march(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        """Fill the rows of Y from `first` on in `most_steps` steps at most: (next row, why it ended)."""

    @property
    @abstractmethod
    def t(self) -> float:
        """Beginning of the last step, which may still be looked into."""

    @property
    @abstractmethod
    def y(self) -> Floats:
        """The state there."""

    @property
    @abstractmethod
    def step_end(self) -> float:
        """End of the last step."""

    @abstractmethod
    def between(self, t: float) -> Floats:
        """The state at a time inside the last step."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Steps, rejected steps, evaluations, Jacobians and factorizations so far."""

    @abstractmethod
    def kept(self) -> dict[str, Floats]:
        """The arrays that are the entire state: with their content another marcher goes on, bit for bit."""


@dataclass(frozen=True)
class OdeMethod(Integrator, abstract=True):
    """An integrator of y' = f(t, y)."""

    solves: ClassVar[tuple[str, ...]] = ("ode",)
    accepts_finish: ClassVar[bool] = True
    """Whether a state may be changed after each step, as projections do."""
    keeps: ClassVar[bool] = True
    """Whether an integration can be left and entered again."""
    variable_order: ClassVar[bool] = False
    """Whether `order` is only the highest that is used."""
    share: ClassVar[float] = 0.1
    """Error allowed in one step, against that of the whole motion: errors of many steps add up."""
    power: ClassVar[float] = 1.0
    """Of the tolerance; more than 1 where steps are no better than their error estimate."""

    def local(self, rtol: float) -> float:
        """The tolerance of one step that leads to errors of about `rtol` in the end."""
        return float(self.share * rtol**self.power)

    @abstractmethod
    def stability(self, z: Any) -> Stability:
        """R(z): what a step of size h makes of y in y' = lambda y with z = h lambda.

        For multistep methods, the largest root of the characteristic polynomial.
        """

    @abstractmethod
    def started(self, problem: Problem) -> Marcher:
        """An integration of a problem, at its start."""

    def marcher(
        self,
        f: Bound,
        t0: float,
        y0: Floats,
        *,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | Floats | None = None,
        finish: Bound | None = None,
        notes: Floats | None = None,
        newton: str = "exact",
        jac: Bound | None = None,
        span: tuple[float, float] | None = None,
        watch: bool = False,
    ) -> Marcher:
        """An integration of y' = f(t, y) from (t0, y0) on.

        Methods without error control need a `step`; those with it take fixed steps where one is given without `rtol`.
        `finish` is called with (t, y, notes) after each step and may change y a little, as projections do; `notes`, an
        array that it may write, is copied behind y in each row. `jac` gives df/dy row by row; else it is found by
        finite differences. Nothing is evaluated behind the end of `span`. Told to `watch`, an explicit method
        returns when the problem proves stiff, and when its steps collapse.
        """
        if finish is not None and not self.accepts_finish:
            raise UnsupportedError(f"the integrator '{self.name}' cannot correct states after its steps.")
        if step is None and not self.adaptive:
            raise ModelError(f"the integrator '{self.name}' takes fixed steps; give a step.")
        y0 = np.array(y0, dtype=float)
        notes = np.zeros(0) if notes is None else notes
        limit = np.inf if span is None else float(span[1])
        given = (step, rtol, atol, finish, notes, newton, jac, limit, watch)
        return self.started(Problem(f, float(t0), y0, *given))


class CompiledMarcher(Marcher):
    """A marcher on the compiled loop. `attempt` tries a step, `between` looks into it."""

    def __init__(
        self, problem: Problem, path: Path, rules: Rules, attempt: Bound, between: Bound = NONE
    ) -> None:
        self.problem, self.path, self.rules = problem, path, rules
        self.attempt, self.look = attempt, between
        self.bound: dict[tuple[Door, int], Bound] = {}
        path.state[loop.TIME] = path.state[loop.END] = problem.t0
        self.equations = self.equations_with(attempt)
        self.bound_to(loop.march, self.equations)

    def equations_with(self, attempt: Bound) -> Equations:
        finish = self.problem.finish or NONE
        doors = (self.problem.f, attempt, self.look, finish)
        return Equations(*(part for door in doors for part in (door.f, door.c)))

    def march(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        return self.march_with(self.equations, times, first, Y, most_steps)

    def march_with(
        self, E: Equations, times: Floats, first: int, Y: Floats, most_steps: int
    ) -> tuple[int, int]:
        """March with other doors than usual."""
        if not Y.flags.c_contiguous:
            raise ValueError("the rows must be contiguous")
        state = self.path.state
        state[loop.ROW] = first
        self.bound_to(loop.march, E)(most_steps, np.ascontiguousarray(times), Y.reshape(-1))
        return int(state[loop.ROW]), int(state[loop.WHY])

    def bound_to(self, door: Door, E: Equations) -> Bound:
        """A door of the loop with what it works with; compiled when it is first needed."""
        key = door, id(E)  # E lives as long as what is bound to it
        if key not in self.bound:
            self.bound[key] = door.bind(Marching(E, self.rules, self.path))
        return self.bound[key]

    def restart(self, t0: float, y0: Floats, rtol: float, atol: Floats) -> None:
        """Begin anew with other numbers, as a new marcher would; what is laid out in memory stays."""
        p = self.path
        p.memory[:] = 0.0
        p.y[:], p.rtol[0], p.atol[:], p.old_notes[:] = y0, rtol, atol, p.notes
        p.state[loop.TIME] = p.state[loop.END] = t0

    def begin_at(self, y: Floats) -> None:
        """Another first state, before the first step."""
        self.path.y[:], self.path.old_notes[:] = y, self.path.notes

    @property
    def t(self) -> float:
        return float(self.path.state[loop.TIME])

    @property
    def y(self) -> Floats:
        return self.path.y

    @property
    def step_end(self) -> float:
        return float(self.path.state[loop.END])

    def between(self, t: float) -> Floats:
        if self.path.state[loop.TAKE] == 0.0:
            return self.path.y.copy()
        self.bound_to(loop.look_into_step, self.equations)(t, self.path.state, self.path.out)
        return self.path.out.copy()

    @property
    def steps(self) -> int:
        return int(self.path.state[loop.STEPS] + (self.path.state[loop.TAKE] > 0.0))

    def counts(self) -> dict[str, int]:
        state = self.path.state
        return {
            "steps": self.steps,
            "rejected steps": int(state[loop.REJECTED]),
            "evaluations": int(state[loop.EVALUATIONS]),
            "jacobians": int(state[loop.JACOBIANS]),
            "factorizations": int(state[loop.FACTORIZATIONS]),
        }

    def kept(self) -> dict[str, Floats]:
        p = self.path
        return {"path": p.memory, "notes": p.notes, "old_notes": p.old_notes}


def fixed_rules(problem: Problem, adaptive: bool, order: int, uses_slope: bool, last: int) -> Rules:
    """The rules of a one-step method: by its error, or in steps of a given size."""
    controlled = adaptive and (problem.step is None or problem.rtol is not None)
    kind = loop.ADAPTIVE if controlled else loop.BETWEEN_OUTPUTS
    return Rules(
        kind, order, int(uses_slope), last, np.inf, float(problem.step or 0.0), problem.t0, problem.limit,
        0.0,
    )  # fmt: skip


def equal_rules(problem: Problem, uses_slope: bool, last: int) -> Rules:
    """The rules of a multistep method: one size for all steps, and a whole number of them up to the limit."""
    assert problem.step is not None
    h, span = problem.step, problem.limit - problem.t0
    if np.isfinite(span):
        h = span / max(1.0, np.ceil(span / h * (1.0 - 1e-9)))
    return Rules(loop.EQUAL, 0, int(uses_slope), last, np.inf, float(h), problem.t0, problem.limit, 0.0)


def path_of(problem: Problem, rows: int, past: int = 0, rtol: float = 1e-6) -> Path:
    relative, absolute = problem.tolerances(rtol)
    return new_path(problem.y0, rows, past, relative, absolute, problem.notes)


class StartedMarcher(CompiledMarcher):
    """A marcher whose first steps are those of another method, which needs no past."""

    def __init__(
        self, problem: Problem, path: Path, rules: Rules, attempt: Bound, starter: Bound, first_steps: int
    ) -> None:
        super().__init__(problem, path, rules, attempt)
        self.starter, self.first_steps = starter, first_steps
        self.starting_equations = self.equations_with(starter)

    def march(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        while self.steps < self.first_steps and most_steps > 0:
            first, why = self.march_with(self.starting_equations, times, first, Y, 1)
            if why != loop.PAUSED:
                return first, why
            most_steps -= 1
        return super().march(times, first, Y, most_steps)
