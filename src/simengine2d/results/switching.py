"""The breaks of a model as a run needs them: when they occur, and in which steps the state triggers a switch."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
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
from ..numerics.kernel_pointer import BoundKernel, python_pointer
from ..system.functions_of_parts import laws_of
from ..system.system import System
from ..system.workspace import once_per_system
from .events import watching
from .switch_search import searching

Motion = Callable[[float], tuple[Floats, Floats]]

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
        self.shown: Motion
        self.raised: list[BaseException] = []

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
        self.shown = look
        return self.crossing_by(self.python_search, t0, t1)

    def crossing_by(self, search: BoundKernel, t0: float, t1: float) -> float | None:
        """The same, along the motion that a `search` looks at."""
        t = np.empty(1)
        search(t0, np.array([t1]), t)
        if self.raised:
            raise self.raised.pop()
        return float(t[0]) if t[0] < math.inf else None

    def search_along(self, look: BoundKernel) -> BoundKernel:
        """`first_switch` along a motion; `look` writes its (q, qd) at t."""
        switches = [placed.switch for placed in self.placed]
        levels, periods = [switch.levels for switch in switches], [switch.period for switch in switches]
        return searching(look, self.bound, levels, periods, self.system.n)

    @cached_property
    def python_search(self) -> BoundKernel:
        """Looks at the motion that Python shows at present."""

        def look(t: float, _: Floats, out: Floats) -> None:
            out[:] = np.concatenate(self.shown(t))

        pointer = python_pointer(look)
        self.raised = pointer.kept[1]
        return self.search_along(pointer)

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
        for i, function in system.varying:
            self.add_function(function, elements[system.rows[i][0]].title)
        for i in system.arrays.formulas.row:
            formula = system.rows[i][1].formula
            assert formula is not None
            if formula.contact is None:
                self.add_tree(formula.tree, formula.variables, formula.measures)
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
