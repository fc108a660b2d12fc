"""Elements: the bases of joints and forces, and the registry that finds them.

Defining a subclass registers it: Python, model files, the schema, the checker and the analyses find it by its class
name. The annotations of its fields say how each is read from a file and turned into numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    dataclass_transform,
    get_args,
    get_type_hints,
)

import numpy as np

from ..answer import Answer
from ..errors import ModelError, Subject, answers_misspellings
from ..expressions.function import Function
from ..expressions.law import PUSH, STATE
from ..expressions.vocabulary import Vocabulary
from ..methods import Registry
from .channel_law import channel_laws
from .curves.curve import as_curve, resolve_curve
from .drawn import written_out
from .formula import Formula, formula_of
from .formula_input import formula_text, formula_texts, texts_of
from .frame import Frame, PlacedFrame, as_frame, place_pair
from .measure import Measure, Term
from .measure_text import frames_in, frames_in_formula, parse_measure
from .names import check_name


class Kind(NamedTuple):
    """What a field holds: its name decides how it is resolved, `file_type` how it is read."""

    name: str
    file_type: Any


Number = Annotated[Any, Kind("number", float | str)]
"""A number or an expression of the parameters."""
Vector = Annotated[Any, Kind("numbers", list[float | str])]
"""A few numbers or expressions: a point, a pose, a pair of radii."""
TimeFunction = Annotated[Any, Kind("function", float | str | dict[str, Any])]
"""f(t): a number, an expression of t, a table, a Python function. In that of a joint, `drawn` is the value as drawn."""
FrameField = Annotated[Any, Kind("frame", str | dict[str, Any])]
"""A body or a point of it."""
MeasureField = Annotated[Any, Kind("measure", str)]
"""A measure or a weighted sum of measures."""
Direction = Annotated[Any, Kind("direction", float | str | list[float | str])]
"""An angle or a vector."""
Flag = Annotated[Any, Kind("plain", bool)]
"""Yes or no."""
Axes = Annotated[Any, Kind("plain", Literal["global", "body"])]
"""In which axes a vector is given."""
PushLaw = Annotated[Any, Kind("push law", float | str | dict[str, Any])]
"""g(s, sd, t): an expression, also of channels, a table of s or sd, or a Python function."""
StateLaw = Annotated[Any, Kind("state law", float | str | dict[str, Any])]
"""A function of time, or of x, y, phi, xd, yd, phid of the body and t: an expression, a table of one of them, a Python
function. A table of times is a function of time."""
BodyLaw = Annotated[Any, Kind("plain", str)]
"""A Python function (t, q, qd) of the body's state, or the name under which `load(path, laws=...)` finds it."""
Equations = Annotated[Any, Kind("formulas", str | list[str])]
"""One or several formulas of channels, measures, parameters and t, each of which is held at zero."""
Energy = Annotated[Any, Kind("formula", str)]
"""A formula of channels, measures, parameters and t."""
Components = Annotated[Any, Kind("components", dict[str, float | str])]
"""Formulas by the channel or measure along which each acts."""
CurveField = Annotated[Any, Kind("curve", dict[str, Any])]
"""A curve in the axes of a frame."""


NUMERIC_KINDS = ("number", "numbers", "function", "push law", "state law", "curve")
"""Kinds of fields whose value does not depend on the poses of bodies."""
FORMULA_KINDS = ("formula", "formulas", "components")
"""Kinds of fields that hold formulas of channels."""
FUNCTION_KINDS = ("function", "push law", "state law")
"""Kinds of fields that may be a table or a Python function."""


class Row(NamedTuple):
    """One constraint equation: `measure - value(t) = 0`; or `formula = 0`, where `measure` holds what it reads."""

    label: str
    measure: Measure
    value: float | Function = 0.0
    formula: Formula | None = None


class MeasureForce(NamedTuple):
    """An applied force along a measure.

    By a law g(s, sd, t) it resists the growth of the measure, also by a formula that `resists`. By other formulas it
    drives the measure: with its value, or for a potential energy V, with -V_u of the measure number `by` that V reads.
    """

    measure: Measure
    law: Function
    formula: Formula | None = None
    by: int = -1
    resists: bool = False

    @property
    def is_law(self) -> bool:
        return self.formula is None or self.resists

    @property
    def reads(self) -> tuple[Measure, ...]:
        """The measures that the law is a function of."""
        return (self.measure,) if self.formula is None else self.formula.measures

    @property
    def variables(self) -> tuple[str, ...]:
        return PUSH if self.formula is None else self.formula.variables

    @property
    def sign(self) -> int:
        return -1 if self.is_law or self.by >= 0 else 1

    @property
    def terms(self) -> tuple[Term, ...]:
        """What it acts along, and what it reads."""
        return tuple(term for measure in (self.measure, *self.reads) for term in measure.terms)


