"""What notebooks show of models and results: tables and a picture, a verdict and a small player.

In Jupyter, VS Code and marimo the player is also a widget, through the package anywidget.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import Any

from ..errors import SimEngineError, needed
from ..model.model import Model
from ..results.results import Results
from . import report_data
from .figure import scene_svg
from .html import page, player_data, script, style
from .report import fact_table, table
from .scene import scene_of, scene_of_model

ROWS = 400  # of the small player; a notebook is saved with all that it shows
HEIGHT = 520  # pixels
MOST_BODIES = 60  # which are drawn and listed


def model_html(model: Model) -> str:
    """Drawing, mobility and tables; a wrong model shows its problems instead."""
    try:
        resolved = model.check()
        picture = scene_svg(scene_of_model(model), 5.0, 4.5) if len(model.bodies) <= MOST_BODIES else ""
        lines = report_data.diagnosis(model)
    except SimEngineError as error:
        return f"<pre>{escape(repr(model))}\n{escape(str(error))}</pre>"
    heads = ["body", "mass kg", "inertia kg m²", "x m", "y m", "phi rad"]
    parts = [
        f"<h4>{escape(model.name)}</h4>",
        picture,
        *(f"<div>{escape(line)}</div>" for line in lines),
        table(heads, report_data.body_rows(resolved)[:MOST_BODIES], 1),
        table(["joint", "type", "between", "equations"], report_data.joint_rows(resolved)[:MOST_BODIES], 3),
    ]
    if model.forces:
        parts.append(table(["force", "type", "on"], report_data.force_rows(resolved)[:MOST_BODIES], 3))
    return "\n".join(parts)


def results_html(results: Results) -> str:
    """The verdict, and the player in a frame of its own; without scripts, a picture."""
    head = f"<h4>{escape(results.model.name)}</h4>{fact_table(report_data.verdict(results))}"
    if results.columns_only or results.t.size == 0:
        return head
    try:
        text = page(results, most_rows=ROWS, play=False)
        still = scene_svg(scene_of(results), 5.0, 4.5) if len(results.bodies) <= MOST_BODIES else ""
    except SimEngineError as error:
        return f"{head}<pre>{escape(str(error))}</pre>"
    # where a page leaves out frames, as code hosts do, the picture stays
    name = escape(results.model.name)
    frame = f'<iframe srcdoc="{escape(text)}" title="{name}" sandbox="allow-scripts" width="100%" height="{HEIGHT}"'
    picture = f"<details><summary>picture</summary>{still}</details>"
    return f'{head}{frame} style="border: 1px solid #ccc"></iframe>{picture}'


# The player as a widget -------------------------------------------------------------------------------


RENDER = """
export default {
  render({ model, el }) {
    const sheet = document.createElement("style");
    sheet.textContent = model.get("sheet");
    const box = document.createElement("div");
    box.style.setProperty("--height", `${model.get("height")}px`);
    el.append(sheet, box);
    const player = mount(box, model.get("data"));
    model.on("change:time", () => player.seek(model.get("time")));
    return () => player.pause();
  },
};
"""


def player(results: Results | Sequence[Results], *, height: int = 560, **options: Any) -> Any:
    """A widget that plays one result or several; the options are those of `html`. Its `time` can be set."""
    without = ". Without it, results show themselves, and results.html(path) writes a page"
    anywidget: Any = needed("anywidget", "the player in a notebook needs", "notebook", without)
    traitlets = import_module("traitlets")  # of which it is made
    data = player_data(results, **({"play": False} | options))

    class Player(anywidget.AnyWidget):
        """All data is sent once; scrubbing and playing happen in the browser."""

        _esm = script() + RENDER
        data = traitlets.Dict().tag(sync=True)
        sheet = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(560).tag(sync=True)
        time = traitlets.Float(0.0).tag(sync=True)

    return Player(data=data, sheet=style(data), height=height)
