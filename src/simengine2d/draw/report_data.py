"""Facts about results for reports and notebooks, as words and numbers: verdict, reactions, model, origin."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np

from .. import __version__
from ..analyses.assembly.diagnose import diagnose
from ..answer import Rows
from ..errors import ModelError, SimEngineError, listed
from ..expressions.unit_system import UnitSystem
from ..io.model_writer import model_data
from ..model.attachment import sides_in_words
from ..model.model import Model
from ..model.resolved import ResolvedModel
from ..model.si_values import units_of
from ..results.energy import energy_drift
from ..results.peaks import peak_of, rms
from ..results.results import Results

PACKAGES = ("numpy", "scipy", "numba")
GOOD = {"position": 1e-6, "velocity": 1e-5, "acceleration": 1e-4, "energy": 1e-3, "power": 1e-3}
"""Up to here an error, relative to the size of what it belongs to, is not worth a second look."""


class Fact(NamedTuple):
    """A name, a value in words, and whether it is good (None: there is nothing to judge)."""

    name: str
    value: str
    good: bool | None = None


def verdict(results: Results) -> list[Fact]:
    """Whether the results can be trusted."""
    facts = [Fact("status", results.status), Fact("verdict", results.verdict.word, results.verdict.is_good)]
    facts += [Fact("because", reason) for reason in results.verdict.reasons]
    for level, residual in results.residuals.items():
        good = residual <= GOOD.get(level, 1e-4) * _size(results, level)
        facts.append(Fact(f"largest residual, {level}", f"{residual:.1e}", good))
    if results.lam is not None and results.analysis != "equilibrium" and results.system.missing_law is None:
        facts += _conservation(results)
        if results.non_unique:
            facts.append(Fact("reactions that are not unique", listed(results.non_unique)))
        missed = [load.name for load in loads(results) if not load.seen] if results.t.size else []
        if missed:
            facts.append(
                Fact("peaks", f"the outputs lie too far apart to show those of {listed(missed[:10])}", False)
            )
    facts += [Fact("note", note) for note in results.notes]
    return facts


def _conservation(results: Results) -> list[Fact]:
    """Energy, where it must be conserved, and power."""
    drift, balance = energy_drift(results), results.power_balance()
    facts = [Fact("power balance, relative to the largest power", f"{balance:.1e}", balance <= GOOD["power"])]
    if drift is not None:
        name = "energy, change of the total relative to what is exchanged"
        facts.append(Fact(name, f"{drift:.1e}", drift <= GOOD["energy"]))
    return facts


def _size(results: Results, level: str) -> float:
    """The reference size of a residual: a length of the mechanism, its largest velocity or acceleration."""
    array = {"velocity": results.qd, "acceleration": results.qdd}.get(level)
    return results.system.length if array is None else max(1.0, float(np.abs(array).max(initial=0.0)))


def work(results: Results) -> list[Fact]:
    return [Fact(name, str(count)) for name, count in results.statistics.items()]


def settings(results: Results) -> list[Fact]:
    """What was asked for."""
    times = results.t
    span = f"{times[0]:g} to {times[-1]:g} s, {times.size} points" if times.size else "none"
    given = {name: value for name, value in results.settings.items() if value not in (None, {}, [])}
    return [
        Fact("analysis", results.analysis or "unknown"),
        Fact("times", span),
        *(Fact(name, str(value)) for name, value in given.items()),
        *(Fact(f"parameter {name}", f"{value:.6g}") for name, value in results.resolved.parameters.items()),
    ]


def diagnosis(model: Model) -> list[str]:
    """Mobility, free motions and dependent constraints, in sentences."""
    try:
        return str(diagnose(model)).splitlines()
    except SimEngineError as error:
        return [str(error)]


class Load(NamedTuple):
    """What a joint or force does: largest and root-mean-square force and torque."""

    name: str
    kind: str
    on: str
    peak_force: float
    peak_time: float
    rms_force: float
    peak_torque: float
    rms_torque: float
    unique: bool
    seen: bool
    """Whether the outputs are near enough to show the peaks."""


def loads(results: Results) -> list[Load]:
    """The reactions of all joints and the forces of all force elements."""
    table: list[Load] = []
    for name, element in results.model.elements.items():
        if name in results.model.joints and results.lam is None:
            continue
        if name in results.model.forces and results.system.missing_law is not None:
            continue
        fx, fy, torque = results.reaction(name)
        size = np.hypot(fx, fy)
        on = [frame.body for frame in element.frames() if frame.body != "ground"][-1]
        if np.abs(torque).max(initial=0.0) <= 1e-12 * size.max(initial=0.0) * results.system.length:
            torque = np.zeros_like(torque)  # rounding
        t, force, moment = results.t, peak_of(results.t, size), peak_of(results.t, np.abs(torque))
        numbers = force.value, force.t, rms(t, size), moment.value, rms(t, torque)
        shown = name not in results.non_unique, force.seen and moment.seen
        table.append(Load(name, type(element).__name__, on, *numbers, *shown))
    return table


# The model --------------------------------------------------------------------------------------------


def body_table(resolved: ResolvedModel, units: UnitSystem | None = None) -> Rows:
    """Name, mass, inertia and drawn pose of each body, in the units of the model or in others."""
    units = units or units_of(resolved.model)
    columns = {"mass": "kg", "inertia": "kg m²", "x": "m", "y": "m", "phi": "rad"}
    shown = [units.shown(unit) for unit in columns.values()]
    heads = ["body", *(f"{name} {unit.name}" for name, unit in zip(columns, shown, strict=True))]
    bodies = [resolved.bodies[name] for name in resolved.model.bodies]
    rows = [
        [b.name, *(f"{u.of(v):.4g}" for u, v in zip(shown, (b.mass, b.inertia, *b.pose), strict=True))]
        for b in bodies
    ]
    return Rows(heads, rows)


def joint_rows(resolved: ResolvedModel) -> list[list[str]]:
    """Name, type, frames and equations of each joint."""
    return [
        [
            name,
            type(resolved.model.elements[name]).__name__,
            sides_in_words(resolved.model.elements[name], resolved),
            str(len(rows)),
        ]
        for name, rows in resolved.rows.items()
    ]


def force_rows(resolved: ResolvedModel) -> list[list[str]]:
    return [
        [name, type(force).__name__, sides_in_words(force, resolved)]
        for name, force in resolved.model.forces.items()
    ]


# The origin -------------------------------------------------------------------------------------------


def model_hash(model: Model) -> str | None:
    """SHA-256 of the model's data; None where it holds Python functions, which no file can."""
    try:
        data = model_data(model)
    except ModelError:
        return None
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8")).hexdigest()


def origin(results: Results) -> list[Fact]:
    """The model's file and hash, and the versions with which it was run."""
    fingerprint = model_hash(results.model)
    versions = [f"simengine2d {__version__}", f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package}: none")
    return [
        Fact("model file", results.model.source or "written in Python"),
        Fact("model hash (SHA-256)", fingerprint or "none: the model holds Python functions"),
        Fact("versions", ", ".join(versions)),
    ]
