"""Answers show themselves: in a few lines at a prompt, as tables and a picture in a notebook.

The text of an answer is its `str`; `print` shows all of it. What a notebook shows are the parts below: sentences and
tables, as data. How they look is decided in `draw/answer_html.py`, the pictures are in `draw/answer_plots.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES, COLUMNS = 10, 80


class Rows(NamedTuple):
    """A table: the first `words` columns hold words, the others numbers."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1

    def lines(self) -> list[str]:
        """As text of 80 columns."""
        first, *others = (piece._text() for piece in self.pieces())
        return [*first, *(line for lines in others for line in ("", *lines))]

    def pieces(self) -> list[Rows]:
        """The table in several that have 80 columns each, with the columns again that say what a row is."""
        widths = self._widths()
        keys = list(range(min(max(self.words, 1), len(widths))))
        blocks: list[list[int]] = []
        room = 0
        for i in range(len(keys), len(widths)):
            if widths[i] + 2 > room:
                blocks.append([])
                room = COLUMNS + 2 - sum(widths[k] + 2 for k in keys)
            blocks[-1].append(i)
            room -= widths[i] + 2
        return [self._of(keys + block) for block in blocks or [[]]]

    def _of(self, columns: Sequence[int]) -> Rows:
        heads, *rows = ([row[i] for i in columns] for row in (self.heads, *self.rows))
        return Rows(heads, rows, self.words)

    def _widths(self) -> list[int]:
        return [max(map(len, column)) for column in zip(self.heads, *self.rows, strict=True)]

    def _text(self) -> list[str]:
        sides = [
            (width, str.ljust if i < self.words else str.rjust) for i, width in enumerate(self._widths())
        ]
        return [
            "  ".join(to(cell, width) for cell, (width, to) in zip(row, sides, strict=True)).rstrip()
            for row in (self.heads, *self.rows)
        ]


Part = str | Rows


def folded(text: str) -> list[str]:
    """The lines of a text, long ones in several of 80 columns."""
    return [
        piece
        for line in text.splitlines()
        for piece in wrap(line, COLUMNS, subsequent_indent="  ", break_on_hyphens=False) or [""]
    ]


def shortened(text: str) -> str:
    """The text in at most ten lines of 80 columns, with a hint where that is not all."""
    lines = folded(text)
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], f"... and {len(lines) - LINES + 1} more lines; print() shows all"]
    return "\n".join(lines)


def digits(value: Any) -> str:
    """Five digits, of complex numbers too; of None a dash."""
    return "-" if value is None else f"{value:.5g}"


class Answer:
    """What a call returns, and a user looks at."""

    def __str__(self) -> str:
        """As it was written: the fields of a dataclass that were given."""
        own: Any = self
        given = {f.name: getattr(self, f.name) for f in fields(own) if getattr(self, f.name) is not f.default}
        words = [
            f"{name}={value!r}" for name, value in given.items() if name != "name" and value not in (None, {})
        ]
        title = [repr(given["name"])] if "name" in given else []
        return f"{type(self).__name__}({', '.join(title + words)})"

    def __repr__(self) -> str:
        return shortened(self._summary())

    def _summary(self) -> str:
        """What is shown at a prompt, where it is shorter than the text."""
        return str(self)

    def _parts(self) -> Iterable[Part]:
        """What a notebook shows; the first line is the title."""
        return self._summary().splitlines()

    _has_picture: ClassVar[bool] = False

    def _draw_on(self, ax: Axes) -> None:
        """Draw the picture that a notebook shows, where there is one."""

    def _repr_html_(self) -> str:
        from .draw.answer_html import html_of

        return html_of(self)


class PlottedAnswer(Answer):
    """An answer with a picture."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """The answer as a picture, on the axes given or on new ones, which are returned."""
        from .draw.answer_plots import plot_of

        return plot_of(self, ax)

    _has_picture = True

    def _draw_on(self, ax: Axes) -> None:
        self.plot(ax)
