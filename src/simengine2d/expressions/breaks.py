"""Breaks of expressions and tables: the times and states at which a force jumps, has a kink or begins to act.

The value of a comparison, `sign`, `abs`, `min`, `max`, `mod`, `atan2` or a rise such as `step` is smooth except where a
certain part u of the expression crosses a level. Such a part is a `Switch`. If it depends on t alone its times are
computed beforehand; if it depends on the state, runs search for them in each step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np

from ..numerics.interrupts import check_interrupts
from . import operations
from .enclosures import enclose
from .evaluate import names_in
from .levels import is_at_level, levels_around
from .syntax import Call, Chain, Lookup, Name, Node, Number, Unary
from .table import Table

EPS = 2.0**-52
ULPS = 8.0  # of a time that was computed exactly, within which the two sides of a break may be confused
SEARCHED = 1e-13  # the same for times that were searched for, relative to the time
SMALLEST_TIME = 1e-3  # in seconds: times closer to zero than that are as uncertain as this one
HIDDEN = 1e-3  # of the range of a table: what may hide between two of the points at which steps end
COMPARISONS = ("<", "<=", ">", ">=")


class Break(NamedTuple):
    """A time at which steps end. Within `width` of it the two sides may be confused, so nothing is evaluated there.

    At a `hard` break something jumps or has a kink, and the integration restarts after it.
    """

    t: float
    width: float
    hard: bool


@dataclass(frozen=True)
class Switch:
    """The expression `tree` breaks where it crosses a level; with a `period` the levels repeat.

    A switch `bends` if the values on both sides are equal, like abs(u) at 0; otherwise it may jump.
    """

    tree: Node
    levels: tuple[float, ...] = (0.0,)
    period: float = 0.0
    hard: bool = True
    bends: bool = False

    def at_level(self, u: float) -> bool:
        return bool(is_at_level(self.levels, 0, len(self.levels), self.period, u))

    def around(self, u: float) -> tuple[float, float]:
        """The levels below and above a value, excluding a level at the value itself."""
        below, above = levels_around(self.levels, 0, len(self.levels), self.period, u)
        return float(below), float(above)


# What breaks in an expression ----------------------------------------------------------------------------


def switches_of(tree: Node) -> list[Switch]:
    """Every switch of an expression, those inside others first."""
    switches: list[Switch] = []
    for part in tree.parts:
        switches += switches_of(part)
    match tree:
        case Chain(first, ((operator, right),)) if operator in COMPARISONS:
            switches.append(Switch(_difference(first, right)))
        case Call("abs", (u,)):
            switches.append(Switch(u, bends=True))
        case Call("sign", (u,)) | Call("atan2", (u, _)):
            switches.append(Switch(u))
        case Call("mod", (a, b)):
            switches.append(Switch(Chain(a, (("/", b),)), (0.0,), 1.0))
        case Call("min" | "max" as name, (first, *others)):
            for other in others:
                switches.append(Switch(_difference(first, other), bends=True))
                first = Call(name, (first, other))
        case Call(name, (x, start, _, end, _)) if name in operations.RISES:
            switches += [Switch(_difference(x, start)), Switch(_difference(x, end))]
        case Lookup(_, table, argument):
            switches.append(switch_of(table, argument))
    return [switch for switch in dict.fromkeys(switches) if names_in(switch.tree)]


def _difference(a: Node, b: Node) -> Node:
    return a if b == Number(0.0) else Chain(a, (("-", b),))


def switch_of(table: Table, argument: Node) -> Switch:
    """The points of a table at which steps end; at those of straight lines it has kinks."""
    levels = stops_of(table) if table.smooth else tuple(table.times)
    period = levels[-1] - levels[0] if table.periodic else 0.0
    return Switch(argument, levels, period, hard=not table.smooth, bends=not table.smooth)


def stops_of(table: Table) -> tuple[float, ...]:
    """The points of a table between which nothing hides: its ends, and those where its shape changes.

    Between two of them the table is, to a thousandth of its range, the cubic given by its values and slopes there.
    """
    rows, places = table.coefficients(), np.array(table.times)
    values, slopes = rows[:, 0].copy(), rows[:, 1].copy()
    d = places[-1] - places[-2]
    values[-1] = table.values[-1]
    slopes[-1] = rows[-2, 1] + d * (2.0 * rows[-2, 2] + 3.0 * d * rows[-2, 3])
    allowed = HIDDEN * float(np.ptp(values))
    kept = [0]
    while kept[-1] < places.size - 1:
        kept.append(_farthest(places, values, slopes, kept[-1], allowed))
    return tuple(places[kept].tolist())


def _farthest(places: np.ndarray, values: np.ndarray, slopes: np.ndarray, i: int, allowed: float) -> int:
    """The last point up to which Hermite's cubic from point i passes all points in between."""
    reach, fits = 1, i + 1
    while i + reach < places.size:
        j = i + reach
        h = places[j] - places[i]
        x = (places[i + 1 : j] - places[i]) / h
        d = values[j] - values[i]
        a, b = h * slopes[i] - d, h * slopes[j] - d
        cubic = values[i] + x * (d + (1.0 - x) * ((1.0 - x) * a - x * b))
        if x.size and np.abs(cubic - values[i + 1 : j]).max() > allowed:
            break
        fits, reach = j, reach + max(1, reach // 4)
    return fits


# Times ---------------------------------------------------------------------------------------------------


def break_times(switches: Sequence[Switch], t0: float) -> Iterator[Break]:
    """The breaks of switches of t alone from t0 on, in order; an endless iterator if they repeat."""
    return merge(*(_times_of(switch, t0) for switch in switches), key=lambda each: each.t)


def _times_of(switch: Switch, t0: float) -> Iterator[Break]:
    line = affine(switch.tree)
    if line is None:
        return _searched(switch, t0)
    slope, offset = line
    if slope == 0.0:
        return iter(())
    return _of_line(switch, slope, offset, t0)


def affine(node: Node) -> tuple[float, float] | None:
    """(k, c) if an expression of t is k t + c; None if it is not."""
    match node:
        case Number(value):
            return 0.0, value
        case Name():
            return 1.0, 0.0
        case Unary("-", operand):
            inner = affine(operand)
            return None if inner is None else (-inner[0], -inner[1])
        case Chain(first, rest):
            line = affine(first)
            for operator, operand in rest:
                line = _joined(line, operator, affine(operand))
            return line
    return None


def _joined(
    a: tuple[float, float] | None, operator: str, b: tuple[float, float] | None
) -> tuple[float, float] | None:
    if a is None or b is None:
        return None
    if operator in "+-":
        sign = 1.0 if operator == "+" else -1.0
        return a[0] + sign * b[0], a[1] + sign * b[1]
    if operator == "*" and 0.0 in (a[0], b[0]):
        return a[0] * b[1] + b[0] * a[1], a[1] * b[1]
    if operator == "/" and b[0] == 0.0 and b[1] != 0.0:
        return a[0] / b[1], a[1] / b[1]
    return None


def _of_line(switch: Switch, k: float, c: float, t0: float) -> Iterator[Break]:
    """k t + c = level"""
    fuzzy = lambda t, level: Break(
        t, ULPS * EPS * (abs(t) + (abs(c) + abs(level)) / abs(k)) + ULPS * EPS * SMALLEST_TIME, switch.hard
    )
    if not switch.period:
        times = sorted(fuzzy((level - c) / k, level) for level in switch.levels)
        yield from (each for each in times if each.t + each.width >= t0)
        return
    way = math.copysign(switch.period, k)
    turn = math.floor((k * t0 + c - switch.levels[0]) / way) - 1.0
    for n in count():
        check_interrupts()
        shift = way * (turn + n)
        for level in switch.levels if k > 0.0 else reversed(switch.levels):
            crossing = fuzzy((level + shift - c) / k, level + shift)
            if crossing.t + crossing.width >= t0:
                yield crossing


# What has to be searched for -----------------------------------------------------------------------------

WINDOWS = 40  # each twice as long as the one before, from a second on: some 30,000 years
MOST_PIECES = 100  # between breaks inside an expression, without finding anything
MOST_LOOKS = 5_000  # at pieces without finding anything, after which samples have to suffice
# if nothing is known about an expression: fraction of a window, and how often it is sampled
COARSE, SAMPLES = 0.1, 100


def _searched(switch: Switch, t0: float) -> Iterator[Break]:
    """The times at which an expression of t crosses a level, window by window; inside a window, from left to right."""
    last, quiet = Break(-math.inf, 0.0, True), 0
    for a, b in _smooth_pieces(switch, t0):
        quiet += 1
        for crossing in _in_piece(switch, a, b):
            if crossing.t > last.t + last.width or crossing.hard != last.hard:
                last, quiet = crossing, 0
                yield crossing
        if quiet > MOST_PIECES:
            quiet = 0
            # breaks inside may go on forever: the rest is searched for when it is reached
            yield Break(b, 0.0, False)


def _smooth_pieces(switch: Switch, t0: float) -> Iterator[tuple[float, float]]:
    """Windows, without the surroundings of breaks inside the expression."""
    inner = break_times(switches_of(switch.tree), t0)
    windows = (Break(t0 + 2.0**k - 1.0, 0.0, False) for k in range(1, WINDOWS))
    start = t0
    for bound in merge(inner, windows, key=lambda each: each.t):
        margin = max(bound.width, SEARCHED * max(abs(bound.t), SMALLEST_TIME)) if bound.hard else 0.0
        if start < bound.t - margin:
            yield start, bound.t - margin
        start = max(start, bound.t + margin)


def _in_piece(switch: Switch, a: float, b: float) -> Iterator[Break]:
    """The same if the expression is smooth between a and b."""
    waiting, looks, end, part = [(a, b)], 0, b, COARSE * (b - a)
    while waiting:
        check_interrupts()
        a, b = waiting.pop()
        low, high, slope_low, slope_high = enclose(switch.tree, a, b)
        if low == high or not _levels_between(switch, low, high) or not a < b:
            continue
        looks += 1
        unknown = not (math.isfinite(low) and math.isfinite(high)) and b - a <= part
        tiny = b - a < SEARCHED * max(abs(a), abs(b), SMALLEST_TIME)
        if tiny or slope_low > 0.0 or slope_high < 0.0:
            crossings = _located(switch, [a, b])
            # rounding errors of an expression that is always zero cross zero again and again
            looks = 0 if crossings and not tiny else looks
            yield from crossings
        elif unknown or looks > MOST_LOOKS:
            if not unknown:  # the rest, in parts that are not tiny
                b = min(end, a + part)
                waiting = [(b, end)]
            yield from _located(switch, np.linspace(a, b, SAMPLES).tolist())
            yield Break(b, 0.0, False)  # what comes after it is searched for when it is reached
        else:
            middle = 0.5 * (a + b)
            waiting += [(middle, b), (a, middle)]


def _levels_between(switch: Switch, low: float, high: float) -> bool:
    """Whether there is a level between two values."""
    if switch.period and not high - low < switch.period:
        return True
    below, above = switch.around(low)
    return above <= high or any(level == low for level in switch.levels) or below == low


def _located(switch: Switch, times: Sequence[float]) -> list[Break]:
    """The crossings between adjacent times, by bisection."""
    crossings = []
    value = lambda t: enclose(switch.tree, t, t)[0]
    for a, b in pairwise(times):
        at_a, at_b = value(a), value(b)
        for level in _passed(switch, at_a, at_b):
            t = _bisect(lambda t, level=level: value(t) - level, a, b)  # type: ignore[misc]
            crossings.append(Break(t, SEARCHED * max(abs(t), SMALLEST_TIME), switch.hard))
    return sorted(crossings)


def _passed(switch: Switch, a: float, b: float) -> Iterable[float]:
    """The levels between two values, at most a thousand; a value that stays at a level crosses none."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == b:
        return
    low, high = min(a, b), max(a, b)
    level = low if low in switch.levels else switch.around(low)[1]
    for _ in range(1_000):
        if level > high:
            return
        yield level
        level = switch.around(level)[1]


def _bisect(value: object, a: float, b: float) -> float:
    at_a = value(a)  # type: ignore[operator]
    if at_a == 0.0:
        return a
    for _ in range(200):
        middle = 0.5 * (a + b)
        if not a < middle < b:
            break
        if (value(middle) < 0.0) == (at_a < 0.0):  # type: ignore[operator]
            a = middle
        else:
            b = middle
    return b


class TimeBreaks:
    """The breaks of a model in time, one after another."""

    def __init__(
        self,
        switches: Sequence[Switch],
        tables: Sequence[Table],
        declared: Sequence[float],
        step: float | None = None,
    ) -> None:
        """Steps of a given size end at points of tables only if these are closer to each other."""
        t = Name("t")
        soft = [_stops_in_time(table, step) for table in tables]
        self.switches = [*dict.fromkeys([*switches, *(each for each in soft if each.levels)])]
        if declared:
            self.switches.append(Switch(t, tuple(sorted(set(declared)))))
        self.origin = math.inf
        self.next: Break | None = None

    def __bool__(self) -> bool:
        return bool(self.switches)

    def after(self, t: float) -> Break | None:
        """The first break not before t; later calls ask for later times."""
        if not self.switches:
            return None
        before, self.origin = self.origin, math.inf  # an interrupted search starts again
        if t < before:
            self.coming = break_times(self.switches, t)
            self.next = next(self.coming, None)
        while self.next is not None and not _ahead(self.next, t):
            check_interrupts()
            self.next = next(self.coming, None)
        self.origin = t
        return self.next


def _stops_in_time(table: Table, step: float | None) -> Switch:
    switch = switch_of(table, Name("t"))
    stops = switch.levels
    if step is not None and table.smooth:
        gaps = np.diff(stops)
        near = np.minimum([*gaps, np.inf], [np.inf, *gaps]) < step
        stops = tuple(np.array(stops)[near].tolist())
    return replace(switch, levels=stops)


def _ahead(at_break: Break, t: float) -> bool:
    return at_break.t + at_break.width > t if at_break.hard else at_break.t > t
