"""Circuits and branches: which assemblies a mechanism reaches from each other without being taken apart.

A circuit is a curve of configurations (`configuration.py`). The input turns back at its dead points, which part the
circuit into branches. Two assemblies at the same input belong to one circuit if the curve leads through both.
T. R. Chase, J. A. Mirth, Circuits and branches of single-degree-of-freedom planar linkages, ASME Journal of Mechanical
Design 115 (1993) 223-230.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

import numpy as np

from ...answer import Answer, Part, PlottedAnswer, Rows
from ...errors import ModelError, UnsupportedError, counted
from ...model.measure import Measure
from ...model.model import Model
from ...model.si_values import units_of
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from ..assembly.assembly_modes import AssemblyModes, assembly_modes
from ..assembly.pose_search import PoseSearch
from ..inverse.gradients import Gradients
from ..pose_sequence import pose_sequence
from .configuration import LONGEST, ConfigurationCurve, ConfigurationSpace, CurvePoint, ReleasedSystem
from .free_motion import measure_of, shown, the_driver, unit_of_measure
from .transmission import driven_links

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STARTS = 40  # random poses from which more circuits are searched for
NEXT = 1e-6  # lengths between two change points that are the same


@dataclass(frozen=True, repr=False)
class Place(Answer):
    """A configuration at which something turns back, with the values of input and output there."""

    q: Floats
    input: float
    output: float | None = None

    def __str__(self) -> str:
        return f"input {self.input:.6g}" + ("" if self.output is None else f", output {self.output:.6g}")


@dataclass(frozen=True, repr=False)
class InputBranch(Answer):
    """A part of a circuit on which the input grows or falls all the way."""

    low: float
    high: float
    low_end: str
    high_end: str
    modes: list[int]
    """The assemblies on it, by their numbers in `assembly_modes`."""
    turns: int = 0
    """Turns of an input without dead points, after which everything repeats."""

    @property
    def is_full_turn(self) -> bool:
        return self.turns > 0

    def __str__(self) -> str:
        span = "full turn" if self.is_full_turn else f"{self.low:.6g} to {self.high:.6g}, {self.ends}"
        return f"{assemblies(self.modes)}: {span}"

    @property
    def ends(self) -> str:
        """What ends it on both sides."""
        return ", ".join(dict.fromkeys((self.low_end, self.high_end)))


@dataclass(repr=False)
class Circuit(Answer):
    """A closed or open curve of configurations."""

    _space: ConfigurationSpace
    _curve: ConfigurationCurve
    modes: list[int]
    branches: list[InputBranch]
    dead_points: list[Place]
    """Where the input turns back: it cannot drive the mechanism further."""
    change_points: list[Place]
    """Where another circuit crosses this one."""

    @property
    def q(self) -> Floats:
        """The configurations along the curve, one row each."""
        return np.array([point.q for point in self._curve.points])

    @property
    def input(self) -> Floats:
        """The values of the input along the curve."""
        return np.array([point.value for point in self._curve.points])

    @property
    def input_turns_fully(self) -> bool:
        return any(branch.is_full_turn for branch in self.branches)

    def toggles(self, output: Measure | str) -> list[Place]:
        """Where the output turns back: its limits, at which the input has the most force (toggle positions)."""
        measure = measure_of(self._space.system.model, output)
        gradients = Gradients(self._space.system.model, [measure])
        rate = lambda point: float(gradients.at(point.q)[0] * self._space.scale @ point.tangent)
        found = [point.q for point in self._zeros(rate)]
        return [Place(q, self._space.value(q), float(gradients.values(q)[0])) for q in found]

    def output(self, output: Measure | str) -> Floats:
        """The values of an output along the curve."""
        gradients = Gradients(self._space.system.model, [measure_of(self._space.system.model, output)])
        return np.array([gradients.values(q)[0] for q in self.q])

    def _zeros(self, g: Callable[[CurvePoint], float]) -> list[CurvePoint]:
        return zeros_along(self._space, self._curve, g)

    def __str__(self) -> str:
        ways = "full turn" if self.input_turns_fully else counted(len(self.dead_points), "dead point")
        return f"circuit with {assemblies(self.modes)}: {ways}"


def assemblies(modes: Sequence[int]) -> str:
    """`assembly 0`, `assemblies 1, 3`; of a branch that the first value of the input does not reach, `no assembly`."""
    return (
        f"assembl{'y' if len(modes) == 1 else 'ies'} {', '.join(map(str, modes))}" if modes else "no assembly"
    )


@dataclass(frozen=True, repr=False)
class Circuits(PlottedAnswer):
    """The circuits of a mechanism, found from all assemblies at the initial value of its input."""

    model: Model
    driver: str
    unit: str
    assemblies: AssemblyModes
    circuits: list[Circuit]

    def __len__(self) -> int:
        return len(self.circuits)

    def __iter__(self) -> Iterator[Circuit]:
        return iter(self.circuits)

    def __getitem__(self, i: int) -> Circuit:
        return self.circuits[i]

    def motion(self, circuit: int = 0) -> Results:
        """The configurations along a circuit, one after the other, through its dead points."""
        if not 0 <= circuit < len(self):
            count = counted(len(self), "circuit")
            raise ModelError(f"'{self.model.name}' has {count}, from 0; there is no circuit {circuit}.")
        q = self.circuits[circuit].q
        return pose_sequence(
            System(self.model), q, f"circuit {circuit} of '{self.model.name}', {len(q)} poses"
        )

    def rows(self) -> list[list[str]]:
        """The table: circuit, branch, its assemblies, range of the input, what ends it."""
        rows = []
        for i, circuit in enumerate(self.circuits):
            for branch in circuit.branches:
                rows.append([str(i), ", ".join(map(str, branch.modes)) or "-", *self._range(branch)])
        return rows

    def _range(self, branch: InputBranch) -> list[str]:
        if branch.is_full_turn:
            return ["full turn", "" if branch.turns == 1 else f"repeats after {branch.turns} turns"]
        low, high = (shown(value, self.unit, units_of(self.model)) for value in (branch.low, branch.high))
        return [f"{low} to {high}", branch.ends]

    def _title(self) -> str:
        what = f"{counted(len(self), 'circuit')} of {counted(len(self.assemblies), 'assembly', 'assemblies')}"
        return f"{what} of '{self.model.name}', input {self.driver}"

    def __str__(self) -> str:
        lines = [
            f"circuit {i}, {assemblies(branch.modes)}: {' '.join(self._range(branch))}".rstrip()
            for i, circuit in enumerate(self.circuits)
            for branch in circuit.branches
        ]
        return "\n".join([self._title(), *lines])

    def _parts(self) -> Iterator[Part]:
        yield self._title()
        yield Rows(["circuit", "assemblies", f"range of {self.driver}", "ends"], self.rows(), 4)

    def plot(self, ax: Axes | None = None, *, output: Measure | str | None = None) -> Axes:
        """Output against input: a line for each circuit, dead points and toggle positions marked.

        The output is by default the first link on a bearing that one other joint drives, else the last body.
        """
        from ...draw.linkage_plots import plot_circuits

        links = driven_links(self.model, System(self.model))
        default = links[0][0] if links else next(reversed(self.model.bodies))
        return plot_circuits(self, default if output is None else output, ax)


def circuits(model: Model, *, driver: str | None = None, seed: int = 0) -> Circuits:
    """The circuits of a mechanism, the range of its input on each branch, and the dead points in between.

    Of any mechanism whose drivers determine its motion. The input is `driver`, by default the first; others are held
    as at t = 0. All assemblies are searched for as by `assembly_modes`, and from each the curve of configurations is
    followed until it returns, through the dead points of the input.
    """
    system = System(model)
    name = the_driver(system, driver)
    assemblies = assembly_modes(model, driver=name, ranges=False, seed=seed)
    row = next(i for i, (owner, _) in enumerate(system.rows) if owner == name)
    held = ReleasedSystem(system, 0.0, row)
    found: list[Circuit] = []
    for i, mode in enumerate(assemblies):
        if not any(i in circuit.modes for circuit in found):
            circuit = _circuit(ConfigurationSpace(held, mode.q), assemblies, mode.q)
            if circuit is None and i == 0:
                raise UnsupportedError(
                    f"'{model.name}' is drawn in a pose that is singular even with its input {name} released, so that "
                    "its circuit is not unique. Begin at another value of the input."
                )
            found += [] if circuit is None else [circuit]
    for q in _elsewhere(held, assemblies, seed):
        if not any(arcs_at(circuit._space, circuit._curve, q) for circuit in found):
            space = ConfigurationSpace(held, q)
            circuit = _circuit(space, assemblies, space.unwound(q, assemblies[0].q))
            found += [] if circuit is None else [circuit]
    unit = unit_of_measure(model, measure_of(model, name))
    return Circuits(model, name, unit, assemblies, found)


def _elsewhere(held: ReleasedSystem, assemblies: AssemblyModes, seed: int) -> Iterator[Floats]:
    """Poses closed from random ones with the input free: some circuits are not reached at the input's first value."""
    search = PoseSearch(held, assemblies[0].q, seed)
    for _ in range(STARTS):
        q = held.closed(search.random_pose())
        if q is not None and not search.is_reversed(q):
            yield q


