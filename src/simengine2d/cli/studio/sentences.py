"""Sentences for the page: a kind, the words, and what is marked on the drawing."""

from __future__ import annotations

import re
from typing import Any

from ...errors import ended

Word = dict[str, Any]

ORDER = ("cannot close", "cannot move", "dead point", "mobility", "redundant", "note")
"""Kinds of words, the important ones first."""

EFFORT = re.compile(r" \(\d+ iterations?[^)]*\)| The \d+ points? before it (are|is) kept\.")
TIME = re.compile(r"\bt = (\d[\d.e+-]*) s\b")


def word(kind: str, text: str, elements: Any = (), points: Any = ()) -> Word:
    return {
        "kind": kind,
        "text": ended(text[:1].upper() + text[1:]),
        "elements": list(elements),
        "points": [list(map(float, point)) for point in points],
    }


def plain(sentence: str) -> str:
    """Without the efforts of the solver, and with times as short as they are read."""
    return TIME.sub(lambda found: f"t = {float(found[1]):.4g} s", EFFORT.sub("", sentence))
