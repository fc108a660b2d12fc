from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import UnsupportedError
from ...methods import Formulation
from ...model.frame import GROUND
from ...numerics.kernel import kernel
from ...numerics.kernel_pointer import BoundKernel, kernel_pointer
from ...system.constraints import SystemArrays, constant_arrays, rows_of_slopes
from ...system.elimination import unequal
from ...system.evaluation import Evaluator
from ...system.renumbering import OwnSystem, overwrite
from ...system.row_parts import some_rows
from ...system.system import NO_LOADS, System
from ..base import refuse_unknown
from ..body_map import BodyMap, MapPointers, MapShape
from ..equations import Configuration, EquationsOfMotion
from ..mapped import MappedFamily
from ..transform import transform, transform_masses
from . import stage_map
from .loop_arrays import deepest_nodes, paths_of_rows
from .loop_paths import fewest_products, products
from .recursive import recursive_equations, suits
from .row_shares import row_shares
from .tree import Branch, spanning_tree, tree_joints
from .tree_measures import tree_measures
from .tree_motion import (
    BODY,
    BX,
    BY,
    CX,
    CY,
    DX,
    DY,
    EX,
    EY,
    FIRST,
    FLOAT,
    IX,
    IY,
    KIND,
    OMEGA,
    OWN_SLOT,
    PARENT,
    PIN,
    SIGN,
    SLIDE,
    WELD,
    Tree,
    accelerate_tree,
    move_tree,
    tree_arrays,
    write_acceleration,
    write_place,
)  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


# Kernels ----------------------------------------------------------------------------------------------


@kernel_pointer
def evaluate_matrices(c, t, y, out):
    """q = f(z), qd = R zd, R and Rd zd, from the ground outward."""
    T, E = c.Z, c.E
    move_tree(T, y, True)
    for k in range(T.numbers.shape[0]):
        write_place(T.state, k, 3 * T.numbers[k, BODY], E.q, E.qd)
        # R = R of the parent, carried along its arm to this mass center, and the columns of the joint
        write_columns(T, E.R, k)
        write_bias(T, E.bias, k)
    transform(c, t)
    transform_masses(c.S, E)


@kernel
def write_columns(T, R, k):
    """Rows of R for body k; R of the ground is zero."""
    N, i, p, kind, first = (
        T.state,
        3 * T.numbers[k, BODY],
        T.numbers[k, PARENT],
        T.numbers[k, KIND],
        T.numbers[k, FIRST],
    )
    if p < T.numbers.shape[0]:
        h = 3 * T.numbers[p, BODY]
        ax, ay = N[k, DX] + N[k, CX] - N[p, CX], N[k, DY] + N[k, CY] - N[p, CY]
        for j in range(first):
            R[i, j] = R[h, j] - ay * R[h + 2, j]
            R[i + 1, j] = R[h + 1, j] + ax * R[h + 2, j]
            R[i + 2, j] = R[h + 2, j]
    if kind == FLOAT:
        R[i, first] = R[i + 1, first + 1] = R[i + 2, first + 2] = 1.0
    elif kind != WELD:
        turn = first if kind == PIN else first + 1
        if kind != PIN:
            R[i, first], R[i + 1, first] = N[k, EX], N[k, EY]
        if kind != SLIDE:
            sign = T.constant[k, SIGN]
            R[i, turn], R[i + 1, turn], R[i + 2, turn] = -sign * N[k, CY], sign * N[k, CX], sign


@kernel
def write_bias(T, bias, k):
    """Rd zd of body k: the acceleration of its mass center for zdd = 0."""
    N, i, p = T.state, 3 * T.numbers[k, BODY], T.numbers[k, PARENT]
    bx, by = N[k, BX], N[k, BY]
    if T.numbers[k, KIND] == OWN_SLOT:
        bx, by = bx + N[k, IX], by + N[k, IY]
    if p < T.numbers.shape[0]:  # of the parent's O, from its mass center
        h, omega2 = 3 * T.numbers[p, BODY], N[p, OMEGA] * N[p, OMEGA]
        bx, by = bx + bias[h] + omega2 * N[p, CX], by + bias[h + 1] + omega2 * N[p, CY]
    omega2 = N[k, OMEGA] * N[k, OMEGA]
    bias[i], bias[i + 1] = bx - omega2 * N[k, CX], by - omega2 * N[k, CY]


class Moving(NamedTuple):
    """Context of `move_bodies`."""

    T: Tree


@kernel_pointer
def move_bodies(c, t, y, out):
    """(z, zd, zdd) to (q, qd, qdd), at a cost linear in the number of bodies."""
    T, n, nb = c.T, y.size // 3, c.T.numbers.shape[0]
    q, qd, qdd = out[: 3 * nb], out[3 * nb : 6 * nb], out[6 * nb :]
    N = T.state
    move_tree(T, y[: 2 * n], True)
    accelerate_tree(T, y[2 * n :])
    for k in range(nb):
        i = 3 * T.numbers[k, BODY]
        write_place(N, k, i, q, qd)
        write_acceleration(N, k, i, nb, qdd)


# The family -------------------------------------------------------------------------------------------