def _circuit(space: ConfigurationSpace, assemblies: AssemblyModes, q: Floats) -> Circuit | None:
    """The circuit through q; None where q is singular."""
    curve = space.follow(q, 1.0)
    if not curve.points:
        return None
    passes = {i: arcs for i, mode in enumerate(assemblies) if (arcs := arcs_at(space, curve, mode.q))}
    dead = zeros_along(space, curve, lambda point: point.rate)
    change = zeros_along(space, curve, lambda point: point.determinant)
    return Circuit(
        space,
        curve,
        sorted(passes),
        _branches(curve, dead, passes),
        [Place(point.q, point.value) for point in dead],
        [Place(point.q, point.value) for point in change],
    )


def _pairs(curve: ConfigurationCurve) -> Iterator[tuple[CurvePoint, CurvePoint]]:
    return zip(curve.points[:-1], curve.points[1:], strict=True)  # type: ignore[return-value]


def arcs_at(space: ConfigurationSpace, curve: ConfigurationCurve, q: Floats) -> list[float]:
    """Where the curve passes through q, in lengths of arc."""
    change = q - np.array([point.q for point in curve.points])
    change[:, 2::3] = 2.0 * np.sin(0.5 * change[:, 2::3])  # full turns make no difference
    near = np.linalg.norm(change / space.scale, axis=1) < 2.0 * LONGEST * space.length
    arcs = []
    for (a, b), is_near in zip(_pairs(curve), near[:-1], strict=True):
        if not is_near:
            continue
        there = space.reaches(q, a, b.arc - a.arc)
        if there is not None and a.arc - NEXT * space.length <= there.arc < b.arc - NEXT * space.length:
            arcs.append(there.arc)
    return arcs


