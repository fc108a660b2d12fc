"""The numbers of a model by their names."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ...errors import ModelError, SimEngineError
from ...expressions.function import Function
from ...expressions.recorded import NotRecorded
from ...model.model import Model
from ...model.number_places import KnownModel
from ...system.system import System
from ..sweep.variants import refuse_unknown, variant
from .neighborhood import neighborhood
from .varied import VariedNumber, checked


def varied_numbers(model: Model, names: Sequence[str]) -> list[VariedNumber]:
    """The numbers by name, as in sweeps: `L`, `spring.stiffness`, `crank.mass`. The model is in SI units.

    Those that are named are independent of each other: each varies while the others keep their values, even where the
    model computes one from another.
    """
    if isinstance(names, str):
        raise ModelError(f"parameters is {names!r}; give a list of names, such as ['{names}'].")
    names = list(names)
    if not names:
        raise ModelError("parameters is empty; name at least one number of the model.")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ModelError(f"the parameter '{repeated}' is named twice.")
    key = (model.name, *names, None, *model.bodies, None, *model.elements)
    known = _known.pop(key, None)
    if known is None or known.model.differing_numbers(model) != {}:
        known = KnownNumbers(KnownModel(model.snapshot()), _new_numbers(model.snapshot(), names))
    _known[key] = known
    for oldest in list(_known)[:-MOST_KNOWN]:
        _known.pop(oldest, None)
    return known.numbers


class KnownNumbers(NamedTuple):
    """Those of an earlier call: what Systems have stored for reuse serves the same model again."""

    model: KnownModel
    numbers: list[VariedNumber]


_known: dict[Hashable, KnownNumbers] = {}
MOST_KNOWN = 8


def _new_numbers(model: Model, names: Sequence[str]) -> list[VariedNumber]:
    refuse_unknown(model, names)
    system = System(model)
    values = {name: value_of(model, system, name) for name in names}
    model = variant(model, values)
    try:
        return neighborhood(model, system, values).varied_numbers()
    except (NotRecorded, SimEngineError):
        return [checked(VariedNumber.of(model, name, p, system)) for name, p in values.items()]


def value_of(model: Model, system: System, name: str) -> float:
    """The value of a parameter, or of a number of a body, a joint or a force."""
    parameters = system.resolved.parameters
    if "." not in name:
        return parameters[name]
    owner, _, field = name.rpartition(".")
    if owner in model.bodies:
        resolved = system.resolved.bodies[owner]
        given = getattr(model.bodies[owner], field)
        known = getattr(resolved, field, None) if field != "angle" else resolved.pose[2]
        value = system.resolved.number(given, owner) if field == "density" and given is not None else known  # type: ignore[arg-type]
        if field in ("mass", "inertia") and given is None:
            value = None  # it follows from the shape
    else:
        value = getattr(system.resolved.elements[owner], field)
        if isinstance(value, Function):
            value = value.constant if value.is_constant else None
    if value is None or not isinstance(value, float | int):
        raise ModelError(
            f"'{name}' is not given as a number in model '{model.name}', so there is nothing to vary; "
            "name the parameters that it is computed from."
        )
    return float(value)
