"""Integrations in the compiled loop: what all methods but SciPy's share."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, ClassVar

import numpy as np

from ..expressions.breaks import Break
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel, KernelPointer
from . import loop_state as loop
from . import time_loop
from .break_crossing import BreakCrossing
from .loop_state import BoundEquations, Path, Rules, TimeLoop
from .ode_method import Integration, OdeTask
from .stage_newton import GUESSED, START

NONE = BoundKernel(0, 0, None)


class CompiledIntegration(Integration):
    """An integration in the compiled loop. `attempt` tries a step, `between` interpolates inside it."""

    settles_at_switches: ClassVar[bool] = False
    """Whether velocities must satisfy the constraints to tell on which side of a switch a state is."""

    def __init__(
        self,
        problem: OdeTask,
        path: Path,
        rules: Rules,
        attempt: BoundKernel,
        between: BoundKernel = NONE,
        derivatives: Mapping[str, Any] | None = None,
    ) -> None:
        """`derivatives` are arrays in which an implicit method remembers its own."""
        self.problem, self.path, self.rules, self.derivatives = problem, path, rules, derivatives or {}
        self.attempt, self.look = attempt, between
        self.bound: dict[tuple[KernelPointer, int], BoundKernel] = {}
        self.limit = problem.limit  # where steps end at last
        path.state[loop.TIME] = path.state[loop.END] = problem.t0
        self.crossing = None if problem.broken is None else BreakCrossing(self, problem.broken)
        self.aim()
        self.equations = self.equations_with(attempt)
        self.bound_to(time_loop.integrate, self.equations)

    def equations_with(self, attempt: BoundKernel) -> BoundEquations:
        finish = self.problem.finish or NONE
        pointers = (self.problem.f, attempt, self.look, finish)
        return BoundEquations(*(part for pointer in pointers for part in (pointer.f, pointer.c)))

    def integrate(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        if self.crossing is None:
            return self.integrate_on(times, first, Y, most_steps)
        return self.crossing.march(times, first, Y, most_steps)

    def space_outputs(self, spacing: float, finer: bool) -> None:
        self.path.state[loop.GRID], self.path.state[loop.FINER] = spacing, finer

    def integrate_on(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        """Step up to the limit."""
        return self.march_with(self.equations, times, first, Y, most_steps)

    def march_with(
        self, E: BoundEquations, times: Floats, first: int, Y: Floats, most_steps: int
    ) -> tuple[int, int]:
        """Step with other kernel pointers than usual."""
        if not Y.flags.c_contiguous:
            raise ValueError("the rows must be contiguous")
        state = self.path.state
        state[loop.ROW] = first
        self.bound_to(time_loop.integrate, E)(most_steps, np.ascontiguousarray(times), Y.reshape(-1))
        return int(state[loop.ROW]), int(state[loop.WHY])

    def bound_to(self, pointer: KernelPointer, E: BoundEquations) -> BoundKernel:
        """A kernel pointer of the loop bound to its context; compiled when first needed."""
        key = pointer, id(E)  # E lives as long as what is bound to it
        if key not in self.bound:
            self.bound[key] = pointer.bind(TimeLoop(E, self.rules, self.path))
        return self.bound[key]

    def start_from(self, y: Floats | None) -> None:
        """The state from which the iteration of the next step starts; None: what the last slope leads to."""
        memory = self.derivatives["memory"]
        memory[GUESSED] = y is not None
        if y is not None:
            memory[START:] = y

    # breaks

    def aim(self) -> Break | None:
        """Set the time at which steps must end next; returns the break there."""
        state, broken = self.path.state, self.problem.broken
        ahead = None if broken is None else broken.breaks.after(self.t)
        limit = self.limit
        if ahead is not None:
            limit = min(limit, ahead.t - ahead.width if ahead.hard else ahead.t)
        if state[loop.CUTTING] == 1.0:
            limit = min(limit, state[loop.CUT])
        if limit != state[loop.LIMIT] or state[loop.SPACING] == 0.0:
            state[loop.LIMIT] = limit
            self.lay_grid(limit)
        return ahead

    def lay_grid(self, limit: float) -> None:
        """A whole number of equal steps from here to the limit."""
        if self.rules.kind == loop.EQUAL:
            state, span, h = self.path.state, limit - self.t, self.rules.step
            count = max(1.0, np.ceil(span / h * (1.0 - 1e-9))) if np.isfinite(span) else 1.0
            state[loop.ORIGIN], state[loop.SINCE] = self.t, 0.0
            state[loop.SPACING] = span / count if np.isfinite(span) else h

    def take_back(self) -> None:
        """Discard the accepted step that has not been taken yet."""
        p, state = self.path, self.path.state
        p.notes[:] = p.old_notes
        state[loop.TAKE], state[loop.END] = 0.0, state[loop.TIME]
        state[loop.NEW_KNOWN] = state[loop.DENSE] = 0.0
        state[loop.REJECTED] += 1.0

    def slope(self) -> Floats:
        """f at the beginning of the step."""
        out = np.empty_like(self.path.y)
        self.problem.f(self.t, self.path.y, out)
        return out

    def begin_anew(self, t: float) -> None:
        """Restart with the present state; all knowledge of the past is discarded."""
        state = self.path.state
        state[loop.TIME] = state[loop.END] = t
        for entry in (
            loop.KNOWN,
            loop.NEW_KNOWN,
            loop.TAKE,
            loop.DENSE,
            loop.STEP,
            loop.ERROR,
            loop.SINCE,
            loop.BEGUN,
        ):
            state[entry] = 0.0
        state[loop.STIFF] = state[loop.CALM] = state[loop.CUTTING] = state[loop.CUTS] = state[
            loop.SPACING
        ] = 0.0
        state[loop.BREAKS] += 1.0

    def restart(self, t0: float, y0: Floats, rtol: float, atol: Floats, limit: float | None = None) -> None:
        """Start again with other numbers, as a new integration would; the memory layout is reused."""
        p, self.limit = self.path, self.problem.limit if limit is None else limit
        p.memory[:] = 0.0
        p.y[:], p.rtol[0], p.atol[:], p.old_notes[:] = y0, rtol, atol, p.notes
        p.state[loop.TIME] = p.state[loop.END] = t0
        if self.crossing is not None:
            self.crossing.hops = []
        self.aim()

    def go_no_further(self, limit: float) -> None:
        """Steps end at the limit from now on."""
        self.limit = limit
        self.aim()

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

    def looking_equations(self) -> BoundEquations:
        """The kernel pointers with which states inside a step are interpolated."""
        return self.equations

    def between(self, t: float) -> Floats:
        if self.path.state[loop.TAKE] == 0.0:
            return self.path.y.copy()
        self.bound_to(time_loop.look_into_step, self.equations)(t, self.path.state, self.path.out)
        return self.path.out.copy()

    # steps that are over

    def store_steps(self) -> None:
        """The steps from here on can be looked into later, as many as there is room for."""
        self.path.state[loop.STORED] = 1.0

    @property
    def stored_steps(self) -> int:
        """For how many there is room."""
        return max(0, len(self.path.stored) - 1)

    @property
    def has_room(self) -> bool:
        """Whether all steps since `store_steps` are stored."""
        return bool(self.path.state[loop.STORED] < len(self.path.stored))

    def look_back(self, times: Floats) -> Floats:
        """Rows [y, notes] at increasing times inside the steps since `store_steps`."""
        rows = np.zeros((times.size, self.path.y.size + self.path.notes.size))
        self.bound_to(time_loop.look_back, self.equations)(0.0, np.ascontiguousarray(times), rows.reshape(-1))
        return rows

    @property
    def steps(self) -> int:
        return int(self.path.state[loop.STEPS] + (self.path.state[loop.TAKE] > 0.0))

    @property
    def attempts(self) -> int:
        return self.steps + int(self.path.state[loop.REJECTED])

    @property
    def step_ahead(self) -> float:
        waiting, following = float(self.path.state[loop.TAKE]), float(self.path.state[loop.STEP])
        return min(waiting, following) if waiting > 0.0 and following > 0.0 else max(waiting, following)

    def counts(self) -> dict[str, int]:
        state = self.path.state
        iterations = int(state[loop.ITERATED])
        return {
            "steps": self.steps,
            "rejected steps": int(state[loop.REJECTED]),
            "evaluations": int(state[loop.EVALUATIONS]),
            "jacobians": int(state[loop.JACOBIANS]),
            "factorizations": int(state[loop.FACTORIZATIONS]),
            **({"Newton iterations": iterations} if iterations else {}),
        }

    def kept(self) -> dict[str, Floats]:
        p = self.path
        return {"path": p.memory, "notes": p.notes, "old_notes": p.old_notes, **self.derivatives}


def fixed_rules(problem: OdeTask, adaptive: bool, order: int, uses_slope: bool, last: int) -> Rules:
    """The rules of a one-step method: error control, or steps of a given size."""
    controlled = adaptive and (problem.step is None or problem.rtol is not None)
    kind = loop.ADAPTIVE if controlled else loop.BETWEEN_OUTPUTS
    return Rules(
        kind, order, int(uses_slope), last, np.inf, float(problem.step or 0.0), problem.t0, problem.limit,
        0.0, careful(problem),
    )  # fmt: skip


def careful(problem: OdeTask) -> int:
    """1 if functions may jump at unknown times."""
    return int(problem.broken is not None and bool(problem.broken.breaks.undeclared))


def equal_rules(problem: OdeTask, uses_slope: bool, last: int) -> Rules:
    """The rules of a multistep method: one size for all steps, and a whole number of them up to each limit."""
    assert problem.step is not None
    return Rules(
        loop.EQUAL, 0, int(uses_slope), last, np.inf, float(problem.step), problem.t0, problem.limit, 0.0, 0
    )


def path_of(problem: OdeTask, rows: int, past: int = 0, rtol: float = 1e-6, stored: int = 0) -> Path:
    relative, absolute = problem.tolerances(rtol)
    return new_path(problem.y0, rows, past, relative, absolute, problem.notes, stored, problem.alarm)


def new_path(
    y: Floats,
    rows: int,
    past: int,
    rtol: float,
    atol: Floats,
    notes: Floats,
    stored: int = 0,
    alarm: Floats | None = None,
    inside: Floats | None = None,
) -> Path:
    """The arrays of an integration; `stored` steps can be looked into later."""
    n = y.size
    shapes = [(n,), (n,), (n,), (n,), (rows, n), (loop.STATE_SIZE,), (past,), (past, n), (past, n)]
    ends = np.cumsum([prod(shape) for shape in shapes])
    memory = np.zeros(ends[-1])
    parts = [part.reshape(shape) for part, shape in zip(np.split(memory, ends[:-1]), shapes, strict=True)]
    first, new, trial, out, K, state, past_t, past_y, past_slopes = parts
    first[:] = y
    steps = np.zeros((stored + 1 if stored else 0, memory.size + notes.size))
    old_notes = notes.copy()
    return Path(
        first, new, trial, out, K, state, np.array([rtol]), atol.copy(), notes, old_notes,
        old_notes if inside is None else inside, past_t, past_y, past_slopes, memory, steps,
        np.zeros(1) if alarm is None else alarm,
    )  # fmt: skip


class StartedIntegration(CompiledIntegration):
    """An integration whose first steps are taken by another method, which needs no past."""

    def __init__(
        self,
        problem: OdeTask,
        path: Path,
        rules: Rules,
        attempt: BoundKernel,
        starter: BoundKernel,
        first_steps: int,
        derivatives: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(problem, path, rules, attempt, derivatives=derivatives)
        self.starter, self.first_steps = starter, first_steps
        self.starting_equations = self.equations_with(starter)

    def integrate_on(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        while self.fresh_steps < self.first_steps and most_steps > 0:
            first, why = self.march_with(self.starting_equations, times, first, Y, 1)
            if why != loop.PAUSED:
                return first, why
            most_steps -= 1
        return super().integrate_on(times, first, Y, most_steps)

    @property
    def fresh_steps(self) -> int:
        """Steps since the last start."""
        return int(self.path.state[loop.SINCE] + (self.path.state[loop.TAKE] > 0.0))
