"""Sorts `src/simengine2d/__init__.pyi`, the public names and where they live, and adds the joints and forces to it.

python tools/public_names.py            write the file
python tools/public_names.py --check    say whether it is up to date
"""

from __future__ import annotations

import sys
from pathlib import Path

from generated import write_or_check

from simengine2d import HOMES, MODULES
from simengine2d.model.elements import Element
from simengine2d.model.registry import element_names

PACKAGE = "simengine2d"
STUB = Path(__file__).parents[1] / "src" / PACKAGE / "__init__.pyi"
HEAD = '"""The public names and where they live. Sorted by tools/public_names.py."""\n'


def homes() -> dict[str, str]:
    """Each public name with its module; elements live where their class was defined."""
    modules = dict(HOMES)
    for name in element_names():
        module = Element.registry[name].__module__
        if module.startswith(f"{PACKAGE}."):  # classes of users are theirs
            modules[name] = module.removeprefix(PACKAGE)
    return modules


def stub_text() -> str:
    """One import per name, sorted by module; a module is imported from its package."""
    lines = [f"from {module} import {name} as {name}" for name, module in homes().items()]
    for name, module in MODULES.items():
        lines.append(f"from {module.removesuffix(name).rstrip('.') or '.'} import {name} as {name}")
    return "\n".join([HEAD, *sorted(lines, key=_import_order), "", "__version__: str", ""])


def _import_order(line: str) -> tuple[str, str, str]:
    """As ruff sorts imports: by module, then constants before classes before the rest."""
    _, module, _, name, *_ = line.split()
    rank = "0" if name.isupper() and len(name) > 1 else "1" if name[0].isupper() else "2"
    return module.lower(), rank, name


if __name__ == "__main__":
    sys.exit(write_or_check(STUB, stub_text()))
