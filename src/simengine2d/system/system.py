"""System: a model as constant arrays, and the equations the analyses are made of.

M qdd + Phi_q^T lam = QA,      Phi(q, t) = 0,      Phi_q qd = nu,      Phi_q qdd = gamma
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..answer import Answer
from ..errors import ModelError, UnsupportedError, counted, listed
from ..expressions.function import Function
from ..expressions.function_table import pack, values_at
from ..model.body import given_velocities
from ..model.elements import Row
from ..model.formula import VELOCITY
from ..model.frame import GROUND
from ..model.model import Model
from ..model.resolved import ResolvedModel
from ..numerics.arrays import Floats, constant, starts
from ..numerics.collector import collector_waits
from ..numerics.contexts import lay_out_once
from .applied_forces import applied, frames_of_loads, load_arrays
from .body_sizes import body_sizes, interleaved
from .constraints import constant_arrays
from .evaluation import Evaluator, idle, sizes_of
from .functions_of_parts import function_of, laws_of, moves
from .geometry import geometry_of
from .workspace import Pool, Workspace, new_workspace

if TYPE_CHECKING:
    from .equations_of_motion import EquationArrays


NO_LOADS = load_arrays((), {})


lay_out_once(load_arrays, NO_LOADS)  # as long as the program runs


class Evaluated(NamedTuple):
    f: Floats
    F: Floats
    Phi: Floats
    data: Floats
    gamma: Floats


class System(Answer):
    """The equations of a model in reference-point coordinates, q = (x, y, phi) per body.

    `system.Phi(t, q)` and related methods are for users; `system.arrays` is for kernels.
    A system never changes: several threads may use it, and it can be copied and pickled.
    """

    def __init__(self, model: Model | ResolvedModel) -> None:
        self.resolved = model if isinstance(model, ResolvedModel) else model.check()
        with collector_waits(len(self.resolved.bodies)):
            self._name_parts()
            self._make_arrays()
        self._sort_rows()
        self.idle = Pool()
        """Idle workspaces for the next evaluation or run."""
        self.has_run = False
        """Whether a run has left what it prepared; from then on that stays here."""
        self.known: dict[Callable[..., Any], dict[Any, Any]] = {}
        """Constants computed for this system, see `once_per_system`."""
        self._measure_bodies()
        constant((self.drawn_q, self.own_arms, self.driver_rows, self.velocity_rows))

    def _name_parts(self) -> None:
        """Bodies, rows and loads, with their names."""
        self.bodies = [body for body in self.resolved.bodies.values() if body.name != GROUND]
        self.rows: list[tuple[str, Row]] = [
            (joint, row) for joint, rows in self.resolved.rows.items() for row in rows
        ]
        self.n, self.m = 3 * len(self.bodies), len(self.rows)
        """Numbers of coordinates and of constraint equations."""
        self.functions = [function_of(row) for _, row in self.rows]
        self.loads, self.missing_law = self.resolved.loads()
        self.laws = [(name, law) for name, load in self.loads for law in laws_of(load)]

    @property
    def named(self) -> System:
        """A System with the same names and parts, for those who ask for these alone: its numbers may be others."""
        return self

    @property
    def model(self) -> Model:
        return self.resolved.model

    @property
    def written(self) -> Model:
        """The same for those who only look at it: no copy is made."""
        return self.resolved.written

    @property
    def parameters(self) -> dict[str, float]:
        return self.resolved.parameters

    @cached_property
    def drawn_qd(self) -> Floats:
        """The velocities in the initial pose, as given; nan where they are not."""
        return np.array([v for body in self.bodies for v in given_velocities(body)], dtype=float)

    def __str__(self) -> str:
        parts = ((self.n, "coordinate"), (self.m, "constraint"), (len(self.loads), "load"))
        return f"equations of '{self.model.name}': {', '.join(counted(*part) for part in parts)}"

    @cached_property
    def body_names(self) -> list[str]:
        return [body.name for body in self.bodies]

    @cached_property
    def element_names(self) -> frozenset[str]:
        return frozenset(self.written.elements)

    @cached_property
    def formula_names(self) -> frozenset[str]:
        return frozenset(self.written.formulas)

    @cached_property
    def row_names(self) -> list[str]:
        return [f"{joint}.{row.label}" for joint, row in self.rows]

    @cached_property
    def coordinate_names(self) -> list[str]:
        return [f"{body.name}.{c}" for body in self.bodies for c in ("x", "y", "phi")]

    def _make_arrays(self) -> None:
        loads = [load for _, load in self.loads]
        self.arrays, frames = constant_arrays(
            self.bodies,
            self.resolved.gravity,
            [row for _, row in self.rows],
            self.functions,
            frames_of_loads(loads),
        )
        lay_out_once(self, self.arrays)
        self.load_arrays = NO_LOADS
        if loads:
            self.load_arrays = load_arrays(loads, frames)
            lay_out_once(self, self.load_arrays)
        self.masses = constant(interleaved(self.arrays.mass, self.arrays.mass, self.arrays.inertia))
        """The diagonal of M."""

    def _measure_bodies(self) -> None:
        """Where the bodies are, and how large they are."""
        self.drawn_q = np.array([body.pose for body in self.bodies], dtype=float).reshape(-1)
        """The coordinates in the initial pose, as drawn."""
        sizes = body_sizes(self)
        self.own_arms = sizes.own_arms
        """The largest distance of a joint or a force from the frame of each body."""
        self.length = float(sizes.length)
        """A typical length of the mechanism: it makes angles comparable with displacements."""
        self.arms = sizes.arms
        """The length that makes the angle of each body comparable with its displacements.

        It is that of the mechanism, except for bodies that are far smaller: a watch on a crane has its own.
        """
        self.sizes = sizes.sizes
        """A large change of each coordinate: a length of the mechanism, or a radian."""

    def _sort_rows(self) -> None:
        """Which rows are special."""
        counts = [len(rows) for rows in self.resolved.rows.values() if rows]
        self.first_rows = starts(np.array(counts, dtype=np.int64))[:-1]
        """Where the rows of each element begin."""
        driving = {name for name in self.resolved.rows if self.resolved.elements[name].drives}  # type: ignore[attr-defined]
        self.driver_rows = np.array(
            [i for i, (name, _) in enumerate(self.rows) if name in driving], dtype=np.int64
        )
        """Rows of the elements that prescribe a motion."""
        self.has_formulas = bool(self.arrays.formulas.row.size)
        """Whether some rows are formulas, whose weights follow the state."""
        self.velocity_rows = np.flatnonzero(self.arrays.formulas.level == VELOCITY)
        """Rows that constrain velocities but not positions."""
        self._sort_functions()

    def _sort_functions(self) -> None:
        """What functions of time move, their domain, and those that are written in Python."""
        constant = {function for function in {*self.functions} if function.is_constant}
        self.varying = varying = [(i, f) for i, f in enumerate(self.functions) if f not in constant]
        """The functions of time that are not constant, and their rows."""
        formulas = [(i, self.functions[i]) for i in self.arrays.formulas.row.tolist()]
        moving = {i for i, function in varying + formulas if moves(self.rows[i][1], function)}
        self.moving_rows = np.array(sorted(moving), dtype=np.int64)
        """Rows that prescribe a motion: they depend on time, or hold a velocity at a value."""
        domains = [function.domain for _, function in varying]
        self.domain = (
            max((low for low, _ in domains), default=-inf),
            min((high for _, high in domains), default=inf),
        )
        """First and last time at which every constraint has a value."""
        functions = [(self.rows[i][0], function) for i, function in varying]
        self.python_functions = [(name, f) for name, f in functions + self.laws if f.callback is not None]
        """The functions and laws written in Python, and their elements."""
        self.callbacks = [function.callback for _, function in self.python_functions if function.callback]

    # systems that differ in one thing

    def with_functions(self, functions: Sequence[Function]) -> System:
        """The same system with other functions of time in its rows."""
        other = self._like()
        other.functions = list(functions)
        other.arrays = self.arrays._replace(functions=pack(functions))
        other._sort_functions()
        return other

    def drawn_at(self, q: Floats) -> System:
        """The same system with another initial pose."""
        poses, other = [(x, y, phi) for x, y, phi in q.reshape(-1, 3).tolist()], self._like()
        other.bodies = [body._replace(pose=pose) for body, pose in zip(self.bodies, poses, strict=True)]
        other.drawn_q = constant(q.astype(float))
        return other

    def _like(self) -> System:
        """Another one with the same attributes, but with its own workspaces and constants."""
        other = object.__new__(System)
        other.__dict__.update(self.attributes())
        other.idle, other.known, other.has_run = Pool(), {}, False
        for name in ("_counts", "geometry"):
            other.__dict__.pop(name, None)
        return other

    def attributes(self) -> dict[str, Any]:
        """What another one takes over."""
        return self.__dict__

    # copies are built again from the resolved model: addresses mean nothing in them

    def __copy__(self) -> System:
        return System(self.resolved)

    def __deepcopy__(self, memo: dict[int, Any]) -> System:
        return System(deepcopy(self.resolved, memo))

    def __reduce__(self) -> Any:
        for name, function in self.python_functions:
            try:
                pickle.dumps(function.callback)
            except Exception as error:
                raise UnsupportedError(
                    f"the system of model '{self.model.name}' cannot be pickled: {self.model.elements[name].title} "
                    f"has {function.text}, which another process could not import ({error}). "
                    "Define it at the top of a module."
                ) from error
        return System, (self.resolved,)

    def frames(self, q: Floats, qd: Floats | None = None, t: float = 0.0) -> Floats:
        """State of every frame, see `frames.py`; the rows that are formulas are left as they are at t."""
        return self.evaluated(t, q, qd).F

    def Phi(self, t: float, q: Floats) -> Floats:
        """Constraint values, one per row of `row_names`."""
        return self.evaluated(t, q).Phi

    def Phi_q_data(self, q: Floats, t: float = 0.0) -> Floats:
        """The non-zeros of Phi_q in the order of `arrays.jac_column`; t matters to formulas that read it."""
        return self.evaluated(t, q).data

    def Phi_q(self, t: float, q: Floats) -> Floats:
        """Jacobian, m x n."""
        dense = np.zeros((self.m, self.n))
        rows = np.repeat(np.arange(self.m), np.diff(self.arrays.jac_start))
        dense[rows, self.arrays.jac_column] = self.Phi_q_data(q, t)
        return dense

    def evaluated(self, t: float, q: Floats, qd: Floats | None = None) -> Evaluated:
        """Functions of time, frames, Phi, the non-zeros of Phi_q and gamma at a state, all at once."""
        with self.evaluator() as rows:
            Phi, w = rows(float(t), *self._state(q, qd)), rows.w
            return Evaluated(w.f.copy(), w.F.copy(), Phi, w.data.copy(), w.row.copy())

    # workspaces

    def new_workspace(self, d: EquationArrays | None = None) -> Workspace:
        """What a run of its own needs, with `d` for equations of motion."""
        return new_workspace(self.arrays, self.load_arrays, d)

    def follow_numbers(self, write: Callable[[], None]) -> None:
        """Write something that follows from the numbers; where these change (`OwnSystem`), it is written again."""
        write()

    @cached_property
    def geometry(self) -> Hashable:
        """Equal for Systems with the same constraints and drawn pose, see `once_per_geometry`."""
        return geometry_of(self)

    def owned(self, answer: Any) -> Any:
        """What a System stores of an answer that others share."""
        return answer

    @cached_property
    def _counts(self) -> Hashable:
        return sizes_of(self.arrays)

    @contextmanager
    def evaluator(self) -> Iterator[Evaluator]:
        """What evaluates once: an idle one, or a new one. Contacts are searched for again in it."""
        shares = self.load_arrays is NO_LOADS and not self.has_formulas
        pool, kind = (idle, self._counts) if shares else (self.idle, Evaluator)
        rows: Evaluator = pool.take(kind) or Evaluator(self.arrays, self.load_arrays)
        if rows.S is not self.arrays:
            rows.turn_to(self.arrays)
        rows.w.memory[:] = np.nan
        try:
            yield rows
        finally:
            pool.give(kind, rows)

    @contextmanager
    def at(self, t: float, q: Floats, qd: Floats | None = None) -> Iterator[Workspace]:
        """A workspace with functions, frames, weights, Phi_q in `data` and gamma in `row` at a state."""
        with self.evaluator() as rows:
            rows(float(t), *self._state(q, qd))
            yield rows.w

    def _state(self, q: Floats, qd: Floats | None) -> tuple[Floats, Floats]:
        rates = np.zeros(self.n) if qd is None else self._coordinates("qd", qd)
        return self._coordinates("q", q), rates

    def _coordinates(self, name: str, given: Floats) -> Floats:
        """An array that kernels can read: they do not check its bounds."""
        numbers = np.array(given, dtype=float, order="C")
        if numbers.shape != (self.n,):
            raise ModelError(
                f"{name} has the shape {numbers.shape}, but model '{self.model.name}' has {self.n} coordinates: "
                "x, y and phi of every body."
            )
        return numbers

    def functions_at(self, t: float) -> Floats:
        """f, f' and f'' of every row, m x 3."""
        return values_at(self.arrays.functions, float(t))

    def raised(self) -> BaseException | None:
        """What one of them has raised in the meantime."""
        return next((each.raised for each in self.callbacks if each.raised is not None), None)

    def forget_raised(self) -> None:
        """A new run starts without the exceptions of earlier ones."""
        for callback in self.callbacks:
            callback.guarded.raised = None

    def nu(self, t: float, q: Floats | None = None) -> Floats:
        """Right-hand side of the velocity equation; for formulas it also depends on the pose."""
        if self.has_formulas and q is None:
            raise UnsupportedError("nu of a Constraint depends on the pose; ask for nu(t, q).")
        return self.functions_at(t)[:, 1] if q is None else self.evaluated(t, q).f[:, 1]

    def refuse_velocity_rows(self, analysis: str) -> None:
        """Some analyses need position constraints."""
        titles = dict.fromkeys(self.model.elements[self.rows[i][0]].title for i in self.velocity_rows)
        if titles:
            holds = "holds" if len(titles) == 1 else "hold"
            raise UnsupportedError(
                f"{analysis} needs equations of positions, but {listed(titles)} {holds} velocities only. "
                "Take dynamics by 'projection', 'augmented' or 'penalty', or 'newmark' in reference-point coordinates."
            )

    def gamma(self, t: float, q: Floats, qd: Floats) -> Floats:
        """Right-hand side of the acceleration equation."""
        return self.evaluated(t, q, qd).gamma

    def M(self) -> Floats:
        """Mass matrix, n x n; constant and diagonal in these coordinates."""
        return np.diag(self.masses)

    def QA(self, t: float, q: Floats, qd: Floats) -> Floats:
        """Applied generalized force: weight, springs, forces and torques."""
        if self.missing_law is not None:
            raise UnsupportedError(self.missing_law)
        Q = np.empty(self.n)
        q, qd = self._coordinates("q", q), self._coordinates("qd", qd)
        with self.evaluator() as rows, np.errstate(over="ignore", invalid="ignore"):
            rows(float(t), q, qd)
            applied(self.arrays, self.load_arrays, float(t), q, qd, rows.w, Q)
        return Q
