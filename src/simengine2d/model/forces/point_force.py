from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ...expressions.law import as_law, body_law
from ..elements import Axes, BodyLaw, ForceElement, FrameField, StateLaw, Wrench
from ..frame import GROUND


class PointForce(ForceElement):
    """A force at a point of a body, in global axes or turning with the body.

    `fx` and `fy` are functions of time or of the body's state; a Python `law` (t, q, qd) -> (fx, fy) replaces them.
    If it jumps, `law.breaks = [...]` gives the times, `[]` says that it never does; jumps of expressions and tables are
    known automatically.
    """

    frame: FrameField
    fx: StateLaw = 0.0
    fy: StateLaw = 0.0
    axes: Axes = "global"
    law: BodyLaw | None = None

    def loads(self) -> Iterator[Wrench]:
        if self.frame.body == GROUND:
            raise ModelError(f"{self.title} acts on the ground, which cannot move; name a body.")
        fx, fy = self.fx, self.fy
        if self.law is not None:
            fx, fy = (body_law(self.law, component, self.title) for component in (0, 1))
        yield Wrench(self.frame, self.axes == "body", fx, fy, as_law(0.0, (), {}))
