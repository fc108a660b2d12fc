"""Where steps of Radau IIA begin: at the start of an integration, or at a state from which it goes on."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..coordinates.stages import KEPT
from ..numerics.arrays import Floats
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, kernel_pointer
from .loop_state import END, TIME, Path
from .radau_step import LAST, LEFT, PRESENT, RATE, RadauStep


class RadauStart(NamedTuple):
    """Context of these kernel pointers."""

    k: RadauStep
    p: Path
    accelerate_f: Any  # (q, qd) to (qd, qdd)
    accelerate_c: Any
    lam_f: Any  # (q, qd, qdd) to lam
    lam_c: Any
    motion: Floats  # (q, qd, qdd)
    lam: Floats
    turns: Floats


@kernel_pointer
def begin_nodes(c, t, y, out):
    """What is known at the beginning; forces are what is left of their laws where they are 0."""
    first_node(c.k, t)


@kernel
def first_node(k, t):
    one, n, m = k.one, k.rates.shape[1], k.ends.shape[1] - k.rates.shape[1]
    one.t[0] = t
    for j in range(n):
        one.z[0, j], one.zd[0, j], one.a[0, j] = k.y[j], k.y[n + j], 0.0
    for j in range(one.lam.shape[1]):
        one.lam[0, j] = 0.0
    invoke(k.beside_f, k.beside_c, t, one.state, one.state)
    for j in range(k.nodes.shape[1]):
        k.nodes[0, j] = k.ends[0, j] if j < n + m else one.gap[0, j - n]
    k.own[LAST] = k.own[PRESENT] = k.own[RATE] = k.st.state[KEPT] = 0.0
    k.own[LEFT] = 1.0


@kernel_pointer
def restart_radau(c, t, y, out):
    """The integration goes on from y, as a new one would; its tolerances, and where it ends, stay as they are."""
    k, p = c.k, c.p
    find_ends(c, t, y)
    forget_steps(k)
    for j in range(p.memory.size):
        p.memory[j] = 0.0
    for j in range(y.size):
        p.y[j] = y[j]
    p.state[TIME] = p.state[END] = t
    for j in range(p.notes.size):
        known = k.ends[0, j] if j < k.ends.shape[1] else c.turns[j - k.ends.shape[1]]
        p.notes[j] = p.inside[j] = p.old_notes[j] = known
    first_node(k, t)


@kernel
def find_ends(c, t, y):
    """Accelerations and multipliers of the equations of motion."""
    ends, n = c.k.ends, y.size // 2
    invoke(c.accelerate_f, c.accelerate_c, t, y, c.motion[n:])
    for j in range(n):
        c.motion[j] = y[j]
        ends[0, j] = ends[1, j] = c.motion[2 * n + j]
    invoke(c.lam_f, c.lam_c, t, c.motion, c.lam)
    for j in range(c.lam.size):
        ends[0, n + j] = ends[1, n + j] = c.lam[j]


@kernel
def forget_steps(k):
    """Nothing is known of earlier steps, and nothing is counted yet."""
    for j in range(k.memory.size):
        k.memory[j] = 0.0
    for j in range(k.st.state.size):
        k.st.state[j] = k.one.state[j] = 0.0
    for i in range(k.nodes.shape[0]):
        for j in range(k.nodes.shape[1]):
            k.nodes[i, j] = k.past[i, j] = 0.0
        for j in range(k.rates.shape[1]):
            k.rates[i, j] = 0.0
