"""Milliseconds that an error costs: the table of all cases and engines."""

from __future__ import annotations

from itertools import groupby, pairwise
from math import exp, log
from typing import NamedTuple

from cases import CASES
from measuring import Row

OURS, LIMIT = "simengine2d", "C"
ERRORS = (1e-3, 1e-6, 1e-9)
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
    return min(found, default=None)


def energy_cost(rows: list[Row]) -> Cost | None:
    """The least time that keeps energy and branch of a singular mechanism."""
    kept = [row for row in rows if row.energy is not None and row.energy < ENERGY and row.error < BRANCH]
    return min((Cost(row.seconds, row) for row in kept), default=None)


class Cell(NamedTuple):
    """One line of the table: what peers, Exudyn, C and we need for one case and error.

    The best peer is the fastest of all engines, methods and settings; ours that of a few methods with a tolerance.
    """

    case: str
    error: str
    peer: Cost | None
    exudyn: Cost | None
    limit: Cost | None
    default: Cost | None
    ours: Cost | None

    @property
    def ratio(self) -> float | None:
        return self.peer.seconds / self.ours.seconds if self.peer and self.ours else None

    @property
    def default_ratio(self) -> float | None:
        """The same of a call that names a tolerance only."""
        return self.peer.seconds / self.default.seconds if self.peer and self.default else None

    @property
    def verdict(self) -> str:
        if self.ours is None:
            return "not reached" if self.peer else "reached by none"
        if self.ratio is None:
            return "by ours alone"
        return "" if self.ratio >= WANTED else f"below {WANTED:g}"


def cells(rows: list[Row]) -> list[Cell]:
    """All cases that were run, in the order of the cases."""
    table = []
    for case in CASES:
        runs = finished(rows, case)
        ours = [row for row in runs if row.peer == OURS and row.letter == "rtol"]
        default = [row for row in ours if row.method == "default"]
        limit = [row for row in runs if row.peer == LIMIT]
        peers = [row for row in runs if row.peer not in (OURS, LIMIT)]
        exudyn = [row for row in peers if row.peer == "Exudyn"]
        if not ours:
            continue
        for error in ERRORS:
            others = [cost(group, error, interpolate=True) for group in (peers, exudyn, limit)]
            own = [cost(group, error, interpolate=False) for group in (default, ours)]
            table.append(Cell(case, f"{error:.0e}", *others, *own))
        if case.startswith("ladder"):
            groups = (peers, exudyn, limit, default, ours)
            table.append(Cell(case, "energy", *(energy_cost(group) for group in groups)))
    return table


def print_table(table: list[Cell]) -> None:
    print("\nMilliseconds to an error (meters at the end); ~ between two settings of one method")
    print(
        f"{'case':26} {'error':>6}  {'best peer':30} {'ms':>8}  {'ours':22} {'ms':>6} {'rtol':>7} {'ratio':>6}",
        end="",
    )
    print(f"  {'default':>8} {'ratio':>6}  {'Exudyn':>8} {'C':>8}")
    for cell in table:
        case = CASES[cell.case]()
        title = f"{case.title}, {case.t_end:g} s" if cell.error == "1e-03" else ""
        peer, ours = cell.peer, cell.ours
        name = f"{peer.row.peer} ({peer.row.method})" if peer else "none"
        print(f"{title:26} {cell.error:>6}  {name[:30]:30} {text(peer):>8}  ", end="")
        print(f"{ours.row.method if ours else '-':22} {text(ours):>6} ", end="")
        print(f"{f'{ours.row.value:.1e}' if ours else '-':>7} {times(cell.ratio):>6}  ", end="")
        print(
            f"{text(cell.default):>8} {times(cell.default_ratio):>6}  {text(cell.exudyn):>8} {text(cell.limit):>8}",
            end="",
        )
        print(f"  {cell.verdict}")


def text(cost: Cost | None) -> str:
    return cost.text if cost else "-"


def times(ratio: float | None) -> str:
    return f"{ratio:.1f}" if ratio else "-"


def print_summary(table: list[Cell]) -> None:
    """Bar (a): every cell, the cells that no peer reaches, and Exudyn where a loop is closed."""
    compared = [cell for cell in table if cell.peer]
    held = [cell for cell in compared if cell.ratio is not None and cell.ratio >= WANTED]
    print(f"\n(a) at least {WANTED:g} x faster than the best peer: {len(held)} of {len(compared)} cells")
    held = [cell for cell in compared if cell.default_ratio is not None and cell.default_ratio >= WANTED]
    print(f"    the same with the default's method and coordinates: {len(held)}")
    alone = [cell for cell in table if not cell.peer]
    print(
        f"    reached by no peer: {len(alone)} cells, of which ours reaches {sum(bool(c.ours) for c in alone)}"
    )
    loops = [
        c
        for c in table
        if c.error in ("1e-06", "1e-09") and c.exudyn and c.ours and CASES[c.case]().has_loops
    ]
    if loops:
        least = min(loops, key=lambda c: c.exudyn.seconds / c.ours.seconds)
        ratio = least.exudyn.seconds / least.ours.seconds
        print(f"    against Exudyn with loops at 1e-6 and better: {ratio:.0f} x or more ({least.case})")
