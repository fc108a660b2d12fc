"""Switches of a System along a motion: the times at which its forces jump, or have kinks.

A switch is an expression u(t, q, qd; p) that something depends on: on which side of a level it is, such as x - c in
max(0, x - c). The motion is smooth between the crossings u = level, and is cut there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...expressions.breaks import Switch, break_times
from ...expressions.enclosures import enclose
from ...numerics.arrays import Floats, Ints
from ...results.switching import Switching
from ...system.system import System

Look = Callable[[float], tuple[Floats, Floats]]
"""q and qd at a time."""

RESTING = 1e-10
"""Of the range of a switch: changes of side that are rounding, while it rests at a level."""
HALVINGS = 20
"""Of the time between two nodes, until a motion has been cut there and shows the crossing precisely."""


class Cut(NamedTuple):
    """The time at which a switch crosses a level; both by their numbers."""

    t: float
    switch: int
    level: int


class Switches:
    """The hard switches of a System: first those of the state, then those of time."""

    def __init__(self, system: System) -> None:
        self.switching = Switching(system)
        self.of_state = [each.switch for each in self.switching.placed]
        of_time = [switch for switch in self.switching.times.switches if switch.hard]
        self.all: list[Switch] = [*self.of_state, *of_time]

    def value(self, k: int, t: float, q: Floats, qd: Floats) -> float:
        if k < len(self.of_state):
            return float(self.switching.values(t, q, qd)[k])
        return enclose(self.all[k].tree, t, t)[0]

    def gap(self, cut: Cut, t: float, q: Floats, qd: Floats) -> float:
        """u - level"""
        return self.value(cut.switch, t, q, qd) - self.level(cut.switch, cut.level)

    # levels by number

    def level(self, k: int, number: int) -> float:
        """Level `number`; those of a periodic switch go on before and after."""
        switch = self.all[k]
        turn, i = divmod(number, len(switch.levels)) if switch.period else (0, number)
        return switch.levels[i] + turn * switch.period

    def side(self, k: int, u: Floats) -> Ints:
        """How many levels are at a value or below it."""
        switch = self.all[k]
        levels = np.array(switch.levels)
        turns = np.floor((u - levels[0]) / switch.period) if switch.period else np.zeros_like(u)
        inside = np.searchsorted(levels, u - turns * switch.period, side="right")
        return np.asarray(turns * levels.size + inside, dtype=np.int64)

    # crossings

    def in_time(self, begin: float, end: float, most: int) -> list[Cut]:
        """Of the switches of time alone; at most some more than `most`."""
        cuts: list[Cut] = []
        for k in range(len(self.of_state), len(self.all)):
            for each in break_times([self.all[k]], begin):
                if each.t > end or len(cuts) > most:
                    break
                if each.hard and each.t > begin + each.width:
                    cuts.append(Cut(each.t, k, self._nearest_level(k, each.t)))
        return sorted(cuts)

    def _nearest_level(self, k: int, t: float) -> int:
        u = enclose(self.all[k].tree, t, t)[0]
        beside = int(self.side(k, np.array([u]))[0])
        numbers = [n for n in (beside - 1, beside) if self.all[k].period or 0 <= n < len(self.all[k].levels)]
        return min(numbers, key=lambda n: abs(u - self.level(k, n)))

    def on_motion(self, t: Floats, q: Floats, qd: Floats, look: Look, known: Sequence[Cut]) -> list[Cut]:
        """Of the switches of the state, found between adjacent times of a motion; sharpened where they were known."""
        if not self.of_state:
            return []
        values = np.array([self.switching.values(*row) for row in zip(t.tolist(), q, qd, strict=True)])
        cuts: list[Cut] = []
        for k, switch in enumerate(self.of_state):
            u = values[:, k]
            if not switch.hard or not np.isfinite(u).all():
                continue
            side, small = self.side(k, u), RESTING * (np.ptp(u) or np.inf)
            for i in np.flatnonzero(np.diff(side)).tolist():
                for number in range(min(side[i], side[i + 1]), max(side[i], side[i + 1])):
                    around = u[i : i + 2] - self.level(k, number)
                    if np.abs(around).max() > small:
                        cuts.append(self._located(Cut(np.nan, k, number), t[i : i + 2], look, known))
        return sorted(cuts)

    def _located(self, cut: Cut, between: Floats, look: Look, known: Sequence[Cut]) -> Cut:
        """By the motion before a cut that is known; else by bisection."""
        low, high = between.tolist()
        gap = lambda t: self.gap(cut, t, *look(t))
        for each in known:
            if each[1:] == cut[1:] and low <= each.t <= high:
                return cut._replace(t=self._sharpened(gap, each.t, high - low))
        if gap(low) * gap(high) > 0.0:  # at a level, to rounding
            return cut._replace(t=low if abs(gap(low)) < abs(gap(high)) else high)
        return cut._replace(t=_bisected(gap, low, high))

    @staticmethod
    def _sharpened(gap: Callable[[float], float], t: float, width: float) -> float:
        """By Newton's method along the smooth continuation of the motion before t."""
        h, start = 1e-3 * width, t
        for _ in range(3):
            slope = (gap(t + h) - gap(t - h)) / (2.0 * h)
            step = gap(t) / slope if slope else 0.0
            t = float(np.clip(t - step, start - width, start + width))
        return t


def _bisected(gap: Callable[[float], float], a: float, b: float) -> float:
    at_a = gap(a)
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        a, b = (middle, b) if gap(middle) * at_a > 0.0 else (a, middle)
    return 0.5 * (a + b)
