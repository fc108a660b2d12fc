"""A text that somebody is writing: the data in it, the model where it is one, and the problems where it is not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import ModelError, ModelWarning, Problem, SimEngineError
from ...io.files import Document
from ...io.model_reader import read_model
from ...io.yaml_reader import read_yaml
from ...model.frame import LARGEST
from ...model.model import Model
from ...model.resolved import ResolvedModel

NAME = "the model"
PLACE = re.compile(rf"^{NAME}(?:, line (\d+)(?:, column \d+)?)?: ")


@dataclass
class TextDraft:
    """What a text says. `model` is None where something is wrong with it, and `problems` says what."""

    text: str
    document: Document
    model: Model | None = None
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def data(self) -> dict[str, Any]:
        """The sections of the text."""
        return self.document.data if isinstance(self.document.data, dict) else {}

    @cached_property
    def resolved(self) -> ResolvedModel:
        """The model in numbers, in SI units."""
        if self.model is None:
            raise ModelError(self.problems)
        return self.model.check()

    def section(self, name: str) -> dict[str, Any]:
        found = self.data.get(name)
        return found if isinstance(found, dict) else {}


def read_draft(text: str, folder: str | Path = ".", values: Mapping[str, float] | None = None) -> TextDraft:
    """Read a text; `values` are those of parameters that are being tried and are not in the text."""
    try:
        document = read_yaml(text, NAME)
    except ModelError as error:
        return TextDraft(text, Document(NAME), problems=error.problems)
    if document.data is None:
        document.data = {}
    draft = TextDraft(text, document)
    if isinstance(document.data, dict):
        _try_values(draft, values or {})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        try:
            draft.model = read_model(document, Path(folder), None)
        except ModelError as error:
            draft.problems = error.problems
        except SimEngineError as error:
            draft.problems = [Problem(str(error))]
    draft.warnings = [str(each.message) for each in caught if issubclass(each.category, ModelWarning)]
    return draft


def _try_values(draft: TextDraft, values: Mapping[str, float]) -> None:
    """Parameters with other numbers; a unit behind the number stays."""
    parameters = draft.section("parameters")
    for name, value in values.items():
        plain = number_in(value)
        if plain is None:
            raise ModelError(f"the value of '{name}' is a number, not {str(value)[:40]}.")
        if name in parameters:
            parameters[name] = with_number(parameters[name], plain[0])


# Numbers ----------------------------------------------------------------------------------------------

NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(\s*\*?\s*[A-Za-z][\w/^*]*)?\s*")
UNITS = (
    "deg",
    "rad",
    "mm",
    "cm",
    "m",
    "km",
    "in",
    "ft",
    "kg",
    "g",
    "t",
    "s",
    "ms",
    "min",
    "N",
    "kN",
    "rpm",
    "Hz",
)


def number_in(value: Any) -> tuple[float, str] | None:
    """A plain number and the unit after it, as in `15 deg` or `30*deg`; None for other expressions."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (float(value), "") if abs(value) <= LARGEST else None
    match = NUMBER.fullmatch(value) if isinstance(value, str) else None
    if match is None or not abs(float(match[1])) <= LARGEST:
        return None
    unit = match[2] or ""
    return (float(match[1]), unit) if not unit or unit.strip(" *") in UNITS else None


def with_number(value: Any, number: float) -> Any:
    """The same with another number: `15 deg` becomes `20 deg`."""
    plain = number_in(value)
    shorter: float | int = int(number) if number == int(number) and abs(number) < 1e15 else number
    return f"{shorter}{plain[1]}" if plain and plain[1] else shorter


# Problems ---------------------------------------------------------------------------------------------


def problem_data(problem: Problem) -> dict[str, Any]:
    """A problem for the page: its line, what it is about, what is wrong, and what to do."""
    where = PLACE.match(problem)
    sentence = problem[where.end() :] if where else str(problem)
    line = problem.line or (int(where[1]) if where and where[1] else 0)
    text, stop, remedy = sentence.partition(". ")
    return {
        "line": line,
        "element": problem.element,
        "field": problem.field,
        "text": text + (stop and "."),
        "remedy": remedy,
    }
