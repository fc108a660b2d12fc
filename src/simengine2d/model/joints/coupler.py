from __future__ import annotations

from collections.abc import Iterator

from ..elements import Joint, MeasureField, Number, Row


class Coupler(Joint):
    """A weighted sum of measures is held as drawn, or at `value`: `angle(ground, a) - 2*along(ground.G, b)`.

    Phi = sum_k w_k s_k - value = 0
    """

    measure: MeasureField
    value: Number | None = None

    def rows(self) -> Iterator[Row]:
        yield Row("sum", self.measure, self.measure.drawn if self.value is None else self.value)
