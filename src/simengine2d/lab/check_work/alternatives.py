"""The same arrays with a mistake in the physics: a force forgotten, degrees for radians, a term left out.

Each alternative is a sentence and the array that it leads to; where it is what was given, the sentence is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import pi
from typing import NamedTuple

import numpy as np

from ...errors import SimEngineError
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from .expected import MotionTerms, Situation

MOST_PAIRED = 12  # applied forces of which two at a time are suspected

ANGLES: tuple[tuple[str, str, Callable[[Floats], Floats]], ...] = (
    (
        "angle unit",
        "the angle of {} was taken in degrees where radians are meant",
        lambda phi: phi * 180 / pi,
    ),
    ("angle unit", "the angle of {} was converted to radians twice", lambda phi: phi * pi / 180),
    ("angle sign", "the angle of {} has the opposite sign: A^T in place of A", lambda phi: -phi),
    ("sine and cosine", "sine and cosine of the angle of {} are exchanged", lambda phi: pi / 2 - phi),
    ("missing", "vectors of {} are not turned with the body: A is missing", lambda phi: 0.0 * phi),
)
RATES: tuple[tuple[str, str, Callable[[Floats], Floats]], ...] = (
    ("angle unit", "the angular velocity of {} is in degrees per second", lambda w: w * 180 / pi),
    ("angle unit", "the angular velocity of {} is converted to radians twice", lambda w: w * pi / 180),
    ("factor", "the angular velocity of {} is not squared", lambda w: np.sqrt(np.abs(w))),
)


class Alternative(NamedTuple):
    """The terms of the equations as they are with one mistake."""

    kind: str
    remark: str
    terms: MotionTerms
    force: str = ""


class Contribution(NamedTuple):
    """What one force adds to QA."""

    words: str
    value: Floats
    force: str = ""


def alternatives(s: Situation, quantity: str) -> Iterator[Alternative]:
    """The alternatives that concern an array; those of the solution are those of its terms."""
    solved = quantity in ("qdd", "lam", "reactions")
    if quantity in ("QA",) or solved:
        yield from _other_forces(s)
    if quantity == "M" or solved:
        yield from _other_masses(s)
    if quantity == "gamma" or solved:
        yield from _other_accelerations(s)
    if quantity in ("Phi", "Phi_q", "gamma", "QA") or (quantity == "M" and s.coordinates == "relative"):
        yield from _other_angles(s)
    if quantity in ("gamma", "QA"):
        yield from _other_rates(s)


# Angles and rates -------------------------------------------------------------------------------------


def _some_and_all(places: list[int], names: list[str]) -> Iterator[tuple[list[int], str]]:
    for i in places:
        yield [i], names[i].rpartition(".")[0]
    if len(places) > 1:
        yield places, "every body"


def _other_angles(s: Situation) -> Iterator[Alternative]:
    for places, owner in _some_and_all(s.angles, s.columns.names):
        for kind, words, changed in ANGLES:
            q = s.q.copy()
            q[places] = changed(q[places])
            yield Alternative(kind, words.format(owner), s.at(q))


def _other_rates(s: Situation) -> Iterator[Alternative]:
    for places, owner in _some_and_all(s.angles, s.columns.names):
        for kind, words, changed in RATES:
            qd = s.qd.copy()
            qd[places] = changed(qd[places])
            yield Alternative(kind, words.format(owner), s.at(qd=qd))


def _other_accelerations(s: Situation) -> Iterator[Alternative]:
    """gamma = -(Phi_q qd)_q qd - 2 Phi_qt qd - Phi_tt, without some of it."""
    own, rest = s.terms, s.at(qd=np.zeros_like(s.qd)).gamma
    yield Alternative("missing", "the terms of the velocities are missing", own._replace(gamma=rest))
    yield Alternative("missing", "Phi_tt is missing", own._replace(gamma=own.gamma - rest))
    yield Alternative("sign", "the sign of Phi_tt is reversed", own._replace(gamma=own.gamma - 2 * rest))
    for owner, places in s.columns.groups.items():
        qd = s.qd.copy()
        qd[places] = 0.0
        without = s.at(qd=qd).gamma
        words = f"the centripetal term of {owner}"
        yield Alternative("missing", f"{words} is missing", own._replace(gamma=without))
        yield Alternative(
            "sign", f"the sign of {words} is reversed", own._replace(gamma=2 * without - own.gamma)
        )
        twice = own._replace(gamma=2 * own.gamma - without)
        yield Alternative("factor", f"{words} is counted twice", twice)
    reversed_ = own._replace(gamma=-own.gamma)
    yield Alternative("sign", "the sign of gamma is reversed", reversed_)


# Forces -----------------------------------------------------------------------------------------------


def contributions(s: Situation) -> list[Contribution]:
    """QA = R^T (weight + springs + forces + ...) + what velocities add in coordinates that turn."""
    found: list[Contribution] = []
    rates = s.formulated.family.bodies(s.t, s.q, s.qd, np.zeros_like(s.q))
    R, q, qd = s.R(), np.array(rates.q), np.array(rates.qd)
    gravity, system = s.system.resolved.gravity, s.system
    for b, body in enumerate(system.bodies):
        weight = np.zeros(system.n)
        weight[3 * b : 3 * b + 2] = body.mass * np.array(gravity)
        found.append(Contribution(f"the weight of {body.name}", R.T @ weight))
    if len(found) > 1:
        found.append(Contribution("the weight of every body", np.sum([c.value for c in found], axis=0)))
    whole = system.QA(s.t, q, qd)
    for name in system.model.forces:
        without = _without(system.model, name)
        if without is not None:
            value = R.T @ (whole - without.QA(s.t, q, qd))
            found.append(Contribution(f"the force of '{name}'", value, name))
    quick = s.terms.QA - s.at(qd=np.zeros_like(s.qd)).QA
    found.append(Contribution("what depends on velocities", quick))
    return [each for each in found if each.value.any()]


def _without(model: Model, force: str) -> System | None:
    """The model without one of its forces; None where something else needs it."""
    other = model.copy()
    try:
        del other.elements[force]
        return System(other)
    except (SimEngineError, KeyError):
        return None


def _other_forces(s: Situation) -> Iterator[Alternative]:
    found, own = contributions(s), s.terms
    for each in found:
        for kind, factor, words in (
            ("missing", -1.0, "is missing"),
            ("sign", -2.0, "has the wrong sign"),
            ("factor", 1.0, "is counted twice"),
        ):
            QA = own.QA + factor * each.value
            yield Alternative(kind, f"{each.words} {words}", own._replace(QA=QA), each.force)
    for one, other in combinations(found[:MOST_PAIRED], 2):
        words = f"{one.words} and {other.words} are missing"
        QA = own.QA - one.value - other.value
        yield Alternative("missing", words, own._replace(QA=QA), one.force or other.force)


# Masses -----------------------------------------------------------------------------------------------


def _other_masses(s: Situation) -> Iterator[Alternative]:
    """M is linear in the masses and moments of inertia."""
    everywhere = np.zeros_like(s.terms.M)
    for body in s.system.bodies:
        turning = _part_of_inertia(s, body.name)
        if turning is None:
            continue
        everywhere += turning
        yield from _one_body(s, body.name, body.mass, body.inertia, turning)
    without = s.terms._replace(M=s.terms.M - everywhere)
    yield Alternative("missing", "the moments of inertia are missing", without)


def _one_body(s: Situation, name: str, mass: float, inertia: float, turning: Floats) -> Iterator[Alternative]:
    M = s.terms.M
    yield Alternative(
        "missing", f"the moment of inertia of {name} is missing", s.terms._replace(M=M - turning)
    )
    if inertia > 0.0:
        for point, place in s.system.resolved.bodies[name].points.items():
            arm2 = float(place[0]) ** 2 + float(place[1]) ** 2
            about = M + turning * mass * arm2 / inertia
            words = f"the moment of inertia of {name} is about its point {point}, not about its mass center"
            yield Alternative("wrong point", words, s.terms._replace(M=about))
    if s.coordinates == "reference_point":
        x = 3 * [body.name for body in s.system.bodies].index(name)
        for factor, words in ((1000.0, "in g in place of kg"), (2.0, "counted twice"), (0.0, "missing")):
            other = M.copy()
            other[x, x] *= factor
            other[x + 1, x + 1] *= factor
            kind = "missing" if factor == 0.0 else "factor"
            yield Alternative(kind, f"the mass of {name} is {words}", s.terms._replace(M=other))


def _part_of_inertia(s: Situation, name: str) -> Floats | None:
    """What the moment of inertia of a body adds to M; None where the coordinates would be others without it."""
    other = s.system.model.copy()
    other.bodies[name].inertia = 0.0
    try:
        without = Situation(other, s.formulated.coordinates, s.t, s.q, s.qd)  # type: ignore[arg-type]
    except SimEngineError:
        return None
    if without.columns.names != s.columns.names:
        return None
    return s.terms.M - without.terms.M
