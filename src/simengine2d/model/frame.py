"""Frames: a point and a direction fixed in a body. Every element is attached to frames.

A `Frame` is what a user writes: a body's own frame (`crank`), a named point (`crank.A`), or a position given by
its body-fixed coordinates (`crank.at(0.5, 0)`). Its numbers may be expressions of the model's parameters.
A `PlacedFrame` is the same with every number known, and with its global pose in the initial configuration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import ModelError, Problem
from ..expressions import syntax
from ..expressions.parser import parse
from ..expressions.recorded import atan2, cos, hypot, isfinite, sin
from ..expressions.syntax import to_text

if TYPE_CHECKING:
    from .elements import Pair, Scope

GROUND = "ground"
LARGEST = 1e100  # products of three such numbers are still finite
TOO_LARGE = "its numbers are too large to compute with."
AT = "at"
"""The word before the coordinates of a position: `crank.at(0.5, 0)`, `at('Long Rod', 0.5, 0)`."""

Number = float | int | str
"""A number, or an expression of the model's parameters."""

Pose = tuple[float, float, float]
"""x, y and angle."""


def usual(value: Any) -> float | None:
    """An ordinary number; None if it takes a closer look: an expression, another type, a very large one."""
    if type(value) is float:  # most are
        return value if -LARGEST <= value <= LARGEST else None
    if (isinstance(value, float) or type(value) is int) and -LARGEST <= value <= LARGEST:
        return float(value)
    return None


def usual_place(place: Any) -> Pose | None:
    """(x, y) or (x, y, angle) in ordinary numbers; None if it takes a closer look."""
    if type(place) is not tuple or not 2 <= len(place) <= 3:
        return None
    x, y, angle = place if len(place) == 3 else (*place, 0.0)
    if type(x) is type(y) is type(angle) is float and abs(x) + abs(y) + abs(angle) <= LARGEST:  # most are
        return x, y, angle
    x, y, angle = usual(x), usual(y), usual(angle)
    return None if x is None or y is None or angle is None else (x, y, angle)


class Side(ABC):
    """One side of a joint: a body or a frame."""

    __slots__ = ()

    @property
    @abstractmethod
    def frame(self) -> Frame: ...


@dataclass(frozen=True, slots=True)
class Frame(Side):
    """A frame as written: `point` names a point of the body, `place` is (x, y, angle) in body axes."""

    body: str
    point: str | None = None
    place: tuple[Number, Number, Number] | None = None

    @property
    def frame(self) -> Frame:
        return self

    def __repr__(self) -> str:
        return self.text

    @property
    def is_whole_body(self) -> bool:
        """Whether the body itself was named, not a point of it."""
        return self.point is None and self.place is None

    @property
    def text(self) -> str:
        """As it is written in model files: `crank`, `crank.A`, `crank.at(0.5, 0)`."""
        if self.point is not None:
            return quoted(f"{self.body}.{self.point}")
        if self.place is None:
            return quoted(self.body)
        x, y, angle = self.place
        numbers = f"{x}, {y}" if angle == 0 else f"{x}, {y}, {angle}"
        plain = quoted(self.body) == self.body
        return f"{self.body}.at({numbers})" if plain else f"at({quoted(self.body)}, {numbers})"


class PlacedFrame(NamedTuple):
    """A frame with its numbers: its pose in the body, and its global pose as drawn."""

    body: str
    x: float
    y: float
    angle: float
    drawn_x: float
    drawn_y: float
    drawn_angle: float


