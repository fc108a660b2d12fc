"""Formulations: how the equations of motion are posed for an integrator. Every module in this folder is imported."""

from ..methods import Formulation, import_all, named

import_all(__name__, __path__)


def formulation_named(name: str) -> type[Formulation]:
    return named("formulation", name, Formulation.registry)
