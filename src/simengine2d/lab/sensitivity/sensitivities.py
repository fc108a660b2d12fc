"""The answer of a sensitivity: outputs, and how each changes with each parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import ModelError, needed, unknown
from ...numerics.arrays import Floats

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, eq=False)
class Sensitivity(PlottedAnswer):
    """Values of outputs and their derivatives: `s["peak"]["k"]` is d peak / d k. SI units and radians."""

    title: str
    """The model and the analysis."""
    parameters: Mapping[str, float]
    """The numbers of the model at which the derivatives hold."""
    values: Mapping[str, Any]
    """The outputs: numbers, or arrays over the outputs of the analysis."""
    gradients: Mapping[str, Floats]
    """The derivatives of each output; the last axis are the parameters."""
    notes: Sequence[str] = field(default_factory=list)

    def __getitem__(self, output: str) -> dict[str, Any]:
        """The derivatives of an output, by parameter."""
        if output not in self.gradients:
            raise ModelError(
                f"there is no output '{output}'. {unknown('output', output, list(self.gradients))}"
            )
        gradient = self.gradients[output]
        return {name: _plain(gradient[..., k]) for k, name in enumerate(self.parameters)}

    @property
    def numbers(self) -> list[str]:
        """The outputs that are one number."""
        return [name for name, value in self.values.items() if np.ndim(value) == 0]

    @property
    def matrix(self) -> Floats:
        """The Jacobian of the outputs that are one number: a row each, a column for each parameter."""
        rows = [self.gradients[name] for name in self.numbers]
        return np.array(rows, dtype=float).reshape(len(rows), len(self.parameters))

    def relative(self, output: str) -> dict[str, Any]:
        """p/y dy/dp: the change of the output in percent for one percent of each parameter."""
        gradient, value = self[output], np.asarray(self.values[output])
        with np.errstate(all="ignore"):
            return {name: _plain(p * gradient[name] / value) for name, p in self.parameters.items()}

    def to_frame(self) -> pandas.DataFrame:
        """A pandas DataFrame of the outputs that are one number: a row each, with its value and its derivatives."""
        pandas = needed("pandas", "a DataFrame needs", "tables", ", or use matrix")
        names = self.numbers
        columns: dict[str, Any] = {"value": [self.values[name] for name in names]}
        columns |= {name: self.matrix[:, k] for k, name in enumerate(self.parameters)}
        return pandas.DataFrame(columns, index=pandas.Index(names, name="output"))

    def plot(self, ax: Axes | None = None, output: str | None = None) -> Axes:
        """A tornado: by how much one percent of each parameter changes an output, the strongest on top."""
        from .pictures import plot_tornado

        return plot_tornado(self, ax, output)

    # text

    def rows(self, output: str) -> list[list[str]]:
        """A row for each parameter, the strongest first."""
        gradient, relative = self[output], self.relative(output)
        names = sorted(self.parameters, key=lambda name: -_size(relative[name], gradient[name]))
        return [
            [name, digits(self.parameters[name]), _cell(gradient[name]), _cell(relative[name])]
            for name in names
        ]

    def head(self, output: str) -> str:
        """An output and its value."""
        value = self.values[output]
        return f"{output} = {digits(value)}" if np.ndim(value) == 0 else f"{output}: {_shape(value)}"

    HEADS = ("", "value", "derivative", "% per %")

    def __str__(self) -> str:
        lines = [self.title]
        for output in self.values:
            lines += [self.head(output), *Rows(self.HEADS, self.rows(output)).lines()]
        return "\n".join([*lines, *self.notes])

    def _parts(self) -> Iterator[Part]:
        yield self.title
        for output in self.values:
            yield Rows([self.head(output), *self.HEADS[1:]], self.rows(output))
        yield from self.notes


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value


def _size(*sizes: Any) -> float:
    """The largest change; that of the derivative itself where an output is zero."""
    for size in sizes:
        finite = np.abs(size)[np.isfinite(size)]
        if finite.size:
            return float(finite.max())
    return 0.0


def _shape(value: Any) -> str:
    return " x ".join(map(str, np.shape(value))) + " values"


def _cell(value: Any) -> str:
    return digits(value) if np.ndim(value) == 0 else f"up to {digits(_size(value))}"
