"""The tables and formulas of a model as a vocabulary of its expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..expressions.law import PUSH, STATE
from ..expressions.syntax import ALIASES, CONSTANTS, FUNCTIONS, KEYWORDS, NOT_FINITE
from ..expressions.vocabulary import Vocabulary
from .drawn import DRAWN
from .frame import AT, GROUND
from .measure import KINDS
from .measure_text import RATE

if TYPE_CHECKING:
    from .model import Model

CALLS = (*KINDS, AT, RATE)
MEANINGS = (*FUNCTIONS, *ALIASES, *CONSTANTS, *KEYWORDS, *NOT_FINITE, *CALLS, *STATE, *PUSH, DRAWN, GROUND)
NO_WORDS = Vocabulary({}, {})


def vocabulary_of(model: Model) -> Vocabulary:
    """The names that a model gives; all formulas are read, whether they are used or not."""
    if not (model.tables or model.formulas):
        return NO_WORDS
    words = Vocabulary(model.tables, model.formulas, (*MEANINGS, *model.parameters, *model.bodies), CALLS)
    words.trees  # noqa: B018  (raises where a formula cannot be read)
    return words


def words_of(model: Model) -> set[str]:
    """The names of tables and formulas, as far as they are names."""
    return {*model.tables, *(text.partition("(")[0].strip() for text in model.formulas)}
