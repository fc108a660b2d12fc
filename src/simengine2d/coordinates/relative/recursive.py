"""The equations of motion in relative coordinates, on articulated bodies: the cost of a tree is linear in its bodies.

    [ M     Phi_z^T ] [ zdd ]   [ Q                                            ]
    [ Phi_z   -c    ] [ lam ] = [ gamma - 2 alpha (Phi_z zd - nu) - beta^2 Phi ]

Neither M nor Phi_z is formed. What not every model has, forces and loops, is called through separate pointers: a kernel
that needs few arrays is entered quickly.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...methods import Formulation
from ...numerics.arrays import ascending, constant
from ...numerics.kernel_pointer import BoundKernel, invoke, kernel_pointer
from ...system.applied_forces import Loads, add_forces, add_wrenches
from ...system.constraints import SystemArrays
from ...system.elimination import unequal
from ...system.row_compliance import filled
from ...system.row_parts import some_rows
from ...system.workspace import MOST_WHOLE, Workspace, new_workspace
from ..equations import Configuration, EquationsOfMotion, Several, Verb
from ..row_scales import MOST_ROWS, given_in, lengths_in, softened
from .articulated import accelerate_joints, eliminate_joints, weigh
from .joint_arrays import multipliers_of
from .joint_forces import JointForces
from .loop_arrays import RowLimits, frames_of, in_order, new_loops, new_refining
from .loops import (
    ENTRY,
    OTHER,
    PINNED,
    ROW,
    Closing,
    change_of,
    nonlinear_group,
    place_rows,
    place_tree_frames,
    refine_multipliers,
    row_residual,
    solve_loops,
    stabilize,
    timed_rows,
)  # fmt: skip
from .side_by_side import MOST_BODIES, Limits, several_at_once
from .tree_motion import (  # fmt: skip
    AX,
    AY,
    BODY,
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
    place_body,
    write_acceleration,
    write_place,
)

if TYPE_CHECKING:
    from .relative import Relative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LIGHT = 1e-12  # effective inertia of a motion, relative to the largest


class Forces(NamedTuple):
    """Context of `apply_forces`. Bodies are numbered as in the tree."""

    T: Tree
    S: SystemArrays
    L: Loads
    loaded: Ints  # bodies that forces act on, or read
    frame: Floats
    w: Workspace
    q: Floats
    qd: Floats
    Q: Floats  # zero but for these bodies


class Recursive(NamedTuple):
    """Context of the accelerations; a kernel pointer that is not needed is 0."""

    T: Tree
    gravity: Floats
    forces_f: Any
    forces_c: Any
    loops_f: Any
    loops_c: Any


class Moved(NamedTuple):
    """Context of `bodies_accelerated`."""

    T: Tree


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
def bodies_accelerated(c, t, y, out):
    """(q, qd, qdd) of the state whose accelerations were just computed, with y = (z, zd, zdd)."""
    T, n, nb = c.T, y.size // 3, c.T.numbers.shape[0]
    q, qd, qdd = out[: 3 * nb], out[3 * nb : 6 * nb], out[6 * nb :]
    for k in range(nb):
        i = 3 * T.numbers[k, BODY]
        place_body(T, k, y[: 2 * n])
        write_place(T.state, k, i, q, qd)
        write_acceleration(T.state, k, i, nb, qdd)


@kernel_pointer
def apply_forces(c, t, y, out):
    """Springs, forces and torques, about O: they are subtracted from the force that the motion requires."""
    N, w = c.T.state, c.w
    place_tree_frames(N, c.S.frame_body, c.frame, w.F)
    for k in c.loaded:
        c.Q[3 * k] = c.Q[3 * k + 1] = c.Q[3 * k + 2] = 0.0
    add_forces(c.S, c.L, t, w.F, w.scratch, c.Q)
    if c.L.wrench_frame.size > 0:
        for k in c.loaded:
            write_place(N, k, 3 * k, c.q, c.qd)
        add_wrenches(c.S, c.L, t, c.q, c.qd, w.F, w.scratch, c.Q)
    for k in c.loaded:
        N[k, PX] -= c.Q[3 * k]
        N[k, PY] -= c.Q[3 * k + 1]
        N[k, PW] -= c.Q[3 * k + 2]


@kernel_pointer
def evaluate(closing, t, y, out):
    """Bodies and rows at y."""
    move_tree(closing.c.T, y, True)
    place_rows(closing, t)


@kernel_pointer
def residual(closing, level, y, row):
    """-Phi, or nu - Phi_z zd"""
    for i in range(row.size):
        row[i] = row_residual(closing.c, level, i)


@kernel_pointer
def smallest_change(closing, unused, row, x):
    """x of M x + Phi_z^T lam = 0, Phi_z x = row"""
    change_of(closing, row, x)


# Building ---------------------------------------------------------------------------------------------


class RecursiveEquations(EquationsOfMotion):
    """The equations of relative coordinates; lam of the rows that close loops is in loops.lam."""

    evaluate = Verb(evaluate)
    residual = Verb(residual)
    smallest_change = Verb(smallest_change)

    def __init__(self, family: Relative, stabilization: Floats, rows: RowLimits, refined: bool) -> None:
        self.tree = family.tree._replace(state=family.tree.state.copy())
        self.loops = new_loops(family, self.tree, stabilization, rows)
        loops = self.loops
        forces, self.applied = None, np.zeros(0)
        if family.system.loads:
            applied = new_forces(family, self.tree)
            forces, self.applied = apply_forces.bind(applied), applied.Q
        timed = timed_rows.bind(loops) if is_timed(family) else None
        nonlinear = nonlinear_group.bind(loops) if np.any(loops.group[:-1, PINNED] == 0) else None
        drifting = stabilize.bind(loops) if np.any(stabilization) else None
        refining = refine_multipliers.bind(new_refining(loops)) if refined else None
        closing = Closing(loops, *words(timed), *words(nonlinear), *words(drifting), *words(refining))
        solving = solve_loops.bind(closing) if family.m > 0 else None
        system, gravity = family.system, np.zeros(2)
        self.recursion = Recursive(self.tree, gravity, *words(forces), *words(solving))
        self.context, self.per_row, self.forces = closing, rows.per_row, forces
        self.is_plain = not (timed or nonlinear or drifting or refining or family.system.callbacks)
        self.per_coordinate = np.zeros(family.n)

        def write_numbers() -> None:
            gravity[:], self.per_coordinate[:] = system.resolved.gravity, system.length / family.sizes

        system.follow_numbers(write_numbers)

    @cached_property
    def accelerate(self) -> BoundKernel:  # type: ignore[override]
        return accelerations.bind(self.recursion)

    @cached_property
    def bodies(self) -> BoundKernel:  # type: ignore[override]
        return bodies_accelerated.bind(Moved(self.tree))

    def several(self, tolerance: Floats | None) -> Several | None:
        if self.multipliers is None or not self.is_plain or len(self.tree.numbers) > MOST_BODIES:
            return None
        forces: JointForces = self.multipliers.pointer.kept[1]
        limits = Limits(self.per_row, self.per_coordinate, np.zeros(1) if tolerance is None else tolerance)
        return several_at_once(
            forces, self.recursion.gravity, words(self.forces), limits, tolerance is not None
        )


def recursive_equations(family: Relative, formulation: Formulation, at: Configuration) -> RecursiveEquations:
    """The equations that a formulation asks for."""
    nothing = np.zeros(family.m)
    felt = felt_by_loops(family, at) if at.redundant or formulation.gives_way else nothing
    few = formulation.gives_way and family.n <= MOST_ROWS
    compliance = formulation.compliances(given_in(family, at.t, at.z) if few else felt)
    soft, refined = softened(compliance, felt if at.redundant else nothing)
    stabilization = np.array(formulation.stabilization)
    rows = RowLimits(compliance, soft, lengths_in(family, at))
    equations = RecursiveEquations(family, stabilization, rows, refined)
    family.system.follow_numbers(lambda: np.copyto(rows.per_row, lengths_in(family, at)))
    equations.multipliers = multipliers_of(family, equations.loops, equations.applied, formulation, at)
    return equations


def is_timed(family: Relative) -> bool:
    """Whether some row is more than measures at constant values."""
    system = family.system
    return any(
        not system.functions[i].is_constant or system.rows[i][1].formula is not None
        for i in family.remaining_rows
    )


def words(bound: BoundKernel | None) -> tuple[Any, Any]:
    """A kernel pointer and its context as parts of another context; 0 if there is none."""
    return (bound.f, bound.c) if bound else (0, 0)


def new_forces(family: Relative, tree: Tree) -> Forces:
    """The loads of the system, on those of its frames that they act on or read."""
    system, bodies = family.system, len(tree.numbers)
    S, L = system.arrays, system.load_arrays
    used = ascending(np.concatenate([L.term_a, L.term_b, L.wrench_frame]))
    a, b, wrenches = (constant(np.searchsorted(used, ends)) for ends in (L.term_a, L.term_b, L.wrench_frame))
    loads = L._replace(term_a=a, term_b=b, wrench_frame=wrenches)
    no_rows = some_rows(S, np.zeros(0, dtype=np.int64), [])
    arrays = no_rows._replace(frame_body=constant(in_order(tree, S.frame_body[used])))
    frame, w = np.zeros((used.size, 5)), new_workspace(arrays, loads)

    def write_numbers() -> None:
        frame[:] = frames_of(S)[used]
        w.scratch.known.fill(np.nan)

    system.follow_numbers(write_numbers)
    loaded = ascending(arrays.frame_body)
    loaded = constant(loaded[loaded < bodies])
    return Forces(tree, arrays, loads, loaded, frame, w, *[np.zeros(3 * bodies) for _ in range(3)])


def suits(family: Relative) -> bool:
    """Whether each motion of the free tree has inertia, and few rows share their paths.

    If loops join very unequal bodies, a matrix with row exchanges is better than Phi_z M^-1 Phi_z^T.
    """
    if family.m > 0 and family.n + family.m <= MOST_WHOLE and unequal(family.system):
        return False
    if not family.has_short_paths:
        return False
    masses = family.tree.constant[:, [MASS, INERTIA]]
    return bool(np.all(masses > 0.0)) or _has_inertia(family)


def _has_inertia(family: Relative) -> bool:
    """Whether no pivot vanishes in the initial pose."""
    at_start = Configuration(0.0, family.positions(family.q), False)
    N, kind = _at_rest_in(family, at_start).tree.state[:-1], family.tree.numbers[:, KIND]
    turns = N[np.isin(kind, (PIN, SLOT, OWN_SLOT, FLOAT)), H]
    slides = N[np.isin(kind, (SLIDE, SLOT, OWN_SLOT, FLOAT)), SH]
    return all(_are_sound(reciprocals) for reciprocals in (turns, slides))


def _are_sound(reciprocals: Floats) -> bool:
    return bool(np.all(np.isfinite(reciprocals))) and bool(
        np.all(reciprocals * LIGHT <= reciprocals.min(initial=np.inf))
    )


def felt_by_loops(family: Relative, at: Configuration) -> Floats:
    """The diagonal of Phi_z M^-1 Phi_z^T."""
    loops, felt = _at_rest_in(family, at).loops, np.zeros(family.m + 1)
    for rows, (i, j) in zip(loops.group[:-1, [ROW, OTHER]], pairwise(loops.group[:, ENTRY]), strict=True):
        felt[rows] = (loops.W[i:j, [0, 2]] * loops.W[i:j, [1, 3]]).sum(axis=0)
    return filled(np.where(np.isfinite(felt), felt, 0.0)[: family.m])


def _at_rest_in(family: Relative, at: Configuration) -> RecursiveEquations:
    """EquationsOfMotion that were evaluated at rest in a configuration."""
    nothing = np.zeros(family.m)
    equations = RecursiveEquations(family, np.zeros(2), RowLimits(nothing, nothing, nothing), False)
    with np.errstate(all="ignore"):
        equations.accelerate(at.t, np.concatenate([at.z, np.zeros(family.n)]), np.empty(2 * family.n))
    return equations
