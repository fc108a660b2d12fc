"""Which rows of a matrix depend on each other. Every rank decision of the package is made here.

The columns are scaled by the sizes of their coordinates and each row is divided by its norm, so that units do not
matter. Rows are dependent if a singular value, or the component of a row orthogonal to the others, is at most
DEPENDENT:

    J = N U diag(sizes) V^T,      N the norms of the rows,      rank = number of sizes > DEPENDENT
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats, Ints

Matrix = Any
"""An array, or SciPy's csr_array."""

SURELY = 1e-4  # singular value from which rows are independent, whatever rounding does
DEPENDENT = 1e-9  # the new component of a row, relative to the row, that counts as rounding
CLEARLY = 1e-6  # the same of a row that is independent beyond doubt
LOST_PIVOT = 1e-11  # the same for a pivot of an elimination, which has lost more digits
NEEDED = 1e-6  # coefficient from which one row counts as part of another


class RowSpace(NamedTuple):
    """The singular values of rows of norm one; the first `rank` of them count."""

    norms: Floats
    U: Floats
    sizes: Floats
    V: Floats
    rank: int

    @property
    def null(self) -> Floats:
        """An orthonormal basis of the x with J x = 0, one column each."""
        return self.V[:, self.rank :]

    @property
    def idle(self) -> Floats:
        """An orthonormal basis of the dependences between rows of norm one, one column each."""
        return self.U[:, self.rank :]

    def smallest_solution(self, b: Floats) -> Floats:
        """The smallest x with J x = b, in the least-squares sense; one for each column where b has several."""
        r, U, V = self.rank, self.U, self.V
        return V[:, :r] @ _divided(U[:, :r].T @ _divided(b, self.norms), self.sizes[:r])

    def multipliers(self, f: Floats) -> Floats:
        """lam of J^T lam = f in the least-squares sense; the smallest one where rows are dependent."""
        r, U, V = self.rank, self.U, self.V
        lam = _divided(U[:, :r] @ _divided(V[:, :r].T @ f, self.sizes[:r]), self.norms)
        idle = _divided(self.idle, self.norms)  # lam with J^T lam = 0
        return lam - idle @ np.linalg.lstsq(idle, lam, rcond=None)[0] if idle.shape[1] else lam

    def takes_part(self) -> NDArray[np.bool_]:
        """Which rows appear in a dependence."""
        return np.any(np.abs(self.idle) > NEEDED, axis=1)


def _divided(rows: Floats, factors: Floats) -> Floats:
    """Each row divided by a factor; of a vector, each entry."""
    return rows / factors.reshape(-1, *[1] * (rows.ndim - 1))


def row_space(J: Floats, smallest: float = DEPENDENT) -> RowSpace:
    m, n = J.shape
    if m == 0:
        return RowSpace(np.zeros(0), np.zeros((0, 0)), np.zeros(0), np.eye(n), 0)
    unit, norms = unit_rows(J)
    U, sizes, Vt = np.linalg.svd(unit)
    return RowSpace(norms, U, sizes, Vt.T, int(np.count_nonzero(sizes > smallest)))


def surely_independent(J: Floats) -> NDArray[np.bool_]:
    """Whether rows of norm one are far from a dependence, also of a stack of matrices. False says nothing.

    sigma^2 >= 1 / |G^-1| of G = J J^T
    """
    unit = unit_rows(J)[0]
    try:
        inverse = np.linalg.inv(unit @ np.swapaxes(unit, -1, -2))
    except np.linalg.LinAlgError:  # one of them is singular, or all are
        return np.zeros(J.shape[:-2], dtype=bool)
    return np.asarray(np.abs(inverse).sum(axis=-1).max(axis=-1, initial=0.0) < SURELY**-2)


