"""Writes `docs/reference/analyses.md` from the catalog of analyses.

python tools/analyses_page.py            write the page
python tools/analyses_page.py --check    say whether it is up to date
"""

from __future__ import annotations

import sys
from pathlib import Path

from generated import write_or_check

from simengine2d.analyses.catalog import CATALOG, OPTIONS, Analysis

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "analyses.md"
HEAD = """\
# Analyses

Each of these is a function of the package, a kind of `analysis` in model files, and a command. This page is written by
`tools/analyses_page.py` from `analyses/catalog.py`.
"""


def page_text() -> str:
    """The analyses, then their options."""
    heads = "| in Python and files | command | what it does | options in files |\n| --- | --- | --- | --- |"
    rows = "\n".join(map(_row, CATALOG.values()))
    options = "\n".join(
        f"| `{name}` | {option.words.replace('|', 'or')} |" for name, option in OPTIONS.items()
    )
    return f"{HEAD}\n{heads}\n{rows}\n\n## Options\n\n| option | expects |\n| --- | --- |\n{options}\n"


def _row(analysis: Analysis) -> str:
    command = analysis.command or analysis.name.replace("_", "-")
    options = ", ".join(f"`{option}`" for option in analysis.options)
    return f"| `{analysis.name}` | `simengine2d {command}` | {analysis.words} | {options} |"


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page_text()))
