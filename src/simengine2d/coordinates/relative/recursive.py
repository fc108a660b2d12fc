"""The kernel pointers of relative coordinates, on articulated bodies: a tree costs as much as it has bodies.

    [ M     Phi_z^T ] [ zdd ]   [ Q                                            ]
    [ Phi_z   -c    ] [ lam ] = [ gamma - 2 alpha (Phi_z zd - nu) - beta^2 Phi ]

Neither M nor Phi_z is formed. What not every model has, forces and loops, has pointers of its own: a kernel that
needs few arrays is entered quickly.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...expressions.time_function import functions_at
from ...methods import Formulation
from ...numerics.kernel_pointer import BoundKernel, invoke, kernel_pointer
from ...system.applied_forces import Loads, add_pushes, add_wrenches
from ...system.constraints import SystemArrays
from ...system.formulas.forces import add_actions
from ...system.frames import FRAME_STATE
from ..base import Family, reduced_arrays
from ..dense import (  # fmt: skip
    ALPHA2,
    BETA2,
    LARGEST_CORRECTION,
    LENGTH,
    MOST_CORRECTIONS,
    POSITION,
    REFINED,
    TOLERANCE,
    TURNS,
    VELOCITY,
    softened,
)
from ..ode_problem import OdeProblem
from ..row_scales import MOST_ROWS, filled, given_in, units
from .articulated import accelerate_joints, eliminate_joints, weigh
from .loop_arrays import RowLimits, frames_of, in_order, kept_rows, new_loops, new_refining, ways_of_rows
from .loop_paths import products
from .loops import (
    ENTRY,
    OTHER,
    PINNED,
    ROW,
    Closing,
    Loops,
    at_rest,
    close_loops,
    curved_group,
    errors,
    place_rows,
    place_tree_frames,
    refine,
    solve_loops,
    stabilize,
    timed_rows,
)  # fmt: skip
from .relative import Relative
from .tree_motion import (  # fmt: skip
    AX,
    AY,
    FLOAT,
    INERTIA,
    KIND,
    MASS,
    OWN_SLOT,
    PIN,
    PW,
    PX,
    PY,
    SH,
    SLIDE,
    SLOT,
    H,
    Tree,
    move_tree,
    write_place,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LIGHT = 1e-12  # inertia that a motion meets, against the largest that one meets
MOST_PRODUCTS = 5_000_000  # of entries of W; the multipliers of more would cost more than dense matrices


class Forces(NamedTuple):
    """Context of `apply_forces`. Bodies are numbered as in the tree."""

    T: Tree
    S: SystemArrays
    L: Loads
    frame: Floats
    f: Floats
    F: Floats
    q: Floats
    qd: Floats
    Q: Floats


class Recursive(NamedTuple):
    """Context of the accelerations; a kernel pointer that is not needed is 0."""

    T: Tree
    gravity: Floats
    forces_f: Any
    forces_c: Any
    loops_f: Any
    loops_c: Any


class Projected(NamedTuple):
    """Context of the projection."""

    loops: Closing
    zdd: Floats
    sizes: Floats


# Kernel pointers ------------------------------------------------------------------------------------------------


@kernel_pointer
def accelerations(c, t, y, out):
    """(zd, zdd); lam stays with the loops."""
    T, n, ground = c.T, y.size // 2, c.T.numbers.shape[0]
    T.state[ground, AX], T.state[ground, AY] = -c.gravity[0], -c.gravity[1]
    move_tree(T, y, c.forces_f != 0 or c.loops_f != 0)
    weigh(T)
    if c.forces_f != 0:
        invoke(c.forces_f, c.forces_c, t, y, y)
    eliminate_joints(T)
    if c.loops_f != 0:
        invoke(c.loops_f, c.loops_c, t, y, y)
    for j in range(n):
        out[j] = y[n + j]
    accelerate_joints(T, out[n:])


@kernel_pointer
def apply_forces(c, t, y, out):
    """Springs, forces and torques, about O: they take from the force that the motion needs."""
    N = c.T.state
    functions_at(c.S.functions, t, c.f)
    place_tree_frames(N, c.S.frame_body, c.frame, c.F)
    for j in range(c.Q.size):
        c.Q[j] = 0.0
    add_pushes(c.S, c.L, t, c.f, c.F, c.Q)
    if c.L.wrench_frame.size > 0:
        for k in range(c.T.numbers.shape[0]):
            write_place(N, k, 3 * k, c.q, c.qd)
        add_wrenches(c.S, c.L, t, c.f, c.F, c.q, c.qd, c.Q)
    if c.L.formulas.at_f != 0:
        add_actions(c.S, c.L.formulas, t, c.F, c.Q)
    for k in range(c.T.numbers.shape[0]):
        N[k, PX] -= c.Q[3 * k]
        N[k, PY] -= c.Q[3 * k + 1]
        N[k, PW] -= c.Q[3 * k + 2]


@kernel_pointer
def project(p, t, y, notes):
    """Bring y onto the rows by the smallest change in the metric of M, first z, then zd."""
    c, n = p.loops.c, p.zdd.size
    if c.f.shape[0] == 0:
        return
    before, level, length = np.inf, 0, c.options[LENGTH]
    for iteration in range(2 * MOST_CORRECTIONS):
        move_tree(c.T, y, True)
        place_rows(p.loops, t)
        found = errors(c, level)
        if iteration == 0:
            notes[POSITION] = max(notes[POSITION], found)
        if level == 0 and (found <= c.options[TOLERANCE] or found > 0.5 * before):
            level, before = 1, np.inf
            found = errors(c, level)
            notes[VELOCITY] = max(notes[VELOCITY], found)
        if level == 1 and (found <= c.options[TOLERANCE] or found > 0.5 * before):
            return
        before = found
        # M zdd + Phi_z^T lam = 0, Phi_z zdd = -b
        at_rest(c)
        weigh(c.T)
        eliminate_joints(c.T)
        close_loops(p.loops)
        accelerate_joints(c.T, p.zdd)
        change = 0.0
        for j in range(n):
            change = max(change, abs(p.zdd[j]) / p.sizes[j] * length)
        # a change out of proportion means a singular pose
        if change <= LARGEST_CORRECTION * found:
            for j in range(n):
                y[level * n + j] += p.zdd[j]


@kernel_pointer
def watch(c, t, y, notes):
    """Leave y as it is."""


# Posing -----------------------------------------------------------------------------------------------


class RecursiveSolver(NamedTuple):
    """A family ready for the kernel pointers; lam of the kept rows is found in loops.lam."""

    tree: Tree
    loops: Loops
    context: Recursive
    back: Projected


def recursive_lane(family: Relative, options: Floats, rows: RowLimits) -> RecursiveSolver:
    """The contexts of a family; `options` are those of the dense lane."""
    tree = family.tree._replace(state=family.tree.state.copy())
    loops = new_loops(family, tree, options, rows)
    forces = apply_forces.bind(new_forces(family, tree)) if family.system.loads else None
    timed = timed_rows.bind(loops) if is_timed(family) else None
    curved = curved_group.bind(loops) if np.any(loops.group[:-1, PINNED] == 0) else None
    drifting = stabilize.bind(loops) if options[ALPHA2] + options[BETA2] > 0.0 else None
    refining = refine.bind(new_refining(loops)) if options[REFINED] == 1.0 else None
    closing = Closing(loops, *words(timed), *words(curved), *words(drifting), *words(refining))
    solving = solve_loops.bind(closing) if family.m > 0 else None
    context = Recursive(tree, np.array(family.system.resolved.gravity), *words(forces), *words(solving))
    back = Projected(closing, np.zeros(family.n), family.sizes.copy())
    return RecursiveSolver(tree, loops, context, back)


def is_timed(family: Relative) -> bool:
    """Whether some row is more than measures at constant values."""
    system = family.system
    return any(
        not system.functions[i].is_constant or system.rows[i][1].formula is not None for i in family.kept
    )


def words(bound: BoundKernel | None) -> tuple[Any, Any]:
    """A kernel pointer and its context as parts of another context; 0 where there is none."""
    return (bound.f, bound.c) if bound else (0, 0)


def new_forces(family: Relative, tree: Tree) -> Forces:
    arrays, loads = reduced_arrays(family.system, [])
    arrays = arrays._replace(frame_body=in_order(tree, arrays.frame_body))
    bodies = len(tree.numbers)
    return Forces(
        tree,
        arrays,
        loads,
        frames_of(arrays),
        np.zeros((len(family.system.load_functions), 3)),
        np.zeros((arrays.frame_body.size, FRAME_STATE)),
        *[np.zeros(3 * bodies) for _ in range(3)],
    )


def suits(family: Family) -> bool:
    """Whether this lane serves a family: each motion of the free tree meets inertia, and few rows share their ways."""
    if not isinstance(family, Relative):
        return False
    _, ways = ways_of_rows(family.tree, kept_rows(family))
    if products(family.tree, ways) > MOST_PRODUCTS:
        return False
    masses = family.tree.constant[:, [MASS, INERTIA]]
    return bool(np.all(masses > 0.0)) or _has_inertia(family)


def _has_inertia(family: Relative) -> bool:
    """Whether no pivot vanishes in the pose of the start."""
    lane = _evaluated(family, 0.0, family.positions(family.q))
    N, kind = lane.tree.state[:-1], family.tree.numbers[:, KIND]
    turns = N[np.isin(kind, (PIN, SLOT, OWN_SLOT, FLOAT)), H]
    slides = N[np.isin(kind, (SLIDE, SLOT, OWN_SLOT, FLOAT)), SH]
    return all(_are_sound(reciprocals) for reciprocals in (turns, slides))


def _are_sound(reciprocals: Floats) -> bool:
    return bool(np.all(np.isfinite(reciprocals))) and bool(
        np.all(reciprocals * LIGHT <= reciprocals.min(initial=np.inf))
    )


def felt_by_loops(family: Relative, t: float, z: Floats) -> Floats:
    """The diagonal of Phi_z M^-1 Phi_z^T."""
    loops, found = _evaluated(family, t, z).loops, np.zeros(family.m + 1)
    for rows, (i, j) in zip(loops.group[:-1, [ROW, OTHER]], pairwise(loops.group[:, ENTRY]), strict=True):
        found[rows] = (loops.W[i:j, [0, 2]] * loops.W[i:j, [1, 3]]).sum(axis=0)
    return filled(np.where(np.isfinite(found), found, 0.0)[: family.m])


def _evaluated(family: Relative, t: float, z: Floats) -> RecursiveSolver:
    """A lane that has been at rest in z."""
    nothing = np.zeros(family.m)
    lane = recursive_lane(family, np.zeros(TOLERANCE + 1), RowLimits(nothing, nothing, nothing))
    with np.errstate(all="ignore"):
        accelerations.bind(lane.context)(t, np.concatenate([z, np.zeros(family.n)]), np.empty(2 * family.n))
    return lane


def lane_at(
    formulation: Formulation, family: Relative, t: float, z: Floats, redundant: bool, tolerance: float
) -> RecursiveSolver:
    """The contexts of a formulation, its rows measured at a state; `redundant` allows redundant constraints."""
    felt = felt_by_loops(family, t, z) if redundant or formulation.gives_way else np.zeros(family.m)
    few = formulation.gives_way and family.n <= MOST_ROWS
    compliance = formulation.compliances(given_in(family, t, z) if few else felt)
    soft, refined = softened(compliance, felt if redundant else np.zeros(family.m))
    options = np.array([*formulation.stabilization, float(refined), family.system.length, tolerance])
    return recursive_lane(family, options, RowLimits(compliance, soft, units(family, t, z)))


def pose_recursive(
    formulation: Formulation, family: Relative, t: float, z: Floats, redundant: bool, tolerance: float
) -> OdeProblem:
    """The kernel pointers of a formulation bound to a family."""
    lane = lane_at(formulation, family, t, z, redundant, tolerance)
    options = lane.loops.options
    rhs = accelerations.bind(lane.context)
    finish = project.bind(lane.back) if formulation.projects else watch.bind(lane.context)
    return OdeProblem(rhs, finish, np.zeros(TURNS), options[TOLERANCE:], {})