def unit_rows(J: Matrix) -> tuple[Matrix, Floats]:
    """J with each row divided by its norm, and the norms (1 for empty rows); also of a stack of matrices."""
    squares = J**2 if isinstance(J, np.ndarray) else J.power(2)
    norms = np.sqrt(np.asarray(squares.sum(axis=-1)))
    norms[norms == 0.0] = 1.0
    return times_rows(1.0 / norms, J), norms


def times_rows(factors: Floats, J: Matrix) -> Matrix:
    """J with each row multiplied by a factor."""
    if isinstance(J, np.ndarray):
        return factors[..., None] * J
    rows = np.repeat(factors, np.diff(J.indptr))
    return type(J)((J.data * rows, J.indices, J.indptr), shape=J.shape)


def implied_rows(J: Floats) -> Ints:
    """The fewest rows that the others imply, those of the smallest new component, by elimination with exchanges."""
    from scipy.linalg import qr

    if J.shape[0] == 0:
        return np.zeros(0, dtype=np.int64)
    R, order = qr(unit_rows(J)[0].T, mode="r", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > DEPENDENT))
    return np.sort(order[rank:]).astype(np.int64)


# Rows in a given order --------------------------------------------------------------------------------


class Rank(NamedTuple):
    """`independent` rows in order; each dependent row with the earlier rows that make it up."""

    independent: list[int]
    dependent: dict[int, list[int]]

    @property
    def rank(self) -> int:
        return len(self.independent)


def rank_of_rows(J: Floats, order: list[int] | None = None) -> Rank:
    """Gram-Schmidt over the rows in the given order, so that later rows (drivers) are found dependent first."""
    m, n = J.shape
    if m <= n and order is None and are_independent(J):
        return Rank(list(range(m)), {})
    basis = np.zeros((min(m, n), n))
    independent: list[int] = []
    dependent: dict[int, list[int]] = {}
    for i in order if order is not None else range(m):
        row = J[i]
        size = np.linalg.norm(row)
        rest = row.copy()
        for _ in range(2):  # twice is enough
            rest -= (basis[: len(independent)] @ rest) @ basis[: len(independent)]
        if size > 0.0 and len(independent) < n and np.linalg.norm(rest) > DEPENDENT * size:
            basis[len(independent)] = rest / np.linalg.norm(rest)
            independent.append(i)
        else:
            dependent[i] = _partners(J, independent, row)
    return Rank(independent, dependent)


def are_independent(J: Floats) -> bool:
    """Whether every row clearly has a component orthogonal to those before it: |R_ii| of J^T = Q R."""
    R, _ = np.linalg.qr(unit_rows(J)[0].T, mode="raw")
    return bool(np.all(np.abs(R.diagonal()) > CLEARLY))


def _partners(J: Floats, independent: list[int], row: Floats) -> list[int]:
    """The independent rows that are needed to write `row`."""
    if not independent:
        return []
    weights = np.linalg.lstsq(J[independent].T, row, rcond=None)[0]
    sizes = np.abs(weights) * np.linalg.norm(J[independent], axis=1)
    return [k for k, size in zip(independent, sizes, strict=True) if size > NEEDED * np.linalg.norm(row)]


def free_motions(J: Floats, rank: int) -> Floats:
    """Basis of the motions with J qd = 0, one column each, made sparse: each moves one coordinate the others do not."""
    n = J.shape[1]
    if rank >= n:
        return np.zeros((n, 0))
    null = np.linalg.svd(J, full_matrices=True)[2][rank:].T if J.shape[0] else np.eye(n)
    chosen: list[int] = []
    rest = null.copy()
    for _ in range(null.shape[1]):  # pivoted elimination of the columns
        sizes = np.linalg.norm(rest, axis=1)
        pivot = int(np.argmax(np.round(sizes / sizes.max(), 6)))
        chosen.append(pivot)
        direction = rest[pivot] / sizes[pivot]
        rest -= np.outer(rest @ direction, direction)
    basis = null @ np.linalg.inv(null[chosen])
    basis[np.abs(basis) < 1e-9] = 0.0
    return basis
