from __future__ import annotations

from ..elements import Force, MeasureField, Number, TimeFunction


class Spring(Force):
    """Spring, damper and actuator on a measure s: a TSDA on `distance`, an RSDA on `angle`.

    It pulls with k (s - free) + c ds/dt + h(t) against the growth of s.
    """

    measure: MeasureField
    stiffness: Number = 0.0
    damping: Number = 0.0
    free: Number = 0.0
    actuator: TimeFunction = 0.0
