"""Docstrings as Markdown, and tables."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

EQUATION = re.compile(r"^[\w\"'{}\[\]()|, .^+-]{1,60} (=|<=|:=) ")
CODE = re.compile(r"(`+)(.+?)\1")


def prose(doc: str | None) -> str:
    """The text of a docstring: equations and indented lines as blocks, the rest as paragraphs."""
    parts = re.split(r"\n\s*\n", inspect.cleandoc(doc or ""))
    return "\n\n".join(_part(part) for part in parts if part.strip())


def _part(part: str) -> str:
    lines = part.splitlines()
    if lines[0].startswith((" ", "se.", ">>>", "import ")) or _is_equation(lines[0]):
        return "\n".join(["```text", inspect.cleandoc(part), "```"])
    return "\n".join(escaped(line) for line in lines)


def _is_equation(line: str) -> bool:
    """Whether it begins with letters and signs, rather than with words."""
    match = EQUATION.match(line)
    return match is not None and len(re.findall(r"\b[A-Za-z][a-z]{2,}\b", match[0])) < 3


def escaped(text: str) -> str:
    """Text in which only code in backticks is markup."""
    pieces, end = [], 0
    for match in CODE.finditer(text):
        pieces += [_plain(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*pieces, _plain(text[end:])])


def _plain(text: str) -> str:
    text = re.sub(r"([\\*\[\]$#])", r"\\\1", text)
    return text.replace("<", "&lt;").replace(">", "&gt;")


def first_paragraph(doc: str | None) -> str:
    return " ".join(inspect.cleandoc(doc or "").split("\n\n")[0].split())


def cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell(entry) for entry in line) + " |" for line in lines)