def zeros_along(
    space: ConfigurationSpace, curve: ConfigurationCurve, g: Callable[[CurvePoint], float]
) -> list[CurvePoint]:
    """The points of a curve at which g changes its sign."""
    values = [g(point) for point in curve.points]
    zeros = []
    for (a, b), g_a, g_b in zip(_pairs(curve), values[:-1], values[1:], strict=True):
        if g_a * g_b < 0.0:
            zeros.append(space.zero_between(a, b, g))
        elif g_b == 0.0 and g_a != 0.0:
            zeros.append(b)
    return zeros


def _branches(
    curve: ConfigurationCurve, dead: list[CurvePoint], passes: dict[int, list[float]]
) -> list[InputBranch]:
    """The parts between dead points; those of a closed curve end where they began."""
    first, last = curve.points[0], curve.points[-1]
    if curve.closed and not dead:
        low, high = sorted((first.value, last.value))
        return [
            InputBranch(low, high, "full turn", "full turn", sorted(passes), round((high - low) / (2 * pi)))
        ]
    stops = [(point, "dead point") for point in dead]
    if curve.closed:
        span = last.arc - first.arc
        joined = [*stops, stops[0]]
        arcs = [point.arc for point in dead] + [dead[0].arc + span]
    else:
        joined = [(first, curve.ends[0]), *stops, (last, curve.ends[1])]
        span, arcs = 0.0, [point.arc for point, _ in joined]
    branches = []
    for i in range(len(joined) - 1):
        (a, a_end), (b, b_end) = joined[i], joined[i + 1]
        modes = [k for k, at in passes.items() if any(_inside(arc, arcs[i], arcs[i + 1], span) for arc in at)]
        lower, upper = sorted(((a.value, a_end), (b.value, b_end)))
        branches.append(InputBranch(lower[0], upper[0], lower[1], upper[1], sorted(modes)))
    return branches


def _inside(arc: float, low: float, high: float, span: float) -> bool:
    return low <= arc <= high or low <= arc + span <= high
