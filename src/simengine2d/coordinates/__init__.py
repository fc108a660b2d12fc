"""Coordinate families, one package each: each says how the bodies depend on its z. Importing them registers them."""

from ..methods import import_all

import_all(__name__, __path__)
