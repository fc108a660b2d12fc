"""What has no value at a state: sentences about the function of time, the force or the contact that is to blame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError, ended, listed
from ..expressions.evaluate import evaluate
from ..expressions.function import Function
from ..expressions.function_table import law_value, new_scratch
from ..expressions.law import STATE
from ..model.curves.contact_kernel import is_at_end
from ..model.elements import Wrench
from ..numerics.arrays import Floats
from .applied_forces import grouped, read_measures, read_state
from .frames import term_value
from .functions_of_parts import laws_of
from .system import System

OVERGROWN = 1e8  # times the forces at the start: the cause of steps that become too small


def broken_function(system: System, t: float) -> str | None:
    """A sentence about the first element whose function of time has no value at t; drivers need derivatives too."""
    functions = [(name, function) for (name, _), function in zip(system.rows, system.functions, strict=True)]
    functions += [(name, law) for name, law in system.laws if law.of_time]
    for i, (name, function) in enumerate(functions):
        try:
            function.jet(float(t)) if i < system.m else function(float(t))
        except ModelError as error:
            return f"{system.model.elements[name].title}: {error}"
    return None


def broken_force(system: System, t: float, q: Floats, qd: Floats) -> str | None:
    """A sentence about the first force that has no finite value at a state."""
    for name, law in system.laws:
        if law.callback is not None and (error := law.callback.raised) is not None:
            return (
                f"{system.model.elements[name].title}: {law.text} raised {type(error).__name__} "
                f"near t = {t:g} s: {ended(error)}"
            )
    if not system.loads or np.all(np.isfinite(system.QA(t, q, qd))):
        return None
    for name, law, value, where in law_values(system, t, q, qd):
        if not np.isfinite(value):
            return f"{system.model.elements[name].title}: {law.text} has no finite value at {ended(where)}"
    names = listed(dict.fromkeys(name for name, _ in system.loads))
    return f"at t = {t:.9g} s the applied forces ({names}) have no finite value."


def overgrown(system: System, t: float, q: Floats, qd: Floats, begin: Any) -> str | None:
    """A sentence about a force or a driver that has become much larger than at the start."""
    then = [value for _, _, value, _ in law_values(system, begin.t, begin.q, begin.qd)]
    usual = max((abs(value) for value in then if np.isfinite(value)), default=0.0) or 1.0
    grown = [(name, law.text, v, where) for name, law, v, where in law_values(system, t, q, qd)]
    grown = [case for case in grown if abs(case[2]) > OVERGROWN * usual]
    before, now = system.functions_at(begin.t), system.functions_at(t)
    for (name, _), function, row, first in zip(system.rows, system.functions, now, before, strict=True):
        k = int(np.argmax(np.abs(row)))
        if abs(row[k]) > OVERGROWN * max(1.0, float(np.abs(first).max())):
            grown.append((name, function.text, float(row[k]), f"t = {t:.9g}"))
    if not grown:
        return None
    name, text, value, where = grown[0]
    title = system.model.elements[name].title
    return f"{title}: {text}, or its rate, has grown to {value:.3g} at {where}, and no step is short enough."


def law_values(system: System, t: float, q: Floats, qd: Floats) -> list[tuple[str, Function, float, str]]:
    """Each law of the applied forces with the name of its element, its value, and its variables."""
    L, F = system.load_arrays, system.frames(q, qd, t=t)
    bodies = {body.name: 3 * i for i, body in enumerate(system.bodies)}
    owner = {id(load): name for name, load in system.loads}
    cases: list[tuple[str, Function, tuple[str, ...], Floats]] = []
    for i, group in enumerate(grouped(load for _, load in system.loads)):
        z = np.zeros(2 * len(group[0].reads) + 1)
        read_measures(L, i, t, F, z)
        variables = tuple(group[0].variables)
        for force in group if group[0].by < 0 else group[:1]:
            cases.append((owner[id(force)], force.law, variables, z))
    for name, load in system.loads:
        if isinstance(load, Wrench):
            z = np.zeros(7)
            read_state(t, q, qd, bodies[load.frame.body], z)
            cases += [(name, law, STATE, z) for law in laws_of(load)]
    out, results = [], new_scratch(L.laws).results
    for i, (name, law, variables, z) in enumerate(cases):
        with np.errstate(all="ignore"):
            value = float(law_value(L.laws, i, z, results))
        where = ", ".join(f"{key} = {number:.9g}" for key, number in zip(variables, z, strict=True))
        out.append((name, law, value, where if np.isfinite(value) else where + _reason(law, variables, z)))
    return out


def _reason(law: Function, variables: tuple[str, ...], z: Floats) -> str:
    """Which part of an expression has no value."""
    try:
        if law.tree is not None:
            evaluate(law.tree, dict(zip(variables, z.tolist(), strict=True)))
    except ModelError as error:
        return f": {error}"
    return ""


def broken_contact(system: System, t: float, q: Floats) -> str | None:
    """A sentence about the first contact that has reached the end of its curve."""
    S, F = system.arrays, system.frames(q, t=t)
    for i, (name, row) in enumerate(system.rows):
        if row.formula is not None and row.formula.contact is not None:
            terms = range(S.row_start[i], S.row_start[i + 1])
            u = [term_value(S.term_kind[k], F, S.term_a[k], S.term_b[k]) for k in terms]
            if is_at_end(row.formula.contact, u):
                return f"{system.model.elements[name].title} reached the end of its curve near t = {t:.6g} s."
    return None


def finite_QA(system: System, t: float, q: Floats, qd: Floats) -> Floats:
    """QA; raises a ModelError that names the force if it has no finite value."""
    Q = system.QA(t, q, qd)
    if not np.all(np.isfinite(Q)):
        why = (
            broken_function(system, t)
            or broken_force(system, t, q, qd)
            or "the applied forces are not finite."
        )
        raise ModelError(f"at t = {t:g} s {why}")
    return Q
