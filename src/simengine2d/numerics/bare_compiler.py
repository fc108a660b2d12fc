"""Compiling kernels through numba's documented interface alone: by its usual pipeline, again at each start.

Its subclasses cache machine code on disk (`stock_compiler.py`) and compile faster (`fast_compiler.py`).
"""

from __future__ import annotations

import gc
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba import types

LOG = logging.getLogger("simengine2d")

ENTRY = types.void(types.int64, types.float64, *[types.int64] * 4)
"""The signature of a kernel pointer: context, t, y, size of y, out, size of out."""


class BareCompiler:
    """numba's `njit` and `cfunc`."""

    seconds = 60
    """Longest time to compile the kernels of one run, measured on one core of 2023."""
    overload_options: dict[str, Any] = {}
    AttributeTemplate: Any = None
    """The base class through which numba resolves the fields of a context, if there is one."""

    def entry(self, function: Callable[..., Any], inline: bool) -> Any:
        """A kernel that Python calls."""
        return numba.njit(error_model="numpy", nogil=True)(function)

    def inner(self, function: Callable[..., Any], inline: bool) -> Any:
        """A kernel that only kernels call."""
        return numba.njit(error_model="numpy")(function)

    def pointer(self, function: Callable[..., None]) -> Any:
        """The machine code of a kernel pointer."""
        return BareEntry(function, self.seconds)


class BareEntry:
    """Entry point of a kernel pointer, compiled lazily."""

    def __init__(self, function: Callable[..., None], seconds: int) -> None:
        self.function, self.seconds = function, seconds
        self.made: Any = None

    @property
    def address(self) -> int:
        return int(self.made.address)

    def load(self) -> bool:
        """Nothing is cached: True only once it is compiled."""
        return self.made is not None

    def build(self) -> None:
        say_compiling(self.seconds, "this happens at each start")
        with uninterrupted(), without_collection():
            self.made = numba.cfunc(ENTRY, error_model="numpy")(self.function)


@cache
def say_compiling(
    seconds: int, when: str = "after installation this happens once for each kind of analysis"
) -> None:
    """Announce, once per process, that kernels are being compiled."""
    LOG.warning("simengine2d: compiling kernels; %s and takes up to %d s ...", when, seconds)


@contextmanager
def without_collection() -> Iterator[None]:
    """Switch garbage collection off: compiling makes millions of objects and hardly any garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until a kernel is complete: numba would keep a half-compiled one and never compile it again."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is None:
        yield
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if heard:
            signal.raise_signal(signal.SIGINT)
