"""Equilibrium by Newton's method, on the equations Phi_q^T lam = QA, Phi = 0.

In the free motions a step is Z^T K Z y = Z^T QA, shortened until the residual forces decrease. If no step reduces
them, springs hold the start and are replaced gradually by the mechanism's own forces along an arc-length path.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import NamedTuple

import numpy as np

from ...errors import ConvergenceError
from ...model.elements import Load, MeasureForce
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from .arc_length import ProblemFamily, follow
from .statics import Balance, Hold, balance_near, limited

BALANCED = 1e-9  # residual forces, relative to all forces, at which a pose is an equilibrium
MOST_STEPS = 60
SHORTEST = 1e-4  # fraction of a Newton step
MOST_POINTS = 400  # of a path, before it is given up
MOST_TURN = 2.25 * pi  # rad: after a whole turn the forces repeat, unless they count turns


class FoundEquilibrium(NamedTuple):
    """An equilibrium and the number of iterations, or of points of a path."""

    balance: Balance
    iterations: int
    motion: Results | None = None
    """That led to it, where it was a motion in time."""


Note = Callable[[Balance], None]
"""Called with each pose on the way."""


def unnoted(here: Balance) -> None:
    """As a rule nobody wants to know."""


def newton(start: Balance, note: Note = unnoted) -> FoundEquilibrium | None:
    """Newton's method with line search; None if it stalls or reaches a singular pose."""
    here, before = start, np.inf
    for iteration in range(MOST_STEPS):
        note(here)
        if here.space.nearly_singular:  # where Z turns sharply, forces seem to vanish
            return None
        balanced = here.left_over <= BALANCED * here.size
        # iterate until rounding stops further progress
        if here.left_over == 0.0 or (balanced and here.left_over > 0.5 * before):
            return FoundEquilibrium(here, iteration)
        before = here.left_over
        better = _better(here)
        if better is None:
            return FoundEquilibrium(here, iteration) if balanced else None
        here = better
    return None


def _better(here: Balance) -> Balance | None:
    """A pose with smaller residual forces, along Newton's direction."""
    y = np.asarray(np.linalg.lstsq(here.stiffness, here.force, rcond=1e-12)[0], dtype=float)
    part = limited(here.system, here.Z @ y)
    shortest = SHORTEST * part
    while part >= shortest:
        there = here.moved(part * y)
        if there is not None and there.left_over < (1.0 - 1e-4 * part) * here.left_over:
            return there
        part *= 0.5
    return None


class Release(ProblemFamily):
    """Springs hold the start and are replaced gradually by the mechanism's own forces, which act alone at s = 1."""

    def __init__(self, start: Balance) -> None:
        self.start = start
        self.stiffness = start.size / start.system.length

    def closed(self, q: Floats, s: float) -> Balance | None:
        hold = Hold(1.0 - s, self.stiffness, self.start.q)
        return balance_near(self.start.system, self.start.t, q, hold)

    def slope(self, here: Balance, s: float) -> Floats:
        """QA = s QA_own - (1 - s) k (q - start)."""
        own = here.system.QA(here.t, here.q, np.zeros(here.system.n))
        springs = self.stiffness * (here.q - self.start.q) / here.space.scale**2
        return np.asarray(here.Z.T @ (own + springs))


def newton_by_arc_length(start: Balance, note: Note = unnoted) -> FoundEquilibrium:
    """Newton's method if it converges, else the path of release; raises if that fails too."""
    solution = newton(start, note) or _released(start, note)
    if solution is None:
        raise ConvergenceError(no_equilibrium(start, "Newton's method"))
    return solution


def _released(start: Balance, note: Note) -> FoundEquilibrium | None:
    """The end of the path at s = 1."""
    last, turns_count = None, _counts_turns(start.system)
    for count, point in enumerate(follow(Release(start), start.q, 0.0, towards=1.0)):
        if last is not None and (last.s - 1.0) * (point.s - 1.0) <= 0.0:
            part = (1.0 - last.s) / (point.s - last.s)
            q = last.balance.q + part * (point.balance.q - last.balance.q)
            near = start.near(q)
            solution = newton(near, note) if near is not None else None
            if solution is not None:
                return FoundEquilibrium(solution.balance, count + solution.iterations)
        turned = np.abs(point.balance.q - start.q)[2::3].max(initial=0.0)
        if count > MOST_POINTS or (turned > MOST_TURN and not turns_count):
            break
        last = point
    return None


def _counts_turns(system: System) -> bool:
    """Whether some force tells a body from the same one after a whole turn, as a spring on an angle does."""
    return any(_reads_angles(load) for _, load in system.loads)


def _reads_angles(load: Load) -> bool:
    if isinstance(load, MeasureForce):
        return any(term.kind == "angle" for term in load.terms)
    laws = (load.fx, load.fy, load.torque)
    return any(not law.of_time and ("phi" in law.reads or law.callback is not None) for law in laws)


def no_equilibrium(start: Balance, method: str) -> str:
    return (
        f"{method} did not find an equilibrium of '{start.system.model.name}' from this start: in the motion "
        f"'{start.in_words()}' {start.left_over:.3g} N remained unbalanced. Start from another pose, look for a body "
        "that nothing holds, or try all=True."
    )
