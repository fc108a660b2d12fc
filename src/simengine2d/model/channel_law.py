"""Laws of forces that read channels of any body: `law: gas(crank.phi)*s`, `value: -2*(crank.phid - motor.phid)`.

Such a law becomes a formula, in which the force's own variables are channels too: s and sd of a spring its measure and
rate, x to phid of a force on a body that body's state.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..expressions.evaluate import refuse_ambiguous, substitute
from ..expressions.law import STATE
from ..expressions.parser import parse
from ..expressions.syntax import Name, Node, to_text
from .drawn import without_drawn
from .formula import Formula
from .frame import AT, GROUND
from .measure import KINDS, Measure
from .measure_text import RATE, parse_channels, parse_measure

if TYPE_CHECKING:
    from .elements import Element, ForceElement, Scope

CALLS = (*KINDS, AT, RATE)


def channel_laws(force: ForceElement, scope: Scope) -> dict[str, Formula]:
    """Those laws of a force that read channels."""
    laws = [name for name in _laws(type(force)) if _reads_channels(getattr(force, name), scope)]
    if not laws:
        return {}
    own = _own_channels(force, scope)
    if getattr(force, "axes", GROUND) == "body":
        return _turned(force, own, scope)
    return {
        name: scope.formula(_text(getattr(force, name), own, scope), force.title.part(name)) for name in laws
    }


def examined(element: Element, field: str, scope: Scope) -> Any:
    """A field that can be resolved where bodies are wrong; what reads poses is left out."""
    if element.section == "joints":
        return without_drawn(element, field, scope)  # type: ignore[arg-type]
    given = getattr(element, field)
    return 0.0 if field in _laws(type(element)) and _reads_channels(given, scope) else given


def _reads_channels(given: Any, scope: Scope) -> bool:
    """What cannot be parsed is reported elsewhere."""
    if not isinstance(given, str):
        return False
    try:
        return bool(parse_channels(given, scope.words).measures)
    except ModelError:
        return False


@cache
def _laws(cls: type[Element]) -> tuple[str, ...]:
    if not getattr(cls, "reads_channels", False):
        return ()
    return tuple(name for name, kind in cls.kinds().items() if kind.name in ("push law", "state law"))


def _own_channels(force: Any, scope: Scope) -> dict[str, Node]:
    """The variables of the force's law as channels."""
    if hasattr(force, "measure"):
        measure: Measure = force.measure
        if isinstance(measure, str):
            measure = parse_measure(measure, scope.parameters)
        calls = [(term.weight, f"{term.kind}({term.a.text}, {term.b.text})") for term in measure.terms]  # type: ignore[union-attr]
        s = " + ".join(f"{weight!r}*{call}" for weight, call in calls)
        sd = " + ".join(f"{weight!r}*rate({call})" for weight, call in calls)
        return {"s": parse(s, CALLS), "sd": parse(sd, CALLS)}
    body = force.frame.body
    return {name: Name(f"{body}.{name}") for name in STATE if name != "t"}


def _text(given: Any, own: dict[str, Node], scope: Scope) -> str:
    tree = scope.words.parse(str(given), CALLS)
    refuse_ambiguous(tree, (*own, *scope.parameters))
    return to_text(substitute(tree, own))


def _turned(force: Any, own: dict[str, Node], scope: Scope) -> dict[str, Formula]:
    """The global components of a force that turns with its body."""
    for name in ("fx", "fy"):
        if not isinstance(getattr(force, name), str | float | int):
            what = force.title.part(name)
            raise ModelError(what.says("the other component reads channels; write an expression here, too."))
    fx, fy = (_text(getattr(force, name), own, scope) for name in ("fx", "fy"))
    angle = f"angle({GROUND}, {force.frame.text})"
    return {
        "fx": scope.formula(f"({fx})*cos({angle}) - ({fy})*sin({angle})", force.title.part("fx")),
        "fy": scope.formula(f"({fx})*sin({angle}) + ({fy})*cos({angle})", force.title.part("fy")),
    }
