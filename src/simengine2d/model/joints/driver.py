from __future__ import annotations

from collections.abc import Iterator

from ..elements import Joint, MeasureField, Row, TimeFunction


class Driver(Joint):
    """A motor: a measure follows a function of time.

    In its expression `drawn` is the value of the measure in the initial pose: "drawn + 0.3*step5(t, 0, 0, 1, 1)".

    Phi = s - f(t) = 0
    """

    measure: MeasureField
    value: TimeFunction
    drives = True

    def rows(self) -> Iterator[Row]:
        yield Row("drive", self.measure, self.value)
