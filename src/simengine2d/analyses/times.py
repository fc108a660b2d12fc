"""The times an analysis is asked for, and the chunks in which it runs: Ctrl-C and `progress` come between them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expressions.evaluate import number
from ..numerics.arrays import Floats
from ..system.system import System
from ..system.workspace import once_per_system


def output_times(
    t_end: float | None, step: float | None, t_eval: Sequence[float] | Floats | None, analysis: str
) -> Floats:
    """The times asked for: `t_eval`, or 0, step, 2 step, ... up to t_end."""
    if t_eval is not None:
        return _given_times(t_eval)
    if t_end is None:
        raise ModelError(f"{analysis} needs t_end or t_eval.")
    t_end = _seconds("t_end", t_end)
    step = t_end / 100.0 if step is None else _seconds("step", step)
    if step > t_end:
        raise ModelError(f"step = {step:g} must not be larger than t_end = {t_end:g}.")
    if t_end / step > 1e8:
        raise ModelError(f"step = {step:g} gives {t_end / step:.3g} output points; at most 1e8 are possible.")
    count = int(np.floor(t_end / step * (1.0 + 1e-12)))
    times: Floats = np.arange(count + 1, dtype=float) * step
    if times[-1] < t_end * (1.0 - 1e-12):
        return np.append(times, t_end)
    times[-1] = t_end
    return times


def _given_times(t_eval: Any) -> Floats:
    try:
        times = np.array(t_eval, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"t_eval = {t_eval!r} must be a list of times.") from None
    # increasing times between finite ends are all finite
    listed = times.ndim == 1 and times.size > 0 and isfinite(times[0]) and isfinite(times[-1])
    if not listed or np.count_nonzero(times[1:] > times[:-1]) < times.size - 1:
        raise ModelError("t_eval must be a list of increasing, finite times.")
    return times


def _seconds(name: str, value: Any) -> float:
    try:
        seconds = number(value)
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None
    if seconds <= 0.0:
        raise ModelError(f"{name} = {seconds:g} must be a positive number of seconds.")
    return seconds


def begin_of(system: System, times: Floats) -> float:
    """The time of the initial pose: t = 0, or the first output if that is earlier, or if tables begin later."""
    return min(0.0, float(times[0])) if defined_at_zero(system) else float(times[0])


@once_per_system
def defined_at_zero(system: System) -> bool:
    """Whether all functions have a value at t = 0."""
    domains = [system.domain, *(law.domain for _, law in system.laws)]
    return all(first <= 0.0 <= last for first, last in domains)


def check_domains(system: System, times: Floats) -> None:
    """Refuse times outside the tables."""
    first, last = system.domain
    if first <= times[0] and times[-1] <= last:
        return
    problems = []
    for (name, _), function in zip(system.rows, system.functions, strict=True):
        low, high = function.domain
        if times[0] < low or times[-1] > high:
            problems.append(
                f"{system.model.elements[name].title}: its table covers {low:g} to {high:g} s, "
                f"the analysis needs {times[0]:g} to {times[-1]:g} s. Extend the table or make it periodic."
            )
    if problems:
        raise ModelError(problems)


# Chunks -----------------------------------------------------------------------------------------------


AT_ONCE = 0.1  # seconds that a chunk of steps should last
MOST_AT_ONCE = 2_000
KEEPING = 0.02  # of the time, for copies of the state
COPYING = 4e-7  # seconds for each coordinate, as long as no copy has been timed
FIRST = 200  # steps of the first chunk of a small system


class Pace:
    """Steps per chunk, so that each takes about a tenth of a second; the steps do not depend on it."""

    def __init__(self, size: int) -> None:
        """`size` is the number of coordinates."""
        self.steps = first_chunk(size)
        self.begun = self.kept = time.perf_counter()
        self.is_kept, self.cost = False, COPYING * size
        """Whether a copy was made since the last chunk, and how long the last copy took."""

    def next(self) -> int:
        """Called before each chunk."""
        now = time.perf_counter()
        if self.is_kept:
            self.is_kept, self.cost = False, now - self.kept
        lasted, self.begun = now - self.begun, now
        if lasted > AT_ONCE:
            self.steps = max(1, int(self.steps * AT_ONCE / lasted))
        elif lasted < 0.5 * AT_ONCE:
            self.steps = min(MOST_AT_ONCE, 4 * self.steps)
        return self.steps

    def is_time_to_keep(self) -> bool:
        """Whether the last copy of the state was so long ago that another costs almost nothing."""
        now = time.perf_counter()
        self.is_kept = now - self.kept >= max(0.5 * AT_ONCE, self.cost / KEEPING)
        self.kept = now if self.is_kept else self.kept
        return self.is_kept


def first_chunk(size: int) -> int:
    return max(1, FIRST // (1 + size // 30))
