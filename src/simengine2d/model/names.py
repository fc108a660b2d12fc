"""What bodies, points and elements may be called."""

from __future__ import annotations

import re
from typing import Any

from ..errors import ModelError

_NAME = re.compile(r"""[^\s.,()'"](?:[^.,()'"\n]*[^\s.,()'"])?""")


def is_name(name: Any) -> bool:
    """Whether this is a free word without the signs that references and expressions need."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def check_name(name: Any, kind: str) -> None:
    """Refuse what is not a name."""
    if is_name(name):
        return
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"{kind} has the name {name!r}; a name is a word.")
    if name != name.strip():
        raise ModelError(f"{kind} is named '{name}'; a name neither begins nor ends with a space.")
    bad = sorted(set(name) & set(".,()'\"\n"))
    if bad:
        raise ModelError(f"{kind} is named '{name}'; the sign {' '.join(bad)} is not allowed in a name.")


def between_commas(text: str) -> list[str]:
    """`crank.phi, distance(a, b)` in two parts: commas inside parentheses belong to a part."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
