"""Compiling several doors at once: a second process takes its share.

Both work through the list, one from the front and one from the back, and meet in the middle. What the second process
has compiled lies on the disk, from where the first one loads it. Where there is no second core, or it would not be safe
to split a process, one does all.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Sequence
from typing import Protocol

PATIENCE = 60.0  # seconds after which the second process is given up


class Part(Protocol):
    """Something to compile."""

    def load(self) -> bool:
        """Take the machine code from the disk; False where there is none."""

    def build(self) -> None:
        """Compile, and keep the machine code on the disk."""


def build_together(parts: Sequence[Part]) -> None:
    """Compile all parts."""
    if len(parts) < 2 or not can_split():
        for part in parts:
            part.build()
        return
    taken = mmap.mmap(-1, len(parts))  # shared by both processes
    second = split()
    if second == 0:
        try:
            build_free_ones(reversed(list(enumerate(parts))), taken)
        finally:
            os._exit(0)  # without the farewells of the first process
    mine = build_free_ones(enumerate(parts), taken)
    wait_for(second)
    for k, part in enumerate(parts):
        if k not in mine and not part.load():
            part.build()


def can_split() -> bool:
    """Other threads may hold locks that nobody would ever release in a copy of the process."""
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1 and threading.active_count() == 1


def split() -> int:
    """A copy of this process: its number, and 0 in the copy."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # the threads of linear algebra libraries are asleep
        return os.fork()


def build_free_ones(parts: Iterable[tuple[int, Part]], taken: mmap.mmap) -> set[int]:
    """Compile what the other process has not taken yet; the numbers of what was compiled here."""
    mine = set()
    for k, part in parts:
        if not taken[k]:
            taken[k] = 1
            part.build()
            mine.add(k)
    return mine


def wait_for(second: int) -> None:
    """Wait for the second process; one that has got stuck is ended."""
    deadline = time.monotonic() + PATIENCE
    while os.waitpid(second, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.kill(second, signal.SIGKILL)
            os.waitpid(second, 0)
            return
        time.sleep(0.005)
