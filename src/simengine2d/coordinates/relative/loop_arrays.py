"""The arrays of the rows that close loops of a tree."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.measure import X, Y
from ...system.constraints import SystemArrays
from ...system.workspace import new_workspace
from .loop_paths import grouped, loop_paths, path_of
from .loops import DIAGONAL, ENTRY, NODE, OTHER, PINNED, ROW, Loops, Refining
from .tree_motion import BODY, PARENT, Tree

if TYPE_CHECKING:
    from .relative import Relative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class RowLimits(NamedTuple):
    """Numbers of each row that closes a loop; see `Loops`."""

    compliance: Floats
    soft: Floats
    per_row: Floats
    """What an error is as a length of the mechanism."""


def new_loops(family: Relative, tree: Tree, stabilization: Floats, rows: RowLimits) -> Loops:
    """Arrays of the rows that close loops."""
    arrays, m = family.closing, family.m
    w, frame = new_workspace(arrays), np.zeros((arrays.frame_body.size, 5))

    def write_numbers() -> None:
        w.f[:] = [(family.system.functions[i].constant, 0.0, 0.0) for i in family.remaining_rows] or 0.0
        w.weight[:] = arrays.term_weight
        frame[:] = frames_of(arrays)

    family.system.follow_numbers(write_numbers)
    body = in_order(tree, arrays.frame_body)
    groups, nodes = paths_of_rows(tree, arrays)
    paths = loop_paths(tree, groups, nodes, m)
    group = np.zeros((len(groups) + 1, 7), dtype=np.int64)
    group[:-1, [ROW, OTHER]], group[:-1, DIAGONAL:PINNED] = paths.rows, paths.slots
    group[:, NODE], group[:, ENTRY] = paths.start, paths.entry
    group[:-1, PINNED] = [is_pin(arrays, rows) for rows in groups]
    return Loops(
        tree,
        tree.state.reshape(-1),
        arrays.functions,
        w,
        body,
        frame,
        np.column_stack([arrays.term_kind, arrays.term_a, arrays.term_b]),
        w.weight,
        arrays.row_period,
        arrays.row_start,
        group,
        paths.node,
        paths.freedom,
        paths.pair,
        paths.program,
        w.f,
        w.F,
        np.zeros((len(tree.numbers) + 1, 6)),
        np.zeros((paths.freedom.size, 4)),
        np.zeros((paths.program.column.size, 4)),
        np.zeros(m + 1),
        np.zeros(m + 1),
        np.zeros((len(groups), 2)),
        stabilization,
        np.append(rows.compliance, 1.0),
        np.append(rows.soft, 1.0),
    )


def is_pin(arrays: SystemArrays, rows: tuple[int, ...]) -> bool:
    """Whether two rows are x and y of the same frames."""
    first = arrays.row_start[list(rows)]
    lengths = arrays.row_start[np.array(rows) + 1] - first
    return (
        len(rows) == 2
        and lengths.tolist() == [1, 1]
        and arrays.term_kind[first].tolist() == [X, Y]
        and np.ptp(arrays.term_a[first]) == np.ptp(arrays.term_b[first]) == 0
    )


def new_refining(loops: Loops) -> Refining:
    m = loops.b.size
    return Refining(loops, np.zeros(m), np.zeros(m), np.zeros(loops.flat.size))


def frames_of(arrays: SystemArrays) -> Floats:
    """x, y, cos, sin and angle of all frames in their bodies."""
    return np.column_stack(
        [arrays.frame_x, arrays.frame_y, arrays.frame_cos, arrays.frame_sin, arrays.frame_angle]
    )


def in_order(tree: Tree, bodies: Ints) -> Ints:
    """Numbers of bodies in the tree; the ground stays the last."""
    node = np.append(np.argsort(tree.numbers[:, BODY]), len(tree.numbers))
    return node[bodies]


def deepest_nodes(tree: Tree, arrays: SystemArrays) -> Ints:
    """The outermost node of each row: no child has a lower number than its parent."""
    body = np.append(in_order(tree, np.arange(len(tree.numbers))), -1)[arrays.frame_body]
    outer, nodes = (
        np.full(arrays.row_start.size - 1, -1),
        np.maximum(body[arrays.term_a], body[arrays.term_b]),
    )
    np.maximum.at(outer, np.repeat(np.arange(outer.size), np.diff(arrays.row_start)), nodes)
    return outer


def paths_of_rows(tree: Tree, arrays: SystemArrays) -> tuple[list[tuple[int, ...]], list[list[int]]]:
    """Rows in groups, and the path of each group to the ground."""
    body = in_order(tree, arrays.frame_body)
    a, b, start = body[arrays.term_a].tolist(), body[arrays.term_b].tolist(), arrays.row_start.tolist()
    bodies = [{*a[i:j], *b[i:j]} for i, j in pairwise(start)]
    groups, parent = grouped(bodies), tree.numbers[:, PARENT].tolist()
    return groups, [path_of(parent, bodies[rows[0]]) for rows in groups]
