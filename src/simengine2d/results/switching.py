"""The breaks of a model as a run needs them: when they occur, and in which steps the state triggers a switch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..errors import Caution, listed
from ..expressions.breaks import Break, Switch, TimeBreaks, switch_of, switches_of
from ..expressions.evaluate import names_in
from ..expressions.function import Function, tree_function
from ..expressions.law import STATE
from ..expressions.syntax import Name, Node
from ..expressions.table import Table
from ..model.elements import Load, MeasureForce
from ..model.frame import GROUND, Frame
from ..model.measure import Measure, Term
from ..numerics.arrays import Floats
from ..numerics.kernel_pointer import BoundKernel
from ..system.system import System, laws_of
from ..system.workspace import once_per_system
from .events import watching

Motion = Callable[[float], tuple[Floats, Floats]]

GLANCE = (0.0, 0.21, 0.47, 0.79, 1.0)  # of a step: a first look
SAMPLES = 12  # of a step; between three neighbors a switch is followed by a parabola
NEARLY = 0.5  # how much farther than this parabola a switch may turn, against how far the parabola bends
JUMP = 1e-9  # of a length or a radian: a jump of what a driver prescribes


class PlacedSwitch(NamedTuple):
    """A switch of the state, and the measures its variables are."""

    switch: Switch
    variables: tuple[str, ...]
    measures: tuple[Measure, ...]


class Switching:
    """The breaks of a system: those in time, and those that depend on its motion."""

    def __init__(self, system: System, step: float | None = None, bends: bool = True) -> None:
        """`bends` asks for the states at which forces bend, too, and not only for those at which they may jump."""
        self.system = system
        self.step, self.jump, self.kick = step, "", ""
        breaks = _breaks_of(system)
        self.times = TimeBreaks(breaks.of_time, breaks.tables, breaks.declared, step)
        self.placed = [each for each in breaks.placed if bends or not each.switch.bends]
        self.undeclared = breaks.undeclared
        if self.placed:
            self.bound = _bound(system, self.placed)
            self.out = np.empty(len(self.placed))

    def __bool__(self) -> bool:
        return bool(self.times) or bool(self.placed) or bool(self.undeclared)

    def after(self, t: float) -> Break | None:
        return self.times.after(t)

    # switches of the state

    def values(self, t: float, q: Floats, qd: Floats) -> Floats:
        """The value of every switch."""
        self.bound(t, np.concatenate([q, qd]), self.out)
        return self.out.copy()

    def first_crossing(self, t0: float, t1: float, look: Motion) -> float | None:
        """The first time at which a switch leaves the levels between which it is at t0; None where none does."""
        at = lambda t: self.values(t, *look(t))
        if self.far_from_levels(np.array([at(t0 + x * (t1 - t0)) for x in GLANCE])):
            return None
        times = np.linspace(t0, t1, SAMPLES + 1)
        samples = np.array([at(t) for t in times])
        earliest = None
        for i, placed in enumerate(self.placed):
            u = samples[:, i]
            if not np.all(np.isfinite(u)):
                continue
            for level, sense in zip(placed.switch.around(float(u[0])), (1.0, -1.0), strict=True):
                if not math.isfinite(level):
                    continue
                inside = lambda t, i=i, level=level, sense=sense: sense * (float(at(t)[i]) - level)  # type: ignore[misc]
                bracket = _bracket(times, sense * (u - level), inside)
                if bracket is not None and (earliest is None or bracket[0] < earliest):
                    t = _entered(inside, *bracket)
                    earliest = t if earliest is None else min(t, earliest)
        return earliest

    def far_from_levels(self, samples: Floats) -> bool:
        """Whether all switches stay away from their levels by more than twice what they vary."""
        for placed, u in zip(self.placed, samples.T, strict=True):
            below, above = placed.switch.around(float(u[0]))
            low, high = float(u.min()), float(u.max())
            reach = 2.0 * (high - low)
            if placed.switch.at_level(float(u[0])) or not (below < low - reach and high + reach < above):
                return False
        return True

    def sides(self, t: float, q: Floats, qd: Floats) -> list[tuple[float, float]]:
        """The levels between which every switch is."""
        values = self.values(t, q, qd)
        return [placed.switch.around(float(u)) for placed, u in zip(self.placed, values, strict=True)]

    def at_level(self, t: float, q: Floats, qd: Floats) -> bool:
        """Whether some switch is exactly at one of its levels."""
        values = self.values(t, q, qd)
        return any(placed.switch.at_level(float(u)) for placed, u in zip(self.placed, values, strict=True))

    # prescribed motions

    def jumps_at(self, at_break: Break, q: Floats) -> bool:
        """Whether a prescribed position jumps at a break; `jump` then says which."""
        self.jump = ""
        for i, change in self.changes(at_break, q, self.system.Phi)[:1]:
            self.jump = (
                f"{self.title_of(i)} jumps by {-change:.6g} at t = {at_break.t:.9g} s, which no motion can follow. "
                "Let it rise in some time, for instance by step5(t, t0, h0, t1, h1)."
            )
        return bool(self.jump)

    def kicks_at(self, at_break: Break, q: Floats) -> bool:
        """Whether a prescribed velocity jumps at a break; `kick` then says which."""
        changes = self.changes(at_break, q, self.system.nu)
        for i, _ in changes[:1]:
            self.kick = (
                f"at t = {at_break.t:.9g} s {self.title_of(i)} changes its speed at once; the velocities of the bodies "
                "jump, as by an impulse"
            )
        return bool(changes)

    def changes(
        self, at_break: Break, q: Floats, part: Callable[[float, Floats], Floats]
    ) -> list[tuple[int, float]]:
        """The rows of which some part changes at a break, and by how much."""
        if not self.system.moving_rows.size or not at_break.hard:
            return []
        change = part(at_break.t + at_break.width, q) - part(at_break.t - at_break.width, q)
        # what moves on while the break is passed is none
        allowed = JUMP * max(1.0, self.system.length) + 1e3 * at_break.width
        return [(int(i), float(change[i])) for i in self.system.moving_rows if abs(change[i]) > allowed]

    def title_of(self, row: int) -> str:
        return self.system.model.elements[self.system.rows[row][0]].title

    def kicked(self, at_break: Break, q: Floats, qd: Floats) -> Floats:
        """The velocities after a break: M (qd1 - qd) + Phi_q^T L = 0 with Phi_q qd1 = nu."""
        system, t = self.system, at_break.t + at_break.width
        M, J = system.M(), system.Phi_q(t, q)
        K = np.block([[M, J.T], [J, np.zeros((system.m, system.m))]])
        x = np.linalg.lstsq(K, np.concatenate([M @ qd, system.nu(t, q)]), rcond=1e-13)[0]
        return np.asarray(x[: system.n])

    def notes(self) -> list[str]:
        """What a user should know."""
        notes = []
        if self.step is not None and (self.times or self.placed):
            notes.append("besides, steps end where forces or prescribed motions jump or bend")
        if self.undeclared:
            unseen = f"jumps of the Python functions of {listed(self.undeclared)} are not looked for"
            seen = "adaptive steps are short enough to see what lasts for a hundredth of the time gone by"
            remedy = "Give the times of others as function.breaks = [...], or [] where it never jumps"
            notes.append(Caution(f"{unseen}; {seen}. {remedy}"))
        return notes


# What a system has ---------------------------------------------------------------------------------------


class SystemBreaks:
    """Switches, tables and Python functions of all constraints and forces."""

    def __init__(self, system: System) -> None:
        self.of_time: list[Switch] = []
        self.tables: list[Table] = []
        self.declared: list[float] = []
        self.placed: list[PlacedSwitch] = []
        self.undeclared: list[str] = []
        elements = system.resolved.elements
        for (name, row), function in zip(system.rows, system.functions, strict=True):
            if not function.is_constant:
                self.add_function(function, elements[name].title)
            if row.formula is not None and row.formula.contact is None:
                self.add_tree(row.formula.tree, row.formula.variables, row.formula.measures)
        for name, load in system.loads:
            self.add_load(load, system, elements[name].title)
        self.placed = [*dict.fromkeys(self.placed)]
        self.undeclared = [*dict.fromkeys(self.undeclared)]

    def add_load(self, load: Load, system: System, title: str) -> None:
        for law in laws_of(load):
            if law.of_time:
                self.add_function(law, title)
            elif isinstance(load, MeasureForce):
                self.add_law(law, load.variables, load.reads, title)
            else:
                self.add_law(law, STATE, _of_body(system, load.frame.body), title)

    def add_law(
        self, law: Function, variables: tuple[str, ...], measures: tuple[Measure, ...], title: str
    ) -> None:
        if law.callback is not None:
            self.add_python(law.breaks, title)
        if law.tree is not None:
            self.add_tree(law.tree, variables, measures)
        if law.table is not None:
            switch = switch_of(law.table, Name(law.table.variable))
            self.placed.append(PlacedSwitch(switch, variables, measures))

    def add_tree(self, tree: Node, variables: tuple[str, ...], measures: tuple[Measure, ...]) -> None:
        for switch in switches_of(tree):
            if names_in(switch.tree) <= {"t"}:
                self.of_time.append(switch)
            else:
                self.placed.append(PlacedSwitch(switch, variables, measures))

    def add_function(self, function: Function, title: str) -> None:
        if function.tree is not None:
            self.of_time += switches_of(function.tree)
        if function.table is not None:
            self.tables.append(function.table)
        if function.callback is not None:
            self.add_python(function.breaks, title)

    def add_python(self, breaks: tuple[float, ...] | None, title: str) -> None:
        if breaks is None:
            self.undeclared.append(title)
        else:
            self.declared += breaks


@once_per_system
def _breaks_of(system: System) -> SystemBreaks:
    return SystemBreaks(system)


def _of_body(system: System, body: str) -> tuple[Measure, ...]:
    """x, y and phi of a body."""
    ground, frame = Frame(GROUND), Frame(body)
    return tuple(
        system.resolved.measure(Measure((Term(1.0, kind, ground, frame),))) for kind in ("x", "y", "angle")
    )


def _bound(system: System, placed: list[PlacedSwitch]) -> BoundKernel:
    """The kernel pointer that evaluates all switches of the state."""
    functions = [tree_function(each.switch.tree, "a switch") for each in placed]
    return watching(
        system, functions, [each.variables for each in placed], [each.measures for each in placed]
    )


# Crossings inside a step ---------------------------------------------------------------------------------


def _bracket(times: Floats, u: Floats, inside: Callable[[float], float]) -> tuple[float, float] | None:
    """The first interval that begins with u > 0 and ends with u <= 0; turning points between the samples are tried."""
    for a, b in _candidates(times, u):
        if inside(b) <= 0.0:
            return a, b
    return None


def _candidates(times: Floats, u: Floats) -> Iterator[tuple[float, float]]:
    """Intervals, from left to right, at whose end the sign may have changed."""
    n = times.size - 1
    for k in range(n):
        for m in (k, k + 1):  # parabolas through the neighbors of both ends
            if 0 < m < n:
                turn = _turn(times[m - 1 : m + 2], u[m - 1 : m + 2])
                if turn is not None and times[k] < turn < times[k + 1]:
                    yield float(times[k]), turn
        if u[k + 1] <= 0.0:
            yield float(times[k]), float(times[k + 1])
            return


def _turn(t: Floats, u: Floats) -> float | None:
    """Where the parabola through three samples has a minimum near zero or below."""
    bend = u[0] - 2.0 * u[1] + u[2]
    if bend <= 0.0:
        return None
    slope = 0.5 * (u[2] - u[0])
    lowest = u[1] - 0.5 * slope * slope / bend
    if lowest > NEARLY * bend:
        return None
    return float(t[1] - (t[2] - t[1]) * slope / bend)


def _entered(inside: Callable[[float], float], a: float, b: float) -> float:
    """The first float after the crossing, by bisection with the secant."""
    at_a, at_b = inside(a), inside(b)
    for k in range(100):
        middle = 0.5 * (a + b)
        if k % 2 == 0 and at_a > 0.0 > at_b:
            middle = min(max(a + (b - a) * at_a / (at_a - at_b), a + 0.01 * (b - a)), b - 0.01 * (b - a))
        if not a < middle < b:
            break
        value = inside(middle)
        if value > 0.0:
            a, at_a = middle, value
        else:
            b, at_b = middle, value
    return b
