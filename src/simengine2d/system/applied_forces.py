"""Applied forces: QA and its derivatives.

A push resists a measure s with a law g(s, sd, t): it adds -g s_q to QA. A wrench is a force and a torque at a frame,
in global axes or turning with the body, by laws of the body's own state. Forces by formulas of any measures are in
`formula_loads`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..expressions.function_table import FunctionTable, law_value, pack
from ..expressions.law import PUSH, STATE
from ..model.elements import Action, Push, Wrench
from ..model.frame import PlacedFrame
from ..model.measure import KINDS
from ..numerics.constant import constant
from ..numerics.kernel import kernel
from .formulas.forces import LoadFormulas, add_actions, frames_of, load_formulas
from .frames import EX, EY, UX, UY, term_gradient, term_rate, term_value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Loads(NamedTuple):
    """The applied forces as arrays; frames are those of the system."""

    term_kind: Ints
    term_a: Ints
    term_b: Ints
    term_weight: Floats
    push_start: Ints
    wrench_frame: Ints
    wrench_turning: Ints
    laws: FunctionTable  # one per push, then three per wrench
    formulas: LoadFormulas


def load_arrays(
    pushes: Sequence[Push],
    wrenches: Sequence[Wrench],
    frame: dict[PlacedFrame, int],
    actions: Sequence[Action] = (),
) -> Loads:
    """The arrays of applied forces; `frame` numbers the frames."""
    terms = [(i, term) for i, push in enumerate(pushes) for term in push.measure.terms]
    laws = [push.law for push in pushes] + [law for w in wrenches for law in (w.fx, w.fy, w.torque)]
    variables = [PUSH] * len(pushes) + [STATE] * (3 * len(wrenches))
    integers = lambda values: np.array(list(values), dtype=np.int64)
    return constant(
        Loads(
            integers(KINDS[term.kind] for _, term in terms),
            integers(frame[term.a] for _, term in terms),  # type: ignore[index]
            integers(frame[term.b] for _, term in terms),  # type: ignore[index]
            np.array([term.weight for _, term in terms], dtype=float),
            np.searchsorted([i for i, _ in terms], np.arange(len(pushes) + 1)).astype(np.int64),
            integers(frame[w.frame] for w in wrenches),
            integers(w.turning for w in wrenches),
            pack(laws, variables),
            load_formulas(actions, frame),
        )
    )


def frames_of_loads(
    pushes: Sequence[Push], wrenches: Sequence[Wrench], actions: Sequence[Action]
) -> list[PlacedFrame]:
    """Every frame that applied forces need."""
    frames = [frame for push in pushes for term in push.measure.terms for frame in (term.a, term.b)]
    actions_need = [frame for action in actions for frame in frames_of(action)]
    return [*frames, *(wrench.frame for wrench in wrenches), *actions_need]  # type: ignore[list-item]


@kernel(inline=True)
def push_state(L, i, F):
    """s and sd of push i."""
    s, sd = 0.0, 0.0
    for k in range(L.push_start[i], L.push_start[i + 1]):
        kind, a, b, w = L.term_kind[k], L.term_a[k], L.term_b[k], L.term_weight[k]
        s += w * term_value(kind, F, a, b)
        sd += w * term_rate(kind, F, a, b)
    return s, sd


@kernel(inline=True)
def applied(S, L, t, q, qd, w, Q):
    """QA: the weight of the bodies, the pushes, the wrenches."""
    nb = S.mass.size
    gx, gy = S.gravity[0], S.gravity[1]
    for i in range(nb):
        Q[3 * i], Q[3 * i + 1], Q[3 * i + 2] = S.mass[i] * gx, S.mass[i] * gy, 0.0
    pushes, wrenches = L.push_start.size - 1, L.wrench_frame.size
    if pushes + wrenches > 0:
        add_pushes(S, L, t, w.F, w.scratch, Q)
        add_wrenches(S, L, t, q, qd, w.F, w.scratch, Q)
    if L.formulas.target.shape[0] > 0:
        add_actions(S, L.formulas, t, w, Q)


@kernel
def add_pushes(S, L, t, F, scratch, Q):
    nb, body = S.mass.size, S.frame_body
    z, out = scratch.variables[:3], scratch.results
    for i in range(L.push_start.size - 1):
        z[0], z[1] = push_state(L, i, F)
        z[2] = t
        force = law_value(L.laws, i, z, out)
        for k in range(L.push_start[i], L.push_start[i + 1]):
            a, b = L.term_a[k], L.term_b[k]
            d = term_gradient(L.term_kind[k], F, a, b)
            weight = -force * L.term_weight[k]
            if body[a] < nb:
                j = 3 * body[a]
                Q[j] += weight * d[0]
                Q[j + 1] += weight * d[1]
                Q[j + 2] += weight * d[2]
            if body[b] < nb:
                j = 3 * body[b]
                Q[j] += weight * d[3]
                Q[j + 1] += weight * d[4]
                Q[j + 2] += weight * d[5]


@kernel
def wrench_values(L, i, t, q, qd, j, scratch):
    """Force components in their own axes and torque of wrench i on the body with coordinates j.."""
    laws, first, z, out = L.laws, L.push_start.size - 1 + 3 * i, scratch.variables[:7], scratch.results
    read_state(t, q, qd, j, z)
    fx, fy = law_value(laws, first, z, out), law_value(laws, first + 1, z, out)
    return fx, fy, law_value(laws, first + 2, z, out)


@kernel(inline=True)
def read_state(t, q, qd, j, z):
    """x, xd, y, yd, phi, phid and t of the body with coordinates j.."""
    for c in range(3):
        z[2 * c], z[2 * c + 1] = q[j + c], qd[j + c]
    z[6] = t


@kernel
def add_wrenches(S, L, t, q, qd, F, scratch, Q):
    for i in range(L.wrench_frame.size):
        k = L.wrench_frame[i]
        j = 3 * S.frame_body[k]
        own_x, own_y, torque = wrench_values(L, i, t, q, qd, j, scratch)
        fx, fy = turned(L.wrench_turning[i], F, k, own_x, own_y)
        Q[j] += fx
        Q[j + 1] += fy
        Q[j + 2] += torque + F[k, EX] * fy - F[k, EY] * fx


@kernel(inline=True)
def turned(turning, F, k, fx, fy):
    """Components in global axes of a vector given in those of frame k, where it turns with the body."""
    if turning == 0:
        return fx, fy
    return F[k, UX] * fx - F[k, UY] * fy, F[k, UY] * fx + F[k, UX] * fy
