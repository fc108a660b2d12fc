"""Measures over time, from the coordinates of the bodies; units of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelError
from ..expressions.function_table import ALONG, law_value, new_scratch, pack
from ..model.elements import MeasureForce, Row
from ..model.formula import Formula
from ..model.frame import AT, GROUND, PlacedFrame
from ..model.measure import Measure
from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from ..system.constraints import constant_arrays
from ..system.frames import (
    FRAME_STATE,
    move_frames,
    place_frames,
    term_gradient,
    term_second_order,
    term_value,
)

if TYPE_CHECKING:
    from ..model.resolved import ResolvedModel
    from .results import Results


@kernel(entry=True)
def measures_along(S, F, Q, Qd, Qdd, out):
    """Value, rate and second rate of each term of S at each row of Q.

    sd = s_q qd,      sdd = s_q qdd + (s_q qd)_q qd
    """
    nb = S.mass.size
    for i in range(Q.shape[0]):
        place_frames(S, Q[i], F)
        move_frames(S, Qd[i], F)
        for k in range(S.term_kind.size):
            kind, a, b = S.term_kind[k], S.term_a[k], S.term_b[k]
            g = term_gradient(kind, F, a, b)
            rate, second = 0.0, term_second_order(kind, F, a, b)
            for side in range(2):
                body = S.frame_body[a] if side == 0 else S.frame_body[b]
                if body < nb:
                    for c in range(3):
                        rate += g[3 * side + c] * Qd[i, 3 * body + c]
                        second += g[3 * side + c] * Qdd[i, 3 * body + c]
            out[k, 0, i] = term_value(kind, F, a, b)
            out[k, 1, i] = rate
            out[k, 2, i] = second


@kernel(entry=True)
def values_along(table, scratch, Z, out):
    """A formula at each row of its variables Z."""
    for i in range(Z.shape[0]):
        for k in range(Z.shape[1]):
            scratch.variables[k] = Z[i, k]
        out[i] = law_value(table, 0, scratch.variables, scratch.results)


def formula_along(results: Results, formula: Formula) -> Floats:
    """The value of a formula over time."""
    rates = [part for measure in formula.measures for part in measure_rates(results, measure)[:2]]
    t = results.motion.t
    table, out = pack([formula.function], [formula.variables], ALONG), np.empty(t.size)
    values_along(table, new_scratch(table), np.column_stack([*rates, t]), out)
    return out


def measure_rates(results: Results, measure: Measure | str) -> tuple[Floats, Floats, Floats]:
    """Value, rate and second rate of a weighted sum of measures; directions are made continuous."""
    resolved = results.resolved
    terms = _placed(resolved, measure).terms
    bodies = [body for body in resolved.bodies.values() if body.name != GROUND]
    arrays, _ = constant_arrays(bodies, resolved.gravity, [Row("", Measure((term,))) for term in terms])
    motion = results.motion
    out = np.empty((len(terms), 3, motion.t.size))
    F = np.zeros((arrays.frame_body.size, FRAME_STATE))
    measures_along(arrays, F, motion.q, motion.qd, motion.qdd, out)
    for term, part in zip(terms, out, strict=True):
        if term.kind == "direction":
            part[0] = np.unwrap(part[0])
        part *= term.weight
    value, rate, second = out.sum(axis=0)
    return value, rate, second


def _placed(resolved: ResolvedModel, measure: Measure | str) -> Measure:
    """The measure with its frames; those of a resolved element are placed already."""
    if isinstance(measure, Measure) and all(isinstance(term.a, PlacedFrame) for term in measure.terms):
        return measure
    return resolved.measure(measure)


# Units: SI, and radians --------------------------------------------------------------------------------


UNITS = {
    "t": "s",
    "x": "m",
    "y": "m",
    "phi": "rad",
    "xd": "m/s",
    "yd": "m/s",
    "phid": "rad/s",
    "xdd": "m/s²",
    "ydd": "m/s²",
    "phidd": "rad/s²",
    "fx": "N",
    "fy": "N",
    "torque": "N m",
    "power": "W",
    "energy": "J",
    "kinetic": "J",
    "potential": "J",
    "total": "J",
    "input": "J",
    "dissipated": "J",
    "size": "s",
}
MEASURES = {"angle": "rad", "direction": "rad", "misalignment": "1", "half_distance2": "m²"}
"""Units of measures; all others are lengths."""
MULTIPLIERS = {"m": "N", "rad": "N m", "1": "N m", "m²": "N/m"}
"""Units of multipliers by those of measures."""


def unit_of(results: Results, channel: str) -> str:
    """The unit of a channel such as "crank.phid", "spring.force" or "distance(a, b)"; "" where it has none."""
    if channel in results.model.formulas:  # parameters without units may mean anything
        return ""
    if is_expression(results, channel):
        return _unit_of_measure(results, channel)
    if channel.startswith("lam.") and "lam" not in results.bodies:
        return _unit_of_multiplier(results, channel.removeprefix("lam."))
    name, _, quantity = channel.rpartition(".")
    if quantity in ("force", "effort"):
        return _unit_of_effort(results, name)
    return UNITS.get(quantity, "")


OPERATORS = frozenset("+-*/^(")


def is_expression(results: Results, channel: str) -> bool:
    """Whether it is more than a name; names may hold signs, too, and points are also written at(1, 0)."""
    if OPERATORS.isdisjoint(channel):
        return False
    parts = channel.split(".")
    body = results.resolved.bodies.get(parts[0])
    known = {*results.bodies, *results.system.element_names, *(body.points if body is not None else ())}
    strange = [part for part in parts if part not in known and not part.startswith(f"{AT}(")]
    return any(OPERATORS.intersection(part) for part in strange)


def _unit_of_measure(results: Results, text: str) -> str:
    """That of all terms of a sum of measures; other expressions have none."""
    try:
        terms = results.resolved.measure(text).terms
    except ModelError:
        return ""
    units = {MEASURES.get(term.kind, "m") for term in terms}
    return units.pop() if len(units) == 1 else ""


def _unit_of_multiplier(results: Results, row: str) -> str:
    """Joule by the unit of what the row holds: N of a length, N m of an angle, N/m of half a squared distance."""
    rows = {f"{name}.{row.label}": row for name, row in results.system.rows}
    if row not in rows or rows[row].formula is not None:
        return ""
    units = {MEASURES.get(term.kind, "m") for term in rows[row].measure.terms}
    return MULTIPLIERS[units.pop()] if len(units) == 1 else ""


def _unit_of_effort(results: Results, name: str) -> str:
    """Newtons for what acts on a length, newton meters for what acts on an angle."""
    loads = [load for owner, load in results.system.loads if owner == name]
    measures = [load.measure for load in loads if isinstance(load, MeasureForce) and load.is_law]
    measures += [row.measure for row in results.resolved.rows.get(name, ()) if row.formula is None]
    units = {MEASURES.get(term.kind, "m") for measure in measures for term in measure.terms}
    return "N" if units == {"m"} else "N m" if units == {"rad"} else ""
