"""Numbers, expressions and tables of a model with units, in SI units."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, Problem, Subject
from ..expressions.evaluate import refuse_ambiguous
from ..expressions.recorded import Recorded, as_number, called
from ..expressions.syntax import Call, Name, Node, to_text
from ..expressions.table import Table
from ..expressions.unit_reader import BARE, OF_PARAMETER, Read, Sort, UnitReader, UnknownName
from ..expressions.unit_system import LENGTH, NOTHING, SI, TIME, ShownUnit, UnitSystem
from ..expressions.units import Dimension
from .frame import AT
from .measure import KINDS
from .measure_text import RATE
from .unit_fields import MEASURES, PLACE, STATE, divided
from .words import CALLS, vocabulary_of

if TYPE_CHECKING:
    from .model import Model

OF_TIME: Mapping[str, Sort] = {"t": Sort(TIME)}


class SIValues:
    """Converts what is written in a model; what is wrong for other reasons is left as it is, for others to say."""

    def __init__(self, model: Model, units: UnitSystem) -> None:
        self.given, self.units = model, units
        self.problems: list[Problem] = []
        self.words = vocabulary_of(model)
        self.sorts: dict[str, Sort | None] = {}

    # names

    def sort_of(self, variables: Mapping[str, Sort], name: str) -> Sort | None:
        """What a name measures: a variable, a parameter, or a channel such as crank.A.x."""
        if name in variables:
            return variables[name]
        if name in self.given.parameters:
            return self.parameter(name)
        owner, _, quantity = name.rpartition(".")
        return Sort(STATE[quantity]) if owner and quantity in STATE else None

    def parameter(self, name: str) -> Sort | None:
        """What a parameter measures; one without a unit is bare."""
        if name not in self.sorts:
            self.sorts[name] = None  # a circle of parameters is reported elsewhere
            value = self.given.parameters[name]
            sort: Sort | None = BARE
            if isinstance(value, str):
                sort = None
                with suppress(UnknownName, ModelError):
                    sort = self.reader({}).read(self.words.parse(value))[1]
            self.sorts[name] = (
                OF_PARAMETER if sort is not None and sort.is_bare and not sort.factors else sort
            )
        return self.sorts[name]

    def reader(self, variables: Mapping[str, Sort]) -> UnitReader:
        return UnitReader(self.units, partial(self.sort_of, variables), self.call)

    def call(self, reader: UnitReader, node: Call) -> Read | None:
        """Measures between frames, and their rates."""
        if node.name == RATE and len(node.args) == 1:
            inner, sort = reader.read(node.args[0])
            return node.with_parts([inner]), Sort(divided(sort.dimension, TIME))
        if node.name in KINDS:
            return node.with_parts([self.frame_node(reader, arg) for arg in node.args]), Sort(
                MEASURES.get(node.name, LENGTH)
            )
        return None

    def frame_node(self, reader: UnitReader, node: Node) -> Node:
        """`crank.at(50, 0)`, `at('Long Rod', 50, 0)`: lengths, and an angle."""
        if not isinstance(node, Call):
            return node
        names = [arg for arg in node.args[:1] if node.name == AT and isinstance(arg, Name)]
        numbers = [reader.read(arg) for arg in node.args[len(names) :]]
        placed = [reader.in_place(*read, place) for read, place in zip(numbers, PLACE, strict=False)]
        return node.with_parts([*names, *placed])

    # values

    def value(
        self, given: Any, dimension: Dimension | None, variables: Mapping[str, Sort], what: Subject
    ) -> Any:
        """A number, an expression or a table of a field that measures `dimension`."""
        if given is None or isinstance(given, bool):
            return given
        if isinstance(given, str):
            return self.text(given, dimension, variables, what)
        if isinstance(given, Table):
            return self.table(given, dimension, variables)
        if isinstance(given, int | float | np.number | Recorded):
            return given if dimension is None else called(self.units.scaled, as_number(given), dimension)
        if callable(given) or not isinstance(given, list | tuple):
            self.problems.append(
                what.says("the numbers of a Python function have no units. Give an expression or a table.")
            )
            return given
        return tuple(self.value(part, dimension, variables, what) for part in given)

    def text(
        self, given: str, dimension: Dimension | None, variables: Mapping[str, Sort], what: Subject
    ) -> str:
        try:
            tree = self.words.parse(given, CALLS)
        except ModelError:
            return given
        try:
            refuse_ambiguous(tree, (*variables, *self.given.parameters))
            reader = self.reader(variables)
            return to_text(reader.in_place(*reader.read(tree), dimension))
        except UnknownName:
            return given
        except ModelError as error:
            self.problems += [what.says(problem) for problem in error.problems]
            return given

    def table(self, given: Table, dimension: Dimension | None, variables: Mapping[str, Sort]) -> Table:
        """The points of a table in a field: of time, or of a variable of the law."""
        of = variables[given.variable].dimension if given.variable in variables else TIME
        points = [self.units.scaled(point, of) for point in given.times]
        values = [self.units.scaled(value, dimension or NOTHING) for value in given.values]
        where: dict[str, Any] = {"of": given.of, "points": points} if given.of else {"times": points}
        return Table(values=values, periodic=given.periodic, smooth=given.smooth, **where)

    def place(self, given: Any, what: Subject) -> Any:
        """[x, y] or [x, y, angle]"""
        if isinstance(given, str) or not hasattr(given, "__len__"):
            return given
        return tuple(self.value(part, dim, {}, what) for part, dim in zip(given, PLACE, strict=False))


def text_in_si(model: Model, text: str) -> str:
    """A text about a model in SI units: in that of a model with units, bare numbers are in its units."""
    values = _values_of(model)
    if values is None:
        return text
    converted = values.text(text, None, OF_TIME, Subject(f"'{text}'"))
    if values.problems:
        raise ModelError(values.problems)
    return converted


def sort_of_text(model: Model, text: str) -> Sort:
    """What a text about a model measures."""
    values = _values_of(model) or SIValues(model, UnitSystem())
    try:
        return values.reader(OF_TIME).read(values.words.parse(text, CALLS))[1]
    except UnknownName as name:
        raise ModelError(f"'{text}' names '{name}', of which it is not known what it measures.") from None


def _values_of(model: Model) -> SIValues | None:
    """The values of the model with units that a model is, or was converted from."""
    written = model if model.units is not None else model.written
    return None if written is None or written.units is None else SIValues(written, written.units)


def unit_of_parameter(model: Model, name: str) -> ShownUnit:
    """The unit of a parameter that was written with one, as it is written in expressions; without a name otherwise."""
    values = _values_of(model)
    sort = None if values is None else values.parameter(name)
    if values is None or sort is None or sort.is_bare or not any(sort.dimension):
        return ShownUnit("")
    unit = values.units.name(sort.dimension).replace("²", "^2").replace("³", "^3")
    return ShownUnit(unit, values.units.factor(sort.dimension))


def units_of(model: Model) -> UnitSystem:
    """The units in which a model was written."""
    written = model if model.units is not None else model.written
    return (None if written is None else written.units) or SI
