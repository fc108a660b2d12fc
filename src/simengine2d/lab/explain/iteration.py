"""Newton's iteration, line by line."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...errors import ConvergenceError
from ...numerics.arrays import Floats
from .explanation import Line, Value

MOST_ITERATIONS = 25
ROUNDING = 4e-16  # of the unknowns, below which a correction changes nothing


class IterationNames(NamedTuple):
    """What the quantities of an iteration are called."""

    unknown: str
    residual: str
    matrix: str = "Jacobian"


class Solved(NamedTuple):
    x: Floats
    lines: tuple[Line, ...]


def newton(
    residual: Callable[[Floats], Floats],
    jacobian: Callable[[Floats], Floats],
    guess: Floats,
    names: IterationNames,
    *,
    keep: bool = False,
    what: str = "the iteration",
) -> Solved:
    """x - J^-1 r(x) until a correction changes nothing, or makes the residual no smaller than rounding does.

    With `keep` the first matrix serves for all corrections: a quasi-Newton method. The last line has no correction.
    """
    x, matrix, last = guess.copy(), None, np.inf
    values: list[dict[str, Value]] = []
    norms: list[float] = []
    for _ in range(MOST_ITERATIONS + 1):
        r = residual(x)
        norms.append(norm(r))
        values.append({"norm": norms[-1], names.unknown: x.copy(), names.residual: r})
        if not np.isfinite(norms[-1]):
            raise ConvergenceError(
                f"{what} diverges: the residual is not finite after {len(norms) - 1} corrections."
            )
        if norms[-1] == 0.0 or last <= ROUNDING * norm(x) or _is_rounding(norms, last, norm(x)):
            return Solved(x, lines_of(values, norms))
        matrix = matrix if keep and matrix is not None else jacobian(x)
        correction = -solution(matrix, r)
        last = norm(correction)
        values[-1] |= {names.matrix: matrix.copy(), "correction": correction, "|correction|": last}
        x = x + correction
    raise ConvergenceError(
        f"{what} does not converge in {MOST_ITERATIONS} corrections; its residual is {norms[-1]:.3g}."
    )


def _is_rounding(norms: list[float], last: float, size: float) -> bool:
    """Whether the last correction of unknowns of this size was tiny, and hardly helped."""
    return len(norms) > 2 and last <= 1e-9 * (1.0 + size) and norms[-1] > 0.1 * norms[-2]


def lines_of(values: list[dict[str, Value]], norms: list[float]) -> tuple[Line, ...]:
    """With the factor by which each residual became smaller; it shows the order of convergence."""
    lines = []
    for k, (line, size) in enumerate(zip(values, norms, strict=True)):
        factor = size / norms[k - 1] if k > 0 and norms[k - 1] > 0.0 else np.nan
        lines.append(Line(f"iteration {k}", {"norm": size, "factor": factor, **line}))
    return tuple(lines)


def norm(values: Floats) -> float:
    """The largest entry."""
    return float(np.abs(values).max(initial=0.0))


def solution(matrix: Floats, right: Floats) -> Floats:
    """Of a square system; of one with more or fewer equations, the smallest least-squares solution."""
    if matrix.shape[0] == matrix.shape[1]:
        try:
            return np.asarray(np.linalg.solve(matrix, right))
        except np.linalg.LinAlgError:
            pass
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-12)[0])


def derivative(f: Callable[[Floats], Floats], x: Floats) -> Floats:
    """df/dx by central differences."""
    size = np.maximum(np.abs(x), 1e-3 * max(1.0, norm(x)))
    columns = []
    for j, h in enumerate(6e-6 * size):
        e = np.zeros(x.size)
        e[j] = h
        columns.append((f(x + e) - f(x - e)) / (2.0 * h))
    return np.column_stack(columns) if columns else np.zeros((x.size, 0))
