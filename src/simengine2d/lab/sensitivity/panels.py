"""A motion cut into panels, each with the nodes of Radau's quadrature, on which linear equations are collocated.

On a panel of the length h from t0, with nodes t0 + c_i h and polynomials l_j that are 1 at node j and 0 at the others,

    v(t0 + x h) = v0 + h sum_j v'_j B_j(x),      B_j(x) = int_0^x l_j

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996), section IV.5. The last node is the end of the
panel; the error there is that of order 2s - 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.chebyshev import chebvander
from numpy.polynomial.legendre import Legendre, legint, legvander

from ...errors import SimEngineError
from ...numerics.arrays import Floats
from ...results.results import Results

STAGES = 12
RESOLVED, RESOLVED_SPLINES = 1e-6, 1e-10
"""Part of an acceleration that the highest polynomial of a panel may have; where forces are splines, their derivatives,
which the variational equations need, are less smooth.
"""
FEWEST, MOST_RUNS, MOST_PIECES = 6, 8, 4


def _nodes() -> Floats:
    """Zeros of P_s - P_s-1, moved from -1..1 to 0..1; the last is 1."""
    difference = Legendre.basis(STAGES) - Legendre.basis(STAGES - 1)
    roots = np.sort(difference.roots().real)
    roots[-1] = 1.0
    return np.asarray(0.5 * (1.0 + roots))


NODES = _nodes()
_COEFFICIENTS = np.linalg.inv(legvander(2.0 * NODES - 1.0, STAGES - 1))
"""Of l_j as a sum of Legendre's polynomials on -1..1: column j."""


def _integrals(times: int) -> Floats:
    """Legendre's coefficients of l_j, integrated from 0 as often as that, over x."""
    return legint(_COEFFICIENTS, m=times, lbnd=-1.0, scl=0.5)


_ONCE, _TWICE = _integrals(1), _integrals(2)


def once(x: Floats) -> Floats:
    """int_0^x l_j, one column for each j."""
    return legvander(2.0 * np.asarray(x) - 1.0, STAGES) @ _ONCE


def twice(x: Floats) -> Floats:
    """The integral of that."""
    return legvander(2.0 * np.asarray(x) - 1.0, STAGES + 1) @ _TWICE


class Panels(NamedTuple):
    """The ends of the panels, and the motion at their nodes, panel after panel."""

    ends: Floats
    results: Results
    begin: Results
    """The motion at its start, which is no node."""
    rough: Floats
    """Where the panels begin whose accelerations no polynomial resolves."""

    @property
    def lengths(self) -> Floats:
        return np.diff(self.ends)

    def place(self, t: Floats) -> tuple[Any, Floats]:
        """The panel of each time, and where in it the time is, between 0 and 1."""
        panel = np.clip(np.searchsorted(self.ends, t, side="left") - 1, 0, self.lengths.size - 1)
        return panel, (t - self.ends[panel]) / self.lengths[panel]


def nodes_of(ends: Floats) -> Floats:
    """The nodes of all panels, in order."""
    return (ends[:-1, None] + np.diff(ends)[:, None] * NODES).ravel()


def resolving_panels(
    run: Callable[[Floats], Results], begin: float, end: float, count: int, *, splines: bool = False
) -> Panels:
    """Panels on which polynomials resolve the accelerations of a motion; `run` gives the motion at some times."""
    ends = np.linspace(begin, end, max(FEWEST, count) + 1)
    for runs in range(1, MOST_RUNS + 1):
        motion = run(np.concatenate([[begin], nodes_of(ends)]))
        results = motion.at_rows(slice(1, None))
        if results.t.size != STAGES * (ends.size - 1):
            raise SimEngineError(f"the motion could not be followed to t = {end:g} s: {results.status}.")
        pieces = pieces_of(results, RESOLVED_SPLINES if splines else RESOLVED)
        if runs == MOST_RUNS or pieces.max() == 1:
            break
        if runs > 1:  # a place where the motion is less smooth than polynomials
            pieces[pieces > 1] = MOST_PIECES
        parts = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(ends, ends[1:], pieces, strict=False)]
        ends = np.concatenate([*parts, [end]])
    rough = pieces_of(results, RESOLVED) > 1
    return Panels(ends, results, motion.at_rows(slice(0, 1)), ends[:-1][rough])


def pieces_of(results: Results, resolved: float) -> Any:
    """Into how many pieces each panel has to be cut, so that polynomials through its nodes resolve the accelerations.

    The highest coefficient of a smooth function changes with h^(s-1).
    """
    sizes = results.system.sizes
    parts = (results.qdd / sizes).reshape(-1, STAGES, sizes.size)
    highest = np.abs(np.einsum("k,pkn->pn", _COEFFICIENTS[-1], parts)).max(axis=1)
    excess = highest / max(resolved * np.abs(parts).max(), np.finfo(float).tiny)
    wanted = np.ceil(excess ** (1.0 / (STAGES - 1)))
    return np.clip(np.nan_to_num(wanted, nan=MOST_PIECES), 1, MOST_PIECES).astype(np.int64)


# Between the nodes -------------------------------------------------------------------------------------

POINTS = np.concatenate([[0.0], NODES])
"""Where a motion is known in each panel."""
WINDOW = 4
_WIDTHS = POINTS[WINDOW - 1 :] - POINTS[: 1 - WINDOW]


def between(panels: Panels, times: Floats) -> tuple[Floats, Floats]:
    """Position and velocity at any times, by polynomials of degree 11 that have q, qd and qdd of four points."""
    panel, x = panels.place(times)
    first = np.clip(np.searchsorted(POINTS, x) - WINDOW // 2, 0, POINTS.size - WINDOW)
    h = (panels.lengths[panel] * _WIDTHS[first])[:, None, None]
    rows = (STAGES * panel + first)[:, None] + np.arange(WINDOW)
    q, qd, qdd = (
        np.concatenate([getattr(panels.begin, name), getattr(panels.results, name)])[rows]
        for name in ("q", "qd", "qdd")
    )
    known = np.stack([q, h * qd, h**2 * qdd], axis=2).reshape(times.size, 3 * WINDOW, -1)
    value, rate = _blended((x - POINTS[first]) / _WIDTHS[first], first)
    return np.einsum("tk,tkn->tn", value, known), np.einsum("tk,tkn->tn", rate, known) / h[:, 0]


def _blended(x: Floats, first: Any) -> tuple[Floats, Floats]:
    """How much each known number counts for the value at x, and for its rate, in the window that begins at `first`."""
    out, powers = np.zeros((2, x.size, 3 * WINDOW)), chebvander(2.0 * x - 1.0, 3 * WINDOW - 1)
    for w in np.unique(first).tolist():
        out[:, first == w] = powers[first == w] @ _HERMITE[w]
    return out[0], out[1]


def _hermite_basis(points: Floats) -> Floats:
    """Chebyshev coefficients of p with one of p, p', p'' at one point equal to 1, and the others 0; and of p'."""
    basis = [Chebyshev.basis(k, domain=[0.0, 1.0]) for k in range(3 * points.size)]
    rows = [
        [each.deriv(order)(x) if order else each(x) for each in basis] for x in points for order in range(3)
    ]
    values = np.linalg.inv(np.array(rows))
    rates = [Chebyshev(column, domain=[0.0, 1.0]).deriv().coef for column in values.T]
    return np.stack([values, np.pad(np.array(rates).T, [(0, 1), (0, 0)])])


_HERMITE = [
    _hermite_basis((POINTS[w : w + WINDOW] - POINTS[w]) / width) for w, width in enumerate(_WIDTHS.tolist())
]
