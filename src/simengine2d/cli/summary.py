"""Summaries in words: what is in a model, what its constraints allow, how a motion went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from rich.console import RenderableType

from ..analyses.assembly.assemble import Assembly
from ..analyses.assembly.diagnose import Diagnosis
from ..analyses.inverse.actuators import movers
from ..expressions.unit_system import (
    ACCELERATION,
    ANGLE,
    FORCE,
    LENGTH,
    MASS,
    POWER,
    TORQUE,
    VELOCITY,
    UnitSystem,
)
from ..model.attachment import sides_in_words, slides_along
from ..model.model import Model
from ..model.resolved import ResolvedModel
from ..model.si_values import units_of
from ..model.unit_fields import INERTIA
from ..numerics.arrays import Floats
from ..results.actuator_effort import has_effort
from ..results.energy import is_conservative, known_energy
from ..results.in_units import ResultsInUnits
from ..results.peaks import peak_of, rms
from ..results.results import Results
from .terminal import LONGEST, Settings, is_wide, table

BODY_COLUMNS = {"mass": MASS, "inertia": INERTIA, "x": LENGTH, "y": LENGTH, "phi": ANGLE}
MOTION_COLUMNS = {
    "x": LENGTH,
    "y": LENGTH,
    "phi": ANGLE,
    "max speed": VELOCITY,
    "max accel.": ACCELERATION,
}
"""What the tables of bodies show."""


def model_tables(resolved: ResolvedModel, q: Floats) -> Iterator[RenderableType]:
    """The bodies in the pose q, the joints, the forces."""
    model, units = resolved.model, units_shown(resolved.model)
    columns = [f"{name}\n{units.name(of)}" for name, of in BODY_COLUMNS.items()]
    yield table("body", columns, _body_rows(resolved, q, units))
    yield ""
    if model.joints:
        rows, columns = list(_joint_rows(resolved)), ["type", "between", "equations", "slides along"]
        used = columns if any(row[-1] for row in rows) else columns[:-1]
        yield table("joint", used, [row[: len(used) + 1] for row in rows], words=used)
        yield ""
    if model.forces:
        yield table("force", ["type", "on"], _force_rows(resolved), words=["type", "on"])
        yield ""


def _body_rows(resolved: ResolvedModel, q: Floats, units: UnitSystem) -> Iterator[list[str]]:
    poses = clean(q.reshape(-1, 3))
    factors = [units.factor(of) for of in BODY_COLUMNS.values()]
    for name, pose in zip(resolved.model.bodies, poses, strict=True):
        body = resolved.bodies[name]
        numbers = zip((body.mass, body.inertia, *pose), factors, strict=True)
        yield [name, *(short(number / factor) for number, factor in numbers)]


def _joint_rows(resolved: ResolvedModel) -> Iterator[list[str]]:
    for name, rows in resolved.rows.items():
        joint = resolved.model.elements[name]
        equations = f"{len(rows)}: {', '.join(row.label for row in rows)}"
        sides, along = sides_in_words(joint, resolved), slides_along(joint, resolved)
        yield [name, type(joint).__name__, sides, equations, along]


def _force_rows(resolved: ResolvedModel) -> Iterator[list[str]]:
    for name, force in resolved.model.forces.items():
        yield [name, type(force).__name__, sides_in_words(force, resolved)]


def constraint_lines(assembly: Assembly, diagnosis: Diagnosis) -> Iterator[str]:
    """How the mechanism closes, its mobility, and what follows for an analysis."""
    yield str(assembly).splitlines()[0]
    yield from str(diagnosis).splitlines()
    yield _verdict(diagnosis)


def _verdict(diagnosis: Diagnosis) -> str:
    if diagnosis.coordinates == 0:
        return "The model has no bodies."
    if diagnosis.isolated:
        return "Nothing can move. Links are stretched out or folded completely: make one longer or shorter."
    if diagnosis.singular:
        return "In this pose the motion is not unique: kinematics cannot start from it."
    if diagnosis.mobility == 0:
        return "Every motion is prescribed: kinematics can run."
    free, missing = f"{diagnosis.mobility} motions are", f"{diagnosis.mobility} drivers are"
    if diagnosis.mobility == 1:
        free, missing = "1 motion is", "a driver is"
    return f"{free} left to the forces: dynamics can run. For kinematics {missing} missing."


def motion(results: Results) -> Iterator[RenderableType]:
    """Status, errors and notes, the work it took, how far and how fast each body went, and what the joints carry."""
    yield results.summary()
    if has_forces(results):
        yield from energy_line(results)
    work = [f"{count} {what}" for what, count in results.statistics.items() if count]
    if work:
        yield f"work: {', '.join(work)}"
    if results.t.size and results.bodies:
        units = units_shown(results.model)
        columns = [f"{name}\n{units.name(of)}" for name, of in MOTION_COLUMNS.items()]
        yield ""
        yield table("body", columns, _motion_rows(results))
    if has_forces(results):
        yield from forces(results)


def has_forces(results: Results) -> bool:
    """Whether joints carry forces over some time."""
    in_time = results.analysis in ("dynamics", "inverse_dynamics")
    return in_time and results.lam is not None and results.t.size > 0 and not results.columns_only


def energy_line(results: Results) -> Iterator[str]:
    """What was put in and dissipated, where energy is not constant."""
    view, total = view_of(results), known_energy(results)
    if total is None or is_conservative(results.system):
        return
    unit = view.unit("energy.total")
    put_in, dissipated, at_end = (
        short(view[f"energy.{part}"][-1]) for part in ("input", "dissipated", "total")
    )
    yield f"energy: {put_in} {unit} put in, {dissipated} {unit} dissipated; {at_end} {unit} at the end"


def forces(results: Results) -> Iterator[RenderableType]:
    """What the actuators must give, and what the joints carry."""
    actuators = [name for name in movers(results.system) if has_effort(results, name)]
    units = units_shown(results.model)
    power, energy = units.shown("W").name, units.shown("J").name
    if actuators:
        yield ""
        columns = ["effort", "unit", "rms", f"peak power\n{power}", f"energy\n{energy}"]
        yield table("actuator", columns, [_effort_row(results, name) for name in actuators])
    joints = [name for name in results.resolved.rows if name not in actuators]
    if joints:
        yield ""
        columns = [f"largest force\n{units.name(FORCE)}", f"largest torque\n{units.name(TORQUE)}"]
        rows = [_load_row(results, name) for name in joints[:LONGEST]]
        yield table("joint", columns, [*rows, *([name, "", ""] for name in joints[LONGEST:])])


def _effort_row(results: Results, name: str) -> list[str]:
    kinds = {term.kind for row in results.resolved.rows[name] for term in row.measure.terms}
    of = TORQUE if kinds <= {"angle", "misalignment", "direction"} else FORCE
    units = units_shown(results.model)
    unit = units.name(of)
    parts = {"effort": of, "power": POWER, "energy": TORQUE}
    effort, power, energy = (results[f"{name}.{part}"] / units.factor(of) for part, of in parts.items())
    t = results.t
    largest, peak = (_signed_peak(t, values) for values in (effort, power))
    return [name, largest, unit, short(rms(t, effort)), peak, short(energy[-1])]


def _signed_peak(t: Floats, values: Floats) -> str:
    """The value that is largest in size, with its sign."""
    sign = "-" if values.size and values[np.argmax(np.abs(values))] < 0.0 else ""
    text = peak_of(t, np.abs(values)).text
    return f"> {sign}{text[2:]}" if text.startswith(">") else sign + text


def _load_row(results: Results, name: str) -> list[str]:
    fx, fy, torque = view_of(results).reaction(name)
    force, moment = peak_of(results.t, np.hypot(fx, fy)), peak_of(results.t, np.abs(torque))
    return [name, force.text, moment.text if moment.value > 1e-12 * force.value else short(0.0)]


def _motion_rows(results: Results) -> Iterator[list[str]]:
    scale, _ = pose_scale(units_shown(results.model))
    arrays = (results.q, results.qd, results.qdd)
    q, qd, qdd = (clean(a.reshape(a.shape[0], -1, 3)) / scale for a in arrays)
    for i, name in enumerate(results.bodies):
        speed, acceleration = (peak_of(results.t, np.hypot(a[:, i, 0], a[:, i, 1])) for a in (qd, qdd))
        yield [name, *(_span(q[:, i, c]) for c in range(3)), speed.text, acceleration.text]


def units_shown(model: Model) -> UnitSystem:
    """Those of the model; with --degrees, angles in degrees."""
    units = units_of(model)
    return replace(units, angle="deg") if Settings.degrees else units


def view_of(results: Results) -> ResultsInUnits:
    """The results in the units that are shown."""
    return ResultsInUnits(results, units_shown(results.model))


def pose_scale(units: UnitSystem) -> tuple[Floats, list[str]]:
    """The units of x, y and phi in SI units, and their columns."""
    kinds = {"x": LENGTH, "y": LENGTH, "phi": ANGLE}
    return np.array([units.factor(of) for of in kinds.values()]), [
        f"{c}\n{units.name(of)}" for c, of in kinds.items()
    ]


def _span(values: Floats) -> str:
    """`-1 to 1`, in two lines where the terminal is narrow; one number where nothing moves."""
    low, high = short(values.min()), short(values.max())
    return low if low == high else f"{low}{' ' if is_wide() else chr(10)}to {high}"


def clean(values: Floats) -> Floats:
    """Lengths (x, y) and angles in the last axis, without what is only rounding about zero."""
    lengths = np.abs(values[..., :2]).max(initial=0.0)
    angles = np.abs(values[..., 2]).max(initial=0.0)
    return np.where(np.abs(values) > 1e-13 * np.array([lengths, lengths, angles]), values, 0.0)


def short(value: float) -> str:
    """Four digits."""
    return f"{value:.4g}"
