"""The equations of variants of a system at given states, and their derivatives with respect to the numbers that vary.

Variants that differ in numbers only are evaluated by one compiled loop, which writes the numbers of one after the other
into arrays that it owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...numerics.arrays import Floats
from ...numerics.kernel import kernel
from ...system.renumbering import OwnSystem, is_shareable, own_system
from ...system.residuals import Residuals, States, residuals, residuals_at
from ...system.system import System
from .differences import CENTRAL, central_trials, largest
from .number_slopes import VariantNumbers
from .varied import Varied, VariedNumber, VariedTime

MOST = 200_000
"""Numbers of one batch, which stay in the cache of a processor."""


@kernel
def take(row, first, array):
    """Fill an array with the numbers of a row from `first` on; returns where the next begin."""
    for i in range(array.size):
        array[i] = row[first + i]
    return first + array.size


@kernel
def take_all(row, N, w):
    """Write all numbers, and what a workspace remembers of them."""
    k = take(row, 0, N.mass)
    k = take(row, k, N.inertia)
    k = take(row, k, N.gravity)
    k = take(row, k, N.frame_x)
    k = take(row, k, N.frame_y)
    k = take(row, k, N.frame_cos)
    k = take(row, k, N.frame_sin)
    k = take(row, k, N.frame_angle)
    k = take(row, k, N.term_weight)
    k = take(row, k, N.row_period)
    k = take(row, k, N.functions)
    k = take(row, k, N.load_weight)
    k = take(row, k, N.laws)
    # what a workspace remembers of the numbers before
    for i in range(N.term_weight.size):
        w.weight[i] = N.term_weight[i]
    for i in range(w.scratch.known.shape[0]):
        w.scratch.known[i, 0] = np.nan


@kernel(entry=True)
def variants_along(S, N, table, center, w, t, Q, Qd, Qdd, Lam, Phi, rate, second, force):
    """The equations at each instant for the numbers in each row of a table.

    N are the arrays of S, to be written; in the end they have the numbers of the center again.
    """
    for v in range(table.shape[0]):
        take_all(table[v], N, w)
        for i in range(t.size):
            residuals_at(
                S, t[i], Q[i], Qd[i], Qdd[i], Lam[i], w, Phi[v, i], rate[v, i], second[v, i], force[v, i]
            )
    take_all(center, N, w)


class VariantEquations:
    """The equations at some states, of a system and of its variants."""

    def __init__(self, system: System, states: States) -> None:
        self.system, self.states, self.is_shareable = system, states, is_shareable(system)
        self.here = residuals(system, states)
        self.sizes = _sizes_of_terms(system, states)

    def all_slopes(self, numbers: Sequence[Varied]) -> Residuals:
        """Derivatives with respect to all numbers, at constant states; the numbers are the last axis."""
        slopes = Residuals(*(np.empty((len(numbers), *part.shape)) for part in self.here))
        found = self._at_once(numbers, slopes) if self.is_shareable else set()
        for k in {*range(len(numbers))} - found:
            for part, own in zip(slopes, self.slopes(numbers[k]), strict=True):
                part[k] = own
        return Residuals(*(np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in slopes))

    # one after the other

    @cached_property
    def own(self) -> OwnSystem | None:
        """Takes the numbers of variants, as long as these differ in nothing else."""
        return OwnSystem(self.system) if self.is_shareable else None

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

    def _at_once(self, numbers: Sequence[Varied], slopes: Residuals) -> set[int]:
        """Of the numbers whose systems were recorded, with the first step; returns for which that is small enough."""
        around = {k: number.around for k, number in enumerate(numbers) if isinstance(number, VariedNumber)}
        known = [(k, each.equations) for k, each in around.items() if each is not None]
        size = self.states.t.size * (3 * self.here.Phi.shape[1] + self.here.force.shape[1])
        batch = max(1, MOST // (len(CENTRAL.offsets) * size))
        found: set[int] = set()
        for first in range(0, len(known), batch):
            places, rows = zip(*known[first : first + batch], strict=True)
            values = self._of_table(np.concatenate(rows))
            found |= self._checked(numbers, places, values, slopes)
        return found

    def _of_table(self, table: Floats) -> Residuals:
        """The equations of many systems, each of which is a row."""
        count = len(table), self.states.t.size
        Phi, rate, second = np.zeros((3, *count, self.system.m))
        out = Residuals(Phi, rate, second, np.zeros((*count, self.system.n)))
        states = map(np.ascontiguousarray, self.states)
        with own_system(self.system) as own, own.evaluator() as rows, np.errstate(all="ignore"):
            numbers = VariantNumbers.of(own)
            center = np.concatenate([*map(np.ravel, numbers)])
            variants_along(own.arrays, _writable(numbers), table, center, rows.w, *states, *out)
        return out

    def _checked(
        self, numbers: Sequence[Varied], places: Sequence[int], values: Residuals, slopes: Residuals
    ) -> set[int]:
        """Write the slopes by the numbers at some places; returns at which none needs a smaller step."""
        sizes, held = np.array([numbers[k].size for k in places]), np.ones(len(places), dtype=bool)
        for part, here, terms, out in zip(values, self.here, self.sizes, slopes, strict=True):
            trials = central_trials(part, here, terms, sizes)
            out[list(places)] = trials.slope
            held &= trials.holds
        return {k for k, holds in zip(places, held.tolist(), strict=True) if holds}


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
