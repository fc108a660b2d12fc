"""Milliseconds that an error costs: the table of all cases and engines."""

from __future__ import annotations

from itertools import groupby, pairwise
from math import exp, log
from typing import NamedTuple

from cases import CASES
from measuring import Row

OURS, LIMIT = "simengine2d", "C"
PLAIN, WHOLE = "plain call", "whole call"
"""se.dynamics with a tolerance alone, on a prepared System and on a new Model."""
ERRORS, STIFF_ERRORS = (1e-3, 1e-6, 1e-9), (1e-3, 1e-6)
WANTED = 2.0
"""How much faster than the best peer is asked for."""
ENERGY, BRANCH = 0.1, 0.02  # joules kept, and meters that tell the right branch of a singular mechanism


class Cost(NamedTuple):
    """Seconds of the fastest run that is good enough; between two settings of one method where interpolated."""

    seconds: float
    row: Row
    interpolated: bool = False

    @property
    def text(self) -> str:
        return f"{'~' if self.interpolated else ''}{milliseconds(self.seconds)}"


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}" if seconds < 1.0 else f"{1e3 * seconds:,.0f}"


def finished(rows: list[Row], case: str) -> list[Row]:
    """The runs of a case that came to an end."""
    return [row for row in rows if row.case == case and row.seconds is not None and row.error == row.error]


def cost(rows: list[Row], error: float, *, interpolate: bool) -> Cost | None:
    """The least time to an error. Rows of one method follow each other from coarse to fine."""
    found = [Cost(row.seconds, row) for row in rows if row.error <= error]
    if interpolate:
        for _, sweep in groupby(rows, key=lambda row: (row.peer, row.method)):
            for coarse, fine in pairwise(sweep):
                if coarse.error > error >= fine.error > 0.0:
                    part = log(coarse.error / error) / log(coarse.error / fine.error)
                    seconds = exp((1 - part) * log(coarse.seconds) + part * log(fine.seconds))
                    found.append(Cost(seconds, fine, True))
    return min(found, key=lambda cost: cost.seconds, default=None)


def energy_cost(rows: list[Row]) -> Cost | None:
    """The least time that keeps energy and branch of a singular mechanism."""
    kept = [row for row in rows if row.energy is not None and row.energy < ENERGY and row.error < BRANCH]
    return min((Cost(row.seconds, row) for row in kept), key=lambda cost: cost.seconds, default=None)


class Cell(NamedTuple):
    """One line of the table: what peers, Exudyn, C and we need for one case and error.

    The best peer is the fastest of all engines, methods and settings; ours that of a few methods with a tolerance.
    """

    case: str
    error: str
    peer: Cost | None
    exudyn: Cost | None
    limit: Cost | None
    plain: Cost | None
    whole: Cost | None
    ours: Cost | None

    @property
    def stiff(self) -> bool:
        return CASES[self.case]().stiff

    @property
    def ratio(self) -> float | None:
        """How much faster the best of our methods is."""
        return over(self.peer, self.ours)

    @property
    def plain_ratio(self) -> float | None:
        """The same of a call that names a tolerance only."""
        return over(self.peer, self.plain)

    @property
    def verdict(self) -> str:
        if self.plain is None:
            return "not reached" if self.peer else "reached by none"
        if self.plain_ratio is None:
            return "by ours alone"
        return "" if self.plain_ratio >= WANTED else f"below {WANTED:g}"


def over(slow: Cost | None, fast: Cost | None) -> float | None:
    return slow.seconds / fast.seconds if slow and fast else None


def cells(rows: list[Row]) -> list[Cell]:
    """All cases that were run, in the order of the cases."""
    table = []
    for case in CASES:
        runs = finished(rows, case)
        ours = [row for row in runs if row.peer == OURS and row.letter == "rtol"]
        if not ours:
            continue
        plain, whole = ([row for row in ours if row.method == name] for name in (PLAIN, WHOLE))
        limit = [row for row in runs if row.peer == LIMIT]
        peers = [row for row in runs if row.peer not in (OURS, LIMIT)]
        exudyn = [row for row in peers if row.peer == "Exudyn"]
        for error in STIFF_ERRORS if CASES[case]().stiff else ERRORS:
            others = [cost(group, error, interpolate=True) for group in (peers, exudyn, limit)]
            own = [cost(group, error, interpolate=False) for group in (plain, whole, ours)]
            table.append(Cell(case, f"{error:.0e}", *others, *own))
        if case.startswith("ladder"):
            groups = (peers, exudyn, limit, plain, whole, ours)
            table.append(Cell(case, "energy", *(energy_cost(group) for group in groups)))
    return table


def print_table(table: list[Cell]) -> None:
    print("\nMilliseconds to an error (meters at the end); ~ between two settings of one method.")
    print(
        f"'{PLAIN}' is se.dynamics(system, t_end=, rtol=) with its results, 'Model' the same from a new Model,"
    )
    print("'ours' the best of our methods and coordinates; ratios are those of the best peer to it.")
    print(
        f"{'case':30} {'error':>6}  {'best peer':30} {'ms':>8}  {PLAIN:>10} {'ratio':>6} {'rtol':>7} ", end=""
    )
    print(f"{'Model':>7}  {'ours':22} {'ms':>6} {'ratio':>6}  {'Exudyn':>8} {'C':>7}")
    for cell in table:
        print_cell(cell)


def print_cell(cell: Cell) -> None:
    case = CASES[cell.case]()
    title = f"{case.title}, {case.t_end:g} s" if cell.error == "1e-03" else ""
    peer, plain, ours = cell.peer, cell.plain, cell.ours
    name = f"{peer.row.peer} ({peer.row.method})" if peer else "none"
    print(f"{title:30} {cell.error:>6}  {name[:30]:30} {text(peer):>8}  {text(plain):>10} ", end="")
    print(f"{times(cell.plain_ratio):>6} {f'{plain.row.value:.1e}' if plain else '-':>7} ", end="")
    print(f"{text(cell.whole):>7}  {ours.row.method if ours else '-':22} {text(ours):>6} ", end="")
    print(f"{times(cell.ratio):>6}  {text(cell.exudyn):>8} {text(cell.limit):>7}  {cell.verdict}")


def text(cost: Cost | None) -> str:
    return cost.text if cost else "-"


def times(ratio: float | None) -> str:
    return f"{ratio:.2g}" if ratio and ratio < 100.0 else f"{ratio:.0f}" if ratio else "-"
