"""Integrators, one file each. Every module in this folder is imported, and its classes register themselves."""

from ..methods import Integrator, import_all, named


def integrator_named(name: str) -> type[Integrator]:
    return named("integrator", name, Integrator.registry)


import_all(__name__, __path__)  # last, for the toolbox `ivp` asks for methods by name
