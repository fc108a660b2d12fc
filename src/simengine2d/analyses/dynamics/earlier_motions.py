"""Dynamics of models that differ in numbers from those of earlier calls."""

from __future__ import annotations

from ..earlier_models import EarlierModels
from .many_motions import ManyMotions

earlier = EarlierModels(ManyMotions)
