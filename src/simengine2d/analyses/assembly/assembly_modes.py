"""Assembly modes: all poses in which a mechanism closes at the values of its drivers, and how far each can be driven.

A four-bar linkage closes in two ways at a given crank angle, other mechanisms in more. The poses are found by mirroring
pairs of bodies (dyads) in known poses and by least squares from random poses; each is then driven in both directions
by kinematics, to its dead points or through a full turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi

import numpy as np

from ...answer import Answer, Part, PlottedAnswer, Rows
from ...errors import ModelError, SimEngineError, SingularityError, listed
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from ..kinematics.kinematics import assemble_driven, driven_solver
from ..kinematics.run import KinematicsRun
from ..pose_sequence import pose_sequence
from .assemble import Assembly, with_turns_of_drivers
from .pose_search import HeldSystem, PoseSearch
from .redrawn import with_initial_pose

FAR_OUT = 10.0  # lengths of the mechanism up to which a distance driver is followed


@dataclass(frozen=True, repr=False)
class DriverRange(Answer):
    """The values of a driver, from `low` to `high`, for which an assembly closes, and what limits it on each side."""

    low: float
    high: float
    low_end: str
    high_end: str
    change_points: list[float]
    """Values at which other branches meet this one."""

    @property
    def is_full_turn(self) -> bool:
        return self.low_end == self.high_end == "full turn"

    def __str__(self) -> str:
        if self.is_full_turn:
            return "full turn"
        return f"{self.low:.6g} ({self.low_end}) to {self.high:.6g} ({self.high_end})"


@dataclass(frozen=True, repr=False)
class AssemblyMode(PlottedAnswer):
    """One pose in which the mechanism closes."""

    q: Floats
    description: str
    """How it differs from the first: which dyads are mirrored, or which body is turned most."""
    range: DriverRange | None
    """The range of the driver from here; None in a singular pose, or without a driver."""
    source: Model

    @property
    def model(self) -> Model:
        """The model with this initial pose."""
        return with_initial_pose(self.source, self.q)

    @property
    def reach(self) -> str:
        """The range of the driver in words."""
        return "not followed" if self.range is None else str(self.range)

    def __str__(self) -> str:
        return f"{self.description}; {self.reach}"


@dataclass(frozen=True, repr=False)
class AssemblyModes(PlottedAnswer):
    """All assemblies found; the first is that of the initial pose."""

    model: Model
    t: float
    driver: str | None
    value: float | None
    modes: list[AssemblyMode]
    starts: int
    """Random starts in addition to the mirrored poses; the last ones found nothing new."""

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[AssemblyMode]:
        return iter(self.modes)

    def __getitem__(self, i: int) -> AssemblyMode:
        return self.modes[i]

    @property
    def motion(self) -> Results:
        """The poses one after the other, a second for each."""
        q = np.array([mode.q for mode in self.modes])
        return pose_sequence(System(self.model), q, str(self).splitlines()[0])

    def rows(self) -> list[list[str]]:
        """The table of the modes: number, description, range of the driver."""
        return [[str(i), mode.description, mode.reach] for i, mode in enumerate(self.modes)]

    def __str__(self) -> str:
        where = f"{self.driver} = {self.value:.6g}" if self.driver is not None else f"t = {self.t:g} s"
        ways = "1 way" if len(self) == 1 else f"{len(self)} ways"
        head = f"{self.model.name} closes in {ways} at {where} ({self.starts} random starts)"
        return "\n".join([head, *(f"{i}: {mode}" for i, mode in enumerate(self.modes))])

    def _parts(self) -> Iterator[Part]:
        yield str(self).splitlines()[0]
        yield Rows(["assembly", "pose", f"range of {self.driver}"], self.rows(), 3)


def assembly_modes(
    model: Model, t: float = 0.0, *, driver: str | None = None, ranges: bool = True, seed: int = 0
) -> AssemblyModes:
    """All poses in which the mechanism closes with its drivers at their values at time t, and the range of each.

    Every free motion needs a driver. The range is that of `driver` (by default the first), the others held: it ends at
    a dead point, or is a full turn. Change points are passed as in kinematics. `modes[i].model` is the model with that
    initial pose. The search uses mirrored and random poses until nothing new appears: every pose found is right, but
    there may be others. With `ranges=False` only the poses are computed.
    """
    if not isinstance(model, Model):
        raise ModelError(f"assembly_modes needs a Model, not {model!r}; read a file with load(path).")
    system = with_turns_of_drivers(System(model), t)
    first = assemble_driven(system, t, "assembly_modes")
    _refuse_freedom(system, first)
    row = _driver_row(system, driver)
    held = HeldSystem(system, t)
    search = PoseSearch(held, first.q, seed)
    search.run()
    modes = [
        AssemblyMode(
            q,
            search.dyads.differences(q) if i else "as drawn",
            _range(held, row, q) if ranges and row is not None else None,
            model,
        )
        for i, q in enumerate(search.poses)
    ]
    name, value = (
        (None, None) if row is None else (system.rows[row][0], float(system.functions_at(t)[row, 0]))
    )
    return AssemblyModes(model, t, name, value, modes, search.starts)


def _refuse_freedom(system: System, assembly: Assembly) -> None:
    try:
        driven_solver(system, assembly)
    except SingularityError:
        pass  # one pose among others


def _driver_row(system: System, name: str | None) -> int | None:
    rows = {system.rows[i][0]: int(i) for i in reversed(system.driver_rows)}
    if name is None:
        return int(system.driver_rows[0]) if rows else None
    if name not in rows:
        raise ModelError(f"there is no driver '{name}' in the model; the drivers are {listed(rows)}.")
    return rows[name]


# Ranges -------------------------------------------------------------------------------------------------


def _range(held: HeldSystem, row: int, q: Floats) -> DriverRange | None:
    """Drive in both directions from q."""
    value = float(held.values[row])
    try:
        up, high_end, above = _drive(held, row, q, 1.0)
        down, low_end, below = _drive(held, row, q, -1.0)
    except SingularityError:  # the pose itself is singular
        return None
    finally:
        held.hold()
    if high_end == low_end == "full turn":
        return DriverRange(value, value + 2 * pi, low_end, high_end, sorted(value + s for s in above))
    passed = sorted([value + s for s in above] + [value - s for s in below])
    return DriverRange(value - down, value + up, low_end, high_end, passed)


def _drive(held: HeldSystem, row: int, q: Floats, sign: float) -> tuple[float, str, list[float]]:
    """How far the driver goes in one direction, why it ends, and the change points passed."""
    system = held.hold(row, sign)
    turns = all(term.kind in ("angle", "direction") for term in system.rows[row][1].measure.terms)
    far = 2 * pi if turns else FAR_OUT * system.length
    start = Assembly(system, 0.0, q, np.zeros(q.size), 0, 0.0, np.zeros(q.size), [])
    run = KinematicsRun(system, driven_solver(system, start), np.array([0.0, far]), None)
    try:
        run.run()
    except SingularityError:
        return run.t, "dead point", run.change_points
    except SimEngineError as error:
        return run.t, str(error), run.change_points
    return far, "full turn" if turns else "no limit found", run.change_points
