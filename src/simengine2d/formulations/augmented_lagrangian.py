from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..coordinates.stages import ACCELERATION, KEPT, LEVEL, SIZE_B, VELOCITY
from ..errors import ModelError
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from .stage_iteration import StagedFormulation

MOST_PROJECTIONS = 6
HELD = 1e-13  # change at which a projection ends, against what it changes


@kernel
def corrected(st, values, size):
    """values += da; whether they stay."""
    change, greatest = 0.0, 0.0
    for j in range(values.size):
        values[j] += st.da[0, j]
        change = max(change, abs(st.da[0, j]) / size[j])
        greatest = max(greatest, abs(values[j]) / size[j])
    return change <= HELD * greatest


@kernel_pointer
def settle_augmented(c, t, y, out):
    """Project velocities, then accelerations, of the last stage; M a + Phi_z^T lam = Q stays true."""
    step, st = c.step, c.st
    last, n, m = step.t.size - 1, step.a.shape[1], step.lam.shape[1]
    st.t[0] = step.t[last]
    for j in range(n):
        st.z[0, j], st.zd[0, j], st.a[0, j] = step.z[last, j], step.zd[last, j], step.a[last, j]
    for k in range(m):
        st.lam[0, k] = step.lam[last, k]
    st.state[KEPT], st.state[SIZE_B] = 0.0, 1.0  # the matrix is the same for both
    for level in (VELOCITY, ACCELERATION):
        st.options[LEVEL] = level
        for _ in range(MOST_PROJECTIONS):
            invoke(c.evaluate_f, c.evaluate_c, t, st.state, st.state)
            for j in range(n if level == VELOCITY else 0):
                st.balance[0, j] = 0.0
            invoke(c.solve_f, c.solve_c, t, st.state, st.state)
            held = corrected(st, st.zd[0] if level == VELOCITY else st.a[0], c.size)
            for k in range(m if level == ACCELERATION else 0):
                st.lam[0, k] += st.dlam[0, k]
            if held:
                break
    for j in range(n):
        step.zd[last, j], step.a[last, j] = st.zd[0, j], st.a[0, j]
    for k in range(m):
        step.lam[last, k] = st.lam[0, k]


@dataclass(frozen=True)
class AugmentedLagrangian(StagedFormulation):
    """Index 3 by penalties with multipliers that take over their forces, then projections onto the constraints' rates.

        (M + b K + c D + Phi_z^T alpha S^-1 Phi_z) da = -(M a + Phi_z^T lam - Q) - Phi_z^T alpha (b S)^-1 Phi
        lam += alpha (b S)^-1 (Phi + b Phi_z da)

    until nothing changes, so that the penalty leaves no force in the result; then, at the end of the step,

        (M + Phi_z^T alpha S^-1 Phi_z) zd = M zd* + Phi_z^T alpha S^-1 nu
        (M + Phi_z^T alpha S^-1 Phi_z) a  = M a*  + Phi_z^T alpha S^-1 gamma

    With dlam among the unknowns, these are the equations of index 3 whose constraints have the compliance S / alpha.

    S, the diagonal of Phi_z M^-1 Phi_z^T, makes alpha a pure number: the mass of the penalty relative to the effective
    mass of a constraint; S is smaller where a light body carries a heavy one. The matrix is always regular.

    Cuadrado, Cardenal & Bayo, Multibody System Dynamics 1 (1997) 259-280.
    """

    name: ClassVar[str] = "augmented_lagrangian"
    settle = settle_augmented
    soft: ClassVar[bool] = True
    keeps_factors: ClassVar[bool] = False  # a penalty on earlier gradients would hinder the motion itself
    holds_velocities: ClassVar[bool] = True
    alpha: float = 1e6

    def __post_init__(self) -> None:
        if not 1.0 <= self.alpha <= 1e12:
            raise ModelError(f"augmented_lagrangian needs alpha from 1 to 1e12, not {self.alpha}.")

    def compliances(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        return given / self.alpha