ORIGIN = PlacedFrame(GROUND, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The ground's own frame."""


def quoted(name: str) -> str:
    """The name itself if it is a plain word, else in quotes: 'Long Rod'."""
    return to_text(
        syntax.Name(name)
    )  # which also quotes reserved words of expressions: a body may be named e


def as_frame(side: Side | str) -> Frame:
    """The frame meant by a body, a frame, or a text such as "crank.A" or "crank.at(0.5, 0)"."""
    if isinstance(side, Side):
        return side.frame
    if not isinstance(side, str) or not side.strip():
        raise ModelError(f"{side!r} is not a body or a point; write a body, body['A'], or \"body.A\".")
    if "(" in side:  # which no name contains
        return frame_in(parse(side, also=(AT,)), side)
    return _named(side.strip().strip("'\""))


def frame_in(node: syntax.Node, text: str) -> Frame:
    """The frame denoted by a part of the expression `text`."""
    match node:
        case syntax.Name(name):
            return _named(name)
        case syntax.Call("at", (syntax.Name(body), *numbers)):
            return _at(body, numbers, text)
        case syntax.Call(name, numbers) if name.endswith(f".{AT}"):
            return _at(name.removesuffix(f".{AT}"), list(numbers), text)
    raise ModelError(f"'{text}': a frame is written crank, crank.A or crank.at(0.5, 0), not {to_text(node)}.")


def _named(name: str) -> Frame:
    body, dot, point = name.partition(".")
    if dot and not point:
        raise ModelError(f"'{name}' ends with a dot; write \"body.point\".")
    return Frame(body, point or None)


def _at(body: str, numbers: list[syntax.Node], text: str) -> Frame:
    if len(numbers) not in (2, 3):
        raise ModelError(f"'{text}': a position in a body has two coordinates and optionally an angle.")
    x, y, angle = [*map(_number, numbers), 0.0][:3]
    return Frame(body, place=(x, y, angle))


def _number(node: syntax.Node) -> Number:
    match node:
        case syntax.Number(value):
            return value
        case syntax.Unary("-", syntax.Number(value)):
            return -value
    return to_text(node)


# In the initial pose, as drawn ------------------------------------------------------------------------


def to_global(pose: Pose, x: float, y: float, angle: float) -> Pose:
    """r_P = r + A s, and the angle likewise."""
    c, s = cos(pose[2]), sin(pose[2])
    return pose[0] + c * x - s * y, pose[1] + s * x + c * y, pose[2] + angle


def finite(placed: PlacedFrame) -> PlacedFrame:
    _, x, y, angle, drawn_x, drawn_y, drawn_angle = placed
    if isfinite(x + y + angle + drawn_x + drawn_y + drawn_angle):  # a sum is finite only if its terms are
        return placed
    if not all(isfinite(number) for number in placed[1:]):
        raise ModelError(f"a frame of body '{placed.body}': {TOO_LARGE}")
    return placed


def to_local(pose: Pose, x: float, y: float, angle: float) -> Pose:
    """s = A^T (r_P - r), the inverse of `to_global`."""
    c, s = cos(pose[2]), sin(pose[2])
    dx, dy = x - pose[0], y - pose[1]
    return c * dx + s * dy, -s * dx + c * dy, angle - pose[2]


def place_pair(joint: Pair, scope: Scope) -> tuple[PlacedFrame, PlacedFrame]:
    """The two frames of a joint, by the rules in `Pair`'s docstring."""
    if joint.direction is None:
        _refuse_slot_without_direction(joint)
        return _sides(joint, scope)
    a, b = _sides(joint, scope)
    angle = _direction_angle(joint, joint.direction, scope)
    return (
        scope.frame_at(a.body, a.drawn_x, a.drawn_y, angle),
        scope.frame_at(b.body, b.drawn_x, b.drawn_y, angle),
    )


def _refuse_slot_without_direction(joint: Pair) -> None:
    """A slot in the ground is not turned as the body on its pin happens to be drawn."""
    if not joint.slot:
        return
    said = (
        joint.a.body != GROUND or joint.a.place is not None or (joint.at is not None and len(joint.at) == 3)
    )
    if not said and joint.a.point is None:
        raise ModelError(
            joint.title.part("direction").says(
                "the slot is in the ground, and it is not said how it lies. Give a vector such as [1, 0] for a level "
                "one, or an angle such as 90*deg for an upright one."
            )
        )


def _sides(joint: Pair, scope: Scope) -> tuple[PlacedFrame, PlacedFrame]:
    a, b = joint.a, joint.b
    if joint.at is not None:
        return _both_at(joint, joint.at, scope)
    if a.body == GROUND and a.is_whole_body:
        other = scope.frame(b)
        return _under(GROUND, other, scope), other
    if b.body == GROUND and b.is_whole_body:
        other = scope.frame(a)
        return other, _under(GROUND, other, scope)
    if joint.welds and a.is_whole_body:
        other = scope.frame(b)
        return _under(a.body, other, scope), other
    if joint.welds and b.is_whole_body:
        other = scope.frame(a)
        return other, _under(b.body, other, scope)
    return scope.frame(a), scope.frame(b)


def _under(body: str, other: PlacedFrame, scope: Scope) -> PlacedFrame:
    """The frame of `body` at the pose of `other`."""
    return scope.frame_at(body, other.drawn_x, other.drawn_y, other.drawn_angle)


def _both_at(joint: Pair, at: Any, scope: Scope) -> tuple[PlacedFrame, PlacedFrame]:
    if not (joint.a.is_whole_body and joint.b.is_whole_body):
        raise ModelError(
            f"{joint.title} has both a position, at={list(at)}, and the points {joint.a.text}, {joint.b.text}; "
            "give the position with two bodies, or two points without it."
        )
    if len(at) not in (2, 3):
        raise ModelError(f"{joint.title}: at={list(at)} must be [x, y] or [x, y, angle].")
    numbers = [scope.number(part, joint.title.part("at")) for part in at]
    main = joint.b if joint.b.body != GROUND else joint.a
    angle = numbers[2] if len(numbers) == 3 else scope.frame(Frame(main.body)).drawn_angle
    return (
        scope.frame_at(joint.a.body, numbers[0], numbers[1], angle),
        scope.frame_at(joint.b.body, numbers[0], numbers[1], angle),
    )


def _direction_angle(joint: Pair, direction: Any, scope: Scope) -> float:
    what = joint.title.part("direction")
    if np.ndim(direction) == 0:
        return scope.number(direction, what)
    if len(direction) != 2:
        raise ModelError(Problem(f"{what} {list(direction)} must be an angle or a vector [x, y].", what.path))
    x, y = (scope.number(part, what) for part in direction)
    if hypot(x, y) == 0.0:
        raise ModelError(Problem(f"{what} [0, 0] has no length; give a vector such as [1, 0].", what.path))
    return atan2(y, x)
