from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...errors import ModelError
from ...expressions.law import as_law, body_law
from ..elements import BodyLaw, ForceElement, FrameField, Load, MeasureForce, StateLaw, Wrench
from ..formula import Formula
from ..frame import GROUND, ORIGIN
from ..measure import angle


class Torque(ForceElement):
    """A torque on a body: a function of time, of the body's state x, y, phi, xd, yd, phid, or of channels of any body.

    A `law` (t, q, qd) -> torque in Python replaces it.
    """

    reads_channels = True
    synonyms: ClassVar[dict[str, str]] = {"torque": "value"}

    frame: FrameField
    value: StateLaw = 0.0
    law: BodyLaw | None = None

    def loads(self) -> Iterator[Load]:
        if self.frame.body == GROUND:
            raise ModelError(f"{self.title} acts on the ground, which cannot move; name a body.")
        if self.law is None and isinstance(self.value, Formula):
            yield MeasureForce(angle(ORIGIN, self.frame), self.value.function, self.value)
            return
        none = as_law(0.0, (), {})
        torque = self.value if self.law is None else body_law(self.law, 0, self.title, "TORQUE")
        yield Wrench(self.frame, False, none, none, torque)
