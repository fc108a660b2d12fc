"""What each constraint and force of the course's .adm files means in our elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from math import atan2, pi
from typing import Any, NamedTuple

from ..errors import ModelError, listed
from ..expressions.evaluate import from_matlab
from ..model.elements import Element
from ..model.forces.point_force import PointForce
from ..model.forces.spring import Spring
from ..model.forces.torque import Torque
from ..model.frame import GROUND, Frame
from ..model.joints.absolute import AbsoluteAngle, AbsoluteDistance, AbsoluteX, AbsoluteY
from ..model.joints.pin_slot import PinSlot
from ..model.joints.rack_pinion import RackPinion
from ..model.joints.relative import RelativeAngle, RelativeDistance, RelativeX, RelativeY
from ..model.joints.revolute import Revolute
from ..model.joints.revolute_translational import RevoluteTranslational
from ..model.joints.translational import Translational
from ..model.measure import angle, distance
from .text_writer import shown

AXES = {"GRF": "global", "LRF": "body"}
MOST_IDS = 12  # in a sentence
LINE = " line"
"""A RackPinion is two elements here; the one that keeps the distance has this after its name."""


@dataclass(frozen=True)
class AdmEntry:
    """One constraint or force as the file has it, with the names of its bodies."""

    name: str
    record: dict[str, Any]
    bodies: Mapping[int, str]

    def number(self, key: str) -> float:
        value = self.record[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ModelError(f"{key} is {shown(value)}; it must be a number.")
        return value

    def optional(self, key: str) -> float:
        return self.number(key) if key in self.record else 0.0

    def vector(self, key: str) -> tuple[float, float]:
        value = self.record[key]
        if not isinstance(value, list) or len(value) != 2 or not all(is_number(part) for part in value):
            raise ModelError(f"{key} is {shown(value)}; it must be two numbers [x, y].")
        return value[0], value[1]

    def body(self, key: str) -> str:
        value = self.record[key]
        if not is_number(value) or value not in self.bodies:
            raise ModelError(
                f"{key} is {shown(value)}, which is the id of no body. The ids are {self.known_ids()}."
            )
        return self.bodies[int(value)]

    def known_ids(self) -> str:
        """`0 (ground), 1 (crank)`; of many bodies the first."""
        first = [f"{number} ({name})" for number, name in islice(self.bodies.items(), MOST_IDS)]
        more = len(self.bodies) - len(first)
        return listed(first) + (f" and {more} more" if more else "")

    def frame(self, number: int) -> Frame:
        """The frame at point sP of body 1 or 2; its axis is vP where the type has one."""
        x, y = self.vector(f"sP{number}")
        axis = f"vP{number}"
        return Frame(
            self.body(f"body{number}"), place=(x, y, self.direction(axis) if axis in self.record else 0.0)
        )

    def point(self, number: int) -> Frame:
        x, y = self.vector(f"sP{number}")
        return Frame(self.body(f"body{number}"), place=(x, y, 0.0))

    def direction(self, key: str) -> float:
        x, y = self.vector(key)
        if x == 0 and y == 0:
            raise ModelError(f"{key} is [0, 0], which has no direction; give a vector such as [1, 0].")
        return atan2(y, x)

    def function(self, key: str = "fun") -> float | str:
        """f(t); "NONE" or nothing means 0."""
        value = self.record.get(key, 0.0)
        if value is None or (isinstance(value, str) and value.strip().upper() in ("NONE", "")):
            return 0.0
        if not is_number(value) and not isinstance(value, str):
            raise ModelError(f'{key} is {shown(value)}; it must be an expression of t such as "2*pi*t".')
        return from_matlab(value) if isinstance(value, str) else value  # type: ignore[no-any-return]

    def law(self) -> str:
        """The name of a MATLAB function."""
        value = self.record.get("mfile", self.record.get("matlab_file"))
        if not isinstance(value, str) or not value.strip():
            raise ModelError(f"mfile is {shown(value)}; it must be the name of a function.")
        return value

    def axes(self) -> str:
        value = self.record.get("frame", "GRF")
        if not isinstance(value, str) or value.upper() not in AXES:
            raise ModelError(f"frame is {shown(value)}; it must be GRF (global axes) or LRF (body axes).")
        return AXES[value.upper()]


def is_number(value: Any) -> bool:
    """A number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


# The types --------------------------------------------------------------------------------------------


class Meaning(NamedTuple):
    """Fields that a type needs, fields that it may have, and the elements it becomes."""

    build: Callable[[AdmEntry], list[Element]]
    needs: tuple[str, ...]
    may_have: tuple[str, ...] = ()


FUN = ("fun",)
ONE_POINT = ("body1", "sP1")
TWO_POINTS = (*ONE_POINT, "body2", "sP2")


def _absolute(cls: Callable[..., Element]) -> Callable[[AdmEntry], list[Element]]:
    return lambda e: [cls(e.name, e.point(1), e.function())]


def _relative(cls: Callable[..., Element]) -> Callable[[AdmEntry], list[Element]]:
    return lambda e: [cls(e.name, e.point(1), e.point(2), e.function())]


