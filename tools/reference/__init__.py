"""The pages of the reference that are written from the sources when the documentation is built (`docs/conf.py`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import api, command_line, elements, messages, methods, model_file

PAGES: dict[str, Callable[[], str]] = {
    "joints": elements.joints,
    "forces": elements.forces,
    "curves": elements.curves,
    "methods": methods.page_text,
    "model-file": model_file.page_text,
    "command-line": command_line.page_text,
    "messages": messages.page_text,
    **api.PAGES,
}


def write(folder: Path) -> None:
    """Write all pages and their pictures; what has not changed is left alone, so that it is not built again."""
    for name, text in PAGES.items():
        write_new(folder / f"{name}.md", text())
    elements.draw_all(folder / "pictures")


def write_new(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
