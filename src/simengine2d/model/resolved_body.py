"""A body in numbers, and what it is called in messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..errors import Subject
from .body import Body
from .frame import GROUND, Pose

Naming = Callable[[Body], Subject]


def of_body(body: Body) -> Subject:
    return Subject(f"body '{body.name}'", ("ground",) if body.name == GROUND else ("bodies", body.name))


def of_shape(body: Body) -> Subject:
    assert body.shape is not None
    return Subject(f"{of_body(body)}, {body.shape.word}", of_body(body).path)


class ResolvedBody(NamedTuple):
    """A body in numbers. A velocity that was not given is None."""

    name: str
    mass: float
    inertia: float
    pose: Pose
    velocity: tuple[float, float] | None
    angular_velocity: float | None
    points: dict[str, tuple[float, float, float]]
