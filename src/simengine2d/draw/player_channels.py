"""Channels of the player: what it can plot, by name and with units, and in which columns their numbers are.

Points of bodies are not among them: the player computes these itself from the poses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expressions.unit_system import ShownUnit, UnitSystem
from ..model.elements import Element, Joint
from ..model.forces.spring import Spring
from ..model.joints.driver import Driver
from ..model.measure import Measure, Term
from ..model.model import Model
from ..numerics.arrays import Floats
from ..results.actuator_effort import has_effort
from ..results.channels import UNITS
from ..results.energy import known_energy
from ..results.in_units import ResultsInUnits
from ..results.named_channels import COORDINATES, ORDERS
from ..results.results import Results
from .marks import Arrow

MEASURES = {"distance": "m", "angle": "rad"}
NO_UNIT = ShownUnit("SI units")
"""Of formulas of which it is not known what they measure, where others are in other units."""


class Columns:
    """Numbers of the page; each column is known by its place."""

    def __init__(self) -> None:
        self.arrays: list[Floats] = []

    def add(self, values: Floats) -> int:
        self.arrays.append(np.asarray(values, dtype=np.float32))
        return len(self.arrays) - 1


def channel(name: str, unit: ShownUnit, group: str, **more: Any) -> dict[str, Any]:
    """Columns are in SI units; what is shown of them is divided by the factor of the unit."""
    factor = None if unit.factor == 1.0 else unit.factor
    given = {"factor": factor, **more}
    return {"name": name, "unit": unit.name, "group": group} | {
        k: v for k, v in given.items() if v is not None
    }


def body_channels(view: ResultsInUnits, known: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Channels with the column of their rate, where there is one, for smooth curves between rows."""
    results = view.in_si
    for body in results.bodies:
        for quantity in (c + order for order in ORDERS for c in COORDINATES):
            name = f"{body}.{quantity}"
            if name in known:
                unit = view.units.shown(UNITS[quantity])
                yield channel(name, unit, body, column=known[name], rate=known.get(f"{name}d"))


def force_channels(
    arrows: Sequence[Arrow], data: Sequence[dict[str, Any]], units: UnitSystem
) -> Iterator[dict[str, Any]]:
    """Components and size of reactions and applied forces."""
    for arrow, one in zip(arrows, data, strict=True):
        for part, column in zip(("fx", "fy", "torque"), one["columns"], strict=True):
            yield channel(f"{arrow.name}.{part}", units.shown(UNITS[part]), arrow.name, column=column)
        yield channel(f"{arrow.name}.|f|", units.shown("N"), arrow.name, sizeOf=one["columns"][:2])


def measure_channels(view: ResultsInUnits, number: dict[str, int]) -> Iterator[dict[str, Any]]:
    """The distances and angles on which drivers and springs act; the player computes them from the poses."""
    results = view.in_si
    for name, element in results.resolved.elements.items():
        term = _single_term(element)
        if term is not None and term.kind in MEASURES:
            ends = {side: _end(frame, number) for side, frame in (("a", term.a), ("b", term.b))}
            text = _text(_as_written(results.model, name))
            unit = view.units.shown(MEASURES[term.kind])
            yield channel(text, unit, name, measure={"kind": term.kind, "weight": term.weight} | ends)


def _single_term(element: Element) -> Term | None:
    """Of the measure of a driver or a spring, where it is one and not a sum."""
    if (isinstance(element, Spring) and isinstance(element.measure, Measure)) or isinstance(element, Driver):
        terms = element.measure.terms
    else:
        return None
    return terms[0] if len(terms) == 1 else None


def _end(frame: Any, number: dict[str, int]) -> list[float]:
    return [number[frame.body], frame.x, frame.y, frame.angle]


def _as_written(model: Model, name: str) -> Element:
    """The element in the units of the model."""
    return (model.written or model).elements.get(name, model.elements[name])


def _text(element: Any) -> str:
    return element.measure if isinstance(element.measure, str) else element.measure.text


def effort_channels(view: ResultsInUnits, columns: Columns) -> Iterator[dict[str, Any]]:
    """What drivers and springs must deliver."""
    results = view.in_si
    for name, element in results.model.elements.items():
        if isinstance(element, Driver | Spring) and _is_known(results, name):
            yield _plain(view, f"{name}.effort", name, columns)
            yield _plain(view, f"{name}.power", name, columns)


def _is_known(results: Results, name: str) -> bool:
    """Whether the effort of a driver or a spring follows from the results."""
    if results.system.missing_law is not None or not has_effort(results, name):
        return False
    return results.lam is not None or not isinstance(results.model.elements[name], Joint)


def formula_channels(view: ResultsInUnits, columns: Columns) -> Iterator[dict[str, Any]]:
    """The formulas that the model names."""
    for name in view.in_si.model.formulas:
        yield _plain(view, name, "formulas", columns)


def asked_channels(
    view: ResultsInUnits, names: Sequence[str], known: Sequence[dict[str, Any]], columns: Columns
) -> Iterator[dict[str, Any]]:
    """Measures and other channels of the results that were asked for: "distance(a, b)", "rod.at(1, 0).x"."""
    there = {one["name"] for one in known}
    for name in names:
        if name not in there and "(" in name:
            yield _plain(view, name, "measures", columns)


def energy_channels(view: ResultsInUnits, columns: Columns) -> Iterator[dict[str, Any]]:
    energy = known_energy(view.in_si)
    if energy is not None:
        for part, values in zip(energy._fields, energy, strict=True):
            yield channel(f"energy.{part}", view.units.shown("J"), "energy", column=columns.add(values))


def _plain(view: ResultsInUnits, name: str, group: str, columns: Columns) -> dict[str, Any]:
    try:
        unit = view.shown_unit(name)
    except ModelError:
        unit = NO_UNIT
    return channel(name, unit, group, column=columns.add(view.in_si[name]))
