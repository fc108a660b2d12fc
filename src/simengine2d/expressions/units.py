"""Units after numbers: `25 mm`, `3 kN/m`, `1500 rpm`, `2 kg m^2`. They are converted to SI and radians when read.

A unit is written right after its number: units in a row are multiplied; `*`, `/` and `^` belong to it where no space is
around them, so that `3 kN/m` is a stiffness and `3 kN / m` a force divided by a parameter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from .syntax import Number, TextPlace

Dimension = tuple[int, int, int, int]
"""Powers of mass, length, time and angle."""


class Unit(NamedTuple):
    """How much of the SI unit it is; irrational factors are floats."""

    factor: Fraction | float
    dimension: Dimension


def _unit(factor: str | float, mass: int = 0, length: int = 0, time: int = 0, angle: int = 0) -> Unit:
    return Unit(Fraction(factor) if isinstance(factor, str) else factor, (mass, length, time, angle))


UNITS: dict[str, Unit] = {
    "kg": _unit("1", 1), "g": _unit("1/1000", 1), "mg": _unit("1/1000000", 1), "lb": _unit("0.45359237", 1),
    "m": _unit("1", 0, 1), "mm": _unit("1/1000", 0, 1), "cm": _unit("1/100", 0, 1), "um": _unit("1/1000000", 0, 1),
    "km": _unit("1000", 0, 1), "in": _unit("0.0254", 0, 1), "ft": _unit("0.3048", 0, 1),
    "s": _unit("1", 0, 0, 1), "ms": _unit("1/1000", 0, 0, 1), "us": _unit("1/1000000", 0, 0, 1),
    "min": _unit("60", 0, 0, 1), "h": _unit("3600", 0, 0, 1), "Hz": _unit("1", 0, 0, -1),
    "rad": _unit("1", 0, 0, 0, 1), "mrad": _unit("1/1000", 0, 0, 0, 1), "deg": _unit(math.pi / 180, 0, 0, 0, 1),
    "rev": _unit(2 * math.pi, 0, 0, 0, 1), "rpm": _unit(2 * math.pi / 60, 0, 0, -1, 1),
    "N": _unit("1", 1, 1, -2), "mN": _unit("1/1000", 1, 1, -2), "kN": _unit("1000", 1, 1, -2),
    "MN": _unit("1000000", 1, 1, -2), "lbf": _unit("4.4482216152605", 1, 1, -2),
    "Nm": _unit("1", 1, 2, -2), "Nmm": _unit("1/1000", 1, 2, -2), "kNm": _unit("1000", 1, 2, -2),
    "J": _unit("1", 1, 2, -2), "kJ": _unit("1000", 1, 2, -2), "W": _unit("1", 1, 2, -3), "kW": _unit("1000", 1, 2, -3),
    "Pa": _unit("1", 1, -1, -2), "kPa": _unit("1000", 1, -1, -2), "MPa": _unit("1000000", 1, -1, -2),
    "GPa": _unit("1000000000", 1, -1, -2), "bar": _unit("100000", 1, -1, -2),
}  # fmt: skip


@dataclass(frozen=True)
class Quantity(Number):
    """A number that was written with units, in SI units."""

    names_of_units: tuple[str, ...]
    dimension: Dimension

    @cached_property
    def units(self) -> frozenset[str]:
        return frozenset(self.names_of_units)


def quantity(number: str, units: list[tuple[str, int]], place: TextPlace) -> Quantity:
    """A number times units to some powers; decimal factors are exact, as if the SI number had been written."""
    exact, factor = Fraction(number), 1.0
    dimension = [0, 0, 0, 0]
    for name, power in units:
        unit = UNITS[name]
        dimension = [total + power * part for total, part in zip(dimension, unit.dimension, strict=True)]
        if isinstance(unit.factor, Fraction):
            exact *= unit.factor**power
        else:
            factor *= unit.factor**power
    mass, length, time, angle = dimension
    names = tuple(name for name, _ in units)
    return Quantity(float(exact) * factor, names, (mass, length, time, angle), place=place)
