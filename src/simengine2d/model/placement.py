"""Where the frames of a joint are, computed from the initial pose, as drawn."""

from __future__ import annotations

from math import atan2, cos, hypot, sin
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, Problem
from .frame import GROUND, Frame, PlacedFrame

if TYPE_CHECKING:
    from .elements import Pair, Scope

Pose = tuple[float, float, float]


def to_global(pose: Pose, x: float, y: float, angle: float) -> Pose:
    """r_P = r + A s, and the angle likewise."""
    c, s = cos(pose[2]), sin(pose[2])
    return pose[0] + c * x - s * y, pose[1] + s * x + c * y, pose[2] + angle


def to_local(pose: Pose, x: float, y: float, angle: float) -> Pose:
    """s = A^T (r_P - r), the inverse of `to_global`."""
    c, s = cos(pose[2]), sin(pose[2])
    dx, dy = x - pose[0], y - pose[1]
    return c * dx + s * dy, -s * dx + c * dy, angle - pose[2]


def place_pair(joint: Pair, scope: Scope) -> tuple[PlacedFrame, PlacedFrame]:
    """The two frames of a joint, by the rules in `Pair`'s docstring."""
    a, b = _sides(joint, scope)
    if joint.direction is None:
        return a, b
    angle = _direction_angle(joint, joint.direction, scope)
    return (
        scope.frame_at(a.body, a.drawn_x, a.drawn_y, angle),
        scope.frame_at(b.body, b.drawn_x, b.drawn_y, angle),
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
