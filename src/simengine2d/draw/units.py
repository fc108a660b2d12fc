"""Units of channels: SI, and radians."""

from __future__ import annotations

from ..model.elements import MeasureForce
from ..results.results import Results

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
}
MEASURES = {"angle": "rad", "direction": "rad", "misalignment": "1", "half_distance2": "m²"}
"""Units of measures; all others are lengths."""


def unit_of(results: Results, channel: str) -> str:
    """The unit of a channel such as "crank.phid", "spring.force" or "distance(a, b)"; "" where it has none."""
    if "(" in channel:
        kinds = {term.kind for term in results.resolved.measure(channel).terms}
        units = {MEASURES.get(kind, "m") for kind in kinds}
        return units.pop() if len(units) == 1 else ""
    name, _, quantity = channel.rpartition(".")
    if quantity in ("force", "effort"):
        return _unit_of_effort(results, name)
    return UNITS.get(quantity, "")


def _unit_of_effort(results: Results, name: str) -> str:
    """Newtons for what acts on a length, newton meters for what acts on an angle."""
    loads = [load for owner, load in results.system.loads if owner == name]
    measures = [load.measure for load in loads if isinstance(load, MeasureForce) and load.formula is None]
    measures += [row.measure for row in results.resolved.rows.get(name, ()) if row.formula is None]
    units = {MEASURES.get(term.kind, "m") for measure in measures for term in measure.terms}
    return "N" if units == {"m"} else "N m" if units == {"rad"} else ""
