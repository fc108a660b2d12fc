"""What `joint_forces` works with, and when the forces in joints are found so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...methods import Formulation
from ...numerics.kernel_pointer import BoundKernel
from ...system.elimination import elimination_program, lengths_per_row, unequal
from ...system.frames import FRAME_STATE
from ...system.row_parts import part_of_rows
from ..equations import Configuration, OutputMonitors, OutputMultipliers, new_monitors
from ..reference_point.multipliers import multipliers_of_bodies
from .held_rows import HeldRows
from .joint_forces import JointForces, joint_forces
from .loop_arrays import frames_of, in_order
from .loops import Loops
from .tree_motion import BODY, Tree

if TYPE_CHECKING:
    from .relative import Relative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def multipliers_of(
    family: Relative, loops: Loops, applied: Floats, formulation: Formulation, at: Configuration
) -> OutputMultipliers | None:
    """Where the accelerations are computed in the tree of the loops, and with them the `applied` forces.

    None if the whole system has to be solved: dependent rows share their load in the tree and in the loops alike, and
    if masses or lengths differ much, accelerations are corrected at outputs.
    """
    system, tree = family.system, loops.T
    held = family.held_rows()
    implied = sum(map(len, held)) + family.m < system.m  # some rows hold in every pose
    if at.redundant or implied or unequal(system):
        return None
    body, (pin, weights) = tree.numbers[:, BODY], pins_of(family, tree)
    arms, weight, per_row = np.zeros(len(body)), np.ones(pin.shape), np.zeros(system.m)

    def write_numbers() -> None:
        arms[:], per_row[:] = system.arms[body], lengths_per_row(system)
        weight[pin[:, 0] >= 0] = weights()

    system.follow_numbers(write_numbers)
    follows = not formulation.gives_way and formulation.stabilization == (0.0, 0.0)
    whole, monitors = whole_system(family, follows)
    context = JointForces(
        tree,
        arms,
        per_row,
        applied,
        pin,
        weight,
        np.zeros((len(body), 5)),
        other_joints(family, tree, held),
        loops,
        np.array(family.remaining_rows, dtype=np.int64),
        int(follows),
        np.zeros(5),
        monitors,
        *(whole[:2] if whole else (0, 0)),
    )
    return OutputMultipliers(joint_forces.bind(context), monitors)


def pins_of(family: Relative, tree: Tree) -> tuple[Ints, Callable[[], Floats]]:
    """The rows of the pins of the tree, and a function for their weights."""
    S, pin = family.system.arrays, np.full((len(family.branches), 2), -1, dtype=np.int64)
    pins = [k for k, branch in enumerate(family.branches) if branch.joint is not None and branch.joint.is_pin]
    rows = np.array([family.branches[k].joint.rows for k in pins], dtype=np.int64).reshape(-1, 2)  # type: ignore[union-attr]
    pin[pins] = rows
    term = S.row_start[rows]
    side = np.where(S.frame_body[S.term_b[term]] == tree.numbers[pins, BODY, None], 1.0, -1.0)
    return pin, lambda: side * S.term_weight[term]


def other_joints(family: Relative, tree: Tree, held: list[tuple[int, ...]]) -> HeldRows:
    """The rows of the other joints of the tree."""
    system, joints = family.system, [branch.joint for branch in family.branches]
    rows = [() if joint is None or joint.is_pin else each for joint, each in zip(joints, held, strict=True)]
    number, S = np.array([i for each in rows for i in each], dtype=np.int64), system.arrays
    part = part_of_rows(S.mass.size, number, S.frame_body, S.row_start, S.term_kind, S.term_a, S.term_b)
    R, frames = part.structure, part.frames.size
    frame, weight, f = np.zeros((frames, 5)), np.zeros(part.terms.size), np.zeros((number.size, 3))

    def write_numbers() -> None:
        frame[:], weight[:] = frames_of(S)[part.frames], S.term_weight[part.terms]
        f[:, 0] = [system.functions[i].constant for i in number]

    system.follow_numbers(write_numbers)
    return HeldRows(
        number, np.cumsum([0, *map(len, rows)]), in_order(tree, R.frame_body), frame, np.zeros((frames, FRAME_STATE)),
        np.column_stack([R.term_kind, R.term_a, R.term_b]), weight, S.row_period[number], R.row_start, f,
        np.zeros((number.size, 7)), np.zeros((3, 3)), np.zeros((3, 3)),
    )  # fmt: skip


def whole_system(family: Relative, follows: bool) -> tuple[BoundKernel | None, OutputMonitors]:
    """Multipliers from the whole system, where loops are closed; the watch over their rank needs its program anyway."""
    if family.m == 0:
        return None, new_monitors()
    d = elimination_program(family.system, False, False)
    return multipliers_of_bodies(family.system, d, family.system.new_workspace(d), follows)
