"""Integrators, one file for each method or family. Every module here is imported, and registers its classes."""

from ..methods import import_all

import_all(__name__, __path__)
