"""Outputs of a motion with their derivatives: the expressions that sweeps understand, read at the places that count.

A reducer is about the whole motion. Most need it at one place only, so derivatives are computed there: of a largest
value c(t*(p), p), where c_t = 0, or where t* is an end of the run,

    d/dp max c = c_p(t*)

and of a value at an event, or at the end of a run that stops at one, with g(t_e(p), p) = 0,

    d/dp c(t_e) = c_p + c_t dt_e/dp,      dt_e/dp = -g_p / g_t
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...analyses.linkage.transmission import transmission_angle
from ...errors import UnsupportedError
from ...expressions.syntax import Call, Name, Node, to_text
from ...model.measure import KINDS
from ...numerics.arrays import Floats
from ...results.events import Crossing, Event
from ...results.results import Results
from ..sweep.reading import (
    RATE,
    REDUCED,
    TRANSMISSION,
    Reading,
    Value,
    averaged,
    first_crossing,
    refuse_outside,
)
from .channels import FOLLOWED, TURNS, channel_slopes, slope_of
from .motion_slopes import MotionSlopes
from .motions import DifferentiatedMotion
from .sloped import Sloped
from .turning_points import TurningPoint, largest_values, newton, series
from .varied import Varied

SAME = 1e-9
"""Of the value: peaks that are equally high."""
NOTHING = 1e-2
"""In SI units: values of a channel that is zero all the time are known to SAME of this."""
ALIKE = 1e-6
"""Of the largest derivative: those of equal peaks that agree."""
PASSED = 1e-6
"""Of the usual change: how far from zero an expression may be at its event."""
FINER = 8
"""Times for each output, where a channel is an integral over time."""
GRAZING = 1e-6
"""Of the usual rate: an expression that passes zero more slowly touches it."""


class MovingPlace(NamedTuple):
    """A place, and how it changes with the parameters, where it does."""

    place: float
    slope: Floats | None = None


class ZeroCrossing(NamedTuple):
    """Where an expression passes zero, how fast, and what is left of it."""

    t: float
    rate: float
    value: float


class StudiedMotion(NamedTuple):
    """A motion, the events that were asked for, and what there is to say about its outputs."""

    motion: DifferentiatedMotion
    events: Sequence[Event]
    notes: list[str]


class MotionReading(Reading):
    """The value of an expression at some places of a motion."""

    is_whole = False
    """Whether the places are all of a motion, so that integrals over time can be read there."""

    def __init__(self, study: StudiedMotion, places: Floats | None = None) -> None:
        """At the outputs of the analysis, where no places are given."""
        self.study, self.given = study, places

    @cached_property
    def places(self) -> Floats:
        return np.asarray(self.study.motion.places if self.given is None else self.given, dtype=float)

    @cached_property
    def answer(self) -> Results:  # type: ignore[override]
        return self.study.motion.at(self.places)

    def value(self, node: Node) -> Value:
        is_leaf = isinstance(node, Name) or (isinstance(node, Call) and node.name in KINDS)
        if is_leaf and self.study.motion.in_time and not self.is_whole and FOLLOWED.search(to_text(node)):
            return self.followed(node)
        return super().value(node)

    def followed(self, node: Node) -> Value:
        """What depends on the motion before: read through all of it."""
        if self.study.motion.jumps and not TURNS.search(to_text(node)):
            raise UnsupportedError(
                f"{to_text(node)} has no derivatives that could be trusted: it adds up over time, and at "
                f"t = {self.study.motion.jumps[0]:.6g} s a force jumps. Smooth the force that does it."
            )
        times = np.union1d(finer(self.study.motion.places), self.places)
        whole = type(self)(self.study, times)
        whole.is_whole = True
        return whole.value(node)[np.searchsorted(times, self.places)]

    def call(self, node: Call, name: str, args: tuple[Node, ...]) -> Value:
        if name in REDUCED and len(args) == 1:
            return self.reduced(node, name, args[0])
        return super().call(node, name, args)

    # reducers

    def reduced(self, node: Call, name: str, arg: Node) -> Value:
        if name == "peak_to_peak":
            return np.subtract(self.reduced(node, "max", arg), self.reduced(node, "min", arg))
        if name in ("max", "min"):
            return self.largest(node, arg, 1.0 if name == "max" else -1.0)
        if name in ("first", "final"):
            return self.at_place(arg, self.first if name == "first" else self.last)
        self._refuse_moving_end(node)
        motion = self.study.motion
        values = type(self)(self.study, motion.places).value(arg)
        return averaged(name, values, motion.places if motion.in_time else np.zeros(0))

    def largest(self, node: Call, arg: Node, sign: float) -> Value:
        return self.at_place(arg, MovingPlace(self.peaks(node, arg, sign)[0].t))

    def peaks(self, node: Call, arg: Node, sign: float) -> list[TurningPoint]:
        """The largest values; the first is that of the run."""
        motion = self.study.motion
        read = self.over(arg)
        if not motion.in_time:
            values = sign * read(motion.places)
            order = np.argsort(-values, kind="stable").tolist()
            return [TurningPoint(float(k), float(values[k])) for k in order]
        first, last, samples = self.first.place, self.last.place, motion.samples
        return largest_values(lambda t: sign * read(t), samples[samples <= last], first, last)

    def over(self, arg: Node) -> Callable[[Floats], Floats]:
        """The values of an expression at some places."""
        of = lambda places: np.asarray(MotionReading(self.study, places).value(arg), dtype=float)
        return lambda places: np.broadcast_to(of(places), places.shape)

    # places

    @property
    def first(self) -> MovingPlace:
        return MovingPlace(self.study.motion.ends[0])

    @property
    def last(self) -> MovingPlace:
        stop = self._stop()
        if stop is not None:
            return self.event_place(stop)
        return MovingPlace(self.study.motion.ends[1])

    def _stop(self) -> Crossing | None:
        if not self.study.events:
            return None
        return next((each for each in self.study.motion.results.events if each.stop), None)

    def _refuse_moving_end(self, node: Call) -> None:
        stop = self._stop()
        if stop is not None:
            raise UnsupportedError(
                f"{to_text(node)} has no derivatives here: the run ends at the event '{stop.name}', whose time depends "
                "on the parameters. Use stop=False, or final, max, min, at."
            )

    def at_place(self, arg: Node, place: MovingPlace) -> Value:
        """The value of an expression at one place."""
        return type(self)(self.study, np.array([place.place])).value(arg)[0]

    def at(self, node: Call, args: tuple[Node, ...]) -> Value:
        if isinstance(args[1], Name):
            return self.at_place(args[0], self.event_place(self._crossing(node, args[1].name)))
        t, motion = float(MotionReading(self.study, self.places).value(args[1])), self.study.motion
        refuse_outside(node, t, motion.places)
        return self.at_place(args[0], MovingPlace(t))

    def event_place(self, crossing: Crossing) -> MovingPlace:
        """The time of an event, sharpened."""
        return MovingPlace(self._passage(crossing).t)

    def event_time(self, node: Call, event: Node) -> Value:
        name = event.name if isinstance(event, Name) else to_text(event)
        return self.event_place(self._crossing(node, name)).place

    def _crossing(self, node: Call, name: str) -> Crossing:
        return first_crossing(self.study.motion.results, node, name)

    def _passage(self, crossing: Crossing) -> ZeroCrossing:
        """g = 0 by Newton's method, from the time that the run has found."""
        touching = UnsupportedError(
            f"the time of the event '{crossing.name}' has no derivatives: at t = {crossing.t:.6g} s its expression "
            "touches zero, or has a kink there."
        )
        if crossing.touch:
            raise touching
        event = next(each for each in self.study.events if each.name == crossing.name)
        expression = Name(str(event.expression))
        rate = lambda t: self.rate(expression, t)
        value = lambda t: float(self.over(expression)(np.array([t]))[0])
        low, high = _around(self.study.motion, crossing.t)
        t = newton(value, rate, crossing.t, low - (high - low), high + (high - low))
        found = ZeroCrossing(t, rate(t), value(t))
        usual = np.ptp(self.over(expression)(np.linspace(low, high, 9))) / (high - low)
        if abs(found.rate) <= GRAZING * usual or abs(found.value) > PASSED * usual * (high - low):
            raise touching
        return found

    def rate(self, arg: Node, t: float) -> float:
        """d/dt of an expression along the motion."""
        found = RateReading(self.study, np.array([t])).value(arg)
        return float(found.slope.ravel()[0]) if isinstance(found, Sloped) else 0.0


