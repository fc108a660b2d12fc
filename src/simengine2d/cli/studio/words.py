"""What a mechanism can and cannot do, in plain sentences, with the elements and points to mark."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...analyses.assembly.diagnose import undriven_mobility
from ...analyses.doctor.doctor import doctor
from ...analyses.doctor.finding import ERROR, NOTE, WARNING, Finding
from ...analyses.linkage.loops import FourBarLengths, Lengths, loops_of
from ...errors import AssemblyError, SimEngineError, counted, listed
from ...model.frame import GROUND
from ...model.model import Model
from ...model.si_values import units_of
from ...system.system import System
from .dead_points import at_the_beginning, end_of_motion, is_dead_point
from .draft import TextDraft
from .pins import DrawnPin
from .runs import Shown
from .sentences import ORDER, Word, plain, word

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
MOST_MOTIONS, MOST_BODIES = 3, 3  # of a mechanism with many free motions that are named
BETWEEN_BODIES = re.compile(r"(?<=\)), ")


def words_of(draft: TextDraft, shown: Shown, pins: list[DrawnPin]) -> list[Word]:
    """All sentences, the important ones first."""
    model = draft.model
    if model is None:
        return []
    if not model.bodies:
        return [word("note", "The drawing is empty: draw a link.")]
    findings = doctor(model).findings
    words = [said for finding in findings for said in _finding(finding, findings, model, pins)]
    if any(each["kind"] == "cannot close" for each in words):
        words = _unreachable(model, pins) + words
    if any(finding.kind == "dependent" and finding.severity == WARNING for finding in findings):
        words += at_the_beginning(model)
    words += _failure(shown, model, words)
    words += [word("note", note) for note in (*draft.warnings, *shown.notes)]
    return sorted(words, key=lambda each: ORDER.index(each["kind"]))


# What the doctor found ----------------------------------------------------------------------------------


def _finding(finding: Finding, findings: Sequence[Finding], model: Model, pins: list[DrawnPin]) -> list[Word]:
    if not _is_worth_it(finding, findings):
        return []
    if finding.kind == "mobility":
        return _mobility(finding, findings, model, pins)
    kind = KINDS.get(finding.kind, "note")
    if finding.kind == "dependent":
        kind = "dead point" if finding.severity == WARNING else "redundant"
    if finding.kind == "blocked driver" and "dead point" in finding.text:
        kind = "dead point"
    text = plain(f"{finding.text} {_remedy(finding, findings)}".strip())
    places = [(pin.x, pin.y) for pin in pins if set(pin.joints) & set(finding.elements)]
    return [word(kind, text, finding.elements, places) | {"severity": finding.severity}]


def _is_worth_it(finding: Finding, findings: Sequence[Finding]) -> bool:
    """What another finding says better is not said twice."""
    kinds = [each.kind for each in findings]
    if finding.kind == "reactions":
        return "dependent" not in kinds and "locked" not in kinds and "fighting drivers" not in kinds
    if finding.kind == "locked" and "mobility" in kinds:
        return False
    return finding.kind not in NOT_SAID and not (finding.kind == "moved" and finding.severity == NOTE)


def _remedy(finding: Finding, findings: Sequence[Finding]) -> str:
    if finding.kind != "dependent" or finding.severity != NOTE:
        return finding.remedy
    if any(each.kind in ("locked", "blocked driver") for each in findings):
        return "One of them is too many."
    return "The motion is right, but their forces are not unique: make one pin a pin in a slot."


def _mobility(
    finding: Finding, findings: Sequence[Finding], model: Model, pins: list[DrawnPin]
) -> list[Word]:
    """What moves, and how many motors it takes."""
    free = int(finding.values["mobility"])
    drivers = [name for name, joint in model.joints.items() if joint.drives]
    kind, marked, places = "mobility", drivers, []
    if free == 0 and any(each.kind in ("blocked driver", "fighting drivers") for each in findings):
        text = _too_many_drivers(drivers, model)
    elif free == 0 and drivers:
        text = f"mobility {len(drivers)}, driven by {listed(drivers)}: the motion is determined"
    elif free == 0:
        text = "mobility 0: nothing can move, the joints hold every motion. Delete a joint or a link"
        kind, marked, places = (
            "cannot move",
            list(model.joints),
            [(pin.x, pin.y) for pin in pins if pin.joints],
        )
    else:
        text = _free_motions(finding, findings, free, more=" more" if drivers else "")
    said = {"mobility": free, "severity": finding.severity}
    return [word(kind, text, marked, places) | said] if text else []


def _too_many_drivers(drivers: list[str], model: Model) -> str:
    free = undriven_mobility(System(model), 0.0)
    if free is None or free >= len(drivers):  # a dead point, of which a finding tells
        return ""
    if free == 0:
        return f"mobility 0: nothing can move, whatever {listed(drivers)} should do. Delete a joint or a link"
    few = "one" if len(drivers) - free == 1 else str(len(drivers) - free)
    return f"mobility {free}, but {counted(len(drivers), 'driver')}: {listed(drivers)}. Delete {few} of them"


def _free_motions(finding: Finding, findings: Sequence[Finding], free: int, more: str) -> str:
    motions = finding.text.partition(": ")[2].rstrip(".").split("; ")
    named = "; ".join(listed(BETWEEN_BODIES.split(each), MOST_BODIES) for each in motions[:MOST_MOTIONS])
    rest = f"; and {len(motions) - MOST_MOTIONS} more" if len(motions) > MOST_MOTIONS else ""
    if any(each.kind == "dependent" and each.severity == WARNING for each in findings):
        return f"mobility {free} in this pose, and less in others: {named}{rest}"
    motors = f"{'One' if free == 1 else free}{more} motor{'' if free == 1 else 's'}"
    return f"mobility {free}: {named}{rest}. {motors} would determine the motion"


# What did not succeed ---------------------------------------------------------------------------------


def _failure(shown: Shown, model: Model, words: list[Word]) -> list[Word]:
    """Why the motion ended, or did not begin, where no finding has said so."""
    error, kinds = shown.error, {each["kind"] for each in words}
    if error is None or kinds & {"cannot close", "cannot move"}:
        return []
    sentence = plain(str(error))
    if any(each["text"].rstrip(".") in sentence for each in words):
        return []
    if is_dead_point(error):
        return [] if "dead point" in kinds else [end_of_motion(shown, model) | {"severity": ERROR}]
    kind = "note"
    if isinstance(error, AssemblyError):
        kind = "cannot move" if shown.results is not None else "cannot close"
    elif shown.results is not None:
        kind = "cannot move"
    return [word(kind, sentence) | {"severity": ERROR}]


def _unreachable(model: Model, pins: list[DrawnPin]) -> list[Word]:
    """Links that are too short to meet, by their lengths."""
    try:
        loops = [loop for loop in loops_of(model) if not loop.closes()]
    except SimEngineError:
        return []
    return [_too_short(loop, model, pins) | {"severity": ERROR} for loop in loops]


def _too_short(loop: Lengths, model: Model, pins: list[DrawnPin]) -> Word:
    def shown(length: float) -> str:
        return units_of(model).shown("m").text(length, ".4g")

    if isinstance(loop, FourBarLengths):
        longest, far = max(loop.named(), key=lambda pair: pair[1])
        links = [name for name, _ in loop.named() if name != longest]
        reach = sum(length for _, length in loop.named()) - far
        text = f"{listed(links)} are {shown(reach)} long together, and {longest} is {shown(far)}"
        otherwise = "bring the supports closer together" if longest == GROUND else f"make {longest} shorter"
    else:
        links, reach, far = list(loop.links[:2]), loop.crank + loop.rod, abs(loop.offset)
        text = f"{listed(links)} are {shown(reach)} long together, and the guide is {shown(far)} away"
        otherwise = "bring the guide closer"
    remedy = f"Make one of them longer by {shown(far - reach)} at least, or {otherwise}"
    places = [(pin.x, pin.y) for pin in pins if len({*pin.bodies, GROUND} & {*loop.links}) > 1]
    marked = [name for name in loop.links if name != GROUND]
    return word("cannot close", f"the links cannot reach each other: {text}. {remedy}", marked, places)
