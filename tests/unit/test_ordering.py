"""The order of elimination and the fill, against the same written with sets."""

from __future__ import annotations

import heapq
import random

import numpy as np
import pytest

from simengine2d.numerics import ldl, ordering
from simengine2d.numerics.arrays import ascending, starts
from simengine2d.numerics.patterns import patterns

GROUND = -1


class Greedy:
    """Minimum degree over bodies and joints; a joint waits where it would close a loop."""

    def __init__(self, bodies, joints, sizes):
        self.bodies, self.joints = bodies, joints
        self.size = [3] * bodies + sizes
        self.near = [set() for _ in self.size]
        for k, members in enumerate(joints):
            for body in members:
                if body != GROUND:
                    self.near[body].add(bodies + k)
                    self.near[bodies + k].add(body)
        self.gone = [False] * len(self.size)
        self.tree = {body: {body} for body in range(bodies)}  # of eliminated bodies
        self.held_by = {body: None for body in range(bodies)}  # the fixed body that a tree hangs on

    def degree(self, node):
        return sum(self.size[other] for other in self.near[node])

    def run(self):
        order, waiting, left = [], set(), self.bodies
        heap = [(self.degree(node), node) for node in range(len(self.size))]
        heapq.heapify(heap)
        while heap:
            degree, node = heapq.heappop(heap)
            if self.gone[node] or degree != self.degree(node):
                continue
            if node >= self.bodies and left and not self.may_go(node - self.bodies):
                waiting.add(node)
                continue
            order.append(node)
            self.gone[node] = True
            near = self.near[node]
            for other in near:
                self.near[other] = (self.near[other] | near) - {node, other}
            again = set(near)
            if node < self.bodies:
                left -= 1
                self.take(node)
                again |= waiting if left == 0 else set()
            for other in again:
                heapq.heappush(heap, (self.degree(other), other))
        return order

    def root(self, body):
        return next(root for root, members in self.tree.items() if body in members)

    def take(self, body):
        for root in [root for root, held in self.held_by.items() if held == body and root in self.tree]:
            self.tree[body] |= self.tree.pop(root)
        self.held_by[body] = None

    def may_go(self, joint):
        members = self.joints[joint]
        gone = [body for body in members if body != GROUND and self.gone[body]]
        if len(members) != 2 or not gone:
            return False
        roots = [self.root(body) for body in gone]
        if len(gone) == 1:
            if self.held_by[roots[0]] is not None:
                return False
            self.held_by[roots[0]] = next(body for body in members if body != gone[0])
            return True
        held = [self.held_by[root] for root in roots]
        if roots[0] == roots[1] or None not in held:
            return False
        kept, lost = roots if held[0] is not None else reversed(roots)
        self.tree[kept] |= self.tree.pop(lost)
        return True


def random_joints(rng, bodies, count):
    sizes = [1, 2, 2, 2, 2, 2, 3]
    return [sorted({rng.randint(-1, bodies - 1) for _ in range(rng.choice(sizes))}) for _ in range(count)]


def compare(bodies, joints, rows):
    start = starts(np.array([len(members) for members in joints], dtype=np.int64))
    members = np.array([body for joint in joints for body in joint], dtype=np.int64)
    sizes = np.array([3] * bodies + rows, dtype=np.int64)
    assert ordering.node_order(bodies, start, members, sizes).tolist() == Greedy(bodies, joints, rows).run()


@pytest.mark.parametrize(
    "small",
    [pytest.param(300, id="as Python"), pytest.param(-1, id="compiled", marks=pytest.mark.slow)],
)
def test_the_order_is_that_of_sets(monkeypatch, small):
    monkeypatch.setattr(ordering, "SMALL", small)
    rng = random.Random(1)
    for _ in range(300):
        bodies = rng.randint(1, 25)
        joints = random_joints(rng, bodies, rng.randint(0, 45))
        compare(bodies, joints, [rng.randint(1, 3) for _ in joints])


@pytest.mark.slow
def test_the_order_of_a_large_tree_with_loops():
    rng = random.Random(2)
    joints = [[rng.randint(max(-1, k - 9), k - 1), k] for k in range(800)]
    joints += [sorted({rng.randint(-1, 799), rng.randint(0, 799)}) for _ in range(60)]
    compare(800, joints, [2] * len(joints))


def test_loops_are_found():
    assert ordering.joins_trees(3, np.array([[-1, 0], [0, 1], [1, 2]]))
    assert not ordering.joins_trees(3, np.array([[-1, 0], [0, 1], [1, 2], [-1, 2]]))
    assert not ordering.joins_trees(2, np.array([[0, 1], [0, 1]]))
    assert ordering.joins_trees(2, np.zeros((0, 2), dtype=np.int64))


def fill_by_sets(couplings, at):
    later = [set() for _ in at]
    for i, j in couplings:
        low, high = sorted((at[i], at[j]))
        if low != high:
            later[low].add(high)
    for row in later:
        if row:
            first = min(row)
            later[first] |= row - {first}
    return [sorted(row) for row in later]


@pytest.mark.parametrize(
    "small",
    [pytest.param(2_000, id="as Python"), pytest.param(-1, id="compiled", marks=pytest.mark.slow)],
)
def test_the_fill_and_the_updates_are_those_of_sets(monkeypatch, small):
    monkeypatch.setattr(ldl, "SMALL", small)
    rng = np.random.default_rng(5)
    for n in (1, 2, 7, 30):
        for count in (0, n, 2 * n):
            patterns.clear()
            couplings, order = rng.integers(0, n, (count, 2)), rng.permutation(n)
            program, at = ldl.analyze(couplings, order)
            rows = fill_by_sets(couplings, at)
            assert program.column.tolist() == [j for k, row in enumerate(rows) for j in (k, *row, n)]
            slot = {
                (k, int(program.column[p])): p
                for k in range(n)
                for p in range(program.pivot[k], program.pivot[k + 1])
            }
            updates = [
                slot[i, j] for row in rows for a, i in enumerate(row) for j in (*row[a:], n)
            ]  # v_ij -= v_ki v_kj / v_kk
            assert program.target.tolist() == updates


def test_ascending_values():
    assert ascending(np.array([3, -1, 3, 0, -1])).tolist() == [-1, 0, 3]
    assert ascending(np.zeros(0, dtype=np.int64)).tolist() == []
