"""A motion cut into panels, each with the nodes of Gauss's quadrature, on which linear equations are collocated.

On a panel of the length h from t0, with nodes t0 + c_i h and polynomials l_j that are 1 at node j and 0 at the others,

    v(t0 + x h) = v0 + h sum_j v'_j B_j(x),      B_j(x) = int_0^x l_j

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996), section IV.5. The error at the end is that of
order 2s. No node is at an end: where forces jump, the motion is cut, and each node is clearly on one side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.chebyshev import chebvander
from numpy.polynomial.legendre import leggauss, legint, legvander

from ...errors import SimEngineError, UnsupportedError
from ...numerics.arrays import Floats
from ...results.results import Results
from .switches import Cut, Switches

STAGES = 12
RESOLVED, RESOLVED_SPLINES = 1e-6, 1e-10
"""Part of an acceleration that the highest polynomial of a panel may have; where forces are splines, their derivatives,
which the variational equations need, are less smooth.
"""
FEWEST, MOST_RUNS, MOST_PIECES, MOST_CUTS = 6, 10, 4, 300
MOST_WAITS = 3
"""Runs in which cuts may settle, until panels are made smaller, too."""
TOGETHER = 1e-10
"""Of a motion: cuts this close are one."""
SLIVER = 0.05
"""Of the panels beside it: how far an end moves to a cut."""
SETTLED = 1e-9
"""Of the panels beside it: how far a cut may be from where it belongs."""
ROUNDING = 1e-14
"""Of times."""
CONTINUOUS = 1e-8
"""Of the velocities: where the integrals of the accelerations lead from one panel to the next."""
NOISE, TAIL = 1e-9, 100.0
"""Of the accelerations, and of the last coefficients of two panels: what may be between them at their common end."""
FAINT = 1e-9
"""Of the largest accelerations of all: the same, where those of two panels are little but rounding."""


NODES = 0.5 * (1.0 + leggauss(STAGES)[0])
_COEFFICIENTS = np.linalg.inv(legvander(2.0 * NODES - 1.0, STAGES - 1))
"""Of l_j as a sum of Legendre's polynomials on -1..1: column j."""
HIGHEST = _COEFFICIENTS[-1]


def _integrals(times: int) -> Floats:
    """Legendre's coefficients of l_j, integrated from 0 as often as that, over x."""
    return legint(_COEFFICIENTS, m=times, lbnd=-1.0, scl=0.5)


_ONCE, _TWICE = _integrals(1), _integrals(2)


def integrals(x: Floats) -> tuple[Floats, Floats]:
    """int_0^x l_j, one column for each j, and the integrals of these."""
    values = legvander(2.0 * np.asarray(x) - 1.0, STAGES + 1)
    return values[..., :-1] @ _ONCE, values @ _TWICE


AT_NODES, TWICE_AT_NODES = integrals(NODES)
AT_END, TWICE_AT_END = (each[0] for each in integrals(np.ones(1)))
_AT_ENDS = legvander(np.array([-1.0, 1.0]), STAGES - 1) @ _COEFFICIENTS
_FIRST_TO_LAST = np.stack([AT_NODES[0], AT_NODES[-1] - AT_NODES[0], AT_END - AT_NODES[-1]])
"""From the beginning to the first node, on to the last one, and to the end."""


class Panels(NamedTuple):
    """The ends of the panels, and the motion at their nodes, panel after panel."""

    ends: Floats
    results: Results
    cuts: list[Cut]

    @property
    def lengths(self) -> Floats:
        return np.diff(self.ends)

    def place(self, t: Floats) -> tuple[Any, Floats]:
        """The panel of each time, and where in it the time is, between 0 and 1."""
        panel = np.clip(np.searchsorted(self.ends, t, side="left") - 1, 0, self.ends.size - 2)
        return panel, (t - self.ends[panel]) / self.lengths[panel]

    def look(self, t: float) -> tuple[Floats, Floats]:
        q, qd = between(self, *self.place(np.array([t])))
        return q[0], qd[0]

    def parts(self, name: str) -> Floats:
        """q, qd or qdd at the nodes, in lengths and radians: (panels, nodes, coordinates)."""
        sizes = self.results.system.sizes
        return (getattr(self.results, name) / sizes).reshape(-1, STAGES, sizes.size)


def nodes_of(ends: Floats) -> Floats:
    """The nodes of all panels, in order."""
    return (ends[:-1, None] + np.diff(ends)[:, None] * NODES).ravel()


# Where to cut ------------------------------------------------------------------------------------------


class Resolved(NamedTuple):
    """Panels, and the times at which they do not resolve the motion after all."""

    panels: Panels
    rough: Floats