class Wrench(NamedTuple):
    """Force components and torque at a frame; `turning` with the body, or in global axes."""

    frame: PlacedFrame
    turning: bool
    fx: Function
    fy: Function
    torque: Function


Load = MeasureForce | Wrench


class Scope(ABC):
    """Turns what the user wrote into numbers; the model provides it."""

    parameters: dict[str, float]
    words: Vocabulary

    @abstractmethod
    def number(self, value: Any, what: Subject) -> float: ...

    @abstractmethod
    def function(self, value: Any, what: Subject) -> Function: ...

    @abstractmethod
    def law(self, value: Any, variables: Sequence[str], what: Subject) -> Function: ...

    @abstractmethod
    def frame(self, frame: Frame) -> PlacedFrame: ...

    @abstractmethod
    def frame_at(self, body: str, x: float, y: float, angle: float) -> PlacedFrame:
        """The frame of `body` that is at the given global pose as drawn."""

    def measure(self, measure: Measure | str) -> Measure:
        if isinstance(measure, str):
            measure = parse_measure(measure, self.parameters)
        terms = tuple(replace(t, a=self.frame(t.a), b=self.frame(t.b)) for t in measure.terms)  # type: ignore
        return Measure(terms)

    def formula(self, text: str, what: Subject) -> Formula:
        try:
            return formula_of(text, self.parameters, self.measure, self.words)
        except ModelError as error:
            raise ModelError([what.says(problem) for problem in error.problems]) from None


@dataclass_transform(field_specifiers=(field,))
@dataclass(repr=False)
class Element(Answer, ABC):
    """Something between bodies. Final classes carry a docstring that states their equations."""

    synonyms: ClassVar[dict[str, str]] = {}
    """Words that people bring for the names of its fields."""
    registry: ClassVar[Registry[Element]] = Registry("type", "simengine2d.model.registry")
    name: str

    def __init_subclass__(cls, abstract: bool = False) -> None:
        dataclass(cls, repr=False)
        who_has = lambda option: [name for name, other in Element.registry.items() if option in other.kinds()]
        answers_misspellings(cls, cls.synonyms, who_has)
        if not abstract:
            Element.registry[cls.__name__] = cls

    def __post_init__(self) -> None:
        check_name(self.name, type(self).__name__)
        for name, kind in self.kinds().items():
            given = getattr(self, name)
            if given is None:
                if name in self.required():
                    raise ModelError(f"{self.title} needs {name}; None was given.")
            elif type(given) is not Frame or kind.name != "frame":
                setattr(self, name, _accepted(given, kind, self.title.part(name)))

    @classmethod
    def kinds(cls) -> dict[str, Kind]:
        """Each field after the name, with what it holds."""
        return _kinds(cls)

    @classmethod
    def required(cls) -> list[str]:
        """Names of the fields that have no default."""
        return _required(cls)

    def frames(self) -> Iterator[Frame]:
        """Every frame the element refers to, as written."""
        for name, kind in _fields_with_frames(type(self)):
            given = getattr(self, name)
            if given is None:
                continue
            if kind == "frame":
                yield given
            elif kind == "measure":
                yield from frames_in(given)
            else:
                for text in texts_of(given):
                    yield from frames_in_formula(text)

    def resolved(self, scope: Scope) -> Self:
        """A copy in which every field is a number, a function or a placed frame."""
        return self.with_fields({}, scope)

    def with_fields(self, known: dict[str, Any], scope: Scope) -> Self:
        """A copy with some fields known and the others resolved."""
        values: dict[str, Any] = {"name": self.name}
        for name, kind in self.kinds().items():
            given = known[name] if name in known else getattr(self, name)
            as_it_is = given is None or kind.name == "plain" or type(given) is PlacedFrame
            values[name] = given if as_it_is else resolve_field(given, kind, scope, self.title.part(name))
        # a class of yours may derive more from its fields
        if type(self).__post_init__ is not Element.__post_init__:
            return replace(self, **values)  # type: ignore[type-var]
        other = object.__new__(type(self))
        other.__dict__.update(values)
        return other

    section: ClassVar[str] = "joints"
    """The section of a model file for elements of its kind."""

    @property
    def title(self) -> Subject:
        """`Revolute 'A'`, for messages."""
        return Subject(f"{type(self).__name__} '{self.name}'", (self.section, self.name))


class Joint(Element, abstract=True):
    """Holds some measures at a value. `freedom`: relative motions it leaves (None if that depends on its use)."""

    freedom: ClassVar[int | None] = None
    drives: ClassVar[bool] = False
    """True if the joint prescribes a motion rather than connecting bodies."""

    @abstractmethod
    def rows(self) -> Iterable[Row]:
        """The constraint equations, written on the resolved element."""

    def resolved(self, scope: Scope) -> Self:
        return self.with_fields(written_out(self, scope), scope)


