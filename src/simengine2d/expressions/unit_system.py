"""The units in which a model is written: `units: {length: mm, angle: deg, mass: g, force: kN}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypedDict

import numpy as np

from ..errors import ModelError, listed, unknown
from .units import UNITS, Dimension

NOTHING, MASS, LENGTH, TIME, ANGLE = (0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
FORCE, TORQUE = (1, 1, -2, 0), (1, 2, -2, 0)
BASES: dict[str, Dimension] = {"length": LENGTH, "angle": ANGLE, "mass": MASS, "force": FORCE, "time": TIME}
POWER, VELOCITY, ACCELERATION, SPIN = (1, 2, -3, 0), (0, 1, -1, 0), (0, 1, -2, 0), (0, 0, -1, 1)
IN_SI: dict[str, Dimension] = {
    "1": NOTHING,
    "s": TIME,
    "kg": MASS,
    "kg m²": (1, 2, 0, 0),
    "m": LENGTH,
    "1/m": (0, -1, 0, 0),
    "m²": (0, 2, 0, 0),
    "rad": ANGLE,
    "m/s": VELOCITY,
    "rad/s": SPIN,
    "m/s²": ACCELERATION,
    "rad/s²": (0, 0, -2, 1),
    "N": FORCE,
    "N m": TORQUE,
    "N/m": (1, 0, -2, 0),
    "J": TORQUE,
    "W": POWER,
}
"""What SI units measure."""
RAISED = {2: "²", 3: "³"}


class UnitNames(TypedDict, total=False):
    """The keywords of a unit system."""

    length: str
    angle: str
    mass: str
    force: str
    time: str


class ShownUnit(NamedTuple):
    """A unit for readers, and how much one of it is in SI units."""

    name: str
    factor: float = 1.0

    def of(self, value: Any) -> Any:
        """A number or an array of SI units in this unit."""
        return value if self.factor == 1.0 else np.asarray(value) / self.factor

    def text(self, value: float, digits: str = ".4g") -> str:
        """`12.5 mm`"""
        return f"{self.of(value):{digits}} {self.name}"


@dataclass(frozen=True)
class UnitSystem:
    """A unit for each of five quantities; those that are not named are in SI units and radians. Time is in seconds."""

    length: str = "m"
    angle: str = "rad"
    mass: str = "kg"
    force: str = "N"
    time: str = "s"

    def __post_init__(self) -> None:
        problems = []
        for field in fields(self):
            given, right = getattr(self, field.name), units_of(field.name)
            if given not in right:
                problems.append(f"units: {field.name} is {given!r}; write one of {listed(right)}.")
        if problems:
            raise ModelError(problems)

    @property
    def given(self) -> dict[str, str]:
        """The units that differ from the default, as in a file; all of them, where none does."""
        usual = asdict(UnitSystem())
        units: dict[str, str] = asdict(self)
        return {name: unit for name, unit in units.items() if unit != usual[name]} or units

    @cached_property
    def is_coherent(self) -> bool:
        """Whether products of bare numbers are right: angles in radians, forces in masses times accelerations."""
        mass, length, force = (UNITS[unit].factor for unit in (self.mass, self.length, self.force))
        return self.angle == "rad" and force == mass * length

    @property
    def in_words(self) -> str:
        """`mm, deg, g, kN, s`"""
        return ", ".join(asdict(self).values())

    @property
    def counts_radians(self) -> bool:
        return self.angle == "rad"

    def powers(self, dimension: Dimension) -> dict[str, float]:
        """The units of a dimension, with their powers. What has a time below its mass is written with a force."""
        mass, length, time, angle = dimension
        force = mass if time < 0 < mass else 0
        powers = {
            self.force: force,
            self.mass: mass - force,
            self.length: length - force,
            self.angle: angle,
            self.time: time + 2 * force,
        }
        return {unit: power for unit, power in powers.items() if power}

    def factor(self, dimension: Dimension) -> float:
        """How much one of its units is in SI units."""
        return self.scaled(1.0, dimension)

    def scaled(self, value: float, dimension: Dimension) -> float:
        """A number of these units in SI units; decimal factors are exact, as if the SI number had been written."""
        exact, factor = Fraction(repr(float(value))), 1.0
        for unit, power in self.powers(dimension).items():
            part = UNITS[unit].factor
            if isinstance(part, Fraction) and int(power) == power:
                exact *= part ** int(power)
            else:
                factor *= float(part) ** power
        return float(exact) * factor

    def shown(self, unit: str) -> ShownUnit:
        """What readers see instead of an SI unit: mm/s² for m/s²; of other words, such as "", themselves."""
        dimension = IN_SI.get(unit)
        if dimension is None or self.powers(dimension) == SI.powers(dimension):
            return ShownUnit(unit)
        return ShownUnit(self.name(dimension), self.factor(dimension))

    def name(self, dimension: Dimension) -> str:
        """`kN mm`, `mm/s²`, `deg/s`; "1" for a number."""
        powers = self.powers(dimension)
        above = [_raised(unit, power) for unit, power in powers.items() if power > 0]
        below = [_raised(unit, -power) for unit, power in powers.items() if power < 0]
        return " ".join(above or ["1"]) + "".join(f"/{part}" for part in below)


def _raised(unit: str, power: float) -> str:
    return unit + ("" if power == 1 else RAISED.get(power, f"^{power:g}"))  # type: ignore[call-overload]


def factor_of(name: str) -> float:
    """How much a unit such as `kN mm` or `mm/s²` is in SI units."""
    above, *below = name.split("/")
    parts = [(word, 1) for word in above.split()] + [(word, -1) for word in below]
    raised = {sign: power for power, sign in RAISED.items()}
    factor = 1.0
    for word, sign in parts:
        unit = word.rstrip("".join(raised))
        if unit != "1":
            factor *= float(UNITS[unit].factor) ** (sign * raised.get(word[len(unit) :], 1))
    return factor


def units_of(base: str) -> list[str]:
    """The units of a quantity. A run is asked for in seconds everywhere, so time has no other."""
    if base == "time":
        return ["s"]
    return [name for name, unit in UNITS.items() if unit.dimension == BASES[base]]


SI = UnitSystem()


def as_unit_system(given: Any) -> UnitSystem | None:
    """The units of a model as they are given: a mapping, or none."""
    if given is None or isinstance(given, UnitSystem):
        return given
    if not isinstance(given, Mapping):
        raise ModelError(
            f"units is {given!r}; write a mapping such as {{length: mm, angle: deg, force: kN}}."
        )
    for name in given:
        if name not in BASES:
            raise ModelError(
                f"units has no quantity '{name}'. {unknown('quantity', str(name), BASES, plural='quantities')}"
            )
    return UnitSystem(**given)
