"""Compiling several kernel pointers at once: a second process takes its share.

Both work through the list, one from the front and one from the back, and meet in the middle. What the second process
has compiled lies on the disk, from where the first one loads it. Only a process that is ours is ever split: that of the
command line. In somebody else's program, and where there is no second core, one does all.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol

PATIENCE = 60.0  # seconds after which the second process is given up

ours = False
"""Whether this process belongs to the command line, which then says so."""


class Part(Protocol):
    """Something to compile."""

    def load(self) -> bool:
        """Take the machine code from the disk; False where there is none."""

    def build(self) -> None:
        """Compile, and keep the machine code on the disk."""


def build_together(parts: Sequence[Part]) -> None:
    """Compile all parts."""
    mine: set[int] = set()
    if len(parts) > 1 and can_split():
        with suppress(OSError):  # no more processes, or no memory: one does all
            mine = build_by_two(parts)
    for k, part in enumerate(parts):
        if k not in mine and not part.load():
            part.build()


def build_by_two(parts: Sequence[Part]) -> set[int]:
    """Compile all parts with a second process; the numbers of those that were compiled here."""
    taken = mmap.mmap(-1, len(parts))  # shared by both processes
    second = split(lambda: build_free_ones(reversed(list(enumerate(parts))), taken))
    try:
        mine = build_free_ones(enumerate(parts), taken)
        wait_for(second)
        return mine
    except BaseException:  # Ctrl-C: nobody waits for the second one any more
        end(second)
        raise


def can_split() -> bool:
    """Other threads may hold locks that nobody would ever release in a copy of the process."""
    if not ours:
        return False
    alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1 and alone


def split(work: Callable[[], object]) -> int:
    """The number of a copy of this process that does some work and ends."""
    with warnings.catch_warnings():
        # the threads of linear algebra libraries are asleep
        warnings.simplefilter("ignore", DeprecationWarning)
        # Ctrl-C is for the first process: in the copy it would lead back into the user's program
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            second = os.fork()
            if second == 0:
                do_and_exit(work)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return second


def do_and_exit(work: Callable[[], object]) -> None:
    try:
        work()
    finally:
        os._exit(0)  # without the farewells of the first process


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
    with suppress(
        ChildProcessError
    ):  # where the program ignores the end of its children, nobody else may wait
        while os.waitpid(second, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                end(second)
                return
            time.sleep(0.005)


def end(second: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(second, signal.SIGKILL)
        os.waitpid(second, 0)
