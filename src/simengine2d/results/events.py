"""Events: an expression passes zero. They are located inside every step, with its turning points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ..errors import ModelError
from ..expressions.function import Function, expression_function
from ..expressions.function_table import ALONG, FunctionTable, Scratch, law_value, new_scratch, pack
from ..model.elements import Row
from ..model.measure import Measure
from ..model.measure_text import parse_channels
from ..model.si_values import text_in_si
from ..numerics.arrays import Floats, Ints
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, kernel_pointer
from ..numerics.roots import ZeroSearch
from ..system.constraints import SystemArrays, constant_arrays
from ..system.frames import FRAME_STATE, move_frames, place_frames, term_rate, term_value
from ..system.system import System

Motion = Callable[[float], tuple[Floats, Floats]]
"""q and qd at a time."""

ROUNDING = 1e-11  # relative error of a state, for expressions that start at zero
Direction: TypeAlias = Literal["rising", "falling", "both"]
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
    direction: Direction = "both"
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
    """An event that happened; `rising` says in which direction it passed zero; a `touch` from below is rising."""

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
        functions: list[Function] = []
        variables: list[Sequence[str]] = []
        measures: list[Sequence[Measure]] = []
        for event in self.events:
            try:
                text = text_in_si(resolved.written, str(event.expression))
                channels = parse_channels(text, resolved.words)
                names = tuple(channels.variables)
                function = expression_function(channels.tree, channels.text, names, resolved.parameters)
                measures.append([resolved.measure(measure) for measure in channels.measures])
            except ModelError as error:
                raise ModelError(f"event '{event.name}': {error}") from None
            functions.append(function)
            variables.append(names)
        self.bound = watching(system, functions, variables, measures)
        self.clocks = [function if function.of_time else None for function in functions]
        self.length = system.length
        self.t, count = np.nan, len(functions)
        self.rounding = np.zeros(count)
        self.searches = [ZeroSearch(0) for _ in functions]

    def values(self, t: float, q: Floats, qd: Floats) -> Floats:
        """The value of every expression."""
        out = np.empty(len(self.events))
        self.bound(t, np.concatenate([q, qd]), out)
        return out

    def value(self, e: int, t: float, between: Motion) -> float:
        """The value of one expression; one of time alone does not need the motion."""
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
        here = np.array([self.value(e, t, lambda t: (q, qd)) for e in range(len(self.events))])
        self.rounding[:] = self.rounding_at(t, q, qd)
        sides = np.where(np.abs(here) <= self.rounding, 0.0, np.sign(here))
        self.searches = [ZeroSearch(int(side)) for side in sides]

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
        """The state of the events, for `resume`."""
        searches = [search.state() for search in self.searches]
        rounding = self.rounding.copy()
        return {"watch_t": np.array(self.t), "watch": rounding, "watch_zeros": np.array(searches)}

    def restore(self, saved: dict[str, Floats]) -> None:
        if any(np.any(np.isnan(saved[name])) for name in ("watch_t", "watch", "watch_zeros")):
            raise ValueError("watch is nan")
        self.t = float(saved["watch_t"])
        self.rounding[:] = saved["watch"]
        for search, state in zip(self.searches, saved["watch_zeros"].tolist(), strict=True):
            search.restore(state)


class WatchContext(NamedTuple):
    """What some expressions are evaluated with: the rows of S are the measures that they read."""

    S: SystemArrays
    table: FunctionTable
    first: Ints  # measure of each expression, and their number
    scratch: Scratch
    F: Floats


def watching(
    system: System,
    functions: Sequence[Function],
    variables: Sequence[Sequence[str]],
    measures: Sequence[Sequence[Measure]],
) -> BoundKernel:
    """The kernel pointer that evaluates functions of measures, their rates and time."""
    rows = [Row("", measure) for each in measures for measure in each]
    arrays, _ = constant_arrays(system.bodies, system.resolved.gravity, rows)
    first = np.cumsum([0, *map(len, measures)]).astype(np.int64)
    table = pack(functions, variables, ALONG)
    frames = np.zeros((arrays.frame_body.size, FRAME_STATE))
    return watched_at.bind(WatchContext(arrays, table, first, new_scratch(table), frames))


@kernel_pointer
def watched_at(c, t, y, out):
    """The value of every expression at y = (q, qd)."""
    n = y.size // 2
    place_frames(c.S, y[:n], c.F)
    move_frames(c.S, y[n:], c.F)
    for e in range(out.size):
        count = c.first[e + 1] - c.first[e]
        z = c.scratch.variables[: 2 * count + 1]
        for k in range(count):
            z[2 * k], z[2 * k + 1] = measured(c.S, c.first[e] + k, c.F)
        z[2 * count] = t
        out[e] = law_value(c.table, e, z, c.scratch.results)


@kernel
def measured(S, i, F):
    """Value and rate of the measure of row i."""
    s, sd = 0.0, 0.0
    for k in range(S.row_start[i], S.row_start[i + 1]):
        kind, a, b, weight = S.term_kind[k], S.term_a[k], S.term_b[k], S.term_weight[k]
        s += weight * term_value(kind, F, a, b)
        sd += weight * term_rate(kind, F, a, b)
    return s, sd


def crossings_until(
    watch: EventWatch, t_end: float, between: Motion, rtol: float, last: bool
) -> list[Crossing]:
    """The events that became certain between the last call and t_end, in order; `last` if the motion ends there."""
    motion = cache(between)  # several events look at the same places
    crossings = [
        each for e in range(len(watch.events)) for each in _crossings_of(watch, e, t_end, motion, rtol, last)
    ]
    watch.t = t_end
    return sorted(crossings, key=lambda crossing: crossing.t)


def _crossings_of(
    watch: EventWatch, e: int, t_end: float, motion: Motion, rtol: float, last: bool
) -> list[Crossing]:
    """The events of one expression."""
    event, search = watch.events[e], watch.searches[e]
    value = lambda t: watch.value(e, t, motion)
    error, rounding = rtol if watch.clocks[e] is None else 0.0, float(watch.rounding[e])
    came_from = search.side
    crossings = []
    roots = search.until(value, watch.t, t_end, error=error, rounding=rounding)
    for root in [*roots, *(search.at_the_end() if last else [])]:
        rising = root.sense > 0 or (root.sense == 0 and came_from < 0)
        came_from = root.sense or came_from
        stop = event.stop and not root.leaves
        # a run that has taken another step meanwhile ends at its beginning, where the expression is still near zero
        t = max(root.t, watch.t) if stop else root.t
        if DIRECTIONS[event.direction] in (0, root.sense):
            crossings.append(Crossing(event.name, t, rising, stop, root.sense == 0))
    return crossings
