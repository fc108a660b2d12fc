"""What the fields of a model measure: a number with a unit of another kind is refused."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import ModelError, Problem, Subject
from ..expressions.parser import parse
from ..expressions.syntax import Unary
from ..expressions.units import Dimension, Quantity


class FieldKind(NamedTuple):
    """What a field holds in words, and the dimensions that fit."""

    words: str
    fits: tuple[Dimension, ...]


LENGTH, ANGLE = (0, 1, 0, 0), (0, 0, 0, 1)
A_LENGTH, A_PLACE = (
    FieldKind("a length, such as 25 mm", (LENGTH,)),
    FieldKind("lengths or an angle", (LENGTH, ANGLE)),
)
AN_ANGLE = FieldKind("an angle, such as 30 deg", (ANGLE,))

IN_BODIES = {"at": A_LENGTH}
"""Fields that mean something else in joints."""
FIELDS: dict[str, FieldKind] = {
    "mass": FieldKind("a mass, such as 2 kg", ((1, 0, 0, 0),)),
    "inertia": FieldKind("a moment of inertia, such as 2 kg m^2", ((1, 2, 0, 0),)),
    "density": FieldKind("a mass per length or area, such as 2 kg/m", ((1, -1, 0, 0), (1, -2, 0, 0))),
    **dict.fromkeys(
        ("start", "end", "through", "corners", "radius", "width", "height", "radii", "offset"), A_LENGTH
    ),
    "at": A_PLACE,
    "points": A_PLACE,
    "angle": AN_ANGLE,
    "direction": AN_ANGLE,
    "velocity": FieldKind("a velocity, such as 2 m/s", ((0, 1, -1, 0),)),
    "angular_velocity": FieldKind("an angular velocity, such as 1500 rpm", ((0, 0, -1, 1),)),
    "gravity": FieldKind("an acceleration, such as 9.81 m/s^2", ((0, 1, -2, 0),)),
    "stiffness": FieldKind(
        "a stiffness, such as 3 kN/m or 5 Nm/rad", ((1, 0, -2, 0), (1, 2, -2, -1), (1, 2, -2, 0))
    ),
    "damping": FieldKind(
        "a damping, such as 3 N s/m or 5 Nm s/rad", ((1, 0, -1, 0), (1, 2, -1, -1), (1, 2, -1, 0))
    ),
    "free": FieldKind("a length or an angle", (LENGTH, ANGLE)),
}


def check_dimension(text: str, what: Subject) -> None:
    """Refuse a quantity whose unit does not fit its field; in longer expressions units are only converted."""
    tree = parse(text)
    tree = tree.operand if isinstance(tree, Unary) else tree
    if not isinstance(tree, Quantity):
        return
    path = [str(part) for part in what.path]
    kinds = FIELDS | IN_BODIES if path[:1] == ["bodies"] else FIELDS
    kind = next((kinds[part] for part in reversed(path) if part in kinds), None)
    if kind is not None and tree.dimension not in kind.fits:
        raise ModelError(Problem(f"{what} is {text.strip()}; write {kind.words}.", what.path))
