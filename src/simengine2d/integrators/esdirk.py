"""Steps for stiff motions: a diagonally implicit method of order 4 on the index-1 equations, stage by stage.

    M a + Phi_q^T lam = QA,      Phi_q a = gamma      at      v_i = qd + h sum_j A_ij a_j,   q_i = q + h sum_j A_ij v_j

Newton's matrix, with b = (h / 4)^2 and c = h / 4, is the same for all stages; the derivatives of gamma are left out,
which are not stiff:

    [ M + b ((Phi_q^T lam)_q - QA_q) - c QA_qd   Phi_q^T ]
    [ Phi_q                                         0    ]

Nothing is divided by h^2, as the constraints of index 3 are: accelerations and multipliers keep their digits in short
steps. The last stage is the end of the step, and its accelerations and multipliers are those that are reported. The end
is then brought onto the constraints by the smallest change in the metric of the same matrix, which a stiff spring
resists.

The first stage is the end of the last step, so that the stages are of order 2: positions that a stiff spring holds are
as accurate as others. The method is L-stable, and its estimate of order 3.

Kennedy & Carpenter, Applied Numerical Mathematics 44 (2003) 139-181: ESDIRK4(3)6L[2]SA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..coordinates.base import Family
from ..coordinates.equations import LARGEST_CORRECTION, Configuration
from ..coordinates.stages import (
    ACCELERATION,
    KEPT,
    LEVEL,
    MODIFIED,
    POSITION,
    SIZE_B,
    VELOCITY,
    StageTask,
    new_stages,
)
from ..coordinates.stages import CONVERGED as FOUND
from ..formulations.stage_iteration import Iteration, iteration, solve_stages
from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, invoke, kernel_pointer
from . import loop_state
from .break_crossing import Broken
from .dae_equations import DaeEquations
from .dae_integration import ConstrainedIntegration, watched
from .dae_step import MEMORY_SIZE, SEEN, guess, note_end
from .integration import NONE, careful, new_path
from .loop_state import Rules
from .ode_method import OdeTask

A = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1 / 4, 1 / 4, 0, 0, 0, 0],
        [8611 / 62500, -1743 / 31250, 1 / 4, 0, 0, 0],
        [5012029 / 34652500, -654441 / 2922500, 174375 / 388108, 1 / 4, 0, 0],
        [
            15267082809 / 155376265600,
            -71443401 / 120774400,
            730878875 / 902184768,
            2285395 / 8070912,
            1 / 4,
            0,
        ],
        [82889 / 524892, 0, 15625 / 83664, 69875 / 102672, -2260 / 8211, 1 / 4],
    ]
)
ERROR = A[5] - np.array(
    [
        4586570599 / 29645900160,
        0,
        178811875 / 945068544,
        814220225 / 1159782912,
        -3700637 / 11593932,
        61727 / 225920,
    ]
)

STAGES = 6
GAMMA = 0.25
MOST_CORRECTIONS = 4
GIVEN_UP = 0.3  # reduction of an error at which a new matrix is made
STALLS = 1e-8  # changes, against the accelerations, which are rounding where they become no smaller
SMALLEST = 1e-14  # error of a step that rounding leaves visible
SHARE = 0.025  # error allowed in one step, against that of the whole motion


class EsdirkStep(NamedTuple):
    """Context of `try_esdirk_step` and of what follows it."""

    iteration: Iteration  # of the stage that is solved
    a: Floats  # (6, n), accelerations of the stages
    A: Floats
    AA: Floats  # A^2
    c: Floats
    error: Floats
    twice: Floats  # error A
    per_row: (
        Floats  # what an error of each row, and a change of each coordinate, is as a length of the mechanism
    )
    per_coordinate: Floats
    ends: Floats  # (2, n + m): accelerations and multipliers at the beginning and at the end of the step
    memory: Floats
    y: Floats  # those of the path
    state: Floats
    rtol: Floats
    atol: Floats


# A step -----------------------------------------------------------------------------------------------


@kernel
def place_base(k, i, t, h):
    """q_i and v_i but for the accelerations of the stage itself."""
    st, n = k.iteration.st, k.a.shape[1]
    st.t[0] = t + k.c[i] * h
    st.B[0, 0], st.C[0, 0] = k.AA[i, i] * h * h, k.A[i, i] * h
    for j in range(n):
        first, second = 0.0, 0.0
        for s in range(i):
            first += k.A[i, s] * k.a[s, j]
            second += k.AA[i, s] * k.a[s, j]
        st.base_z[0, j] = k.y[j] + h * (k.c[i] * k.y[n + j] + h * second)
        st.base_zd[0, j] = k.y[n + j] + h * first
        st.a[0, j] = k.a[i - 1, j]


@kernel
def step_error(k, new, h):
    """Difference to the embedded method in positions and velocities, in tolerances."""
    worst, n, y = 0.0, k.a.shape[1], k.y
    for j in range(n):
        first, second = 0.0, 0.0
        for s in range(STAGES):
            first += k.error[s] * k.a[s, j]
            second += k.twice[s] * k.a[s, j]
        of_q = k.atol[j] + k.rtol[0] * max(abs(y[j]), abs(new[j]))
        of_qd = k.atol[n + j] + k.rtol[0] * max(abs(y[n + j]), abs(new[n + j]))
        worst = max(worst, abs(h * h * second) / of_q, abs(h * first) / of_qd)
    return worst


@kernel_pointer
def try_esdirk_step(k, t, state, new):
    """One step of the size state[TRIED]."""
    st, h = k.iteration.st, state[loop_state.TRIED]
    if state[loop_state.STEPS] != k.memory[SEEN]:  # the step that was taken since then
        k.memory[SEEN] = state[loop_state.STEPS]
        for j in range(k.ends.shape[1]):
            k.ends[0, j] = k.ends[1, j]
    guess(k.ends[0], k.a[0], st.lam[0])
    st.state[KEPT] = 0.0  # a matrix for each step
    for i in range(1, STAGES):
        place_base(k, i, t, h)
        solve_stages(k.iteration, st.t[0], new)
        if st.state[FOUND] == 0.0:
            state[loop_state.CONVERGED] = 0.0
            return
        for j in range(st.a.shape[1]):
            k.a[i, j] = st.a[0, j]
    note_end(k.a[STAGES - 1], st.lam[0], k.ends[1])
    state[loop_state.ESTIMATE] = step_error(k, new, h)


# After a step -----------------------------------------------------------------------------------------


@kernel
def largest_gap(k):
    """What is left of the constraints, as a length of the mechanism."""
    found = 0.0
    for i in range(k.per_row.size):
        found = max(found, abs(k.iteration.st.gap[0, i]) * k.per_row[i])
    return found


@kernel
def correct(k, values, factor, violation):
    """values += factor da, unless the change is out of proportion, as in a singular pose."""
    size, da = 0.0, k.iteration.st.da[0]
    for j in range(values.size):
        size = max(size, abs(da[j]) * k.per_coordinate[j])
    if size <= LARGEST_CORRECTION * violation:
        for j in range(values.size):
            values[j] += factor * da[j]


@kernel_pointer
def hold(k, t, y, out):
    """Bring the state onto the constraints, first q, then qd, by the factors of the step."""
    st, n, before = k.iteration.st, k.a.shape[1], np.inf
    st.t[0], st.options[LEVEL] = t, POSITION
    for _ in range(2 * MOST_CORRECTIONS):
        for j in range(n):
            st.z[0, j], st.zd[0, j] = y[j], y[n + j]
        invoke(k.iteration.evaluate_f, k.iteration.evaluate_c, t, st.state, st.state)
        found = largest_gap(k)
        if found == 0.0 or found > 0.5 * before:
            if st.options[LEVEL] == VELOCITY:
                break
            st.options[LEVEL], before = VELOCITY, np.inf
            continue
        before = found
        for j in range(n):
            st.balance[0, j] = 0.0
        invoke(k.iteration.solve_f, k.iteration.solve_c, t, st.state, st.state)
        if st.options[LEVEL] == POSITION:  # whose gaps are divided by b
            correct(k, y[:n], st.state[SIZE_B], found)
        else:
            correct(k, y[n:], 1.0, found)
    st.options[LEVEL] = ACCELERATION


# Integrations -----------------------------------------------------------------------------------------


def esdirk_integration(
    family: Family,
    t0: float,
    y0: Floats,
    *,
    rtol: float,
    atol: Floats,
    first_step: float,
    longest: float | None,
    tolerance: float | None,
    limit: float,
    broken: Broken | None,
    watch: Callable[[BoundKernel], BoundKernel] | None,
    alarm: Floats | None,
    redundant: bool,
    implied: Sequence[int],
) -> ConstrainedIntegration:
    """An integration from (t0, y0) on, whose local errors are `rtol` and `atol`.

    Steps end at the outputs: accelerations and multipliers there are those of the last stage.
    """
    equations = DaeEquations(family, Configuration(t0, y0[: family.n].copy(), redundant, implied))
    of_motion = equations.of_motion
    n, m = family.n, family.m
    relative, absolute = (max(1e-12, 1e-3 * rtol), 1e-12) if tolerance is None else (0.0, tolerance)
    options = np.array([relative, absolute, 0.0, MODIFIED, GIVEN_UP, STALLS, ACCELERATION])
    st = new_stages(1, n, m, options)
    answer = family.stage_equations(StageTask(st, False, np.zeros(m), redundant))
    solver = iteration(family, answer, st, NONE, False)._replace(factors={})
    equations.solvers.append(solver)
    ends = np.tile(np.concatenate(equations.accelerations(t0, y0)), (2, 1))
    notes = np.concatenate([ends[0], family.turns])
    twice = np.tile(atol, 2)
    path = new_path(y0, 2, 0, rtol, twice, notes, alarm=alarm)
    step = EsdirkStep(
        solver.iteration, np.zeros((STAGES, n)), A.copy(), A @ A, A.sum(axis=1), ERROR.copy(), ERROR @ A,
        of_motion.per_row, of_motion.per_coordinate, ends, np.zeros(MEMORY_SIZE), path.y, path.state, path.rtol,
        path.atol,
    )  # fmt: skip
    attempt = try_esdirk_step.bind(step)
    finish = watched(equations.ending(ends, hold.bind_like(attempt)), watch)
    problem = OdeTask(
        NONE, t0, y0, longest, rtol, twice, finish, notes, "exact", None, limit, False, False, broken
    )
    rules = Rules(
        loop_state.TO_OUTPUTS, 4, 0, 1, np.inf, float(longest or 0.0), t0, limit, 0.0, careful(problem)
    )
    path.state[loop_state.STEP] = first_step
    return ConstrainedIntegration(problem, path, rules, attempt, equations, ends, step.memory)
