"""Events: something passes zero. Looked for inside every step, by the turning points of the expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..expressions.law import TIME, Law, expression_law, law_value, linear_law, pack_laws
from ..expressions.time_function import as_function, functions_at
from ..model.channel_text import parse_channels
from ..model.elements import Push
from ..model.measure import Measure
from ..numerics.kernel_pointer import kernel_pointer
from ..numerics.roots import roots_in
from ..system.applied_forces import load_arrays, push_state
from ..system.constraints import constant_arrays
from ..system.frames import FRAME_STATE, move_frames, place_frames
from ..system.system import System

Floats = NDArray[np.float64]

Motion = Callable[[float], tuple[Floats, Floats]]
"""q and qd at a time."""

ROUNDING = 1e-11  # relative error of a state, for expressions that start at zero
TOUCHES = 1.0  # of rtol and of the largest value: where an expression that turns round touches zero
DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@dataclass(frozen=True)
class Event:
    """The moment at which an expression of channels and measures passes zero.

    `se.Event("slider.x - 0.2")`, `se.Event("crank.phid", "falling", stop=False)`. `direction` is rising, falling or
    both; with `stop` the run ends there, else the event is only noted in `results.events`.

    An expression that turns round at zero, within the tolerance of the run, touches it: an event of the
    direction both. One that is zero at the start has an event where it leaves zero, in that direction; this does not
    end the run. Zero that lasts counts where it begins, and once more where the expression goes back to its old side.
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
    """An event that happened; `rising` tells which way it passed, or from below that it only touched zero."""

    name: str
    t: float
    rising: bool
    stop: bool
    touch: bool = False


