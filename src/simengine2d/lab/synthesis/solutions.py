"""What synthesis returns: linkages as ordinary models, with what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analyses.kinematics.kinematics import kinematics
from ...answer import Part, PlottedAnswer, Rows
from ...errors import counted
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from .linkage_models import model_of
from .linkage_types import LinkageType
from .targets import FUNCTION, POSES, SynthesisTarget

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BETWEEN = 30  # times of a run between two positions, at least


@dataclass(frozen=True, repr=False)
class SynthesizedLinkage(PlottedAnswer):
    """A linkage that was found, with its dimensions and its errors."""

    _kind: LinkageType
    parameters: dict[str, float]
    sides: tuple[int, ...]
    """Of each dyad, on which side of its diagonal it is assembled: 1 left, -1 right."""
    inputs: Floats
    """The crank's angle at each position, in one go."""
    target: SynthesisTarget
    motion: str
    """What its links do, such as "crank-rocker"."""
    transmission: float
    """The least transmission angle on the way, from 0 to pi/2."""
    defects: list[str] = field(default_factory=list)
    offset: float = 0.0
    """Angle of the led plane against its link."""
    full_turn: bool = False
    """Whether a run takes the crank all around."""

    @property
    def type(self) -> str:
        return self._kind.name

    @property
    def is_good(self) -> bool:
        """Whether it goes through all positions in order, in one piece."""
        return not self.defects

    def model(self, *, speed: float | None = None) -> Model:
        """The linkage as a model. Its motor turns at `speed`; by default it takes one second from first to last."""
        speed = self._span if speed is None else speed
        values = self.parameters | {"crank_angle": float(self.inputs[0])}
        return model_of(self._kind, values, self.sides, speed=speed)

    def run(self) -> Results:
        """Kinematics of the model from the first position to the last, of a closed path a full turn.

        A dead point on the way raises SingularityError.
        """
        fine = np.linspace(0.0, 1.0, BETWEEN * len(self.inputs))
        fractions = self._fractions()
        times = np.concatenate([fractions[(fractions >= 0.0) & (fractions <= 1.0)], fine])
        return kinematics(self.model(speed=self._span), t_eval=np.unique(times), on_singular="raise")

    @property
    def _span(self) -> float:
        """How far the crank turns in a run."""
        way = float(self.inputs[-1] - self.inputs[0])
        return (2 * pi if way >= 0.0 else -2 * pi) if self.target.closed or self.full_turn else way

    def _fractions(self) -> Floats:
        """The parts of a run after which the positions are reached."""
        return (self.inputs - self.inputs[0]) / self._span

    def errors(self, results: Results | None = None) -> Floats:
        """The distance from the target in each position, by a full run of the model: lengths, of a function angles.

        nan for positions that are not on the way from the first to the last.
        """
        results = self.run() if results is None else results
        fractions = self._fractions()
        at = np.minimum(np.searchsorted(results.t, fractions), len(results.t) - 1)
        errors = self._errors_at(results, at)
        return np.where(np.abs(results.t[at] - fractions) < 1e-9, errors, np.nan)

    def _errors_at(self, results: Results, at: np.ndarray) -> Floats:
        rows = self.target.rows
        if self.target.kind == FUNCTION:
            output = self._output(results)[at]
            return np.abs(output - output[0] - (rows[:, 0] - rows[0, 0]))
        link = self._kind.tracer
        x, y = results[f"{link}.P.x"][at], results[f"{link}.P.y"][at]
        errors = np.hypot(x - rows[:, 0], y - rows[:, 1])
        if self.target.kind == POSES:
            turned = results[f"{link}.phi"][at] + self.offset - rows[:, 2]
            errors = np.hypot(errors, self.target.size * np.abs(np.angle(np.exp(1j * turned))))
        return errors

    def _output(self, results: Results) -> Floats:
        link = self._kind.output
        if link != "slider":
            return results[f"{link}.phi"]
        angle = self.parameters["guide_angle"]
        return np.cos(angle) * results["slider.x"] + np.sin(angle) * results["slider.y"]

    @cached_property
    def error(self) -> float:
        """The sum of the squares of the errors, as papers on synthesis count it."""
        return float((self.errors() ** 2).sum())

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {value:.5g}" for name, value in self.parameters.items())
        state = f"defects: {', '.join(self.defects)}" if self.defects else "no defects"
        return f"{self.type}, {self.motion}, {state}; {numbers}"

    def row(self) -> list[str]:
        lengths = [
            f"{value:.5g}" for name, value in self.parameters.items() if self._kind.kinds[name] == "length"
        ]
        angle = f"{np.degrees(self.transmission):.1f}°"
        return [self.motion, ", ".join(lengths), angle, ", ".join(self.defects) or "none"]

    def _parts(self) -> Iterator[Part]:
        yield f"{self.type}, {self.motion}"
        yield f"defects: {', '.join(self.defects) or 'none'}"
        yield Rows(
            ["parameter", "value"], [[name, f"{value:.8g}"] for name, value in self.parameters.items()]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """The linkage in its positions, with the path of its point and the target."""
        from .pictures import plot_linkages

        return plot_linkages([self], self.target, ax)


@dataclass(frozen=True, repr=False)
class SynthesizedLinkages(PlottedAnswer):
    """All linkages that were found, those without defects first."""

    title: str
    target: SynthesisTarget
    linkages: list[SynthesizedLinkage]

    def __len__(self) -> int:
        return len(self.linkages)

    def __iter__(self) -> Iterator[SynthesizedLinkage]:
        return iter(self.linkages)

    def __getitem__(self, i: int) -> SynthesizedLinkage:
        return self.linkages[i]

    @property
    def good(self) -> list[SynthesizedLinkage]:
        """Those without defects."""
        return [linkage for linkage in self.linkages if linkage.is_good]

    def rows(self) -> list[list[str]]:
        """The table: number, motion, lengths, least transmission angle, defects."""
        return [[str(i), *linkage.row()] for i, linkage in enumerate(self.linkages)]

    def _head(self) -> str:
        return f"{self.title}: {counted(len(self), 'linkage')}, {len(self.good)} without defects"

    def __str__(self) -> str:
        lines = [
            f"{i}: {motion}, {lengths}; transmission {angle}; defects: {defects}"
            for i, motion, lengths, angle, defects in self.rows()
        ]
        return "\n".join([self._head(), *lines])

    def _parts(self) -> Iterator[Part]:
        yield self._head()
        heads = ["", "motion", "lengths", "least transmission angle", "defects"]
        yield Rows(heads, self.rows(), 5)

    def plot(self, ax: Axes | None = None, *, most: int = 6) -> Axes:
        """The first `most` linkages over each other in their first position, their paths, and the target."""
        from .pictures import plot_linkages

        return plot_linkages(self.linkages[:most], self.target, ax)


@dataclass(frozen=True, repr=False)
class SynthesizedModel(PlottedAnswer):
    """A model of a user with the values that were found."""

    _model: Model
    parameters: dict[str, float]
    target: SynthesisTarget
    output: str
    differences: Floats
    """To the target, in all its positions and coordinates."""
    defects: list[str] = field(default_factory=list)

    is_good = True

    def model(self) -> Model:
        """The model, with the values filled in."""
        return self._model

    @property
    def error(self) -> float:
        """The sum of the squares of the differences."""
        return float((self.differences**2).sum())

    def row(self) -> list[str]:
        values = ", ".join(f"{name} {value:.5g}" for name, value in self.parameters.items())
        return [self._model.name, values, "", "none"]

    def __str__(self) -> str:
        return f"{self._model.name}: {self.row()[1]}; error {self.error:.4g}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """What was asked for, and what the model does."""
        from .pictures import plot_model

        return plot_model(self, ax)


@dataclass(frozen=True, repr=False)
class SearchedLinkages(PlottedAnswer):
    """Linkages that come close to a target, the best first. The error is the sum of squared distances."""

    title: str
    target: SynthesisTarget
    linkages: list[Any]

    def __len__(self) -> int:
        return len(self.linkages)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.linkages)

    def __getitem__(self, i: int) -> Any:
        return self.linkages[i]

    @property
    def best(self) -> Any:
        """The linkage with the least error."""
        return self.linkages[0]

    def model(self) -> Model:
        """The best linkage as a model."""
        return self.best.model()

    @property
    def error(self) -> float:
        """That of the best."""
        return self.best.error

    def rows(self) -> list[list[str]]:
        """The table: number, error, motion, lengths, least transmission angle."""
        return [[str(i), f"{each.error:.4g}", *each.row()[:3]] for i, each in enumerate(self.linkages)]

    def __str__(self) -> str:
        lines = [f"{i}: error {error}, {', '.join(more)}" for i, error, *more in self.rows()]
        return "\n".join([self.title, *lines])

    def _parts(self) -> Iterator[Part]:
        yield self.title
        yield Rows(["", "error", "motion", "lengths", "least transmission angle"], self.rows(), 5)

    def plot(self, ax: Axes | None = None, *, most: int = 3) -> Axes:
        """The first `most` over each other in their first position, their paths, and the target."""
        from .pictures import plot_linkages

        if isinstance(self.best, SynthesizedModel):
            return self.best.plot(ax)
        return plot_linkages(self.linkages[:most], self.target, ax)


def sorted_by_quality(linkages: Sequence[SynthesizedLinkage]) -> list[SynthesizedLinkage]:
    """Without defects first, then those that transmit forces best."""
    return sorted(linkages, key=_badness)


def _badness(linkage: SynthesizedLinkage) -> tuple[Any, ...]:
    return len(linkage.defects), -round(linkage.transmission, 9)
