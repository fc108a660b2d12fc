"""Chunks of steps: how long they are, and how often the state is copied between them."""

from __future__ import annotations

import pytest

from simengine2d.analyses import times
from simengine2d.analyses.times import AT_ONCE, KEEPING, Pace


class Clock:
    """A clock that stands still unless told."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.mark.parametrize(("size", "cost"), [(9, 1e-5), (30_000, 0.02), (300_000, 0.2), (9, 0.2)])
def test_copies_of_the_state_take_a_small_part_of_the_time(size, cost, monkeypatch):
    """Those of 10,000 links took a fifth of the time of implicit steps."""
    clock = Clock()
    monkeypatch.setattr(times, "time", clock)
    pace, copies = Pace(size), []
    while clock.now < 200.0:
        pace.next()
        clock.now += 0.3 * AT_ONCE
        if pace.is_time_to_keep():
            copies.append(clock.now)
            clock.now += cost
    assert len(copies) * cost <= 1.1 * KEEPING * clock.now + cost
    # and yet there are some, as many as that allows
    assert len(copies) >= 0.8 * min(KEEPING / cost, 0.5 / AT_ONCE) * clock.now - 1.0