def resolving_panels(
    run: Callable[[Floats], Results],
    grid: Floats,
    of_time: Sequence[Cut],
    switches: Switches,
    *,
    splines: bool,
) -> Resolved:
    """Panels on which polynomials resolve the accelerations of a motion, as short as those of the grid or shorter.

    `run` gives the motion at some times; `of_time` are the switches of time alone.
    """
    resolved, of_state, waits = RESOLVED_SPLINES if splines else RESOLVED, list[Cut](), 0
    for runs in range(1, MOST_RUNS + 1):
        panels = _followed(run, grid, [*of_time, *of_state])
        nodes = panels.results
        found = switches.on_motion(nodes.t, nodes.q, nodes.qd, panels.look, of_state)
        moved = _moved(panels, of_state, found)
        own = pieces_of(panels, resolved)
        broken = _velocities_break(panels)
        pieces = np.maximum(own, 1 + broken)
        if runs == MOST_RUNS or (not moved.size and pieces.max() == 1):
            break
        if moved.size:  # once cut there, a motion may need no more
            waits, of_state = (waits + 1 if _places(found) == _places(of_state) else 0), found
            if waits < MOST_WAITS:
                continue
        if runs > 1:  # a place where the motion is less smooth than polynomials
            pieces[pieces > 1] = MOST_PIECES
        grid = cut_into(panels.ends, pieces)
    rough = panels.ends[:-1][(own if resolved == RESOLVED else pieces_of(panels, RESOLVED)) > 1]
    return Resolved(panels, np.unique(np.concatenate([rough, moved, torn(panels, broken)])))


