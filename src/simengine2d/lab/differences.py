"""How far two motions of one mechanism are apart.

Positions are compared in lengths of the mechanism and in radians; velocities, accelerations and reactions against the
largest of their kind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Floats
from ..results.results import Results

QUANTITIES = ("q", "qd", "qdd", "reactions")


class ComparedMotion(NamedTuple):
    """What is compared, without units: one row per time."""

    q: Floats
    qd: Floats
    qdd: Floats
    reactions: Floats


def motion_of(results: Results, sizes: ComparedMotion | None = None) -> ComparedMotion:
    """A motion in units of the mechanism; with `sizes`, in those of another motion."""
    L = results.system.sizes
    motion = ComparedMotion(results.q / L, results.qd / L, results.qdd / L, unique_reactions(results))
    return motion if sizes is None else ComparedMotion(*(a / b for a, b in zip(motion, sizes, strict=True)))


def sizes_of(motion: ComparedMotion) -> ComparedMotion:
    """The largest entry of each quantity; positions are lengths of the mechanism already."""
    largest = [np.abs(array).max(initial=0.0) or 1.0 for array in motion[1:]]
    return ComparedMotion(*(np.array(size) for size in (1.0, *largest)))


def unique_reactions(results: Results) -> Floats:
    """Forces, and torques by the length of the mechanism, of the joints whose reactions are unique."""
    joints = dict.fromkeys(owner for owner, _ in results.system.rows)
    columns = [np.zeros((0, results.t.size))]
    for name in joints:
        if name not in results.non_unique:
            fx, fy, torque = results.reaction(name)
            columns.append(np.array([fx, fy, torque / results.system.length]))
    return np.vstack(columns).T


def differences(motion: ComparedMotion, wanted: ComparedMotion) -> dict[str, float]:
    """The largest difference in each quantity."""
    pairs = zip(QUANTITIES, motion, wanted, strict=True)
    return {name: float(np.abs(a - b).max(initial=0.0)) for name, a, b in pairs}


def constraint_drift(results: Results) -> dict[str, float]:
    """Largest errors at the outputs: |Phi|, |Phi_q qd - nu| and |Phi_q qdd - gamma|."""
    system, largest = results.system, np.zeros(3)
    for t, q, qd, qdd in zip(results.t, results.q, results.qd, results.qdd, strict=True):
        Phi_q = system.Phi_q(t, q)
        errors = system.Phi(t, q), Phi_q @ qd - system.nu(t, q), Phi_q @ qdd - system.gamma(t, q, qd)
        largest = np.maximum(largest, [np.abs(error).max(initial=0.0) for error in errors])
    return dict(zip(("position", "velocity", "acceleration"), largest.tolist(), strict=True))
