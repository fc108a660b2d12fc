"""The player as a widget of Jupyter, VS Code and marimo, through the package anywidget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UnsupportedError
from ..results.results import Results
from .html import player_data, script, style

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
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise UnsupportedError(
            "the player in a notebook needs the package anywidget, which is not installed. Install it with: "
            "pip install 'simengine2d[notebook]'. Without it, results show themselves, and results.html(path) "
            "writes a page."
        ) from None
    data = player_data(results, **({"play": False} | options))

    class Player(anywidget.AnyWidget):
        """All data is sent once; scrubbing and playing happen in the browser."""

        _esm = script() + RENDER
        data = traitlets.Dict().tag(sync=True)
        sheet = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(560).tag(sync=True)
        time = traitlets.Float(0.0).tag(sync=True)

    return Player(data=data, sheet=style(data), height=height)
