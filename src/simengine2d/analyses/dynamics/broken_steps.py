"""Implicit steps on the index-3 equations that end at breaks, in the manner of `integrators/integration.py`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...coordinates.projection import projection
from ...coordinates.reference_point.sparse import SparseEquations
from ...expressions.breaks import SMALLEST_TIME, Break
from ...formulations import index3
from ...integrators.integration import CHATTER, EPS, HOP, MOST_HOPS
from ...integrators.step_control import longest_step
from ...numerics.kernel_pointer import BoundKernel
from ...results.switching import Switching

if TYPE_CHECKING:
    from .implicit_run import ImplicitRun

Floats = NDArray[np.float64]

FRESH = 0.01  # of the step before a break: the first one behind it
SHORTEST = 4e-13  # of the time: shorter steps are none
GLIDE = (
    1e-3  # of a fixed step: where so little is left, index 3 would make accelerations of rounding, eps / h^2
)
TIGHT = 1e-13  # to which velocities fulfill the constraints behind a break, against a typical length
MOST_CUTS = 40  # of one step, until it ends before a switch


class BrokenSteps:
    """Leads a run over the breaks of its system."""

    def __init__(self, run: ImplicitRun, switching: Switching) -> None:
        self.run, self.switching = run, switching
        self.cut = np.inf
        self.hops: list[float] = []
        self.cuts = (-np.inf, 0)
        self.passed = 0

    def walk(self, most_steps: int) -> int:
        """Go on for some steps. Returns why they ended."""
        run, why = self.run, index3.PAUSED
        single = bool(self.switching.placed) or bool(self.switching.undeclared)
        while why == index3.PAUSED and most_steps > 0:
            found = self.leave_break()
            before = self.saved() if self.switching.placed else {}
            steps = run.p.state[index3.STEPS]
            self.glide_if_near(self.limit(found))
            why = self.walk_to(self.limit(found), 1 if single else most_steps)
            most_steps -= max(1, int(run.p.state[index3.STEPS] - steps))
            if self.switching.placed:
                why = self.search(before, why)
            if why == index3.PAUSED and run.t >= self.limit(found):
                why = self.pass_limit(found)
            if run.rank is not None and run.rank.alarms():
                break
        return why

    def limit(self, found: Break | None) -> float:
        at_break = np.inf if found is None else found.t - (found.width if found.hard else 0.0)
        return min(at_break, self.cut)

    def walk_to(self, limit: float, most_steps: int) -> int:
        """Steps that end at the outputs and at the limit, whose row is written again when the output is reached."""
        run, state = self.run, self.run.p.state
        k = int(np.searchsorted(run.times, limit, side="right"))
        times = run.times[: k + 1].copy()
        if k < times.size:
            times[k] = limit
        if self.switching.undeclared and state[index3.STEP] > 0.0:
            state[index3.STEP] = min(state[index3.STEP], longest_step(run.t - float(run.times[0])))
        run.earlier = run.now
        state[index3.ROW] = run.done
        run.bound(most_steps, times, state)
        run.done = min(int(state[index3.ROW]), k)
        why = int(state[index3.WHY])
        return index3.PAUSED if why == index3.DONE and run.done < run.times.size else why

    def glide_if_near(self, limit: float) -> None:
        """Where the next output or the limit is very near, go there along the accelerations of the equations."""
        run = self.run
        target = min(limit, float(run.times[run.done]))
        if run.task.fixed and 0.0 < target - run.t < GLIDE * run.longest:
            run.p.q[:], run.p.qd[:] = self.thrown()(target)
            self.begin_anew(target)

    # breaks in time

    def leave_break(self) -> Break | None:
        """The next break; where the start lies in one, begin behind it."""
        found = self.switching.after(self.run.t)
        while found is not None and found.hard and found.t - found.width <= self.run.t:
            self.begin_anew(found.t + found.width)
            found = self.switching.after(self.run.t)
        if self.switching.placed and self.run.p.state[index3.BEGUN] == 0.0:
            self.leave_levels()
        return found

    def leave_levels(self) -> None:
        """Where a switch begins at one of its levels, begin a tiny step later, on the side to which it goes."""
        run = self.run
        t, q, qd = run.t, run.p.q, run.p.qd
        if self.switching.at_level(t, q, qd):
            far, a = 64.0 * EPS * max(abs(t), SMALLEST_TIME), run.solved(t, q, qd)[0]
            q[:], qd[:] = q + far * qd, qd + far * a
            self.begin_anew(t + far)

    def pass_limit(self, found: Break | None) -> int:
        run = self.run
        if run.t >= self.cut:
            self.cut = np.inf
            if run.task.fixed:
                self.begin_anew(run.t)
            return self.hop(False)
        assert found is not None
        if found.hard and self.switching.jumps_at(found, run.p.q):
            raise run.failure(self.switching.jump)
        if found.hard and self.switching.kicks_at(found, run.p.q):
            run.p.qd[:] = self.switching.kicked(found, run.p.q, run.p.qd)
            run.notes.append(self.switching.kick)
        if found.hard:
            self.begin_anew(found.t + found.width)
        return index3.PAUSED

    @cached_property
    def onto_constraints(self) -> BoundKernel:
        run = self.run
        equations = SparseEquations(run.system, run.d, run.w)
        return projection(equations, np.array([TIGHT * run.system.length]))

    def begin_anew(self, t: float) -> None:
        """The state stays, but for velocities that the constraints do not allow; accelerations are found anew.

        Steps of index 3 leave such velocities; in the short steps behind a break they would make large accelerations.
        """
        state, p = self.run.p.state, self.run.p
        y = np.concatenate([p.q, p.qd])
        self.onto_constraints(t, y, np.zeros(2))
        p.qd[:] = y[p.q.size :]
        state[index3.TIME], state[index3.BEGUN], state[index3.KEPT] = t, 0.0, 0.0
        state[index3.STEP] *= FRESH
        self.passed += 1

    # switches of the state

    def saved(self) -> dict[str, Floats]:
        kept = {name: array.copy() for name, array in self.run.kept().items()}
        return kept | {"done": np.array(self.run.done)}

    def take_back(self, before: dict[str, Floats]) -> None:
        for name, array in self.run.kept().items():
            array[...] = before[name]
        self.run.p.state[index3.KEPT], self.run.done = 0.0, int(before["done"])

    def search(self, before: dict[str, Floats], why: int) -> int:
        """Where a switch lies in the last step, it is taken back, to end before the switch; so is one that failed."""
        run, t0 = self.run, float(before["state"][index3.TIME])
        failed = why not in (index3.DONE, index3.PAUSED)
        if failed:
            failed_state = run.p.state.copy()
            self.take_back(before)
            h = float(run.task.step or run.p.state[index3.STEP])
            found = self.switching.first_crossing(t0, t0 + h, self.thrown())
            if found is None or self.cuts_from(t0) > MOST_CUTS:
                run.p.state[...] = failed_state
                return why
            return self.cut_at(found, h)
        if run.t == t0:
            return why
        end = run.t
        found = self.switching.first_crossing(t0, end, run.between)
        done = self.saved()
        self.take_back(before)
        if found is None and run.task.fixed:  # the step may have jumped to and fro over a switch
            found = self.switching.first_crossing(t0, end, self.thrown())
        if found is not None and self.cuts_from(t0) <= MOST_CUTS:
            return self.cut_at(found, end - t0)
        self.take_back(done)
        if found is not None:  # velocities jumped in the step, however short: it has passed the switch
            self.cut = np.inf
            self.begin_anew(end)
            self.refuse_chatter(end)
            return index3.PAUSED if run.done < run.times.size else why
        return why

    def cuts_from(self, t: float) -> int:
        """How often the step that begins at t was cut."""
        self.cuts = (t, self.cuts[1] + 1 if self.cuts[0] == t else 1)
        return self.cuts[1]

    def thrown(self) -> Callable[[float], tuple[Floats, Floats]]:
        """The motion that the accelerations at the beginning of the step lead to."""
        run = self.run
        t, q, qd = run.t, run.p.q.copy(), run.p.qd.copy()
        a = run.solved(t, q, qd)[0]
        return lambda later: (
            q + (later - t) * qd + 0.5 * (later - t) ** 2 * a,
            qd + (later - t) * a,
        )

    def cut_at(self, t: float, h: float) -> int:
        near = max(HOP * h, SHORTEST * max(abs(self.run.t), h))
        if t - self.run.t <= near:
            return self.hop(True)
        self.cut = t - 0.5 * near
        return index3.PAUSED

    def hop(self, surely: bool) -> int:
        """Over a switch that is close, in a tiny step along the slope."""
        run = self.run
        t, q, qd = run.t, run.p.q.copy(), run.p.qd.copy()
        a, sides = run.solved(t, q, qd)[0], self.switching.sides(t, q, qd)
        far, passed = 64.0 * EPS * max(abs(t), SMALLEST_TIME), False
        for _ in range(25):
            passed = self.switching.sides(t + far, q + far * qd, qd + far * a) != sides
            if passed:
                break
            far *= 2.0
        if passed or surely:
            run.p.q[:], run.p.qd[:] = q + far * qd, qd + far * a
            self.begin_anew(t + far)
            self.refuse_chatter(t)
        return index3.PAUSED

    def refuse_chatter(self, t: float) -> None:
        from .general_run import CHATTER as WORDS

        self.hops = [*self.hops[1 - MOST_HOPS :], t]
        span = float(self.run.times[-1] - self.run.times[0])
        if len(self.hops) == MOST_HOPS and t - self.hops[0] < CHATTER * span:
            raise self.run.failure(WORDS)
