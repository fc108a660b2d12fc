"""Which line of the file a problem of the model belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import ModelError
from ..model import Model
from .document import Document, Path

_TITLE = re.compile(r"(\w+) '([^']+)'(?:, (\w+))?")


def check_numbers(model: Model, document: Document, paths: Mapping[str, Path] | None = None) -> None:
    """Evaluate the model as it was read; its problems get their lines. `paths` says where names stand."""
    try:
        model.check()
    except ModelError as error:
        places = _places(document.data) if paths is None else paths
        raise ModelError([_located(problem, document, places) for problem in error.problems]) from None


def _places(data: dict[str, Any]) -> dict[str, Path]:
    sections = ("bodies", "joints", "forces")
    return {name: (section, name) for section in sections for name in data.get(section) or ()}


def _located(problem: str, document: Document, places: Mapping[str, Path]) -> str:
    found = _TITLE.match(problem)
    path: Path = ()
    if found and found[1] == "parameter":
        path = ("parameters", found[2])
    elif found and found[2] in places:
        path = (*places[found[2]], found[3] or "")
    elif problem.startswith(("gravity", "the parameters")):
        path = ("gravity",) if problem.startswith("gravity") else ("parameters",)
    return f"{document.where(path)}: {problem}"
