"""Model files for tests: written in one call, read without warnings."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import simengine2d as se


def written(folder: Path, text: str | bytes, name: str = "model.yaml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def quietly(path: Path, **options: Any) -> se.Model:
    """The model of a file; what was ignored in it is not told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", se.ModelWarning)
        return se.load(path, **options)
