"""Parameters of tests that take long without the JIT."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_among(values: Iterable[Any], *slow: Any) -> list[Any]:
    """The values as parameters of a test; some of them are left out of the run without the JIT."""
    return [pytest.param(value, marks=pytest.mark.slow) if value in slow else value for value in values]