class EventWatch:
    """The expressions of some events, ready to be evaluated at a state."""

    def __init__(self, system: System, events: Sequence[Event]) -> None:
        for event in events:
            if not isinstance(event, Event):
                raise ModelError(f"events must be a list of Event(...), not {event!r}.")
        self.events = list(events)
        resolved = system.resolved
        pushes: list[Push] = []
        laws: list[Law] = []
        self.first: list[int] = []
        for event in self.events:
            try:
                channels = parse_channels(str(event.expression))
                measures = [resolved.measure(measure) for measure in channels.measures]
                laws.append(
                    expression_law(channels.tree, channels.text, channels.variables, resolved.parameters)
                )
            except ModelError as error:
                raise ModelError(f"event '{event.name}': {error}") from None
            self.first.append(len(pushes))
            pushes += [Push(measure, _NOTHING) for measure in measures]
        frames = {frame for push in pushes for term in push.measure.terms for frame in (term.a, term.b)}
        times = [law.time or as_function(0.0) for law in laws]
        arrays, numbers = constant_arrays(system.bodies, resolved.gravity, [], times, frames)  # type: ignore[arg-type]
        first = np.array([*self.first, len(pushes)], dtype=np.int64)
        context = EventContext(
            arrays, load_arrays(pushes, [], numbers, 0), pack_laws(laws, 0), first, np.empty((len(laws), 3)),
            np.zeros((arrays.frame_body.size, FRAME_STATE)), np.zeros(2 * len(pushes) + 1),
        )  # fmt: skip
        self.bound = watched_at.bind(context)
        self.clocks = [law.time if law.kind == TIME else None for law in laws]
        self.length = system.length
        self.t, count = np.nan, len(laws)
        self.side, self.size, self.rounding = np.zeros((3, count))

    def values(self, t: float, q: Floats, qd: Floats) -> Floats:
        """The value of every expression."""
        out = np.empty(len(self.events))
        self.bound(t, np.concatenate([q, qd]), out)
        return out

    def value(self, e: int, t: float, between: Motion) -> float:
        """The value of one expression; one of time alone does not ask for the motion."""
        clock = self.clocks[e]
        try:
            value = clock(t) if clock is not None else float(self.values(t, *between(t))[e])
        except ModelError as error:
            raise ModelError(f"event '{self.events[e].name}': {error}") from None
        if not abs(value) < np.inf:
            raise ModelError(f"event '{self.events[e].name}': its expression is {value:g} at t = {t:.9g} s.")
        return value

    def begin(self, t: float, q: Floats, qd: Floats) -> None:
        """The side of zero on which each expression starts; 0 where it is zero but for rounding."""
        self.t = t
        self.size[:] = 0.0
        here = np.array([self.value(e, t, lambda t: (q, qd)) for e in range(len(self.events))])
        self.rounding[:] = self.rounding_at(t, q, qd)
        self.side[:] = np.where(np.abs(here) <= self.rounding, 0.0, np.sign(here))

    def rounding_at(self, t: float, q: Floats, qd: Floats) -> Floats:
        """What small errors of the state may change in each expression."""
        length = np.tile([self.length, self.length, 1.0], q.size // 3)
        here = self.values(t, q, qd)
        out = np.zeros(here.size)
        for k in range(q.size):
            for state, move in ((q, max(abs(q[k]), length[k])), (qd, max(abs(qd[k]), length[k]))):
                moved = state.copy()
                moved[k] += ROUNDING * move
                there = self.values(t, moved, qd) if state is q else self.values(t, q, moved)
                out += np.abs(there - here)
        return np.where(np.isfinite(out), out, 0.0)

    def kept(self) -> dict[str, Floats]:
        """Where the events stand, for `resume`."""
        return {"watch_t": np.array(self.t), "watch": np.array([self.side, self.size, self.rounding])}

    def restore(self, saved: dict[str, Floats]) -> None:
        self.t = float(saved["watch_t"])
        self.side[:], self.size[:], self.rounding[:] = saved["watch"]


_NOTHING: Law = linear_law(0.0, 0.0, 0.0, as_function(0.0))


class EventContext(NamedTuple):
    """What the expressions of some events are evaluated with."""

    S: Any
    L: Any
    laws: Any
    first: Any  # measure of each expression, and their number
    f: Any
    F: Any
    z: Any  # scratch for the variables of one expression


@kernel_pointer
def watched_at(c, t, y, out):
    """The value of every expression at y = (q, qd)."""
    n = y.size // 2
    functions_at(c.S.functions, t, c.f)
    place_frames(c.S, y[:n], c.F)
    move_frames(c.S, y[n:], c.F)
    for e in range(out.size):
        count = c.first[e + 1] - c.first[e]
        z = c.z[: 2 * count + 1]
        for k in range(count):
            z[2 * k], z[2 * k + 1] = push_state(c.L, c.first[e] + k, c.F)
        z[2 * count] = t
        out[e] = law_value(c.laws, e, c.f, z)


def crossings_until(watch: EventWatch, t_end: float, between: Motion, rtol: float) -> list[Crossing]:
    """The events between the last look and t_end, in the order of time."""
    motion = cache(between)  # several events look at the same places
    found = [each for e in range(len(watch.events)) for each in _crossings_of(watch, e, t_end, motion, rtol)]
    watch.t = t_end
    return sorted(found, key=lambda crossing: crossing.t)


def _crossings_of(watch: EventWatch, e: int, t_end: float, motion: Motion, rtol: float) -> list[Crossing]:
    """The events of one expression; its side and its size are noted."""
    event, side = watch.events[e], int(watch.side[e])
    value = lambda t: watch.value(e, t, motion)
    last = value(t_end)
    watch.size[e] = max(watch.size[e], abs(last))
    near = watch.rounding[e]
    if watch.clocks[e] is None:
        near = max(near, TOUCHES * rtol * watch.size[e])
    roots = roots_in(value, watch.t, t_end, touching=near, side=side)
    crossings = []
    for root in roots:
        leaves = side == 0
        rising = root.way > 0 or (root.way == 0 and side < 0)
        if DIRECTIONS[event.direction] in (0, root.way):
            crossings.append(Crossing(event.name, root.t, rising, event.stop and not leaves, root.way == 0))
        side = root.way or side
    watch.side[e] = np.sign(last) or side
    return crossings
