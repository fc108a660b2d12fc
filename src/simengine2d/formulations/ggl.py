from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..numerics.kernel_pointer import kernel_pointer
from .stage_iteration import StagedFormulation
from .stages import CHANGE, KEPT, SIZE_B, SIZE_C


@kernel_pointer
def complete_ggl(newton, t, y, out):
    """Columns of mu, which moves positions alone, and rows of the velocity constraints.

    Where no position is held, mu = 0.
    """
    st, eq = newton.st, newton.eq
    A, B, C, J, K, G = eq.A, st.B, st.C, eq.J, eq.K, eq.G
    s, m, n = J.shape
    b, c = st.state[SIZE_B], st.state[SIZE_C]
    if st.state[KEPT] != 0.0:
        return
    for block in range(s * s):
        i, j = block // s, block % s
        dynamics, position, rate, mu = i * n, s * n + i * m, s * (n + m) + i * m, s * (n + m) + j * m
        for q in range(m):
            if i == j and eq.holds_rate[q] == 1.0:
                A[position + q, mu + q] = eq.felt[q]
            for p in range(n):
                A[rate + q, j * n + p] = (B[i, j] * G[i, q, p] + C[i, j] * J[i, q, p]) / c
                dz = C[i, j] * b / c * J[j, q, p] / eq.mass[p]
                if dz == 0.0:
                    continue
                for k in range(n):
                    A[dynamics + k, mu + q] += K[i, k, p] * dz
                for k in range(m):
                    if eq.holds_rate[k] == 0.0:
                        A[position + k, mu + q] += J[i, k, p] * dz / b
                    A[rate + k, mu + q] += G[i, k, p] * dz / c


@kernel_pointer
def follow_ggl(newton, t, y, out):
    """e = (b / c) W Phi_z^T mu, and how much it changes positions, as accelerations."""
    st, eq, state = newton.st, newton.eq, newton.st.state
    s, n = st.a.shape
    share = state[SIZE_B] / state[SIZE_C]
    for i in range(s):
        for p in range(n):
            before = st.e[i, p]
            st.e[i, p] = 0.0
            for k in range(st.mu.shape[1]):
                st.e[i, p] += share * eq.J[i, k, p] * st.mu[i, k] / eq.mass[p]
            state[CHANGE] = max(state[CHANGE], abs(st.e[i, p] - before) / (share * eq.size[p]))


@dataclass(frozen=True)
class GGL(StagedFormulation):
    """Stabilized index 2: positions take a small correction, and the constraints hold at both levels.

        z' = zd + W Phi_z^T mu,      M zd' + Phi_z^T lam = Q,      Phi = 0,      Phi_z zd = nu

    W is the inverse of the diagonal of M; mu is of the size of the method's error. Newton's equations of a stage with
    z = base + b a + b W Phi_z^T mu and zd = base + c a, where S = Phi_z W Phi_z^T and G is the slope of Phi_z zd:

        [ M + b K + c D        Phi_z^T   b K W Phi_z^T        ] [ da   ]     [ M a + Phi_z^T lam - Q ]
        [ Phi_z                   0      S                    ] [ dlam ] = - [ Phi / b               ]
        [ Phi_z + (b / c) G       0      (b / c) G W Phi_z^T  ] [ dmu  ]     [ (Phi_z zd - nu) / c   ]

    Gear, Leimkuhler & Gupta, Journal of Computational and Applied Mathematics 12-13 (1985) 77-90.
    """

    name: ClassVar[str] = "ggl"
    complete = complete_ggl
    follow = follow_ggl
    multipliers: ClassVar[int] = 2
    holds_velocities: ClassVar[bool] = True