class Pair(Joint, abstract=True):
    """A joint between two frames a and b.

    Instead of two points, a joint may be given by its global position as drawn, that is, in the initial pose of the
    model: `at=(x, y)` or `(x, y, angle)`. A body named without a point means its own frame; the ground named without a
    point means the position of the other side. `direction`, a global vector or angle as drawn, turns both frames.
    """

    a: FrameField
    b: FrameField
    at: Vector | None = field(default=None, kw_only=True)
    direction: Direction | None = field(default=None, kw_only=True)

    welds: ClassVar[bool] = False
    """True if two bodies named without points are joined as drawn."""
    slot: ClassVar[bool] = False
    """True if side a is a slot, whose direction has to be said where that is the ground."""

    def resolved(self, scope: Scope) -> Self:
        a, b = place_pair(self, scope)
        return self.with_fields({"a": a, "b": b, "at": None, "direction": None}, scope)


class ForceElement(Element, abstract=True):
    """Pushes on bodies."""

    section: ClassVar[str] = "forces"
    reads_channels: ClassVar[bool] = False
    """True if its laws may be formulas of any channels."""

    @abstractmethod
    def loads(self) -> Iterable[Load]:
        """Its loads, computed from the resolved element."""

    def resolved(self, scope: Scope) -> Self:
        return self.with_fields(channel_laws(self, scope), scope)


PLAIN: dict[Any, Any] = {float: Number, bool: Flag, Frame: FrameField, Measure: MeasureField}


@cache
def _kinds(cls: type[Element]) -> dict[str, Kind]:
    """Reading annotations is slow, and they never change."""
    hints = get_type_hints(cls, include_extras=True)
    return {f.name: _kind(hints[f.name]) for f in fields(cls) if f.name != "name"}


@cache
def _fields_with_frames(cls: type[Element]) -> list[tuple[str, str]]:
    """Names and kinds of the fields that are, or refer to, frames."""
    kinds = {name: kind.name for name, kind in _kinds(cls).items()}
    return [(name, kind) for name, kind in kinds.items() if kind in ("frame", "measure", *FORMULA_KINDS)]


@cache
def _required(cls: type[Element]) -> list[str]:
    return [f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING]


def _kind(hint: Any) -> Kind:
    """The Kind inside an annotation such as `Number`, `Number | None`, or `float`, which users write."""
    for part in (hint, *get_args(hint)):
        for mark in getattr(PLAIN.get(part, part), "__metadata__", ()):
            if isinstance(mark, Kind):
                return mark
    raise TypeError(f"annotate it with float, bool, Frame, Measure, Vector or TimeFunction, not {hint}")


def _accepted(given: Any, kind: Kind, what: str) -> Any:
    """A field as it is kept, or an error where it is of the wrong sort; numbers are examined when resolved."""
    if kind.name == "frame":
        return given if isinstance(given, PlacedFrame) else as_frame(given)
    if kind.name == "numbers":
        if isinstance(given, str) or np.ndim(given) != 1:
            raise ModelError(f"{what} is {given!r}; a list of numbers is needed.")
        return tuple(given)
    if kind.name == "formulas":
        return formula_texts(given, what)
    if kind.name == "formula":
        return formula_text(given, what)
    if kind.name == "components":
        if not isinstance(given, dict) or not given:
            raise ModelError(
                f"{what} is {given!r}; write formulas by channel, such as {{'rod.phi': '-2*rod.phid'}}."
            )
        return {str(along): formula_text(part, f"{what}, {along}") for along, part in given.items()}
    if kind.name == "curve":
        return as_curve(given, what)
    if kind.name == "measure" and not isinstance(given, str | Measure):
        raise ModelError(f"{what} is {given!r}; write a measure such as angle(ground, crank).")
    if kind.name == "plain" and kind.file_type is bool and not isinstance(given, bool):
        raise ModelError(f"{what} is {given!r}; give True or False.")
    return given


def resolve_field(given: Any, kind: Kind, scope: Scope, what: Subject) -> Any:
    if given is None or kind.name == "plain" or isinstance(given, Formula):
        return given
    if kind.name == "number":
        return scope.number(given, what)
    if kind.name == "numbers":
        return tuple(scope.number(part, what) for part in given)
    if kind.name == "function":
        return scope.function(given, what)
    if kind.name == "measure":
        return scope.measure(given)
    if kind.name == "push law":
        return scope.law(given, PUSH, what)
    if kind.name == "state law":
        return scope.law(given, STATE, what)
    if kind.name == "formula":
        return scope.formula(given, what)
    if kind.name == "curve":
        return resolve_curve(given, scope.parameters, what)
    if kind.name == "formulas":
        return tuple(scope.formula(text, what) for text in given)
    if kind.name == "components":
        return {
            along: tuple(scope.formula(part, what.part(along)) for part in (along, text))
            for along, text in given.items()
        }
    return given if isinstance(given, PlacedFrame) else scope.frame(given)
