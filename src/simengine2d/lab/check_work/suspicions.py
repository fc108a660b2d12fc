"""What could have gone wrong in an array: signs, factors, blocks in the wrong place, rows in another order.

A suspicion says what would then be written in some rows and columns. It is confirmed where that is what was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from math import pi
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats
from .expected import ExpectedArray

FACTORS = {
    2.0: "twice too large",
    0.5: "half of what it should be",
    1000.0: "1000 times too large: a unit such as g or mm?",
    1e-3: "1000 times too small: a unit such as g or mm?",
    180 / pi: "in degrees; radians are expected",
    pi / 180: "divided by 180/pi, as if degrees were expected",
    (180 / pi) ** 2: "too large by (180/pi)^2: rates in degrees per second",
}
LARGEST_WINDOW = 4  # rows of a transposed block


class Suspicion(NamedTuple):
    """If this mistake was made, then `block` is what was written in these rows and columns."""

    kind: str
    remark: str
    rows: Sequence[int]
    columns: Sequence[int]
    block: Floats
    force: str = ""


class Region(NamedTuple):
    """Some rows and columns, in words."""

    words: str
    rows: list[int]
    columns: list[int]


Near = Callable[[Floats, Floats], bool]


def regions(E: ExpectedArray) -> list[Region]:
    """Blocks of joints and bodies, single rows and columns of them, and the array as a whole: the smallest first."""
    every_row, every_column = list(range(E.value.shape[0])), list(range(E.value.shape[1]))
    rows = [(f"the row {E.rows.names[i]}", [i]) for i in every_row]
    groups = [(f"the rows of {name}", places) for name, places in E.rows.groups.items()]
    if not E.columns.kind:
        return [Region(words, places, [0]) for words, places in [*rows, *groups, ("the vector", every_row)]]
    columns = [(f"the column {E.columns.names[j]}", [j]) for j in every_column]
    blocks = [(f"the columns of {name}", places) for name, places in E.columns.groups.items()]
    found = [Region(f"{v} in {w}", i, j) for (w, i), (v, j) in product(groups, columns)]
    found += [Region(f"{w} in {v}", i, j) for (w, i), (v, j) in product(rows, blocks)]
    found += [
        Region(f"the block of {w} and {v}", i, j)
        for (w, i), (v, j) in product(E.rows.groups.items(), E.columns.groups.items())
    ]
    found += [Region(w, i, every_column) for w, i in [*rows, *groups]]
    found += [Region(v, every_row, j) for v, j in [*columns, *blocks]]
    return [*found, Region("the matrix", every_row, every_column)]


def reversed_signs(E: ExpectedArray, where: Sequence[Region]) -> Iterator[Suspicion]:
    """The sign of a block, a row, an entry."""
    for region in where:
        block, words = _block(E, region)
        yield Suspicion("sign", f"the sign of {words} is reversed", region.rows, region.columns, -block)


def missing_parts(E: ExpectedArray, where: Sequence[Region]) -> Iterator[Suspicion]:
    """Something that is missing, or multiplied by a factor of units."""
    for region in where:
        block, words = _block(E, region)
        at = region.rows, region.columns
        yield Suspicion("missing", f"{words} is missing: zeros in its place", *at, 0.0 * block)
    for (factor, words), region in product(FACTORS.items(), where):
        block, part = _block(E, region)
        kind = "angle unit" if "degrees" in words else "factor"
        yield Suspicion(kind, f"{part} is {words}", region.rows, region.columns, factor * block)


def _block(E: ExpectedArray, region: Region) -> tuple[Floats, str]:
    """The numbers of a region, and what to call it."""
    block = E.value[np.ix_(region.rows, region.columns)]
    return block, "this entry" if np.count_nonzero(block) == 1 else region.words


def common_factors(E: ExpectedArray, G: Floats, where: Sequence[Region]) -> Iterator[Suspicion]:
    """Another factor that at least three entries have in common."""
    for region in where:
        at = np.ix_(region.rows, region.columns)
        given, block = G[at], E.value[at]
        if np.count_nonzero(block) >= 3 and np.isfinite(given).all():
            factor = float((given * block).sum() / (block * block).sum())
            words = f"{region.words}: all entries are {factor:.4g} times what they should be"
            yield Suspicion("factor", words, region.rows, region.columns, factor * block)


def transposed_blocks(E: ExpectedArray, wrong: Floats) -> Iterator[Suspicion]:
    """Square blocks written as rows in place of columns."""
    m, n = E.value.shape
    for size in range(min(m, n), 1, -1):
        if size > LARGEST_WINDOW and (size, size) != (m, n):
            continue
        for i, j in product(range(m - size + 1), range(n - size + 1)):
            rows, columns = list(range(i, i + size)), list(range(j, j + size))
            if np.count_nonzero(wrong[np.ix_(rows, columns)]) >= 2:
                words = (
                    f"the block {E.rows.names[i]} to {E.rows.names[i + size - 1]}, {E.columns.names[j]} to "
                )
                words += f"{E.columns.names[j + size - 1]} is transposed"
                yield Suspicion("transposed", words, rows, columns, E.value[np.ix_(rows, columns)].T)


def wrong_bodies(E: ExpectedArray) -> Iterator[Suspicion]:
    """Blocks in the columns of another body; in vectors, in its rows."""
    if E.columns.kind == "body" and E.rows.kind == "joint":
        parts = [([i], f"row {E.rows.names[i]}") for i in range(E.value.shape[0])]
        parts += [(rows, f"the rows of {joint}") for joint, rows in E.rows.groups.items()]
        for (rows, words), (one, other) in product(parts, combinations(E.columns.groups.items(), 2)):
            yield from _exchanged(E, rows, words, one, other)
    elif E.rows.kind == "body":
        for (a, i), (b, j) in combinations(E.rows.groups.items(), 2):
            if len(i) == len(j):
                rows = [*i, *j]
                columns = rows if E.columns.kind else [0]
                order = [*j, *i]
                block = E.value[np.ix_(order, order if E.columns.kind else [0])]
                yield Suspicion(
                    "wrong body", f"the entries of {a} and {b} are exchanged", rows, columns, block
                )


def _exchanged(
    E: ExpectedArray, rows: list[int], words: str, a: tuple[str, list[int]], b: tuple[str, list[int]]
) -> Iterator[Suspicion]:
    (one, i), (other, j) = a, b
    if len(i) != len(j):
        return
    first, second = E.value[np.ix_(rows, i)], E.value[np.ix_(rows, j)]
    remark = f"{words}: the blocks of {one} and {other} are exchanged"
    if not second.any():
        remark = f"{words}: the block of {one} is in the columns of {other}"
    elif not first.any():
        remark = f"{words}: the block of {other} is in the columns of {one}"
    yield Suspicion("wrong body", remark, rows, [*i, *j], np.hstack([second, first]))


def other_orders(E: ExpectedArray, G: Floats, wrong: Floats, near: Near) -> Iterator[Suspicion]:
    """Rows or columns in another order: all that are wrong, or two of them."""
    for axis, labels, what in ((0, E.rows, "row"), (1, E.columns, "column")):
        if not labels.kind or (axis == 1 and E.name == "M"):
            continue
        lines, given = np.moveaxis(E.value, axis, 0), np.moveaxis(G, axis, 0)
        places = np.flatnonzero(wrong.any(axis=1 - axis)).tolist()
        order = matching(lines[places], given[places], near)
        orders = [(places, [places[k] for k in order])] if order is not None and len(places) > 1 else []
        orders += [([i, j], [j, i]) for i, j in combinations(places, 2)]
        for to, source in orders:
            words = _order_words(what, [labels.names[k] for k in to], [labels.names[k] for k in source])
            every = list(range(E.value.shape[1 - axis]))
            block = lines[source] if axis == 0 else lines[source].T
            rows, columns = (to, every) if axis == 0 else (every, to)
            yield Suspicion(f"{what} order", words, rows, columns, block)


def _order_words(what: str, expected: list[str], given: list[str]) -> str:
    if len(expected) == 2:
        return f"the {what}s {expected[0]} and {expected[1]} are exchanged"
    return f"the {what}s are in another order: {', '.join(given)} in place of {', '.join(expected)}"


def matching(lines: Floats, given: Floats, near: Near) -> list[int] | None:
    """For each given line the one that it equals, each used once; its own place first. None if there is none."""
    left, order = list(range(len(lines))), []
    for i, line in enumerate(given):
        same = [k for k in [i, *left] if k in left and near(line, lines[k])]
        if not same:
            return None
        order.append(same[0])
        left.remove(same[0])
    return order
