"""A linkage of a type as an ordinary Model, its dimensions as parameters: whoever changes one finds it assembled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from math import atan2, cos, pi, sin
from typing import Any

from ...model.joints.driver import Driver
from ...model.joints.revolute import Revolute
from ...model.joints.translational import Translational
from ...model.model import Model
from .linkage_types import (
    CirclePin,
    CrankPin,
    GroundLink,
    GroundPin,
    LinkageType,
    LinkPoint,
    SliderPin,
)

Formulas = dict[str, str]


def model_of(
    kind: LinkageType, values: Mapping[str, float], sides: Sequence[int], *, speed: float = 2 * pi
) -> Model:
    """The linkage with a motor that turns the crank from `crank_angle` at a constant speed."""
    numbers = {name: float(values[name]) for name in kind.kinds}
    numbers["crank_angle"] = wrapped(numbers["crank_angle"])
    parameters: dict[str, Any] = {**numbers, "speed": float(speed), "density": 1.0}
    left = list(sides)
    for step in kind.steps:
        side = left.pop(0) if isinstance(step, CirclePin | SliderPin) else 0
        parameters |= formulas(step, side)
    model = Model(kind.name, parameters=parameters)
    _add_links(model, kind)
    _add_joints(model, kind)
    model.add(Driver("motor", "angle(ground, crank)", "crank_angle + speed*t"))
    return model


def wrapped(angle: float) -> float:
    """The same direction, from -pi to pi."""
    return atan2(sin(angle), cos(angle))


@singledispatch
def formulas(step: Any, side: int) -> Formulas:
    """The pin of a step in the initial pose, as expressions of the parameters."""
    raise TypeError(step)


@formulas.register
def _(step: GroundPin, side: int) -> Formulas:
    return {}  # its coordinates are parameters


@formulas.register
def _(step: GroundLink, side: int) -> Formulas:
    return _polar(step.pin, step.start, step.length, step.angle)


@formulas.register
def _(step: CrankPin, side: int) -> Formulas:
    return _polar(step.pin, step.start, step.length, "crank_angle")


def _polar(pin: str, start: str, length: str, angle: str) -> Formulas:
    return {
        f"{_x(pin)}": f"{_x(start)} + {length}*cos({angle})",
        f"{_y(pin)}": f"{_y(start)} + {length}*sin({angle})",
    }


@formulas.register
def _(step: CirclePin, side: int) -> Formulas:
    a, b, r, s, pin = step.first, step.second, step.first_length, step.second_length, step.pin
    f, foot, height = f"diagonal_{pin}", f"foot_{pin}", f"height_{pin}"
    return {
        f: f"hypot({_x(b)} - {_x(a)}, {_y(b)} - {_y(a)})",
        foot: f"({f}^2 + {r}^2 - {s}^2)/(2*{f})",
        height: f"{side}*sqrt(max({r}^2 - {foot}^2, 0))",
        _x(pin): f"{_x(a)} + ({foot}*({_x(b)} - {_x(a)}) - {height}*({_y(b)} - {_y(a)}))/{f}",
        _y(pin): f"{_y(a)} + ({foot}*({_y(b)} - {_y(a)}) + {height}*({_x(b)} - {_x(a)}))/{f}",
    }


@formulas.register
def _(step: SliderPin, side: int) -> Formulas:
    a, o, angle, pin = step.first, step.ground, step.angle, step.pin
    across, along = f"across_{pin}", f"along_{pin}"
    drop = f"(cos({angle})*({_y(a)} - {_y(o)}) - sin({angle})*({_x(a)} - {_x(o)}))"
    return {
        across: f"{step.offset} - {drop}",
        along: f"{side}*sqrt(max({step.length}^2 - {across}^2, 0))",
        _x(pin): f"{_x(a)} + {along}*cos({angle}) - {across}*sin({angle})",
        _y(pin): f"{_y(a)} + {along}*sin({angle}) + {across}*cos({angle})",
    }


@formulas.register
def _(step: LinkPoint, side: int) -> Formulas:
    if step.pin == "P":
        return {}  # a point of its body; no other pin depends on it
    a, b, u, v = step.first, step.second, step.along, step.across
    length = f"hypot({_x(b)} - {_x(a)}, {_y(b)} - {_y(a)})"
    return {
        _x(step.pin): f"{_x(a)} + ({u}*({_x(b)} - {_x(a)}) - {v}*({_y(b)} - {_y(a)}))/{length}",
        _y(step.pin): f"{_y(a)} + ({u}*({_y(b)} - {_y(a)}) + {v}*({_x(b)} - {_x(a)}))/{length}",
    }


def _x(pin: str) -> str:
    return f"{pin}x" if pin in "AG" else f"pin_{pin}x"


def _y(pin: str) -> str:
    return f"{pin}y" if pin in "AG" else f"pin_{pin}y"


def _add_links(model: Model, kind: LinkageType) -> None:
    points = {step.pin: step for step in kind.steps if isinstance(step, LinkPoint)}
    for link in kind.links:
        ends = [(_x(pin), _y(pin)) for pin in (link.start, link.end)]
        body = model.bar(link.body, *ends, mass=f"density*{link.length}")
        for name, point in points.items():
            if (point.first, point.second) == (link.start, link.end):
                body.points[name] = (
                    f"{point.along} - {link.length}/2",
                    point.across,
                )  # from the bar's middle


def _add_joints(model: Model, kind: LinkageType) -> None:
    for pin, bodies in kind.joints.items():
        if "slider" in bodies:
            model.body("slider", mass=1.0, at=(_x(pin), _y(pin)), angle="guide_angle")
        sides = [_side(model, kind, body, pin) for body in bodies]
        model.add(Revolute(pin, *sides))
    if "slider" in model.bodies:
        direction = ("cos(guide_angle)", "sin(guide_angle)")
        model.add(Translational("guide", model.ground, model.bodies["slider"], direction=direction))


def _side(model: Model, kind: LinkageType, body: str, pin: str) -> Any:
    """The pin as a point of the body."""
    if body == "ground":
        model.ground.points[pin] = (_x(pin), _y(pin))
        return model.ground[pin]
    if body == "slider":
        return model.bodies[body]
    link = kind.link(body)
    return model.bodies[body][{link.start: "start", link.end: "end"}.get(pin, pin)]
