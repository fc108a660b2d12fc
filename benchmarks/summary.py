"""What the table says in a few lines: how many cells hold what is asked, which do not, and how far the limit is."""

from __future__ import annotations

from cases import CASES
from targets import WANTED, Cell, over, times


def print_summary(table: list[Cell]) -> None:
    """Bar (a): the plain call against the best peer of every cell, against C, and against Exudyn with loops."""
    print_held("(a)", [cell for cell in table if not cell.stiff])
    print_held("    stiff:", [cell for cell in table if cell.stiff])
    print_limit([cell for cell in table if cell.limit])
    print_loops([cell for cell in table if cell.error in ("1e-06", "1e-09") and cell.exudyn])


def print_held(title: str, table: list[Cell]) -> None:
    compared = [cell for cell in table if cell.peer]
    if not compared:
        return
    missed = [cell for cell in compared if (cell.plain_ratio or 0.0) < WANTED]
    best = sum((cell.ratio or 0.0) >= WANTED for cell in compared)
    count = f"{len(compared) - len(missed)} of {len(compared)} cells"
    print(f"\n{title} the plain call is at least {WANTED:g} x faster than the best peer in {count}")
    for cell in missed:
        print(f"      not {cell.case} {cell.error}: {times(cell.plain_ratio)}")
    print(f"    the best of our methods is so in {best}")
    alone = [cell for cell in table if not cell.peer]
    reached = sum(bool(cell.plain) for cell in alone)
    print(f"    reached by no peer: {len(alone)} cells, of which the plain call reaches {reached}")


def print_limit(table: list[Cell]) -> None:
    if not table:
        return
    print("\n    times of hand-written C (plain call, from a new Model, best of our methods):")
    for cell in table:
        ratios = (over(cost, cell.limit) for cost in (cell.plain, cell.whole, cell.ours))
        print(f"      {cell.case:16} {cell.error} {'  '.join(f'{times(ratio):>5}' for ratio in ratios)}")


def print_loops(table: list[Cell]) -> None:
    loops = [cell for cell in table if cell.plain and CASES[cell.case]().has_loops]
    if loops:
        least = min(loops, key=lambda cell: over(cell.exudyn, cell.plain))
        ratio = over(least.exudyn, least.plain)
        print(f"\n    against Exudyn with loops at 1e-6 and better: {times(ratio)} x or more ({least.case})")
