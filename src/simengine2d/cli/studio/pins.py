"""Pins: the points of a drawing that can be grabbed. What revolute joints hold together is one pin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...errors import ModelError, unknown
from ...model.elements import Pair
from ...model.frame import GROUND, Frame, as_frame
from ...model.joints.revolute import Revolute
from ...model.model import Model
from ...model.resolved import ResolvedModel


@dataclass
class DrawnPin:
    """Points of bodies that coincide, and the joints there."""

    refs: list[str] = field(default_factory=list)
    """References to it as they are written: `crank.end`; empty for a joint that is given by its place only."""
    joints: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    id: str = ""

    @property
    def grounded(self) -> bool:
        return GROUND in self.bodies

    def ref_of(self, body: str) -> str | None:
        """The reference to it that belongs to a body."""
        return next((ref for ref in self.refs if as_frame(ref).body == body), None)


def pins_of(resolved: ResolvedModel) -> list[DrawnPin]:
    """All points of a model, in the order of bodies and joints."""
    model = resolved.written.written or resolved.written
    collection = _Collection(resolved, model)
    for name, element in model.elements.items():
        if isinstance(element, Revolute):
            collection.join(name, element)
    for name, element in model.elements.items():
        if isinstance(element, Pair) and not isinstance(element, Revolute):
            collection.hang(name, element)
        elif not isinstance(element, Pair):
            for frame, in_si in zip(element.frames(), resolved.written.elements[name].frames(), strict=True):
                if not frame.is_whole_body:
                    collection.at(frame, in_si)
    for body in (model.ground, *model.bodies.values()):
        for point in body.point_names:
            collection.at(Frame(body.name, point))
        if body.name != GROUND and (not body.point_names or body.position is not None):
            collection.at(Frame(body.name))
    return collection.named()


class _Collection:
    """Pins by the references to them; two that are joined become one."""

    def __init__(self, resolved: ResolvedModel, model: Model) -> None:
        self.resolved = resolved
        self.model = model
        self.of: dict[str, DrawnPin] = {}
        self.free: list[DrawnPin] = []

    def at(self, frame: Frame, in_si: Frame | None = None) -> DrawnPin:
        """The pin of a reference, a new one where there is none yet."""
        text = frame.text
        if text not in self.of:
            placed = self.resolved.frame(in_si or frame)
            self.of[text] = DrawnPin([text], [], [frame.body], placed.drawn_x, placed.drawn_y)
        return self.of[text]

    def join(self, name: str, pair: Pair) -> None:
        """Both sides of a revolute joint are one pin; a side given by its place has no reference of its own."""
        sides = [self.at(*side) for side in self._sides(name, pair)]
        pin = sides[0] if sides else self._placed(name)
        for other in sides[1:]:
            pin = self.merged(pin, other)
        self._note(pin, name, pair)

    def hang(self, name: str, pair: Pair) -> None:
        """A slot or a guide belongs to the pin that moves in it."""
        sides = [self.at(*side) for side in self._sides(name, pair)]
        if sides:
            sides[-1].joints.append(name)
        else:
            self._note(self._placed(name), name, pair)

    def _sides(self, name: str, pair: Pair) -> Iterator[tuple[Frame, Frame]]:
        """The sides of a joint that have references, each as written and in SI units."""
        in_si = self.resolved.written.elements[name]
        assert isinstance(in_si, Pair)
        if pair.at is None:
            yield from (both for both in ((pair.a, in_si.a), (pair.b, in_si.b)) if not _is_ground(both[0]))

    def _placed(self, name: str) -> DrawnPin:
        """A joint that is given by its place."""
        pair: Any = self.resolved.elements[name]
        frame = pair.b
        pin = DrawnPin([], [], [], frame.drawn_x, frame.drawn_y)
        self.free.append(pin)
        return pin

    def _note(self, pin: DrawnPin, name: str, pair: Pair) -> None:
        pin.joints.append(name)
        pin.bodies += [side.body for side in (pair.a, pair.b) if side.body not in pin.bodies]

    def merged(self, one: DrawnPin, other: DrawnPin) -> DrawnPin:
        if one is other:
            return one
        for ref in other.refs:
            self.of[ref] = one
        one.refs += other.refs
        one.joints += other.joints
        one.bodies += [body for body in other.bodies if body not in one.bodies]
        return one

    def named(self) -> list[DrawnPin]:
        """Each with its id: the first joint there, or else its first reference."""
        pins = list({id(pin): pin for pin in (*self.of.values(), *self.free)}.values())
        taken: set[str] = set()
        for pin in pins:
            pin.joints.sort(key=lambda name: not isinstance(self.model.elements[name], Revolute))
            free = [name for name in pin.joints if name not in taken]
            pin.id = free[0] if free else pin.refs[0]
            taken.add(pin.id)
        return pins


def _is_ground(frame: Frame) -> bool:
    """The ground without a point is where the other side is."""
    return frame.body == GROUND and frame.is_whole_body


def find_pin(pins: list[DrawnPin], name: str) -> DrawnPin:
    """A pin by its id, a joint there, or a reference to it."""
    for pin in pins:
        if name == pin.id:
            return pin
    for pin in pins:
        if name in pin.joints or name in pin.refs:
            return pin
    raise ModelError(f"there is no point '{name}'. {unknown('point', name, [pin.id for pin in pins])}")
