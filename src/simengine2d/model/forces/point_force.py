from __future__ import annotations

from collections.abc import Iterator

from ...errors import ModelError
from ...expressions.law import as_law, body_law
from ..elements import Axes, BodyLaw, ForceElement, FrameField, Load, MeasureForce, StateLaw, Wrench
from ..formula import Formula
from ..frame import GROUND, ORIGIN
from ..measure import x, y


class PointForce(ForceElement):
    """A force at a point of a body, in global axes or turning with the body.

    `fx` and `fy` are functions of time, of the body's state x, y, phi, xd, yd, phid, or of channels of any body. A
    Python `law` (t, q, qd) -> (fx, fy) replaces them.
    If it jumps, `law.breaks = [...]` gives the times, `[]` says that it never does; jumps of expressions and tables are
    known automatically.
    """

    reads_channels = True
    frame: FrameField
    fx: StateLaw = 0.0
    fy: StateLaw = 0.0
    axes: Axes = "global"
    law: BodyLaw | None = None

    def loads(self) -> Iterator[Load]:
        if self.frame.body == GROUND:
            raise ModelError(f"{self.title} acts on the ground, which cannot move; name a body.")
        fx, fy = self.fx, self.fy
        if self.law is not None:
            fx, fy = (body_law(self.law, component, self.title, "FX, FY") for component in (0, 1))
        none = as_law(0.0, (), {})
        for formula, along in ((fx, x), (fy, y)):
            if isinstance(formula, Formula):
                yield MeasureForce(along(ORIGIN, self.frame), formula.function, formula)
        fx, fy = (none if isinstance(part, Formula) else part for part in (fx, fy))
        yield Wrench(self.frame, self.axes == "body", fx, fy, none)
