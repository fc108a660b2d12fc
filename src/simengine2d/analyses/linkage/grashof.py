"""Grashof's theorem: which links of a four-bar linkage, or of a slider-crank, can turn fully.

With the shortest link s, the longest l and the two others p, q,

    s + l < p + q    class I: the shortest link turns fully relative to all others
    s + l > p + q    class II: no link does
    s + l = p + q    special: all links come into line, at change points

R. L. Norton, Design of Machinery, section 2.15; C. R. Barker, A complete classification of planar four-bar linkages,
Mechanism and Machine Theory 20 (1985) 535-554. A slider-crank is the limit of endless ground and rocker, whose
difference is the offset e: with the shorter and the longer of crank and rod, s + |e| < l.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isclose, isfinite
from typing import TYPE_CHECKING

from ...answer import Part, PlottedAnswer, Rows
from ...errors import ModelError, UnsupportedError, listed
from ...expressions.unit_system import SI, UnitSystem
from ...model.model import Model
from ...model.si_values import units_of
from .loops import FourBarLengths, SliderCrankLengths, loops_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EQUAL = 1e-9  # relative difference of two sums of lengths that counts as none


@dataclass(frozen=True, repr=False)
class GrashofClass(PlottedAnswer):
    """The class of a loop, and the lengths it follows from."""

    lengths: FourBarLengths | SliderCrankLengths
    short_sum: float
    """s + l; of a slider-crank, s + |e|."""
    long_sum: float
    """p + q; of a slider-crank, the longer of crank and rod."""
    units: UnitSystem = SI
    """In which lengths are shown."""

    @property
    def kind(self) -> str:
        """ "I" where the shortest link turns fully, "II" where none does, "special" where links come into line."""
        if isclose(self.short_sum, self.long_sum, rel_tol=EQUAL):
            return "special"
        return "I" if self.short_sum < self.long_sum else "II"

    @property
    def type(self) -> str:
        """What the input and the output do, such as "crank-rocker"."""
        return self.lengths.type_in_class(self.kind)

    @property
    def transmission_range(self) -> tuple[float, float]:
        """Least and greatest transmission angle over the motion, from 0 to pi.

        Four-bar: cos mu = (b^2 + c^2 - f^2) / (2 b c) with the diagonal f, from |d - a| to d + a as far as it closes.
        Slider-crank: mu = pi/2 - asin((r + |e|) / l) is the least, pi/2 the greatest or, where |e| > r, less.
        """
        return self.lengths.transmission_range()

    def __str__(self) -> str:
        return f"{self.lengths.name}: {self.sums}, class {self.kind}, {self.type}"

    @property
    def sums(self) -> str:
        """`5 < 6`"""
        sign = {"I": "<", "II": ">", "special": "="}[self.kind]
        short, long = map(self.units.shown("m").of, (self.short_sum, self.long_sum))
        return f"{short:.6g} {sign} {long:.6g}"

    def rows(self) -> list[list[str]]:
        """The table: each link with its length."""
        unit = self.units.shown("m")
        return [[name, f"{unit.of(length):.6g}"] for name, length in self.lengths.named()]

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        yield Rows(["link", "length"], self.rows())

    def plot(self, ax: Axes | None = None) -> Axes:
        """The two sums as bars: shortest and longest link, and the two others."""
        from ...draw.linkage_plots import plot_grashof

        return plot_grashof(self, ax)


def grashof(linkage: Model | Sequence[float]) -> GrashofClass:
    """The Grashof class of a four-bar linkage or of a slider-crank.

    Of a model with one such loop through the ground, or of lengths: four of a four-bar (input, coupler, output,
    ground), three of a slider-crank (crank, rod, offset).
    """
    if isinstance(linkage, Model):
        return _only(grashof_classes(linkage), linkage)
    lengths = [float(length) for length in linkage]
    if len(lengths) == 4:
        a, b, c, d = lengths
        return grashof_of(FourBarLengths(a, b, c, d))
    if len(lengths) == 3:
        r, rod, e = lengths
        return grashof_of(SliderCrankLengths(r, rod, e))
    raise ModelError(
        "grashof takes four lengths (input, coupler, output, ground) or three (crank, rod, offset), "
        f"not {len(lengths)}."
    )


def _only(classes: list[GrashofClass], model: Model) -> GrashofClass:
    if len(classes) == 1:
        return classes[0]
    if not classes:
        raise UnsupportedError(
            f"model '{model.name}' has no loop of four links with pins, nor a slider-crank, through the ground; "
            "Grashof's theorem is about these. circuits(model) says how far any mechanism can be driven."
        )
    names = listed(repr(each.lengths.name) for each in classes)
    raise UnsupportedError(
        f"model '{model.name}' has {len(classes)} such loops: {names}. linkage_summary(model).loops holds them all."
    )


def grashof_classes(model: Model) -> list[GrashofClass]:
    """Of every loop of a model, shown in its units."""
    return [grashof_of(loop, units_of(model)) for loop in loops_of(model)]


def grashof_of(lengths: FourBarLengths | SliderCrankLengths, units: UnitSystem = SI) -> GrashofClass:
    """The sums of a loop."""
    _check(lengths)
    if isinstance(lengths, SliderCrankLengths):
        short, long = sorted((lengths.crank, lengths.rod))
        return GrashofClass(lengths, short + abs(lengths.offset), long, units)
    s, p, q, l = sorted(length for _, length in lengths.named())  # noqa: E741
    return GrashofClass(lengths, s + l, p + q, units)


def _check(lengths: FourBarLengths | SliderCrankLengths) -> None:
    for name, length in lengths.named():
        if not isfinite(length) or (length <= 0.0 and name != "offset"):
            raise ModelError(f"the length of {name} is {length!r}; give a positive number.")
    if not lengths.closes():
        raise ModelError(f"{lengths.name} does not close: {lengths.gap_in_words()}.")
