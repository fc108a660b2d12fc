"""Mechanisms that several tests need and the package does not build."""

from __future__ import annotations

import simengine2d as se
from simengine2d import builders


def three_cranks(crank_angle: float = 1.0) -> se.Model:
    """A parallelogram with a third crank: one of its constraint equations is redundant in every pose."""
    model = builders.four_bar(1, 2, 1, 2, crank_angle=crank_angle)
    middle = model.bar("middle", (1, 0), ("1 + Bx", "By"))
    model.add(se.Revolute("E", model.ground, middle["start"]))
    model.add(se.Revolute("F", middle["end"], "coupler"))
    return model
