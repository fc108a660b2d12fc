"""Full turns: a crank drawn at -1 rad and driven from 5.28 rad is in the same pose.

A drawing does not count turns, a driver does. If an iteration led the crank through the missing turn, the other bodies
would be dragged along and might end on another branch. So the turn is added at once, and nothing else moves.
"""

from __future__ import annotations

from math import isfinite, pi

import numpy as np
from numpy.typing import NDArray

from ...model.measure import Term
from ...system.system import System

Floats = NDArray[np.float64]


def with_turns_of_drivers(system: System, t: float) -> System:
    """The bodies drawn with the whole turns that the drivers have at time t; the picture is the same."""
    drawn = system.drawn_q
    q = with_whole_turns(system, t, drawn)
    return system.drawn_at(q) if np.any(q != drawn) else system


def with_whole_turns(system: System, t: float, q: Floats) -> Floats:
    """q with each body turned by the full turns that a row on its angle alone asks for."""
    terms = [
        (i, term)
        for i, (_, row) in enumerate(system.rows)
        for term in row.measure.terms
        if term.kind == "angle"
    ]
    if not terms:
        return q
    index = {body.name: 3 * k + 2 for k, body in enumerate(system.bodies)}
    f, q = system.functions_at(t)[:, 0], q.copy()
    for i, term in terms:
        row = system.rows[i][1]
        if len(row.measure.terms) != 1 or row.formula is not None or not isfinite(f[i]):
            continue
        turns = round((_angle(term, q, index) - f[i] / term.weight) / (2 * pi))
        for frame, sign in ((term.b, -1.0), (term.a, 1.0)):
            if turns and frame.body in index and _held_once(frame.body, terms):  # type: ignore[union-attr]
                q[index[frame.body]] += sign * 2 * pi * turns  # type: ignore[union-attr]
                break
    return q


def _angle(term: Term, q: Floats, index: dict[str, int]) -> float:
    a, b = (q[index[p.body]] + p.angle if p.body in index else p.angle for p in (term.a, term.b))  # type: ignore[union-attr]
    return float(b - a)


def _held_once(body: str, terms: list[tuple[int, Term]]) -> bool:
    """Whether only one row involves the body's angle."""
    return sum(body in (term.a.body, term.b.body) for _, term in terms) == 1  # type: ignore[union-attr]
