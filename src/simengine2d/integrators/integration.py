"""Integrations of y' = f(t, y) by any method, and the base of the methods that start them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, UnsupportedError, listed
from ..expressions.breaks import SMALLEST_TIME, Break
from ..methods import Integrator
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel, KernelPointer
from . import time_loop as loop
from .time_loop import BoundEquations, Path, Rules, TimeLoop, new_path

Stability = NDArray[np.complex128]

EPS = 2.0**-52
HOP = 1e-12  # relative to a step: a switch this close is crossed in one tiny step
MOST_HALVINGS = 8  # when a hop over a switch was too far
MOST_DOUBLINGS = 12  # of that tiny step, until the switch is crossed
EARLIER = 8.0  # factor on the distance before a switch when a shortened step has ended after the switch again
SHORTEST = 2e-14  # relative to the time asked for: shorter steps are not taken
FINEST = 1e-6  # relative to a fixed step: halving further does not help it converge
MOST_HOPS, CHATTER = 100, 1e-6  # so many switches within this fraction of the time asked for count as chatter
NEWTON = ("exact", "modified", "fixed_point")
NONE = BoundKernel(0, 0, None)
FAILED = (loop.PAUSED, loop.COLLAPSED, loop.NO_CONVERGENCE, loop.BLEW_UP, loop.STEP_TOO_SMALL)


class Breaks(Protocol):
    """Where equations jump or have kinks: at given times, and where switches cross a level."""

    @property
    def placed(self) -> Sequence[Any]:
        """The switches of the state."""

    @property
    def undeclared(self) -> Sequence[str]:
        """Functions that may jump at unknown times."""

    def after(self, t: float) -> Break | None: ...

    def first_crossing(
        self, t0: float, t1: float, look: Callable[[float], tuple[Floats, Floats]]
    ) -> float | None: ...

    def sides(self, t: float, q: Floats, qd: Floats) -> list[tuple[float, float]]: ...

    def at_level(self, t: float, q: Floats, qd: Floats) -> bool: ...

    def jumps_at(self, at: Break, q: Floats) -> bool: ...


@dataclass(frozen=True)
class Broken:
    """The breaks of a problem, the map from a state y to q and qd, and what its kernels remember from step to step."""

    breaks: Breaks
    q_qd: Callable[[float, Floats], tuple[Floats, Floats]]
    memory: Sequence[Floats]
    kick: Callable[[Break, Floats], None]
    """Changes the velocities in y where a prescribed velocity jumps."""

    def sides(self, t: float, y: Floats) -> list[tuple[float, float]]:
        return self.breaks.sides(t, *self.q_qd(t, y))

    def restore(self, saved: Sequence[Floats]) -> None:
        """Restore what the kernels remembered at the beginning of a step."""
        for array, before in zip(self.memory, saved, strict=True):
            array[...] = before


@dataclass(frozen=True)
class OdeTask:
    """y' = f(t, y), y(t0) = y0, and the accuracy asked for."""

    f: BoundKernel
    t0: float
    y0: Floats
    step: float | None
    rtol: float | None
    atol: float | Floats | None
    finish: BoundKernel | None
    notes: Floats
    newton: str
    jac: BoundKernel | None
    limit: float
    watch: bool
    collapses: bool
    broken: Broken | None = None

    def __post_init__(self) -> None:
        if self.newton not in NEWTON:
            raise ModelError(f"newton = {self.newton!r} must be one of {listed(NEWTON)}.")
        if self.step is not None and not 0.0 < self.step < np.inf:
            raise ModelError(f"step = {self.step!r} must be a positive number.")

    def tolerances(self, rtol: float) -> tuple[float, Floats]:
        """rtol and atol; the default atol follows from the size of the first state."""
        rtol = rtol if self.rtol is None else float(self.rtol)
        size = float(np.abs(self.y0).max(initial=0.0)) or 1.0
        atol = rtol * size if self.atol is None else self.atol
        return rtol, np.broadcast_to(np.asarray(atol, dtype=float), self.y0.shape).copy()


