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
LARGEST = 1 / 16  # of one, as a part of all: large models are rarely built twice


class _Answer:
    """Constant arrays; `size` is theirs and the question's."""

    def __init__(self, arrays: Any, asked: int) -> None:
        self.arrays, self.size = constant(arrays), SMALLEST + asked
        for array in _arrays_of(arrays):
            self.size += array.nbytes

    def lay_out(self) -> None:
        """In memory, as long as this object lives."""
        for array in _arrays_of(self.arrays):
            lay_out_once(self, array)


class AnswerCache:
    """Answers by what they were computed from, the latest last."""

    def __init__(self, most: int, lays_out: bool) -> None:
        """At most so many bytes; `lays_out` where the arrays will be part of many contexts."""
        self.answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self.most, self.lays_out, self.size = most, lays_out, 0
        self.lock = threading.Lock()

    def find(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The answer of a key, which is computed where it is not known. Two threads may do that at once."""
        answer = self._known(key)
        if answer is None:
            answer = _Answer(compute(), _bytes_in(key))
            if answer.size <= LARGEST * self.most:
                self.keep(key, answer)
        return answer.arrays

    def _known(self, key: Hashable) -> _Answer | None:
        with self.lock:
            answer = self.answers.get(key)
            if answer is not None:
                self.answers.move_to_end(key)
            return answer

    def keep(self, key: Hashable, answer: _Answer) -> None:
        if self.lays_out:
            answer.lay_out()
        with self.lock:
            if key in self.answers:
                return
            self.answers[key] = answer
            self.size += answer.size
            while self.size > self.most:
                self.size -= self.answers.popitem(last=False)[1].size

    def clear(self) -> None:
        with self.lock:
            self.answers.clear()
            self.size = 0


patterns = AnswerCache(MOST_BYTES, lays_out=True)


def once_per_pattern(function: Function) -> Function:
    """Compute constant arrays from arrays of integers and plain values once.

    Two threads may do that at once, with the same result.
    """

    @wraps(function)
    def known(*given: Any) -> Any:
        key = (function.__qualname__, *map(_identity, given))
        return patterns.find(key, lambda: function(*given))

    return known  # type: ignore[return-value]


def _bytes_in(key: Hashable) -> int:
    if isinstance(key, tuple):
        return sum(map(_bytes_in, key))
    return len(key) if isinstance(key, bytes) else 0


def _identity(given: Any) -> Hashable:
    """Equal for equal integers only."""
    return (given.shape, given.dtype.str, given.tobytes()) if isinstance(given, np.ndarray) else given


def _arrays_of(parts: Any) -> Iterator[np.ndarray]:
    if isinstance(parts, np.ndarray):
        yield parts
    elif isinstance(parts, tuple):
        for part in parts:
            yield from _arrays_of(part)
