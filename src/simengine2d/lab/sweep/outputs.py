"""Outputs of a study: what is kept of each variant.

    max(B.force)    final(slider.x)    rms(motor.torque)    max(abs(A.fx))    at(slider.x, 0.5)    min(transmission)

An expression of channels and parameters is an array over time; a reducer makes one number of it, over the outputs of
the run. Without a reducer the whole array is kept. Values are in SI units and radians.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ...errors import ModelError
from ...expressions.parser import parse
from ...expressions.syntax import Node
from .reading import CALLS, Reading, Value


@dataclass(frozen=True)
class Expression:
    """An output as text."""

    text: str

    def __post_init__(self) -> None:
        self.tree  # noqa: B018  (raises where it cannot be read)

    @property
    def tree(self) -> Node:
        return parse(self.text, CALLS)

    def __call__(self, answer: Any) -> Value:
        return _plain(Reading(answer).value(self.tree))

    @property
    def identity(self) -> str:
        return self.text


@dataclass(frozen=True)
class PythonOutput:
    """An output as a Python function of the results."""

    function: Callable[[Any], Any]

    def __call__(self, answer: Any) -> Value:
        return _plain(self.function(answer))

    @property
    def identity(self) -> str:
        """Its name, and a fingerprint of its text where that can be read."""
        name = f"{self.function.__module__}.{getattr(self.function, '__qualname__', self.function)}"
        try:
            return f"{name} {hashlib.sha256(inspect.getsource(self.function).encode()).hexdigest()[:16]}"
        except (OSError, TypeError):
            return name


@dataclass(frozen=True)
class WholeResults:
    """The results themselves."""

    identity = "whole results"

    def __call__(self, answer: Any) -> Value:
        return answer


Output: TypeAlias = Expression | PythonOutput | WholeResults
Wanted: TypeAlias = Mapping[str, str | Callable[[Any], Any]] | Sequence[str] | str | None
RESULTS = "results"


def outputs_of(wanted: Any) -> dict[str, Output]:
    """What a user asks for, by name; nothing means whole results."""
    if wanted is None:
        return {RESULTS: WholeResults()}
    if isinstance(wanted, str):
        wanted = [wanted]
    if not isinstance(wanted, Mapping):
        wanted = {str(text): text for text in wanted}
    if not wanted:
        raise ModelError("outputs is empty; name at least one, such as {'top': 'max(coupler.y)'}.")
    return {str(name): _output(str(name), each) for name, each in wanted.items()}


def _output(name: str, wanted: Any) -> Output:
    if callable(wanted):
        return PythonOutput(wanted)
    if not isinstance(wanted, str):
        raise ModelError(
            f"output '{name}' is {wanted!r}; write an expression such as 'max(B.fy)', or a function."
        )
    try:
        return Expression(wanted)
    except ModelError as error:
        raise ModelError(f"output '{name}': {error}") from None


def _plain(value: Any) -> Value:
    """A float, or an array of floats; results and whatever else a function returns stay as they are."""
    if isinstance(value, np.ndarray) and value.ndim:
        return value.astype(float)
    try:
        return float(value)
    except (TypeError, ValueError):
        return value
