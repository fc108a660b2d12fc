"""Energy and power of a motion.

    T = qd^T M qd / 2,      V = -sum m g . r + sum k (s - free)^2 / 2

    dT/dt = qd^T M qdd = qd^T QA - lam^T nu

The last term is the power of the drivers and of all joints that move in time; the others do no work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..answer import Answer, Part, PlottedAnswer, Rows, digits
from ..errors import UnsupportedError, counted, listed
from ..expressions.unit_system import SI, UnitSystem
from ..model.elements import Load, MeasureForce, Wrench
from ..model.si_values import units_of
from ..numerics.arrays import Floats
from ..system.system import System
from .channels import formula_along
from .force_history import forces_of

if TYPE_CHECKING:
    from .results import Results


NO_POWER = 1e-6  # change of the kinetic energy within a motion that means nothing
ROUNDING = 1e-14  # of a sum, relative to its largest value


class EnergyParts(NamedTuple):
    """Joule, one entry per time. `potential` is that of weight (zero at height zero), linear springs and formulas."""

    kinetic: Floats
    potential: Floats
    total: Floats


ENERGIES = tuple(f"energy.{part}" for part in EnergyParts._fields)
"""Channels of all bodies together."""


class Energy(EnergyParts, PlottedAnswer):
    """Kinetic, potential and total energy in joule, one entry per time."""

    t: Floats = np.empty(0)
    units: UnitSystem = SI
    """In which it shows itself."""
    __repr__ = Answer.__repr__

    def __str__(self) -> str:
        return f"energy at {counted(self.total.size, 'time')}: {listed(self._spans())}"

    def _spans(self) -> list[str]:
        joule = self.units.shown("J")
        return [
            f"{name} {joule.of(array.min()):.5g} to {joule.text(array.max(), '.5g')}"
            for name, array in self._arrays.items()
        ]

    @property
    def _arrays(self) -> dict[str, Floats]:
        return {name: array for name, array in self._asdict().items() if array.size}

    def _parts(self) -> Iterator[Part]:
        yield f"energy at {counted(self.total.size, 'time')}"
        joule = self.units.shown("J")
        rows = [[name, *map(digits, _spread(joule.of(array)))] for name, array in self._arrays.items()]
        yield Rows(
            ["energy", *(f"{word} {joule.name}" for word in ("first", "last", "lowest", "highest"))], rows
        )


def _spread(array: Floats) -> tuple[float, ...]:
    """First, last, lowest, highest."""
    return float(array[0]), float(array[-1]), float(array.min()), float(array.max())


class Power(NamedTuple):
    """Watt, one entry per time: of the kinetic energy, of all applied forces, of the drivers."""

    kinetic: Floats
    applied: Floats
    drivers: Floats


def energy(results: Results) -> Energy:
    """Kinetic and potential energy over time."""
    if results.columns_only:
        raise UnsupportedError(
            "these results come from a CSV file, which holds no masses; save them as .npz or .parquet."
        )
    system = _with_laws(results)
    motion = results.motion
    kinetic = 0.5 * motion.qd**2 @ system.masses
    mass, (g_x, g_y) = system.arrays.mass, system.resolved.gravity
    potential = -g_x * motion.q[:, 0::3] @ mass - g_y * motion.q[:, 1::3] @ mass
    for _, load in system.loads:
        if isinstance(load, MeasureForce) and load.formula is not None and load.by == 0:
            potential = potential + formula_along(results, load.formula)
    if any(law.is_linear for _, law in system.laws):
        for group, s in forces_of(results).springs():
            for stiffness, _, free in (force.law.numbers for force in group if force.law.is_linear):
                potential = potential + 0.5 * stiffness * (s - free) ** 2
    total = kinetic + potential
    if not np.all(np.isfinite(total)):
        t = motion.t[np.argmin(np.isfinite(total))]
        raise UnsupportedError(
            f"the energy at t = {t:g} s has no finite value: a potential has none there, or the numbers are too large."
        )
    answer = Energy(kinetic, potential, total)
    answer.t, answer.units = results.t, units_of(results.model)
    return answer


def known_energy(results: Results) -> Energy | None:
    """The energy, where all forces are known and it has a value at every time."""
    try:
        with np.errstate(all="ignore"):
            return energy(results)
    except UnsupportedError:
        return None


def power(results: Results) -> Power:
    """Power over time."""
    system = _with_laws(results)
    if results.lam is None:
        raise UnsupportedError(
            "the power of drivers needs their reactions, which these results do not hold. "
            "Run dynamics(model, t_end=...)."
        )
    forces, (_, _, qd, qdd, _) = forces_of(results), results.motion
    return Power((qd * qdd) @ system.masses, forces.applied_power(), forces.driver_power)


def power_balance(results: Results) -> float:
    """Largest |dT/dt - applied - drivers|, relative to the largest power of a body, of the forces or the drivers.

    A power that would change the kinetic energy by less than a millionth within the motion counts as rounding.
    """
    kinetic, forces, drivers = power(results)
    masses, span = results.system.masses, float(np.ptp(results.t)) if results.t.size else 0.0
    of_bodies = np.abs(results.qd * results.qdd) * masses
    steady = NO_POWER * masses * results.qd**2 / (span or 1.0)
    largest = max(float(np.max(np.abs(part), initial=0.0)) for part in (of_bodies, forces, drivers, steady))
    return float(np.max(np.abs(kinetic - forces - drivers), initial=0.0)) / (largest or 1.0)


def energy_drift(results: Results) -> float | None:
    """Largest change of the total energy relative to the energy exchanged; None where it need not be constant."""
    if results.t.size == 0 or not is_conservative(results.system):
        return None
    known = known_energy(results)
    if known is None:
        return None
    return _of_exchanged(float(np.max(np.abs(known.total - known.total[0]))), known)


def energy_gain(results: Results) -> float | None:
    """Largest rise of the total energy relative to the energy exchanged; None where something may supply it."""
    if results.t.size == 0 or not is_passive(results.system):
        return None
    known = known_energy(results)
    if known is None:
        return None
    return _of_exchanged(float(np.max(known.total - np.minimum.accumulate(known.total))), known)


def _of_exchanged(change: float, known: Energy) -> float | None:
    """A change of the total energy relative to the energy exchanged; where a mechanism rests, rounding is none."""
    exchanged = max(float(np.ptp(known.potential)), float(known.kinetic.max()))
    rounding = ROUNDING * float(np.abs(known.potential).max())
    return max(0.0, change - rounding) / exchanged if exchanged > 0.0 else None


def is_passive(system: System) -> bool:
    """As conservative, but for linear dampers, which take energy away."""
    if system.missing_law is not None or system.moving_rows.size:
        return False
    return all(_is_spring(load) or _is_damper(load) for _, load in system.loads)


def is_conservative(system: System) -> bool:
    """Nothing but weight, linear springs and potentials does work: no dampers, no other forces, nothing driven."""
    if system.missing_law is not None or system.moving_rows.size:
        return False
    return all(_is_spring(load) for _, load in system.loads)


def _is_spring(load: Load) -> bool:
    if isinstance(load, Wrench):
        return False
    if load.formula is not None:
        return load.by >= 0 and not load.law.reads_time
    return load.law.is_linear and load.law.numbers[1] == 0.0


def _is_damper(load: Load) -> bool:
    if isinstance(load, Wrench) or load.formula is not None:
        return False
    return load.law.is_linear and load.law.numbers[1] >= 0.0


def _with_laws(results: Results) -> System:
    """The system, where every force is known."""
    if results.system.missing_law is not None:
        raise UnsupportedError(results.system.missing_law)
    return results.system
