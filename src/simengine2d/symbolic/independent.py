"""Independent coordinates of a symbolic system: the others follow from them by the constraints.

    qd = R zd + s,      R^T M R zdd = R^T (QA - M c),      qdd = R zdd + c

The state holds all coordinates; which of them are independent is chosen again after each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analyses.velocity_transformation import independent_columns, matrix_of_motions, particular_motion
from ..errors import ConvergenceError, ModelError
from ..formulations.partition import MatrixR, Partitioning
from ..numerics.arrays import Floats

if TYPE_CHECKING:
    from .states import ConsistentState

MOST_ITERATIONS = 25
STEEPEST = 10.0  # velocity of a dependent coordinate, against that of an independent one
CLOSED = 1e-14  # change of positions, relative to their size


class IndependentMotion:
    """The rates of all coordinates from the independent ones; `solves_positions` also within a step."""

    def __init__(self, state: ConsistentState, posed: MatrixR | Partitioning) -> None:
        self.numeric, self.names = state.system.numeric, state.system.coordinate_names
        self.solves_positions = isinstance(posed, Partitioning)
        self.asked = posed.independent.split() if isinstance(posed, MatrixR) else []
        self.choose(state.t, state.q, state.qd)

    def choose(self, t: float, q: Floats, qd: Floats) -> None:
        """Those asked for where no other coordinate moves much faster than they do, else the best conditioned.

        Masses make velocities of different kinds comparable.
        """
        diagonal = np.diag(self.numeric.M(t, q, qd))
        weight = np.sqrt(np.where(diagonal > 0.0, diagonal, diagonal.max() or 1.0))
        Phi_q = self.numeric.Phi_q(t, q, qd) / weight
        if self.asked:
            self.independent = independent_columns(Phi_q, self.names, self.asked)
            try:
                if np.abs(matrix_of_motions(Phi_q, self.independent, self.names)).max() <= STEEPEST:
                    return
            except ModelError:  # not independent in this pose
                pass
        self.independent = independent_columns(Phi_q, self.names, None)

    def rates(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """qd and qdd"""
        f = self.numeric
        q, qd = self._completed(t, q, qd) if self.solves_positions else (q, self._velocities(t, q, qd))
        M, Phi_q = f.M(t, q, qd), f.Phi_q(t, q, qd)
        R = matrix_of_motions(Phi_q, self.independent, self.names)
        c = particular_motion(Phi_q, f.gamma(t, q, qd), self.independent, self.names)
        zdd = np.linalg.solve(R.T @ M @ R, R.T @ (f.QA(t, q, qd) - M @ c))
        return qd, R @ zdd + c

    def corrected(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """A state on the constraints, after a step."""
        self.choose(t, q, qd)
        return self._completed(t, q, qd)

    def _completed(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """Dependent positions by Newton's method, then velocities."""
        for _ in range(MOST_ITERATIONS):
            Phi_q, Phi = self.numeric.Phi_q(t, q, qd), self.numeric.Phi(t, q, qd)
            change = particular_motion(Phi_q, -Phi, self.independent, self.names)
            q = q + change
            if np.abs(change).max(initial=0.0) <= CLOSED * max(1.0, np.abs(q).max()):
                return q, self._velocities(t, q, qd)
        raise ConvergenceError(
            f"at t = {t:g} s the dependent coordinates do not follow from "
            f"{', '.join(self.names[j] for j in self.independent)}; take smaller steps, or formulation='projection'."
        )

    def _velocities(self, t: float, q: Floats, qd: Floats) -> Floats:
        """R zd + s"""
        Phi_q, nu = self.numeric.Phi_q(t, q, qd), self.numeric.nu(t, q, qd)
        R = matrix_of_motions(Phi_q, self.independent, self.names)
        return np.asarray(
            R @ qd[self.independent] + particular_motion(Phi_q, nu, self.independent, self.names)
        )
