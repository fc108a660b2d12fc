"""The command `simengine2d`. What is slow to import is imported inside the commands."""

from __future__ import annotations

from .commands import kernels, models, motion
from .commands.app import app
from .terminal import prepare

__all__ = ["kernels", "main", "models", "motion"]


def main() -> None:
    """The installed command."""
    prepare()
    app(prog_name="simengine2d")
