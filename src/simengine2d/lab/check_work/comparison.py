"""An array against what is right: which entries are wrong, and the fewest mistakes that explain them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from .checked import Mistake, entries_of
from .expected import ExpectedArray
from .suspicions import (
    FACTORS,
    Region,
    Suspicion,
    common_factors,
    missing_parts,
    other_orders,
    regions,
    reversed_signs,
    transposed_blocks,
    wrong_bodies,
)

MOST_SINGLE = 100  # wrong entries that are looked at one by one
SMALL = 1e-6  # of the row and the column of an entry, below which it is zero


class Tolerance(NamedTuple):
    """|given - expected| <= rtol |expected| + atol"""

    rtol: float = 1e-3
    atol: float | None = None

    def around(self, E: ExpectedArray) -> Floats:
        """For each entry; without `atol` entries are zero that are small against their row and their column."""
        size = np.abs(E.value)
        if self.atol is not None:
            return self.rtol * size + self.atol
        rows, columns = size.max(axis=1, initial=0.0), size.max(axis=0, initial=0.0)
        smallest = np.minimum(rows[:, None], columns) if E.columns.kind else np.maximum(columns, 0.0)
        return self.rtol * size + np.maximum(SMALL * smallest, E.floor)


def wrong_entries(E: ExpectedArray, G: Floats, tolerance: Tolerance) -> Any:
    """True where an entry is wrong, or not a number."""
    return ~(np.abs(G - E.value) <= tolerance.around(E))


def mistakes_in(
    E: ExpectedArray, G: Floats, tolerance: Tolerance, others: Iterable[tuple[str, str, Floats, str]]
) -> list[Mistake]:
    """The mistakes of an array of the right shape; `others` are arrays that mistakes in the physics lead to."""
    wrong = wrong_entries(E, G, tolerance)
    if not wrong.any():
        return []
    found, left = [], wrong.copy()
    confirmed = list(_confirmed(E, G, wrong, tolerance, others))
    while left.any():
        covers = [int(np.count_nonzero(left & mask)) for _, mask in confirmed]
        best = int(np.argmax(covers)) if covers else -1
        if best < 0 or covers[best] == 0:
            break
        suspicion, mask = confirmed[best]
        found.append(_mistake(E, G, mask & left, suspicion.kind, suspicion.remark, suspicion.force))
        left &= ~mask
    for i, j in np.argwhere(left):
        found.append(_single(E, G, int(i), int(j), tolerance))
    return sorted(found, key=lambda mistake: mistake.entry)


def _confirmed(
    E: ExpectedArray,
    G: Floats,
    wrong: Any,
    tolerance: Tolerance,
    others: Iterable[tuple[str, str, Floats, str]],
) -> Iterator[tuple[Suspicion, Any]]:
    """The suspicions that what was given confirms, with the entries that they explain."""
    close = tolerance.around(E)
    for suspicion in _suspicions(E, G, wrong, close, others):
        at = np.ix_(suspicion.rows, suspicion.columns)
        margin = close[at] + tolerance.rtol * np.abs(suspicion.block)
        changed = np.abs(suspicion.block - E.value[at]) > close[at] + margin
        away = np.abs(G[at] - suspicion.block)
        if changed.any() and np.all(away[changed] <= margin[changed]):
            mask = np.zeros(G.shape, dtype=bool)
            mask[at] = (away <= margin) & (away < np.abs(G - E.value)[at])
            yield suspicion, mask & wrong


def _suspicions(
    E: ExpectedArray, G: Floats, wrong: Any, close: Floats, others: Iterable[tuple[str, str, Floats, str]]
) -> Iterator[Suspicion]:
    where = [Region("this entry", [int(i)], [int(j)]) for i, j in np.argwhere(wrong)[:MOST_SINGLE]]
    where += [r for r in regions(E) if wrong[np.ix_(r.rows, r.columns)].any()]

    def near(a: Floats, b: Floats) -> bool:
        size = float(np.abs(b).max(initial=0.0))
        return bool(np.all(np.abs(a - b) <= 1e-3 * np.abs(b) + 1e-6 * size + close.min()))

    yield from reversed_signs(E, where)
    if E.columns.kind:
        yield from transposed_blocks(E, wrong)
    yield from wrong_bodies(E)
    yield from other_orders(E, G, wrong, near)
    for kind, remark, array, force in others:
        yield from _restricted(kind, remark, array, force, where)
    yield from missing_parts(E, where)
    yield from common_factors(E, G, where)


def _restricted(
    kind: str, remark: str, array: Floats, force: str, where: list[Region]
) -> Iterator[Suspicion]:
    """A mistake of the physics, in the whole array first, or in a part of it."""
    for r in reversed(where):
        yield Suspicion(kind, remark, r.rows, r.columns, array[np.ix_(r.rows, r.columns)], force)


def _single(E: ExpectedArray, G: Floats, i: int, j: int, tolerance: Tolerance) -> Mistake:
    """One entry, of which no more is known than its value."""
    given, right = float(G[i, j]), float(E.value[i, j])
    kind, remark = "value", "this entry is wrong"
    close = tolerance.rtol * abs(right)
    if not np.isfinite(given):
        kind, remark = "not a number", "this entry is not a finite number"
    elif right == 0.0 or abs(right) <= tolerance.around(E)[i, j]:
        kind, remark = "should be zero", "this entry should be zero"
    elif abs(given + right) <= close:
        kind, remark = "sign", "the sign of this entry is reversed"
    else:
        for factor, words in FACTORS.items():
            if abs(given - factor * right) <= factor * close:
                kind, remark = "factor", f"this entry is {words}"
                break
    mask = np.zeros(G.shape, dtype=bool)
    mask[i, j] = True
    return _mistake(E, G, mask, kind, remark)


def _mistake(E: ExpectedArray, G: Floats, mask: Any, kind: str, remark: str, force: str = "") -> Mistake:
    i, j = (int(k) for k in np.argwhere(mask)[0])
    places = entries_of(mask) if E.columns.kind else entries_of(mask[:, 0])
    return Mistake(
        E.name,
        kind,
        remark,
        places[0],
        E.place(i, j),
        E.owner("joint", i, j),
        E.owner("body", i, j),
        force,
        float(G[i, j]),
        float(E.value[i, j]),
        places,
    )
