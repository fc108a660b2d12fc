"""Colors: what their names look like on light and on dark paper.

The colors of bodies and lines are those of Okabe and Ito, told apart with every kind of color vision, without their
yellow, which print loses, and their vermilion, which is kept for forces.
"""

from __future__ import annotations

from typing import NamedTuple

PAPER = {"light": "#ffffff", "dark": "#14171c"}
TEXT = {"light": "#1a1d21", "dark": "#e8eaed"}
BODIES = {
    "light": ("#0072b2", "#e08a00", "#009e73", "#b05a8c", "#3d9fdc", "#7a5c3a", "#5b5fae"),
    "dark": ("#4aa3df", "#f0a93a", "#2fc79a", "#d98bb8", "#8ccaf2", "#c29b70", "#9a9ee8"),
}
LINES = BODIES
"""Lines of plots."""


class Ink(NamedTuple):
    """Edge and fill colors (None: nothing), the width of lines in points, and whether they are dashed."""

    edge: str | None
    fill: str | None
    width: float = 1.2
    dashed: bool = False


def mixed(color: str, paper: str, share: float) -> str:
    """A share of the color on the paper."""
    pairs = zip(_rgb(color), _rgb(paper), strict=True)
    parts = [round(share * int(c, 16) + (1 - share) * int(p, 16)) for c, p in pairs]
    return "#" + "".join(f"{part:02x}" for part in parts)


def _rgb(color: str) -> list[str]:
    return [color[i : i + 2] for i in (1, 3, 5)]


def body_ink(number: int) -> str:
    return f"body {number % len(BODIES['light'])}"


def inks(theme: str = "light") -> dict[str, Ink]:
    """Every ink of a theme, by its word."""
    paper, text = PAPER[theme], TEXT[theme]
    gray, faint = mixed(text, paper, 0.55), mixed(text, paper, 0.12)
    red, blue, green = (
        ("#c8102e", "#0b5fa5", "#00725a") if theme == "light" else ("#ff5a5f", "#6bb6ff", "#4fd1a5")
    )
    found = {f"body {i}": Ink(color, mixed(color, paper, 0.3), 1.5) for i, color in enumerate(BODIES[theme])}
    return found | {
        "ground": Ink(gray, None, 1.1),
        "support": Ink(text, faint, 1.3),
        "pin": Ink(text, paper, 1.3),
        "weld": Ink(text, text, 1.0),
        "slot": Ink(text, paper, 1.2),
        "line": Ink(text, None, 1.1),
        "pitch": Ink(gray, None, 0.7, dashed=True),
        "hint": Ink(gray, None, 1.0, dashed=True),
        "spring": Ink(text, None, 1.4),
        "rod": Ink(text, faint, 1.3),
        "belt": Ink(text, None, 2.2),
        "drive": Ink(green, green, 1.8),
        "reaction": Ink(red, red, 2.0),
        "applied": Ink(blue, blue, 2.0),
        "text": Ink(text, text, 1.0),
    }


def ink_of(word: str, theme: str = "light") -> Ink:
    """A word of `inks`, or a color such as #336699 that a model gives to a body."""
    if word.startswith("#"):
        return Ink(word, mixed(word, PAPER[theme], 0.3), 1.5)
    return inks(theme)[word]
