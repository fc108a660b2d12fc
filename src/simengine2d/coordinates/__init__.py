"""Coordinate families, one file each: each says how the bodies depend on its z. Every module here is imported."""

from ..methods import import_all, named
from .family import Family

import_all(__name__, __path__)


def family_named(name: str) -> type[Family]:
    return named("coordinate system", name, Family.registry)
