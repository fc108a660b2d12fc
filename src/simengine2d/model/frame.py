"""Frames: a point and a direction fixed in a body. Every element is attached to frames.

A `Frame` is what a user writes: a body's own frame (`crank`), a named point (`crank.A`), or a position given by
its body-fixed coordinates (`crank.at(0.5, 0)`). Its numbers may be expressions of the model's parameters.
A `PlacedFrame` is the same with every number known, and with its global pose in the initial configuration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import ModelError
from ..expressions import syntax
from ..expressions.parser import parse
from ..expressions.syntax import to_text

GROUND = "ground"
AT = "at"
"""The word before the coordinates of a position: `crank.at(0.5, 0)`, `at('Long Rod', 0.5, 0)`."""

Number = float | int | str
"""A number, or an expression of the model's parameters."""


class Side(ABC):
    """One side of a joint: a body or a frame."""

    @property
    @abstractmethod
    def frame(self) -> Frame: ...


@dataclass(frozen=True)
class Frame(Side):
    """A frame as written: `point` names a point of the body, `place` is (x, y, angle) in body axes."""

    body: str
    point: str | None = None
    place: tuple[Number, Number, Number] | None = None

    @property
    def frame(self) -> Frame:
        return self

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
