"""From a model to its equations."""

from __future__ import annotations

import sympy as sp

from ..coordinates.base import asked_for
from ..coordinates.reference_point.reference_point import ReferencePoint
from ..errors import ModelError, UnsupportedError
from ..methods import ChosenCoordinates
from ..model.formula import VELOCITY
from ..model.model import Model
from ..system.system import System
from .bodies import BodySymbols
from .calculus import MotionEquations
from .equations import Equations, Names, SymbolValues
from .families import closed_family, in_family
from .forces import applied_forces
from .frames import SymbolicFrames
from .letters import Letter
from .symbols import notation_named


def equations_of(model: Model, coordinates: ChosenCoordinates, notation: str, numbers: bool) -> Equations:
    """See `Model.equations`."""
    system = System(model)
    if system.n == 0:
        raise ModelError(f"model '{model.name}' has no bodies; add one with model.body(...).")
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    notation_named(notation)
    reference = asked_for(coordinates)[0] is ReferencePoint
    bodies = BodySymbols(system, shown=reference)
    frames = SymbolicFrames(bodies)
    core = equations_of_bodies(bodies, frames)
    names = names_of(system, system.coordinate_names, system.row_names)
    if not reference:
        family = closed_family(system, coordinates)
        core = in_family(bodies, frames, family, core)
        names = names_of(system, family.names, family.row_names)
    equations = Equations(core, names, SymbolValues(bodies.table, bodies.of_time, bodies.python), notation)
    return equations.with_numbers() if numbers else equations


def equations_of_bodies(bodies: BodySymbols, frames: SymbolicFrames) -> MotionEquations:
    """In reference-point coordinates."""
    masses = zip(bodies.masses, bodies.inertias, strict=True)
    M = sp.diag(*(part for m, J in masses for part in (m, m, J)))
    rows = [(joint, row.label) for joint, row in bodies.system.rows]
    lam = [
        bodies.table.new(f"lambda_{joint}_{label}", Letter("lambda", label, joint))
        if bodies.shown
        else sp.Dummy()
        for joint, label in rows
    ]
    symbols = (bodies.q, bodies.qd, bodies.qdd, lam)
    Phi, rates = constraints(bodies, frames)
    return MotionEquations(symbols, bodies.t, M, applied_forces(bodies, frames), Phi, rates)


def constraints(bodies: BodySymbols, frames: SymbolicFrames) -> tuple[sp.Matrix, dict[int, sp.Expr]]:
    """Phi = sum_k w_k s_k - f(t), or a formula, row by row; and the formulas of velocities, whose Phi is 0."""
    rows, rates = [], {}
    for i, (joint, row) in enumerate(bodies.system.rows):
        if row.formula is not None:
            held = frames.formula(row.formula)
            if row.formula.level == VELOCITY:
                held, rates[i] = sp.Integer(0), held
        else:
            measured = frames.up_to_turns if row.measure.period else frames.measure
            held = measured(row.measure, joint) - bodies.function(bodies.system.functions[i], joint)
        rows.append(held)
    return sp.Matrix(len(rows), 1, rows), rates


def names_of(system: System, coordinates: list[str], rows: list[str]) -> Names:
    """Coordinates by body, point or joint; rows by joint, or by body where they keep it rigid."""
    groups, joints = _by_owner(coordinates), _by_owner(rows)
    elements, bodies = system.model.elements, system.model.bodies
    kinds = {owner: "Body" if owner in bodies else _kind(coordinates[groups[owner][0]]) for owner in groups}
    return Names(
        title=system.model.name,
        coordinates=list(coordinates),
        groups=groups,
        group_titles={owner: f"{kind} '{owner}'" for owner, kind in kinds.items()},
        rows=list(rows),
        joints=joints,
        joint_titles={o: elements[o].title if o in elements else f"Rigid body '{o}'" for o in joints},
    )


def _kind(coordinate: str) -> str:
    """Points have positions, joints have angles and displacements."""
    return "Point" if coordinate.endswith((".x", ".y")) else "Joint"


def _by_owner(names: list[str]) -> dict[str, list[int]]:
    """Numbers of the names that begin with the same word."""
    rows: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        rows.setdefault(name.partition(".")[0], []).append(i)
    return rows
