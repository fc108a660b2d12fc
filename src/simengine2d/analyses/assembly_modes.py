"""Assembly modes: all poses in which a mechanism closes at the values of its drivers, and how far each can be driven.

A four-bar linkage closes in two ways at a given crank angle, other mechanisms in more. The poses are found by mirroring
pairs of bodies (dyads) in the poses already known and by least squares from random poses; each is then driven both ways
by the walk of kinematics, to its dead points or through a full turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

from ..elements import Pair
from ..errors import AssemblyError, ModelError, SimEngineError, SingularityError, UnsupportedError, listed
from ..functions import as_function, pack
from ..joints.revolute import Revolute
from ..joints.translational import Translational
from ..model import Model
from ..system import System
from .assemble import Assembly, assemble
from .change_point import Clock
from .closure import close, coordinate_scale
from .kinematics import driven_rows
from .redrawn import redrawn
from .walk import Walk
from .whole_turns import count_turns

Floats = NDArray[np.float64]

SAME = 1e-6  # rad or lengths: poses nearer than this are one
FIRST_STARTS, STARTS_EACH, MOST_STARTS = (
    40,
    30,
    1000,
)  # random starts without anything new, after which it is enough
FAR_OUT = 10.0  # lengths of the mechanism that a driver of a distance is followed


@dataclass(frozen=True)
class DriverRange:
    """The values of a driver from `low` to `high` between which an assembly closes, and what ends it on each side."""

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


@dataclass(frozen=True)
class AssemblyMode:
    """One pose in which the mechanism closes."""

    q: Floats
    description: str
    """How it differs from the first: which dyads are mirrored, or which body is turned most."""
    range: DriverRange | None
    """How far the driver goes from here; None in a singular pose, or without a driver."""
    source: Model

    @property
    def model(self) -> Model:
        """The model drawn in this pose."""
        return redrawn(self.source, self.q)


@dataclass(frozen=True)
class AssemblyModes:
    """All assemblies that were found; the first is that of the drawn pose."""

    model: Model
    t: float
    driver: str | None
    value: float | None
    modes: list[AssemblyMode]
    starts: int
    """Random starts that were made beside the mirrored poses; the last ones found nothing new."""

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[AssemblyMode]:
        return iter(self.modes)

    def __getitem__(self, i: int) -> AssemblyMode:
        return self.modes[i]

    def rows(self) -> list[list[str]]:
        """The table of the modes: number, description, range of the driver."""
        return [
            [str(i), mode.description, "not followed" if mode.range is None else str(mode.range)]
            for i, mode in enumerate(self.modes)
        ]

    def __str__(self) -> str:
        where = f"{self.driver} = {self.value:.6g}" if self.driver is not None else f"t = {self.t:g} s"
        ways = "1 way" if len(self) == 1 else f"{len(self)} ways"
        head = f"{self.model.name} closes in {ways} at {where} ({self.starts} random starts)"
        return "\n".join([head, *(f"{i}: {text}; {reach}" for i, text, reach in self.rows())])

    __repr__ = __str__


def assembly_modes(
    model: Model, t: float = 0.0, *, driver: str | None = None, ranges: bool = True, seed: int = 0
) -> AssemblyModes:
    """All poses in which the mechanism closes with its drivers at their values of time t, and the range of each.

    Every free motion needs a driver. The range is that of `driver` (by default the first), the others held: it ends at
    a dead point, or is a full turn. Change points on the way are passed as kinematics does. `modes[i].model` is the
    model drawn in that pose. The search is by mirrored and random poses, repeated until nothing new appears: what it
    finds is right, but it cannot prove that nothing is missing. With `ranges=False` only the poses are found.
    """
    if not isinstance(model, Model):
        raise ModelError(f"assembly_modes needs a Model, not {model!r}; read a file with load(path).")
    system = System(model)
    system.refuse_velocity_rows("assembly_modes")
    count_turns(system, t)
    first = assemble(system, t)
    _refuse_freedom(system, first)
    row = _driver_row(system, driver)
    held = _Held(system, t)
    search = _Search(held, first.q, seed)
    search.run()
    modes = [
        AssemblyMode(
            q,
            search.dyads.differences(q) if i else "as drawn",
            _range(held, row, q) if ranges and row is not None else None,
            model,
        )
        for i, q in enumerate(search.found)
    ]
    name, value = (
        (None, None) if row is None else (system.rows[row][0], float(system.functions_at(t)[row, 0]))
    )
    return AssemblyModes(model, t, name, value, modes, search.starts)


def _refuse_freedom(system: System, assembly: Assembly) -> None:
    try:
        driven_rows(system, assembly)
    except SingularityError:
        pass  # a pose among others


def _driver_row(system: System, name: str | None) -> int | None:
    rows = {system.rows[i][0]: int(i) for i in reversed(system.driver_rows)}
    if name is None:
        return int(system.driver_rows[0]) if rows else None
    if name not in rows:
        raise ModelError(f"there is no driver '{name}' in the model; the drivers are {listed(rows)}.")
    return rows[name]


# Poses --------------------------------------------------------------------------------------------------


class _Held:
    """The system with every function of time held at its value at t, but for one row that may be driven."""

    def __init__(self, system: System, t: float) -> None:
        if any(system.moves_in_time(i) and system.rows[i][1].formula is not None for i in range(system.m)):
            raise UnsupportedError("assembly_modes cannot hold a Constraint that reads the time.")
        self.system, self.t = System(system.drawing), t
        self.values = system.functions_at(t)[:, 0]
        self.scale = coordinate_scale(system)
        self.hold()

    def hold(self, row: int | None = None, sign: float = 1.0) -> System:
        """Constants, and value + sign t in one row."""
        functions = [
            as_function(f"{value!r} {'+' if sign > 0.0 else '-'} t" if i == row else value)
            for i, value in enumerate(self.values.tolist())
        ]
        self.system.functions = functions
        self.system.arrays = self.system.arrays._replace(functions=pack(functions))
        self.clock = Clock(self.system, self.system.arrays, None, 1.0)
        return self.system

    def gaps(self, q: Floats) -> tuple[Floats, Floats]:
        """Errors of the rows as lengths, and their Jacobian by scaled coordinates."""
        Phi, J, _, _ = self.clock.right_sides(0.0, q, np.zeros(q.size))
        J = J * self.scale
        norms = np.linalg.norm(J, axis=1)
        norms[norms == 0.0] = 1.0
        return Phi / norms, J / norms[:, None]

    def closed(self, q: Floats) -> Floats | None:
        """The closed pose to which damped least squares lead from q, or None.

        (J^T J + damping I) dq = -J^T Phi
        """
        length, damping = self.system.length, 1e-3
        gaps, J = self.gaps(q)
        error = float(gaps @ gaps)
        for _ in range(60):
            if error <= (1e-7 * length) ** 2:
                return self.polished(q)
            step = -np.linalg.solve(J.T @ J + damping * np.eye(q.size), J.T @ gaps)
            step *= min(1.0, length / (float(np.abs(step).max()) or 1.0))
            trial = q + self.scale * step
            new_gaps, new_J = self.gaps(trial)
            new = float(new_gaps @ new_gaps)
            if new < error:
                q, gaps, J, error, damping = trial, new_gaps, new_J, new, max(0.1 * damping, 1e-12)
            else:
                damping *= 10.0
                if damping > 1e6:
                    return None
        return None

    def polished(self, q: Floats) -> Floats | None:
        closure = close(self.system, 0.0, q)
        return closure.q if closure.closed else None


class _Search:
    """Poses found so far, and the ways to more."""

    def __init__(self, held: _Held, first: Floats, seed: int) -> None:
        self.held, self.found, self.starts = held, [first], 0
        self.dyads = _Dyads(held.system, first)
        self.random = np.random.default_rng(seed)
        index = {body.name: i for i, body in enumerate(held.system.bodies)}
        self.guides = [
            (index.get(term.a.body, -1), index.get(term.b.body, -1))  # type: ignore[union-attr]
            for _, row in held.system.rows
            for term in row.measure.terms
            if term.kind == "misalignment"
        ]

    def run(self) -> None:
        known = 0
        self.mirror(known)
        quiet = 0
        while quiet < FIRST_STARTS + STARTS_EACH * len(self.found) and self.starts < MOST_STARTS:
            known = len(self.found)
            self.starts += 1
            self.take(self.held.closed(self.random_pose()))
            self.mirror(known)
            quiet = 0 if len(self.found) > known else quiet + 1

    def mirror(self, first: int) -> None:
        """Mirror every dyad of every pose from the first on, also of those that are found thereby."""
        i = first
        while i < len(self.found):
            for q in self.dyads.mirrored(self.found[i]):
                self.take(self.held.closed(q))
            i += 1

    def take(self, q: Floats | None) -> None:
        """Keep a pose that is new. Whole turns make no difference where the joints allow them."""
        if q is None:
            return
        nearest = q.copy()
        nearest[2::3] -= 2 * pi * np.round((q[2::3] - self.found[0][2::3]) / (2 * pi))
        if np.abs(self.held.gaps(nearest)[0]).max(initial=0.0) > 1e-9 * self.held.system.length:
            nearest = q
        if not self.is_reversed(nearest) and all(self.distance(nearest, p) > SAME for p in self.found):
            self.found.append(nearest)

    def is_reversed(self, q: Floats) -> bool:
        """Whether a slider stands turned by 180 degrees in its guide, which the equations allow but no guide does."""
        turns = (q - self.found[0]).reshape(-1, 3)[:, 2]
        turns = np.append(turns, 0.0)  # the ground
        return any(np.cos(turns[b] - turns[a]) < 0.0 for a, b in self.guides)

    def distance(self, a: Floats, b: Floats) -> float:
        change = a - b
        change[2::3] = 2.0 * np.sin(0.5 * change[2::3])
        return float(np.abs(change / self.held.system.sizes).max())

    def random_pose(self) -> Floats:
        q = self.found[self.random.integers(len(self.found))].copy()
        q += self.held.system.sizes * self.random.standard_normal(q.size)
        q[2::3] = self.random.uniform(-pi, pi, q.size // 3)
        return q


# Dyads --------------------------------------------------------------------------------------------------


class _Pin:
    """A pin or a guide of a body: where it is in the body, and its joint."""

    def __init__(self, joint: str, body: int, x: float, y: float, angle: float, slides: bool) -> None:
        self.joint, self.body, self.x, self.y, self.angle, self.slides = joint, body, x, y, angle, slides

    def at(self, q: Floats) -> complex:
        x, y, phi = q[3 * self.body : 3 * self.body + 3]
        return complex(x, y) + complex(self.x, self.y) * np.exp(1j * phi)


class _Dyads:
    """Pairs of bodies pinned together, each held elsewhere by another pin or guide: they close in two ways."""

    def __init__(self, system: System, first: Floats) -> None:
        self.names = [body.name for body in system.bodies]
        self.first = first
        self.pairs: list[tuple[_Pin, _Pin, _Pin, _Pin]] = list(self._pairs(system))

    def _pairs(self, system: System) -> Iterator[tuple[_Pin, _Pin, _Pin, _Pin]]:
        """Outer pin, inner pin on one body; inner pin, outer pin or guide on the other."""
        sides = self._sides(system)
        for joint, (a, b) in sides.items():
            if a is None or b is None or a.slides:
                continue
            outer_a = [
                p
                for p in self._others(sides, joint, a.body)
                if abs(p.at(self.first) - a.at(self.first)) > 0.0
            ]
            outer_b = self._others(sides, joint, b.body)
            for p in outer_a:
                for r in outer_b:
                    if not (p.slides and r.slides):
                        yield (p, a, b, r) if not p.slides else (r, b, a, p)

    def _sides(self, system: System) -> dict[str, tuple[_Pin | None, _Pin | None]]:
        sides = {}
        for name, element in system.drawing.elements.items():
            if isinstance(element, Revolute | Translational) and isinstance(element, Pair):
                slides = isinstance(element, Translational)
                sides[name] = (self._pin(name, element.a, slides), self._pin(name, element.b, slides))
        return sides

    def _pin(self, joint: str, frame, slides: bool) -> _Pin | None:
        if frame.body not in self.names:
            return None
        return _Pin(joint, self.names.index(frame.body), frame.x, frame.y, frame.angle, slides)

    @staticmethod
    def _others(sides, joint: str, body: int) -> list[_Pin]:
        return [
            p
            for name, pair in sides.items()
            if name != joint
            for p in pair
            if p is not None and p.body == body
        ]

    def mirrored(self, q: Floats) -> Iterator[Floats]:
        """Poses with one dyad mirrored: its inner pin in the line through the outer pins, or across the guide."""
        for p, a, b, r in self.pairs:
            P, C = p.at(q), a.at(q)
            along = self._axis(q, P, b, r)
            if abs(along) == 0.0:
                continue
            mirrored = P + ((C - P) / along).conjugate() * along
            new = q.copy()
            _turn(new, a.body, P, C, mirrored)
            if r.slides:
                new[3 * b.body], new[3 * b.body + 1] = (
                    q[3 * b.body] + (mirrored - C).real,
                    q[3 * b.body + 1] + (mirrored - C).imag,
                )
            else:
                _turn(new, b.body, r.at(q), C, mirrored)
            yield new

    def _axis(self, q: Floats, P: complex, b: _Pin, r: _Pin) -> complex:
        """Direction of the mirror through P: to the other pin, or square to the guide."""
        if r.slides:
            return 1j * complex(np.exp(1j * (q[3 * b.body + 2] + r.angle)))
        return r.at(q) - P

    def differences(self, q: Floats) -> str:
        """Which dyads are mirrored in comparison with the first pose, else which body is turned most."""
        words = [
            f"{self.names[a.body]} and {self.names[b.body]} mirrored"
            for p, a, b, r in self.pairs
            if self._moved(q, a.body)
            and self._moved(q, b.body)
            and self._side(q, p, a, b, r) * self._side(self.first, p, a, b, r) < 0.0
        ]
        if words:
            return listed(dict.fromkeys(words), 4)
        turns = np.abs(np.sin(0.5 * (q - self.first)[2::3]))
        body = int(np.argmax(turns))
        return f"{self.names[body]} turned by {np.degrees(2 * np.arcsin(turns[body])):.3g} deg"

    def _moved(self, q: Floats, body: int) -> bool:
        change = (q - self.first)[3 * body : 3 * body + 3]
        return bool(np.abs(change).max() > SAME * np.abs(self.first).max())

    def _side(self, q: Floats, p: _Pin, a: _Pin, b: _Pin, r: _Pin) -> float:
        P = p.at(q)
        return float(((a.at(q) - P) * np.conj(self._axis(q, P, b, r))).imag)


def _turn(q: Floats, body: int, center: complex, old: complex, new: complex) -> None:
    """Turn a body about a center until its point comes from old to new."""
    if abs(old - center) == 0.0:
        return
    turn = (new - center) / (old - center)
    place = center + turn / abs(turn) * (complex(q[3 * body], q[3 * body + 1]) - center)
    q[3 * body], q[3 * body + 1] = place.real, place.imag
    q[3 * body + 2] += float(np.angle(turn))


# Ranges -------------------------------------------------------------------------------------------------


def _range(held: _Held, row: int, q: Floats) -> DriverRange | None:
    """Drive both ways from q."""
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


def _drive(held: _Held, row: int, q: Floats, sign: float) -> tuple[float, str, list[float]]:
    """How far the driver goes in one direction, why it ends, and the change points passed."""
    system = held.hold(row, sign)
    turns = all(term.kind in ("angle", "direction") for term in system.rows[row][1].measure.terms)
    far = 2 * pi if turns else FAR_OUT * system.length
    start = Assembly(system.model, system, 0.0, q, np.zeros(q.size), 0, 0.0, {}, [], [])
    walk = Walk(system, start, driven_rows(system, start), np.array([0.0, far]), None)
    try:
        walk.run()
    except SingularityError:
        return walk.t, "dead point", walk.change_points
    except (AssemblyError, SimEngineError) as error:
        return walk.t, str(error), walk.change_points
    return far, "full turn" if turns else "no limit found", walk.change_points
