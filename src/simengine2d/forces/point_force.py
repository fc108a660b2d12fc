from __future__ import annotations

from ..elements import Axes, Force, FrameField, StateLaw, TimeFunction


class PointForce(Force):
    """A force at a point of a body, in global axes or turning with the body.

    `fx` and `fy` are functions of time; a `law` (t, q, qd) -> (fx, fy) of the body's own state replaces them.
    """

    frame: FrameField
    fx: TimeFunction = 0.0
    fy: TimeFunction = 0.0
    axes: Axes = "global"
    law: StateLaw | None = None
