"""One page that plays motions: a single file with everything in it, which needs no network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from ..errors import ModelError
from ..io.files import write_text
from ..model.model import Model
from ..results.pictures import PicturedResults
from ..results.results import Results
from .differences import names_of
from .forces import KINDS
from .payload import MOST_ROWS, payload
from .style import PAPER, Theme, color_rules

SCRIPTS = (
    "data.js", "formula.js", "labels.js", "arrows.js", "actor.js", "stage.js", "legend.js", "save.js", "chart.js",
    "plots.js", "theme.js", "player.js",
)  # fmt: skip
SPEEDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
OF_POINTS = ("x", "y", "xd", "yd", "|v|", "|a|")  # channels of points, which the player computes
MOST_WORDS = 40  # labels and arrows that are shown from the beginning
NOTHING = 1e-9  # of the largest force: rounding
SHORTEST, LONGEST = 3.0, 25.0  # seconds that a motion is played, by the speed it begins with

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""The browser refuses to fetch anything for the page; pictures that it saves are made from its own data."""

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
html, body {{ margin: 0; height: 100%; }}
body:has([data-theme="dark"]) {{ background: {dark}; }}
{style}
</style>
</head>
<body>
<div id="player"></div>
<noscript>This page draws with JavaScript, which is switched off.</noscript>
<script id="data" type="application/json">{data}</script>
<script>
"use strict";
{script}
mount(document.getElementById("player"), JSON.parse(document.getElementById("data").textContent), document);
</script>
</body>
</html>
"""


class PlayerOptions(TypedDict, total=False):
    """What a page or a widget of the player shows from the beginning; see `html`."""

    labels: Sequence[str]
    trace: Sequence[str] | None
    channels: Sequence[str] | None
    forces: bool
    speed: float | None
    theme: Theme | None
    play: bool
    at: float | None
    most_rows: int


def html(
    results: PicturedResults | Sequence[PicturedResults], path: str | Path, **options: Unpack[PlayerOptions]
) -> Path:
    """Write a page that plays one result, or several over each other: `html([r1, r2], "compare.html")`.

    `labels` name the results; `trace` are points, `channels` plots that are shown from the beginning; `forces`,
    `speed`, `theme` ("light" or "dark"), `play` and the time `at` say how it begins. The reader can change all of it.
    It is in the units of the first model, or in others: `html(r.in_units(length="mm"), path)`.
    """
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ModelError(f"{path} is not written: a player is an .html file.")
    return write_text(path, page(results, **options))


def page(results: PicturedResults | Sequence[PicturedResults], **options: Unpack[PlayerOptions]) -> str:
    """The text of the page; the options are those of `player_data`."""
    data = player_data(results, **options)
    # a "<" inside a script could end it
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return PAGE.format(
        policy=POLICY,
        title=escape(data["title"]),
        dark=PAPER["dark"],
        data=text,
        script=script(),
        style=style(data),
    )


def player_data(
    results: PicturedResults | Sequence[PicturedResults],
    *,
    labels: Sequence[str] = (),
    trace: Sequence[str] | None = None,
    channels: Sequence[str] | None = None,
    forces: bool = True,
    speed: float | None = None,
    theme: Theme | None = None,
    play: bool = True,
    at: float | None = None,
    most_rows: int = MOST_ROWS,
) -> dict[str, Any]:
    """What the player gets. `labels` name the results, `trace` and `channels` are shown from the beginning."""
    views = [one.shown for one in ([results] if isinstance(results, PicturedResults) else results)]
    several = [view.in_si for view in views]
    _check(several, labels, speed, theme)
    units = asdict(views[0].units)  # of all, so that curves can be compared
    names = list(labels) or names_of(several)
    trace = _own_traces(several[0].model) if trace is None else trace
    asked = list(channels or ())
    parts = [
        payload(result.in_units(**units), name, trace, most_rows, asked)
        for result, name in zip(several, names, strict=True)
    ]
    return {
        "title": " and ".join(dict.fromkeys(part["name"] for part in parts)),
        "results": parts,
        "kinds": KINDS,
        "options": {
            "channels": list(
                _first_channels(several[0], parts[0]) if channels is None else _known(channels, parts)
            ),
            "trace": list(trace),
            "forces": forces and len(parts[0]["arrows"]) <= MOST_WORDS,
            "labels": len(several) == 1 and len(parts[0]["labels"]) <= MOST_WORDS,
            "speed": _speed(several) if speed is None else speed,
            "theme": theme,
            "play": play,
            "at": at,
        },
    }


def _check(results: list[Results], labels: Sequence[str], speed: float | None, theme: str | None) -> None:
    if not results:
        raise ModelError("there are no results to show; give one or several.")
    if labels and len(labels) != len(results):
        raise ModelError(f"{len(labels)} labels were given for {len(results)} results; give one for each.")
    if speed is not None and speed not in SPEEDS:
        raise ModelError(f"speed = {speed!r}: the player knows {', '.join(map(str, SPEEDS))}.")
    if theme not in (None, "light", "dark"):
        raise ModelError(f"theme = {theme!r} must be 'light' or 'dark'; left out, it is that of the reader.")


def _own_traces(model: Model) -> list[str]:
    """The points whose paths the model wants to be shown: `look: {trace: [rod.B]}`."""
    given = model.look.get("trace", [])
    if not isinstance(given, list) or not all(isinstance(point, str) for point in given):
        raise ModelError(
            f"model '{model.name}', look, trace {given!r}: write a list of points such as [rod.B]."
        )
    return given


def _known(channels: Sequence[str], parts: list[dict[str, Any]]) -> Sequence[str]:
    known = {channel["name"] for part in parts for channel in part["channels"]}
    known |= {f"{point}.{q}" for part in parts for point in part["points"] for q in OF_POINTS}
    strange = [name for name in channels if name not in known]
    if strange:
        raise ModelError(
            f"the player has no channel {', '.join(strange)}. It has x, y, phi of bodies with d or dd for rates, "
            "fx, fy, torque and |f| of joints and forces, energy.kinetic, .potential, .total, x, y and their rates of "
            "named points, and measures such as distance(a, b)."
        )
    return channels


def _first_channels(results: Results, part: dict[str, Any]) -> list[str]:
    """What is plotted by default: how the first and the last body move, and a joint that bears something."""
    bodies = part["bodies"]
    first = [f"{bodies[k]}.{_liveliest(results, k)}" for k in (0, -1)] if bodies else []
    sizes = {arrow["name"]: arrow["largest"] for arrow in part["arrows"] if "columns" in arrow}
    bearing = [name for name, size in sizes.items() if size > NOTHING * max(sizes.values())] or list(sizes)
    return list(dict.fromkeys([*first, *(f"{name}.|f|" for name in bearing[:1])]))


def _liveliest(results: Results, k: int) -> str:
    """What to show of a body: its angle where it turns, else x or y, whichever moves more."""
    x, y, phi = np.ptp(results.q.reshape(results.t.size, -1, 3)[:, k], axis=0)
    return "phi" if phi >= 1e-6 else "x" if x >= y and x > 0.0 else "y" if y > 0.0 else "phi"


def _speed(results: list[Results]) -> float:
    """Real time, unless that is over at once or takes too long."""
    seconds = max(float(r.t[-1] - r.t[0]) for r in results) if results[0].t.size else 0.0
    good = [speed for speed in SPEEDS if SHORTEST <= seconds / speed <= LONGEST]
    return min(good, key=lambda speed: abs(speed - 1.0), default=1.0)


# Style and script -------------------------------------------------------------------------------------


def script(*more: str) -> str:
    return "\n".join(_viewer_file(name) for name in (*SCRIPTS, *more))


def style(data: dict[str, Any]) -> str:
    """The colors of both themes, then the style sheet."""
    inks = {mark["ink"] for part in data["results"] for mark in part["marks"]}
    return f"{color_rules(inks)}\n{_viewer_file('player.css')}"


def _viewer_file(name: str) -> str:
    return (files(__package__) / "viewer" / name).read_text(encoding="utf-8")
