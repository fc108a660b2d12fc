"""What a mechanism can and cannot do, in plain sentences, with the elements and points to mark."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from ...analyses.doctor.doctor import doctor
from ...analyses.doctor.finding import ERROR, NOTE, WARNING, Finding
from ...analyses.linkage.loops import loops_of
from ...errors import AssemblyError, SimEngineError, SingularityError, counted, ended, listed
from ...model.elements import Pair
from ...model.frame import GROUND, PlacedFrame
from ...model.joints.revolute import Revolute
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from .draft import TextDraft
from .pins import DrawnPin
from .runs import Shown

IN_LINE = 0.02  # sine of the angle between two links that are taken for one line
KINDS = {
    "mobility": "mobility",
    "reactions": "redundant",
    "repeated": "redundant",
    "locked": "cannot move",
    "blocked driver": "cannot move",
    "fighting drivers": "cannot move",
    "open": "cannot close",
}
"""Kinds of findings by the words of the page; others are notes."""
NOT_SAID = ("unused", "adrift")

Word = dict[str, Any]


def words_of(draft: TextDraft, shown: Shown, pins: list[DrawnPin]) -> list[Word]:
    """All sentences, the important ones first."""
    model = draft.model
    if model is None:
        return []
    if not model.bodies:
        return [word("note", "The drawing is empty: draw a link.")]
    words = [_finding(finding, draft, pins) for finding in doctor(model).findings if _is_worth_it(finding)]
    words += _failure(shown, words)
    words += _unreachable(model, words)
    words += [word("note", note) for note in (*draft.warnings, *shown.notes)]
    if shown.results is not None:
        words += list(_dead_points(shown, words))
    return sorted(words, key=lambda each: ORDER.index(each["kind"]))


ORDER = ("cannot close", "cannot move", "dead point", "mobility", "redundant", "note")


def word(kind: str, text: str, elements: list[str] | None = None, points: Any = ()) -> Word:
    return {
        "kind": kind,
        "text": ended(text[:1].upper() + text[1:]),
        "elements": elements or [],
        "points": [list(map(float, point)) for point in points],
    }


def _is_worth_it(finding: Finding) -> bool:
    return finding.kind not in NOT_SAID and not (finding.kind == "moved" and finding.severity == NOTE)


def _finding(finding: Finding, draft: TextDraft, pins: list[DrawnPin]) -> Word:
    kind = KINDS.get(finding.kind, "note")
    if finding.kind == "dependent":
        kind = "dead point" if finding.severity == WARNING else "redundant"
    if finding.kind == "blocked driver" and "dead point" in finding.text:
        kind = "dead point"
    if finding.kind == "mobility":
        return _mobility(finding, draft)
    text = f"{finding.text} {finding.remedy}".strip()
    places = [(pin.x, pin.y) for pin in pins if set(pin.joints) & set(finding.elements)]
    return word(kind, text, list(finding.elements), places) | {"severity": finding.severity}


def _mobility(finding: Finding, draft: TextDraft) -> Word:
    """What moves, and how many motors it takes."""
    free = int(finding.values["mobility"])
    drivers = [name for name, joint in draft.model.joints.items() if joint.drives] if draft.model else []
    if free == 0 and drivers:
        text = f"mobility {len(drivers)}, driven by {listed(drivers)}: the motion is determined"
    elif free == 0:
        text = "mobility 0: nothing can move. Remove a joint or a link"
    else:
        ways, motors = finding.text.partition(": ")[2].rstrip("."), counted(free, "motor")
        text = f"mobility {free}: {ways}. {motors}{' more' if drivers else ''} would determine the motion"
    return word("mobility", text, drivers) | {"mobility": free, "severity": finding.severity}


# What did not succeed ---------------------------------------------------------------------------------


def _failure(shown: Shown, words: list[Word]) -> list[Word]:
    error = shown.error
    if error is None or any(each["text"].rstrip(".") in str(error) for each in words):
        return []
    if any(each["kind"] in ("cannot close", "cannot move") for each in words):
        return []
    kind = "note"
    if isinstance(error, SingularityError):
        kind = "dead point"
    elif isinstance(error, AssemblyError):
        kind = "cannot move" if shown.results is not None else "cannot close"
    elif shown.results is not None:
        kind = "cannot move"
    return [word(kind, str(error)) | {"severity": ERROR}]


def _unreachable(model: Model, words: list[Word]) -> list[Word]:
    """Links that are too short to meet, by their lengths."""
    if not any(each["kind"] == "cannot close" for each in words):
        return []
    try:
        loops = loops_of(model)
    except SimEngineError:
        return []
    return [
        word("cannot close", f"{loop.name}: {loop.gap_in_words()}") for loop in loops if not loop.closes()
    ]


# Dead points ------------------------------------------------------------------------------------------


def _dead_points(shown: Shown, words: list[Word]) -> Iterator[Word]:
    """Links in line in the pose where the motion ended, or in a singular pose at its beginning."""
    results = shown.results
    assert results is not None
    stuck = shown.error is not None and results.t.size > 1
    if not stuck and not any(each["kind"] == "dead point" for each in words):
        return
    for names, places in links_in_line(results.system, results.q[-1 if stuck else 0]):
        a, b, c = names
        when = f" at t = {results.t[-1]:.4g} s" if stuck else ""
        text = f"{a}, {b} and {c} lie in a line{when}: the two links there cannot push each other any further"
        yield word("dead point", text, list(names), places)


def links_in_line(system: System, q: Floats) -> Iterator[tuple[tuple[str, str, str], list[Floats]]]:
    """Pins of two links that share one and are stretched out or folded, at a pose."""
    pins = _pins_at(system, q)
    for middle, (place, bodies) in pins.items():
        ends = [
            (other, there)
            for other, (there, theirs) in pins.items()
            if other != middle and len(bodies & theirs - {GROUND}) == 1 and np.hypot(*(there - place)) > 0.0
        ]
        for (one, p), (two, q2) in combinations(ends, 2):
            if pins[one][1] & pins[two][1] - {GROUND} or not _both_turn(bodies, pins[one][1], pins[two][1]):
                continue
            u, v = p - place, q2 - place
            if abs(u[0] * v[1] - u[1] * v[0]) <= IN_LINE * np.hypot(*u) * np.hypot(*v):
                yield (one, middle, two), [p, place, q2]


def _both_turn(middle: set[str], one: set[str], two: set[str]) -> bool:
    """Two different moving bodies meet in the middle, one to each end."""
    return (middle & one - {GROUND}) != (middle & two - {GROUND})


def _pins_at(system: System, q: Floats) -> dict[str, tuple[Floats, set[str]]]:
    """The revolute joints with their places and bodies at a pose."""
    index = {body.name: 3 * k for k, body in enumerate(system.bodies)}
    pins = {}
    for name, element in system.resolved.elements.items():
        if isinstance(element, Revolute):
            pins[name] = (_place(element, index, q), {element.a.body, element.b.body})
    return pins


def _place(pair: Pair, index: dict[str, int], q: Floats) -> Floats:
    frame: PlacedFrame = pair.a
    if frame.body not in index:
        return np.array([frame.drawn_x, frame.drawn_y])
    x, y, phi = q[index[frame.body] : index[frame.body] + 3]
    c, s = np.cos(phi), np.sin(phi)
    return np.array([x + c * frame.x - s * frame.y, y + s * frame.x + c * frame.y])
