"""The symbols of a model's bodies: coordinates, masses, lengths; and of the numbers and functions of its elements."""

from __future__ import annotations

from math import pi
from typing import Any

import sympy as sp

from ..expressions.evaluate import names_in
from ..expressions.function import Function
from ..expressions.syntax import Node
from ..model.shape import Bar
from ..system.system import System
from .letters import Letter, letter_of
from .symbols import SymbolTable
from .to_sympy import to_sympy

COORDINATES = ("x", "y", "phi")


class BodySymbols:
    """Symbols for the coordinates and numbers of a system, each made once.

    Where the coordinates of another family are shown instead, those of the bodies are intermediate symbols.
    """

    def __init__(self, system: System, shown: bool = True) -> None:
        self.system, self.shown = system, shown
        self.table = SymbolTable()
        self.t = self.table.new("t", Letter("t"))
        self.q, self.qd, self.qdd = (self._coordinates(order) for order in range(3))
        self.masses = [
            self.number(f"m_{b.name}", Letter("m", b.name), b.mass, f"mass of {b.name}, kg")
            for b in system.bodies
        ]
        self.inertias = [
            self.number(
                f"J_{b.name}", Letter("J", b.name), b.inertia, f"moment of inertia of {b.name}, kg m^2"
            )
            for b in system.bodies
        ]
        self.lengths = self._lengths_of_bars()
        self.parameters: dict[str, sp.Symbol] = {}
        self.of_time: dict[sp.Expr, Any] = {}
        """Functions of time that are tables or Python functions: f, f', f'' in numbers."""
        self.python: dict[str, Any] = {}
        """Laws that are tables or Python functions, by the names of their symbols."""

    def _coordinates(self, order: int) -> list[sp.Symbol]:
        if not self.shown:
            return [sp.Dummy(real=True) for _ in range(self.system.n)]
        return [
            self.table.new(f"{name}{'d' * order}_{body.name}", Letter(name, body.name, dots=order))
            for body in self.system.bodies
            for name in COORDINATES
        ]

    def _lengths_of_bars(self) -> dict[str, sp.Expr]:
        """A symbol L for each bar, whose ends are at -L/2 and L/2."""
        drawn = self.system.resolved.bodies
        return {
            name: self.number(
                f"L_{name}", Letter("L", name), 2 * drawn[name].points["end"][0], f"length of {name}, m"
            )
            for name, body in self.system.model.bodies.items()
            if isinstance(body.shape, Bar)
        }

    def number(self, name: str, letter: Letter, value: float, meaning: str) -> sp.Expr:
        """A symbol for a number; zero stays zero."""
        return sp.Integer(0) if value == 0.0 else self.table.constant(name, letter, value, meaning)

    def angle(self, name: str, letter: Letter, value: float, meaning: str) -> sp.Expr:
        """A symbol for an angle; right angles stay what they are."""
        quarters = value / (pi / 2)
        if abs(quarters - round(quarters)) <= 1e-15 * max(1.0, abs(quarters)):
            return sp.pi * round(quarters) / 2
        return self.number(name, letter, value, meaning)

    def gravity(self) -> tuple[sp.Expr, sp.Expr]:
        """(0, -g), or two components."""
        gx, gy = self.system.resolved.gravity
        if gx == 0.0 and gy < 0.0:
            return sp.Integer(0), -self.number("g", Letter("g"), -gy, "gravity, m/s^2")
        return (
            self.number("g_x", Letter("g", "x"), gx, "gravity along x, m/s^2"),
            self.number("g_y", Letter("g", "y"), gy, "gravity along y, m/s^2"),
        )

    # what elements are made of

    def function(self, function: Function, owner: str, letter: str = "f") -> sp.Expr:
        """f(t) as a formula where it was written as one; else an unknown function with the owner's name."""
        if function.is_constant:
            turns = function.constant / (2 * pi)
            if turns != 0.0 and turns.is_integer():  # a weld after some turns
                return 2 * sp.pi * int(turns)
            return self.number(
                f"{letter}_{owner}", Letter(letter, owner), function.constant, f"value of {owner}"
            )
        if function.tree is not None:
            return self.expression(function.text, {"t": self.t})
        unknown = sp.Function(self.table.new(f"{letter}_{owner}", Letter(letter, owner)).name, real=True)(
            self.t
        )
        self.of_time[unknown] = function.jet
        return unknown

    def expression(self, quoted: str, variables: dict[str, sp.Expr]) -> sp.Expr:
        """A formula as it was written, in quotes; its parameters become symbols."""
        return self.from_tree(self.system.resolved.words.parse(quoted[1:-1]), variables)

    def from_tree(self, tree: Node, variables: dict[str, sp.Expr]) -> sp.Expr:
        """An expression of the variables and of parameters, which become symbols."""
        parameters = {name: self.parameter(name) for name in sorted(names_in(tree) - variables.keys())}
        return to_sympy(tree, {**parameters, **variables})

    def parameter(self, name: str) -> sp.Symbol:
        if name not in self.parameters:
            value = self.system.resolved.parameters[name]
            self.parameters[name] = self.table.constant(name, letter_of(name), value, f"parameter {name}")
        return self.parameters[name]
