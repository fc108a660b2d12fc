"""Breaks, at which equations jump or have kinks: steps end there and begin anew on the other side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..expressions.breaks import SMALLEST_TIME, Break
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel
from . import loop_state as loop
from .loop_state import BoundEquations
from .step_view import StepView, bodies_in_step, bodies_thrown

if TYPE_CHECKING:
    from ..results.switching import Switching
    from .integration import CompiledIntegration

EPS = 2.0**-52
HOP = 1e-12  # relative to a step: a switch this close is crossed in one tiny step
MOST_HALVINGS = 8  # when a hop over a switch was too far
MOST_DOUBLINGS = 12  # of that tiny step, until the switch is crossed
EARLIER = 8.0  # factor on the distance before a switch when a shortened step has ended after the switch again
SHORTEST = 2e-14  # relative to the time asked for: shorter steps are not taken
FINEST = 1e-6  # relative to a fixed step: halving further does not help it converge
MOST_HOPS, CHATTER = 100, 1e-6  # so many switches within this fraction of the time asked for count as chatter
FAILED = (loop.PAUSED, loop.COLLAPSED, loop.NO_CONVERGENCE, loop.BLEW_UP, loop.STEP_TOO_SMALL)


@dataclass(frozen=True)
class Broken:
    """The breaks of a problem, the map from a state y to q and qd, and what its kernels remember from step to step."""

    breaks: Switching
    q_qd: Callable[[float, Floats], tuple[Floats, Floats]]
    memory: Sequence[Floats]
    kick: Callable[[Break, Floats], None]
    """Changes the velocities in y where a prescribed velocity jumps."""
    to_bodies: BoundKernel
    """(z, zd, zdd) to (q, qd, qdd)."""
    sizes: tuple[int, int]
    """How many z and q there are."""

    def sides(self, t: float, y: Floats) -> list[tuple[float, float]]:
        return self.breaks.sides(t, *self.q_qd(t, y))

    def restore(self, saved: Sequence[Floats]) -> None:
        """Restore what the kernels remembered at the beginning of a step."""
        for array, before in zip(self.memory, saved, strict=True):
            array[...] = before


class BreakCrossing:
    """Leads an integration over the breaks of its problem."""

    def __init__(self, integration: CompiledIntegration, broken: Broken) -> None:
        self.integration, self.broken = integration, broken
        self.hops: list[float] = []  # times of the last switches
        self.span, self.shortest = np.inf, 0.0
        # searches of the step, with the kernels or the slope that they use
        self.inside: tuple[BoundEquations, BoundKernel] | None = None
        self.ahead: tuple[Floats, BoundKernel] | None = None

    def march(self, times: Floats, first: int, Y: Floats, most_steps: int) -> tuple[int, int]:
        """Step, and cross the breaks; if switches depend on the state, every step is searched for them."""
        integration, switches = self.integration, bool(self.broken.breaks.placed)
        state = integration.path.state
        self.span = float(times[-1]) - integration.problem.t0
        self.shortest = SHORTEST * max(abs(float(times[-1])), abs(integration.t))
        why = loop.PAUSED
        while why == loop.PAUSED and most_steps > 0:
            # at a break: start again after it
            if state[loop.BEGUN] == 0.0 and state[loop.SINCE] == 0.0:
                self.leave_break()
            ahead = integration.aim()
            if (
                ahead is not None
                and ahead.hard
                and ahead.t - ahead.width <= integration.t + self.shortest
                and state[loop.TAKE] == 0.0
            ):
                integration.begin_anew(ahead.t + ahead.width)
                continue
            # steps up to the next break; one by one while switches are watched
            saved = [array.copy() for array in self.broken.memory] if switches else []
            before = integration.attempts
            first, why = integration.integrate_on(times, first, Y, 1 if switches else most_steps)
            most_steps -= max(1, integration.attempts - before)
            # at the break, at a switch, or in trouble
            if why == loop.AT_LIMIT:
                why = self.pass_limit(ahead)
            elif switches and state[loop.TAKE] > 0.0 and why in (loop.PAUSED, loop.COLLAPSED, loop.ALARMED):
                why = self.search_step(saved, why)
            elif switches and why in FAILED:
                why = self.foresee(saved, why)
        return first, why

    def leave_break(self) -> None:
        """If the start is a break, begin after it."""
        here = self.broken.breaks.after(self.integration.t)
        if here is not None and here.hard and here.t - here.width <= self.integration.t:
            self.integration.begin_anew(here.t + here.width)
        if self.broken.breaks.placed:
            self.leave_levels()

    def pass_limit(self, reached: Break | None) -> int:
        """Continue after the limit that was reached. Returns PAUSED, or why that is impossible."""
        state = self.integration.path.state
        if state[loop.CUTTING] == 1.0 and self.integration.t >= state[loop.CUT]:
            state[loop.CUTTING] = 0.0
            return self.hop(False)
        if reached is None or self.integration.t < reached.t - reached.width:
            return loop.STEP_TOO_SMALL  # the end of the time where the equations have a value
        if not reached.hard:
            return loop.PAUSED
        if self.broken.breaks.jumps_at(
            reached, self.broken.q_qd(self.integration.t, self.integration.path.y)[0]
        ):
            return loop.JUMPS
        self.broken.kick(reached, self.integration.path.y)
        self.integration.begin_anew(reached.t + reached.width)
        return loop.PAUSED

    def search_step(self, saved: Sequence[Floats], why: int) -> int:
        """If a switch lies inside the step just accepted, the step is taken back, to end before the switch.

        Fixed steps may have jumped back and forth over a switch, which their end does not show.
        """
        integration, broken = self.integration, self.broken
        begin, end = integration.t, integration.step_end
        t = broken.breaks.crossing_by(self.inside_step(), begin, end)
        if t is None and integration.rules.kind < loop.ADAPTIVE:
            t = broken.breaks.crossing_by(self.thrown(), begin, end)
        if t is None:
            return loop.ALARMED if why == loop.ALARMED else loop.PAUSED
        broken.restore(saved)
        integration.take_back()
        return self.cut_at(t, end - begin)

    def foresee(self, saved: Sequence[Floats], why: int) -> int:
        """After a rejected step: perhaps it crossed a switch to which the accelerations lead."""
        t, h = self.integration.t, float(self.integration.path.state[loop.TRIED])
        if not np.isfinite(h):  # the slopes are not finite
            return why
        crossing = self.broken.breaks.crossing_by(self.thrown(), t, t + h)
        if crossing is not None:
            self.broken.restore(saved)
            return self.cut_at(crossing, h)
        hopeless = why in (loop.NO_CONVERGENCE, loop.BLEW_UP) and self.integration.rules.kind < loop.ADAPTIVE
        return self.cut_at(t + 0.5 * h, h) if hopeless and h > FINEST * self.integration.rules.step else why

    def inside_step(self) -> BoundKernel:
        """The search of the motion inside the step."""
        E = self.integration.looking_equations()
        if self.inside is None or self.inside[0] is not E:
            look = bodies_in_step.bind(self.new_view(E))
            self.inside = E, self.broken.breaks.search_along(look)
        return self.inside[1]

    def thrown(self) -> BoundKernel:
        """The search of the motion predicted by the accelerations at the beginning of the step."""
        if self.ahead is None:
            view = self.new_view(self.integration.looking_equations())
            self.ahead = view.slope, self.broken.breaks.search_along(bodies_thrown.bind(view))
        slope, search = self.ahead
        slope[:] = self.integration.slope()
        return search

    def new_view(self, E: BoundEquations) -> StepView:
        integration, (z, q), to_bodies = self.integration, self.broken.sizes, self.broken.to_bodies
        rules, path = integration.rules, integration.path
        return StepView(
            E, rules, path, to_bodies.f, to_bodies.c, np.zeros(3 * z), np.zeros(3 * q), np.zeros_like(path.y)
        )

    def cut_at(self, t: float, h: float) -> int:
        """The next step, which would have had the size h, ends just before t.

        If its end is projected onto the constraints, that may lie after the switch again.
        """
        state = self.integration.path.state
        near = state[loop.NEAR] = max(HOP * h, 64.0 * EPS * max(abs(self.integration.t), h))
        if t - self.integration.t <= max(near, 2.0 * self.shortest):
            return self.hop(True)
        before = min(0.5 * near * EARLIER ** state[loop.CUTS], 0.5 * (t - self.integration.t))
        state[loop.CUTS] += 1.0
        state[loop.CUTTING], state[loop.CUT] = 1.0, t - before
        state[loop.STEP] = state[loop.CUT] - self.integration.t
        return loop.PAUSED

    def hop(self, surely: bool) -> int:
        """Cross a switch that is close, in a tiny step along the slope; `surely` if it is known to be there."""
        integration = self.integration
        if integration.settles_at_switches:
            integration.begin_anew(integration.t)
        t, y, slope = integration.t, integration.path.y.copy(), integration.slope()
        sides, far = self.broken.sides(t, y), max(integration.path.state[loop.NEAR], 64.0 * EPS * abs(t))
        doubled = False
        for _ in range(MOST_DOUBLINGS):
            passed = self.broken.sides(t + far, y + far * slope) != sides
            if passed:
                break
            far *= 2.0
            doubled = True
        if passed and doubled:
            far = shortest_hop(lambda s: self.broken.sides(t + s, y + s * slope) != sides, 0.5 * far, far)
        if passed or surely:
            integration.path.y[:] = y + far * slope
            integration.begin_anew(t + far)
            return self.chatters(t)
        return loop.PAUSED  # not there yet: the next step finds it again

    def leave_levels(self) -> None:
        """If a switch begins at one of its levels, begin a tiny step later, on the side it moves to."""
        t, y = self.integration.t, self.integration.path.y
        if self.broken.breaks.at_level(t, *self.broken.q_qd(t, y)):
            slope, far = self.integration.slope(), 64.0 * EPS * max(abs(t), SMALLEST_TIME)
            if np.all(np.isfinite(slope)):  # else the run ends here, in this state
                y[:] = y + far * slope
                self.integration.begin_anew(t + far)

    def chatters(self, t: float) -> int:
        """CHATTERS if the last switches followed each other in almost no time."""
        self.hops = [*self.hops[1 - MOST_HOPS :], t]
        quick = len(self.hops) == MOST_HOPS and t - self.hops[0] < CHATTER * self.span
        return loop.CHATTERS if quick else loop.PAUSED


def shortest_hop(passed: Callable[[float], bool], low: float, high: float) -> float:
    """How far to go at least, where `high` is far enough and `low` is not."""
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if passed(middle) else (middle, high)
    return high
