"""Looks: what a model file says about how a body is drawn.

`look` of a model may hold `trace`, a list of points. `look` of a body may hold `color: "#336699"`, `hidden: true`,
and `outline`, a list of corners [x, y] in body axes or several such lists, with numbers or expressions. The colors
and rectangles of the course's files are read too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError, Subject
from ..model.body import Body
from ..model.model import Model
from ..model.resolved import ResolvedModel
from .outlines import Floats, rectangle


def own_traces(model: Model) -> list[str]:
    """The points whose paths the model wants to be shown: `look: {trace: [rod.B]}`."""
    given = model.look.get("trace", [])
    if not isinstance(given, list) or not all(isinstance(point, str) for point in given):
        raise ModelError(
            f"model '{model.name}', look, trace {given!r}: write a list of points such as [rod.B]."
        )
    return given


def is_hidden(body: Body) -> bool:
    return body.look.get("hidden") is True


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
        raise ModelError(f"{what}: {corner!r} is no corner [x, y].")
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
