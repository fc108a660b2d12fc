"""The tables and formulas of a model as a vocabulary of its expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..expressions.law import STATE
from ..expressions.syntax import MEANINGS
from ..expressions.vocabulary import Vocabulary
from .drawn import DRAWN
from .frame import AT, GROUND
from .measure import KINDS
from .measure_text import RATE

if TYPE_CHECKING:
    from .model import Model

CALLS = (*KINDS, AT, RATE)
TAKEN = {
    **dict.fromkeys(STATE, "a coordinate or velocity of the body in laws of forces"),
    **dict.fromkeys(KINDS, "a measure"),
    AT: "a place in a body",
    RATE: "the rate of a measure",
    DRAWN: "the value of a measure as drawn",
    GROUND: "the ground",
    **MEANINGS,
}
"""Names that expressions of a model know, and what each means."""
NO_WORDS = Vocabulary({}, {})


def vocabulary_of(model: Model) -> Vocabulary:
    """The names that a model gives; all formulas are read, whether they are used or not."""
    if not (model.tables or model.formulas):
        return NO_WORDS
    own = dict.fromkeys(model.parameters, "a parameter") | dict.fromkeys(model.bodies, "a body")
    words = Vocabulary(model.tables, model.formulas, own | TAKEN, CALLS)
    words.trees  # noqa: B018  (raises where a formula cannot be read)
    return words


def words_of(model: Model) -> set[str]:
    """The names of tables and formulas, as far as they are names."""
    return {*model.tables, *(text.partition("(")[0].strip() for text in model.formulas)}
