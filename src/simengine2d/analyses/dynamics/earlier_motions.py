"""Dynamics of models that differ in numbers from those of earlier calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...system.recorded_system import RecordedSystem
from ..earlier_models import EarlierModels, VariantRun


def _prepared(recorded: RecordedSystem, asked: Mapping[str, Any]) -> VariantRun:
    from .many_motions import ManyMotions  # which needs the runs of `dynamics`

    return ManyMotions(recorded, asked)


earlier = EarlierModels(_prepared)