class SlopeReading(MotionReading):
    """The same with derivatives."""

    # leaves

    def channel(self, name: str) -> Value:
        if name == TRANSMISSION:
            return self._leaf(lambda results: transmission_angle(results).angle)
        if name in self.results.resolved.parameters:
            return self._parameter(name)
        values, slopes = channel_slopes(self.results, [name], self.slopes, self.numbers)
        return Sloped(values[:, 0], slopes[:, 0])

    @property
    def numbers(self) -> Sequence[Varied]:
        return self.study.motion.numbers

    @cached_property
    def slopes(self) -> MotionSlopes:
        return self.study.motion.slopes(self.results)

    def call(self, node: Call, name: str, args: tuple[Node, ...]) -> Value:
        if name in KINDS:
            text = to_text(node)
            return self._leaf(lambda results: results.measure(text)[0], followed=bool(FOLLOWED.search(text)))
        if name == RATE:
            return self._leaf(lambda results: results.measure(to_text(args[0]))[1])
        if name == TRANSMISSION:
            texts = [to_text(arg) for arg in args]
            return self._leaf(lambda results: transmission_angle(results, *texts).angle)
        return super().call(node, name, args)

    def _leaf(self, read: Callable[[Results], Any], *, followed: bool = False) -> Sloped:
        return slope_of(read, self.results, self.slopes, self.numbers, followed=followed)

    def _parameter(self, name: str) -> Sloped:
        """A parameter may be computed from others."""
        slopes = [number.slope(lambda system, _: system.resolved.parameters[name]) for number in self.numbers]
        return Sloped(self.results.resolved.parameters[name], np.array(slopes))

    # places that move

    def at_place(self, arg: Node, place: MovingPlace) -> Value:
        """c_p + c_t t_p"""
        there = SlopeReading(self.study, np.array([place.place])).value(arg)
        value = there[0] if isinstance(there, Sloped) and there.value.ndim else there
        if place.slope is None or not isinstance(value, Sloped):
            return value
        return Sloped(value.value, value.slope + self.rate(arg, place.place) * place.slope)

    def event_place(self, crossing: Crossing) -> MovingPlace:
        """dt_e/dp = -g_p / g_t"""
        found = self._passage(crossing)
        event = next(each for each in self.study.events if each.name == crossing.name)
        g = SlopeReading(self.study, np.array([found.t])).channel(str(event.expression))
        return MovingPlace(found.t, -g.slope[0] / found.rate)

    def event_time(self, node: Call, event: Node) -> Value:
        name = event.name if isinstance(event, Name) else to_text(event)
        place = self.event_place(self._crossing(node, name))
        return Sloped(place.place, np.asarray(place.slope))

    # peaks

    def largest(self, node: Call, arg: Node, sign: float) -> Value:
        best, *others = self.peaks(node, arg, sign)
        if best.kink:
            raise UnsupportedError(
                f"{to_text(node)} has no derivatives: the value at t = {best.t:.6g} s is at a kink, where a force "
                "switches or an absolute value turns."
            )
        found = self._at_peak(arg, best)
        for other in others:
            if best.value - other.value <= SAME * abs(best.value):
                self._refuse_other(node, found, self._at_peak(arg, other), best, other)
        if best.at_end:
            self.study.notes.append(
                f"{to_text(node)} is at an end of the run, t = {best.t:.6g} s, not at a peak"
            )
        return found

    def _at_peak(self, arg: Node, peak: TurningPoint) -> Value:
        """At the end of a run that stops at an event, the end moves."""
        last = self.last
        return self.at_place(arg, last if peak.at_end and peak.t == last.place else MovingPlace(peak.t))

    def _refuse_other(
        self, node: Call, one: Value, two: Value, best: TurningPoint, other: TurningPoint
    ) -> None:
        if not isinstance(one, Sloped):
            return
        apart, sizes = np.abs(one.slope - two.slope), np.array([number.size for number in self.numbers])
        rounding = SAME * max(abs(best.value), NOTHING) / sizes
        if np.any(apart > ALIKE * np.abs(one.slope).max() + rounding):
            places = "t = {:.6g} s and {:.6g} s" if self.study.motion.in_time else "places {:.0f} and {:.0f}"
            raise UnsupportedError(
                f"{to_text(node)} has no derivatives: it is the same at {places.format(best.t, other.t)}, and these "
                "two depend on the parameters in different ways. Ask for each, by at(...), or over a shorter run."
            )


