"""The order in which bodies and joints are eliminated from the equations of motion: little fill, no zero pivot.

Eliminating bodies and joints E means solving the mechanism made of E alone, with every other body held fixed. Its
matrix is regular in every pose if those joints form no loop. So a joint may be eliminated as soon as it does not
close a loop (through bodies still held fixed or through the ground); loop-closing joints come last, after
every body. Among the candidates, the one with the fewest neighbors goes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Ints, starts
from .kernel import kernel, plain

GROUND, NONE = -1, -2
SMALL = 300  # bodies and joints up to which an order is not worth compiling


def elimination_order(bodies: int, joint_start: Ints, members: Ints, rows: Ints) -> Ints:
    """Unknowns in the order of elimination: three per body, then one per row.

    The bodies that joint k connects are members[joint_start[k] : joint_start[k + 1]], ascending, -1 for the ground;
    it has rows[k] rows, which are numbered one joint after the other.
    """
    sizes = np.concatenate([np.full(bodies, 3), rows])
    unknown = starts(sizes)[:-1]
    nodes = node_order(bodies, joint_start, members, sizes)
    count = sizes[nodes]
    return np.repeat(unknown[nodes] - starts(count)[:-1], count) + np.arange(count.sum())


def node_order(bodies: int, joint_start: Ints, members: Ints, sizes: Ints) -> Ints:
    """The order of bodies and joints, numbered after them."""
    order = np.empty(sizes.size, dtype=np.int64)
    quick = eliminate_nodes if sizes.size > SMALL else plain(eliminate_nodes)
    room = 2
    while not quick(_graph(bodies, joint_start, members, sizes, room), order):
        room *= 4
    return order


def joins_trees(bodies: int, pairs: Ints) -> bool:
    """Whether joints between pairs of bodies, -1 for the ground, close no loop."""
    leader = np.arange(bodies + 1)
    quick = closes_no_loop if bodies > SMALL else plain(closes_no_loop)
    return bool(quick(leader, pairs % (bodies + 1)))


class Graph(NamedTuple):
    """Bodies, then joints, with the elimination graph of what is left.

    Neighbors of a node are pool[at : at + neighbors] of it; those that are gone are skipped. Bodies that are gone form
    forests: `leader` leads to the root of a tree, and the tree hangs on the fixed body `anchor` of its root.
    """

    bodies: int
    joint_start: Ints
    members: Ints
    size: Ints
    at: Ints
    neighbors: Ints
    room: Ints
    pool: Ints
    degree: Ints  # unknowns of the neighbors
    gone: Ints
    waiting: Ints  # joints that would close a loop
    mark: Ints
    leader: Ints
    anchor: Ints
    hanging: Ints  # first of the trees that hang on a body
    next: Ints  # the tree that hangs on the same body
    heap: Ints  # degree * nodes + node
    used: Ints  # of the pool, and of the heap


def _graph(bodies: int, joint_start: Ints, members: Ints, sizes: Ints, room: int) -> Graph:
    """The graph at the start, with a pool of `room` times its size."""
    n, joint = sizes.size, np.repeat(np.arange(joint_start.size - 1), np.diff(joint_start)) + bodies
    held = members != GROUND
    here, there = np.concatenate([members[held], joint[held]]), np.concatenate([joint[held], members[held]])
    count = np.bincount(here, minlength=n)
    pool = np.zeros(room * here.size + 16, dtype=np.int64)
    pool[: here.size] = there[np.argsort(here, kind="stable")]
    degree = np.bincount(here, sizes[there], minlength=n).astype(np.int64)
    filled, zeros = lambda value: np.full(n, value, dtype=np.int64), lambda: np.zeros(n, dtype=np.int64)
    return Graph(
        bodies, joint_start, members, sizes, starts(count)[:-1], count, count.copy(), pool, degree, zeros(), zeros(),
        filled(NONE), np.arange(n), filled(NONE), filled(NONE), filled(NONE),
        np.zeros(4 * n + 64, dtype=np.int64), np.array([here.size, 0]),
    )  # fmt: skip


# Kernels ----------------------------------------------------------------------------------------------


@kernel(entry=True)
def eliminate_nodes(G, order):
    """Write the order; False if the pool is too small for the fill."""
    n, done, left = order.size, 0, G.bodies
    fill_heap(G, left)
    while G.used[1] > 0:
        key = pop(G)
        node = key % n
        if G.gone[node] == 1 or key // n != G.degree[node]:
            continue
        if node >= G.bodies and left > 0 and not take_joint(G, node - G.bodies):
            G.waiting[node] = 1
            continue
        order[done] = node
        done += 1
        if not eliminate_node(G, node, left):
            return False
        if node < G.bodies:
            left -= 1
            take_body(G, node)
            if left == 0:
                fill_heap(G, left)
    return True


# a heap of nodes by their degrees


@kernel
def fill_heap(G, left):
    """All nodes that are left; while there are bodies among them, without joints that wait."""
    heap, n, size = G.heap, G.size.size, 0
    for node in range(n):
        if G.gone[node] == 0 and (G.waiting[node] == 0 or left == 0):
            heap[size] = G.degree[node] * n + node
            size += 1
    G.used[1] = size
    for k in range(size // 2 - 1, -1, -1):
        sink(heap, size, k, heap[k])


@kernel
def push(G, node, left):
    """Add a node. Earlier entries of it have another degree; where they fill the heap, it is made anew."""
    G.waiting[node] = 0
    if G.used[1] == G.heap.size:
        fill_heap(G, left)
    heap, key, k = G.heap, G.degree[node] * G.size.size + node, G.used[1]
    G.used[1] += 1
    while k > 0 and heap[(k - 1) // 2] > key:
        heap[k] = heap[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k] = key


@kernel
def pop(G):
    """The smallest entry of the heap."""
    smallest = G.heap[0]
    G.used[1] -= 1
    sink(G.heap, G.used[1], 0, G.heap[G.used[1]])
    return smallest


@kernel
def sink(heap, size, k, key):
    """Put a key at place k, or further down."""
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = key


# the elimination graph


@kernel
def eliminate_node(G, node, left):
    """Remove the node; its neighbors become neighbors of each other. False if the pool is full."""
    G.gone[node] = 1
    count = keep_present(G, node)
    first = G.at[node]
    for p in range(first, first + count):
        other = G.pool[p]
        G.degree[other] -= G.size[node]
        if count > 1 and not add_neighbors(G, other, first, count):
            return False
    for p in range(first, first + count):
        push(G, G.pool[p], left)
    return True


@kernel
def keep_present(G, node):
    """Forget the neighbors that are gone; returns how many are left."""
    first, kept = G.at[node], 0
    for p in range(first, first + G.neighbors[node]):
        if G.gone[G.pool[p]] == 0:
            G.pool[first + kept] = G.pool[p]
            kept += 1
    G.neighbors[node] = kept
    return kept


@kernel
def add_neighbors(G, node, first, count):
    """Add pool[first : first + count] to the neighbors of the node."""
    present = keep_present(G, node)
    if not make_room(G, node, present + count):
        return False
    pool, at = G.pool, G.at[node]
    G.mark[node] = node
    for p in range(at, at + present):
        G.mark[pool[p]] = node
    for p in range(first, first + count):
        if G.mark[pool[p]] != node:
            G.mark[pool[p]] = node
            pool[at + G.neighbors[node]] = pool[p]
            G.neighbors[node] += 1
            G.degree[node] += G.size[pool[p]]
    for p in range(at, at + G.neighbors[node]):
        G.mark[pool[p]] = NONE
    G.mark[node] = NONE
    return True


@kernel
def make_room(G, node, wanted):
    """Move the neighbors of a node to the end of the pool if they have too little room."""
    if wanted <= G.room[node]:
        return True
    if G.used[0] + 2 * wanted > G.pool.size:
        return False
    for k in range(G.neighbors[node]):
        G.pool[G.used[0] + k] = G.pool[G.at[node] + k]
    G.at[node], G.room[node] = G.used[0], 2 * wanted
    G.used[0] += 2 * wanted
    return True


# the forests of what is gone


@kernel(entry=True)
def closes_no_loop(leader, pairs):
    for k in range(pairs.shape[0]):
        a, b = root_of(leader, pairs[k, 0]), root_of(leader, pairs[k, 1])
        if a == b:
            return False
        leader[a] = b
    return True


@kernel
def root_of(leader, body):
    """The root of the tree of a body; the way to it is halved."""
    while leader[body] != body:
        leader[body] = leader[leader[body]]
        body = leader[body]
    return body


@kernel
def take_body(G, body):
    """Trees that hung on this body now include it and hang on nothing."""
    tree = G.hanging[body]
    while tree != NONE:
        G.leader[root_of(G.leader, tree)] = body
        tree = G.next[tree]
    G.anchor[body] = NONE


@kernel
def take_joint(G, joint):
    """Add the joint to the forest unless it closes a loop."""
    first = G.joint_start[joint]
    if G.joint_start[joint + 1] - first != 2:
        return False
    a, b = G.members[first], G.members[first + 1]
    a_gone, b_gone = a != GROUND and G.gone[a] == 1, b != GROUND and G.gone[b] == 1
    if a_gone and b_gone:
        return join(G, root_of(G.leader, a), root_of(G.leader, b))
    if not a_gone and not b_gone:
        return False
    root, fixed = (root_of(G.leader, a), b) if a_gone else (root_of(G.leader, b), a)
    if G.anchor[root] != NONE:
        return False
    G.anchor[root] = fixed
    if fixed != GROUND:
        G.next[root], G.hanging[fixed] = G.hanging[fixed], root
    return True


@kernel
def join(G, first, second):
    """One tree out of two, if at most one of them is anchored."""
    if first == second or (G.anchor[first] != NONE and G.anchor[second] != NONE):
        return False
    if G.anchor[first] != NONE:
        G.leader[second] = first
    else:
        G.leader[first] = second
    return True
