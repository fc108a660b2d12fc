"""Newton's matrix: the equations of motion with the derivatives of constraint and applied forces.

    [ M + b ((Phi_q^T lam)_q - QA_q) - c QA_qd   Phi_q^T ]
    [ Phi_q                                         0    ]

The matrix is symmetrized: of the derivatives of damping and of turning forces the unsymmetric part is left out. It is
of the order h^2 against M, so Newton's iteration converges as fast. Formulas and forces are differentiated exactly, in
small dense blocks over the coordinates that they couple; statics and linearization take the blocks as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..expressions.function_table import FIRST_SLOPE, is_of_time, law_bends, law_in_time, law_slopes
from ..model.measure import ANGLE, X, Y
from ..numerics.kernel import kernel
from ..numerics.kernel_pointer import invoke, rare_kernel_pointer
from .applied_forces import (
    BY,
    LAW,
    LAW_END,
    MEASURE,
    READ,
    READ_END,
    SIGN,
    TARGET,
    TARGET_END,
    Loads,
    first_law,
    read_measures,
    read_state,
    turned,
)
from .constraints import SystemArrays
from .equations_of_motion import fill_matrix
from .formulas.derivatives import (
    Couplings,
    add_formula_rates,
    add_row_block,
    begin_block,
    bend_rows,
    end_block,
)
from .frames import EX, EY, term_curvature, term_gradient, term_hessian

if TYPE_CHECKING:
    from .workspace import Workspace


@kernel(inline=True)
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
            if kind[k] == X or kind[k] == Y:
                add_arms(F, a[k], b[k], EX if kind[k] == X else EY, c, D.bends[k], v)
                continue
            term_hessian(kind[k], F, a[k], b[k], H)
            for r in range(6):
                for s in range(r, 6):
                    if blocks[k, r, s] >= 0:
                        v[blocks[k, r, s]] += c * H[r, s]


@kernel(inline=True)
def add_arms(F, a, b, arm, c, bends, v):
    """c s_qq of a displacement along x or y, which bends with the arms alone: d2 r / d phi2 = -A s."""
    if bends[0] >= 0:
        v[bends[0]] += c * F[a, arm]
    if bends[1] >= 0:
        v[bends[1]] -= c * F[b, arm]


@kernel(inline=True)
def add_force_block(S, L, i, qd, of_q, of_qd, size, w, where, G, B):
    """B += of_q QA_q + of_qd QA_qd of force i, whose law is differentiated, over `size` coordinates.

    `where` says at which of them a body begins.

    QA = F s_q,      QA_q = F s_qq + s_q^T F_q,      QA_qd = s_q^T F_qd
    F_q = sum_j F_uj u_j,q + F_udj ud_j,q,      F_qd = sum_j F_udj u_j,q      with ud_q = u_qq qd
    """
    first, reads = L.forces[i, READ], L.forces[i, READ_END] - L.forces[i, READ]
    for target in range(L.forces[i, TARGET], L.forces[i, TARGET_END]):
        own, by, sign = L.targets[target, MEASURE], L.targets[target, BY], L.targets[target, SIGN]
        force, at = w.law[0 if by < 0 else 1 + by], 1 if by < 0 else 1 + (2 * reads + 1) * (by + 1)
        for p in range(size):
            G[0, p] = G[1, p] = G[2, p] = 0.0
        # s_q and sd_q into G[0] and G[1], the curvature into the block
        add_measure(S, L, own, 1.0, 1.0, of_q * sign * force, qd, w, where, G, 0, 1, B)
        # of_q F_q + of_qd F_qd into G[2]
        for j in range(reads):
            by_u, by_ud = sign * w.law[at + 2 * j], sign * w.law[at + 2 * j + 1]
            factor, swing = of_q * by_u + of_qd * by_ud, of_q * by_ud
            if first + j == own:
                for p in range(size):
                    G[2, p] += factor * G[0, p] + (swing * G[1, p] if swing != 0.0 else 0.0)
            elif factor != 0.0 or swing != 0.0:
                add_measure(S, L, first + j, factor, swing, 0.0, qd, w, where, G, 2, 2, B)
        for p in range(size):
            if G[0, p] != 0.0:
                for u in range(size):
                    B[p, u] += G[0, p] * G[2, u]


@kernel(inline=True)
def differentiate_force(L, i, t, w):
    """F of force i and its derivatives by all variables into w.law; of an energy, the second derivatives too."""
    z, out, law = (
        w.scratch.variables[: 2 * (L.forces[i, READ_END] - L.forces[i, READ]) + 1],
        w.scratch.results,
        w.law,
    )
    n = z.size
    read_measures(L, i, t, w.F, z)
    if L.targets[L.forces[i, TARGET], BY] >= 0:
        law[0] = law_bends(L.laws, L.forces[i, LAW], z, out)
        for k in range(n + n * n):
            law[1 + k] = out[FIRST_SLOPE + k]
        return
    for k in range(1 + n):
        law[k] = 0.0
    for k in range(L.forces[i, LAW], L.forces[i, LAW_END]):
        if is_of_time(L.laws, k, n):
            law[0] += law_in_time(L.laws, k, z, w.scratch)
            continue
        law[0] += law_slopes(L.laws, k, z, out)
        for c in range(n):
            law[1 + c] += out[FIRST_SLOPE + c]


@kernel(inline=True)
def add_measure(S, L, m, factor, swing, curvature, qd, w, where, G, slope, rate, B):
    """G[slope] += factor u_q, G[rate] += swing ud_q and B += curvature u_qq of measure m."""
    F = w.F
    for k in range(L.measure_start[m], L.measure_start[m + 1]):
        kind, a, b, weight = L.term_kind[k], L.term_a[k], L.term_b[k], L.term_weight[k]
        one, other = S.frame_body[a], S.frame_body[b]
        p, u, d = where[one], where[other], term_gradient(kind, F, a, b)
        for c in range(3):
            if p >= 0:
                G[slope, p + c] += factor * weight * d[c]
            if u >= 0:
                G[slope, u + c] += factor * weight * d[3 + c]
        if kind != ANGLE and (curvature != 0.0 or swing != 0.0):  # an angle has no second derivatives
            h = term_curvature(kind, F, a, b)
            add_rates(h, swing * weight, qd, one, other, p, u, G, rate)
            add_curvature(h, curvature * weight, p, u, B)


@kernel(inline=True)
def add_rates(h, factor, qd, one, other, p, u, G, rate):
    """G[rate] += factor u_qq qd of two bodies, whose rows begin at p and u; at -1 there are none."""
    xx, xy, yy, pax, pay, pbx, pby, haa, hab, hbb = h
    x, y, turn_a, turn_b = 0.0, 0.0, 0.0, 0.0
    if p >= 0:
        x, y, turn_a = -qd[3 * one], -qd[3 * one + 1], qd[3 * one + 2]
    if u >= 0:
        x, y, turn_b = x + qd[3 * other], y + qd[3 * other + 1], qd[3 * other + 2]
    along_x = factor * (xx * x + xy * y + pax * turn_a + pbx * turn_b)
    along_y = factor * (xy * x + yy * y + pay * turn_a + pby * turn_b)
    if p >= 0:
        G[rate, p] -= along_x
        G[rate, p + 1] -= along_y
        G[rate, p + 2] += factor * (pax * x + pay * y + haa * turn_a + hab * turn_b)
    if u >= 0:
        G[rate, u] += along_x
        G[rate, u + 1] += along_y
        G[rate, u + 2] += factor * (pbx * x + pby * y + hab * turn_a + hbb * turn_b)


@kernel(inline=True)
def add_curvature(h, c, p, u, B):
    """B += c u_qq of two bodies, whose rows begin at p and u; at -1 there are none."""
    xx, xy, yy, pax, pay, pbx, pby, haa, hab, hbb = h
    if p >= 0:
        add_square(B, p, p, c * xx, c * xy, c * yy, -c * pax, -c * pay, -c * pax, -c * pay, c * haa)
    if u >= 0:
        add_square(B, u, u, c * xx, c * xy, c * yy, c * pbx, c * pby, c * pbx, c * pby, c * hbb)
    if p >= 0 and u >= 0:
        add_square(B, p, u, -c * xx, -c * xy, -c * yy, -c * pbx, -c * pby, c * pax, c * pay, c * hab)
        add_square(B, u, p, -c * xx, -c * xy, -c * yy, c * pax, c * pay, -c * pbx, -c * pby, c * hab)


@kernel(inline=True)
def add_square(B, p, u, xx, xy, yy, x_phi, y_phi, phi_x, phi_y, phi_phi):
    """A 3 x 3 block of B."""
    B[p, u] += xx
    B[p, u + 1] += xy
    B[p, u + 2] += x_phi
    B[p + 1, u] += xy
    B[p + 1, u + 1] += yy
    B[p + 1, u + 2] += y_phi
    B[p + 2, u] += phi_x
    B[p + 2, u + 1] += phi_y
    B[p + 2, u + 2] += phi_phi


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
        g = law_slopes(L.laws, first_law(L, i) + component, z, out)
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


class Tangent(NamedTuple):
    """Context of `add_blocks`."""

    S: SystemArrays
    L: Loads
    C: Couplings
    w: Workspace


@rare_kernel_pointer
def add_blocks(c, t, q, qd):
    """The blocks of formulas, forces and wrenches into w.v, by the factors and multipliers in w.given."""
    S, L, C, w, rows, forces = c.S, c.L, c.C, c.w, c.S.formulas.row.size, c.L.forces.shape[0]
    of_q, of_qd, straight, crossed, lam = w.given[0], w.given[1], w.given[2], w.given[3], w.given[4:]
    if rows > 0:
        bend_rows(t, w)
    for i in range(C.start.size - 1):
        size = begin_block(C, i, w.where, w.B)
        if i < rows:
            add_row_block(S, i, of_q * lam[S.formulas.row[i]], w, w.where, w.B)
        elif i < rows + forces:
            differentiate_force(L, i - rows, t, w)
            add_force_block(S, L, i - rows, qd, -of_q, -of_qd, size, w, w.where, w.G, w.B)
        else:
            add_wrench_block(S, L, i - rows - forces, t, q, qd, -of_q, -of_qd, w.F, w.scratch, 0, w.B)
        end_block(C, i, straight, crossed, w.where, w.B, w.v)


@kernel
def add_tangent(S, D, t, q, qd, lam, of_q, of_qd, straight, crossed, w):
    """of_q ((Phi_q^T lam)_q - QA_q) - of_qd QA_qd into w.v: derivatives A as straight A + crossed A^T."""
    if of_q != 0.0:
        add_constraint_tangent(S, D, lam, of_q, w)
    if w.blocks_f != 0:
        w.given[0], w.given[1], w.given[2], w.given[3] = of_q, of_qd, straight, crossed
        for i in range(lam.size):
            w.given[4 + i] = lam[i]
        invoke(w.blocks_f, w.blocks_c, t, q, qd)


@kernel
def newton_matrix(S, D, t, q, qd, lam, of_q, of_qd, w):
    """M + of_q ((Phi_q^T lam)_q - QA_q) - of_qd QA_qd, with Phi_q beside it, symmetrized into w.v."""
    fill_matrix(D, w.data, w.v)
    if of_q != 0.0 or of_qd != 0.0:
        add_tangent(S, D, t, q, qd, lam, of_q, of_qd, 0.5, 0.5, w)


# Rates of the constraints -----------------------------------------------------------------------------


@kernel
def rate_slopes(S, t, qd, w, out):
    """G = (Phi_q qd - nu)_q by the non-zeros of Phi_q, where the frames are placed; that of nu is left out.

    G = sum_k w_k s_k,qq qd, and for formulas sum_jk g_jk (s_j,q qd) s_k,q besides.
    """
    H, F, nb = w.H, w.F, S.mass.size
    for p in range(out.size):
        out[p] = 0.0
    for k in range(S.term_kind.size):
        if S.term_kind[k] == ANGLE or w.weight[k] == 0.0:
            continue
        a, b = S.term_a[k], S.term_b[k]
        term_hessian(S.term_kind[k], F, a, b, H)
        for s in range(6):
            body = S.frame_body[a if s < 3 else b]
            rate = w.weight[k] * qd[3 * body + s % 3] if body < nb else 0.0
            for r in range(6 if rate != 0.0 else 0):
                if S.term_slot[k, r] >= 0:
                    out[S.term_slot[k, r]] += H[r, s] * rate
    if S.formulas.row.size > 0:
        add_formula_rates(S, t, w, out)
