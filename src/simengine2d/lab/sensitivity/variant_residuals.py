"""The equations of variants of a system at given states, and their derivatives with respect to the numbers that vary.

Variants that differ in numbers only are evaluated by one compiled loop, which writes the numbers of one after the other
into arrays that it owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...system.recorded_system import VariedSystem
from ...system.renumbering import OwnSystem, is_shareable
from ...system.system import System
from .differences import CENTRAL, STEPS, central_trial, largest
from .parameters import Varied, VariedNumber, VariedTime
from .residuals import Residuals, States, residuals, residuals_at

MOST = 200_000
"""Numbers of one batch, which stay in the cache of a processor."""


class VariantNumbers(NamedTuple):
    """The arrays that the equations of variants differ in."""

    mass: Floats
    inertia: Floats
    gravity: Floats
    frame_x: Floats
    frame_y: Floats
    frame_cos: Floats
    frame_sin: Floats
    frame_angle: Floats
    term_weight: Floats
    row_period: Floats
    functions: Floats
    load_weight: Floats
    laws: Floats

    @classmethod
    def of(cls, system: System) -> VariantNumbers:
        S, L = system.arrays, system.load_arrays
        frames = S.frame_x, S.frame_y, S.frame_cos, S.frame_sin, S.frame_angle
        rows = S.term_weight, S.row_period, S.functions.numbers
        return cls(S.mass, S.inertia, S.gravity, *frames, *rows, L.term_weight, L.laws.numbers)


@kernel
def take(row, first, array):
    """Fill an array with the numbers of a row from `first` on; returns where the next begin."""
    for i in range(array.size):
        array[i] = row[first + i]
    return first + array.size


@kernel(entry=True)
def variants_along(S, N, table, w, t, Q, Qd, Qdd, Lam, Phi, rate, second, force):
    """The equations at each instant for the numbers in each row of a table; N are the arrays of S, to be written."""
    for v in range(table.shape[0]):
        k = take(table[v], 0, N.mass)
        k = take(table[v], k, N.inertia)
        k = take(table[v], k, N.gravity)
        k = take(table[v], k, N.frame_x)
        k = take(table[v], k, N.frame_y)
        k = take(table[v], k, N.frame_cos)
        k = take(table[v], k, N.frame_sin)
        k = take(table[v], k, N.frame_angle)
        k = take(table[v], k, N.term_weight)
        k = take(table[v], k, N.row_period)
        k = take(table[v], k, N.functions)
        k = take(table[v], k, N.load_weight)
        k = take(table[v], k, N.laws)
        # what a workspace remembers of the numbers before
        for i in range(N.term_weight.size):
            w.weight[i] = N.term_weight[i]
        for i in range(w.scratch.known.shape[0]):
            w.scratch.known[i, 0] = np.nan
        for i in range(t.size):
            residuals_at(
                S, t[i], Q[i], Qd[i], Qdd[i], Lam[i], w, Phi[v, i], rate[v, i], second[v, i], force[v, i]
            )


class VariantEquations:
    """The equations at some states, of a system and of its variants."""

    def __init__(self, system: System, states: States) -> None:
        self.states, self.own = states, OwnSystem(system) if is_shareable(system) else None
        self.here = residuals(system, states)
        self.sizes = _sizes_of_terms(system, states)

    def all_slopes(self, numbers: Sequence[Varied]) -> list[Residuals]:
        """Derivatives with respect to each number, at constant states."""
        found = self._at_once(numbers) if self.own is not None else {}
        return [found[k] if k in found else self.slopes(number) for k, number in enumerate(numbers)]

    # one after the other

    def of(self, system: System, ticks: float = 0.0) -> Residuals:
        """Those of a variant, or at a time that is later by some ticks."""
        if self.own is not None and not self.own.take_numbers(system):
            self.own = None  # it differs in more than numbers
        return residuals(self.own or system, self.states._replace(t=self.states.t + ticks))

    def slopes(self, number: Varied) -> Residuals:
        """Derivatives with respect to a parameter, or to time, at constant states."""
        tick = 1.0 if isinstance(number, VariedTime) else 0.0
        of_change = lambda system, change: self.of(system, tick * change)
        return Residuals(*number.slopes(of_change, self.sizes, self.here))

    # at once

    def _at_once(self, numbers: Sequence[Varied]) -> dict[int, Residuals]:
        """Of the numbers whose systems were recorded, with the first step, where that is small enough."""
        around = {k: _neighbors(number) for k, number in enumerate(numbers)}
        known = [k for k, systems in around.items() if systems]
        size = self.states.t.size * (3 * self.here.Phi.shape[1] + self.here.force.shape[1])
        batch = max(1, MOST // (len(CENTRAL.offsets) * size))
        found = {}
        for first in range(0, len(known), batch):
            some = known[first : first + batch]
            values = self._of_table([system for k in some for system in around[k]])
            for i, k in enumerate(some):
                slopes = self._checked(numbers[k], [part[4 * i : 4 * i + 4] for part in values])
                if slopes is not None:
                    found[k] = slopes
        return found

    def _of_table(self, systems: Sequence[VariedSystem]) -> Residuals:
        """The equations of many systems, each as a row."""
        own, count = self.own, (len(systems), self.states.t.size)
        assert own is not None
        table = np.stack([numbers_in(system) for system in systems])
        Phi, rate, second = np.zeros((3, *count, own.m))
        out = Residuals(Phi, rate, second, np.zeros((*count, own.n)))
        states = map(np.ascontiguousarray, self.states)
        with own.evaluator() as rows, np.errstate(all="ignore"):
            variants_along(own.arrays, _writable(VariantNumbers.of(own)), table, rows.w, *states, *out)
        return out

    def _checked(self, number: Varied, parts: Sequence[Floats]) -> Residuals | None:
        """The slopes of all equations; None where one needs a smaller step."""
        slopes = []
        for part, here, terms in zip(parts, self.here, self.sizes, strict=True):
            values = dict(zip(CENTRAL.offsets, part, strict=True)) | {0.0: here}
            trial = central_trial(values, STEPS[0] * number.size, terms, number.size)
            if not trial.holds:
                return None
            slopes.append(trial.slope)
        return Residuals(*slopes)


def numbers_in(system: VariedSystem) -> Floats:
    """The numbers of a variant in the order of `VariantNumbers`, without the arrays of its System."""
    return np.concatenate([getattr(system.numbers, name) for name in VariantNumbers._fields])


def _neighbors(number: Varied) -> list[VariedSystem]:
    """Its systems around the center; none, where they may differ in more than numbers."""
    if not isinstance(number, VariedNumber) or number.stencil is not CENTRAL:
        return []
    systems = [number.made.get(STEPS[0] * number.size * offset) for offset in CENTRAL.offsets]
    recorded = [each for each in systems if isinstance(each, VariedSystem)]
    return recorded if len(recorded) == len(systems) else []


def _writable(arrays: VariantNumbers) -> VariantNumbers:
    """The same memory, to be written."""
    views = []
    for array in arrays:
        array.setflags(write=True)
        views.append(array.view())
        array.setflags(write=False)
    return VariantNumbers(*views)


def _sizes_of_terms(system: System, states: States) -> list[float]:
    """About the largest terms of Phi, Phi', Phi'' and R, whose sums vanish."""
    speed, inertia = largest(states.qd), largest(states.qdd * system.masses)
    second = largest(states.qdd) + speed * largest(states.qd / system.sizes)
    return [largest(states.q) + system.length, speed, second, largest(states.lam) + inertia]
