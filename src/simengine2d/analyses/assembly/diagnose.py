"""Diagnosis: mobility, dependent constraints by name, and the free motions in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...answer import Answer, PlottedAnswer
from ...errors import counted, listed
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.rank import Rank, free_motions, rank_of_rows
from ...system.system import System
from .assemble import Assembly, assemble
from .closure import close, coordinate_scale

ISOLATED = "The joints close in this pose only"


@dataclass(frozen=True, repr=False)
class DependentSet(Answer):
    """Rows that restrict the same motion. `permanent`: in every pose, not only this one."""

    rows: list[int]
    names: list[str]
    permanent: bool

    def __str__(self) -> str:
        when = "always" if self.permanent else "in this pose only"
        return f"{', '.join(self.names)} restrict the same motion ({when})"


@dataclass(frozen=True, repr=False)
class Diagnosis(PlottedAnswer):
    """What the constraints of a mechanism allow."""

    model: Model
    coordinates: int
    equations: int
    rank: int
    dependent: list[DependentSet]
    free: list[str]
    """Each free motion in words."""
    order: list[int]
    """Rows in the order of examination: joints first, drivers last."""
    motions: Floats
    """The free motions as columns over the coordinates."""
    notes: list[str]
    isolated: bool = False
    """Whether the joints close in this pose only: the free motions are of first order and lead nowhere."""

    @property
    def mobility_by_count(self) -> int:
        """Gruebler's count: 3 bodies - equations."""
        return self.coordinates - self.equations

    @property
    def mobility(self) -> int:
        """The actual mobility: coordinates - rank."""
        return self.coordinates - self.rank

    @property
    def redundant(self) -> int:
        """The number of equations that are not needed."""
        return self.equations - self.rank

    @property
    def singular(self) -> bool:
        """Whether this pose has fewer independent constraints than the poses around it."""
        return any(not group.permanent for group in self.dependent)

    @property
    def singular_sentence(self) -> str:
        return " ".join(f"{group}." for group in self.dependent if not group.permanent)

    def __str__(self) -> str:
        lines = [
            f"{self.model.name}: {counted(self.coordinates // 3, 'body', 'bodies')}, "
            f"{self.coordinates} coordinates, "
            f"{self.equations} constraint equations",
            f"mobility {self.mobility} (by count {self.mobility_by_count}, "
            f"{counted(self.redundant, 'redundant equation')})",
        ]
        lines += [f"free: {motion}" for motion in self.free]
        lines += [f"dependent: {group}" for group in self.dependent]
        if any(group.permanent for group in self.dependent):
            lines.append(
                "Redundant constraints are legal: the motion is right, but the reactions of the dependent joints "
                "are not unique. To make them unique, release one of the named equations, for example by a "
                "PinSlot instead of a Revolute, or an AbsoluteY instead of a Translational joint."
            )
        if self.isolated:
            lines.append(f"{ISOLATED}: what is free to first order leads nowhere.")
        elif self.singular:
            lines.append(
                "This is a singular pose (a dead point or a change point); most other poses are not."
            )
        return "\n".join(lines + self.notes)


def diagnose(model: Model | Assembly, t: float = 0.0) -> Diagnosis:
    """Mobility by count and by rank, every dependent set of constraints, every free motion, at the assembled pose."""
    assembly = model if isinstance(model, Assembly) else assemble(model, t)
    system = assembly.system
    order = _joints_first(system)
    here = _rank(system, assembly.t, assembly.q, order)
    nearby = _nearby_rank(system, assembly, here, order)
    motions = free_motions(_scaled_jacobian(system, assembly.t, assembly.q), here.rank)
    return Diagnosis(
        system.model,
        system.n,
        system.m,
        here.rank,
        _dependent_sets(system, here, nearby),
        [in_words(system, assembly.q, coordinate_scale(system) * motion) for motion in motions.T],
        order,
        coordinate_scale(system)[:, None] * motions,
        assembly.notes,
        nearby is None,
    )


def _nearby_rank(system: System, assembly: Assembly, here: Rank, order: list[int]) -> Rank | None:
    """The highest rank in poses around this one; None where it could move to first order, but there are none."""
    if not here.dependent:
        return here
    nearby, alone = here, _motions_of_joints(system, assembly.t, assembly.q).shape[1] > 0
    for q in nearby_poses(system, assembly.t, assembly.q):
        nearby, alone = max(nearby, _rank(system, assembly.t, q, order), key=lambda found: found.rank), False
        if nearby.rank > here.rank:
            break
    return None if alone else nearby


