"""What elements need to know about the orientation of bodies: a direction, an angle that counts turns, or nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from ...expressions.function import Function
from ...model.elements import MeasureForce, Pair, Wrench
from ...model.frame import GROUND, PlacedFrame
from ...model.measure import Term
from ...system.system import System
from .points import place

AXES = {"angle": "ab", "misalignment": "ab", "along": "a", "across": "a", "direction": "a"}
"""Measures that need more of a frame than its point; and which of their two frames."""


class Counted(NamedTuple):
    """An element that needs to know how often bodies have turned; `what` says what it does, in words."""

    element: str
    what: str
    bodies: list[str]


def counted_turns(system: System, directions: Collection[int]) -> Iterator[Counted]:
    """Every use of an angle that a point or a vector cannot give, because it counts full turns.

    `directions` are rows of angles that do not need them.
    """
    for i, (name, row) in enumerate(system.rows):
        if i not in directions:
            yield from _counted_terms(name, "holds", row.measure.terms)
    for name, load in system.loads:
        if isinstance(load, MeasureForce):
            verb = "pushes on" if load.formula is None else "reads or pushes on"
            yield from _counted_terms(name, verb, load.terms)
        elif any(_reads_angle(law) for law in load[2:]):
            body = load.frame.body
            yield Counted(name, f"is a law of {body}.phi", [body])


def welds(system: System, joint: str) -> bool:
    """A weld keeps two bodies from turning relative to each other, so it needs only a direction."""
    element = system.resolved.elements[joint]
    return isinstance(element, Pair) and element.welds


def welded_angles(system: System) -> set[int]:
    """Rows that hold the angles of welds."""
    return {i for i in held_directions(system) if welds(system, system.rows[i][0])}


def held_directions(system: System) -> set[int]:
    """Rows that are sums of angles with integer weights: another turn of a body changes them by full turns."""
    return {
        i
        for i, (_, row) in enumerate(system.rows)
        if row.formula is None
        and all(term.kind == "angle" and float(term.weight).is_integer() for term in row.measure.terms)
    }


def needs_direction(system: System, body: str, s: complex, satisfied: set[int]) -> bool:
    """Whether anything depends on how a body is turned, and not only on the position of its point s."""
    terms = [t for i, (_, row) in enumerate(system.rows) if i not in satisfied for t in row.measure.terms]
    for _, load in system.loads:
        if isinstance(load, MeasureForce):
            terms += load.terms
        elif load.frame.body == body and (place(load.frame) != s or _turns(load)):
            return True
    return any(_needs(term, body, s) for term in terms)


def _counted_terms(name: str, verb: str, terms: tuple[Term, ...]) -> Iterator[Counted]:
    for term in terms:
        if term.kind == "angle":
            a, b = (frame.body for frame in (term.a, term.b))
            bodies = [body for body in (a, b) if body != GROUND]
            yield Counted(name, f"{verb} angle({a}, {b})", bodies)


def _reads_angle(law: Function) -> bool:
    return "phi" in law.reads  # as a Python function may


def _turns(wrench: Wrench) -> bool:
    return wrench.turning or not wrench.torque.is_zero


def _needs(term: Term, body: str, s: complex) -> bool:
    for side, frame in zip("ab", (term.a, term.b), strict=True):
        assert isinstance(frame, PlacedFrame)
        if frame.body == body and (side in AXES.get(term.kind, "") or place(frame) != s):
            return True
    return False
