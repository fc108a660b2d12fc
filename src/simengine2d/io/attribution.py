"""Which line of the file a problem of the model belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import ModelError
from ..model.model import Model
from ..model.resolved import problems_of_numbers
from .document import Document, Path

_TITLE = re.compile(r"(\w+) '([^']+)'(?:, (\w+))?")


def complain_of_numbers(model: Model, document: Document) -> None:
    """Wrong numbers of a model of which other parts could not be read; what has a problem already is left alone."""
    places = _places(document.data)
    known = tuple(document.problems)
    for problem in problems_of_numbers(model):
        path = _path(problem, places)
        if not any(other.startswith(f"{document.where(path)}:") for other in known):
            document.complain(path, problem)


def check_numbers(model: Model, document: Document, paths: Mapping[str, Path] | None = None) -> None:
    """Evaluate the model as it was read; its problems get their lines. `paths` says where names stand."""
    try:
        model.check()
    except ModelError as error:
        places = _places(document.data) if paths is None else paths
        raise ModelError([_located(problem, document, places) for problem in error.problems]) from None


def _places(data: dict[str, Any]) -> dict[str, Path]:
    sections = ("bodies", "joints", "forces")
    found = {section: data.get(section) for section in sections}
    return {
        name: (section, name) for section, names in found.items() if isinstance(names, dict) for name in names
    }


def _located(problem: str, document: Document, places: Mapping[str, Path]) -> str:
    return f"{document.where(_path(problem, places))}: {problem}"


def _path(problem: str, places: Mapping[str, Path]) -> Path:
    """Where the element stands that the problem begins with."""
    found = _TITLE.match(problem)
    path: Path = ()
    if found and found[1] == "parameter":
        path = ("parameters", found[2])
    elif found and found[2] in places:
        path = (*places[found[2]], found[3] or "")
    elif problem.startswith(("gravity", "the parameters")):
        path = ("gravity",) if problem.startswith("gravity") else ("parameters",)
    return path