def _joints_first(system: System) -> list[int]:
    drivers = set(system.driver_rows.tolist())
    return [i for i in range(system.m) if i not in drivers] + sorted(drivers)


def _scaled_jacobian(system: System, t: float, q: Floats) -> Floats:
    return system.Phi_q(t, q) * coordinate_scale(system)


def _rank(system: System, t: float, q: Floats, order: list[int]) -> Rank:
    return rank_of_rows(_scaled_jacobian(system, t, q), order)


def undriven_mobility(system: System, t: float) -> int | None:
    """Mobility of the mechanism without its drivers; None if it does not close even then."""
    weights = _without_drivers(system)
    closure = close(system, t, system.drawn_q, weights)
    if not closure.closed:
        return None
    return system.n - rank_of_rows(_scaled_jacobian(system, t, closure.q)[weights > 0.0]).rank


def _without_drivers(system: System) -> Floats:
    weights = np.ones(system.m)
    weights[system.driver_rows] = 0.0
    return weights


def _motions_of_joints(system: System, t: float, q: Floats) -> Floats:
    """What the joints leave free to first order, without drivers; a column for each motion."""
    undriven = _scaled_jacobian(system, t, q)[_without_drivers(system) > 0.0]
    return free_motions(undriven, rank_of_rows(undriven).rank)


def nearby_poses(
    system: System, t: float, q: Floats, sizes: tuple[float, ...] = (0.1, 0.3, 1.0)
) -> Iterator[Floats]:
    """Other poses of the same mechanism without its drivers, at these distances from this one, in radians of a turn."""
    weights, scale = _without_drivers(system), coordinate_scale(system)
    motions = _motions_of_joints(system, t, q)
    random = np.random.default_rng(1)
    for size in sizes * 6:
        push = motions @ random.standard_normal(motions.shape[1])
        largest = np.abs(push).max(initial=0.0)
        if largest == 0.0:
            return
        step = size * system.length / largest
        closure = close(system, t, q + scale * push * step, weights)
        went = np.abs((closure.q - q) / scale).max()
        if closure.closed and went > 0.2 * step * largest:  # it did not fall back to where it came from
            yield closure.q


def _dependent_sets(system: System, here: Rank, nearby: Rank | None) -> list[DependentSet]:
    """The sets of the nearby pose are permanent; additional ones belong to this pose, smallest first."""
    if nearby is None:
        return [_named(system, row, partners, False) for row, partners in here.dependent.items()]
    permanent = [_named(system, row, partners, True) for row, partners in nearby.dependent.items()]
    found_here = sorted(here.dependent.items(), key=lambda item: (item[0] in nearby.dependent, len(item[1])))
    passing = found_here[: len(here.dependent) - len(nearby.dependent)]
    return permanent + [_named(system, row, partners, False) for row, partners in passing]


def _named(system: System, row: int, partners: list[int], permanent: bool) -> DependentSet:
    rows = [*partners, row]
    return DependentSet(rows, names_of_rows(system, rows), permanent)


def names_of_rows(system: System, rows: list[int]) -> list[str]:
    """`A` if all equations of joint A are meant, else `A.x`."""
    joint_of = [name for name, _ in system.rows]
    names = []
    for i in rows:
        whole = all(k in rows for k, name in enumerate(joint_of) if name == joint_of[i])
        names.append(joint_of[i] if whole else system.row_names[i])
    return list(dict.fromkeys(names))


def in_words(system: System, q: Floats, motion: Floats) -> str:
    """`crank turns about (0, 0), slider moves along (1, 0)`."""
    rates = motion.reshape(-1, 3)
    poses = q.reshape(-1, 3)
    largest = max(np.abs(rates[:, :2]).max(), np.abs(rates[:, 2]).max() * system.length)
    parts = []
    for body, (x, y, _), (vx, vy, omega) in zip(system.bodies, poses, rates, strict=True):
        speed = np.hypot(vx, vy)
        if max(speed, abs(omega) * system.length) < 1e-7 * largest:
            continue
        if abs(omega) * system.length > 1e-6 * speed:
            # the instantaneous center: r - v / omega turned by 90 degrees
            parts.append(f"{body.name} turns about ({_rounded(x - vy / omega)}, {_rounded(y + vx / omega)})")
        else:
            parts.append(f"{body.name} moves along ({_rounded(vx / speed)}, {_rounded(vy / speed)})")
    return listed(parts, 6)


def _rounded(value: float) -> str:
    return f"{0.0 if abs(value) < 5e-7 else value:.4g}"
