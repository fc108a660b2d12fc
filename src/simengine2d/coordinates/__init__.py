"""Coordinate families, one package each: each says how the bodies depend on its z. Importing them registers them."""

from ..methods import import_all
from .base import Family

import_all(__name__, __path__)


def family_named(name: str) -> type[Family]:
    return Family.registry.named(name)
