"""What the data do not determine: directions in which the parameters change and the model stays where it is.

    J v = 0:   the columns of J, scaled to length 1, have singular values that vanish

A direction is put into words: the ratio k/m, where k and m grow by the same factor; the sum a + b, where one grows by
as much as the other shrinks. Such a sentence is tried on the model, with a step that is not small, before it is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm

import numpy as np

from ...errors import listed
from ...numerics.arrays import Bools, Floats
from .gradients import VANISHING
from .problem import FitProblem

INVOLVED = 0.02  # part of a direction
FACTOR = 1.1  # by which parameters grow when a sentence is tried
SAME = 1e-5  # of the spread of the data: motions that are the same
REMEDY = "Fix one of them at a known value, or add data in which they act differently."


def null_directions(problem: FitProblem, x: Floats, J: Floats, held: Bools) -> Floats:
    """One column for each free direction, in changes of the columns of length 1; each involves few unknowns."""
    p = J.shape[1]
    scaled = J / problem.spreads[:, None]
    lengths = np.linalg.norm(scaled, axis=0)
    silent = lengths * problem.sizes(x) <= VANISHING * np.sqrt(J.shape[0])
    heard = np.flatnonzero(~silent & ~held)
    directions = [np.eye(p)[k] for k in np.flatnonzero(silent & ~held)]
    if heard.size:
        _, s, Vt = np.linalg.svd(scaled[:, heard] / lengths[heard], full_matrices=True)
        s = np.append(s, np.zeros(heard.size - s.size))
        for v in _reduced(Vt[s <= VANISHING * s[0]]):
            directions.append(np.zeros(p))
            directions[-1][heard] = v / np.linalg.norm(v)
    return np.array(directions).reshape(-1, p).T


def _reduced(rows: Floats) -> Floats:
    """The row echelon form, by complete pivoting: each pivot is in one row only."""
    rows = rows.copy()
    for i in range(rows.shape[0]):
        r, c = divmod(int(np.argmax(np.abs(rows[i:]))), rows.shape[1])
        rows[[i, i + r]] = rows[[i + r, i]]
        rows[i] /= rows[i, c]
        others = np.arange(rows.shape[0]) != i
        rows[others] -= np.outer(rows[others, c], rows[i])
    return rows


def sentences(problem: FitProblem, x: Floats, J: Floats, null: Floats) -> Iterator[str]:
    """What is free, in words."""
    lengths = np.linalg.norm(J / problem.spreads[:, None], axis=0)
    for v in null.T:
        involved = [int(k) for k in np.flatnonzero(np.abs(v) > INVOLVED * np.abs(v).max())]
        if len(involved) == 1:
            yield f"{problem.unknowns[involved[0]].label} has no influence on these data."
            continue
        step = v / np.where(lengths > 0.0, lengths, 1.0)
        names = [problem.unknowns[k].label for k in involved]
        yield _in_words(problem, x, step, involved, names)


def _in_words(problem: FitProblem, x: Floats, step: Floats, involved: list[int], names: list[str]) -> str:
    exponents = _whole([step[k] / x[k] if x[k] else np.inf for k in involved])
    if exponents is not None and _stays(problem, x, lambda y: _scaled(y, involved, exponents)):
        return f"{_power_words(names, exponents)} {REMEDY}"
    parts = _whole([float(step[k]) for k in involved])
    if len(involved) == 2 and parts is not None and max(map(abs, parts)) == 1:
        change = 0.1 * float(problem.sizes(x)[involved].min())
        if _stays(problem, x, lambda y: _moved(y, involved, parts, change)):
            return f"{_sum_words(names, parts)} {REMEDY}"
    relative = step[involved] / problem.sizes(x)[involved] * np.where(x[involved] < 0.0, -1.0, 1.0)
    relative /= relative[np.argmax(np.abs(relative))]
    shares = [f"{name} {share:+.2g} %" for name, share in zip(names, relative, strict=True)]
    return (
        f"{_and(names)} cannot all be found from these data: small changes in the proportion {listed(shares)} leave "
        f"the motion as it is. {REMEDY}"
    )


def _whole(values: list[float]) -> list[int] | None:
    """The proportion of numbers, if it is one of small whole numbers."""
    if not np.isfinite(values).all():
        return None
    least = min(map(abs, values))
    shares = [Fraction(value / least).limit_denominator(4) for value in values]
    if any(
        abs(float(share) * least / value - 1.0) > 0.02 for share, value in zip(shares, values, strict=True)
    ):
        return None
    common = lcm(*(share.denominator for share in shares))
    whole = [int(share * common) for share in shares]
    sign = 1 if whole[0] > 0 else -1
    return [sign * each for each in whole] if max(map(abs, whole)) <= 4 else None


def _scaled(x: Floats, involved: list[int], exponents: list[int]) -> Floats:
    x[involved] *= FACTOR ** np.array(exponents)
    return x


def _moved(x: Floats, involved: list[int], parts: list[int], change: float) -> Floats:
    x[involved] += change * np.array(parts)
    return x


def _stays(problem: FitProblem, x: Floats, change: Callable[[Floats], Floats]) -> bool:
    """Whether the motion is the same after a change that is not small."""
    before, after = problem.predicted(x), problem.try_predicted(change(x.copy()))
    return bool(np.all(np.abs(after - before) <= SAME * problem.spreads))


# Words ------------------------------------------------------------------------------------------------


def _power_words(names: list[str], exponents: list[int]) -> str:
    """x_k^n_k grow with a common factor: what stays is x_k^n / x_m^n_k."""
    *others, last = names
    *powers, base = exponents
    if base < 0:
        powers, base = [-power for power in powers], -base
    kept = [_quotient(name, last, power, base) for name, power in zip(others, powers, strict=True)]
    plain = set(map(abs, exponents)) == {1}
    if len(names) == 2 and plain:
        word = "ratio " if powers[0] > 0 else "product "
    else:
        word = "ratios " if plain and min(powers) > 0 else ""
    how = (
        f"{_and(names)} change together"
        if min(powers) > 0
        else "where some grow, the others shrink"
        if len(names) > 2
        else "where one grows, the other shrinks"
    )
    return f"Only {'the ' if word else ''}{word}{_and(kept)} can be found from these data: {how}."


def _quotient(a: str, b: str, power: int, base: int) -> str:
    """a^base / b^power, in lowest terms."""
    share = Fraction(power, base)
    above, below = share.denominator, abs(share.numerator)
    return f"{_raised(a, above)}{'/' if power > 0 else '*'}{_raised(b, below)}"


def _raised(name: str, power: int) -> str:
    return name if power == 1 else f"{name}^{power}"


def _sum_words(names: list[str], parts: list[int]) -> str:
    if parts[0] * parts[1] < 0:
        return f"Only the sum {' + '.join(names)} can be found from these data: where one grows, the other shrinks."
    return f"Only the difference {' - '.join(names)} can be found from these data: {_and(names)} change together."


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
