"""The examination: numbers, elements, then the closed mechanism; the likely cause comes first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ...errors import AssemblyError, ModelError, SimEngineError
from ...model.model import Model
from ...system.system import System
from ..assembly.assemble import Assembly, assemble
from .constraints import corrections, examined, massless, over_driven
from .data import suspicions
from .finding import ERROR, WARNING, Checkup, Finding, in_order
from .structure import remarks

QUOTED = re.compile(r"'([^']*)'")
NEXT_SENTENCE = re.compile(r"(?<=[.?]) (?=[A-Z])")


def doctor(model: Model | str | os.PathLike[str], t: float = 0.0) -> Checkup:
    """Examine a model or a model file: what is wrong or suspicious, in sentences, with remedies.

    It looks for degrees taken for radians and millimeters for meters; gears, belts and springs that do not fit;
    elements that repeat others or do nothing; joints that do not close; drivers that conflict or cannot move; dependent
    constraints, and whose reactions are unique; free motions without mass. The likely cause comes first.
    """
    name = model.name if isinstance(model, Model) else Path(model).name
    try:
        if not isinstance(model, Model):
            from ...io import load

            model = load(Path(model))
        system = System(model)
    except ModelError as error:
        return of_problems(name, error)
    return in_order(model.name, _examination(system, t))


def of_problems(name: str, error: ModelError) -> Checkup:
    """A model that could not be read."""
    return in_order(name, [_problem(problem) for problem in error.problems])


def _problem(sentence: str) -> Finding:
    """A sentence of the model reader as a finding about the names in quotes."""
    return Finding(ERROR, "model", tuple(QUOTED.findall(sentence)), *_with_remedy(sentence))


def _with_remedy(message: str) -> tuple[str, str]:
    """What is wrong, and what to do: messages say it in this order, in sentences of their own."""
    what, *remedy = NEXT_SENTENCE.split(message, maxsplit=1)
    return what, " ".join(remedy)


def _examination(system: System, t: float) -> Iterator[Finding]:
    doubts = [*suspicions(system.resolved), *remarks(system.resolved)]
    if any(finding.kind == "empty" for finding in doubts):
        yield from doubts
        return
    try:
        assembly = assemble(system, t)
    except AssemblyError as error:
        yield from _causes(doubts)
        yield over_driven(system, t) or _open(system, error)
        return
    except SimEngineError as error:
        yield _problem(str(error))
        yield from doubts
        return
    yield from doubts
    yield from corrections(assembly)
    yield from _of_the_closed(assembly)


def _of_the_closed(assembly: Assembly) -> Iterator[Finding]:
    yield from examined(assembly)
    yield from massless(assembly)


def _causes(doubts: list[Finding]) -> Iterator[Finding]:
    """If the mechanism does not close, a number that looks like a mistake is the likely reason."""
    for finding in doubts:
        likely = finding.severity == WARNING and finding.kind in ("degrees", "units", "gear", "center")
        yield replace(finding, severity=ERROR) if likely else finding


def _open(system: System, error: AssemblyError) -> Finding:
    sentence = str(error)
    named = [name for name in QUOTED.findall(sentence) if name in system.model.elements]
    return Finding(ERROR, "open", tuple(named), *_with_remedy(sentence))
