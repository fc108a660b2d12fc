"""How kernels are compiled through numba's documented interface alone: by its usual pipeline, at each start anew.

The compilers above it keep machine code on the disk (`stock_compiler.py`) and make it sooner (`fast_compiler.py`).
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
from numba import types

ENTRY = types.void(types.int64, types.float64, *[types.int64] * 4)
"""The signature of a kernel pointer: context, t, y, size of y, out, size of out."""


class BareCompiler:
    """numba's `njit` and `cfunc`."""

    seconds = 60
    """What the kernels of one run take to compile, at most; measured on one core of 2023."""
    overload_options: dict[str, Any] = {}
    AttributeTemplate: Any = None
    """The base of what numba asks for the fields of a context, where there is one."""

    def entry(self, function: Callable[..., Any], inline: bool) -> Any:
        """A kernel that Python calls."""
        return numba.njit(error_model="numpy")(function)

    def inner(self, function: Callable[..., Any], inline: bool) -> Any:
        """A kernel that only kernels call."""
        return numba.njit(error_model="numpy")(function)

    def pointer(self, function: Callable[..., None]) -> Any:
        """The machine code of a kernel pointer."""
        return BareEntry(function, self.seconds)


class BareEntry:
    """Machine code of a kernel pointer, in the making."""

    def __init__(self, function: Callable[..., None], seconds: int) -> None:
        self.function, self.seconds = function, seconds
        self.made: Any = None

    @property
    def address(self) -> int:
        return int(self.made.address)

    def load(self) -> bool:
        """Take it from the disk, where nothing is."""
        return self.made is not None

    def build(self) -> None:
        say_compiling(self.seconds, "this happens at each start")
        with uninterrupted(), without_collection():
            self.made = numba.cfunc(ENTRY, error_model="numpy")(self.function)


@cache
def say_compiling(
    seconds: int, when: str = "after installation this happens once for each kind of analysis"
) -> None:
    """Once, that there is something to wait for."""
    text = f"simengine2d: compiling kernels; {when} and takes up to {seconds} s ..."
    print(text, file=sys.stderr, flush=True)


@contextmanager
def without_collection() -> Iterator[None]:
    """Compiling makes millions of objects and hardly any garbage; Python would search them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until a kernel is whole. numba keeps half of one for good, and could never compile it again."""
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
