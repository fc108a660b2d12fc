"""Channels of the player: what it can plot, by name and with units, and in which columns their numbers are.

Points of bodies are not among them: the player computes these itself from the poses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..model.elements import Element, Joint
from ..model.forces.spring import Spring
from ..model.joints.driver import Driver
from ..model.measure import Measure, Term
from ..numerics.arrays import Floats
from ..results.actuator_effort import has_effort
from ..results.channels import UNITS, unit_of
from ..results.energy import known_energy
from ..results.named_channels import COORDINATES, ORDERS
from ..results.results import Results
from .marks import Arrow

MEASURES = {"distance": "m", "angle": "rad"}


class Columns:
    """Numbers of the page; each column is known by its place."""

    def __init__(self) -> None:
        self.arrays: list[Floats] = []

    def add(self, values: Floats) -> int:
        self.arrays.append(np.asarray(values, dtype=np.float32))
        return len(self.arrays) - 1


def channel(name: str, unit: str, group: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "unit": unit, "group": group} | {k: v for k, v in more.items() if v is not None}


def body_channels(results: Results, known: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Channels with the column of their rate, where there is one, for smooth curves between rows."""
    for body in results.bodies:
        for quantity in (c + order for order in ORDERS for c in COORDINATES):
            name = f"{body}.{quantity}"
            if name in known:
                yield channel(name, UNITS[quantity], body, column=known[name], rate=known.get(f"{name}d"))


def force_channels(arrows: Sequence[Arrow], data: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Components and size of reactions and applied forces."""
    for arrow, one in zip(arrows, data, strict=True):
        for part, column in zip(("fx", "fy", "torque"), one["columns"], strict=True):
            yield channel(f"{arrow.name}.{part}", UNITS[part], arrow.name, column=column)
        yield channel(f"{arrow.name}.|f|", UNITS["fx"], arrow.name, sizeOf=one["columns"][:2])


def measure_channels(results: Results, number: dict[str, int]) -> Iterator[dict[str, Any]]:
    """The distances and angles on which drivers and springs act; the player computes them from the poses."""
    for name, element in results.resolved.elements.items():
        term = _single_term(element)
        if term is not None and term.kind in MEASURES:
            ends = {side: _end(frame, number) for side, frame in (("a", term.a), ("b", term.b))}
            text = _text(results.model.elements[name])
            yield channel(
                text, MEASURES[term.kind], name, measure={"kind": term.kind, "weight": term.weight} | ends
            )


def _single_term(element: Element) -> Term | None:
    """Of the measure of a driver or a spring, where it is one and not a sum."""
    if (isinstance(element, Spring) and isinstance(element.measure, Measure)) or isinstance(element, Driver):
        terms = element.measure.terms
    else:
        return None
    return terms[0] if len(terms) == 1 else None


def _end(frame: Any, number: dict[str, int]) -> list[float]:
    return [number[frame.body], frame.x, frame.y, frame.angle]


def _text(element: Any) -> str:
    return element.measure if isinstance(element.measure, str) else element.measure.text


def effort_channels(results: Results, columns: Columns) -> Iterator[dict[str, Any]]:
    """What drivers and springs must deliver."""
    for name, element in results.model.elements.items():
        if isinstance(element, Driver | Spring) and _is_known(results, name):
            yield _plain(results, f"{name}.effort", name, columns)
            yield _plain(results, f"{name}.power", name, columns)


def _is_known(results: Results, name: str) -> bool:
    """Whether the effort of a driver or a spring follows from the results."""
    if results.system.missing_law is not None or not has_effort(results, name):
        return False
    return results.lam is not None or not isinstance(results.model.elements[name], Joint)


def formula_channels(results: Results, columns: Columns) -> Iterator[dict[str, Any]]:
    """The formulas that the model names."""
    for name in results.model.formulas:
        yield _plain(results, name, "formulas", columns)


def asked_channels(
    results: Results, names: Sequence[str], known: Sequence[dict[str, Any]], columns: Columns
) -> Iterator[dict[str, Any]]:
    """Measures and other channels of the results that were asked for: "distance(a, b)", "rod.at(1, 0).x"."""
    there = {one["name"] for one in known}
    for name in names:
        if name not in there and "(" in name:
            yield _plain(results, name, "measures", columns)


def energy_channels(results: Results, columns: Columns) -> Iterator[dict[str, Any]]:
    energy = known_energy(results)
    if energy is not None:
        for part, values in zip(energy._fields, energy, strict=True):
            yield channel(f"energy.{part}", "J", "energy", column=columns.add(values))


def _plain(results: Results, name: str, group: str, columns: Columns) -> dict[str, Any]:
    return channel(name, unit_of(results, name), group, column=columns.add(results[name]))
