"""The spanning tree of a mechanism: every body is connected to the ground or to another body by one joint.

A joint can carry a body if its rows hold frame b at a point of frame a (x, y) or on a line of it (across), and perhaps
hold the angle between them (angle or misalignment), all at constant values:

                        angle held              angle free
    at a point          weld, 0 freedoms        pin, 1: angle
    on a line           slide, 1: along         slot, 2: along and angle

What a joint is called does not matter. All other rows, and those of joints that close loops, remain constraints.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from math import asin, pi, tau
from typing import NamedTuple

from ...model.frame import GROUND, PlacedFrame
from ...system.system import System


class TreeJoint(NamedTuple):
    """How a joint holds frame b on frame a."""

    name: str
    rows: tuple[int, ...]
    a: PlacedFrame
    b: PlacedFrame
    on_line: bool
    offset: tuple[float, float]
    """r_b - r_a: global components at a point; on a line (0, across) in the axes of a."""
    angle: float | None
    """Of frame b relative to frame a; None if it is free."""

    @property
    def is_pin(self) -> bool:
        """Whether its rows are x and y, in this order."""
        return not self.on_line and self.angle is None

    @property
    def freedoms(self) -> int:
        return self.on_line + (self.angle is None)


class Branch(NamedTuple):
    """A body and its connection: `joint` is None for a floating body, measured from the ground."""

    body: str
    parent: str
    joint: TreeJoint | None


# Joints that can carry a body -------------------------------------------------------------------------


def tree_joints(system: System, angles: dict[str, float]) -> Iterator[TreeJoint]:
    """The joints that can carry a body; `angles` of the bodies decide between two possible alignments."""
    for name, rows in _constant_rows(system).items():
        for (a, b), held in rows.items():
            joint = _tree_joint(name, a, b, held, angles)
            if joint is not None and a.body != b.body:
                yield joint
                break  # one joint carries one body


Held = dict[str, tuple[int, float]]
"""Row and value by kind of measure."""


def _constant_rows(system: System) -> dict[str, dict[tuple[PlacedFrame, PlacedFrame], Held]]:
    """Rows of one measure at a constant value, by joint and pair of frames; those of motors are left out."""
    by_joint: dict[str, dict[tuple[PlacedFrame, PlacedFrame], Held]] = {}
    driven = set(system.driver_rows.tolist())
    for i, ((name, row), function) in enumerate(zip(system.rows, system.functions, strict=True)):
        terms = row.measure.terms
        if len(terms) != 1 or row.formula is not None or not function.is_constant or i in driven:
            continue
        term = terms[0]
        assert isinstance(term.a, PlacedFrame) and isinstance(term.b, PlacedFrame)
        if term.weight != 0.0:
            held = by_joint.setdefault(name, {}).setdefault((term.a, term.b), {})
            held.setdefault(term.kind, (i, function.constant / term.weight))
    return by_joint


def _tree_joint(
    name: str, a: PlacedFrame, b: PlacedFrame, held: Held, angles: dict[str, float]
) -> TreeJoint | None:
    if "x" in held and "y" in held:
        place, offset = ["x", "y"], (held["x"][1], held["y"][1])
    elif "across" in held:
        place, offset = ["across"], (0.0, held["across"][1])
    else:
        return None
    turn, fixed = _held_angle(a, b, held, angles)
    rows = tuple(held[kind][0] for kind in [*place, *turn])
    return TreeJoint(name, rows, a, b, place == ["across"], offset, fixed)


def _held_angle(
    a: PlacedFrame, b: PlacedFrame, held: Held, angles: dict[str, float]
) -> tuple[list[str], float | None]:
    """The row that holds the angle, and the angle; of the two that a misalignment sin(angle) allows, the nearer one."""
    if "angle" in held:
        return ["angle"], held["angle"][1]
    if "misalignment" in held and abs(held["misalignment"][1]) <= 1.0:
        first, angle = asin(held["misalignment"][1]), _frame_angle(b, angles) - _frame_angle(a, angles)
        candidates = [option + tau * round((angle - option) / tau) for option in (first, pi - first)]
        return ["misalignment"], min(candidates, key=lambda option: abs(option - angle))
    return [], None


def _frame_angle(frame: PlacedFrame, angles: dict[str, float]) -> float:
    return angles[frame.body] + frame.angle


# The tree ---------------------------------------------------------------------------------------------


def spanning_tree(bodies: Sequence[str], joints: Sequence[TreeJoint]) -> list[Branch]:
    """Branches from the ground outward, parents before children, with short paths.

    Joints with one freedom or none go first, and among them those near the ground. A body that no joint reaches floats;
    of several the one with the most joints does, and carries its neighbors.
    """
    near: dict[str, list[int]] = {GROUND: [], **{body: [] for body in bodies}}
    for k, joint in enumerate(joints):
        near[joint.a.body].append(k)
        near[joint.b.body].append(k)
    branches: list[Branch] = []
    reached = {GROUND}
    _grow(GROUND, near, joints, reached, branches)
    for body in sorted(bodies, key=lambda name: -len(near[name])):
        if body not in reached:
            reached.add(body)
            branches.append(Branch(body, GROUND, None))
            _grow(body, near, joints, reached, branches)
    return branches


def _grow(
    root: str,
    near: dict[str, list[int]],
    joints: Sequence[TreeJoint],
    reached: set[str],
    branches: list[Branch],
) -> None:
    """Add all bodies connected to the root: the simplest joint first, then the nearest to the root."""
    heap: list[tuple[bool, int, int, str]] = []

    def offer(parent: str, depth: int) -> None:
        for k in near[parent]:
            heapq.heappush(heap, (joints[k].freedoms > 1, depth, k, parent))

    offer(root, 0)
    while heap:
        _, depth, k, parent = heapq.heappop(heap)
        joint = joints[k]
        body = joint.b.body if joint.a.body == parent else joint.a.body
        if body not in reached:
            reached.add(body)
            branches.append(Branch(body, parent, joint))
            offer(body, depth + 1)
