"""Finds element classes by name, those of this package and those defined by users."""

from __future__ import annotations

from ..errors import nearest
from . import forces, joints  # noqa: F401  (importing them registers their classes)
from .elements import Element

# names used by other programs and books
OTHER_NAMES = {
    "revolutejoint": "Revolute",
    "pin": "Revolute",
    "hinge": "Revolute",
    "translationaljoint": "Translational",
    "prismatic": "Translational",
    "prismaticjoint": "Translational",
    "slider": "Translational",
    "weld": "Fixed",
    "fixedjoint": "Fixed",
    "gearjoint": "Gear",
    "rackandpinion": "RackPinion",
    "motor": "Driver",
    "motion": "Driver",
}
WRITTEN_AS = {
    "pose": "se.formulate(model, coordinates)",
    "redrawn": "se.with_initial_pose(model, q, qd)",
    "tsda": "a Spring on the measure distance(a, b), with stiffness, damping, free and actuator",
    "rsda": "a Spring on the measure angle(a, b), with stiffness, damping, free and actuator",
    "damper": "a Spring without stiffness: a measure, and damping",
    "gravity": "gravity of the model, such as (0, -9.81)",
    "actuator": "a Spring with the field actuator, or a Driver if the motion is prescribed",
}


def element_class(name: str) -> type[Element] | None:
    """The class of that name, in any capitalization; None if there is none."""
    return Element.registry.find(OTHER_NAMES.get(name.lower(), name))


def advice_for(name: str, known: tuple[str, ...]) -> str:
    """What to write instead of a name that does not exist."""
    written = WRITTEN_AS.get(name.lower())
    if written:
        return f"Write it as {written}."
    close = nearest(name, known)
    return f"Did you mean '{close}'?" if close else "`dir` lists the names."


def element_names() -> list[str]:
    return sorted(Element.registry)
