"""The answer of a fit: the numbers, how far they can be trusted, the model with them, and what remains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import counted
from ...expressions.unit_system import ShownUnit
from ...model.model import Model
from ...numerics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class FittedChannel(NamedTuple):
    """A channel of an experiment: what was measured, and what the fitted model says. SI units."""

    experiment: str
    channel: str
    t: Floats
    data: Floats
    model: Floats
    unit: ShownUnit

    @property
    def residuals(self) -> Floats:
        """Data less model."""
        return self.data - self.model


@dataclass(frozen=True, repr=False, eq=False)
class Fit(PlottedAnswer):
    """Parameters by name with their intervals, and the `model` that has them."""

    model: Model
    """The model with the fitted numbers; its text and comments are kept when it is saved."""
    parameters: Mapping[str, float]
    """The fitted numbers, in the units in which the model is written."""
    intervals: Mapping[str, tuple[float, float]]
    """Confidence intervals; infinite where the data do not determine a parameter, nan at a bound."""
    errors: Mapping[str, float]
    """Standard errors."""
    correlation: Floats
    """Correlation of the parameters, in their order."""
    noise: Mapping[str, float]
    """Standard deviation of each channel, in SI units: as given, or as estimated from what remains."""
    channels: Sequence[FittedChannel]
    success: bool
    """Whether the search has converged, and the data determine every parameter."""
    message: str
    """What there is to know, in sentences."""
    level: float = 0.95
    units: Mapping[str, str] = None  # type: ignore[assignment]
    """Units of parameters that are written with one."""
    runs: int = 0

    @property
    def residuals(self) -> dict[str, Floats]:
        """Data less model by channel, the experiments one after another; SI units."""
        names = dict.fromkeys(each.channel for each in self.channels)
        return {
            name: np.concatenate([each.residuals for each in self.channels if each.channel == name])
            for name in names
        }

    # pictures

    def plot(self, ax: Axes | None = None, channel: str | None = None, experiment: int = 0) -> Axes:
        """Data and model of a channel over time, and below them what remains."""
        from .pictures import plot_fit

        return plot_fit(self, ax, channel, experiment)

    def figure(self) -> Figure:
        """All channels of all experiments."""
        from .pictures import figure_of

        return figure_of(self)

    # text

    @property
    def heads(self) -> tuple[str, ...]:
        level = f"{100 * self.level:.4g} %"
        return "", "value", "std. error", f"{level} from", "to"

    def rows(self) -> list[list[str]]:
        """A row for each parameter."""
        rows = []
        for name, value in self.parameters.items():
            unit = self.units.get(name, "")
            title = f"{name} [{unit}]" if unit else name
            rows.append([title, *map(digits, (value, self.errors[name], *self.intervals[name]))])
        return rows

    def head(self) -> str:
        count = sum(each.t.size for each in self.channels)
        names = list(dict.fromkeys(each.channel for each in self.channels))
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f"fit of '{self.model.name}' to {counted(count, 'value')} of {shown}"

    def noise_line(self) -> str:
        """`residuals (rms): 0.01 rad of bar.phi`."""
        parts = []
        for name, r in self.residuals.items():
            unit = next(each.unit for each in self.channels if each.channel == name)
            parts.append(f"{unit.text(float(np.sqrt(np.mean(r * r))), '.3g').strip()} of {name}")
        return f"residuals (rms): {', '.join(parts)}"

    def __str__(self) -> str:
        lines = [self.head(), *Rows(self.heads, self.rows()).lines(), self.noise_line()]
        if len(self.parameters) > 1:
            lines += self._correlations().lines()
        return "\n".join([*lines, self.message])

    def _summary(self) -> str:
        rows = self.rows()[:5]
        return "\n".join([self.head(), *Rows(self.heads, rows).lines(), self.message])

    def _correlations(self) -> Rows:
        names = list(self.parameters)
        cells = [[f"{value:+.3f}" for value in row] for row in self.correlation]
        return Rows(["correlation", *names], [[name, *row] for name, row in zip(names, cells, strict=True)])

    def _parts(self) -> Iterator[Part]:
        yield self.head()
        yield Rows(self.heads, self.rows())
        yield self.noise_line()
        if len(self.parameters) > 1:
            yield self._correlations()
        yield self.message
