"""Take it away: the model and its motion as files of other kinds."""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ...draw.figure import closed_figure
from ...errors import ModelError, UnsupportedError, unknown
from ...io.python_writer import to_python
from ...model.model import Model
from ...results.results import Results
from .draft import read_draft
from .links import link_of
from .runs import shown_motion

Request = dict[str, Any]


class Export(NamedTuple):
    """A kind of file: its ending, its type, and what writes it."""

    ending: str
    type: str
    write: Callable[[Request, Path], object]


def export(request: Request) -> dict[str, Any]:
    """The file that is asked for: its name, its type, and its bytes in base64."""
    kind = str(request.get("kind"))[:40]
    if kind not in EXPORTS:
        raise ModelError(f"there is no export '{kind}'. {unknown('kind', kind, EXPORTS)}")
    wanted = EXPORTS[kind]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{_stem(request)}{wanted.ending}"
        wanted.write(request, path)
        data = path.read_bytes()
    return {"name": path.name, "type": wanted.type, "base64": base64.b64encode(data).decode("ascii")}


def _stem(request: Request) -> str:
    """The file is named after the model's file, or after the model."""
    named = re.search(r"(?m)^name:\s*(.*?)\s*(#.*)?$", request["text"])
    given = request.get("name") or (named[1] if named else "")
    word = re.sub(r"\.ya?ml$", "", str(given).strip("'\""))
    return re.sub(r"[^\w-]+", "_", word).strip("_")[:80] or "mechanism"


# What the text says -------------------------------------------------------------------------------------


def model_of(request: Request) -> Model:
    """The model with the values of the sliders; a text with problems is refused with all of them."""
    draft = read_draft(request["text"], request.get("folder") or ".", request.get("values"))
    if draft.model is None:
        raise ModelError(draft.problems)
    return draft.model


def motion_of(request: Request) -> Results:
    """The motion that the page shows, as far as it came."""
    shown = shown_motion(model_of(request), request.get("analysis"))
    if shown.results is None:
        raise shown.error or UnsupportedError("there is no motion to take away.")
    return shown.results


# Writers ------------------------------------------------------------------------------------------------


def _yaml(request: Request, path: Path) -> None:
    path.write_bytes(request["text"].encode("utf-8"))


def _link(request: Request, path: Path) -> None:
    path.write_text(link_of(request["text"]), encoding="ascii")


def _python(request: Request, path: Path) -> None:
    path.write_text(to_python(model_of(request)), encoding="utf-8")


def _html(request: Request, path: Path) -> None:
    motion_of(request).html(path)


def _gif(request: Request, path: Path) -> None:
    motion_of(request).animate(path, progress=request["progress"])


def _svg(request: Request, path: Path) -> None:
    """The pose at the time that the page shows."""
    figure = closed_figure(8.0, 6.0)
    motion_of(request).draw(float(request.get("at") or 0.0), figure.add_subplot())
    figure.savefig(path, format="svg", bbox_inches="tight")


def _csv(request: Request, path: Path) -> None:
    motion_of(request).to_csv(path, _channels(request))


def _xlsx(request: Request, path: Path) -> None:
    motion_of(request).to_excel(path, _channels(request))


def _report(request: Request, path: Path) -> None:
    motion_of(request).report(path)


def _channels(request: Request) -> list[str] | None:
    """Those that were chosen; otherwise all coordinates and rates. Of the size of a force, both components."""
    chosen = [str(name) for name in request.get("channels") or ()]
    parts = [[f"{name[:-4]}.fx", f"{name[:-4]}.fy"] if name.endswith(".|f|") else [name] for name in chosen]
    return [name for part in parts for name in part] or None


EXPORTS = {
    "yaml": Export(".yaml", "application/yaml", _yaml),
    "python": Export(".py", "text/x-python", _python),
    "html": Export(".html", "text/html", _html),
    "gif": Export(".gif", "image/gif", _gif),
    "svg": Export(".svg", "image/svg+xml", _svg),
    "csv": Export(".csv", "text/csv", _csv),
    "xlsx": Export(".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _xlsx),
    "report": Export("_report.html", "text/html", _report),
    "link": Export(".txt", "text/plain", _link),
}
