"""simengine2d: planar mechanisms, from one model to their motion.

    import simengine2d as se

Public names are listed in `__init__.pyi` and loaded when first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
import re
from importlib.resources import files
from typing import Any

from .errors import answers_misspellings

__version__ = "0.1.0"

MODULES = {
    "builders": ".model.builders",
    "ivp": ".integrators.ivp",
    "lab": ".lab",
    "symbolic": ".symbolic",
    "synthesis": ".lab.synthesis",
}
ELEMENTS = (".model.joints", ".model.forces")
"""Joints and forces register themselves; the stub lists them for editors."""
STUB = (files(__name__) / "__init__.pyi").read_text(encoding="utf-8")
HOMES = {
    name: module
    for module, name in re.findall(r"^from (\S+) import (\w+) as", STUB, re.MULTILINE)
    if name not in MODULES and not module.startswith(ELEMENTS)
}
"""The module in which each public name lives."""


def __getattr__(name: str) -> Any:
    if name in MODULES:
        value = importlib.import_module(MODULES[name], __name__)
    elif name in HOMES:
        value = getattr(importlib.import_module(HOMES[name], __name__), name)
        if not (isinstance(value, type) and issubclass(value, Exception)):
            value = answers_misspellings(value)
    else:
        value = _element(name)
    globals()[name] = value  # the next access does not come here
    return value


def _element(name: str) -> Any:
    """A joint or a force; an error says what was perhaps meant."""
    if name.startswith("_"):
        raise AttributeError(f"module 'simengine2d' has no attribute '{name}'")
    from .model.registry import advice_for, element_class, element_names

    cls = element_class(name) if name[:1].isupper() else None
    if cls is None:
        known = (*HOMES, *MODULES, *element_names())
        raise AttributeError(f"module 'simengine2d' has no attribute '{name}'. {advice_for(name, known)}")
    return cls


def __dir__() -> list[str]:
    from .model.registry import element_names

    return sorted([*HOMES, *MODULES, *element_names(), "__version__"])
