"""What a worker does first: it loads the kernels, so that the first edit is as quick as any other."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ...model import library
from .work import work

FIRST: tuple[tuple[str, dict[str, Any] | None], ...] = (
    ("four_bar", None),
    ("four_bar", {"kind": "inverse_dynamics", "t_end": 0.1}),
    ("double_pendulum", {"kind": "dynamics", "t_end": 0.1}),
)


def warm_up() -> None:
    """Look at a driven and at a free mechanism, and pull the free one."""
    for name, analysis in FIRST:
        with suppress(Exception):  # what fails here fails again where it is asked for, with a sentence
            work(
                {"do": "look", "text": library.text(name), "analysis": analysis, "values": {}, "folder": "."}
            )
    with suppress(Exception):
        _pull("double_pendulum", "lower")


def _pull(name: str, body: str) -> None:
    work({"do": "drag_begin", "text": library.text(name), "body": body, "point": [0.0, 0.0], "at": 0.0})
    work({"do": "drag_frame", "point": [0.1, 0.0], "seconds": 0.05})
