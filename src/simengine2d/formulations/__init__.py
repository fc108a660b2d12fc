"""Formulations: how the equations of motion are posed for an integrator. Every module in this folder is imported."""

from ..methods import import_all

import_all(__name__, __path__)
