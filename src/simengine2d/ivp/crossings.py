"""Events as SciPy knows them: functions g(t, y) that pass zero, with `terminal` and `direction`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError

Floats = NDArray[np.float64]
State = Callable[[float], Floats]

LOOKS = 4  # places in a step at which signs are compared; g may pass zero and come back in one step


class Found(NamedTuple):
    event: int
    t: float
    y: Floats
    terminal: bool


class Watch:
    """Some events, and their values at the last look."""

    def __init__(self, events: Any, args: tuple[Any, ...], way: float, t: float, y: Floats) -> None:
        self.events: Sequence[Any] = (events,) if callable(events) else tuple(events)
        for event in self.events:
            if not callable(event):
                raise ModelError(f"events must be functions g(t, y), not {event!r}.")
        self.args, self.way = args, way
        # how often an event may still happen before it ends the integration
        terminal = [getattr(event, "terminal", False) for event in self.events]
        self.left = [np.inf if not end else float(end) for end in terminal]
        self.direction = [float(getattr(event, "direction", 0)) for event in self.events]
        self.t, self.values = t, self.at(t, y)
        self.found: list[Found] = []

    def value(self, e: int, t: float, y: Floats) -> float:
        got = np.asarray(self.events[e](self.way * t, y.copy(), *self.args))
        if got.size != 1 or not np.isfinite(float(got.reshape(-1)[0])):
            name = getattr(self.events[e], "__name__", "an event")
            raise ModelError(
                f"the event {name} gave {got!r} at t = {self.way * t:.9g}, not one finite number."
            )
        return float(got.reshape(-1)[0])

    def at(self, t: float, y: Floats) -> list[float]:
        return [self.value(e, t, y) for e in range(len(self.events))]

    def look(self, end: float, between: State) -> Found | None:
        """Note what happened up to `end`; the event that ends the integration."""
        for t in np.linspace(self.t, end, LOOKS + 1)[1:]:
            found = self._look_once(float(t), between)
            if found is not None:
                return found
        return None

    def _look_once(self, t: float, between: State) -> Found | None:
        now = self.at(t, between(t))
        passed = [e for e in range(len(now)) if self._passes(e, self.values[e], now[e])]
        located = [
            Found(e, where, between(where), False)
            for e in passed
            for where in [self._locate(e, t, now[e], between)]
        ]
        self.t, self.values = t, now
        for found in sorted(located, key=lambda found: found.t):
            self.left[found.event] -= 1.0
            found = found._replace(terminal=self.left[found.event] <= 0.0)
            self.found.append(found)
            if found.terminal:
                return found
        return None

    def _passes(self, e: int, before: float, after: float) -> bool:
        crosses = before * after < 0.0 or (after == 0.0 and before != 0.0)
        return crosses and self.direction[e] * (after - before) >= 0.0

    def _locate(self, e: int, t: float, after: float, between: State) -> float:
        from scipy.optimize import brentq

        if after == 0.0:
            return t
        value = lambda time: self.value(e, time, between(time))
        # an interpolated value may have lost the sign of one that passes zero at the very end
        if value(self.t) * value(t) >= 0.0:
            return t
        return float(brentq(value, self.t, t, xtol=1e-15, rtol=1e-14))

    def times_and_states(self) -> tuple[list[Floats], list[Floats]]:
        """As SciPy gives them: one array for each event."""
        each = [[found for found in self.found if found.event == e] for e in range(len(self.events))]
        times = [np.array([self.way * found.t for found in some]) for some in each]
        return times, [np.array([found.y for found in some]) for some in each]
