"""simengine2d: planar mechanisms, from one model to their motion.

    import simengine2d as se

Public names are listed in `__init__.pyi` and loaded when first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._public import HOMES

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in HOMES:
        found = importlib.import_module(HOMES[name], __name__)
        if HOMES[name] != f".{name}":  # a name inside a module, not the module itself
            found = getattr(found, name)
        globals()[name] = found  # the next access does not come here
        return found
    if name[:1].isupper():  # joints and forces register themselves
        from .registry import element_class

        found = element_class(name)
        if found is not None:
            return found
    raise AttributeError(f"module 'simengine2d' has no attribute '{name}'")


def __dir__() -> list[str]:
    from .registry import element_names

    return sorted([*HOMES, *element_names(), "__version__"])