def cut_into(ends: Floats, pieces: Any) -> Floats:
    """The ends of panels, each cut into so many."""
    panel = np.repeat(np.arange(pieces.size), pieces)
    part = np.arange(panel.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return np.append(ends[panel] + np.diff(ends)[panel] * part / pieces[panel], ends[-1])


def _followed(run: Callable[[Floats], Results], grid: Floats, cuts: list[Cut]) -> Panels:
    if len(cuts) > MOST_CUTS:
        raise UnsupportedError(
            f"the motion has no derivatives that could be trusted: forces switch more than {MOST_CUTS} times. End the "
            "run earlier, or smooth the force that does it."
        )
    ends = _merged(grid, cuts)
    results = run(nodes_of(ends))
    if results.t.size != STAGES * (ends.size - 1):
        raise SimEngineError(f"the motion could not be followed to t = {ends[-1]:g} s: {results.status}.")
    return Panels(ends, results, cuts)


def _merged(grid: Floats, cuts: Sequence[Cut]) -> Floats:
    """Ends at all cuts; those of the grid that are beside one make room for it."""
    begin, end = float(grid[0]), float(grid[-1])
    together = TOGETHER * (end - begin)
    times: list[float] = []
    for t in sorted(cut.t for cut in cuts):
        if begin + together < t < end - together and (not times or t - times[-1] > together):
            times.append(t)
    if not times:
        return grid
    gaps = np.diff(grid)
    room = SLIVER * np.minimum(gaps[:-1], gaps[1:])
    beside = np.abs(grid[1:-1, None] - times).min(axis=1) <= room
    return np.sort(np.concatenate([[begin, end], grid[1:-1][~beside], times]))


def _places(cuts: Sequence[Cut]) -> list[tuple[int, int]]:
    """The switches and their levels."""
    return [(cut.switch, cut.level) for cut in cuts]


def _moved(panels: Panels, before: Sequence[Cut], found: Sequence[Cut]) -> Floats:
    """The times of cuts of the state that are not where they were before."""
    if _places(before) != _places(found):
        return np.array([each.t for each in found] or [each.t for each in before])
    times = np.array([each.t for each in found])
    apart, panel = np.abs(times - [each.t for each in before]), panels.place(times)[0]
    shorter = np.minimum(panels.lengths[panel], np.append(panels.lengths, np.inf)[panel + 1])
    return np.asarray(times[apart > SETTLED * shorter + ROUNDING * panels.ends[-1]])


# What they resolve -------------------------------------------------------------------------------------


def pieces_of(panels: Panels, resolved: float) -> Any:
    """Into how many pieces each panel has to be cut, so that polynomials through its nodes resolve the accelerations.

    The highest coefficient of a smooth function changes with h^(s-1).
    """
    parts = panels.parts("qdd")
    highest = np.abs(HIGHEST @ parts).max(axis=1)
    return pieces_by(highest / max(resolved * np.abs(parts).max(), np.finfo(float).tiny))


def pieces_by(excess: Floats) -> Any:
    """By how many times the highest coefficient is too large."""
    wanted = np.ceil(excess ** (1.0 / (STAGES - 1)))
    return np.clip(np.nan_to_num(wanted, nan=MOST_PIECES), 1, MOST_PIECES).astype(np.int64)


def torn(panels: Panels, broken: Any) -> Floats:
    """The ends of panels at which velocities jump, or accelerations where nothing is known to switch."""
    known, broken = np.isin(panels.ends[1:-1], [cut.t for cut in panels.cuts]), broken.copy()
    broken[:-1] |= _accelerations_jump(panels) & ~known
    return np.asarray(panels.ends[1:][broken])


def _velocities_break(panels: Panels) -> Any:
    """Whether velocities are not the integrals of the accelerations, inside each panel or on to the next."""
    qd, qdd = panels.parts("qd"), panels.parts("qdd")
    before, across, behind = np.moveaxis(panels.lengths[:, None, None] * (_FIRST_TO_LAST @ qdd), 1, 0)
    begin, end = qd[:, 0] - before, qd[:, -1] + behind
    largest_gain = (panels.lengths * np.abs(qdd).max(axis=(1, 2))).max()
    allowed = CONTINUOUS * (np.abs(qd).max() + largest_gain)
    broken = np.abs(qd[:, 0] + across - qd[:, -1]).max(axis=1) > allowed
    broken[:-1] |= np.abs(begin[1:] - end[:-1]).max(axis=1) > allowed
    return broken


def _accelerations_jump(panels: Panels) -> Any:
    """Whether polynomials of a panel and of the next one differ at their common end by more than their errors."""
    qdd = panels.parts("qdd")
    begin, end = np.moveaxis(_AT_ENDS @ qdd, 1, 0)
    last, largest = np.abs(_COEFFICIENTS[-3:] @ qdd).max(axis=(1, 2)), np.abs(qdd).max(axis=(1, 2))
    errors = np.maximum(TAIL * last + NOISE * largest, FAINT * largest.max())
    return np.abs(begin[1:] - end[:-1]).max(axis=1) > np.maximum(errors[1:], errors[:-1])


# Between the nodes -------------------------------------------------------------------------------------

WINDOW = 6
_WIDTHS = NODES[WINDOW - 1 :] - NODES[: 1 - WINDOW]


def between(panels: Panels, panel: Any, x: Floats) -> tuple[Floats, Floats]:
    """q and qd at places of panels, by polynomials of degree 11 that have values and rates of six nodes."""
    first = np.clip(np.searchsorted(NODES, x) - WINDOW // 2, 0, STAGES - WINDOW)
    h = (panels.lengths[panel] * _WIDTHS[first])[:, None, None]
    rows = (STAGES * panel + first)[:, None] + np.arange(WINDOW)
    weights = _weights((x - NODES[first]) / _WIDTHS[first], first)[:, None]
    q, qd, qdd = (getattr(panels.results, name)[rows] for name in ("q", "qd", "qdd"))
    blended = lambda value, rate: (weights @ np.concatenate([value, h * rate], axis=1))[:, 0]
    return blended(q, qd), blended(qd, qdd)


def ahead(q: Floats, qd: Floats, qdd: Floats, h: float) -> tuple[Floats, Floats]:
    """q and qd at the end of a panel of the length h, from its last nodes."""
    first, h = np.array([STAGES - WINDOW]), h * float(_WIDTHS[-1])
    weights = _weights((1.0 - NODES[first]) / _WIDTHS[-1], first)[0]
    blended = lambda value, rate: np.tensordot(weights, np.concatenate([value, h * rate]), 1)
    return blended(q, qd), blended(qd, qdd)


def _weights(x: Floats, first: Any) -> Floats:
    """How much the values and the rates count for the value at x, in the window that begins at `first`."""
    out, powers = np.zeros((x.size, 2 * WINDOW)), chebvander(2.0 * x - 1.0, 2 * WINDOW - 1)
    for w in np.unique(first).tolist():
        out[first == w] = powers[first == w] @ _HERMITE[w]
    return out


def _hermite_basis(points: Floats) -> Floats:
    """Chebyshev coefficients of p with one of p and p' at one point equal to 1, and the others 0."""
    basis = [Chebyshev.basis(k, domain=[0.0, 1.0]) for k in range(2 * points.size)]
    rows = [[each(x) for each in basis] for x in points] + [
        [each.deriv()(x) for each in basis] for x in points
    ]
    return np.asarray(np.linalg.inv(np.array(rows)))


_HERMITE = [
    _hermite_basis((NODES[w : w + WINDOW] - NODES[w]) / width) for w, width in enumerate(_WIDTHS.tolist())
]
