"""Style: what the names of colors look like on light and on dark paper, and what a model says about its look.

The colors of bodies and lines are those of Okabe and Ito, distinct with every kind of color vision, without their
yellow, which is lost in print, and their vermilion, which is reserved for forces.

`look` of a model may hold `trace`, a list of points. `look` of a body may hold `color: "#336699"`, `hidden: true`,
and `outline`, a list of corners [x, y] in body axes or several such lists, with numbers or expressions. The colors
and rectangles of the course's files are read too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..errors import ModelError, Subject
from ..model.body import Body
from ..model.frame import GROUND
from ..model.model import Model
from ..model.resolved import ResolvedModel
from ..numerics.arrays import Floats
from .outlines import rectangle

Theme: TypeAlias = Literal["light", "dark"]
PAPER = {"light": "#ffffff", "dark": "#14171c"}
TEXT = {"light": "#1a1d21", "dark": "#e8eaed"}
BODIES = {
    "light": ("#0072b2", "#e08a00", "#009e73", "#b05a8c", "#3d9fdc", "#7a5c3a", "#5b5fae"),
    "dark": ("#4aa3df", "#f0a93a", "#2fc79a", "#d98bb8", "#8ccaf2", "#c29b70", "#9a9ee8"),
}
ARROWS = {
    "light": {
        "reaction": "#c8102e", "contact": "#d6127a", "effort": "#00725a", "elastic": "#8424a8", "applied": "#0b3fb5",
        "weight": "#4d535c", "velocity": "#00808f", "acceleration": "#b85000",
    },
    "dark": {
        "reaction": "#ff5a5f", "contact": "#ff6fb8", "effort": "#4fd1a5", "elastic": "#c98bef", "applied": "#6b95ff",
        "weight": "#aab0ba", "velocity": "#35c6d6", "acceleration": "#ff9a4d",
    },
}  # fmt: skip
"""Kinds of arrows."""
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
    green = ARROWS[theme]["effort"]
    of_bodies = {
        f"body {i}": Ink(color, mixed(color, paper, 0.3), 1.5) for i, color in enumerate(BODIES[theme])
    }
    of_arrows = {kind: Ink(color, color, 2.0) for kind, color in ARROWS[theme].items()}
    of_arrows |= {kind: of_arrows[kind]._replace(width=1.5) for kind in ("velocity", "acceleration")}
    return (
        of_bodies
        | of_arrows
        | {
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
            "text": Ink(text, text, 1.0),
        }
    )


def ink_of(word: str, theme: str = "light") -> Ink:
    """A word of `inks`, or a color such as #336699 that a model gives to a body."""
    if word.startswith("#"):
        return Ink(word, mixed(word, PAPER[theme], 0.3), 1.5)
    return inks(theme)[word]


# Style sheets -----------------------------------------------------------------------------------------


def ink_class(ink: str) -> str:
    """The ink as a word for style sheets."""
    return ink.replace(" ", "-").replace("#", "")


def color_rules(used: Iterable[str]) -> str:
    """The inks of both themes as rules of a style sheet; `used` are the classes of a page, among them own colors."""
    own = sorted(filter(_is_color, set(used)))
    return "\n".join(_theme(name, own) for name in PAPER)


def _is_color(ink: str) -> bool:
    return len(ink) == 6 and not set(ink) - set("0123456789abcdef")


def _theme(theme: str, own: Sequence[str]) -> str:
    paper, text = PAPER[theme], TEXT[theme]
    root = f'.simengine2d[data-theme="{theme}"]'
    variables = {
        "paper": paper,
        "text": text,
        "quiet": mixed(text, paper, 0.62),
        "rule": mixed(text, paper, 0.16),
        "raised": mixed(text, paper, 0.05),
        "accent": BODIES[theme][0],
    }
    rules = [
        f"{root} {{ color-scheme: {theme}; " + " ".join(f"--{k}: {v};" for k, v in variables.items()) + " }"
    ]
    known = inks(theme) | {f"#{color}": ink_of(f"#{color}", theme) for color in own}
    rules += [rule for word, ink in known.items() for rule in _ink_rules(root, ink_class(word), ink)]
    for i, color in enumerate(BODIES[theme]):
        rules.append(f"{root} .curve-{i} {{ stroke: {color}; }}")
        rules.append(f"{root} .dot.curve-{i} {{ fill: {color}; stroke: var(--paper); }}")
        rules.append(f"{root} .chip-{i} {{ color: {color}; }}")
    return "\n".join(rules)


def _ink_rules(root: str, word: str, ink: Ink) -> list[str]:
    dash = " stroke-dasharray: 8 3 1.5 3;" if ink.dashed else ""
    edge = ink.edge or "none"
    return [
        f"{root} .ink-{word} {{ stroke: {edge}; stroke-width: {ink.width}px;{dash} }}",
        f"{root} .ink-{word}.area, {root} .arrow.ink-{word} .area {{ fill: {ink.fill or 'none'}; }}",
        f"{root} .label.ink-{word} {{ fill: {edge}; stroke: var(--paper); }}",
    ]


# The look of a model ----------------------------------------------------------------------------------


def own_color(body: Body) -> str | None:
    """The color in the look, as #rrggbb."""
    red_green_blue: Any = _vis(body).get("RGB")
    if _are_numbers(red_green_blue, 3):
        return "#" + "".join(f"{round(255 * max(0.0, min(1.0, part))):02x}" for part in red_green_blue)
    color = body.look.get("color")
    if color is None:
        return None
    digits = str(color).removeprefix("#").lower()
    if len(digits) != 6 or set(digits) - set("0123456789abcdef"):
        raise ModelError(f"body '{body.name}', look, color {color!r}: write it as '#336699'.")
    return f"#{digits}"


def every_body(model: Model) -> list[Body]:
    """The ground, then the bodies."""
    return [model.ground, *model.bodies.values()]


def ink_of_bodies(model: Model) -> dict[str, str]:
    """The ink of each body: the color in its look, else one after the other; the ground has its own."""
    inks = {name: own_color(body) or body_ink(i) for i, (name, body) in enumerate(model.bodies.items())}
    return inks | {GROUND: "support"}


def own_outlines(body: Body, resolved: ResolvedModel) -> list[Floats]:
    """The outlines in the look, in body axes."""
    given = body.look.get("outline")
    if given is None:
        return _rectangles(body)
    what = f"body '{body.name}', look, outline"
    if not isinstance(given, list) or not given or not isinstance(given[0], list) or not given[0]:
        raise ModelError(f"{what} {given!r}: write a list of corners [x, y].")
    several = given if isinstance(given[0][0], list) else [given]
    return [np.array([_corner(corner, what, resolved) for corner in path]) for path in several]


def _corner(corner: Any, what: str, resolved: ResolvedModel) -> list[float]:
    if not isinstance(corner, list) or len(corner) != 2:
        raise ModelError(f"{what}: {corner!r} is not a corner [x, y].")
    return [resolved.number(part, Subject(what)) for part in corner]


def _rectangles(body: Body) -> list[Floats]:
    """The shapes of a course file: rectangles with a place and a size."""
    return [
        rectangle(shape["loc"], *shape["size"])
        for shape in _vis(body).get("shapes") or ()
        if isinstance(shape, dict)
        and _are_numbers(shape.get("loc"), 2)
        and _are_numbers(shape.get("size"), 2)
    ]


def _vis(body: Body) -> dict[str, Any]:
    vis = body.look.get("vis")
    return vis if isinstance(vis, dict) else {}


def _are_numbers(value: Any, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(isinstance(v, int | float) for v in value)
