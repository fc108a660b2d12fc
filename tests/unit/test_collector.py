"""The garbage collector waits while large models are made, and then goes on as before."""

from __future__ import annotations

import gc
import weakref

from simengine2d.numerics.collector import MANY, collector_waits


class Part:
    """An object in a circle, which only the collector frees."""

    def __init__(self) -> None:
        self.itself = self


def test_it_waits_for_many_parts_only():
    with collector_waits(MANY):
        assert gc.isenabled()
    with collector_waits(MANY + 1):
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_made_meanwhile_is_old_and_still_collected():
    with collector_waits(MANY + 1):
        parts = [Part() for _ in range(10_000)]
    assert gc.get_count()[0] < 10_000 or len(gc.get_objects(generation=0)) < 5_000
    watched = weakref.ref(parts[0])
    parts.clear()
    gc.collect()
    assert watched() is None


def test_objects_that_somebody_has_frozen_stay_frozen():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with collector_waits(MANY + 1):
            pass
        assert gc.get_freeze_count() >= frozen - 100
    finally:
        gc.unfreeze()
