"""The command `simengine2d`. What is slow to import is imported inside the commands."""

from __future__ import annotations

from ..numerics import parallel_build
from .commands import (
    analyses,
    check_work,
    equations,
    explain,
    fit,
    kernels,
    lab,
    learn,
    linkage,
    models,
    motion,
    sensitivity,
    show,
    studio,
    sweep,
    synthesize,
)
from .commands.app import app
from .terminal import prepare

__all__ = [
    "analyses",
    "check_work",
    "equations",
    "explain",
    "fit",
    "kernels",
    "lab",
    "learn",
    "linkage",
    "main",
    "models",
    "motion",
    "sensitivity",
    "show",
    "studio",
    "sweep",
    "synthesize",
]


def main() -> None:
    """The installed command."""
    parallel_build.ours = True  # this process runs our own program only
    prepare()
    app(prog_name="simengine2d")