class Integration(ABC):
    """One integration. It fills rows [y(t), notes] at the times asked for, and can be paused and resumed."""

    @abstractmethod
    def integrate(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        """Fill the rows of Y from `first` on in at most `most_steps` steps: (next row, why it ended)."""

    @property
    @abstractmethod
    def t(self) -> float:
        """Beginning of the last step, inside which states can still be interpolated."""

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

    @property
    @abstractmethod
    def step_ahead(self) -> float:
        """Size of the step that comes next."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Steps, rejected steps, evaluations, Jacobians and factorizations so far."""

    @abstractmethod
    def kept(self) -> dict[str, Floats]:
        """The arrays that are its entire state: with their contents another integration continues, bit for bit."""


@dataclass(frozen=True)
class OdeMethod(Integrator, abstract=True):
    """An integrator of y' = f(t, y)."""

    solves: ClassVar[tuple[str, ...]] = ("ode",)
    accepts_finish: ClassVar[bool] = True
    """Whether a state may be changed after each step, as by projection."""
    keeps: ClassVar[bool] = True
    """Whether an integration can be saved and resumed."""
    variable_order: ClassVar[bool] = False
    """Whether `order` is only the highest order used."""
    share: ClassVar[float] = 0.1
    """Error allowed in one step, relative to that of the whole motion: errors of many steps add up."""
    power: ClassVar[float] = 1.0
    """Factor on the tolerance; above 1 if steps are only as accurate as their error estimate."""

    def local(self, rtol: float) -> float:
        """The tolerance of one step that leads to errors of about `rtol` in the end."""
        return float(self.share * rtol**self.power)

    @abstractmethod
    def stability(self, z: Any) -> Stability:
        """R(z): the factor by which a step of size h multiplies y in y' = lambda y, with z = h lambda.

        For multistep methods, the largest root of the characteristic polynomial.
        """

    @abstractmethod
    def started(self, problem: OdeTask) -> Integration:
        """An integration of a problem, at its start."""

    def integration(
        self,
        f: BoundKernel,
        t0: float,
        y0: Floats,
        *,
        step: float | None = None,
        rtol: float | None = None,
        atol: float | Floats | None = None,
        finish: BoundKernel | None = None,
        notes: Floats | None = None,
        newton: str = "exact",
        jac: BoundKernel | None = None,
        span: tuple[float, float] | None = None,
        watch: bool = False,
        collapses: bool = False,
        broken: Broken | None = None,
    ) -> Integration:
        """An integration of y' = f(t, y) from (t0, y0) on.

        Methods without error control need a `step`; those with it take fixed steps if one is given without `rtol`, and
        none that is longer if both are given.
        `finish` is called with (t, y, notes) after each step and may change y slightly, as projections do; `notes`, an
        array that it may write, is appended to y in each row. `jac` gives df/dy row by row; otherwise it is computed by
        finite differences. Nothing is evaluated after the end of `span`. With `watch`, an explicit method returns when
        the problem proves stiff or its steps collapse; with `collapses`, only in the latter case. Steps end where the
        equations are `broken`.
        """
        if finish is not None and not self.accepts_finish:
            raise UnsupportedError(f"the integrator '{self.name}' cannot correct states after its steps.")
        if step is None and not self.adaptive:
            raise ModelError(f"the integrator '{self.name}' takes fixed steps; give a step.")
        y0 = np.array(y0, dtype=float)
        notes = np.zeros(0) if notes is None else notes
        limit = np.inf if span is None else float(span[1])
        given = (step, rtol, atol, finish, notes, newton, jac, limit, watch, collapses, broken)
        return self.started(OdeTask(f, float(t0), y0, *given))


class CompiledIntegration(Integration):
    """An integration in the compiled loop. `attempt` tries a step, `between` interpolates inside it."""

    def __init__(
        self, problem: OdeTask, path: Path, rules: Rules, attempt: BoundKernel, between: BoundKernel = NONE
    ) -> None:
        self.problem, self.path, self.rules = problem, path, rules
        self.attempt, self.look = attempt, between
        self.bound: dict[tuple[KernelPointer, int], BoundKernel] = {}
        path.state[loop.TIME] = path.state[loop.END] = problem.t0
        self.hops: list[float] = []  # times of the last switches
        self.span, self.shortest = np.inf, 0.0
        self.aim()
        self.equations = self.equations_with(attempt)
        self.bound_to(loop.integrate, self.equations)

    def equations_with(self, attempt: BoundKernel) -> BoundEquations:
        finish = self.problem.finish or NONE
        pointers = (self.problem.f, attempt, self.look, finish)
        return BoundEquations(*(part for pointer in pointers for part in (pointer.f, pointer.c)))

    def finish_with(self, finish: BoundKernel) -> None:
        """Use another kernel pointer after each step."""
        self.problem = replace(self.problem, finish=finish)
        self.equations = self.equations_with(self.attempt)

    def integrate(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        if self.problem.broken is None:
            return self.integrate_on(times, first, Y, most_steps)
        return self.march_over(self.problem.broken, times, first, Y, most_steps)

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
        self.bound_to(loop.integrate, E)(most_steps, np.ascontiguousarray(times), Y.reshape(-1))
        return int(state[loop.ROW]), int(state[loop.WHY])

    def bound_to(self, pointer: KernelPointer, E: BoundEquations) -> BoundKernel:
        """A kernel pointer of the loop bound to its context; compiled when first needed."""
        key = pointer, id(E)  # E lives as long as what is bound to it
        if key not in self.bound:
            self.bound[key] = pointer.bind(TimeLoop(E, self.rules, self.path))
        return self.bound[key]

    # breaks

    def march_over(
        self, broken: Broken, times: Floats, first: int, Y: Floats, most_steps: int
    ) -> tuple[int, int]:
        """Step, and cross the breaks; if switches depend on the state, every step is searched for them."""
        state, switches = self.path.state, bool(broken.breaks.placed)
        self.span = float(times[-1]) - self.problem.t0
        self.shortest = SHORTEST * max(abs(float(times[-1])), abs(self.t))
        why = loop.PAUSED
        while why == loop.PAUSED and most_steps > 0:
            # at a break: start again after it
            if state[loop.BEGUN] == 0.0 and state[loop.SINCE] == 0.0:
                self.leave_break(broken)
            ahead = self.aim()
            if (
                ahead is not None
                and ahead.hard
                and ahead.t - ahead.width <= self.t + self.shortest
                and state[loop.TAKE] == 0.0
            ):
                self.begin_anew(ahead.t + ahead.width)
                continue
            # steps up to the next break; one by one while switches are watched
            saved = [array.copy() for array in broken.memory] if switches else []
            before = self.attempts
            first, why = self.integrate_on(times, first, Y, 1 if switches else most_steps)
            most_steps -= max(1, self.attempts - before)
            # at the break, at a switch, or in trouble
            if why == loop.AT_LIMIT:
                why = self.pass_limit(broken, ahead)
            elif switches and state[loop.TAKE] > 0.0 and why in (loop.PAUSED, loop.COLLAPSED):
                why = self.search_step(broken, saved)
            elif switches and why in FAILED:
                why = self.foresee(broken, saved, why)
        return first, why

    def aim(self) -> Break | None:
        """Set the time at which steps must end next; returns the break there."""
        state, broken = self.path.state, self.problem.broken
        ahead = None if broken is None else broken.breaks.after(self.t)
        limit = self.problem.limit
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

    def leave_break(self, broken: Broken) -> None:
        """If the start is a break, begin after it."""
        here = broken.breaks.after(self.t)
        if here is not None and here.hard and here.t - here.width <= self.t:
            self.begin_anew(here.t + here.width)
        if broken.breaks.placed:
            self.leave_levels(broken)

    def pass_limit(self, broken: Broken, reached: Break | None) -> int:
        """Continue after the limit that was reached. Returns PAUSED, or why that is impossible."""
        state = self.path.state
        if state[loop.CUTTING] == 1.0 and self.t >= state[loop.CUT]:
            state[loop.CUTTING] = 0.0
            return self.hop(broken, False)
        if reached is None or self.t < reached.t - reached.width:
            return loop.STEP_TOO_SMALL  # the end of the time where the equations have a value
        if not reached.hard:
            return loop.PAUSED
        if broken.breaks.jumps_at(reached, broken.q_qd(self.t, self.path.y)[0]):
            return loop.JUMPS
        broken.kick(reached, self.path.y)
        self.begin_anew(reached.t + reached.width)
        return loop.PAUSED

    def search_step(self, broken: Broken, saved: Sequence[Floats]) -> int:
        """If a switch lies inside the step just accepted, the step is taken back, to end before the switch.

        Fixed steps may have jumped back and forth over a switch, which their end does not show.
        """
        h = self.step_end - self.t
        t = broken.breaks.first_crossing(self.t, self.step_end, lambda t: broken.q_qd(t, self.between(t)))
        if t is None and self.rules.kind < loop.ADAPTIVE:
            t = broken.breaks.first_crossing(self.t, self.step_end, self.thrown(broken))
        if t is None:
            return loop.PAUSED
        broken.restore(saved)
        self.take_back()
        return self.cut_at(broken, t, h)

    def foresee(self, broken: Broken, saved: Sequence[Floats], why: int) -> int:
        """After a rejected step: perhaps it crossed a switch to which the accelerations lead."""
        t, h = self.t, float(self.path.state[loop.TRIED])
        if not np.isfinite(h):  # the slopes are not finite
            return why
        crossing = broken.breaks.first_crossing(t, t + h, self.thrown(broken))
        if crossing is not None:
            broken.restore(saved)
            return self.cut_at(broken, crossing, h)
        hopeless = why in (loop.NO_CONVERGENCE, loop.BLEW_UP) and self.rules.kind < loop.ADAPTIVE
        return self.cut_at(broken, t + 0.5 * h, h) if hopeless and h > FINEST * self.rules.step else why

    def thrown(self, broken: Broken) -> Callable[[float], tuple[Floats, Floats]]:
        """The motion predicted by the accelerations at the beginning of the step."""
        t, y, slope, n = self.t, self.path.y, self.slope(), self.path.y.size // 2

        def look(later: float) -> tuple[Floats, Floats]:
            s = later - t
            ahead = y + s * slope
            ahead[:n] += 0.5 * s * s * slope[n:]
            return broken.q_qd(later, ahead)

        return look

    def cut_at(self, broken: Broken, t: float, h: float) -> int:
        """The next step, which would have had the size h, ends just before t.

        If its end is projected onto the constraints, that may lie after the switch again.
        """
        state = self.path.state
        near = state[loop.NEAR] = max(HOP * h, 64.0 * EPS * max(abs(self.t), h))
        if t - self.t <= max(near, 2.0 * self.shortest):
            return self.hop(broken, True)
        before = min(0.5 * near * EARLIER ** state[loop.CUTS], 0.5 * (t - self.t))
        state[loop.CUTS] += 1.0
        state[loop.CUTTING], state[loop.CUT] = 1.0, t - before
        state[loop.STEP] = state[loop.CUT] - self.t
        return loop.PAUSED

    def take_back(self) -> None:
        """Discard the accepted step that has not been taken yet."""
        p, state = self.path, self.path.state
        p.notes[:] = p.old_notes
        state[loop.TAKE], state[loop.END] = 0.0, state[loop.TIME]
        state[loop.NEW_KNOWN] = state[loop.DENSE] = 0.0
        state[loop.REJECTED] += 1.0

    def hop(self, broken: Broken, surely: bool) -> int:
        """Cross a switch that is close, in a tiny step along the slope; `surely` if it is known to be there."""
        t, y, slope, sides = self.t, self.path.y.copy(), self.slope(), broken.sides(self.t, self.path.y)
        far = max(self.path.state[loop.NEAR], 64.0 * EPS * abs(t))
        doubled = False
        for _ in range(MOST_DOUBLINGS):
            passed = broken.sides(t + far, y + far * slope) != sides
            if passed:
                break
            far *= 2.0
            doubled = True
        if passed and doubled:
            far = shortest_hop(lambda s: broken.sides(t + s, y + s * slope) != sides, 0.5 * far, far)
        if passed or surely:
            self.path.y[:] = y + far * slope
            self.begin_anew(t + far)
            return self.chatters(t)
        return loop.PAUSED  # not there yet: the next step finds it again

    def leave_levels(self, broken: Broken) -> None:
        """If a switch begins at one of its levels, begin a tiny step later, on the side it moves to."""
        t, y = self.t, self.path.y
        if broken.breaks.at_level(t, *broken.q_qd(t, y)):
            far = 64.0 * EPS * max(abs(t), SMALLEST_TIME)
            y[:] = y + far * self.slope()
            self.begin_anew(t + far)

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
        state[loop.STIFF] = state[loop.CUTTING] = state[loop.CUTS] = state[loop.SPACING] = 0.0
        state[loop.BREAKS] += 1.0

    def chatters(self, t: float) -> int:
        """CHATTERS if the last switches followed each other in almost no time."""
        self.hops = [*self.hops[1 - MOST_HOPS :], t]
        quick = len(self.hops) == MOST_HOPS and t - self.hops[0] < CHATTER * self.span
        return loop.CHATTERS if quick else loop.PAUSED

    def restart(self, t0: float, y0: Floats, rtol: float, atol: Floats) -> None:
        """Start again with other numbers, as a new integration would; the memory layout is reused."""
        p = self.path
        p.memory[:] = 0.0
        p.y[:], p.rtol[0], p.atol[:], p.old_notes[:] = y0, rtol, atol, p.notes
        p.state[loop.TIME] = p.state[loop.END] = t0
        self.hops = []
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

    def between(self, t: float) -> Floats:
        if self.path.state[loop.TAKE] == 0.0:
            return self.path.y.copy()
        self.bound_to(loop.look_into_step, self.equations)(t, self.path.state, self.path.out)
        return self.path.out.copy()

    @property
    def steps(self) -> int:
        return int(self.path.state[loop.STEPS] + (self.path.state[loop.TAKE] > 0.0))

    @property
    def attempts(self) -> int:
        """Steps tried so far."""
        return self.steps + int(self.path.state[loop.REJECTED])

    @property
    def step_ahead(self) -> float:
        waiting, following = float(self.path.state[loop.TAKE]), float(self.path.state[loop.STEP])
        return min(waiting, following) if waiting > 0.0 and following > 0.0 else max(waiting, following)

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


def shortest_hop(passed: Callable[[float], bool], low: float, high: float) -> float:
    """How far to go at least, where `high` is far enough and `low` is not."""
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if passed(middle) else (middle, high)
    return high


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


def path_of(problem: OdeTask, rows: int, past: int = 0, rtol: float = 1e-6) -> Path:
    relative, absolute = problem.tolerances(rtol)
    return new_path(problem.y0, rows, past, relative, absolute, problem.notes)


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
    ) -> None:
        super().__init__(problem, path, rules, attempt)
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
