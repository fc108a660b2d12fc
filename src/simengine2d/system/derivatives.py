"""Newton's matrix: the equations of motion with the derivatives of constraint and applied forces.

    [ M + b ((Phi_q^T lam)_q - QA_q) - c QA_qd   Phi_q^T ]
    [ Phi_q                                         0    ]

The matrix is symmetrized: of the derivatives of damping and of turning forces the unsymmetric part is left out. It is
of the order h^2 against M, so Newton's iteration converges as fast.
"""

from __future__ import annotations

from ..expressions.law import law_slopes, law_value
from ..model.measure import ANGLE
from ..numerics.kernel import kernel
from .applied_forces import push_state, turned, wrench_values
from .equations_of_motion import fill_matrix
from .formulas.derivatives import add_formula_tangent
from .frames import EX, EY, term_gradient, term_hessian


@kernel
def add_constraint_tangent(S, D, lam, factor, w):
    """factor (Phi_q^T lam)_q into the matrix."""
    kind, a, b, weight, start, blocks = (
        S.term_kind,
        S.term_a,
        S.term_b,
        w.weight,
        S.row_start,
        D.term_blocks,
    )
    v, H, F = w.v, w.H, w.F
    for i in range(lam.size):
        for k in range(start[i], start[i + 1]):
            if kind[k] == ANGLE:
                continue
            c = factor * lam[i] * weight[k]
            term_hessian(kind[k], F, a[k], b[k], H)
            for r in range(6):
                for s in range(r, 6):
                    if blocks[k, r, s] >= 0:
                        v[blocks[k, r, s]] += c * H[r, s]


@kernel
def add_push_tangent(S, L, D, t, qd, of_q, of_qd, w):
    """-of_q QA_q - of_qd QA_qd of the pushes, symmetrized.

    QA = -g s_q  ->  -QA_q = g_s s_q^T s_q + g_sd sd_q^T s_q + g s_qq,   -QA_qd = g_sd s_q^T s_q
    """
    z, g = L.push_scratch[0], L.push_scratch[1]
    v, H, G, F = w.v, w.H, w.G, w.F
    for i in range(L.push_start.size - 1):
        z[0], z[1] = push_state(L, i, F)
        z[2] = t
        force = law_value(L.laws, i, w.f, z)
        law_slopes(L.laws, i, z, g)
        count = D.push_start[i + 1] - D.push_start[i]
        for c in range(count):
            G[0, c] = G[1, c] = 0.0
        # s_q and sd_q = s_qq qd over the coordinates of this push, and the curvature g s_qq term by term
        at = D.push_block_start[i]
        for k in range(L.push_start[i], L.push_start[i + 1]):
            kind, a, b, weight = L.term_kind[k], L.term_a[k], L.term_b[k], L.term_weight[k]
            d = term_gradient(kind, F, a, b)
            term_hessian(kind, F, a, b, H)
            for r in range(6):
                p = push_position(S, D, i, a if r < 3 else b, r % 3)
                if p < 0:
                    continue
                G[0, p] += weight * d[r]
                for s in range(6):
                    u = push_position(S, D, i, a if s < 3 else b, s % 3)
                    if u < 0:
                        continue
                    G[1, p] += weight * H[r, s] * qd[D.push_coordinate[D.push_start[i] + u]]
                    if u >= p:
                        v[D.push_blocks[at + p * count + u]] += of_q * force * weight * H[r, s]
        stiffness, swing = of_q * g[0] + of_qd * g[1], 0.5 * of_q * g[1]
        for p in range(count):
            for u in range(p, count):
                outer = stiffness * G[0, p] * G[0, u] + swing * (G[0, p] * G[1, u] + G[1, p] * G[0, u])
                v[D.push_blocks[at + p * count + u]] += outer


@kernel(inline=True)
def push_position(S, D, i, frame, c):
    """Where coordinate c of the frame's body stands among those of push i; -1 for the ground."""
    body = S.frame_body[frame]
    if body == S.mass.size:
        return -1
    for p in range(D.push_start[i], D.push_start[i + 1], 3):
        if D.push_coordinate[p] == 3 * body:
            return p - D.push_start[i] + c
    return -1


@kernel
def add_wrench_tangent(S, L, D, t, q, qd, of_q, of_qd, w):
    """-of_q QA_q - of_qd QA_qd of the wrenches, symmetrized.

    F = A f where the force turns with the body, so F_phi = A f_phi + (-F_y, F_x); T = T0 + e F_y - f F_x with the
    arm (e, f), whose derivative is (-f, e).
    """
    blocks, g, A, F = D.wrench_blocks, L.state_scratch, w.H, w.F
    for i in range(L.wrench_frame.size):
        k = L.wrench_frame[i]
        j = 3 * S.frame_body[k]
        own_x, own_y, _ = wrench_values(L, i, t, w.f, q, qd, j)
        for c in range(3):
            law_slopes(L.laws, L.push_start.size - 1 + 3 * i + c, g[0], g[1 + c])
        turning, e, f = L.wrench_turning[i], F[k, EX], F[k, EY]
        fx, fy = turned(turning, F, k, own_x, own_y)
        for c in range(3):
            for r in range(3):
                A[r, c] = 0.0
            for level in range(2):  # by q, then by qd
                factor = -of_q if level == 0 else -of_qd
                dx, dy = turned(turning, F, k, g[1, 3 * level + c], g[2, 3 * level + c])
                torque = g[3, 3 * level + c] + e * dy - f * dx
                if level == 0 and c == 2:
                    torque -= f * fy + e * fx
                    if turning == 1:
                        dx, dy = dx - fy, dy + fx
                        torque += e * fx + f * fy
                A[0, c] += factor * dx
                A[1, c] += factor * dy
                A[2, c] += factor * torque
        for r in range(3):
            for c in range(r, 3):
                w.v[blocks[i, r, c]] += 0.5 * (A[r, c] + A[c, r])


@kernel
def newton_matrix(S, L, D, t, q, qd, lam, of_q, of_qd, w):
    """M + of_q ((Phi_q^T lam)_q - QA_q) - of_qd QA_qd, with Phi_q beside it, into w.v."""
    fill_matrix(D, w.data, w.v)
    add_constraint_tangent(S, D, lam, of_q, w)
    if L.push_start.size > 1:
        add_push_tangent(S, L, D, t, qd, of_q, of_qd, w)
    if L.wrench_frame.size > 0:
        add_wrench_tangent(S, L, D, t, q, qd, of_q, of_qd, w)
    if D.formulas.start.size > 1:
        add_formula_tangent(S, L, D.formulas, t, qd, lam, of_q, of_qd, w)
