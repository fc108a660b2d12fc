"""A watch over the rank of the constraints along a motion, whatever its coordinates, formulation and integrator.

Row i of Phi_q, orthogonalized against the rows eliminated before it, keeps the fraction g_i of its length: the sine of
the angle between the row and the others. It is the root of the pivot of its multiplier relative to Phi_q W Phi_q^T,
where W contains lengths but no masses. Where constraints lose rank, some g_i becomes zero in proportion to |t - t*|. A
step may cross that pose; so the slopes of g_i at both ends are examined too:

    g_i falls at the first end, rises at the other, and steeply enough to have been zero between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Floats, Ints
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import BoundKernel, invoke, kernel_pointer, rare_kernel_pointer

# entries of the state
BEGUN, TIME, ALARMS, SHORTEST = range(4)
LAST, KNOWN = 4, 5  # row of the last pose in the trail, and how many there are
STATE_SIZE = 6
MOST_ALARMS = 64
TRAIL = 32  # poses looked at last

WIDEST = 0.5  # between two compared poses, in lengths of the mechanism or radians
MOST_PIECES = 50.0  # of one step: a body that flies away has no other poses
FINEST = 0.05  # to which a suspicion is narrowed down
ROUGH = 0.1  # of the displacement, by which velocities at its ends may miss it
USUAL = 0.25  # displacement after which rank is examined again
FINE = 0.02  # the same near a singular pose
SHARE = 0.3  # and between these, as a fraction of the smallest g
STEEPEST = 6.0  # of g per displacement
ALWAYS_ZERO = 1e-4  # largest g of a row that is always redundant
AHEAD = 1e-4  # for slopes, in lengths or radians
PIECES = 4


class RankContext(NamedTuple):
    """What the kernel works with. Poses and rates of two ends a, b and a place between them are rows of `q`, `qd`."""

    bodies_f: Any  # (z, zd, zdd) to (q, qd, qdd)
    bodies_c: Any
    shares_f: Any  # (t, q) to g of all rows
    shares_c: Any
    sizes: Floats
    z: Floats  # (z, zd, zdd)
    bodies: Floats  # (q, qd, qdd)
    y: Floats  # q
    g: Floats  # (3, m): at the ends and a little later
    slope: Floats  # (2, m)
    top: Floats  # largest g of each row so far
    first: Floats  # (2, n): q and qd of the pose that was looked at last
    first_g: Floats
    later: Floats  # q a little later
    q: Floats  # (2, n)
    qd: Floats
    t: Floats  # (2,)
    state: Floats
    alarms: Floats  # (MOST_ALARMS, 3): time, row and speed where rank may be lost
    alarm: Floats  # (1,): set to 1 with each of them
    trail: Floats  # (TRAIL, 1 + 2 n), a ring: time, q and qd of the poses that were looked at
    suspicion: Floats  # (4,): the displacement; where the suspicious piece begins and how wide it is; the row
    narrow_f: Any = 0
    narrow_c: Any = 0


class PivotShares(NamedTuple):
    """Context of `shares_of_pivots`."""

    solve_f: Any  # the pivots of bodies that know lengths and no masses
    solve_c: Any
    jac_start: Ints
    weight: Floats  # of each non-zero of Phi_q
    pivot: Ints  # slot of each multiplier's pivot, whose reciprocal is there
    data: Floats
    v: Floats


def watching(context: RankContext) -> BoundKernel:
    """`watch_rank` on a context, which narrows suspicions down on the same arrays."""
    narrow = narrow_down.bind(context)
    return watch_rank.bind(context._replace(narrow_f=narrow.f, narrow_c=narrow.c))


class Watched(NamedTuple):
    """Context of `finish_and_watch`."""

    finish_f: Any
    finish_c: Any
    watch_f: Any
    watch_c: Any


@kernel_pointer
def finish_and_watch(c, t, y, notes):
    """Finish a step, then look at it."""
    invoke(c.finish_f, c.finish_c, t, y, notes)
    invoke(c.watch_f, c.watch_c, t, y, notes)


@kernel_pointer
def measure_along(c, row, poses, out):
    """g of one row in some poses [t, q]."""
    wide = c.sizes.size + 1
    for k in range(out.size):
        measure(c, poses[k * wide], poses[k * wide + 1 : (k + 1) * wide], 2)
        out[k] = c.g[2, int(row)]


@kernel_pointer
def shares_of_pivots(c, t, q, g):
    """g of all rows in a pose."""
    invoke(c.solve_f, c.solve_c, t, q, q)
    for i in range(c.pivot.size):
        whole = 0.0
        for p in range(c.jac_start[i], c.jac_start[i + 1]):
            whole += c.data[p] * c.data[p] * c.weight[p]
        part = abs(c.v[c.pivot[i]]) * whole
        g[i] = np.sqrt(1.0 / part) if part > 0.0 and part < np.inf else (0.0 if part > 0.0 else 1.0)


@kernel_pointer
def watch_rank(c, t, y, notes):
    """Look whether constraints lost rank since the last look."""
    n, size = c.sizes.size, y.size
    for j in range(c.z.size):
        c.z[j] = y[j] if j < size else 0.0
    invoke(c.bodies_f, c.bodies_c, t, c.z, c.bodies)
    state = c.state
    if state[BEGUN] == 1.0 and t < state[TIME]:
        forget_after(c, t)
        invoke(c.bodies_f, c.bodies_c, t, c.z, c.bodies)
    if state[BEGUN] == 0.0 or t <= state[TIME]:
        if state[BEGUN] == 0.0:
            begin_watch(c, t)
        return
    way = 0.0
    for j in range(n):
        way = max(way, abs(c.bodies[j] - c.first[0, j]) / c.sizes[j])
    if way < state[SHORTEST] or not way < np.inf:
        return
    compare(c, t, way)
    remember(c, t)


@kernel
def begin_watch(c, t):
    """The first pose."""
    measure(c, t, c.bodies, 1)
    for i in range(c.top.size):
        c.top[i] = 0.0
    c.state[BEGUN], c.state[LAST], c.state[KNOWN] = 1.0, TRAIL - 1.0, 0.0
    remember(c, t)


@kernel
def remember(c, t):
    """The pose with its g in row 1 becomes the first end of the next comparison, and the last of the trail."""
    compare_from(c, t)
    row = (int(c.state[LAST]) + 1) % TRAIL
    c.trail[row, 0] = t
    for j in range(2 * c.sizes.size):
        c.trail[row, 1 + j] = c.bodies[j]
    c.state[LAST], c.state[KNOWN] = row, min(c.state[KNOWN] + 1.0, TRAIL)


@kernel
def forget_after(c, t):
    """Steps were taken back: poses and alarms later than t have not been."""
    state, kept = c.state, 0
    for k in range(int(min(state[ALARMS], MOST_ALARMS))):
        if c.alarms[k, 0] <= t:
            for j in range(3):
                c.alarms[kept, j] = c.alarms[k, j]
            kept += 1
    state[ALARMS] = kept
    while state[KNOWN] > 0.0 and c.trail[int(state[LAST]), 0] > t:
        state[LAST], state[KNOWN] = (state[LAST] + TRAIL - 1.0) % TRAIL, state[KNOWN] - 1.0
    if state[KNOWN] == 0.0:
        state[BEGUN] = 0.0
        return
    last = int(state[LAST])
    for j in range(2 * c.sizes.size):
        c.bodies[j] = c.trail[last, 1 + j]
    measure(c, c.trail[last, 0], c.bodies, 1)
    compare_from(c, c.trail[last, 0])


@kernel
def compare_from(c, t):
    """The pose with its g in row 1 becomes the first end of the next comparison."""
    n, least = c.sizes.size, 1.0
    for j in range(n):
        c.first[0, j], c.first[1, j] = c.bodies[j], c.bodies[n + j]
    for i in range(c.top.size):
        c.first_g[i], c.top[i] = c.g[1, i], max(c.top[i], c.g[1, i])
        if c.top[i] > ALWAYS_ZERO:
            least = min(least, c.g[1, i])
    c.state[TIME], c.state[SHORTEST] = t, min(USUAL, max(FINE, SHARE * least))


@kernel
def measure(c, t, q, k):
    """g of all rows in a pose, into row k."""
    for j in range(c.sizes.size):
        c.y[j] = q[j]
    invoke(c.shares_f, c.shares_c, t, c.y, c.g[k])


@kernel
def place_between(c, t, x, k):
    """Hermite's cubic a fraction x of the way, into end k.

    q = a + x (d + (1 - x) ((1 - x) (h ad - d) - x (h bd - d))),   d = b - a
    """
    n, h = c.sizes.size, t - c.state[TIME]
    c.t[k] = c.state[TIME] + x * h
    for j in range(n):
        d = c.bodies[j] - c.first[0, j]
        u, v = h * c.first[1, j] - d, h * c.bodies[n + j] - d
        c.q[k, j] = c.first[0, j] + x * (d + (1.0 - x) * ((1.0 - x) * u - x * v))
        bend = (1.0 - x) * (1.0 - 3.0 * x) * u - x * (2.0 - 3.0 * x) * v
        c.qd[k, j] = (d + bend) / h


@kernel
def compare(c, t, way):
    """Look at the way from the last pose to this one in pieces; suspicions become alarms."""
    pieces = int(min(way / WIDEST, MOST_PIECES)) + 1
    for k in range(pieces):
        place_between(c, t, k / pieces, 0)
        place_between(c, t, (k + 1.0) / pieces, 1)
        for i in range(c.top.size):
            c.g[0, i] = c.first_g[i]
        measure(c, c.t[1], c.q[1], 1)
        for i in range(c.top.size):
            c.first_g[i] = c.g[1, i]
        row = suspicious(c, way / pieces)
        if row >= 0:
            c.suspicion[0], c.suspicion[1] = way, k / pieces
            c.suspicion[2], c.suspicion[3] = 1.0 / pieces, row
            invoke(c.narrow_f, c.narrow_c, t, c.suspicion, c.suspicion)
    for i in range(c.top.size):
        c.g[1, i] = c.first_g[i]


@rare_kernel_pointer
def narrow_down(c, t, suspicion, out):
    """Divide a suspicious piece again and again; where suspicion stays it is noted."""
    way, x, width, row = suspicion[0], suspicion[1], suspicion[2], int(suspicion[3])
    rough = is_rough(c, t, way)
    while row >= 0 and width * way > FINEST and not rough:
        width, found = width / PIECES, -1
        for _ in range(PIECES):
            place_between(c, t, x, 0)
            place_between(c, t, x + width, 1)
            measure(c, c.t[0], c.q[0], 0)
            measure(c, c.t[1], c.q[1], 1)
            found = suspicious(c, way * width)
            if found >= 0:
                break
            x += width
        row = found
    if row >= 0:
        # |t - t*| falls to zero between the ends
        note_alarm(c, t, x + width * c.g[0, row] / (c.g[0, row] + c.g[1, row]), row)


@kernel
def is_rough(c, t, way):
    """Whether velocities do not lead from one end to the other, as on another branch: nothing is known between."""
    n, h, apart = c.sizes.size, t - c.state[TIME], 0.0
    for j in range(n):
        mean = 0.5 * h * (c.first[1, j] + c.bodies[n + j])
        apart = max(apart, abs(mean - (c.bodies[j] - c.first[0, j])) / c.sizes[j])
    return apart > ROUGH * way


@kernel
def note_alarm(c, t, x, row):
    k, speed = int(c.state[ALARMS]), 0.0
    c.state[ALARMS] += 1.0
    c.alarm[0] = 1.0
    if k < MOST_ALARMS:
        for j in range(c.sizes.size):
            speed = max(speed, abs(c.first[1, j]) / c.sizes[j])
        c.alarms[k, 0], c.alarms[k, 1] = c.state[TIME] + x * (t - c.state[TIME]), row
        c.alarms[k, 2] = speed


@kernel
def suspicious(c, way):
    """A row that may have been zero between the two ends; -1 where there is none."""
    h, near = c.t[1] - c.t[0], False
    for i in range(c.top.size):
        near = near or (c.top[i] > ALWAYS_ZERO and c.g[0, i] + c.g[1, i] <= STEEPEST * way)
    if not (near and find_slopes(c, 0)):
        return -1
    falls = False
    for i in range(c.top.size):
        falls = falls or (c.top[i] > ALWAYS_ZERO and c.g[0, i] + 2.0 * h * c.slope[0, i] < 0.0)
    if not (falls and find_slopes(c, 1)):
        return -1
    for i in range(c.top.size):
        total, rise = c.g[0, i] + c.g[1, i], 0.5 * h * (c.slope[1, i] - c.slope[0, i])
        turned = c.slope[0, i] < 0.0 and c.slope[1, i] > 0.0
        if c.top[i] > ALWAYS_ZERO and turned and rise > 0.5 * total:
            return i
    return -1


@kernel
def find_slopes(c, k):
    """The rates of all g at end k; False where nothing moves."""
    speed = 0.0
    for j in range(c.sizes.size):
        speed = max(speed, abs(c.qd[k, j]) / c.sizes[j])
    if speed == 0.0:
        return False
    later = AHEAD / speed
    for j in range(c.sizes.size):
        c.later[j] = c.q[k, j] + later * c.qd[k, j]
    measure(c, c.t[k] + later, c.later, 2)
    for i in range(c.top.size):
        c.slope[k, i] = (c.g[2, i] - c.g[k, i]) / later
    return True
