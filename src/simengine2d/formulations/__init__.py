"""Formulations: how the equations of motion are posed for an integrator. Every module in this folder is imported."""

import importlib
import pkgutil

from ..errors import ModelError, unknown
from ..methods import Formulation

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def formulation_named(name: str) -> type[Formulation]:
    """The formulation of that name, or an error that names the nearest."""
    found = Formulation.registry.get(name.lower().replace("-", "_"))
    if found is None:
        raise ModelError(
            f"there is no formulation '{name}'. {unknown('formulation', name, Formulation.registry)}"
        )
    return found
