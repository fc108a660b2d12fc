"""Commented models to begin with, one file for each language; `simengine2d new` writes a copy."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ....errors import MissingFileError, ModelError, unknown

YAML, PYTHON = ".yaml", ".py"
STORED = {YAML: YAML, PYTHON: ".py.txt"}
"""The ending of the copy, and that of the file here: a program among the modules would be one of them."""
WATCH = {
    "pendulum": "bar.phi",
    "four_bar": "rocker.phi",
    "slider_crank": "slider.x",
    "double_pendulum": "lower.phi",
    "oscillator": "block.x",
    "gears": "wheel.phid",
    "cam": "rod.y",
}
"""The starters, simple ones first, each with a channel that is worth a plot."""


def names() -> list[str]:
    return list(WATCH)


def spelled(name: str) -> str:
    """The name as it is typed: `four-bar`."""
    return name.replace("_", "-")


def text(name: str, ending: str = YAML) -> str:
    """The text of a starter, called `four_bar` or `four-bar`."""
    return _find(name, ending).read_text(encoding="utf-8")


def description(name: str) -> str:
    """The sentence of its first line."""
    return text(name).splitlines()[0].lstrip("# ").strip()


def write(name: str, folder: Path, ending: str = YAML) -> Path:
    """Write the starter as `my_four_bar.yaml`; an existing file is not overwritten."""
    content = text(name, ending)
    target = folder / f"my_{_key(name)}{ending}"
    try:
        with target.open("x", encoding="utf-8") as new:
            new.write(content)
    except FileExistsError:
        sentence = (
            f"{target} already exists and was not overwritten. Move or rename it, or work in another folder."
        )
        raise ModelError(sentence) from None
    return target


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _find(name: str, ending: str) -> Traversable:
    if _key(name) not in names():
        known = [spelled(each) for each in names()]
        raise MissingFileError(f"there is no starter '{name}'. {unknown('starter', spelled(name), known)}")
    return files(__name__) / f"{_key(name)}{STORED[ending]}"
