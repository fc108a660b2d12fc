"""The descriptor form of a linearization: all coordinates, velocities and multipliers as states.

[ 1  0  0 ]      [ q   ]   [  0    1     0     ] [ q   ]   [ 0 ]
[ 0  M  0 ] d/dt [ qd  ] = [ -K   -C  -Phi_q^T ] [ qd  ] + [ B ] u
[ 0  0  0 ]      [ lam ]   [ Phi_q 0     0     ] [ lam ]   [ 0 ]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...answer import Answer
from ...errors import listed
from ...numerics.arrays import Floats
from .inputs import InputDirection, input_matrix
from .outputs import output_rows
from .variation import Variation


@dataclass(frozen=True, repr=False)
class Descriptor(Answer):
    """E dx/dt = A x + B u, y = C x + D u with names."""

    E: Floats
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    states: list[str]
    inputs: list[str]
    outputs: list[str]

    def __str__(self) -> str:
        lines = [f"E dx/dt = A x + B u, y = C x + D u with {len(self.states)} states"]
        parts = (("states", self.states), ("inputs", self.inputs), ("outputs", self.outputs))
        return "\n".join(lines + [f"{what}: {listed(names)}" for what, names in parts])


def descriptor(v: Variation, pushes: dict[str, InputDirection], outputs: list[str]) -> Descriptor:
    """About the state of a variation."""
    system, n, m = v.system, v.system.n, v.system.m
    positions, velocities, multipliers = slice(0, n), slice(n, 2 * n), slice(2 * n, 2 * n + m)
    one, J, B = np.eye(2 * n + m), system.Phi_q(v.t, v.q), input_matrix(system.model, pushes, v.q)
    E, A = np.zeros_like(one), np.zeros_like(one)
    E[positions, positions], E[velocities, velocities] = np.eye(n), system.M()
    A[positions, velocities] = np.eye(n)
    A[velocities, positions], A[velocities, velocities] = -v.stiffness, -v.damping
    A[velocities, multipliers], A[multipliers, positions] = -J.T, J
    names = system.coordinate_names
    C = output_rows(v, outputs, (one[positions], one[velocities], None, one[multipliers]))
    return Descriptor(
        E,
        A,
        np.vstack([np.zeros_like(B), B, np.zeros((m, B.shape[1]))]),
        C,
        np.zeros((len(outputs), B.shape[1])),
        [*names, *(f"{name}d" for name in names), *(f"lam of {name}" for name in system.row_names)],
        list(pushes),
        outputs,
    )
