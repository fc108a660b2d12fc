from __future__ import annotations

from ..elements import Force, FrameField, StateLaw, TimeFunction


class Torque(Force):
    """A torque on a body as a function of time, or by a `law` (t, q, qd) -> torque of the body's own state."""

    frame: FrameField
    value: TimeFunction = 0.0
    law: StateLaw | None = None
