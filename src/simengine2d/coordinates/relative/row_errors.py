"""What holds: the errors of pins and of other rows at an output, at all levels, from the motion of the bodies.

Phi,      Phi_q qd - nu,      Phi_q qdd - gamma
"""

from __future__ import annotations

from ...numerics.kernel import kernel
from ...numerics.lanes import anywhere, larger
from ...system.frames import EX as ARM_X
from ...system.frames import EY as ARM_Y
from ...system.frames import PX as PLACE_X
from ...system.frames import PY as PLACE_Y
from ...system.frames import term_gradient, term_second_order
from ...system.kkt_refinement import larger_share
from .loops import row_rate, row_value
from .tree_motion import ALPHA, AX, AY, BODY, CX, CY, DX, DY, GX0, GY0, PARENT

# the largest errors of rows: of positions, velocities and accelerations; the first as a length; the last relative to
# its terms
POSITION, VELOCITY, ACCELERATION, GAP, SHARED = range(5)


@kernel(inline=True)
def pin_errors(T, k, y):
    """Of a pin of the tree, whose point of the body is compared with that of the parent; see `point_errors`."""
    index, N, J, n = T.numbers, T.state, T.constant, y.size // 3
    p, i = index[k, PARENT], 3 * index[k, BODY]
    one = point_of(y, n, i, -N[k, CX], -N[k, CY])
    other = (N[k, DX], N[k, DY], 0.0, 0.0, 0.0, 0.0)
    if p < index.shape[0]:
        other = point_of(y, n, 3 * index[p, BODY], N[k, DX] - N[p, CX], N[k, DY] - N[p, CY])
    gap = (one[0] - other[0] - J[k, GX0], one[1] - other[1] - J[k, GY0])
    size = larger(abs(one[4]) + abs(one[5]), abs(y[2 * n + i]) + abs(y[2 * n + i + 1]))
    return *point_errors(gap, one, other), size


@kernel(inline=True)
def point_errors(gap, one, other):
    """The largest of Phi, Phi_q qd - nu and Phi_q qdd - gamma of a pin."""
    position = larger(abs(gap[0]), abs(gap[1]))
    rate = larger(abs(one[2] - other[2]), abs(one[3] - other[3]))
    return position, rate, larger(abs(one[4] - other[4]), abs(one[5] - other[5]))


@kernel
def check_row(c, w, i, length, usual):
    """The errors of any row; where its frames are is known, and so are the accelerations of the bodies at O."""
    rows, N, ground = w.loops, w.T.state, w.T.numbers.shape[0]
    term = rows.term
    second, size = -rows.f[i, 2], abs(rows.f[i, 2])
    for r in range(rows.row_start[i], rows.row_start[i + 1]):
        kind, a, b, weight = term[r, 0], term[r, 1], term[r, 2], rows.weight[r]
        g, bend = term_gradient(kind, rows.F, a, b), weight * term_second_order(kind, rows.F, a, b)
        second, size = second + bend, size + abs(bend)
        for side in range(2):
            k = rows.frame_body[b if side else a]
            if k == ground:
                continue
            gx, gy, turn = (g[3], g[4], g[5]) if side else (g[0], g[1], g[2])
            ax, ay, alpha, arm = N[k, AX] - N[ground, AX], N[k, AY] - N[ground, AY], N[k, ALPHA], c.arms[k]
            second += weight * (gx * ax + gy * ay + turn * alpha)
            reach = larger(larger(usual, abs(ax)), larger(abs(ay), arm * abs(alpha)))
            size += abs(weight) * (abs(gx) + abs(gy) + abs(turn) / arm) * reach
    value = row_value(rows, i)
    note_row(w.errors, abs(value), abs(row_rate(rows, i)), abs(second), abs(value) * length, size)


@kernel(inline=True)
def note_row(errors, position, rate, second, gap, size):
    note_largest(errors, position, rate, second, gap)
    if anywhere(second > 0.0):
        errors[SHARED] = larger_share(errors[SHARED], second, size)


@kernel(inline=True)
def note_largest(errors, position, rate, second, gap):
    errors[POSITION], errors[VELOCITY] = larger(errors[POSITION], position), larger(errors[VELOCITY], rate)
    errors[ACCELERATION], errors[GAP] = larger(errors[ACCELERATION], second), larger(errors[GAP], gap)


@kernel(inline=True)
def point_at(w, y, frame):
    """The same as `point_of` for a frame of a row that closes a loop."""
    k, F, N = w.loops.frame_body[frame], w.loops.F, w.T.state
    if k == w.T.numbers.shape[0]:
        return F[frame, PLACE_X], F[frame, PLACE_Y], 0.0, 0.0, 0.0, 0.0
    i = 3 * w.T.numbers[k, BODY]
    return point_of(y, y.size // 3, i, F[frame, ARM_X] - N[k, CX], F[frame, ARM_Y] - N[k, CY])


@kernel(inline=True)
def point_of(y, n, i, ex, ey):
    """Position, velocity and acceleration of the point of a body at an arm e from its mass center."""
    omega, alpha = y[n + i + 2], y[2 * n + i + 2]
    return (
        y[i] + ex,
        y[i + 1] + ey,
        y[n + i] - omega * ey,
        y[n + i + 1] + omega * ex,
        y[2 * n + i] - alpha * ey - omega * omega * ex,
        y[2 * n + i + 1] + alpha * ex - omega * omega * ey,
    )
