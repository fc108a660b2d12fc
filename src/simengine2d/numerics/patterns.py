"""What follows from integers alone is computed once for all models that have the same: patterns, orders, programs.

Models that differ in numbers only, such as the variants of a study, share these arrays. They are found by every byte of
what they were computed from, so a shared answer is the one that would have been computed again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from .arrays import constant
from .contexts import lay_out_once

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_BYTES = 32_000_000  # of all answers together; the oldest are dropped
SMALLEST = 1_000  # of one, with the key by which it is found
LARGEST = MOST_BYTES // 16  # of one: large models are rarely built twice


class _Answer:
    """Constant arrays that are laid out in memory as long as this object lives; `size` is theirs and the question's."""

    def __init__(self, arrays: Any, asked: int) -> None:
        self.arrays, self.size = constant(arrays), SMALLEST + asked
        for array in _arrays_of(arrays):
            self.size += array.nbytes
        if self.size <= LARGEST:
            for array in _arrays_of(arrays):
                lay_out_once(self, array)


class PatternCache:
    """Answers by what they were computed from, the latest last."""

    def __init__(self) -> None:
        self.answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self.size = 0
        self.lock = threading.Lock()

    def find(self, key: Hashable) -> _Answer | None:
        with self.lock:
            answer = self.answers.get(key)
            if answer is not None:
                self.answers.move_to_end(key)
            return answer

    def keep(self, key: Hashable, answer: _Answer) -> None:
        with self.lock:
            if answer.size > LARGEST or key in self.answers:
                return
            self.answers[key] = answer
            self.size += answer.size
            while self.size > MOST_BYTES:
                self.size -= self.answers.popitem(last=False)[1].size

    def clear(self) -> None:
        with self.lock:
            self.answers.clear()
            self.size = 0


patterns = PatternCache()


def once_per_pattern(function: Function) -> Function:
    """Compute constant arrays from arrays of integers and plain values once.

    Two threads may do that at once, with the same result.
    """

    @wraps(function)
    def known(*given: Any) -> Any:
        key = (function.__qualname__, *map(_identity, given))
        answer = patterns.find(key)
        if answer is None:
            answer = _Answer(function(*given), sum(each.nbytes for each in _arrays_of(given)))
            patterns.keep(key, answer)
        return answer.arrays

    return known  # type: ignore[return-value]


def _identity(given: Any) -> Hashable:
    """Equal for equal integers only."""
    return (given.shape, given.dtype.str, given.tobytes()) if isinstance(given, np.ndarray) else given


def _arrays_of(parts: Any) -> Iterator[np.ndarray]:
    if isinstance(parts, np.ndarray):
        yield parts
    elif isinstance(parts, tuple):
        for part in parts:
            yield from _arrays_of(part)
