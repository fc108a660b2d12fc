"""The motion of the bodies in a step, as kernel pointers: inside the step, and as its beginning would throw them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer, rare_kernel_pointer
from .loop_state import TIME, BoundEquations, Path, Rules, state_between


class StepView(NamedTuple):
    """Context of these kernel pointers."""

    E: BoundEquations
    rules: Rules
    p: Path
    bodies_f: Any  # (z, zd, zdd) to (q, qd, qdd)
    bodies_c: Any
    z: Floats  # (z, zd, zdd)
    q: Floats  # (q, qd, qdd)
    slope: Floats  # (zd, zdd) at the beginning of the step


@kernel_pointer
def bodies_in_step(c, t, unused, out):
    """(q, qd) at a time inside the step."""
    state_between(c.E, c.rules, c.p, t)
    for j in range(c.p.y.size):
        c.z[j] = c.p.out[j]
    write_bodies(c, t, out)


@rare_kernel_pointer
def bodies_thrown(c, t, unused, out):
    """(q, qd) with the accelerations at the beginning of the step: z + s zd + s^2 zdd / 2, zd + s zdd."""
    s, n, y = t - c.p.state[TIME], c.p.y.size // 2, c.p.y
    for j in range(2 * n):
        c.z[j] = y[j] + s * c.slope[j]
    for j in range(n):
        c.z[j] += 0.5 * s * s * c.slope[n + j]
    write_bodies(c, t, out)


@kernel
def write_bodies(c, t, out):
    """q and qd of (z, zd)."""
    for j in range(c.p.y.size, c.z.size):
        c.z[j] = 0.0
    invoke(c.bodies_f, c.bodies_c, t, c.z, c.q)
    for j in range(out.size):
        out[j] = c.q[j]
