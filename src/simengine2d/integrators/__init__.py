"""Integrators, one file for each method or family. Every module in this folder is imported, and its classes register themselves."""

from ..methods import import_all

import_all(__name__, __path__)
