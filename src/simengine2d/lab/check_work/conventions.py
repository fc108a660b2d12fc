"""Right in another convention: constraints with other signs, factors and orders, coordinates in another order.

With Phi' = D P Phi, a permutation P and a diagonal D, the same motion has Phi_q' = D P Phi_q, nu' = D P nu,
gamma' = D P gamma and lam' = D^-1 P lam. A convention counts only if all that was given follows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...errors import listed
from ...numerics.arrays import Floats
from .expected import ExpectedArray

BY_ROWS = ("Phi_q", "Phi", "nu", "gamma", "lam")
BY_COLUMNS = ("Phi_q", "M", "QA", "qdd")


class Convention(NamedTuple):
    """Arrays as they are in this convention, and what it is in words."""

    expected: dict[str, ExpectedArray]
    notes: list[str]


def conventions(expected: Mapping[str, ExpectedArray], given: Mapping[str, Floats]) -> list[Convention]:
    """The conventions that Phi_q follows, where other arrays were given to confirm them."""
    if "Phi_q" not in given:
        return []
    E, G, found = expected["Phi_q"], given["Phi_q"], []
    if any(name in given for name in BY_ROWS[1:]):
        rows = same_lines(E.value, G, scaled=True)
        if rows is not None:
            found.append(_by_rows(expected, *rows))
    if any(name in given for name in BY_COLUMNS[1:]):
        columns = same_lines(E.value.T, G.T, scaled=False)
        if columns is not None:
            found.append(_by_columns(expected, columns[0]))
    return found


def same_lines(lines: Floats, given: Floats, scaled: bool) -> tuple[list[int], Floats] | None:
    """The order and the factors in which the given lines are the expected ones; None where they are not, or all are."""
    left, order, factors = list(range(len(lines))), [], []
    for i, line in enumerate(given):
        # its own place first, then equal lines, then multiples
        tried = [(k, f) for f in (1.0, -1.0, None) if scaled or f == 1.0 for k in [i, *left] if k in left]
        match = next(((k, d) for k, f in tried if (d := _multiple(lines[k], line, f)) is not None), None)
        if match is None:
            return None
        order.append(match[0])
        factors.append(match[1])
        left.remove(match[0])
    changed = order != list(range(len(lines))) or any(abs(d - 1.0) > 1e-3 for d in factors)
    return (order, np.array(factors)) if changed else None


def _multiple(line: Floats, given: Floats, factor: float | None) -> float | None:
    """d of given = d line."""
    size = float(line @ line)
    if size == 0.0:
        return 1.0 if not given.any() else None
    d = float(given @ line) / size if factor is None else factor
    error = np.abs(given - d * line).max()
    return d if d != 0.0 and error <= 1e-3 * abs(d) * np.abs(line).max() else None


def _by_rows(expected: Mapping[str, ExpectedArray], order: list[int], d: Floats) -> Convention:
    arrays = dict(expected)
    for name in BY_ROWS:
        if name in arrays:
            E = arrays[name]
            factors = (1.0 / d if name == "lam" else d)[:, None]
            arrays[name] = E._replace(value=factors * E.value[order], rows=E.rows.taken(order))
    names = expected["Phi_q"].rows.names
    turned = [names[k] for k, f in zip(order, d, strict=True) if abs(f + 1.0) <= 1e-3]
    other = [f"{names[k]} by {f:.4g}" for k, f in zip(order, d, strict=True) if abs(abs(f) - 1.0) > 1e-3]
    notes = []
    if turned:
        notes.append(f"{listed(turned)}: written with the opposite sign throughout, an equivalent convention")
    if other:
        notes.append(f"multiplied throughout: {listed(other)}, an equivalent convention")
    if order != list(range(len(order))):
        notes.append(f"the constraints are in another order throughout: {listed([names[k] for k in order])}")
    return Convention(arrays, notes)


def _by_columns(expected: Mapping[str, ExpectedArray], order: list[int]) -> Convention:
    arrays = dict(expected)
    for name in BY_COLUMNS:
        if name in arrays:
            E = arrays[name]
            if name == "Phi_q":
                arrays[name] = E._replace(value=E.value[:, order], columns=E.columns.taken(order))
            else:
                value = E.value[np.ix_(order, order)] if name == "M" else E.value[order]
                columns = E.columns.taken(order) if name == "M" else E.columns
                arrays[name] = E._replace(value=value, rows=E.rows.taken(order), columns=columns)
    names = [expected["Phi_q"].columns.names[k] for k in order]
    return Convention(arrays, [f"the coordinates are in another order throughout: {listed(names)}"])


def other_multipliers(E: ExpectedArray, G: Floats) -> str | None:
    """M qdd - Phi_q^T lam = QA: the multipliers with the opposite sign."""
    scale = float(np.abs(E.value).max(initial=0.0))
    if scale > 0.0 and np.abs(G + E.value).max() <= 1e-3 * scale:
        return (
            "lam has the opposite sign throughout, as in M qdd - Phi_q^T lam = QA: an equivalent convention"
        )
    return None


def other_forces(E: ExpectedArray, G: Floats, own_rows: Floats) -> str | None:
    """Forces that differ by J^T mu, where J keeps the bodies rigid: every motion and every reaction is the same."""
    if not len(own_rows) or not np.isfinite(G).all():
        return None
    difference = (G - E.value)[:, 0]
    mu = np.linalg.lstsq(own_rows.T, difference, rcond=None)[0]
    if np.abs(own_rows.T @ mu - difference).max() > 1e-6 * max(np.abs(E.value).max(), np.abs(G).max()):
        return None
    return "QA differs only along the gradients of the rigid-body constraints, which changes no motion and no reaction"
