"""Which line of the file a problem of the model belongs to."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ModelError, Path, Problem
from ..model.model import Model
from ..model.resolved import problems_of_numbers
from .document import Document


def complain_of_numbers(model: Model, document: Document) -> None:
    """Wrong numbers of a model of which other parts could not be read; what has a problem already is left alone."""
    known = {problem.line for problem in document.found}
    for problem in problems_of_numbers(model):
        if document.line(problem.path) not in known:
            document.complain(problem.path, problem)


def check_numbers(model: Model, document: Document, paths: Mapping[str, Path] | None = None) -> None:
    """Evaluate the model as it was read; its problems get their lines. `paths` says where names stand."""
    try:
        model.check()
    except ModelError as error:
        raise ModelError([_located(problem, document, paths or {}) for problem in error.problems]) from None


def _located(problem: Problem, document: Document, paths: Mapping[str, Path]) -> Problem:
    elsewhere = paths.get(problem.element or "")
    path = problem.path if elsewhere is None else (*elsewhere, *problem.path[2:])
    return Problem(f"{document.where(path)}: {problem}", problem.path, document.line(path))
