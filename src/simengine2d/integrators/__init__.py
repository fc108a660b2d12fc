"""Integrators, one file each. Every module in this folder is imported, and its classes register themselves."""

from ..methods import Integrator, import_all, named

import_all(__name__, __path__)


def integrator_named(name: str) -> type[Integrator]:
    return named("integrator", name, Integrator.registry)
