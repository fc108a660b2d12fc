"""Tables of the laboratory as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from .trial import QUANTITIES, RAN, Trial

if TYPE_CHECKING:
    from .comparison import Comparison

HEADS = (
    "coordinates", "formulation", "integrator", *QUANTITIES, "Phi", "Phi'", "Phi''", "energy", "ms", "steps",
    "evaluations",
)  # fmt: skip
NAMES = 3  # of the columns that hold words


def comparison_text(comparison: Comparison) -> str:
    """The trials that ran, the two that are farthest apart, and those that did not run, with the reason."""
    table = aligned(HEADS, [cells(trial) for trial in comparison.ran], NAMES) if comparison.ran else []
    return "\n".join([*table, *remarks(comparison)])


def remarks(comparison: Comparison) -> list[str]:
    """What is written below the table."""
    lines = ["", "farthest apart:"] if comparison.ran else []
    for name, apart in comparison.agreement.items() if comparison.ran else ():
        lines.append(f"  {name}: {apart.difference:.1e}, {apart.first} and {apart.second}")
    reasons: dict[tuple[str, str], list[str]] = {}
    for trial in comparison.trials:
        if trial.status != RAN:
            reasons.setdefault((trial.status, trial.reason), []).append(trial.name)
    for (status, reason), names in reasons.items():
        lines += ["", f"{status}: {'; '.join(names)}", f"  {reason}"]
    return lines


def cells(trial: Trial) -> list[str]:
    """A trial as a row of the table."""
    errors = [
        trial.q,
        trial.qd,
        trial.qdd,
        trial.reactions,
        trial.position,
        trial.velocity,
        trial.acceleration,
    ]
    numbers = [number(value) for value in (*errors, trial.energy)]
    milliseconds = f"{1e3 * trial.seconds:.3g}"
    return [
        trial.coordinates, trial.formulation, trial.integrator, *numbers, milliseconds, str(trial.steps),
        str(trial.evaluations),
    ]  # fmt: skip


def number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.1e}"


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> list[str]:
    """Lines of a table: the first columns hold words, the others numbers."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]

    def line(row: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if i < words else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(parts).rstrip()

    return [line(heads), *(line(row) for row in rows)]
