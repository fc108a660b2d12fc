"""The passage of a mechanism through a change point in time, and the branches it leaves aside, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Floats
from .branches import other_velocities
from .change_point import SmoothPassage

if TYPE_CHECKING:
    from .run import KinematicsRun


TOUCHES = 1e-9  # relative to a crossing: closer than this the driver has reached the singular pose
FINE = 0.125  # fraction of a crossing per search step
CLEARANCE = 0.3  # fraction of a crossing that the run keeps from a singular pose where it continues


class Passage:
    """When the clock of a crossing reaches its singular poses, and when it leaves the crossing, on either side."""

    def __init__(self, crossing: SmoothPassage, t: float, times: Floats, smallest_step: float) -> None:
        self.crossing, self.times, self.smallest_step = crossing, times, smallest_step
        self.met: list[tuple[float, float]] = []
        """Times and values of the clock at which branches meet."""
        self.broken = False
        self.end = self._leave(t)

    def _leave(self, t: float) -> float:
        """Step through the crossing to its far side, back to the near side, or to the last output."""
        x = self.crossing.place(t)
        last = float(self.times[-1])
        while t < last and not self._is_outside(x):
            new = self._look_ahead(t, x)
            if new is None:
                self.broken = True
                return t
            turns = self._turning(t, new)
            self._note_meetings(t, turns)
            self._note_meetings(turns, new)
            t, x = new, self.crossing.place(new)
        self.broken = abs(x) > 2.0
        return t

    def _is_outside(self, x: float) -> bool:
        """Whether it is far enough from the center, and from any other singular pose that follows."""
        gaps = [abs(self.crossing.center + x * self.crossing.reach - s) for s in self.crossing.singular]
        clean = min(gaps, default=np.inf) > CLEARANCE * self.crossing.reach
        return abs(x) > 2.0 or (clean and not -1.3 < x < 1.0)

    def _turning(self, a: float, b: float) -> float:
        """Where the clock turns back between a and b; b if it does not."""
        sense = self.crossing.clock.at(a)[1]
        if sense * self.crossing.clock.at(b)[1] >= 0.0:
            return b
        return _first_time(lambda t: -sense * self.crossing.clock.at(t)[1], a, b)

    def _look_ahead(self, t: float, x: float) -> float | None:
        """A time at which the clock has advanced by a small part of the crossing; None if it jumps."""
        _, sd, sdd = self.crossing.clock.at(t)
        reach = FINE * self.crossing.reach
        following = float(self.times[np.searchsorted(self.times, t, side="right")])
        h = min(
            following - t,
            reach / abs(sd) if sd else np.inf,
            np.sqrt(reach / abs(sdd)) if sdd else np.inf,
        )
        while h > self.smallest_step or t + h == following:
            if abs(self.crossing.place(t + h) - x) <= 2.0 * FINE:
                return float(t + h)
            h *= 0.5
        return None

    def _note_meetings(self, a: float, b: float) -> None:
        """Singular poses that the clock, which is monotonic there, reaches between a and b."""
        for s in self.crossing.singular:
            before, after = self._gap(a, s), self._gap(b, s)
            if before < -TOUCHES <= after or before > TOUCHES >= after:
                sense = 1.0 if before < 0.0 else -1.0
                self.met.append((self._time_at(s, sense, a, b), s))
        self.met.sort()

    def _time_at(self, s: float, sense: float, a: float, b: float) -> float:
        return _first_time(lambda t: sense * self._gap(t, s), a, b)

    def _gap(self, t: float, s: float) -> float:
        return (self.crossing.clock.at(t)[0] - s) / self.crossing.reach


def _first_time(gap: Callable[[float], float], a: float, b: float) -> float:
    """Where the gap closes, by bisection."""
    for _ in range(80):
        middle = 0.5 * (a + b)
        if middle in (a, b):
            break
        if gap(middle) < 0.0:
            a = middle
        else:
            b = middle
    return b


def branches_in_words(run: KinematicsRun, crossing: SmoothPassage, t: float, s: float) -> str:
    """`another branch begins, on which rocker would turn with -2 rad/s instead of 1 rad/s`."""
    _, sd, _ = crossing.clock.at(t)
    others = other_velocities(run, crossing, s)
    if not others:
        return "the constraints lose rank"
    taken = crossing.by_clock(s).qd
    words = [_difference(run, sd, taken, other) for other in others[:3]]
    more = " or ".join(words)
    many = len(others) > 1
    begins = f"at least {len(others)} other branches begin" if many else "another branch begins"
    return f"{begins}, on which {more}"


def _difference(run: KinematicsRun, sd: float, taken: Floats, other: Floats) -> str:
    """How the coordinate that differs most moves on the other branch."""
    i = int(np.argmax(np.abs(other - taken) / run.scale))
    other = np.where(np.abs(other) < 1e-6 * np.abs(other).max(), 0.0, other)
    name, unit = run.system.coordinate_names[i], "rad" if i % 3 == 2 else "m"
    if abs(sd) < 1e-12:
        return (
            f"{name} changes by {other[i]:.4g} {unit} for each unit of the driver instead of {taken[i]:.4g}"
        )
    return f"{name}d is {other[i] * sd:.4g} {unit}/s instead of {taken[i] * sd:.4g}"
