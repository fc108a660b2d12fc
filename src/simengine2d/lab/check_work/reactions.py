"""Reactions of joints and forces at one state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError
from ...numerics.arrays import Floats
from ...results.reactions import ReactionParts
from ...results.results import Results
from .alternatives import alternatives
from .checked import CheckedWork
from .comparison import Tolerance, mistakes_in, wrong_entries
from .expected import VECTOR, ExpectedArray, Situation, labels

PARTS = ReactionParts._fields


class GivenReaction(NamedTuple):
    """Some of fx, fy and torque with which an element acts on a body."""

    element: str
    on: str | None
    values: dict[str, float]


def read_reactions(given: Mapping[str, Any]) -> list[GivenReaction]:
    """From {"A": (fx, fy)}, {"A on rod": (fx, fy, torque)} or {"A.fx": 3.2}."""
    found: dict[tuple[str, str | None], dict[str, float]] = {}
    for key, value in given.items():
        name, _, part = key.rpartition(".")
        single = part in PARTS and bool(name)
        words, _, on = (name if single else key).partition(" on ")
        try:
            numbers = np.asarray(value, dtype=float).reshape(-1).tolist()
        except (TypeError, ValueError):
            raise ModelError(
                f"the reaction '{key}' is {value!r}; give fx, fy and torque as numbers."
            ) from None
        if not 1 <= len(numbers) <= len(PARTS) or (single and len(numbers) != 1):
            raise ModelError(f"the reaction '{key}' has {len(numbers)} numbers; they are fx, fy and torque.")
        own = found.setdefault((words.strip(), on.strip() or None), {})
        own.update({part: numbers[0]} if single else dict(zip(PARTS, numbers, strict=False)))
    return [GivenReaction(*who, values) for who, values in found.items()]


def check_reactions(s: Situation, given: Mapping[str, Any], tolerance: Tolerance) -> CheckedWork:
    """What joints exert; with the opposite sign it is what they exert on the other body."""
    read, results = read_reactions(given), s.bodies()
    names = [f"{each.element}.{part}" for each in read for part in each.values]
    G = np.array([value for each in read for value in each.values.values()]).reshape(-1, 1)
    E = ExpectedArray("reactions", _values(results, read), labels(names, "joint"), VECTOR, 1e-9)
    E, notes = _turned(E, G, results, read, tolerance)
    mistakes = mistakes_in(E, G, tolerance, _without_forces(s, E, read))
    title = f"{s.system.model.name} at t = {s.t:g} s"
    shown = {"reactions": G[:, 0]}, {"reactions": E.value[:, 0]}, {"reactions": (names, [""])}
    return CheckedWork(title, ("reactions",), mistakes, notes, *shown)


def _values(results: Results, read: list[GivenReaction]) -> Floats:
    values = []
    for each in read:
        reaction = results.reaction(each.element, on=each.on)
        values += [float(getattr(reaction, part)[0]) for part in each.values]
    return np.array(values).reshape(-1, 1)


def _turned(
    E: ExpectedArray, G: Floats, results: Results, read: list[GivenReaction], tolerance: Tolerance
) -> tuple[ExpectedArray, list[str]]:
    """The signs of what acts on the other body, where none was named."""
    value, notes = E.value.copy(), []
    wrong, opposite = (wrong_entries(E._replace(value=v), G, tolerance)[:, 0] for v in (value, -value))
    for each in read:
        places = E.rows.groups[each.element]
        if each.on is None and wrong[places].any() and not opposite[places].any():
            value[places] *= -1.0
            notes.append(f"the reaction of {each.element} is that on the other body, equal and opposite")
    return E._replace(value=value), notes


def _without_forces(
    s: Situation, E: ExpectedArray, read: list[GivenReaction]
) -> Iterator[tuple[str, str, Floats, str]]:
    """The reactions at rest, without some masses or forces."""
    if s.coordinates != "reference_point":
        return
    for each in alternatives(s, "reactions"):
        qdd, lam = each.terms.solution()
        at = np.array([s.t]), s.q[None], s.qd[None], qdd[None], lam[None]
        yield each.kind, each.remark, _values(Results(s.system, *at, analysis="dynamics"), read), each.force
