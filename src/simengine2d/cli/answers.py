"""The answers of the commands as plain data, for --json. Numbers are in SI units and radians, not rounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..analyses.assembly.assemble import Assembly
from ..analyses.assembly.assembly_modes import AssemblyModes
from ..analyses.assembly.diagnose import Diagnosis
from ..analyses.inverse.actuators import movers
from ..analyses.linear.modes import Modes
from ..analyses.statics.equilibrium import Equilibria
from ..model.attachment import sides_in_words, slides_along
from ..model.resolved import ResolvedModel
from ..numerics.arrays import Floats
from ..results.actuator_effort import has_effort
from ..results.energy import energy_drift, known_energy
from ..results.named_channels import COORDINATES, energy_channels
from ..results.peaks import peak_of, rms
from ..results.results import Results
from .summary import has_forces

Data = dict[str, Any]


def of_model(resolved: ResolvedModel, q: Floats) -> Data:
    """The bodies in the pose q, the joints, the forces."""
    model = resolved.model
    poses = of_poses(list(model.bodies), q)
    return {
        "model": model.name,
        "bodies": {
            name: {"mass": body.mass, "inertia": body.inertia} | poses[name]
            for name, body in resolved.bodies.items()
            if name in poses
        },
        "joints": {name: _joint(resolved, name) for name in resolved.rows},
        "forces": {
            name: {"type": type(force).__name__, "on": sides_in_words(force, resolved)}
            for name, force in model.forces.items()
        },
    }


def _joint(resolved: ResolvedModel, name: str) -> Data:
    joint = resolved.model.elements[name]
    return {
        "type": type(joint).__name__,
        "between": sides_in_words(joint, resolved),
        "equations": [row.label for row in resolved.rows[name]],
        "slides_along": slides_along(joint, resolved) or None,
    }


def of_poses(bodies: list[str], q: Floats) -> dict[str, Data]:
    return {
        name: dict(zip(COORDINATES, pose.tolist(), strict=True))
        for name, pose in zip(bodies, q.reshape(-1, 3), strict=True)
    }


def of_assembly(assembly: Assembly) -> Data:
    return {
        "t": assembly.t,
        "iterations": assembly.iterations,
        "largest_gap": assembly.residual,
        "moved": {name: {"by": by, "turned": turned} for name, (by, turned) in assembly.moved.items()},
        "notes": assembly.notes,
    }


def of_diagnosis(diagnosis: Diagnosis) -> Data:
    return {
        "coordinates": diagnosis.coordinates,
        "equations": diagnosis.equations,
        "rank": diagnosis.rank,
        "mobility": diagnosis.mobility,
        "mobility_by_count": diagnosis.mobility_by_count,
        "redundant": diagnosis.redundant,
        "singular": diagnosis.singular,
        "isolated": diagnosis.isolated,
        "free": diagnosis.free,
        "dependent": [{"equations": each.names, "permanent": each.permanent} for each in diagnosis.dependent],
    }


def of_assemblies(assemblies: AssemblyModes) -> Data:
    bodies = list(assemblies.model.bodies)
    return {
        "model": assemblies.model.name,
        "t": assemblies.t,
        "driver": assemblies.driver,
        "value": assemblies.value,
        "random_starts": assemblies.starts,
        "assemblies": [
            {
                "description": mode.description,
                "bodies": of_poses(bodies, mode.q),
                "range": None if mode.range is None else vars(mode.range),
            }
            for mode in assemblies
        ],
    }


def of_motion(results: Results) -> Data:
    """Status, verdict and work; how far and how fast each body went; the forces that this takes."""
    data = {
        "model": results.model.name,
        "analysis": results.analysis,
        "status": results.status,
        "method": results.method,
        "points": results.t.size,
        "t": [results.t[0], results.t[-1]] if results.t.size else [],
        "verdict": {"word": results.verdict.word, "reasons": results.verdict.reasons},
        "notes": results.notes,
        "residuals": results.residuals,
        "work": results.statistics,
        "events": [event._asdict() for event in results.events],
    }
    if results.t.size:
        data["bodies"] = {name: _course(results, name) for name in results.bodies}
    return data | (of_forces(results) if has_forces(results) else {})


def _course(results: Results, body: str) -> Data:
    """Lowest and highest value of each coordinate, largest speed and acceleration."""
    spans = {c: _span(results[f"{body}.{c}"]) for c in COORDINATES}
    speed, acceleration = (
        np.hypot(results[f"{body}.x{rate}"], results[f"{body}.y{rate}"]) for rate in ("d", "dd")
    )
    return spans | {
        "max_speed": peak_of(results.t, speed).value,
        "max_acceleration": peak_of(results.t, acceleration).value,
    }


def _span(values: Floats) -> list[float]:
    return [float(values.min()), float(values.max())]


def of_forces(results: Results) -> Data:
    """What the actuators must give, what the joints carry, and where the energy is at the end."""
    actuators = [name for name in movers(results.system) if has_effort(results, name)]
    energies = energy_channels(results) if known_energy(results) is not None else []
    return {
        "energy": {name.removeprefix("energy."): results[name][-1] for name in energies}
        | {"drift": energy_drift(results)},
        "actuators": {name: _effort(results, name) for name in actuators},
        "joints": {name: _load(results, name) for name in results.resolved.rows if name not in actuators},
    }


def _effort(results: Results, name: str) -> Data:
    effort, power, energy = (results[f"{name}.{part}"] for part in ("effort", "power", "energy"))
    return {
        "largest_effort": peak_of(results.t, np.abs(effort)).value,
        "rms_effort": rms(results.t, effort),
        "peak_power": peak_of(results.t, np.abs(power)).value,
        "energy": energy[-1],
    }


def _load(results: Results, name: str) -> Data:
    fx, fy, torque = results.reaction(name)
    return {
        "largest_force": peak_of(results.t, np.hypot(fx, fy)).value,
        "largest_torque": peak_of(results.t, np.abs(torque)).value,
    }


def of_equilibria(equilibria: Equilibria) -> Data:
    results = equilibria.results
    return {
        "model": results.model.name,
        "status": results.status,
        "notes": results.notes,
        "equilibria": [
            {
                "stability": each.stability[0].verdict,
                "lowest_stiffness" if each.stability[0].by_stiffness else "growth_rate": each.stability[
                    0
                ].value,
                "bodies": of_poses(results.bodies, each.q),
                "joints": {name: _at_rest(each.results, name) for name in results.resolved.rows},
            }
            for each in equilibria
        ],
    }


def _at_rest(results: Results, name: str) -> Mapping[str, float]:
    reaction = results.reaction(name)
    return {part: float(values[0]) for part, values in reaction._asdict().items()}


def of_modes(modes: Modes) -> Data:
    return {
        "model": modes.model.name,
        "notes": modes.notes,
        "modes": [
            {
                "frequency": modes.frequency[i],
                "omega": modes.omega[i],
                "damping": modes.damping[i],
                "shape": {name: [v.real, v.imag] for name, v in modes.shape(i).items()},
            }
            for i in range(len(modes))
        ],
    }
