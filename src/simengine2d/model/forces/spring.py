from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...expressions.law import linear_law
from ..elements import ForceElement, MeasureField, MeasureForce, Number, PushLaw, TimeFunction
from ..formula import Formula


class Spring(ForceElement):
    """Spring, damper and actuator on a measure s: a TSDA on `distance`, an RSDA on `angle`.

    It resists the growth of s with k (s - free) + c ds/dt + h(t), and optionally with a `law` g(s, sd, t), such as
    "100*s^3" or a table of s, `se.Table(of="s", points=..., values=...)`. It may read channels of any body, as in
    "gas(crank.phi)*s".
    """

    reads_channels = True

    synonyms: ClassVar[dict[str, str]] = {
        "k": "stiffness",
        "c": "damping",
        "l0": "free",
        "L0": "free",
        "free_length": "free",
        "rest_length": "free",
        "preload": "actuator",
    }
    measure: MeasureField
    stiffness: Number = 0.0
    damping: Number = 0.0
    free: Number = 0.0
    actuator: TimeFunction = 0.0
    law: PushLaw | None = None

    def loads(self) -> Iterator[MeasureForce]:
        yield MeasureForce(self.measure, linear_law(self.stiffness, self.damping, self.free))
        if not self.actuator.is_zero:
            yield MeasureForce(self.measure, self.actuator)
        if isinstance(self.law, Formula):
            yield MeasureForce(self.measure, self.law.function, self.law, resists=True)
        elif self.law is not None:
            yield MeasureForce(self.measure, self.law)
