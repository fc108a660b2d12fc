"""What notebooks show of models and results: tables and a picture, a verdict and a small player.

In Jupyter, VS Code and marimo the player is also a widget, through the package anywidget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from importlib import import_module
from typing import Any, Unpack

import numpy as np

from ..analyses.catalog import CATALOG
from ..analyses.dynamics.choice import AS_ASKED
from ..answer import Part, Rows
from ..errors import ModelError, SimEngineError, needed, unknown
from ..methods import Formulation, Integrator
from ..model.model import Model
from ..model.si_values import unit_of_parameter
from ..results.pictures import PicturedResults
from ..results.results import Results
from . import report_data
from .answer_html import framed, part_html, themed
from .figure import OUTLINES, scene_svg
from .html import PlayerOptions, page, player_data, script, style
from .report import fact_table
from .scene import scene_of, scene_of_model

ROWS = 400  # of the small player; a notebook is saved with all that it shows
HEIGHT = 520  # pixels
MOST_BODIES = 60  # which are drawn


def model_html(model: Model) -> str:
    """Drawing, mobility and tables; a wrong model shows its problems instead."""
    try:
        resolved = model.check()
        picture = (
            themed(scene_svg(scene_of_model(model), 5.0, 4.5, OUTLINES))
            if len(model.bodies) <= MOST_BODIES
            else ""
        )
        lines = report_data.diagnosis(model)
    except SimEngineError as error:
        return f"<pre>{escape(repr(model))}\n{escape(str(error))}</pre>"
    tables = [
        report_data.body_table(resolved),
        Rows(["joint", "type", "between", "equations"], report_data.joint_rows(resolved), 3),
        Rows(["force", "type", "on"], report_data.force_rows(resolved), 3),
    ]
    parts: list[Part] = [*lines, *(table for table in tables if table.rows)]
    return framed(f"<h4>{escape(model.name)}</h4>", picture, *map(part_html, parts))


def results_html(results: Results) -> str:
    """The verdict, and the player in a frame of its own; without scripts, a picture."""
    head = framed(f"<h4>{escape(results.model.name)}</h4>", fact_table(report_data.verdict(results)))
    if results.columns_only or results.t.size == 0:
        return head
    try:
        text = page(results, most_rows=ROWS, play=False)
        still = (
            framed(themed(scene_svg(scene_of(results), 5.0, 4.5, OUTLINES)))
            if len(results.bodies) <= MOST_BODIES
            else ""
        )
    except SimEngineError as error:
        return f"{head}<pre>{escape(str(error))}</pre>"
    # where a page leaves out frames, as code hosts do, the picture stays
    name = escape(results.model.name)
    may = 'sandbox="allow-scripts allow-downloads"'
    frame = f'<iframe srcdoc="{escape(text)}" title="{name}" {may} width="100%" height="{HEIGHT}"'
    picture = f"<details><summary>picture</summary>{still}</details>"
    return f'{head}{frame} style="border: 1px solid #888"></iframe>{picture}'


# The player as a widget -------------------------------------------------------------------------------


Run = Callable[[Model], Results]
"""What computes results again for a model with other parameters."""
RENDER = "export default { render: renderWidget };"


class WidgetOptions(PlayerOptions, total=False):
    """The options of `player`."""

    height: int
    parameters: Mapping[str, tuple[float, float]] | None
    run: Run | None


def player(
    results: PicturedResults | Sequence[PicturedResults],
    *,
    height: int = 560,
    parameters: Mapping[str, tuple[float, float]] | None = None,
    run: Run | None = None,
    **options: Unpack[PlayerOptions],
) -> Any:
    """A widget that plays one result or several; the options are those of `html`.

    Its `time` can be set and read. `parameters={"crank": (0.5, 1.5)}` gives it sliders for parameters of the model;
    when one is moved, the analysis is made again, or `run(model)`, and `results` of the widget are the new ones.
    The range of a parameter that has a unit is in the model's units.
    """
    without = ". Without it, results show themselves, and results.html(path) writes a page"
    anywidget: Any = needed("anywidget", "the player in a notebook needs", "notebook", without)
    traitlets = import_module("traitlets")  # of which it is made
    look: PlayerOptions = {"play": False, **options}
    data = player_data(results, **look)
    sliders = _sliders(results, parameters or {})

    class Player(anywidget.AnyWidget):
        """All data is sent at once; scrubbing and playing happen in the browser."""

        _esm = script("widget.js") + RENDER
        data = traitlets.Dict().tag(sync=True)
        sheet = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(560).tag(sync=True)
        time = traitlets.Float(0.0).tag(sync=True)
        parameters = traitlets.List().tag(sync=True)
        values = traitlets.Dict().tag(sync=True)
        message = traitlets.Unicode().tag(sync=True)
        results: Any

        @traitlets.observe("values")
        def _run(self, change: Any) -> None:
            if change["new"] and isinstance(first, PicturedResults):
                try:
                    model = _written(first.in_si).with_parameters(**_with_units(change["new"], sliders))
                    self.results = (run or again(first.in_si))(model)
                    shown = self.results.in_units(**asdict(first.shown.units))
                    self.data, self.message = player_data(shown, **look), ""
                except SimEngineError as error:
                    self.message = str(error)

    first = results
    widget = Player(data=data, sheet=style(data), height=height, parameters=sliders)
    widget.results = results
    return widget


def _written(results: Results) -> Model:
    """The model in its own units."""
    return results.model.written or results.model


def _with_units(values: Mapping[str, float], sliders: Sequence[dict[str, Any]]) -> dict[str, float | str]:
    """The values of sliders; those of parameters that have units, with these."""
    units = {slider["name"]: slider["unit"] for slider in sliders}
    return {name: f"{value!r} {units[name]}" if units[name] else value for name, value in values.items()}


def _sliders(
    results: PicturedResults | Sequence[PicturedResults], parameters: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    """Names, ranges, present values and units."""
    if not parameters:
        return []
    if not isinstance(results, PicturedResults):
        raise ModelError("sliders run one model again; give one result, not several.")
    model = results.in_si.model
    sliders = []
    for name, (low, high) in parameters.items():
        if name not in model.parameters:
            hint = unknown("parameter", name, model.parameters)
            raise ModelError(f"model '{model.name}' has no parameter '{name}'. {hint}")
        if not low < high:
            raise ModelError(
                f"the slider of '{name}' goes from {low!r} to {high!r}; give the smaller number first."
            )
        unit = unit_of_parameter(model, name)
        value = float(unit.of(results.in_si.resolved.parameters[name]))
        sliders.append({"name": name, "low": low, "high": high, "value": value, "unit": unit.name})
    return sliders


def again(results: Results) -> Run:
    """The same analysis by the same methods at the same times, for another model."""
    analysis = CATALOG.get(results.analysis)
    if analysis is None:
        raise ModelError(
            f"results of '{results.analysis}' are not computed again; give run=lambda model: ..."
        )
    options: dict[str, Any] = {"t_eval": np.unique(results.t)} if analysis.in_time else {}
    if analysis.resumes:
        options |= _methods(results.settings)
    return lambda model: analysis.run(model, options)


def _methods(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The integrator and all else that decides how a run is made; coordinates, where they were asked for."""
    kept = {name: settings.get(name) for name in ("step", "rtol", "atol", "max_step")}
    kept["integrator"] = Integrator.registry.made(settings.get("integrator"))
    kept["formulation"] = Formulation.registry.made(settings.get("formulation"))
    return kept | ({"coordinates": settings["coordinates"]} if settings.get("why") == AS_ASKED else {})
