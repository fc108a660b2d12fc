"""Reports: one page, ready to print, that says what was computed, how accurate it is, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelError
from ..io.files import write_text
from ..results.energy import known_energy
from ..results.in_units import ResultsInUnits
from ..results.pictures import PicturedResults
from ..results.results import Results
from . import plots, report_data
from .figure import draw_scene, figure_svg, scene_svg
from .figure_legend import with_strip
from .report_data import Fact
from .scene import nearest_row, scene_of
from .style import PAPER, TEXT, ink_of, mixed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LOADS = 60  # rows of the table of reactions
NUMBERS = ("peak", "at", "rms", "peak", "rms")  # of a load
PEAKS = (0, 3)  # among them

STYLE = f"""
body {{ font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: {TEXT["light"]};
  background: {PAPER["light"]}; max-width: 900px; margin: 24px auto 60px; padding: 0 16px; }}
h1 {{ font-size: 26px; margin: 0 0 4px; }}
h2 {{ font-size: 19px; margin: 34px 0 8px; border-bottom: 1px solid {mixed(TEXT["light"], PAPER["light"], 0.2)}; }}
table {{ border-collapse: collapse; margin: 8px 0 14px; font-size: 14px; }}
th, td {{ text-align: left; padding: 3px 18px 3px 0; vertical-align: top; border-bottom: 1px solid #8883; }}
th {{ font-weight: 600; }}
td.number {{ text-align: right; font-variant-numeric: tabular-nums; }}
.good::before {{ content: "✓ "; color: #00725a; }}
.bad::before {{ content: "✗ "; color: {ink_of("reaction").edge}; }}
.word {{ overflow-wrap: anywhere; }}
figure {{ margin: 12px 0; }}
figure svg {{ max-width: 100%; height: auto; }}
.pair {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); gap: 8px; }}
@media screen and (prefers-color-scheme: dark) {{
  html {{ color-scheme: dark; }}
  body {{ color: {TEXT["dark"]}; background: {PAPER["dark"]}; }}
  h2 {{ border-color: {mixed(TEXT["dark"], PAPER["dark"], 0.2)}; }}
  .good::before {{ color: {ink_of("effort", "dark").edge}; }}
  .bad::before {{ color: {ink_of("reaction", "dark").edge}; }}
  figure svg {{ filter: invert(0.91) hue-rotate(180deg); }}
}}
@media print {{ h2 {{ break-after: avoid; }} figure, table {{ break-inside: avoid; }} }}
"""


def write_report(results: PicturedResults, path: str | Path) -> Path:
    """Write the report of one result."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise ModelError(f"{path} is not written: a report is an .html file.")
    return write_text(path, report(results.shown))


def report(view: ResultsInUnits) -> str:
    """The text of the page."""
    results = view.in_si
    title = escape(f"{results.model.name}: {results.analysis.replace('_', ' ') or 'results'}")
    sections = [
        f"<h1>{title}</h1>",
        _verdict_sentence(results),
        _section("Verdict", fact_table(report_data.verdict(results))),
        _section(
            "Mechanism", f"<figure>{scene_svg(scene_of(results), 7.0, 6.0)}</figure>", *_model_tables(view)
        ),
        _section("Mobility", *(f"<p>{escape(line)}</p>" for line in report_data.diagnosis(results.model))),
        _section("Plots", *_plots(view)),
        *_reactions(view),
        _section("Settings", fact_table(report_data.settings(results))),
        _section("Work", fact_table(report_data.work(results))) if results.statistics else "",
        _section("Origin", fact_table(report_data.origin(results))),
    ]
    head = f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    width = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return f"{head}{width}<style>{STYLE}</style></head><body>\n{chr(10).join(sections)}\n</body></html>\n"


def _verdict_sentence(results: Results) -> str:
    doubtful = [
        fact.name for fact in report_data.verdict(results) if fact.good is False and fact.name != "verdict"
    ]
    doubtful = [*results.verdict.reasons, *doubtful]
    word = results.verdict.word if not results.verdict.is_good else "check"
    if doubtful:
        return f'<p class="bad">{escape(word.capitalize())}: {escape("; ".join(doubtful))}.</p>'
    return '<p class="good">Trust: every check that was made is within its limit.</p>'


def _section(title: str, *parts: str) -> str:
    return f"<h2>{escape(title)}</h2>\n" + "\n".join(parts)


# Tables -----------------------------------------------------------------------------------------------


def fact_table(rows: Iterable[Fact]) -> str:
    mark = {True: "good word", False: "bad word", None: "word"}
    cells = [
        f'<tr><th scope="row">{escape(fact.name)}</th><td class="{mark[fact.good]}">{escape(fact.value)}</td></tr>'
        for fact in rows
    ]
    return f'<div style="overflow-x: auto"><table>{"".join(cells)}</table></div>'


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> str:
    """A table whose first `words` columns hold words, the others numbers."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(_cell(c, i >= words) for i, c in enumerate(row))}</tr>" for row in rows)
    rows_of = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow-x: auto">{rows_of}</div>'


def _cell(text: str, is_number: bool) -> str:
    return f"<td{' class=number' if is_number else ''}>{escape(text)}</td>"


def _model_tables(view: ResultsInUnits) -> list[str]:
    resolved = view.in_si.resolved
    joints, forces = report_data.joint_rows(resolved), report_data.force_rows(resolved)
    parts = [table(*report_data.body_table(resolved, view.units))]
    parts += [table(["joint", "type", "between", "equations"], joints, 3)] if joints else []
    return parts + ([table(["force", "type", "on"], forces, 3)] if forces else [])


def _reactions(view: ResultsInUnits) -> list[str]:
    """Peak and root-mean-square reactions, and the plot of the largest."""
    results = view.in_si
    loads = report_data.loads(results) if results.t.size else []
    if not loads:
        return []
    units = [view.units.shown(unit) for unit in ("N", "s", "N", "N m", "N m")]
    words = [f"{word} {unit.name}" for word, unit in zip(NUMBERS, units, strict=True)]
    rows = [
        [load.name if load.unique else f"{load.name} (not unique)", load.kind, load.on]
        + [
            f"{'' if load.seen or k not in PEAKS else '> '}{unit.of(value):.4g}"
            for k, (unit, value) in enumerate(zip(units, load[3:8], strict=True))
        ]
        for load in loads[:MOST_LOADS]
    ]
    parts = [table(["joint or force", "type", "on", *words], rows, 3)]
    if len(loads) > MOST_LOADS:
        parts.append(f"<p>and {len(loads) - MOST_LOADS} more</p>")
    worst = max(loads, key=lambda load: load.peak_force)
    if worst.peak_force > 0.0:
        parts.append(_figure(lambda figure: _reaction_plot(view, worst.name, figure), 9.0, 3.6))
        parts += [
            f"<p>All forces at t = {worst.peak_time:.4g} s, when that of {escape(worst.name)} is largest:</p>",
            f"<figure>{_moment(view, worst.peak_time)}</figure>",
        ]
    return [_section("Reactions", *parts)]


# Figures ----------------------------------------------------------------------------------------------


def _figure(draw: Callable[[Figure], Any], width: float, height: float) -> str:
    def neatly(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        draw(figure)

    return f"<figure>{figure_svg(neatly, width, height)}</figure>"


def _moment(view: ResultsInUnits, t: float) -> str:
    """The mechanism with its forces at the output nearest to t."""
    scene = scene_of(view.in_si, (), view.units)
    x0, y0, x1, y1 = bounds = with_strip(scene.bounds_with_forces)
    height = min(6.0, max(2.0, 7.0 * (y1 - y0) / (x1 - x0))) + 0.3

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        draw_scene(scene, figure.subplots(), at=nearest_row(view.in_si, t), bounds=bounds, legend=True)

    return figure_svg(draw, 7.0, height)


def _plots(view: ResultsInUnits) -> list[str]:
    """How the first and the last body move; the energy, where forces are known."""
    results = view.in_si
    if results.t.size < 2 or not results.bodies:
        return ["<p>There is one time only.</p>"]
    bodies = list(dict.fromkeys([results.bodies[0], results.bodies[-1]]))
    parts = [_figure(_coordinates(view, body), 4.6, 3.0) for body in bodies]
    parts += [_figure(_coordinates(view, body, "d"), 4.6, 3.0) for body in bodies]
    if results.lam is not None and known_energy(results) is not None:
        parts.append(_figure(lambda figure: view.plot_energy(figure.subplots()), 4.6, 3.0))
    return ['<div class="pair">', *parts, "</div>"]


def _coordinates(results: ResultsInUnits, body: str, order: str = "") -> Callable[[Figure], Any]:
    channels = [f"{body}.{c}{order}" for c in ("x", "y", "phi")]
    return lambda figure: plots.plot(results, *channels, ax=figure.subplots())


def _reaction_plot(results: ResultsInUnits, name: str, figure: Figure) -> None:
    grid = figure.add_gridspec(1, 2, width_ratios=(1.7, 1.0))
    plots.plot_reaction(
        results, name, axes=(figure.add_subplot(grid[0]), figure.add_subplot(grid[1], projection="polar"))
    )
