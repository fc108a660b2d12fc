"""Payload: results as the player in a browser receives them: scenes as plain data, numbers as columns in base64.

Times are 64-bit floats, everything else 32-bit, column by column. There are never more rows than a smooth motion
needs, and never more numbers than a file of 5 MB holds: then rows are left out evenly, and after them channels.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ..model.frame import GROUND
from ..results.in_units import ResultsInUnits
from ..results.named_channels import COORDINATES, ORDERS
from ..results.pictures import PicturedResults
from ..results.results import Results
from .marks import Arrow, Mark, Spot, Stretched, Trace
from .player_channels import (
    Columns,
    asked_channels,
    body_channels,
    effort_channels,
    energy_channels,
    force_channels,
    formula_channels,
    measure_channels,
)
from .scene import Scene, scene_of
from .style import ink_class

MOST_ROWS = 10_000
FEWEST_ROWS = 300
MOST_NUMBERS = 860_000  # in base64, 4.6 MB


def base64(values: Any) -> str:
    return b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def payload(
    shown: PicturedResults,
    label: str,
    trace: Sequence[str] = (),
    most_rows: int = MOST_ROWS,
    asked: Sequence[str] = (),
) -> dict[str, Any]:
    """One result for the player; `asked` are channels that it must have, among them measures."""
    results, units = shown.in_si, shown.shown.units
    verdict = results.verdict
    doubts = [] if verdict.is_good else [f"{verdict.word}: {reason}" for reason in verdict.reasons]
    full = 9 * len(results.bodies) + 6 * len(results.model.elements) + 3
    is_large = full * FEWEST_ROWS > MOST_NUMBERS
    width = 3 * len(results.bodies) if is_large else full
    thinned, notes = _thinned(results, min(most_rows, max(FEWEST_ROWS, MOST_NUMBERS // max(width, 1))))
    if is_large:
        thinned = replace(thinned, lam=None)
        notes.append("velocities, accelerations and reactions are left out, so that the page stays small")
    scene = scene_of(thinned, trace)
    return _scene_data(scene, thinned.in_units(**asdict(units)), 1 if is_large else 3, asked) | {
        "name": results.model.name,
        "label": label,
        "status": f"{results.status}; {verdict.word}" if results.analysis else results.status,
        "notes": [str(note) for note in (*doubts, *results.notes, *scene.notes, *notes)],
    }


def _scene_data(scene: Scene, view: ResultsInUnits, orders: int, asked: Sequence[str]) -> dict[str, Any]:
    """The scene, and the columns of everything that moves; all numbers are in SI units, with units to show them."""
    columns, results, units = Columns(), view.in_si, view.units
    known = _body_columns(results, orders, columns)
    number = {name: i for i, name in enumerate(scene.motion.poses)}
    arrows = [_arrow(arrow, scene, number, columns) for arrow in scene.arrows]
    weights = [_weight(arrow, number) for arrow in scene.requested(["weight"])]
    channels = [
        *body_channels(view, known),
        *force_channels(scene.arrows, arrows, units),
        *energy_channels(view, columns),
    ]
    if orders > 1:  # otherwise the page is large already
        channels += [*effort_channels(view, columns), *formula_channels(view, columns)]
    channels += measure_channels(view, number)
    channels += asked_channels(view, asked, channels, columns)
    return {
        "size": _rounded(scene.size),
        "bounds": [_rounded(v) for v in scene.bounds_with_forces],
        "units": {unit: list(units.shown(unit)) for unit in ("m", "rad", "m/s", "m/s²", "N", "N m")},
        "forceScale": scene.force_scale,
        "torqueScale": scene.torque_scale,
        "carriers": [_carrier(name, scene, known, columns) for name in scene.motion.poses],
        "marks": [_mark(mark, number) for mark in scene.marks],
        "labels": list(_labels(scene, number)),
        "arrows": [*arrows, *weights],
        "points": _points(scene, results, number),
        "centers": [_mark(mark, number) for mark in scene.centers],
        "bodies": results.bodies,
        "inks": {name: ink_class(scene.inks[name]) for name in results.bodies},
        "channels": channels,
        "t": base64(results.t.astype("<f8")),
        "columns": base64(np.array(columns.arrays, dtype="<f4")),
    }


def _thinned(results: Results, rows: int) -> tuple[Results, list[str]]:
    """At most so many rows, evenly chosen, and a sentence that says so."""
    if results.t.size <= rows:
        return results, []
    rows_shown = np.unique(np.linspace(0, results.t.size - 1, rows).round().astype(int))
    return results.at_rows(rows_shown), [f"shown are {rows_shown.size} of {results.t.size} times"]


# Columns ----------------------------------------------------------------------------------------------


def _body_columns(results: Results, orders: int, columns: Columns) -> dict[str, int]:
    """x, y, phi of every body and their derivatives, by channel."""
    arrays = (results.q, results.qd, results.qdd)[:orders]
    return {
        f"{body}.{coordinate}{order}": columns.add(array[:, 3 * i + c])
        for array, order in zip(arrays, ORDERS, strict=False)
        for i, body in enumerate(results.bodies)
        for c, coordinate in enumerate(COORDINATES)
    }


def _carrier(name: str, scene: Scene, known: dict[str, int], columns: Columns) -> dict[str, Any]:
    """Where the columns of a pose are, and those of its rates."""
    if name == GROUND:
        return {"name": name}
    if f"{name}.x" not in known:
        pose, rate = scene.motion.poses[name].T, scene.motion.rates[name].T
        return {"name": name, "pose": [columns.add(c) for c in pose], "rate": [columns.add(c) for c in rate]}
    carrier: dict[str, Any] = {"name": name, "pose": [known[f"{name}.{c}"] for c in COORDINATES]}
    if f"{name}.xd" in known:
        carrier["rate"] = [known[f"{name}.{c}d"] for c in COORDINATES]
        carrier["second"] = [known[f"{name}.{c}dd"] for c in COORDINATES]
    return carrier


# Scene ------------------------------------------------------------------------------------------------


def _mark(mark: Mark, number: dict[str, int]) -> dict[str, Any]:
    data: dict[str, Any] = {"ink": ink_class(mark.ink), "name": mark.name, "area": mark.area}
    data["paths"] = [[_rounded(v) for v in np.asarray(path).ravel()] for path in mark.paths]
    if isinstance(mark, Stretched):
        a, b = mark.a, mark.b
        return data | {"ends": [number[a.carrier], a.x, a.y, number[b.carrier], b.x, b.y]}
    return data | {"carrier": number[mark.carrier]}


def _labels(scene: Scene, number: dict[str, int]) -> Iterator[dict[str, Any]]:
    for label in scene.labels:
        yield _place(label.spot, number) | {
            "text": label.text,
            "ink": ink_class(label.ink),
            "gap": _rounded(label.gap),
            "clear": [[number[spot.carrier], spot.x, spot.y] for spot in label.clear],
            "above": label.above,
            "pin": label.is_pin,
        }


def _arrow(arrow: Arrow, scene: Scene, number: dict[str, int], columns: Columns) -> dict[str, Any]:
    parts = [columns.add(part) for part in (arrow.fx, arrow.fy, arrow.torque)]
    largest = np.nan_to_num(np.hypot(arrow.fx, arrow.fy)).max(initial=0.0)
    sizes = {"radius": _rounded(scene.arc_radius(arrow)), "largest": _rounded(float(largest))}
    return _acting(arrow, number) | {"columns": parts} | sizes


def _weight(arrow: Arrow, number: dict[str, int]) -> dict[str, Any]:
    parts = arrow.fx, arrow.fy, arrow.torque
    return _acting(arrow, number) | {"constant": [float(part[0]) for part in parts]}


def _acting(arrow: Arrow, number: dict[str, int]) -> dict[str, Any]:
    return _place(arrow.spot, number) | {"name": arrow.name, "on": arrow.on, "ink": ink_class(arrow.ink)}


def _place(spot: Spot, number: dict[str, int]) -> dict[str, Any]:
    return {"carrier": number[spot.carrier], "x": spot.x, "y": spot.y}


def _points(scene: Scene, results: Results, number: dict[str, int]) -> dict[str, Any]:
    """The points whose paths can be shown: those asked for, and every named point of the bodies, with its axis."""
    traces, angles = {trace.name: trace for trace in scene.traces}, {}
    for body in results.bodies:
        for point, (x, y, angle) in results.resolved.bodies[body].points.items():
            name = f"{body}.{point}"
            traces.setdefault(name, Trace(Spot(body, x, y), name, scene.inks[body]))
            angles[name] = {"angle": angle} if angle else {}
    return {
        name: _place(trace.spot, number) | {"ink": ink_class(trace.ink), "name": name} | angles.get(name, {})
        for name, trace in traces.items()
    }


def _rounded(value: float) -> float:
    """Six digits, which is less than a pixel of any screen."""
    return float(f"{value:.6g}")
