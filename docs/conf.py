"""The documentation: `sphinx-build -W docs docs/_build`. It needs no network.

With `-D run_notebooks=1` the tutorials are run, and show their pictures and numbers.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src")]

import reference  # noqa: E402
from reference import tutorials  # noqa: E402

from simengine2d import __version__  # noqa: E402

project = "simengine2d"
author = "The simengine2d authors"
copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx_copybutton", "sphinx.ext.githubpages"]
myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
highlight_language = "text"
nitpicky = False

html_theme = "furo"
html_title = "simengine2d"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

PROJECT = {"ARCHITECTURE.md": "architecture", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
"""Files of the project that are pages too."""
BRACKETS = re.compile(
    r"<mo[^>]*>(?:\[|&#x0005B;)</mo>\s*(<mtable)(.*?</mtable>)\s*<mo[^>]*>(?:\]|&#x0005D;)</mo>", re.DOTALL
)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)]*)?\)")


# Mathematics ------------------------------------------------------------------------------------------


def inline_math(writer, node):
    writer.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def block_math(writer, node):
    writer.body.append(f'<div class="math">{mathml(node.astext(), "block")}</div>')
    raise SkipNode


def mathml(tex: str, display: str) -> str:
    """LaTeX as MathML; brackets around matrices are lines of the table, since not every font can stretch them."""
    return BRACKETS.sub(r'\1 class="matrix"\2', convert(tex, display=display))


# Pages that are written at build time -----------------------------------------------------------------


def write_pages(app):
    reference.write(DOCS / "reference" / "generated")
    kept = DOCS / "_build" / "notebooks" if app.config.run_notebooks else None
    tutorials.write(DOCS / "tutorials" / "generated", kept)
    for name, page in PROJECT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        reference.write_new(DOCS / "project" / "generated" / f"{page}.md", relinked(text, ROOT / name))


def relinked(text: str, source: Path) -> str:
    """A file of the project with its links as they are from the page's folder."""
    folder = DOCS / "project" / "generated"
    return LINK.sub(lambda match: _link(match, source.parent, folder), text)


def _link(match: re.Match[str], origin: Path, folder: Path) -> str:
    """A link within the site; what lies outside of it becomes plain code."""
    words, target, anchor = match[1], (origin / match[2]).resolve(), match[3] or ""
    if target.parent == ROOT and target.name in PROJECT:
        target = DOCS / "project" / "generated" / f"{PROJECT[target.name]}.md"
    elif target.parent == ROOT / "examples" and target.suffix == ".py":
        target = DOCS / "tutorials" / "generated" / f"{target.stem}.md"
    elif target.is_dir() and (target / "index.md").is_file():
        target = target / "index.md"
    elif not target.is_relative_to(DOCS) and target.exists():
        return words if words.startswith("`") else f"`{words}`"
    return f"[{words}]({_relative(target, folder)}{anchor})"


def _relative(target: Path, folder: Path) -> str:
    up = 0
    while not target.is_relative_to(folder):
        folder, up = folder.parent, up + 1
    return "../" * up + target.relative_to(folder).as_posix()


def mend_links(app, docname, content):
    folder = (DOCS / docname).parent
    content[0] = LINK.sub(lambda match: _link(match, folder, folder), content[0])


def setup(app):
    app.add_config_value("run_notebooks", False, "env", [bool, str])
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.connect("builder-inited", write_pages)
    app.connect("source-read", mend_links)
