"""Python's garbage collector waits while many objects are made that all stay: it would look at them again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

MANY = 1_000  # parts of a model


def collector_waits(parts: int) -> AbstractContextManager[None]:
    """Nothing is collected in here if there are many parts, unless another thread asks for it."""
    return _waiting() if parts > MANY else nullcontext()


@contextmanager
def _waiting() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            _count_as_old()
            gc.enable()


def _count_as_old() -> None:
    """Objects are old at once, and not looked at again until many more have been made."""
    if gc.get_freeze_count() == 0:  # otherwise somebody else has objects that are never looked at
        gc.freeze()
        gc.unfreeze()
