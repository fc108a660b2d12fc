"""One element to one record of an .adm file, as a draft that knows the element as written and in numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

from ..errors import ModelError, listed
from ..expressions.evaluate import names_in, substitute, to_matlab
from ..expressions.function import Function
from ..expressions.parser import parse
from ..expressions.syntax import Lookup, Number, to_text, walk
from ..expressions.table import Table
from ..expressions.units import Quantity
from ..model.frame import GROUND, PlacedFrame
from ..model.measure import Term
from ..model.resolved import ResolvedModel
from ..numerics.kernel import Callback
from .adm_read_elements import AXES, CONSTRAINTS, FORCES

ROUND_OFF = 1e-12
Record = dict[str, Any]


def tidy(value: float) -> float | int:
    """2.0 as 2; every other number as it is."""
    whole = abs(value) < 1e15 and value == int(value) and str(value) != "-0.0"
    return int(value) if whole else value


@dataclass(frozen=True)
class Draft:
    """An element as written (`given`) and with every number known (`solved`)."""

    given: Any
    solved: Any
    resolved: ResolvedModel
    ids: Mapping[str, int]

    def record(self, word: str, **values: Any) -> Record:
        return {"name": self.given.name, "type": word, **values}

    def point(self, number: int, placed: PlacedFrame) -> Record:
        """body and sP"""
        return {f"body{number}": self.ids[placed.body], f"sP{number}": [tidy(placed.x), tidy(placed.y)]}

    def points(self) -> Record:
        return self.point(1, self.solved.a) | self.point(2, self.solved.b)

    def function(self, given: Any, minus: float = 0.0) -> str:
        """f(t) as MATLAB text, with the parameters as numbers; `minus` is subtracted from it."""
        if isinstance(given, Function):
            given = given.table or given.callback or (to_text(given.tree) if given.tree else given.constant)
        if isinstance(given, Table):
            raise ModelError("follows a table; .adm has expressions of t only.")
        if not isinstance(given, str):
            if callable(given) or isinstance(given, tuple | Callback):
                raise ModelError("follows a Python function; .adm has expressions of t only.")
            return repr(tidy(float(given) - minus))
        text = self.without_parameters(given)
        strange = sorted(names_in(parse(text)) - {"t"})
        if strange:
            raise ModelError(f"reads {listed(strange)}; .adm has expressions of t only.")
        return text if minus == 0.0 else f"({text}) - ({minus!r})"

    def without_parameters(self, text: str) -> str:
        tree, words = self.resolved.words.parse(text), self.resolved.words
        if any(isinstance(part, Lookup) for part, _ in walk(tree)):
            raise ModelError("calls a table; .adm has expressions of t only.")
        values = {name: Number(value) for name, value in self.resolved.parameters.items()}
        units = any(isinstance(part, Quantity) for part, _ in walk(tree))
        if names_in(tree) & values.keys() or words.texts or units:
            return to_text(substitute(tree, values))
        return to_matlab(text)


def fresh_record(draft: Draft) -> tuple[Record, str | None]:
    """The record of an element, and the name of a second element that it covers."""
    name = type(draft.given).__name__
    if name == "RackPinion":
        return _rack_pinion(draft)
    if name not in WRITERS:
        known = listed([*CONSTRAINTS, *FORCES], 40)
        raise ModelError(f"is a {name}, which .adm does not have. It has {known}.")
    return WRITERS[name](draft), None


def _absolute(draft: Draft) -> Record:
    kind = type(draft.given).__name__
    return draft.record(kind, **draft.point(1, draft.solved.frame), fun=draft.function(draft.given.value))


def _absolute_distance(draft: Draft) -> Record:
    center = [tidy(part) for part in draft.solved.center]
    frame = draft.point(1, draft.solved.frame)
    return draft.record("AbsoluteDistance", **frame, c=center, fun=draft.function(draft.given.value))


def _absolute_angle(draft: Draft) -> Record:
    frame = draft.solved.frame
    return draft.record(
        "AbsoluteAngle", body1=draft.ids[frame.body], fun=draft.function(draft.given.value, frame.angle)
    )


def _relative(draft: Draft) -> Record:
    return draft.record(type(draft.given).__name__, **draft.points(), fun=draft.function(draft.given.value))


def _relative_angle(draft: Draft) -> Record:
    a, b = draft.solved.a, draft.solved.b
    fun = draft.function(draft.given.value, b.angle - a.angle)
    return draft.record("RelativeAngle", body1=draft.ids[a.body], body2=draft.ids[b.body], fun=fun)


def _revolute(draft: Draft) -> Record:
    return draft.record("RevoluteJoint", **draft.points(), fun="NONE")


def _translational(draft: Draft) -> Record:
    a, b = draft.solved.a, draft.solved.b
    first = draft.point(1, a) | {"vP1": _vector(a.angle)}
    return draft.record("TranslationalJoint", **first, **draft.point(2, b), vP2=_vector(b.angle), fun="NONE")


def _pin_slot(draft: Draft) -> Record:
    a, b = draft.solved.a, draft.solved.b
    first = draft.point(1, a) | {"vP1": _vector(a.angle)}
    return draft.record("PointOnLine", **first, **draft.point(2, b), fun="NONE")


def _vector(angle: float) -> list[float]:
    return [0 if abs(part) < ROUND_OFF else tidy(part) for part in (cos(angle), sin(angle))]


def _rack_pinion(draft: Draft) -> tuple[Record, str]:
    """See `adm_read_elements._rack_pinion`; the arm that keeps the distance must be in the model too."""
    solved = draft.solved
    a, b, radius = solved.a, solved.b, solved.radius
    phase = next(iter(solved.rows())).value
    line = _arm(draft)
    if line is None:
        raise ModelError(
            "needs a RevoluteTranslational with the same frames and offset = radius beside it, for in .adm a "
            "RackPinion also holds the pinion at its distance."
        )
    ux, uy = cos(a.angle), sin(a.angle)
    record = draft.record(
        "RackPinion",
        body1=draft.ids[a.body],
        body2=draft.ids[b.body],
        sP1=[a.x - ux, a.y - uy],
        sQ1=[a.x, a.y],
        sP2=[tidy(b.x), tidy(b.y)],
        theta1=phase / radius - 3 * pi / 2 + a.angle + b.angle,
        theta2=0,
        R2=tidy(radius),
        fun="0",
    )
    return record, line


def _arm(draft: Draft) -> str | None:
    """The RevoluteTranslational that keeps the pinion at the rack."""
    wanted = (draft.solved.a[:4], draft.solved.b[:3])
    for name, element in draft.resolved.elements.items():
        if type(element).__name__ == "RevoluteTranslational":
            arm: Any = element
            offset = next(iter(arm.rows())).value
            if (arm.a[:4], arm.b[:3]) == wanted and abs(offset - draft.solved.radius) < ROUND_OFF:
                return name
    return None


# Forces and drivers -----------------------------------------------------------------------------------


def _point_force(draft: Draft) -> Record:
    given = draft.given
    axes = {word: short for short, word in AXES.items()}[given.axes]
    frame = draft.point(1, draft.solved.frame) | {"frame": axes}
    angle = draft.solved.frame.angle if given.axes == "body" else 0.0
    if given.law is None:
        fx, fy = _turned(draft.function(given.fx), draft.function(given.fy), angle)
        return draft.record("PointForce", **frame, funX=fx, funY=fy)
    if angle != 0.0:
        raise ModelError(
            f"follows a law in the axes of a point turned by {angle:g} rad; .adm has the axes of the body only."
        )
    return draft.record("PointForceFile", **frame, mfile=_law(given))


def _turned(fx: str, fy: str, angle: float) -> tuple[str, str]:
    """Components along the axes of a frame as components along those of its body."""
    if angle == 0.0:
        return fx, fy
    c, s = cos(angle), sin(angle)
    return f"({fx})*({c!r}) - ({fy})*({s!r})", f"({fx})*({s!r}) + ({fy})*({c!r})"


def _torque(draft: Draft) -> Record:
    body = {"body1": draft.ids[draft.solved.frame.body]}
    if draft.given.law is None:
        return draft.record("Torque", **body, fun=draft.function(draft.given.value))
    return draft.record("torqueFile", **body, mfile=_law(draft.given))


def _law(given: Any) -> str:
    if not isinstance(given.law, str):
        raise ModelError(
            "has a Python function as its law; a file holds no code. Give the law's name instead."
        )
    return given.law


def _spring(draft: Draft) -> Record:
    solved, given = draft.solved, draft.given
    if given.law is not None:
        raise ModelError("has a law, and .adm has linear springs only. Leave it out, or save as .yaml.")
    term = _single_term(solved.measure)
    rest = {"k": tidy(solved.stiffness), "c": tidy(solved.damping), "fun": draft.function(given.actuator)}
    if term and term.kind == "distance":
        return draft.record(
            "TSDA", **draft.point(1, term.a), **draft.point(2, term.b), l0=tidy(solved.free), **rest
        )
    if term and term.kind == "angle":
        free = {"theta0": tidy(solved.free - (term.b.angle - term.a.angle))}
        if term.a.body == GROUND:
            return draft.record("RSDA1", body1=draft.ids[term.b.body], **free, **rest)
        return draft.record(
            "RSDA2", body1=draft.ids[term.a.body], body2=draft.ids[term.b.body], **free, **rest
        )
    raise ModelError("acts on a measure other than distance or angle, and .adm has no such spring.")


def _driver(draft: Draft) -> Record:
    """A motor on a single measure is one of the course's constraints."""
    term = _single_term(draft.solved.measure)
    value = draft.given.value
    if term and term.kind == "angle":
        fun = draft.function(value, term.b.angle - term.a.angle)
        if term.a.body == GROUND:
            return draft.record("AbsoluteAngle", body1=draft.ids[term.b.body], fun=fun)
        return draft.record(
            "RelativeAngle", body1=draft.ids[term.a.body], body2=draft.ids[term.b.body], fun=fun
        )
    words = {"x": "RelativeX", "y": "RelativeY", "distance": "RelativeDistance"}
    if term and term.kind in words:
        sides = draft.point(1, term.a) | draft.point(2, term.b)
        return draft.record(words[term.kind], **sides, fun=draft.function(value))
    raise ModelError("drives a measure other than x, y, angle or distance, and .adm has no such driver.")


def _single_term(measure: Any) -> Any:
    """The one term of a measure with the weight 1, or None."""
    terms: tuple[Term, ...] = measure.terms
    return terms[0] if len(terms) == 1 and terms[0].weight == 1 else None


WRITERS: dict[str, Callable[[Draft], Record]] = {
    "AbsoluteX": _absolute,
    "AbsoluteY": _absolute,
    "AbsoluteAngle": _absolute_angle,
    "AbsoluteDistance": _absolute_distance,
    "RelativeX": _relative,
    "RelativeY": _relative,
    "RelativeAngle": _relative_angle,
    "RelativeDistance": _relative,
    "Revolute": _revolute,
    "Translational": _translational,
    "PinSlot": _pin_slot,
    "Driver": _driver,
    "PointForce": _point_force,
    "Torque": _torque,
    "Spring": _spring,
}
