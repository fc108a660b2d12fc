"""Applied forces in symbols: weight, pushes on measures, wrenches."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from ..expressions.function import Function
from ..expressions.function_table import ALONG, Functions, as_arrays, evaluate_function, new_scratch
from ..expressions.law import PUSH, STATE
from ..model.elements import MeasureForce, Wrench
from ..system.applied_forces import turned
from ..system.frames import EX, EY
from .bodies import BodySymbols
from .frames import SymbolicFrames, exact
from .letters import Letter


def applied_forces(bodies: BodySymbols, frames: SymbolicFrames) -> sp.Matrix:
    """QA, three entries per body."""
    gx, gy = bodies.gravity()
    Q = sp.Matrix([part for mass in bodies.masses for part in (mass * gx, mass * gy, sp.Integer(0))])
    for owner, load in bodies.system.loads:
        if isinstance(load, Wrench):
            Q += _wrench(bodies, frames, owner, load)
        elif load.by <= 0:  # the gradient of an energy is found at once
            Q += _force(bodies, frames, owner, load)
    return Q


def _force(bodies: BodySymbols, frames: SymbolicFrames, owner: str, force: MeasureForce) -> sp.Matrix:
    """-g(s, sd, t) s_q, or F s_q of a formula, or -V_q of an energy"""
    gradient = lambda u: sp.Matrix([sp.diff(u, coordinate) for coordinate in bodies.q])
    if force.by >= 0 and force.formula is not None:
        return gradient(-frames.formula(force.formula))
    s = frames.measure(force.measure, owner)
    if force.formula is not None:
        return force.sign * frames.formula(force.formula) * gradient(s)
    variables = dict(zip(PUSH, (s, frames.rate(s), bodies.t), strict=True))
    return -_law(bodies, force.law, owner, variables) * gradient(s)


def _wrench(bodies: BodySymbols, frames: SymbolicFrames, owner: str, wrench: Wrench) -> sp.Matrix:
    """Force components and the torque that they have about the mass center."""
    names = [body.name for body in bodies.system.bodies]
    j, k = 3 * names.index(wrench.frame.body), frames.number[wrench.frame]
    state = [part for i in range(j, j + 3) for part in (bodies.q[i], bodies.qd[i])]
    variables = dict(zip(STATE, [*state, bodies.t], strict=True))
    own_x = _law(bodies, wrench.fx, f"{owner}, x", variables, "F")
    own_y = _law(bodies, wrench.fy, f"{owner}, y", variables, "F")
    torque = _law(bodies, wrench.torque, owner, variables, "T")
    fx, fy = turned(int(wrench.turning), frames.F, k, own_x, own_y)
    Q = sp.zeros(len(bodies.q), 1)
    Q[j], Q[j + 1] = fx, fy
    Q[j + 2] = torque + exact(frames.F[k, EX]) * fy - exact(frames.F[k, EY]) * fx
    return Q


def _law(
    bodies: BodySymbols, law: Function, owner: str, variables: dict[str, sp.Expr], letter: str = "h"
) -> sp.Expr:
    """g of its variables; what depends on time alone gets the letter."""
    if law.of_time:
        return bodies.function(law, owner, letter)
    if law.is_linear:
        return _linear(bodies, law, owner, variables)
    if law.tree is not None:
        return bodies.expression(law.text, variables)
    name = bodies.table.new(f"g_{owner}", Letter("g", owner)).name
    bodies.python[name] = LawInNumbers(law, tuple(variables))
    return sp.Function(name, real=True)(*variables.values())


def _linear(bodies: BodySymbols, law: Function, owner: str, variables: dict[str, sp.Expr]) -> sp.Expr:
    """k (s - free) + c sd"""
    letters = {"k": "stiffness", "c": "damping", "s0": "free value"}
    k, c, free = (
        bodies.number(f"{letter}_{owner}", Letter(letter[0], owner, letter[1:]), value, f"{what} of {owner}")
        for (letter, what), value in zip(letters.items(), law.numbers, strict=True)
    )
    return k * (variables["s"] - free) + c * variables["sd"]


class LawInNumbers:
    """A table or a Python function as a function of numbers."""

    def __init__(self, law: Function, variables: tuple[str, ...]) -> None:
        self.law, self.variables = law, variables

    def __call__(self, *values: float) -> float:
        out = new_scratch(self._arrays).results
        evaluate_function(self._arrays, 0, ALONG, np.array(values, dtype=float), out)
        return float(out[0])

    @cached_property
    def _arrays(self) -> Functions:
        return as_arrays([self.law], [self.variables], ALONG)

    def __reduce__(self) -> Any:
        return LawInNumbers, (self.law, self.variables)
