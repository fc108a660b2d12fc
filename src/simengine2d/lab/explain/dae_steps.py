"""A step of an implicit method on differential-algebraic equations: the iteration of the engine itself, replayed.

The engine is run up to the step and through it. Then the same corrections are made once more by the same kernels, one
after the other, and what they read and write is kept. The matrix is the one that was solved: the inverse of what the
solver answers to the columns of the identity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...analyses.dynamics.options import DynamicsOptions
from ...analyses.dynamics.run import Run
from ...coordinates.stages import COURSE, EXACT, ITERATION, ITERATIONS, KEPT, MODIFIED, KeptStages, Stages
from ...errors import UnsupportedError
from ...formulations.stage_iteration import Iteration, StagedFormulation
from ...integrators.dae_integration import DaeIntegration
from ...methods import AlphaMethod, Integrator
from ...numerics.arrays import Floats
from ...numerics.kernel_pointer import BoundKernel
from .explanation import Equation, Explanation, Value
from .iteration import lines_of, norm

TWICE = Equation(
    "Phi_q qd - nu = 0 beside Phi = 0, with velocities corrected by e = W Phi_q^T mu",
    r"\Phi_q\dot q - \nu = 0, \qquad e = W\Phi_q^T\mu",
)


BY = {
    EXACT: "by Newton's method",
    MODIFIED: "by a quasi-Newton method, whose matrix may be that of an earlier step",
    COURSE: "by a quasi-Newton method, without derivatives of the forces",
}
STARTED = (
    "{} looks back over more steps than there are so far; radau_iia takes the first ones, and holds positions and "
    "velocities."
)


class Corrections(NamedTuple):
    """Blocks of unknowns and of what is left of the equations, as the stages hold them."""

    unknowns: tuple[Floats, ...]
    corrections: tuple[Floats, ...]
    residuals: tuple[Floats, ...]


def explain_dae_step(before: Run, run: Run, options: DynamicsOptions) -> Explanation:
    """The last step of a run; `before` is the same run without it."""
    integration, earlier = run.stepper.integration, before.stepper.integration
    assert isinstance(integration, DaeIntegration) and isinstance(earlier, DaeIntegration)
    assert isinstance(options.formulation, StagedFormulation) and options.integrator is not None
    h, t1 = _step_of(options)
    which = _solver_of(integration, earlier)
    solver, before_it = integration.dae.solvers[which], earlier.dae.solvers[which]
    if integration.halved[0] > earlier.halved[0] or abs(solver.st.t[-1] - t1) > 1e-9 * h:
        raise UnsupportedError(
            f"the step to t = {t1:g} s is not one step: it was halved, or a force switches inside it. Take another one."
        )
    count = int(solver.st.state[ITERATIONS] - before_it.st.state[ITERATIONS])
    _go_back(solver, before_it, earlier.ends[1])
    lines, last = _replayed(solver, count)
    family, twice = run.stepper.family, bool(solver.iteration.twice) and solver.st.lam.size > 0
    kind = int(solver.st.options[ITERATION])
    names, rows = _names(family.names, family.row_names, solver.st, twice)
    return Explanation(
        f"one step of {options.method.split(' (')[0]}, t = {t1 - h:g} to {t1:g} s, {BY[kind]}",
        _equations(None if which else options.integrator, h, twice, kind),
        lines_of(lines, [float(np.asarray(line["norm"])) for line in lines]),
        {"q": last.z[-1].copy(), "qd": last.zd[-1].copy(), "qdd": last.a[-1].copy(), "lam": last.lam[-1].copy()},
        {
            "x": names, "correction": names, "Psi": rows, "Jacobian": rows, "lam": tuple(family.row_names),
            **{name: tuple(family.names) for name in ("q", "qd", "qdd")},
        },
        {"Jacobian": names},
        (STARTED.format(options.integrator.name),) if which else (),
    )  # fmt: skip


def _step_of(options: DynamicsOptions) -> tuple[float, float]:
    return float(options.times[-1] - options.times[-2]), float(options.times[-1])


def _solver_of(integration: DaeIntegration, earlier: DaeIntegration) -> int:
    """The number of the one that made the last step: the method's own comes first, that of a starter later."""
    for k, (solver, before) in enumerate(zip(integration.dae.solvers, earlier.dae.solvers, strict=True)):
        if solver.st.state[ITERATIONS] > before.st.state[ITERATIONS]:
            return k
    raise UnsupportedError("the step was not solved by an iteration.")


def _go_back(solver: KeptStages, before: KeptStages, end: Floats) -> None:
    """Unknowns as at the end of the step before, where the iteration begins, and factors as they were kept there."""
    st, n = solver.st, solver.st.a.shape[1]
    st.a[:], st.lam[:] = end[:n], end[n:]
    st.mu[:] = st.e[:] = 0.0
    for name, array in solver.factors.items():
        array[...] = before.factors[name]
    st.state[KEPT] = before.st.state[KEPT] if st.options[ITERATION] == MODIFIED else 0.0


