from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ...expressions.law import as_law, body_law
from ..elements import BodyLaw, ForceElement, FrameField, StateLaw, Wrench
from ..frame import GROUND


class Torque(ForceElement):
    """A torque on a body: a function of time or of the body's state, or a `law` (t, q, qd) -> torque in Python."""

    frame: FrameField
    value: StateLaw = 0.0
    law: BodyLaw | None = None

    def loads(self) -> Iterator[Wrench]:
        if self.frame.body == GROUND:
            raise ModelError(f"{self.title} acts on the ground, which cannot move; name a body.")
        none = as_law(0.0, (), {})
        torque = self.value if self.law is None else body_law(self.law, 0, self.title)
        yield Wrench(self.frame, False, none, none, torque)