class RateReading(SlopeReading):
    """The rate of an expression: its derivative with respect to time. What is reduced does not depend on time."""

    @property
    def numbers(self) -> Sequence[Varied]:
        return [self.study.motion.clock]

    @cached_property
    def slopes(self) -> MotionSlopes:
        return self.study.motion.rates(self.results)

    def followed(self, node: Node) -> Value:
        """By a polynomial through values around each place."""
        read, times = self.over(node), self.study.motion.places
        half = 0.5 * float(np.ptp(times)) / max(times.size - 1, 1)
        around = [np.clip([t - half, t + half], times[0], times[-1]) for t in self.places]
        rates = [series(read, *ends).deriv()(t) for t, ends in zip(self.places, around, strict=True)]
        return Sloped(read(self.places), np.array(rates)[:, None])

    def reduced(self, node: Call, name: str, arg: Node) -> Value:
        return MotionReading(self.study, self.places).reduced(node, name, arg)

    def at(self, node: Call, args: tuple[Node, ...]) -> Value:
        return MotionReading(self.study, self.places).at(node, args)

    def event_time(self, node: Call, event: Node) -> Value:
        return MotionReading(self.study, self.places).event_time(node, event)


def finer(times: Floats) -> Floats:
    """Times that resolve integrals by splines: some between each two."""
    k = np.arange(FINER * (times.size - 1) + 1) / FINER
    return np.interp(k, np.arange(times.size), times)


def _around(motion: DifferentiatedMotion, t: float) -> tuple[float, float]:
    """From one output to the next, with t between them."""
    times = motion.places
    k = int(np.clip(np.searchsorted(times, t), 1, times.size - 1))
    return float(times[max(k - 1, 0)]), float(times[min(k + 1, times.size - 1)])
