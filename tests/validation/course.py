"""Where the course files and their reference values lie: beside the repository, for they are data of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parents[3] / "shared"
COURSE = SHARED / "models" / "course"
PROBLEMS = SHARED / "reference" / "problems.json"


def problem(name: str) -> dict[str, Any]:
    """The record of the reference values of a course model."""
    (found,) = [p for p in json.loads(PROBLEMS.read_text())["problems"] if p["id"] == f"se2d_{name}"]
    return found
