"""Frames in symbols: where the points of the elements are, and the measures between them."""

from __future__ import annotations

from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp

from ..errors import UnsupportedError
from ..model import measure as measure_kernels
from ..model.elements import Load, MeasureForce, Wrench
from ..model.formula import Formula
from ..model.frame import GROUND, ORIGIN, PlacedFrame
from ..model.measure import KINDS, Measure
from ..model.measure_text import parse_channels
from ..system import frames as frame_kernels
from ..system.frames import FRAME_STATE, PHI, PX, PY
from .bodies import BodySymbols
from .letters import Letter

TINY = 1e-15  # of a length of the mechanism: what rounding has left of a zero


class SymbolicFrames:
    """The frames of all elements, placed by the kernel that places them in numbers."""

    def __init__(self, bodies: BodySymbols) -> None:
        self.bodies = bodies
        self.users = _users(bodies)
        index = {body.name: i for i, body in enumerate(bodies.system.bodies)} | {
            GROUND: len(bodies.system.bodies)
        }
        placed = sorted(self.users, key=lambda frame: index[frame.body])
        self.number = {frame: k for k, frame in enumerate(placed)}
        self.local = {frame: self._local(frame) for frame in placed}
        local = list(self.local.values())
        S = SimpleNamespace(
            mass=np.zeros(len(bodies.system.bodies)),
            frame_body=np.array([index[frame.body] for frame in placed], dtype=np.int64),
            frame_x=[x for x, _, _ in local],
            frame_y=[y for _, y, _ in local],
            frame_angle=[turn for _, _, turn in local],
            frame_cos=[sp.cos(turn) for _, _, turn in local],
            frame_sin=[sp.sin(turn) for _, _, turn in local],
        )
        self.F: Any = np.zeros((len(placed), FRAME_STATE), dtype=object)
        place_frames(S, bodies.q, self.F)

    def measure(self, measure: Measure, owner: str) -> sp.Expr:
        """sum_k w_k s_k; weights other than 1 and -1 become symbols."""
        total = sp.Integer(0)
        for term in measure.terms:
            a, b = self.number[term.a], self.number[term.b]  # type: ignore[index]
            total += self._weight(term.weight, owner) * exact(term_value(KINDS[term.kind], self.F, a, b))
        return total

    def up_to_turns(self, measure: Measure, owner: str) -> sp.Expr:
        """The same for a row that holds up to whole turns: a direction is the angle of d less that of the frame."""
        total, F = sp.Integer(0), self.F
        for term in measure.terms:
            a, b = self.number[term.a], self.number[term.b]  # type: ignore[index]
            if term.kind == "direction":
                value = sp.atan2(F[b, PY] - F[a, PY], F[b, PX] - F[a, PX]) - F[a, PHI]
            else:
                value = term_value(KINDS[term.kind], F, a, b)
            total += self._weight(term.weight, owner) * exact(value)
        return total

    def formula(self, formula: Formula) -> sp.Expr:
        """g(u, ud, t) of the measures that it reads."""
        if formula.contact is not None:
            raise UnsupportedError(
                f"the {formula.text} has no closed form: where bodies touch a curve is found by iteration. "
                "The numbers are in System(model): Phi, Phi_q, gamma."
            )
        written = parse_channels(formula.text, self.bodies.system.resolved.words)
        values: list[sp.Expr] = []
        for measure in formula.measures:
            u = self.measure(measure, "")
            values += [u, self.rate(u)]
        variables = dict(zip(written.variables, [*values, self.bodies.t], strict=True))
        return self.bodies.from_tree(written.tree, variables)

    def rate(self, u: sp.Expr) -> sp.Expr:
        """u_q qd"""
        pairs = zip(self.bodies.q, self.bodies.qd, strict=True)
        return sum((sp.diff(u, q) * qd for q, qd in pairs), sp.Integer(0))

    def _weight(self, weight: float, owner: str) -> sp.Expr:
        if abs(weight) == 1.0:
            return sp.Integer(int(weight))
        return self.bodies.number(f"w_{owner}", Letter("w", owner), weight, f"weight in {owner}")

    # coordinates in the body

    def own_place(self, body: str, s: complex) -> tuple[sp.Expr, sp.Expr]:
        """Symbols of a place that no element uses."""
        frame = ORIGIN._replace(body=body, x=s.real, y=s.imag)
        if frame not in self.local:
            self.local[frame] = self._local(frame)
        return self.local[frame][:2]

    def _local(self, frame: PlacedFrame) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
        """x, y and the angle in body axes."""
        point = self._point(frame)
        length = self.bodies.lengths.get(frame.body)
        if length is not None and point in ("start", "end") and frame.y == frame.angle == 0.0:
            return (-length if point == "start" else length) / 2, sp.Integer(0), sp.Integer(0)
        x, y = (self._coordinate(frame, c, point) for c in range(2))
        return x, y, self._angle(frame, point)

    def _coordinate(self, frame: PlacedFrame, c: int, point: str) -> sp.Expr:
        value = (frame.x, frame.y)[c]
        if abs(value) <= TINY * self.bodies.system.length:
            return sp.Integer(0)
        if frame.body == GROUND:
            what = f"{'xy'[c]} of {point} on the ground, m"
            return self.bodies.number(f"{'XY'[c]}_{point}", Letter("XY"[c], point), value, what)
        base, what = ("xi", "eta")[c], f"{'xy'[c]} of {frame.body}.{point} in body axes, m"
        return self.bodies.number(
            f"{base}_{frame.body}_{point}", Letter(base, frame.body, point), value, what
        )

    def _angle(self, frame: PlacedFrame, point: str) -> sp.Expr:
        what = f"angle of the axis at {frame.body}.{point}, rad"
        letter = Letter("alpha", frame.body, point)
        return self.bodies.angle(f"alpha_{frame.body}_{point}", letter, frame.angle, what)

    def _point(self, frame: PlacedFrame) -> str:
        """The name under which the element refers to the point; without one, that of the element."""
        points = self.bodies.system.resolved.bodies[frame.body].points
        owner = self.users.get(frame)
        if owner is None:
            return next((name for name, at in points.items() if at[:2] == (frame.x, frame.y)), "P")
        for written in self.bodies.system.model.elements[owner].frames():
            here = written.body == frame.body and written.point is not None
            if here and points[written.point][:2] == (frame.x, frame.y):  # type: ignore[index]
                return str(written.point)
        return owner


