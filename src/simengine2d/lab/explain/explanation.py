"""What a method did, line by line: the iterations of Newton's method, or the stages of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import ModelError
from ...numerics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Value = float | Floats


class Equation(NamedTuple):
    """An equation for a terminal, and for LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True)
class Line:
    """An iteration or a stage: its quantities by name. Numbers make up the table, arrays are shown in full."""

    name: str
    values: Mapping[str, Value]

    def __getitem__(self, quantity: str) -> Value:
        return self.values[quantity]

    @property
    def numbers(self) -> dict[str, float]:
        return {name: float(value) for name, value in self.values.items() if np.ndim(value) == 0}

    @property
    def arrays(self) -> dict[str, Floats]:
        return {name: np.asarray(value) for name, value in self.values.items() if np.ndim(value) > 0}


@dataclass(frozen=True)
class Explanation:
    """One solution, laid open; `lines` are what was computed in turn, `found` is what came out.

    explanation                        # shows the table
    explanation[0]["Jacobian"]         # the matrix of the first iteration
    explanation.to_latex(), explanation.save("step.html"), explanation.plot()
    """

    title: str
    equations: tuple[Equation, ...]
    lines: tuple[Line, ...] = ()
    found: Mapping[str, Value] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the entries of each quantity: of a vector, or of the rows of a matrix."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the columns of each matrix."""
    notes: tuple[str, ...] = ()
    parts: tuple[Explanation, ...] = ()
    """Solutions that follow one another, such as those of positions, velocities and accelerations."""

    # lines

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, k: int) -> Mapping[str, Value]:
        """The quantities of a line."""
        return self.lines[k].values

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    @property
    def norms(self) -> Floats:
        """The sizes of the residual, iteration by iteration."""
        return np.array([line.numbers["norm"] for line in self.lines if "norm" in line.values])

    @property
    def every(self) -> tuple[Explanation, ...]:
        """This one if it has lines or results, and its parts."""
        own = (self,) if self.lines or self.found else ()
        return own + tuple(each for part in self.parts for each in part.every)

    # views

    def __repr__(self) -> str:
        from .writing import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .writing import as_html

        return as_html(self)

    def to_frame(self) -> DataFrame:
        """One row for each line; the entries of vectors are columns of their own, named as in the model."""
        import pandas as pd

        rows = []
        for line in self.lines:
            row: dict[str, Any] = {"": line.name, **line.numbers}
            for name, array in line.arrays.items():
                if array.ndim == 1:
                    entries = self.entries(name, array.size)
                    row |= {f"{name}[{entry}]": value for entry, value in zip(entries, array, strict=True)}
            rows.append(row)
        return pd.DataFrame(rows).set_index("")

    def to_latex(self) -> str:
        """A worksheet for LaTeX: equations, the table, and every matrix and vector. Needs amsmath and graphicx."""
        from .latex_worksheet import as_latex

        return as_latex(self)

    def save(self, path: str | Path) -> Path:
        """The worksheet as a file: .html, .tex or .txt."""
        from ...io.files import write_text
        from .latex_worksheet import latex_document
        from .writing import page, whole_text

        path = Path(path)
        writers = {".html": page, ".htm": page, ".tex": latex_document, ".txt": whole_text}
        if path.suffix.lower() not in writers:
            raise ModelError(f"{path} is not written: a worksheet is an .html, a .tex or a .txt file.")
        return write_text(path, writers[path.suffix.lower()](self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """How the residual falls, iteration by iteration, on a logarithmic scale."""
        from ...draw.figure import axes_or_new

        ax = axes_or_new(ax, 6.0, 4.0)
        shown = [each for each in self.every if each.norms.size > 1]
        if not shown:
            raise ModelError(f"{self.title}: there is no iteration to plot.")
        for each in shown:
            ax.semilogy(range(each.norms.size), np.maximum(each.norms, 1e-300), "o-", label=each.title)
        ax.set(
            xlabel="iteration", ylabel="norm of the residual", title=shown[0].title if len(shown) == 1 else ""
        )
        ax.set_xticks(range(max(each.norms.size for each in shown)))
        if len(shown) > 1:
            ax.legend()
        return ax

    # names

    def entries(self, quantity: str, size: int) -> tuple[str, ...]:
        """The names of the entries of a quantity, or their numbers."""
        names = self.names.get(quantity, ())
        return names if len(names) == size else tuple(str(i + 1) for i in range(size))
