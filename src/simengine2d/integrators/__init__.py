"""Integrators, one file each. Every module in this folder is imported, and its classes register themselves."""

import importlib
import pkgutil

from ..errors import ModelError, unknown
from ..methods import Integrator

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def integrator_named(name: str) -> type[Integrator]:
    """The integrator of that name, or an error that names the nearest."""
    found = Integrator.registry.get(name.lower().replace("-", "_"))
    if found is None:
        raise ModelError(
            f"there is no integrator '{name}'. {unknown('integrator', name, Integrator.registry)}"
        )
    return found
