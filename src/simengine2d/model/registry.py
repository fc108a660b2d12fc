"""Finds element classes by name, those of this package and those a user has defined."""

from __future__ import annotations

from . import forces, joints  # noqa: F401  (importing them registers their classes)
from .elements import Element


def element_class(name: str) -> type[Element] | None:
    """The class of that name, however it is capitalized; None where there is none."""
    exact = Element.registry.get(name)
    if exact is not None:
        return exact
    return next((cls for known, cls in Element.registry.items() if known.lower() == name.lower()), None)


def element_names() -> list[str]:
    return sorted(Element.registry)
