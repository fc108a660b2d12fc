"""Systems that differ in numbers: those of many samples at once, from one recording of how a model is resolved.

The model is resolved with recorded numbers (`expressions/recorded.py`), which gives every number of its System as a
function of those that vary, and the conditions under which all else is alike: the same rows, functions and frames.
Where a sample breaks a condition, its System has to be built from its Model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..errors import SimEngineError
from ..expressions.function import Function
from ..expressions.function_table import with_numbers
from ..expressions.recorded import Mask, NotRecorded, Recorded, Recording, plain
from ..model.body import given_velocities
from ..model.frame import GROUND, PlacedFrame
from ..model.measure import DIRECTION
from ..model.model import Model
from ..model.resolved import ResolvedModel
from ..numerics.arrays import Floats, Ints, constant
from .applied_forces import Loads, listed_loads
from .body_sizes import interleaved, sizes_in
from .constraints import SystemArrays
from .functions_of_parts import function_of
from .system import System
from .workspace import Pool

MOST_BODIES = 200  # larger models take longer to solve than to resolve


class SystemNumbers(NamedTuple):
    """All numbers of Systems; those of one System are a row, or a single array each."""

    mass: Floats
    inertia: Floats
    gravity: Floats
    frame_x: Floats
    frame_y: Floats
    frame_angle: Floats
    term_weight: Floats
    row_period: Floats
    functions: Floats
    load_weight: Floats
    laws: Floats
    drawn_q: Floats
    drawn_qd: Floats
    parameters: Floats
    # which follow from these
    frame_cos: Floats
    frame_sin: Floats
    masses: Floats
    own_arms: Floats
    length: Floats
    arms: Floats
    sizes: Floats

    def sample(self, k: int) -> SystemNumbers:
        return SystemNumbers(*(each[k] for each in self))

    @classmethod
    def of(cls, system: System) -> SystemNumbers:
        S, L = system.arrays, system.load_arrays
        return cls(
            S.mass, S.inertia, S.gravity, S.frame_x, S.frame_y, S.frame_angle, S.term_weight, S.row_period,
            S.functions.numbers, L.term_weight, L.laws.numbers, system.drawn_q, system.drawn_qd,
            np.array([*system.parameters.values()], dtype=float), S.frame_cos, S.frame_sin, system.masses,
            system.own_arms, np.float64(system.length), system.arms, system.sizes,  # type: ignore[arg-type]
        )  # fmt: skip


Listed = list[Any]
"""Numbers, recorded or not."""


class RecordedSystem:
    """How the numbers of a System follow from those that vary."""

    def __init__(self, model_of: Callable[[Sequence[Any]], Model], samples: Floats) -> None:
        """`model_of` makes the model of a sample; the first is recorded, and all are compared with their Systems.

        Raises NotRecorded where the model computes with floats only.
        """
        values = samples[0].tolist()
        self.system = System(model_of(values))
        if len(self.system.bodies) > MOST_BODIES or self.system.has_formulas or self.system.callbacks:
            raise NotRecorded("the model is large, or has formulas or Python functions")
        self.recording = Recording(values)
        self.parts = dict(
            zip(
                SystemNumbers._fields,
                _recorded_parts(model_of(self.recording.varied), self.system),
                strict=False,  # others follow from these
            )
        )
        numbers, right = self.numbers(samples)
        if not right[0]:
            raise NotRecorded("the sample that was recorded is not right")
        for k in np.flatnonzero(right).tolist():
            _refuse_other_numbers(numbers.sample(k), System(model_of(samples[k].tolist())))

    def numbers(self, samples: Floats) -> tuple[SystemNumbers, Mask]:
        """The numbers of Systems, a row for each sample; and for which samples they are right."""
        columns, right = self.recording.replay(samples)
        given = [part.at(columns, len(samples)) for part in self.parts.values()]
        mass, inertia, _, x, y, angle, *_, drawn_q, _, _ = given
        masses, shape = interleaved(mass, mass, inertia), self.shape
        if shape is not None:
            cosine, sine, *sizes = (_repeated(each, len(samples)) for each in shape)
        else:
            cosine, sine, sizes = np.cos(angle), np.sin(angle), [*sizes_in(self.system.arrays, drawn_q, x, y)]
            constant((cosine, sine, *sizes))
        return SystemNumbers(*[*given, cosine, sine, constant(masses), *sizes]), right

    @cached_property
    def shape(self) -> list[Floats] | None:
        """Cosines and sines of frames, and sizes, where they do not vary."""
        x, y, angle, drawn_q = (self.parts[name] for name in ("frame_x", "frame_y", "frame_angle", "drawn_q"))
        if x.varied or y.varied or angle.varied or drawn_q.varied:
            return None
        q, (u, v, a) = drawn_q.base[None], (part.base[None] for part in (x, y, angle))
        return [*constant((np.cos(a), np.sin(a), *sizes_in(self.system.arrays, q, u, v)))]

    def system_of(self, numbers: SystemNumbers, k: int, model: Callable[[], Model]) -> VariedSystem:
        """The System of sample k; `model` makes its Model, where somebody asks for names."""
        return VariedSystem(self.system, self.alike, lambda: numbers.sample(k), model)

    @cached_property
    def alike(self) -> dict[str, Any]:
        """Attributes that are the same for all samples."""
        return {name: getattr(self.system, name) for name in ALIKE}


def _refuse_other_numbers(recorded: SystemNumbers, system: System) -> None:
    pairs = zip(recorded, SystemNumbers.of(system), strict=True)
    if any(a.tobytes() != b.tobytes() for a, b in pairs):
        raise NotRecorded("the numbers of a System are not those of its recording")


class _Part:
    """An array of numbers, some of which vary."""

    def __init__(self, listed: Listed) -> None:
        self.base = constant(np.array([plain(each) for each in listed], dtype=float))
        self.varied = [(k, each.place) for k, each in enumerate(listed) if isinstance(each, Recorded)]

    def at(self, columns: list[Any], count: int) -> Floats:
        if not self.varied:
            return _repeated(self.base[None], count)
        values = np.empty((count, self.base.size))
        values[:] = self.base
        for k, place in self.varied:
            values[:, k] = columns[place]
        return constant(values)


def _recorded_parts(model: Model, system: System) -> list[_Part]:
    """What the System of a model with recorded numbers holds."""
    try:
        return [_Part(each) for each in _numbers_of(model.check(), system)]
    except (SimEngineError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise NotRecorded(str(error)) from error  # some part of the model needs floats, or their text


def _numbers_of(resolved: ResolvedModel, system: System) -> list[Listed]:
    """Every number that is not derived, in the order of the arrays of a System."""
    S, L = system.arrays, system.load_arrays
    bodies = [body for body in resolved.bodies.values() if body.name != GROUND]
    rows = [row for rows in resolved.rows.values() for row in rows]
    terms = [term for row in rows for term in row.measure.terms]
    loads = listed_loads([load for _, load in resolved.loads()[0]])
    functions = [function_of(row) for row in rows]
    _refuse_other_functions(system.functions, functions)
    _refuse_other_functions(listed_loads([load for _, load in system.loads]).laws, loads.laws)
    frames: list[list[PlacedFrame]] = [[] for _ in range(S.frame_body.size)]
    _collect(frames, S.term_a, [term.a for term in terms])
    _collect(frames, S.term_b, [term.b for term in terms])
    _collect(frames, L.term_a, [term.a for term in loads.terms])
    _collect(frames, L.term_b, [term.b for term in loads.terms])
    _collect(frames, L.wrench_frame, [wrench.frame for wrench in loads.wrenches])
    placed = _told_apart(frames)
    directions = bool(np.any(S.term_kind == DIRECTION))
    return [
        [body.mass for body in bodies],
        [body.inertia for body in bodies],
        [*resolved.gravity],
        [frame.x for frame in placed],
        [frame.y for frame in placed],
        [frame.angle for frame in placed],
        [term.weight for term in terms],
        [row.measure.period if directions else 0.0 for row in rows],
        [number for function in functions for number in function.numbers],
        [term.weight for term in loads.terms],
        [number for law in loads.laws for number in law.numbers],
        [number for body in bodies for number in body.pose],
        [np.nan if v is None else v for body in bodies for v in given_velocities(body)],
        [*resolved.parameters.values()],
    ]


def _refuse_other_functions(known: Sequence[Function], functions: Sequence[Function]) -> None:
    """Functions that differ in more than numbers."""
    for a, b in zip(known, functions, strict=True):
        tapes = [each.tape.operations if each.tape else () for each in (a, b)]
        if (a.kind, a.reads, a.domain, tapes[0]) != (b.kind, b.reads, b.domain, tapes[1]):
            raise NotRecorded("a function is of another kind")


def _collect(frames: list[list[PlacedFrame]], places: Ints, found: Sequence[Any]) -> None:
    for place, frame in zip(places.tolist(), found, strict=True):
        frames[place].append(frame)


def _told_apart(frames: list[list[PlacedFrame]]) -> list[PlacedFrame]:
    """The frame at each number. What is one frame of a System has to stay one, and two have to stay two."""
    for alike in frames:
        if any(frame != alike[0] for frame in alike[1:]):
            raise NotRecorded("frames differ that are one")
    placed = [alike[0] for alike in frames]
    for a, b in combinations(placed, 2):
        if a.body == b.body and not any(_differ(x, y) for x, y in zip(a[1:], b[1:], strict=True)):
            raise NotRecorded("frames are one that differ")
    return placed


def _differ(a: Any, b: Any) -> bool:
    """Whether two numbers differ; only if they do, that becomes a condition."""
    return plain(a) != plain(b) and bool(a != b)


def _repeated(row: Floats, count: int) -> Floats:
    """The same row for all samples, in one place."""
    return row if count == 1 else np.broadcast_to(row, (count, *row.shape[1:]))


# The System of a sample -------------------------------------------------------------------------------

NAMED = "resolved", "bodies", "rows", "functions", "varying", "loads", "laws"
"""Attributes that are names and objects; most runs of variants ask for none of them."""
MEASURED = "masses", "drawn_q", "own_arms", "length", "arms", "sizes"
"""Those that are numbers."""
ALIKE = (
    "n", "m", "missing_law", "first_rows", "driver_rows", "has_formulas", "velocity_rows", "moving_rows", "domain",
    "python_functions", "callbacks", "body_names", "element_names", "formula_names", "row_names", "coordinate_names",
)  # fmt: skip
"""Attributes that are the same for all samples."""


class VariedSystem(System):
    """A System by its numbers. What has names is made from its Model where somebody asks for it."""

    def __init__(
        self,
        like: System,
        alike: dict[str, Any],
        numbers: Callable[[], SystemNumbers],
        model: Callable[[], Model],
    ) -> None:
        self.__dict__.update(alike)
        self.like, self.make_numbers, self.make_model = like, numbers, model
        self.idle, self.has_run, self.known = Pool(), False, {}

    @property
    def named(self) -> System:
        return self.like

    @cached_property
    def numbers(self) -> SystemNumbers:
        return self.make_numbers()

    @cached_property
    def arrays(self) -> SystemArrays:  # type: ignore[override]
        S, N = self.like.arrays, self.numbers
        return S._replace(
            mass=N.mass, inertia=N.inertia, gravity=N.gravity, frame_x=N.frame_x, frame_y=N.frame_y,
            frame_angle=N.frame_angle, frame_cos=N.frame_cos, frame_sin=N.frame_sin, term_weight=N.term_weight,
            row_period=N.row_period, functions=with_numbers(S.functions, N.functions),
        )  # fmt: skip

    @cached_property
    def drawn_qd(self) -> Floats:
        return self.numbers.drawn_qd

    @cached_property
    def load_arrays(self) -> Loads:  # type: ignore[override]
        L, N = self.like.load_arrays, self.numbers
        if not N.laws.size:
            return L
        return L._replace(term_weight=N.load_weight, laws=with_numbers(L.laws, N.laws))

    @cached_property
    def written(self) -> Model:
        return self.make_model()

    @cached_property
    def parameters(self) -> dict[str, float]:
        return dict(zip(self.like.parameters, self.numbers.parameters.tolist(), strict=True))

    def __getattr__(self, name: str) -> Any:
        if name in MEASURED:
            self.__dict__.update({each: getattr(self.numbers, each) for each in MEASURED})
            self.length = float(self.numbers.length)
        elif name == "resolved":
            self.__dict__[name] = self.written.check()
        elif name in NAMED:
            whole = System(self.resolved)
            self.__dict__.update({each: getattr(whole, each) for each in NAMED})
        else:
            raise AttributeError(name)
        return self.__dict__[name]

    def attributes(self) -> dict[str, Any]:
        for name in (*NAMED, *MEASURED, "arrays", "load_arrays", "drawn_qd"):
            getattr(self, name)
        return super().attributes()
