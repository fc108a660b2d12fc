"""Dead points in words: which two links lie in a line, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...analyses.kinematics.kinematics import kinematics
from ...errors import SimEngineError, SingularityError
from ...model.elements import Pair
from ...model.frame import GROUND, PlacedFrame
from ...model.joints.revolute import Revolute
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from .runs import Shown
from .sentences import TIME, Word, plain, word

IN_LINE = 0.02  # sine of the angle between two links that are taken for one line
BEFORE = 1e-6  # of the time of a dead point: so much earlier its pose is well defined
MOST = 2  # pairs of links that are named
REMEDY = "or end before that time."
DEPENDENT = re.compile(r": [^:]* became dependent\.")


class LinksInLine(NamedTuple):
    """Two links with a common pin, stretched out or folded."""

    links: tuple[str, str]
    pins: tuple[str, str, str]

    def __str__(self) -> str:
        return f"{self.links[0]} and {self.links[1]} are in line at {self.pins[1]}"


def end_of_motion(shown: Shown, model: Model) -> Word:
    """Why a driver cannot go further."""
    sentence = str(shown.error)
    found = _at_the_end(shown, model, sentence)
    if found:
        sentence = DEPENDENT.sub(f": {'; '.join(map(str, found))}.", sentence)
    sentence = sentence.replace(REMEDY, f"{REMEDY[3:-1]}, or let it swing: drawn + 0.3*sin(2*pi*t).")
    return _marked(plain(sentence), found, model)


def _at_the_end(shown: Shown, model: Model, sentence: str) -> list[LinksInLine]:
    """The links in line at the time that the sentence tells."""
    time = TIME.search(sentence)
    with suppress(SimEngineError):
        if time and float(time[1]) > 0.0:
            shown = Shown(kinematics(model, t_eval=[0.0, (1.0 - BEFORE) * float(time[1])]))
    if shown.results is None:
        return []
    return list(links_in_line(shown.results.system, shown.results.q[-1]))[:MOST]


def at_the_beginning(model: Model) -> Iterator[Word]:
    """The links in line as drawn, where that is a singular pose."""
    with suppress(SimEngineError):
        system = System(model)
        for found in list(links_in_line(system, system.drawn_q))[:MOST]:
            text = f"the links {found}: neither can push the other. Drag a point so that they are not in line"
            yield _marked(text, [found], model)


def is_dead_point(error: SimEngineError | None) -> bool:
    return isinstance(error, SingularityError)


def _marked(sentence: str, found: list[LinksInLine], model: Model) -> Word:
    """With marks at the pins as drawn."""
    links = dict.fromkeys(link for each in found for link in each.links)
    pins = dict.fromkeys(pin for each in found for pin in each.pins)
    elements = model.check().elements
    places = [(elements[pin].a.drawn_x, elements[pin].a.drawn_y) for pin in pins]  # type: ignore[attr-defined]
    return word("dead point", sentence, links, places)


def links_in_line(system: System, q: Floats) -> Iterator[LinksInLine]:
    """Pairs of links that share a pin and are stretched out or folded, at a pose."""
    pins = _pins_at(system, q)
    for middle, (place, _) in pins.items():
        ends = [(other, link) for other in pins for link in _links_between(pins, middle, other)]
        for (one, first), (two, second) in combinations(ends, 2):
            if first == second or _links_between(pins, one, two):
                continue
            u, v = pins[one][0] - place, pins[two][0] - place
            if abs(u[0] * v[1] - u[1] * v[0]) <= IN_LINE * np.hypot(*u) * np.hypot(*v):
                yield LinksInLine((first, second), (one, middle, two))


def _links_between(pins: dict[str, Any], one: str, two: str) -> list[str]:
    """The moving bodies with both pins, which are apart."""
    (here, bodies), (there, others) = pins[one], pins[two]
    return sorted(bodies & others - {GROUND}) if np.hypot(*(here - there)) > 0.0 else []


def _pins_at(system: System, q: Floats) -> dict[str, tuple[Floats, set[str]]]:
    """The revolute joints with their places and bodies at a pose."""
    index = {body.name: 3 * k for k, body in enumerate(system.bodies)}
    return {
        name: (_place(element, index, q), {element.a.body, element.b.body})
        for name, element in system.resolved.elements.items()
        if isinstance(element, Revolute)
    }


def _place(pair: Pair, index: dict[str, int], q: Floats) -> Floats:
    frame: PlacedFrame = pair.a
    if frame.body not in index:
        return np.array([frame.drawn_x, frame.drawn_y])
    x, y, phi = q[index[frame.body] : index[frame.body] + 3]
    c, s = np.cos(phi), np.sin(phi)
    return np.array([x + c * frame.x - s * frame.y, y + s * frame.x + c * frame.y])
