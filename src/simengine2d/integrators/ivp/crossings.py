"""Events as in SciPy: functions g(t, y) that cross zero, with `terminal` and `direction`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError
from ...numerics.arrays import Floats
from ...numerics.roots import ZeroSearch

State = Callable[[float], Floats]


class FoundEvent(NamedTuple):
    event: int
    t: float
    y: Floats
    terminal: bool


class CrossingWatch:
    """Some events, and their values when last checked."""

    def __init__(self, events: Any, args: tuple[Any, ...], sense: float, t: float, y: Floats) -> None:
        self.events: Sequence[Any] = (events,) if callable(events) else tuple(events)
        for event in self.events:
            if not callable(event):
                raise ModelError(f"events must be functions g(t, y), not {event!r}.")
        self.args, self.sense = args, sense
        # how often an event may still occur before it ends the integration
        terminal = [getattr(event, "terminal", False) for event in self.events]
        self.left = [np.inf if not end else float(end) for end in terminal]
        self.direction = [float(getattr(event, "direction", 0)) for event in self.events]
        self.t = t
        self.searches = [ZeroSearch(int(np.sign(value))) for value in self.at(t, y)]
        self.events_so_far: list[FoundEvent] = []

    def value(self, e: int, t: float, y: Floats) -> float:
        got = np.asarray(self.events[e](self.sense * t, y.copy(), *self.args))
        if got.size != 1 or not np.isfinite(float(got.reshape(-1)[0])):
            name = getattr(self.events[e], "__name__", "an event")
            raise ModelError(
                f"the event {name} returned {got!r} at t = {self.sense * t:.9g}, not one finite number."
            )
        return float(got.reshape(-1)[0])

    def at(self, t: float, y: Floats) -> list[float]:
        return [self.value(e, t, y) for e in range(len(self.events))]

    def look(self, end: float, between: State, last: bool) -> FoundEvent | None:
        """Record what happened up to `end`, the `last` time or not; returns the event that ends the integration.

        An event that is zero at the start occurs when it leaves zero; that does not end the integration. One that only
        touches zero occurs if its direction is 0.
        """
        state = cache(between)
        passed = [event for e in range(len(self.events)) for event in self._passed(e, end, state, last)]
        self.t = end
        for event in sorted(passed, key=lambda event: event.t):
            self.left[event.event] -= float(event.terminal)
            event = event._replace(terminal=event.terminal and self.left[event.event] <= 0.0)
            self.events_so_far.append(event)
            if event.terminal:
                return event
        return None

    def _passed(self, e: int, end: float, state: State, last: bool) -> list[FoundEvent]:
        """What one event does up to `end`; `terminal` is whether it counts toward ending the integration."""
        value = lambda t: self.value(e, t, state(t))
        search = self.searches[e]
        roots = search.until(value, self.t, end)
        roots += search.at_the_end() if last else []
        wanted = [root for root in roots if self.direction[e] == 0.0 or self.direction[e] * root.sense > 0.0]
        # an event of the step before is known at its end, where the function is still zero
        times = [max(root.t, self.t) for root in wanted]
        return [FoundEvent(e, t, state(t), not root.leaves) for root, t in zip(wanted, times, strict=True)]

    def times_and_states(self) -> tuple[list[Floats], list[Floats]]:
        """As SciPy gives them: one array for each event."""
        each = [[event for event in self.events_so_far if event.event == e] for e in range(len(self.events))]
        times = [np.array([self.sense * event.t for event in some]) for some in each]
        return times, [np.array([event.y for event in some]) for some in each]
