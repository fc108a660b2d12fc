"""Newton's matrix of the stages as a list: which number of a stage goes to which entry, times what.

Unknowns and equations of each stage, s numbers each:

    a       lam    X     Xd    Xdd    k           e      mu     k'
    balance gap    X     Xd    Xdd    balance     slip   rate   slip
    of z           of ghosts          of X        of z          of X

X, Xd and Xdd are changes of pivotal bodies, k and k' what holds them at their ghosts. With changes of stages
dz_i = sum_j B_ij da_j + sum_j C_ij de_j and dzd_i = sum_j C_ij da_j, every number of stage i has a factor for each j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Ints
from ..numerics.kernel import kernel
from .body_map import integers
from .stages import ACCELERATION, LEVEL, POSITION, SIZE_B, SIZE_C, VELOCITY

# factors: one, B or C over one, b or c; -1; c / b
ONE, B, C = range(3)
OVER_B, OVER_C = 3, 6
MINUS, RATIO = 9, 10
FACTORS = 11


class Terms(NamedTuple):
    """Number `source` of a stage, times a factor, goes to an entry."""

    entry: Ints
    source: Ints
    factor: Ints


class StagePattern:
    """Collects the terms."""

    def __init__(self, n: int, m: int, ghosts: int, twice: bool) -> None:
        self.n, self.m, self.twice = n, m, twice
        g = 3 * ghosts
        starts = np.cumsum([0, n, m, g, g, g, g, n if twice else 0, m if twice else 0, g if twice else 0])
        _, self.lam, self.x, self.xd, self.xdd, self.k, self.e, self.mu, self.k2, self.size = starts.tolist()
        self.entries: dict[tuple[int, int], int] = {}
        self.terms: list[tuple[int, int, int]] = []

    def add(self, row: int, column: int, source: int, factor: int) -> None:
        self.terms.append((self.entries.setdefault((row, column), len(self.entries)), source, factor))

    def balance(self, u: int) -> int:
        """The equation of forces on a column."""
        return u if u < self.n else self.k + u - self.n

    def slip(self, u: int) -> int:
        return self.e + u if u < self.n else self.k2 + u - self.n

    def vary(self, row: int, u: int, level: int, source: int, over: int = 0) -> None:
        """A change of column u at a level, times a number."""
        if u >= self.n:
            self.add(row, (self.x, self.xd, self.xdd)[level] + u - self.n, source, ONE + over)
            return
        self.add(row, u, source, (B, C, ONE)[level] + over)
        if level == POSITION and self.twice:
            self.add(row, self.e + u, source, C + over)

    def constraint(self, k: int, u: int, J: int, G: int, holds_rate: bool) -> None:
        """Row k depends on column u."""
        gap, rate = self.lam + k, self.mu + k
        self.add(self.balance(u), gap, J, ONE)
        if not holds_rate:
            self.vary(gap, u, POSITION, J, OVER_B)
        if self.twice:
            self.add(self.slip(u), rate, J, MINUS)
        if self.twice or holds_rate:
            row = rate if self.twice else gap
            self.vary(row, u, VELOCITY, J, OVER_C)
            self.vary(row, u, POSITION, G, OVER_C)

    def ghost(self, r: int, u: int, R: int, Rd: int, Rdd: int) -> None:
        """Coordinate r of the ghosts depends on column u."""
        self.vary(self.x + r, u, POSITION, R)
        self.vary(self.xd + r, u, VELOCITY, R)
        self.vary(self.xd + r, u, POSITION, Rd)
        self.vary(self.xdd + r, u, ACCELERATION, R)
        for _ in range(2):
            self.vary(self.xdd + r, u, VELOCITY, Rd)
        self.vary(self.xdd + r, u, POSITION, Rdd)
        self.add(self.balance(u), self.k + r, R, ONE)
        if self.twice:
            self.add(self.slip(u), self.k2 + r, R, MINUS)

    def hold(self, r: int, one: int) -> None:
        """A pivotal body is where its ghost is."""
        for unknown in (self.x, self.xd, self.xdd, self.k):
            self.add(unknown + r, unknown + r, one, MINUS)
        if self.twice:
            self.add(self.k2 + r, self.k2 + r, one, ONE)

    def soften(self, k: int, numbers: int, holds_rate: bool) -> None:
        """-compliance, or -eps in the place of Phi_z M^-1 Phi_z^T; and mu = 0 where no position is held.

        `numbers` is where compliance, eps, -eps and the share of mu are, one after the other.
        """
        gap, rate = self.lam + k, self.mu + k
        self.add(gap, gap, numbers, MINUS)
        if self.twice and holds_rate:
            self.add(gap, rate, numbers + 3, ONE)
        else:
            self.add(gap, gap, numbers + 2, B + OVER_B)
        if self.twice:
            self.add(rate, gap, numbers + 2, C + OVER_C)
            if not holds_rate:
                self.add(gap, rate, numbers + 1, C + OVER_C)

    def arrays(self) -> tuple[Terms, Ints, Ints]:
        """The terms, and rows and columns of the entries."""
        entries = integers(self.entries).reshape(-1, 2)
        terms = integers(self.terms).reshape(-1, 3)
        return Terms(*np.ascontiguousarray(terms.T)), entries[:, 0].copy(), entries[:, 1].copy()


@kernel
def stage_factors(st, F):
    """The factors of each pair of stages. At a level of its own, a constraint is asked for accelerations alone."""
    s, b = st.t.size, st.state[SIZE_B]
    c = st.state[SIZE_C] if st.state[SIZE_C] > 0.0 else 1.0
    own_level = st.options[LEVEL] != POSITION
    for i in range(s):
        for j in range(s):
            one = 1.0 if i == j else 0.0
            F[ONE, i, j], F[MINUS, i, j], F[RATIO, i, j] = one, -one, one * c / b
            F[B, i, j] = b * one if own_level else st.B[i, j]
            F[C, i, j] = c * one if own_level else st.C[i, j]
            for k in range(3):
                F[OVER_B + k, i, j], F[OVER_C + k, i, j] = F[k, i, j] / b, F[k, i, j] / c


@kernel
def add_terms(T, F, i, V, v):
    """The numbers V of stage i into the entries v."""
    for p in range(T.entry.size):
        value, factor = V[T.source[p]], T.factor[p]
        if value != 0.0:
            for j in range(v.shape[2]):
                v[T.entry[p], i, j] += F[factor, i, j] * value
