"""The order in which bodies and joints are eliminated from the equations of motion: little fill, no zero pivot.

Eliminating bodies and joints E means solving the mechanism made of E alone, with every other body held fixed. Its
matrix is regular in every pose if those joints form no loop. So a joint may be eliminated as soon as it does not
close a loop (through bodies still held fixed or through the ground); loop-closing joints come last, after
every body. Among the candidates, the one with the fewest neighbors goes first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

GROUND = -1


def elimination_order(
    bodies: int, joints: Sequence[Sequence[int]], rows: Sequence[Sequence[int]]
) -> list[int]:
    """Unknowns in the order of elimination: three per body, then one per row.

    joints[k] are the bodies that joint k connects, -1 for the ground; rows[k] are its rows.
    """
    order: list[int] = []
    for node in _Greedy(bodies, joints, [len(row) for row in rows]).run():
        if node < bodies:
            order += [3 * node, 3 * node + 1, 3 * node + 2]
        else:
            order += [3 * bodies + row for row in rows[node - bodies]]
    return order


class _Greedy:
    """Nodes are bodies, then joints. `near` is the elimination graph of what is left."""

    def __init__(self, bodies: int, joints: Sequence[Sequence[int]], sizes: Sequence[int]) -> None:
        self.bodies = bodies
        self.joints = [sorted(set(members)) for members in joints]
        self.size = [3] * bodies + list(sizes)
        self.near: list[set[int]] = [set() for _ in self.size]
        for k, members in enumerate(self.joints):
            for body in members:
                if body != GROUND:
                    self.near[body].add(bodies + k)
                    self.near[bodies + k].add(body)
        self.gone = [False] * len(self.size)
        # forests of eliminated bodies: union-find, and the fixed body each tree hangs on
        self.leader = list(range(bodies))
        self.anchor: list[int | None] = [None] * bodies
        self.hanging: dict[int, list[int]] = {}

    def run(self) -> list[int]:
        order = []
        heap = [(self.degree(node), node) for node in range(len(self.size))]
        heapq.heapify(heap)
        waiting: list[int] = []
        bodies_left = self.bodies
        while heap:
            degree, node = heapq.heappop(heap)
            if self.gone[node] or degree != self.degree(node):
                continue
            if node >= self.bodies and bodies_left and not self.take_joint(node - self.bodies):
                waiting.append(node)
                continue
            order.append(node)
            for other in self.eliminate(node):
                heapq.heappush(heap, (self.degree(other), other))
            if node < self.bodies:
                bodies_left -= 1
                self.take_body(node)
                for other in [w for w in waiting if w in self.touching(node) or bodies_left == 0]:
                    heapq.heappush(heap, (self.degree(other), other))
        return order

    def degree(self, node: int) -> int:
        return sum(self.size[other] for other in self.near[node])

    def touching(self, body: int) -> set[int]:
        return self.near[body]

    def eliminate(self, node: int) -> set[int]:
        """Remove the node; its neighbors become neighbors of each other."""
        self.gone[node] = True
        near = self.near[node]
        for other in near:
            self.near[other] |= near
            self.near[other] -= {node, other}
        return near

    def find(self, body: int) -> int:
        while self.leader[body] != body:
            self.leader[body] = self.leader[self.leader[body]]
            body = self.leader[body]
        return body

    def take_body(self, body: int) -> None:
        """Trees that hung on this body now include it and hang on nothing."""
        for root in self.hanging.pop(body, []):
            self.leader[self.find(root)] = body
        self.anchor[body] = None

    def take_joint(self, joint: int) -> bool:
        """Add the joint to the forest unless it closes a loop."""
        members = self.joints[joint]
        if len(members) > 2 or len(members) == 1:
            return False
        gone = [body for body in members if body != GROUND and self.gone[body]]
        if not gone:
            return False
        roots = [self.find(body) for body in gone]
        if len(gone) == 2:
            anchors = [self.anchor[root] for root in roots]
            if roots[0] == roots[1] or None not in anchors:
                return False
            self.join(roots[0], roots[1])
            return True
        if self.anchor[roots[0]] is not None:
            return False
        fixed = next(body for body in members if body != gone[0])
        self.anchor[roots[0]] = fixed
        self.hanging.setdefault(fixed, []).append(roots[0])
        return True

    def join(self, first: int, second: int) -> None:
        """One tree out of two, of which at most one is anchored."""
        kept, lost = (first, second) if self.anchor[first] is not None else (second, first)
        self.leader[lost] = kept
