"""The name `drawn` in a joint's function of time: the value of its measure as drawn, in the initial pose of the model.

A motor that begins where the mechanism was drawn is `value: drawn + 0.3*step5(t, 0, 0, 1, 1)`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..expressions.evaluate import check_names, substitute
from ..expressions.function import Function, expression_function
from ..expressions.recorded import is_recorded
from ..expressions.syntax import Name, Node, Number, to_text

if TYPE_CHECKING:
    from .elements import Joint, Scope

DRAWN = "drawn"
WORD = re.compile(rf"\b{DRAWN}\b")


def written_out(joint: Joint, scope: Scope) -> dict[str, str | Function]:
    """The fields of a joint that name `drawn`, with its value instead."""
    fields = [name for name in _functions_of_time(type(joint)) if reads_drawn(getattr(joint, name))]
    if not fields:
        return {}
    if DRAWN in scope.parameters:
        raise ModelError(
            f"{joint.title}: '{DRAWN}' is the value of its measure as drawn, and the model has a parameter '{DRAWN}' "
            "too. Give the parameter another name."
        )
    row, *others = joint.with_fields(dict.fromkeys(fields, 0.0), scope).rows()
    if others or row.formula is not None:
        raise ModelError(f"{joint.title} has no single measure; write the number instead of '{DRAWN}'.")
    value = Number(row.measure.drawn)
    return {name: _replaced(joint, name, value, scope) for name in fields}


def reads_drawn(given: Any) -> bool:
    """Whether a function of time names it."""
    return isinstance(given, str) and WORD.search(given) is not None


def without_drawn(joint: Joint, field: str, scope: Scope) -> Any:
    """A field without `drawn`, which has no value where bodies are wrong; the other names can still be checked."""
    given = getattr(joint, field)
    if field not in _functions_of_time(type(joint)) or not reads_drawn(given):
        return given
    return _replaced(joint, field, Name("t"), scope)


def _replaced(joint: Joint, field: str, node: Node, scope: Scope) -> str | Function:
    try:
        tree = scope.words.parse(getattr(joint, field))
        check_names(tree, ("t", DRAWN, *scope.parameters))
    except ModelError as error:
        raise ModelError([joint.title.part(field).says(problem) for problem in error.problems]) from None
    if isinstance(node, Number) and is_recorded(node.value):  # which a text would lose
        known = {**scope.parameters, DRAWN: node.value}
        return expression_function(tree, getattr(joint, field), ("t",), known)
    return to_text(substitute(tree, {DRAWN: node}))


@cache
def _functions_of_time(cls: type[Joint]) -> tuple[str, ...]:
    return tuple(name for name, kind in cls.kinds().items() if kind.name == "function")