def _rack_pinion(e: AdmEntry) -> list[Element]:
    """Two equations, with v = r_1Q - r_1P of length L and direction beta in the rack:

    the pinion's center stays R2 to the left of the pitch line
    (r_2P - r_1Q) . v = L R2 (phi1 + theta1 - phi2 - theta2 + 3 pi/2), so with frame a at Q along v
    along(a, b) + R2 (phi2 - phi1 - beta) = R2 (theta1 - theta2 + 3 pi/2 - beta)
    """
    (px, py), (qx, qy) = e.vector("sP1"), e.vector("sQ1")
    if (px, py) == (qx, qy):
        raise ModelError(f"sP1 and sQ1 are the same point {shown([px, py])}; the pitch line needs two.")
    radius = e.number("R2")
    beta = atan2(qy - py, qx - px)
    rack = Frame(e.body("body1"), place=(qx, qy, beta))
    phase = radius * (e.optional("theta1") - e.optional("theta2") + 3 * pi / 2 - beta)
    return [
        RevoluteTranslational(e.name + LINE, rack, e.point(2), radius),
        RackPinion(e.name, rack, e.point(2), radius, phase),
    ]


def _rsda1(e: AdmEntry) -> list[Element]:
    return _spring(e, angle(Frame(GROUND), Frame(e.body("body1"))).text, "theta0")


def _rsda2(e: AdmEntry) -> list[Element]:
    return _spring(e, angle(Frame(e.body("body1")), Frame(e.body("body2"))).text, "theta0")


def _spring(e: AdmEntry, measure: str, free: str) -> list[Element]:
    return [Spring(e.name, measure, e.optional("k"), e.optional("c"), e.optional(free), e.function())]


CONSTRAINTS = {
    "AbsoluteX": Meaning(_absolute(AbsoluteX), ONE_POINT, FUN),
    "AbsoluteY": Meaning(_absolute(AbsoluteY), ONE_POINT, FUN),
    "AbsoluteAngle": Meaning(
        lambda e: [AbsoluteAngle(e.name, Frame(e.body("body1")), e.function())], ("body1",), ("sP1", *FUN)
    ),
    "AbsoluteDistance": Meaning(
        lambda e: [AbsoluteDistance(e.name, e.point(1), e.function(), e.vector("c"))], (*ONE_POINT, "c"), FUN
    ),
    "RelativeX": Meaning(_relative(RelativeX), TWO_POINTS, FUN),
    "RelativeY": Meaning(_relative(RelativeY), TWO_POINTS, FUN),
    "RelativeAngle": Meaning(
        lambda e: [RelativeAngle(e.name, Frame(e.body("body1")), Frame(e.body("body2")), e.function())],
        ("body1", "body2"),
        ("sP1", "sP2", *FUN),
    ),
    "RelativeDistance": Meaning(_relative(RelativeDistance), TWO_POINTS, FUN),
    "RevoluteJoint": Meaning(lambda e: [Revolute(e.name, e.point(1), e.point(2))], TWO_POINTS),
    "TranslationalJoint": Meaning(
        lambda e: [Translational(e.name, e.frame(1), e.frame(2))], (*TWO_POINTS, "vP1", "vP2")
    ),
    "PointOnLine": Meaning(
        lambda e: [PinSlot(e.name, e.frame(1), e.point(2))], (*TWO_POINTS, "vP1"), ("vP2",)
    ),
    "RackPinion": Meaning(_rack_pinion, (*TWO_POINTS, "sQ1", "R2"), ("theta1", "theta2")),
}
RSDA_MAY = ("theta0", "k", "c", *FUN)
LAW_MAY = ("frame", "mfile", "matlab_file")
POINT_FORCE_FILE = Meaning(
    lambda e: [PointForce(e.name, e.point(1), axes=e.axes(), law=e.law())], ONE_POINT, LAW_MAY
)
FORCES = {
    "PointForce": Meaning(
        lambda e: [PointForce(e.name, e.point(1), e.function("funX"), e.function("funY"), e.axes())],
        ONE_POINT,
        ("frame", "funX", "funY"),
    ),
    "PointForceFile": POINT_FORCE_FILE,
    "forceFile": POINT_FORCE_FILE,
    "Torque": Meaning(lambda e: [Torque(e.name, Frame(e.body("body1")), e.function())], ("body1",), FUN),
    "torqueFile": Meaning(
        lambda e: [Torque(e.name, Frame(e.body("body1")), law=e.law())], ("body1",), LAW_MAY
    ),
    "RSDA1": Meaning(_rsda1, ("body1",), RSDA_MAY),
    "RSDA2": Meaning(_rsda2, ("body1", "body2"), RSDA_MAY),
    "RSDA": Meaning(
        lambda e: (_rsda2 if "body2" in e.record else _rsda1)(e), ("body1",), ("body2", *RSDA_MAY)
    ),
    "TSDA": Meaning(
        lambda e: _spring(e, distance(e.point(1), e.point(2)).text, "l0"), TWO_POINTS, ("k", "l0", "c", *FUN)
    ),
}
SECTIONS: dict[str, tuple[str, dict[str, Meaning]]] = {
    "constraints": ("constraint", CONSTRAINTS),
    "forces": ("force", FORCES),
}
COMMON = ("name", "id", "type")


def meaning(section: str, word: Any) -> Meaning | None:
    """What a type means, whatever its capitals."""
    folded = {name.lower(): entry for name, entry in SECTIONS[section][1].items()}
    return folded.get(word.lower()) if isinstance(word, str) else None
