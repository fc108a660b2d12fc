"""What the fields of bodies and elements measure, for models with units."""

from __future__ import annotations

from ..expressions.unit_reader import Sort
from ..expressions.unit_system import (
    ACCELERATION,
    ANGLE,
    FORCE,
    LENGTH,
    MASS,
    NOTHING,
    SPIN,
    TIME,
    TORQUE,
    VELOCITY,
)
from ..expressions.units import Dimension
from .shape import Bar, LinkShape, Shape

INERTIA, PER_LENGTH, PER_AREA = (1, 2, 0, 0), (1, -1, 0, 0), (1, -2, 0, 0)
ENERGY, NUMBER = TORQUE, NOTHING
PLACE = (LENGTH, LENGTH, ANGLE)

BODY: dict[str, Dimension] = {
    "mass": MASS,
    "inertia": INERTIA,
    "position": LENGTH,
    "angle": ANGLE,
    "velocity": VELOCITY,
    "angular_velocity": SPIN,
}
ELEMENTS: dict[str, dict[str, Dimension]] = {
    "AbsoluteX": {"value": LENGTH},
    "AbsoluteY": {"value": LENGTH},
    "AbsoluteAngle": {"value": ANGLE},
    "AbsoluteDistance": {"value": LENGTH, "center": LENGTH},
    "RelativeX": {"value": LENGTH},
    "RelativeY": {"value": LENGTH},
    "RelativeAngle": {"value": ANGLE},
    "RelativeDistance": {"value": LENGTH},
    "Belt": {"radii": LENGTH},
    "Gear": {"radii": LENGTH, "teeth": NUMBER},
    "RackPinion": {"radius": LENGTH, "phase": LENGTH},
    "Link": {"length": LENGTH},
    "RevoluteTranslational": {"offset": LENGTH},
    "Cam": {"radius": LENGTH},
    "PointForce": {"fx": FORCE, "fy": FORCE},
    "Torque": {"value": TORQUE},
}
"""Fields by element; those on a measure follow from it."""
CURVE = {name: LENGTH for name in ("x", "y", "base_radius", "roller_radius", "offset", "motion", "points")}
MEASURES: dict[str, Dimension] = {
    "angle": ANGLE,
    "direction": ANGLE,
    "misalignment": NUMBER,
    "half_distance2": (0, 2, 0, 0),
}
"""All other measures are lengths."""
STATE: dict[str, Dimension] = {
    "x": LENGTH,
    "y": LENGTH,
    "phi": ANGLE,
    "xd": VELOCITY,
    "yd": VELOCITY,
    "phid": SPIN,
    "xdd": ACCELERATION,
    "ydd": ACCELERATION,
    "phidd": (0, 0, -2, 1),
}


def divided(a: Dimension, b: Dimension) -> Dimension:
    m, l, t, w = (x - y for x, y in zip(a, b, strict=True))  # noqa: E741
    return m, l, t, w


def of_measure(field: str, measure: Dimension) -> Dimension | None:
    """A field of an element on a measure: k (s - free) + c ds/dt + h(t)."""
    push = effort(measure)
    known = {
        "value": measure,
        "free": measure,
        "actuator": push,
        "law": push,
        "stiffness": divided(push, measure),
        "damping": divided(push, divided(measure, TIME)),
    }
    return known.get(field)


def effort(measure: Dimension) -> Dimension:
    """What does work along a measure: a force along a length, a torque along an angle."""
    return divided(ENERGY, (*measure[:3], 0))


def density_of(shape: Shape | None) -> Dimension | None:
    """Per length of a bar, else per area; a link may be either, so that its density needs a unit."""
    if isinstance(shape, LinkShape):
        return None
    return PER_LENGTH if isinstance(shape, Bar) else PER_AREA


def variables_of(kind: str, measure: Dimension) -> dict[str, Sort]:
    """The names that the function of a field knows."""
    if kind == "push law":
        return {"t": Sort(TIME), "s": Sort(measure), "sd": Sort(divided(measure, TIME))}
    if kind == "state law":
        return {"t": Sort(TIME)} | {name: Sort(STATE[name]) for name in ("x", "y", "phi", "xd", "yd", "phid")}
    if kind == "curve":
        return {"s": Sort(NUMBER), "theta": Sort(ANGLE)}
    return {"t": Sort(TIME), "drawn": Sort(measure)}
