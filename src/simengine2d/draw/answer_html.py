"""Answers in notebooks: their sentences and tables, and their picture, in the colors of the notebook's theme.

Text and rules take the color of the surrounding page. The colors of a picture are variables of a style sheet, whose
values are those of `style.py`; dark ones where the page says that it is dark, as JupyterLab, VS Code and marimo do.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import TYPE_CHECKING

from ..answer import Answer, Part, Rows
from ..errors import SimEngineError
from .figure import OUTLINES, figure_svg
from .style import BODIES, PAPER, TEXT, inks, mixed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", ".dark", '[data-theme="dark"]')
MOST_ROWS = 60
WIDTH, HEIGHT = 5.2, 3.4
CUT_OUT = OUTLINES | {"savefig.bbox": "tight", "savefig.pad_inches": 0.05}
"""Flat mechanisms leave no white space above and below."""
NAME = "simengine2d-answer"
GRAYS = {
    "#606060": "#a8a8a8",
    "#808080": "#909090",
    "#cfe3f1": "#23394a",
}  # of the pictures of the laboratory

STYLE = f"""
.{NAME} {{ line-height: 1.45; color: inherit; }}
.{NAME} table {{ border-collapse: collapse; margin: 0.5em 0; width: auto; font-size: inherit; color: inherit; }}
.{NAME} th, .{NAME} td {{ padding: 0.15em 0.8em 0.15em 0; text-align: left !important; vertical-align: top;
  border: none; background: none; color: inherit; white-space: normal; max-width: 42em; }}
.{NAME} .number {{ text-align: right !important; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.{NAME} thead th {{ border-bottom: 1px solid currentColor; font-weight: 600; }}
.{NAME} figure {{ margin: 0.5em 0; }}
.{NAME} svg {{ max-width: 100%; height: auto; fill: currentColor; }}
"""


def html_of(answer: Answer) -> str:
    """The parts of an answer, then its picture where it has one."""
    title, *others = (part_html(part) for part in answer._parts())
    picture = _picture(answer)
    return framed(f"<strong>{title}</strong>" if others or picture else title, *others, picture)


def framed(*parts: str) -> str:
    """Parts of a page with their style sheet."""
    return f'<div class="{NAME}"><style>{STYLE}{colors()}</style>{"".join(parts)}</div>'


def part_html(part: Part) -> str:
    """A table that is wider than the page continues below, as it does in a terminal."""
    return "".join(map(_table, part.pieces())) if isinstance(part, Rows) else f"<div>{escape(part)}</div>"


def _table(table: Rows) -> str:
    heads = "".join(_cell("th", head, i >= table.words) for i, head in enumerate(table.heads))
    rows = [
        "".join(_cell("td", cell, i >= table.words) for i, cell in enumerate(row))
        for row in table.rows[:MOST_ROWS]
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    more = len(table.rows) - len(rows)
    rest = f"<div>and {more} more</div>" if more > 0 else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _cell(tag: str, text: str, is_number: bool) -> str:
    return f"<{tag}{' class=number' if is_number else ''}>{escape(text)}</{tag}>"


# Pictures ---------------------------------------------------------------------------------------------


def _picture(answer: Answer) -> str:
    """The picture without paper, in colors that follow the theme; what cannot be drawn is left out."""
    if not answer._has_picture:
        return ""

    def draw(figure: Figure) -> None:
        figure.set_layout_engine("constrained")
        figure.patch.set_alpha(0.0)
        answer._draw_on(figure.add_subplot())
        for axes in figure.axes:
            axes.patch.set_alpha(0.0)

    try:
        svg = figure_svg(draw, WIDTH, HEIGHT, CUT_OUT)
    except SimEngineError:
        return ""
    return themed(svg)


def themed(svg: str) -> str:
    """A light picture whose colors follow the page."""
    for light in pairs():
        svg = svg.replace(light, f"var(--{light[1:]}, {light})")
    return f"<figure>{svg}</figure>"


@cache
def pairs() -> dict[str, str]:
    """Every color of light pictures, with the one it has on dark paper."""
    both: dict[str, str] = {}
    for word, light in inks("light").items():
        dark = inks("dark")[word]
        both |= {a: b for a, b in zip(light[:2], dark[:2], strict=True) if a is not None and b is not None}
    both |= dict(zip(BODIES["light"], BODIES["dark"], strict=True))
    both[_grid("light")] = _grid("dark")
    return (
        both | GRAYS | {"#000000": TEXT["dark"], PAPER["light"]: PAPER["dark"], TEXT["light"]: TEXT["dark"]}
    )


def _grid(theme: str) -> str:
    """The color of the grid of plots."""
    return mixed(TEXT[theme], PAPER[theme], 0.15)


@cache
def colors() -> str:
    """The dark values of the variables; the light ones are where they are used."""
    where = ", ".join(f"{page} .{NAME}" for page in DARK)
    return f"{where} {{ " + " ".join(f"--{light[1:]}: {dark};" for light, dark in pairs().items()) + " }"
