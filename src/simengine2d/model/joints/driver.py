from __future__ import annotations

from collections.abc import Iterator

from ..elements import Joint, MeasureField, Row, TimeFunction


class Driver(Joint):
    """A motor: a measure follows a function of time.

    Phi = s - f(t) = 0
    """

    measure: MeasureField
    value: TimeFunction
    drives = True

    def rows(self) -> Iterator[Row]:
        yield Row("drive", self.measure, self.value)
