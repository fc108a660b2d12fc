"""What came out of a check: mistakes with their place and kind, and what is right in another convention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ...answer import COLUMNS, Part, PlottedAnswer, Rows, digits
from ...errors import ModelError, counted, listed, unknown
from ...numerics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SHOWN = 12  # mistakes of the text


@dataclass(frozen=True)
class Mistake:
    """A mistake: where it is, what was written there, and what would be right."""

    quantity: str
    """The array or the channel: Phi_q, M, QA, crank.phi, ..."""
    kind: str
    """sign, factor, missing, transposed, wrong body, angle unit, row order, column order, shape, value, ..."""
    remark: str
    """The mistake in words."""
    entry: tuple[int, ...] = ()
    """Row and column of the first wrong entry, counted from 0."""
    where: str = ""
    """The same by names: Phi_q[A.x, crank.phi]."""
    joint: str = ""
    """The joint in whose rows it is."""
    body: str = ""
    """The body in whose columns it is, or the point or the joint to which the coordinate belongs."""
    force: str = ""
    """The force that is concerned."""
    given: float | None = None
    expected: float | None = None
    entries: tuple[tuple[int, ...], ...] = ()
    """All wrong entries of this mistake."""

    def __str__(self) -> str:
        numbers = "" if self.given is None else f" ({_numbers(self.given, self.expected)})"
        return f"{self.where or self.quantity}: {self.remark}{numbers}"

    def record(self) -> dict[str, Any]:
        """Plain data, without what is empty."""
        return {name: value for name, value in vars(self).items() if value not in ("", (), None)}


def _numbers(given: float, expected: float | None) -> str:
    """Both numbers, with as many digits as it takes to tell them apart."""
    if expected is None:
        return f"given {given:.5g}"
    for count in (4, 6, 9, 17):
        pair = f"{given:.{count}g}", f"{expected:.{count}g}"
        if pair[0] != pair[1]:
            break
    return f"given {pair[0]}, expected {pair[1]}"


@dataclass(frozen=True, repr=False)
class CheckedWork(PlottedAnswer):
    """The arrays that were checked, by name, with the mistakes in them.

    work.right, work.mistakes, work["Phi_q"]     # all; the mistakes of one array
    work.plot()                                  # the first array that is wrong, with its wrong entries marked
    """

    title: str
    checked: tuple[str, ...]
    """What was checked, in the order in which it was given."""
    mistakes: list[Mistake] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What is right, but written otherwise than here."""
    given: Mapping[str, Floats] = field(default_factory=dict)
    expected: Mapping[str, Floats] = field(default_factory=dict)
    names: Mapping[str, tuple[list[str], list[str]]] = field(default_factory=dict)
    """Names of the rows and of the columns of each array."""

    @property
    def right(self) -> bool:
        return not self.mistakes

    def __getitem__(self, quantity: str) -> list[Mistake]:
        """The mistakes of one array or channel."""
        if quantity not in self.checked:
            raise ModelError(f"'{quantity}' was not checked. {unknown('array', quantity, self.checked)}")
        return [mistake for mistake in self.mistakes if mistake.quantity == quantity]

    @property
    def verdict(self) -> str:
        """One line."""
        if self.right:
            return f"all right: {listed(self.checked)}"
        wrong = dict.fromkeys(mistake.quantity for mistake in self.mistakes)
        right = [name for name in self.checked if name not in wrong]
        also = f"; right: {listed(right)}" if right else ""
        return f"{counted(len(self.mistakes), 'mistake')} in {listed(wrong)}{also}"

    def __str__(self) -> str:
        lines = [self.title, self.verdict]
        lines += [f"{number}. {mistake}" for number, mistake in enumerate(self.mistakes[:MOST_SHOWN], 1)]
        more = len(self.mistakes) - MOST_SHOWN
        lines += [f"... and {counted(more, 'more mistake')}"] if more > 0 else []
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(
            piece for line in lines for piece in wrap(line, COLUMNS, subsequent_indent="   ") or [""]
        )

    def _parts(self) -> Iterator[Part]:
        yield from (self.title, self.verdict)
        rows = [
            [m.where or m.quantity, m.kind, m.remark, digits(m.given), digits(m.expected)]
            for m in self.mistakes[:MOST_SHOWN]
        ]
        if rows:
            yield Rows(["where", "kind", "remark", "given", "expected"], rows, 3)
        yield from self.notes

    def record(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "title": self.title,
            "right": self.right,
            "checked": list(self.checked),
            "mistakes": [mistake.record() for mistake in self.mistakes],
            "notes": self.notes,
        }

    def plot(self, ax: Axes | None = None, quantity: str | None = None) -> Axes:
        """A picture of an array, by default of the first that is wrong; wrong entries are marked."""
        from .pictures import plot_checked

        return plot_checked(self, quantity or self._shown(), ax)

    def _shown(self) -> str:
        wrong = [m.quantity for m in self.mistakes if m.quantity in self.given]
        return next(iter([*wrong, *self.given]), "")


def entries_of(mask: Any) -> tuple[tuple[int, ...], ...]:
    """The places at which a mask is true."""
    return tuple(tuple(int(k) for k in place) for place in np.argwhere(mask))
