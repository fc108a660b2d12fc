"""Compiling several kernel pointers at once: a second process takes half of them.

Both work through the list, one from the front and one from the back, and meet in the middle. The first process loads
from disk what the second has compiled. Only our own process, that of the command line, is ever forked; inside another
program, or without a second core, one process does all the work.
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

PATIENCE = 60.0  # seconds after which the second process is killed

ours = False
"""Whether this process belongs to the command line, which sets it."""


class Part(Protocol):
    """Something to compile."""

    def load(self) -> bool:
        """Load the machine code from disk; False if there is none."""

    def build(self) -> None:
        """Compile, and cache the machine code on disk."""


def build_together(parts: Sequence[Part]) -> None:
    """Compile all parts."""
    mine: set[int] = set()
    if len(parts) > 1 and can_split():
        with suppress(OSError):  # no more processes, or no memory: one process does all the work
            mine = build_by_two(parts)
    for k, part in enumerate(parts):
        if k not in mine and not part.load():
            part.build()


def build_by_two(parts: Sequence[Part]) -> set[int]:
    """Compile all parts with a second process; returns the indices of those compiled here."""
    taken = mmap.mmap(-1, len(parts))  # shared by both processes
    second = split(lambda: build_free_ones(reversed(list(enumerate(parts))), taken))
    try:
        mine = build_free_ones(enumerate(parts), taken)
        wait_for(second)
        return mine
    except BaseException:  # Ctrl-C: the second process is no longer needed
        end(second)
        raise


def can_split() -> bool:
    """Whether forking is safe: locks held by other threads would never be released in the child."""
    if not ours:
        return False
    alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
    return sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1 and alone


def split(work: Callable[[], object]) -> int:
    """Fork a child that does some work and exits; returns its process id."""
    with warnings.catch_warnings():
        # the threads of linear algebra libraries are asleep
        warnings.simplefilter("ignore", DeprecationWarning)
        # Ctrl-C is for the parent: in the child it would return into the user's program
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
        os._exit(0)  # skip the exit handlers of the parent


def build_free_ones(parts: Iterable[tuple[int, Part]], taken: mmap.mmap) -> set[int]:
    """Compile what the other process has not taken yet; returns the indices of what was compiled here."""
    mine = set()
    for k, part in parts:
        if not taken[k]:
            taken[k] = 1
            part.build()
            mine.add(k)
    return mine


def wait_for(second: int) -> None:
    """Wait for the second process; kill it after PATIENCE seconds."""
    deadline = time.monotonic() + PATIENCE
    # a program that ignores SIGCHLD leaves no child to wait for
    with suppress(ChildProcessError):
        while os.waitpid(second, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                end(second)
                return
            time.sleep(0.005)


def end(second: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(second, signal.SIGKILL)
        os.waitpid(second, 0)
