"""Requirements: what else a linkage must hold, such as "transmission > 40*deg" or "max(B.force) < 400"."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ...analyses.inverse.inverse_dynamics import inverse_dynamics
from ...errors import ModelError, SimEngineError, listed
from ...expressions.evaluate import number
from ...expressions.syntax import to_text
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ..sweep.outputs import Expression
from ..sweep.reading import REDUCED, TRANSMISSION

LEAST_TRANSMISSION = (TRANSMISSION, f"min({TRANSMISSION})")
"""These are part of the problem itself; all other expressions are read from a run."""
MARGIN = 1e-3  # by which the search keeps away from a limit


@dataclass(frozen=True)
class Requirement:
    """`expression < limit` or `> limit`; the expression is one of those that studies keep, and makes one number."""

    text: str
    expression: Expression
    below: bool
    limit: float

    def value(self, results: Results) -> float:
        value = self.expression(results)
        if np.ndim(value) > 0:
            raise ModelError(
                f"subject_to: '{self.text}': {self.expression.text} has a value at each time; "
                f"say which counts, with {listed(REDUCED)}, such as 'max({self.expression.text})'."
            )
        return float(value)

    def holds(self, results: Results) -> bool:
        value = self.value(results)
        return value < self.limit if self.below else value > self.limit

    def excess(self, results: Results) -> float:
        """By how much it is missed, relative to the limit; 0 if it holds with a margin."""
        size = abs(self.limit) or 1.0
        value = (self.value(results) - self.limit) / size * (1.0 if self.below else -1.0)
        return max(0.0, value + MARGIN)


def read_requirements(texts: object) -> tuple[float, list[Requirement]]:
    """The least transmission angle, and all other requirements."""
    listing = [texts] if isinstance(texts, str) else list(texts or [])  # type: ignore[call-overload]
    least, others = 0.0, []
    for text in listing:
        one = _read(str(text))
        if to_text(one.expression.tree) not in LEAST_TRANSMISSION:
            others.append(one)
        elif one.below or not 0.0 < one.limit < np.pi / 2:
            raise ModelError(
                f"subject_to: '{text}'; a transmission angle is required to be above, 0 to 90*deg."
            )
        else:
            least = max(least, one.limit)
    return least, others


def _read(text: str) -> Requirement:
    parts = re.fullmatch(r"\s*([^<>]+?)\s*(<|>)\s*([^<>]+?)\s*", text)
    if parts is None:
        raise ModelError(
            f"subject_to: '{text}' is not a requirement; write one as 'transmission > 40*deg' or 'max(B.force) < 400'."
        )
    try:
        return Requirement(text.strip(), Expression(parts[1]), parts[2] == "<", number(parts[3]))
    except ModelError as error:
        raise ModelError(f"subject_to: '{text}': {error}") from None


def excesses(requirements: list[Requirement], model: Model, t_end: float, steps: int = 60) -> Floats:
    """By how much each is missed in a run with its forces; 1 where the model does not run."""
    try:
        results = inverse_dynamics(model, t_end=t_end, step=t_end / steps)
    except ModelError:
        raise
    except SimEngineError:
        return np.ones(len(requirements))
    return np.array([each.excess(results) for each in requirements])