def _replayed(solver: KeptStages, count: int) -> tuple[list[dict[str, Value]], Stages]:
    """So many corrections, and what is left after them."""
    c, st = solver.iteration, solver.st
    evaluate, solve = BoundKernel(c.evaluate_f, c.evaluate_c, None), BoundKernel(c.solve_f, c.solve_c, None)
    # without constraints, velocities need no correction
    blocks, lines = _blocks(st, bool(c.twice) and st.lam.size > 0), list[dict[str, Value]]()
    for k in range(count + 1):
        _place(c)
        evaluate(float(st.t[-1]), st.state, st.state)
        residual = _joined(blocks.residuals)
        lines.append({"norm": norm(residual), "x": _joined(blocks.unknowns), "Psi": residual})
        if k == count:
            break
        kept = st.state[KEPT] if st.options[ITERATION] == MODIFIED else 0.0
        matrix = _matrix(solve, st, blocks, kept)
        _fill(blocks.residuals, residual)
        st.state[KEPT] = kept
        solve(float(st.t[-1]), st.state, st.state)
        correction = _joined(blocks.corrections)
        lines[-1] |= {"Jacobian": matrix, "correction": correction, "|correction|": norm(correction)}
        for unknown, change in zip(blocks.unknowns, blocks.corrections, strict=True):
            unknown += change
    return lines, st


def _blocks(st: Stages, twice: bool) -> Corrections:
    if twice:
        return Corrections(
            (st.a, st.lam, st.e, st.mu),
            (st.da, st.dlam, st.de, st.dmu),
            (st.balance, st.gap, st.slip, st.rate),
        )
    return Corrections((st.a, st.lam), (st.da, st.dlam), (st.balance, st.gap))


def _place(c: Iteration) -> None:
    """z = base_z + B a + C e,   zd = base_zd + C a"""
    st = c.st
    st.z[:] = st.base_z + st.B @ st.a + (st.C @ st.e if c.twice else 0.0)
    st.zd[:] = st.base_zd + st.C @ st.a


def _matrix(solve: BoundKernel, st: Stages, blocks: Corrections, kept: float) -> Floats:
    """Newton's matrix: its inverse consists of the answers to residuals that are columns of -1."""
    size = _joined(blocks.residuals).size
    columns = []
    for j in range(size):
        _fill(blocks.residuals, -np.eye(size)[j])
        st.state[KEPT] = kept
        solve(float(st.t[-1]), st.state, st.state)
        columns.append(_joined(blocks.corrections))
    matrix = np.linalg.inv(np.column_stack(columns))
    return np.where(np.abs(matrix) > 1e-12 * np.abs(matrix).max(), matrix, 0.0)


def _joined(blocks: tuple[Floats, ...]) -> Floats:
    return np.concatenate([block.ravel() for block in blocks])


def _fill(blocks: tuple[Floats, ...], values: Floats) -> None:
    first = 0
    for block in blocks:
        block[...] = values[first : first + block.size].reshape(block.shape)
        first += block.size


def _names(
    coordinates: list[str], rows: list[str], st: Stages, twice: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the unknowns and of the equations; with several stages each has its number."""
    numbers = [f" ({i + 1})" if len(st.t) > 1 else "" for i in range(len(st.t))]
    every = lambda form, names: [form.format(name) + i for i in numbers for name in names]
    unknowns = every("{}dd", coordinates) + every("lam {}", rows)
    equations = every("balance {}", coordinates) + every("{}", rows)
    if twice:
        unknowns += every("e {}", coordinates) + every("mu {}", rows)
        equations += every("slip {}", coordinates) + every("rate {}", rows)
    return tuple(unknowns), tuple(equations)


def _equations(method: Integrator | None, h: float, twice: bool, kind: int) -> tuple[Equation, ...]:
    if not isinstance(method, AlphaMethod):
        return (*_index3("largest B_ij h^2", r"\max B_{ij} h^2", kind), *((TWICE,) if twice else ()))
    am, af, beta, gamma = method.coefficients
    b, latex = "beta h^2", r"\beta h^2"
    if am or af:
        b, latex = f"(1 - af)/(1 - am) {b}", rf"\tfrac{{1-\alpha_f}}{{1-\alpha_m}}{latex}"
    return (
        Equation(
            f"q1 = q0 + h qd0 + h^2 ((1/2 - beta) a0 + beta a1),   beta = {beta:g}, h = {h:g}",
            rf"q_1 = q_0 + h\dot q_0 + h^2\left((\tfrac12-\beta)a_0 + \beta a_1\right), \quad \beta = {beta:g}",
        ),
        Equation(
            f"qd1 = qd0 + h ((1 - gamma) a0 + gamma a1),   gamma = {gamma:g}",
            rf"\dot q_1 = \dot q_0 + h\left((1-\gamma)a_0 + \gamma a_1\right), \quad \gamma = {gamma:g}",
        ),
        *_index3(b, latex, kind),
        *((TWICE,) if twice else ()),
    )


def _index3(b: str, latex: str, kind: int) -> tuple[Equation, ...]:
    """The equations of one stage, with the constraints divided by b, and of its corrections."""
    tangent, tangent_latex = ("M", "M") if kind == COURSE else ("M + b K + c D", "M + bK + cD")
    return (
        Equation("M a + Phi_q^T lam - QA = 0", r"M\ddot q + \Phi_q^T\lambda - Q^A = 0"),
        Equation(f"Phi / b = 0,   b = {b}", rf"\tfrac{{1}}{{b}}\,\Phi = 0, \qquad b = {latex}"),
        Equation(
            f"[{tangent}, Phi_q^T; Phi_q, 0] [da; dlam] = -Psi",
            rf"\begin{{pmatrix}} {tangent_latex} & \Phi_q^T \\ \Phi_q & 0 \end{{pmatrix}}"
            r"\begin{pmatrix} \Delta\ddot q \\ \Delta\lambda \end{pmatrix} = -\Psi",
        ),
    )
