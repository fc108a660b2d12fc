"""How the equations of a driven mechanism are solved at a time: in groups, or as a whole, from a regular pose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import counted, listed
from ...numerics.arrays import Floats, Ints
from ...numerics.contexts import holds_addresses, lay_out_once
from ...numerics.kernel_pointer import BoundKernel
from ...numerics.sparse_lu import Pattern, analyze
from ...system.constraints import SystemArrays
from ...system.system import System
from ..assembly.closure import coordinate_scale
from .group_search import groups_of
from .group_solution import choose_sides, measure_groups, measure_others, solve_in_groups, solve_larger
from .groups import DYAD, LARGER, NO_GROUPS, Groups
from .stepper import (
    DONE,
    MEASURE,
    MEASURE_OTHERS,
    PIVOT,
    SOLVE,
    SOLVE_LARGER,
    TIME,
    WHY,
    DrivenMechanism,
    Stepper,
    connect,
    new_stepper,
)
from .stepping import step_through
from .whole_solution import measure_whole, solve_whole

_NOTHING: dict[str, Any] = {
    name: np.zeros(0, dtype=np.float64 if name.endswith("scale") else np.int64) for name in Pattern._fields
}
NO_PATTERN = Pattern(**_NOTHING)
lay_out_once(Pattern, NO_PATTERN)

MOST_NAMED = 12  # groups in a sentence


@holds_addresses
class Solver(NamedTuple):
    """The rows that determine the motion, how they are solved, and the stepper in the pose where that begins."""

    rows: Ints
    groups: Groups
    stepper: Stepper
    step: BoundKernel
    called: tuple[BoundKernel, ...]
    """What kernels call."""
    smallest_pivot: float


def solver_at(system: System, t: float, q: Floats, rows: Ints, groups: Groups | None = None) -> Solver | None:
    """A solver that begins in the pose q; None if it is singular."""
    groups = groups_of(system.arrays, rows) if groups is None else groups
    if groups.form.size:
        return _in_groups(system, t, q, rows, groups)
    return whole_solver(system, system.arrays, t, q, rows)


def _in_groups(system: System, t: float, q: Floats, rows: Ints, groups: Groups) -> Solver | None:
    S = system.arrays
    w = new_stepper(S, NO_PATTERN, t, q, coordinate_scale(system), system.length, groups)
    solve = solve_in_groups.bind(DrivenMechanism(S, NO_PATTERN, groups, w))
    called = {SOLVE: solve, MEASURE: measure_groups.bind_like(solve)}
    if np.any(groups.form == LARGER):
        called[SOLVE_LARGER] = solve_larger.bind_like(solve)
    if groups.others.size:
        called[MEASURE_OTHERS] = measure_others.bind_like(solve)
    choose_sides.bind_like(solve)(t, w.q, w.side)
    return _begun(rows, groups, w, called)


def whole_solver(system: System, S: SystemArrays, t: float, q: Floats, rows: Ints) -> Solver | None:
    """A solver for the whole mechanism at once, of which S may have other functions of time."""
    scale = coordinate_scale(system)
    P = analyze(rows, S.jac_start, S.jac_column, system.Phi_q_data(q, t), scale)
    if P is None:
        return None
    w = new_stepper(S, P, t, q, scale, system.length)
    solve = solve_whole.bind(DrivenMechanism(S, P, NO_GROUPS, w))
    return _begun(rows, NO_GROUPS, w, {SOLVE: solve, MEASURE: measure_whole.bind_like(solve)})


def _begun(rows: Ints, groups: Groups, w: Stepper, called: dict[int, BoundKernel]) -> Solver | None:
    """The solver with velocities, accelerations and determinants in its first pose."""
    connect(w, called)
    step = step_through.bind_like(called[SOLVE])
    called[SOLVE](w.state[TIME], w.new, w.answer)
    if w.answer[WHY] != DONE:
        return None
    w.q[:], w.qd[:], w.qdd[:], w.good_pivots[:] = w.new, w.new_d, w.new_dd, w.pivots
    return Solver(rows, groups, w, step, tuple(called.values()), float(w.answer[PIVOT]))


def method_in_words(system: System, groups: Groups) -> str:
    """`kinematics in 2 groups: crank; coupler, rocker (dyad)`."""
    count = groups.form.size
    if not count:
        return "kinematics of the whole mechanism at once, by Newton"
    parts = []
    for form, bodies in zip(groups.form[:MOST_NAMED], groups.members[:MOST_NAMED], strict=True):
        names = listed([system.bodies[i].name for i in bodies], 4)
        parts.append(f"{names} (dyad)" if form == DYAD else names)
    more = f"; {count - MOST_NAMED} more" if count > MOST_NAMED else ""
    return f"kinematics in {counted(count, 'group')}: {'; '.join(parts)}{more}"
