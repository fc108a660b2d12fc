"""Tables and pictures of the laboratory as files of a folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..draw.figure import closed_figure
from ..errors import UnsupportedError
from ..io.files import write_text
from ..methods import Integrator
from .stability import growth, stability_region

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .comparison import Comparison
    from .work import WorkPrecision

DPI = 130
COLUMNS = 4  # of stability regions


def save_comparison(comparison: Comparison, folder: Path) -> list[Path]:
    """comparison.txt, .csv and .png."""
    figure = _figure(8.4, 4.8)
    comparison.plot(figure.add_subplot())
    return _save("comparison", folder, comparison.table(), comparison.records(), figure)


def save_work_precision(work: WorkPrecision, folder: Path) -> list[Path]:
    """work_precision.txt, .csv and .png."""
    figure = _figure(11.0, 4.6)
    left = figure.add_subplot(1, 2, 1)
    work.plot((left, figure.add_subplot(1, 2, 2, sharey=left)))
    return _save("work_precision", folder, work.table(), work.records(), figure)


def save_stability(integrators: Sequence[Integrator], folder: Path) -> list[Path]:
    """stability.png with one region for each integrator that has one."""
    shown = [each for each in integrators if _has_region(each)]
    if not shown:
        return []
    lines = -(-len(shown) // COLUMNS)
    figure = _figure(3.2 * min(COLUMNS, len(shown)), 3.3 * lines)
    for i, each in enumerate(shown, 1):
        stability_region(each, figure.add_subplot(lines, min(COLUMNS, len(shown)), i))
    path = folder / "stability.png"
    figure.savefig(path)
    return [path]


def _figure(width: float, height: float) -> Figure:
    figure = closed_figure(width, height, DPI)
    figure.set_layout_engine("constrained")
    return figure


def _has_region(method: Integrator) -> bool:
    try:
        growth(method, 0.0)
    except UnsupportedError:  # its order changes
        return False
    return True


def _save(name: str, folder: Path, text: str, records: list[dict[str, Any]], figure: Figure) -> list[Path]:
    picture = folder / f"{name}.png"
    figure.savefig(picture)
    return [
        write_text(folder / f"{name}.txt", text + "\n"),
        write_text(folder / f"{name}.csv", csv_text(records)),
        picture,
    ]


def csv_text(records: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    if records:
        writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    return out.getvalue()
