"""Events: something passes zero. Found at the ends of steps, located inside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .channel_text import parse_channels
from .elements import Push
from .errors import ModelError
from .functions import as_function, functions_at
from .kernels import kernel
from .laws import Law, expression_law, law_value, linear_law, pack_laws
from .loads import load_arrays, push_state
from .measures import Measure
from .moving_frames import FRAME_STATE, move_frames, place_frames
from .rows import constant_arrays
from .system import System

Floats = NDArray[np.float64]

DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@dataclass(frozen=True)
class Event:
    """The moment at which an expression of channels and measures passes zero.

    `se.Event("slider.x - 0.2")`, `se.Event("crank.phid", "falling", stop=False)`. `direction` is rising, falling or
    both; with `stop` the run ends there, else the event is only noted in `results.events`.
    """

    expression: Measure | str
    direction: str = "both"
    stop: bool = True
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.expression, Measure | str):
            raise ModelError(
                f"an event needs an expression such as 'slider.x - 0.2', not {self.expression!r}."
            )
        if self.direction not in DIRECTIONS:
            raise ModelError(f"event: direction = {self.direction!r} must be rising, falling or both.")
        if isinstance(self.expression, Measure):
            object.__setattr__(self, "expression", self.expression.text)
        object.__setattr__(self, "name", self.name or self.expression)


class Crossing(NamedTuple):
    """An event that happened; `rising` tells which way it passed."""

    name: str
    t: float
    rising: bool
    stop: bool


class Watch:
    """The expressions of some events, ready to be evaluated at a state."""

    def __init__(self, system: System, events: Sequence[Event]) -> None:
        for event in events:
            if not isinstance(event, Event):
                raise ModelError(f"events must be a list of Event(...), not {event!r}.")
        self.events = list(events)
        drawing = system.drawing
        pushes: list[Push] = []
        laws: list[Law] = []
        self.first: list[int] = []
        for event in self.events:
            try:
                channels = parse_channels(str(event.expression))
                measures = [drawing.measure(measure) for measure in channels.measures]
                laws.append(
                    expression_law(channels.tree, channels.text, channels.variables, drawing.parameters)
                )
            except ModelError as error:
                raise ModelError(f"event '{event.name}': {error}") from None
            self.first.append(len(pushes))
            pushes += [Push(measure, _NOTHING) for measure in measures]
        frames = {frame for push in pushes for term in push.measure.terms for frame in (term.a, term.b)}
        times = [law.time or as_function(0.0) for law in laws]
        self.S, numbers = constant_arrays(system.bodies, drawing.gravity, [], times, frames)  # type: ignore[arg-type]
        self.L = load_arrays(pushes, [], numbers, 0)
        self.laws = pack_laws(laws, 0)
        self.sizes = np.diff([*self.first, len(pushes)])
        self.z = [np.empty(2 * size + 1) for size in self.sizes]
        self.f = np.empty((len(laws), 3))
        self.F = np.zeros((self.S.frame_body.size, FRAME_STATE))
        self.measured = np.empty((len(pushes), 2))
        self.t, self.before = np.nan, np.full(len(laws), np.nan)

    def values(self, t: float, q: Floats, qd: Floats) -> Floats:
        """The value of every expression."""
        q, qd = np.ascontiguousarray(q), np.ascontiguousarray(qd)
        measure_at(self.S, self.L, float(t), q, qd, self.f, self.F, self.measured)
        out = np.empty(len(self.events))
        for e, (first, size, z) in enumerate(zip(self.first, self.sizes, self.z, strict=True)):
            z[:-1] = self.measured[first : first + size].ravel()
            z[-1] = t
            out[e] = law_value(self.laws, e, self.f, z)
        return out

    def remember(self, t: float, values: Floats) -> None:
        """What the next step is compared with."""
        self.t, self.before = t, values


_NOTHING: Law = linear_law(0.0, 0.0, 0.0, as_function(0.0))


@kernel(entry=True)
def measure_at(S, L, t, q, qd, f, F, out):
    """Value and rate of every measure."""
    functions_at(S.functions, t, f)
    place_frames(S, q, F)
    move_frames(S, qd, F)
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1] = push_state(L, i, F)


def crossings_until(
    watch: Watch, t_end: float, between: Callable[[float], tuple[Floats, Floats]]
) -> list[Crossing]:
    """The events between the last look and t_end, in the order of time."""
    from scipy.optimize import brentq

    now = watch.values(t_end, *between(t_end))
    found = []
    for e, event in enumerate(watch.events):
        before, after = watch.before[e], now[e]
        wanted = DIRECTIONS[event.direction]
        crosses = before * after < 0.0 or (after == 0.0 and before != 0.0)
        if not crosses or wanted * (after - before) < 0.0:
            continue
        value = lambda t, e=e: watch.values(t, *between(t))[e]
        # an interpolated value may have lost the sign of one that passes zero at the very end
        inside = value(watch.t) * value(t_end) < 0.0
        t = float(brentq(value, watch.t, t_end, xtol=1e-15, rtol=1e-14)) if inside else t_end
        found.append(Crossing(event.name, t, bool(after > before), event.stop))
    watch.remember(t_end, now)
    return sorted(found, key=lambda crossing: crossing.t)