def _users(bodies: BodySymbols) -> dict[PlacedFrame, str]:
    """Every frame that an element uses, with the first element that does."""
    users: dict[PlacedFrame, str] = {}
    measures = [(name, row.measure) for name, row in bodies.system.rows]
    measures += [(name, measure) for name, load in bodies.system.loads for measure in _measures(load)]
    for name, measure in measures:
        for term in measure.terms:
            for frame in (term.a, term.b):
                assert isinstance(frame, PlacedFrame)
                users.setdefault(frame, name)
    for name, load in bodies.system.loads:
        if isinstance(load, Wrench):
            users.setdefault(load.frame, name)
    return users


def _measures(load: Load) -> tuple[Measure, ...]:
    """Those that a load pushes along or reads."""
    return (load.measure, *load.reads) if isinstance(load, MeasureForce) else ()


# The kernels of the plane, run on symbols: the same source, with SymPy's roots, angles and cosines ----


SYMPY = {"sqrt": sp.sqrt, "atan2": sp.atan2, "cos": sp.cos, "sin": sp.sin}


def symbolic_kernels(module: ModuleType, *names: str, **others: Any) -> list[Any]:
    """The named kernels of a module as Python functions of symbols."""
    namespace = {**vars(module), **SYMPY, **others}
    for name in names:
        function = getattr(module, name)
        code = getattr(function, "py_func", function).__code__  # what numba compiles
        namespace[name] = FunctionType(code, namespace, name)
    return [namespace[name] for name in names]


(value,) = symbolic_kernels(measure_kernels, "value")
place_frames, term_value = symbolic_kernels(frame_kernels, "place_frames", "term_value", value=value)


def exact(expression: Any) -> sp.Expr:
    """The 0.5 and 1.0 of a kernel's source as fractions."""
    expression = sp.sympify(expression)
    return expression.xreplace({number: sp.Rational(number) for number in expression.atoms(sp.Float)})
