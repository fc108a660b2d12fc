from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..numerics.dense_lu import lu_factor, lu_solve
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from . import loop_state
from .integration import NONE, CompiledIntegration, fixed_rules, path_of
from .ode_method import OdeMethod, OdeTask, Stability
from .stage_newton import EXACT, ROUNDING, find_jacobian, new_stages

D = 1.0 / (2.0 + np.sqrt(2.0))
E32 = 6.0 + np.sqrt(2.0)
# entries of the memory: time of the Jacobian, and whether there is one
J_TIME, HAS_J = range(2)


@kernel
def find_derivatives(s, t, h):
    """J and df/dt at the beginning of the step; a step tried again reuses them."""
    if s.memory[HAS_J] == 1.0 and s.memory[J_TIME] == t:
        return
    find_jacobian(s, t, s.y, s.K[0], s.J[0])
    later = t + max(np.sqrt(ROUNDING) * h, 8.0 * ROUNDING * abs(t))
    invoke(s.f, s.c, later, s.y, s.F[2])
    for k in range(s.y.size):
        s.F[2, k] = (s.F[2, k] - s.K[0, k]) / (later - t)
    s.state[loop_state.EVALUATIONS] += 1.0
    s.memory[J_TIME], s.memory[HAS_J] = t, 1.0


@kernel
def factor_matrix(s, h):
    """W = I - h d J; False if it is singular."""
    n = s.y.size
    for i in range(n):
        for j in range(n):
            s.LU[i, j] = (1.0 if i == j else 0.0) - h * D * s.J[0, i * n + j]
    s.state[loop_state.FACTORIZATIONS] += 1.0
    return lu_factor(s.LU, s.pivots) > 0.0


@kernel_pointer
def try_rosenbrock_step(s, t, state, new):
    """W k_1 = f_0 + h d T;   W (k_2 - k_1) = f_1 - k_1;   y1 = y + h k_2;   error h (k_1 - 2 k_2 + k_3) / 6"""
    # rows of z are k_1, k_2, k_3; rows of F are f_1, nothing, and df/dt
    h, n, f0, ft = state[loop_state.TRIED], new.size, s.K[0], s.F[2]
    k1, k2, k3, f1, f2 = s.z[0], s.z[1], s.z[2], s.F[0], s.K[1]
    find_derivatives(s, t, h)
    if not factor_matrix(s, h):
        state[loop_state.CONVERGED] = 0.0
        return
    # k_1
    for k in range(n):
        k1[k] = f0[k] + h * D * ft[k]
    lu_solve(s.LU, s.pivots, k1)
    # k_2 and the new state
    for k in range(n):
        s.Y[0, k] = s.y[k] + 0.5 * h * k1[k]
    invoke(s.f, s.c, t + 0.5 * h, s.Y[0], f1)
    for k in range(n):
        k2[k] = f1[k] - k1[k]
    lu_solve(s.LU, s.pivots, k2)
    for k in range(n):
        k2[k] += k1[k]
        new[k] = s.y[k] + h * k2[k]
    invoke(s.f, s.c, t + h, new, f2)
    # k_3, which serves the error estimate only
    for k in range(n):
        k3[k] = f2[k] - E32 * (k2[k] - f1[k]) - 2.0 * (k1[k] - f0[k]) + h * D * ft[k]
    lu_solve(s.LU, s.pivots, k3)
    # the error relative to the tolerance
    total = 0.0
    for k in range(n):
        scale = s.atol[k] + s.rtol[0] * max(abs(s.y[k]), abs(new[k]))
        total += (h / 6.0 * (k1[k] - 2.0 * k2[k] + k3[k]) / scale) ** 2
    state[loop_state.ESTIMATE] = np.sqrt(total / n)
    state[loop_state.NEW_KNOWN] = 1.0
    state[loop_state.EVALUATIONS] += 2.0


@dataclass(frozen=True)
class Rosenbrock(OdeMethod):
    """Order 2 with an error estimate of order 3, linearly implicit: no iteration, one Jacobian a step.

    For stiff problems at loose tolerances.

    Shampine & Reichelt, SIAM Journal on Scientific Computing 18 (1997) 1-22.
    """

    name: ClassVar[str] = "rosenbrock"
    order: ClassVar[int] = 2
    adaptive: ClassVar[bool] = True
    share: ClassVar[float] = 0.05
    power: ClassVar[float] = 1.5

    def stability(self, z: Any) -> Stability:
        """R(z) = 1 + k_2 with k_1 = z / W, k_2 = k_1 + (z (1 + k_1 / 2) - k_1) / W, W = 1 - d z"""
        z = np.asarray(z, dtype=complex)
        W = 1.0 - D * z
        k1 = z / W
        return np.asarray(1.0 + k1 + (z * (1.0 + k1 / 2.0) - k1) / W)

    def started(self, problem: OdeTask) -> CompiledIntegration:
        path = path_of(problem, 2)
        f, jac = problem.f, problem.jac or NONE
        stages = new_stages(
            (f.f, f.c, jac.f, jac.c), EXACT, (1.0, 0.0), np.zeros((3, 3)), np.zeros(3), path, 1
        )
        rules = fixed_rules(problem, True, self.order + 1, True, 1)
        derivatives = {"J": stages.J, "ft": stages.F, "memory": stages.memory}
        attempt = try_rosenbrock_step.bind(stages)
        return CompiledIntegration(problem, path, rules, attempt, derivatives=derivatives)
