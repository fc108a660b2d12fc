"""Newton's matrix: the equations of motion with the derivatives of constraint and applied forces.

    [ M + b ((Phi_q^T lam)_q - QA_q) - c QA_qd   Phi_q^T ]
    [ Phi_q                                         0    ]

The matrix is symmetrized: of the derivatives of damping and of turning forces the unsymmetric part is left out. It is
of the order h^2 against M, so Newton's iteration converges as fast.
"""

from __future__ import annotations

from ..expressions.function_table import FIRST_SLOPE, law_slopes
from ..model.measure import ANGLE
from ..numerics.kernel import kernel
from .applied_forces import push_state, read_state, turned
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
    z, out = w.scratch.variables[:3], w.scratch.results
    v, H, G, F = w.v, w.H, w.G, w.F
    for i in range(L.push_start.size - 1):
        z[0], z[1] = push_state(L, i, F)
        z[2] = t
        force = law_slopes(L.laws, i, z, out)
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
        g_s, g_sd = out[FIRST_SLOPE], out[FIRST_SLOPE + 1]
        stiffness, swing = of_q * g_s + of_qd * g_sd, 0.5 * of_q * g_sd
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
    """-of_q QA_q - of_qd QA_qd of the wrenches, symmetrized."""
    blocks, B = D.wrench_blocks, w.H
    for i in range(L.wrench_frame.size):
        for r in range(3):
            for c in range(3):
                B[r, c] = 0.0
        add_wrench_block(S, L, i, t, q, qd, -of_q, -of_qd, w.F, w.scratch, 0, B)
        for r in range(3):
            for c in range(r, 3):
                w.v[blocks[i, r, c]] += 0.5 * (B[r, c] + B[c, r])


@kernel
def add_wrench_block(S, L, i, t, q, qd, of_q, of_qd, F, scratch, first, B):
    """B += of_q QA_q + of_qd QA_qd of wrench i on the rows and columns from `first` on, those of its body.

    Component k acts along b = (b_x, b_y, e b_y - f b_x) with the arm (e, f), so Q = sum_k g_k b_k. With the body
    turns the arm, (e, f)_phi = (-f, e), and where the force turns too, (b_x, b_y)_phi = (-b_y, b_x).
    """
    k, z, out = L.wrench_frame[i], scratch.variables[:7], scratch.results
    turning, e, f = L.wrench_turning[i], F[k, EX], F[k, EY]
    read_state(t, q, qd, 3 * S.frame_body[k], z)
    for component in range(3):
        g = law_slopes(L.laws, L.push_start.size - 1 + 3 * i + component, z, out)
        own_x, own_y = 1.0 if component == 0 else 0.0, 1.0 if component == 1 else 0.0
        x, y = turned(turning, F, k, own_x, own_y)
        b = (x, y, e * y - f * x if component < 2 else 1.0)
        for r in range(3):
            for c in range(3):
                slope = of_q * out[FIRST_SLOPE + 2 * c] + of_qd * out[FIRST_SLOPE + 2 * c + 1]
                B[first + r, first + c] += b[r] * slope
        if turning == 1:
            B[first, first + 2] -= of_q * g * y
            B[first + 1, first + 2] += of_q * g * x
        else:
            B[first + 2, first + 2] -= of_q * g * (f * y + e * x)


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
