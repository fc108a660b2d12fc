"""Applied forces point by point: Q = sum of C_P^T F, as the workshop writes the vector of a spring."""

from __future__ import annotations

import numpy as np

from ..coordinates.base import Family
from ..errors import ModelError, unknown
from ..model.elements import MeasureForce, Wrench
from ..model.frame import GROUND, PlacedFrame
from ..numerics.arrays import Floats
from ..results.reactions import reaction
from ..results.results import Results


def points_share(family: Family, force: str, t: float, z: Floats, zd: Floats) -> Floats:
    """The force on each body at its point of attachment; a torque goes to the angle of the body."""
    system = family.system
    if force not in system.model.forces:
        raise ModelError(f"there is no force '{force}'. {unknown('force', force, system.model.forces)}")
    rates = family.bodies(t, z, zd, np.zeros(family.n))
    q, qd, qdd = (np.array(part)[None] for part in rates)
    lam, out = np.zeros((1, system.m)), np.zeros(family.n)
    results = Results(system, np.array([t]), q, qd, qdd, lam, analysis="dynamics")
    for frame in _frames(family, force):
        acting = reaction(results, force, frame.body, frame)
        fx, fy, torque = (float(part[0]) for part in acting)
        C = family.point_matrix(z, frame.body, complex(frame.x, frame.y))
        out += C.T @ [fx, fy] + torque * _turn(family, z, frame)
    return out


def _frames(family: Family, force: str) -> list[PlacedFrame]:
    """One frame for each body on which it acts: where it is attached."""
    frames: dict[str, PlacedFrame] = {}
    for owner, load in family.system.loads:
        if owner == force and isinstance(load, Wrench):
            frames.setdefault(load.frame.body, load.frame)
        elif owner == force and isinstance(load, MeasureForce):
            for term in load.terms:
                for frame in (term.a, term.b):
                    assert isinstance(frame, PlacedFrame)
                    frames.setdefault(frame.body, frame)
    frames.pop(GROUND, None)
    return list(frames.values())


def _turn(family: Family, z: Floats, frame: PlacedFrame) -> Floats:
    """phid = (row of R) zd"""
    none, k = np.zeros(family.n), 3 * [body.name for body in family.system.bodies].index(frame.body) + 2
    rest = family.bodies(0.0, z, none, none).qd[k]
    return np.array([family.bodies(0.0, z, unit, none).qd[k] - rest for unit in np.eye(family.n)])