POSES = 3  # random poses of the tree in which a row must hold to count as always satisfied
HOLDS = 1e-11  # error of a satisfied row, relative to what moves it
MOST_DENSE = 50_000_000  # entries of R
FRAME_NUMBERS = slice(SystemArrays._fields.index("frame_x"), SystemArrays._fields.index("frame_sin") + 1)
MOST_PRODUCTS = 5_000_000  # of entries of W; the multipliers of more would cost more than dense matrices


def _shape_of(system: System, q: Floats) -> Hashable:
    """Equal for Systems whose tree is the same but for masses."""
    return system.geometry, tuple(system.body_names), tuple(system.row_names), q.tobytes()


class Relative(MappedFamily):
    """Joint coordinates of a spanning tree: angles and displacements; joints that close loops are constraints.

    A body is connected to the ground or to another body by a pin (its relative angle), a slide (its displacement along
    the axis), a slot (both) or a weld (nothing). A body that no such joint reaches has x, y and phi.
    """

    name: ClassVar[str] = "relative"
    choices: ClassVar[tuple[str, ...]] = ("cut",)
    """Joints that shall close loops rather than carry a body."""
    evaluate = evaluate_matrices

    def __init__(
        self, system: System, q: Floats, chosen: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        super().__init__(system, q, chosen)
        refuse_unknown(self, "cut", [name for name in system.resolved.rows], "joint")
        self.own_rows = []
        self._branch_out(q)
        self.tree = self.own_arrays = tree_arrays(system.bodies, self.branches)
        self.measures, *self.slides = tree_measures(system, self.branches)
        self.measured = Evaluator(self.measures, NO_LOADS)
        self._write_slides()
        self.to_bodies = move_bodies.bind(Moving(self.tree))
        self.constant_rows = self._constant_rows()
        self.constant_arrays = self._arrays_of(self.constant_rows)
        self.evaluated = Evaluator(self.constant_arrays, NO_LOADS)
        self.remaining_rows = self._rows_left()

    def _branch_out(self, q: Floats) -> None:
        """The tree of a pose, the names of its coordinates, and what a large change of each is."""
        system, bodies = self.system, [body.name for body in self.system.bodies]
        angles = {GROUND: 0.0, **dict(zip(bodies, q[2::3].tolist(), strict=True))}
        self.q = q
        cut = self.chosen.get("cut", ())
        joints = [joint for joint in tree_joints(system, angles) if joint.name not in cut]
        self.branches = spanning_tree(bodies, joints)
        labels = [pair for branch in self.branches for pair in labels_of(branch)]
        self.names = [f"{owner}.{label}" for owner, label in labels]
        self.sizes = np.array([1.0 if label in ("angle", "phi") else system.length for _, label in labels])

    def _write_slides(self) -> None:
        """All other frames are those of the bodies themselves, and have no numbers."""
        M, S, (here, there) = self.measures, self.system.arrays, self.slides
        for old, new in zip(M[FRAME_NUMBERS], S[FRAME_NUMBERS], strict=True):
            values = old.copy()
            values[here] = new[there]
            overwrite(old, values)

    def take_numbers(self, system: System, q: Floats) -> bool:
        own = self.system
        if not isinstance(own, OwnSystem):
            return False
        if own.source is system and self.q is q:
            return True
        shape, uneven = _shape_of(own, self.q), unequal(own)
        if not self.is_recursive or not own.take_numbers(system) or unequal(own) != uneven:
            return False
        alike, self.q = _shape_of(own, q) == shape, q  # then only masses and forces differ
        if not (alike or self._take_branches(q)):
            return False
        tree = tree_arrays(own.bodies, self.branches)
        if not overwrite(self.tree[:2], tree[:2]) or not (alike or self._take_rows()):
            return False
        self.__dict__.pop("is_recursive", None)
        own.write_again()
        return self.is_recursive

    def _take_branches(self, q: Floats) -> bool:
        """Branch out in another pose; False where other joints carry the bodies."""
        held = self.held_rows()
        self._branch_out(q)
        return self.held_rows() == held

    def _take_rows(self) -> bool:
        """Write the frames of other slides and rows; False where other rows close the loops."""
        left = self.remaining_rows
        self._write_slides()
        return (
            self._constant_rows() == self.constant_rows and self._write_rows() and self._rows_left() == left
        )

    def _write_rows(self) -> bool:
        """The numbers of the rows that no joint of the tree holds; False where they differ in more."""
        given = [(self.constant_rows, self.constant_arrays)]
        if self.closing is not self.constant_arrays:
            given.append((self.remaining_rows, self.closing))
        return all(overwrite(arrays, self._arrays_of(rows)) for rows, arrays in given)

    def held_rows(self) -> list[tuple[int, ...]]:
        """The rows that the joint of each branch holds."""
        return [branch.joint.rows if branch.joint else () for branch in self.branches]

    def _other_rows(self) -> list[int]:
        """Those that no joint of the tree holds."""
        held = {i for rows in self.held_rows() for i in rows}
        return [i for i in range(self.system.m) if i not in held]

    def _constant_rows(self) -> list[int]:
        """Those of them that hold measures at constant values."""
        rows, functions = self.system.rows, self.system.functions
        return [i for i in self._other_rows() if functions[i].is_constant and rows[i][1].formula is None]

    def _rows_left(self) -> list[int]:
        """The rows that close loops: all others hold in every pose of the tree, such as a second pin at the same point.

        Functions of the user's are not asked about random poses.
        """
        constant, S = self.constant_rows, self.constant_arrays
        if not constant:
            return self._other_rows()
        holds, row, z = (
            np.ones(len(constant), dtype=bool),
            rows_of_slopes(S.jac_start),
            self.positions(self.q),
        )
        for moved in random_poses(self.n):
            q = self.bodies(0.0, z + self.sizes * moved, *np.zeros((2, self.n))).q
            errors = self.evaluated(0.0, q, np.zeros(q.size))
            terms = np.abs(self.evaluated.w.data) * np.maximum(np.abs(q), self.system.sizes)[S.jac_column]
            largest = np.zeros(holds.size)  # a row may have no slopes at all
            np.maximum.at(largest, row, terms)
            holds &= np.abs(errors) <= HOLDS * largest
            if not holds.any():
                break
        satisfied = {i for i, held in zip(constant, holds, strict=True) if held}
        return [i for i in self._other_rows() if i not in satisfied]

    def _arrays_of(self, rows: list[int]) -> SystemArrays:
        """The arrays of some rows, without forces."""
        system, functions = self.system, [self.system.functions[i] for i in rows]
        if all(system.rows[i][1].formula is None for i in rows):
            return some_rows(system.arrays, np.array(rows, dtype=np.int64), functions)
        measures = [system.rows[i][1] for i in rows]
        return constant_arrays(system.bodies, system.resolved.gravity, measures, functions)[0]

    @cached_property
    def closing(self) -> SystemArrays:
        """The arrays of the rows that close loops."""
        if self.remaining_rows == self.constant_rows:
            return self.constant_arrays
        return self._arrays_of(self.remaining_rows)

    @property
    def has_short_paths(self) -> bool:
        """Whether few rows share their paths to the ground; numbers do not matter."""
        return self.has_few_products(MOST_PRODUCTS)

    def has_few_products(self, most: int) -> bool:
        """Whether rows that share their paths to the ground make few products. Long paths are not followed."""
        return self._fewest_products <= most and self._products <= most

    @cached_property
    def _fewest_products(self) -> int:
        return fewest_products(self.tree, deepest_nodes(self.tree, self.closing)) if self.m else 0

    @cached_property
    def _products(self) -> int:
        return products(self.tree, paths_of_rows(self.tree, self.closing)[1]) if self.m else 0

    @cached_property
    def is_recursive(self) -> bool:
        """Whether its equations are solved on articulated bodies."""
        return suits(self)

    def equations_of_motion(self, formulation: Formulation, at: Configuration) -> EquationsOfMotion:
        """Recursively if possible, else by the map of its bodies."""
        if self.is_recursive:
            return recursive_equations(self, formulation, at)
        return super().equations_of_motion(formulation, at)

    def row_shares(self, masses: Floats) -> BoundKernel | None:
        """By elimination of the joints of the tree."""
        return row_shares(self, masses) if self.is_recursive and self.m > 0 else None

    def map_shape(self) -> MapShape:
        return stage_map.map_shape(self)

    def map_pointers(self, X: BodyMap) -> MapPointers:
        return stage_map.map_pointers(self, X)

    def prepare(self) -> None:
        if 3 * len(self.branches) * self.n > MOST_DENSE:
            raise UnsupportedError(
                f"in relative coordinates, dense matrices for {self.n} coordinates do not fit into memory. Use a "
                "recursive formulation, such as 'augmented', or coordinates='reference_point'."
            )
        super().prepare()

    def positions(self, q: Floats) -> Floats:
        return self.state_of(q, np.zeros(q.size))[: self.n]

    def velocities(self, q: Floats, qd: Floats) -> Floats:
        return self.state_of(q, qd)[self.n :]

    def state_of(self, q: Floats, qd: Floats) -> Floats:
        """The coordinates are measures between bodies: z = s(q), zd = s_q qd."""
        S = self.measures
        z = self.measured(0.0, np.asarray(q, dtype=float), np.asarray(qd, dtype=float))
        rates = self.measured.w.data * qd[S.jac_column]
        return np.concatenate([z, np.bincount(rows_of_slopes(S.jac_start), rates, minlength=self.n)])


@lru_cache(maxsize=16)
def random_poses(n: int) -> Floats:
    """Where rows are examined, the same for all trees of n coordinates."""
    return np.random.default_rng(1).uniform(-1.0, 1.0, (POSES, n))


def labels_of(branch: Branch) -> list[tuple[str, str]]:
    """What each coordinate of a branch is of, and what it is."""
    joint = branch.joint
    if joint is None:
        return [(branch.body, label) for label in ("x", "y", "phi")]
    labels = ["along"] * joint.on_line + ["angle"] * (joint.angle is None)
    return [(joint.name, label) for label in labels]
