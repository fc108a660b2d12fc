"""A linkage at a glance: mobility, Grashof classes, circuits with the ranges of the input, transmission angles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...answer import Answer, Part, Rows
from ...errors import SimEngineError
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from ..assembly.diagnose import undriven_mobility
from .circuits import Circuit, Circuits, circuits
from .free_motion import shown
from .grashof import GrashofClass, grashof_classes
from .transmission import ForceLine, driven_links

SECTIONS, GOLDEN = 40, 0.6180339887498949


@dataclass(frozen=True, repr=False)
class TransmissionSpan(Answer):
    """Least and greatest transmission angle of a driven link over the circuit of the model."""

    body: str
    joint: str
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.body} at {self.joint}: {shown(self.low, 'rad')} to {shown(self.high, 'rad')}"


@dataclass(frozen=True, repr=False)
class LinkageSummary(Answer):
    """What is known about a linkage from its geometry."""

    model: Model
    mobility: int | None
    """Free motions without the drivers."""
    mobility_by_count: int
    """Gruebler's count."""
    loops: list[GrashofClass]
    circuits: Circuits
    transmission: list[TransmissionSpan]

    def rows(self) -> list[list[str]]:
        """The table: what, and its value."""
        rows = [["mobility", f"{self.mobility} (by count {self.mobility_by_count})"]]
        for loop in self.loops:
            rows.append([loop.lengths.name, f"{loop.sums}: class {loop.kind}, {loop.type}"])
        rows.append(["input", self.circuits.driver])
        for i, modes, span, ends in self.circuits.rows():
            rows.append([f"circuit {i}, assembly {modes}", f"{span}{f' ({ends})' if ends else ''}"])
        for each in self.transmission:
            low, high = shown(each.low, "rad"), shown(each.high, "rad")
            rows.append([f"transmission angle of {each.body}", f"{low} to {high}"])
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in SI units and radians."""
        return {
            "model": self.model.name,
            "mobility": self.mobility,
            "mobility_by_count": self.mobility_by_count,
            "loops": [_loop(loop) for loop in self.loops],
            "input": self.circuits.driver,
            "assemblies": len(self.circuits.assemblies),
            "circuits": [_circuit(circuit) for circuit in self.circuits],
            "transmission": [vars(each) for each in self.transmission],
        }

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(row[0]) for row in rows)
        return "\n".join([self.model.name, *(f"{what:{width}}  {value}" for what, value in rows)])

    def _parts(self) -> Iterator[Part]:
        yield self.model.name
        yield Rows(["", ""], self.rows(), 2)


def linkage_summary(model: Model, *, driver: str | None = None) -> LinkageSummary:
    """Mobility, Grashof classes of the loops, circuits with ranges of the input, and transmission angles of a model."""
    system = System(model)
    found = circuits(model, driver=driver)
    drivers = system.driver_rows.size
    return LinkageSummary(
        model,
        undriven_mobility(system, 0.0),
        system.n - system.m + int(drivers),
        grashof_classes(model),
        found,
        [
            _span(found[0], body, joint)
            for body, joint in driven_links(model, system)
            if _acts(found[0], body, joint)
        ],
    )


def _span(circuit: Circuit, body: str, joint: str) -> TransmissionSpan:
    """Over the circuit of the model's own assembly."""
    line = ForceLine(circuit._space.system, body, joint)
    angles = line.angles(np.zeros(len(circuit.q)), circuit.q)
    low, high = (_extreme(circuit, line, angles, sign) for sign in (1.0, -1.0))
    return TransmissionSpan(body, joint, low, high)


def _extreme(circuit: Circuit, line: ForceLine, angles: Floats, sign: float) -> float:
    """The least value of sign times the angle, between the points beside the least one, by golden sections."""
    points = circuit._curve.points
    k = int(np.nanargmin(sign * angles))
    start, end = points[max(0, k - 1)], points[min(len(points) - 1, k + 1)]
    best, low, high = float(sign * angles[k]), 0.0, end.arc - start.arc
    for _ in range(SECTIONS):
        inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
        there = [circuit._space.ahead(start, s) for s in inner]
        values = [sign * line.angle(0.0, point.q) if point else np.inf for point in there]
        best = min(best, *values)
        low, high = (low, inner[1]) if values[0] < values[1] else (inner[0], high)
    return sign * best


def _acts(circuit: Circuit, body: str, joint: str) -> bool:
    """Whether the joint drives the body with a force on a line."""
    try:
        return bool(np.isfinite(ForceLine(circuit._space.system, body, joint).angle(0.0, circuit.q[0])))
    except SimEngineError:
        return False


def _loop(loop: GrashofClass) -> dict[str, Any]:
    return {
        "name": loop.lengths.name,
        "lengths": dict(loop.lengths.named()),
        "short_sum": loop.short_sum,
        "long_sum": loop.long_sum,
        "class": loop.kind,
        "type": loop.type,
    }


def _circuit(circuit: Circuit) -> dict[str, Any]:
    branches = [vars(branch) for branch in circuit.branches]
    return {"assemblies": circuit.modes, "branches": branches, "change_points": len(circuit.change_points)}
