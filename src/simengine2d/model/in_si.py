"""The same mechanism in SI units and radians: every number of a model with units, converted once.

All that comes after it, from the resolved model to the results, knows SI units only.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ModelError, Subject
from ..expressions.unit_reader import BARE, Sort, UnknownName
from ..expressions.unit_system import ACCELERATION, ANGLE, LENGTH, NOTHING, UnitSystem
from ..expressions.units import Dimension
from ..expressions.vocabulary import signature
from .body import Body
from .curves.curve import Curve
from .elements import FUNCTION_KINDS, Element
from .frame import Frame
from .measure import Measure
from .resolved import problems_of
from .resolved_body import of_body
from .shape import LinkShape
from .si_values import OF_TIME, SIValues
from .unit_fields import (
    BODY,
    CURVE,
    ELEMENTS,
    ENERGY,
    MEASURES,
    density_of,
    effort,
    of_measure,
    variables_of,
)
from .words import CALLS

if TYPE_CHECKING:
    from .model import Model


def in_si(model: Model, units: UnitSystem) -> Model:
    """A copy of the model in SI units; what cannot be converted is reported with all that is wrong otherwise."""
    converter = _Converter(model, units)
    other = converter.converted()
    if converter.problems:
        where = f"{model.source}: " if model.source else ""
        others = [problem.begun(where) for problem in problems_of(other, (), ())]
        raise ModelError([*(problem.begun(where) for problem in converter.problems), *others])
    return other


class _Converter(SIValues):
    """Goes through the fields of a model."""

    def converted(self) -> Model:
        model = self.given
        other = model.snapshot()
        other.units, other.written, other.origin = None, model.snapshot(), None
        other.parameters = {
            name: self.value(value, None, {}, Subject(f"parameter '{name}'", ("parameters", name)))
            for name, value in model.parameters.items()
        }
        other.formulas = {
            name: self.value(text, None, OF_TIME, Subject(f"formula '{name}'", ("formulas", name)))
            for name, text in model.formulas.items()
            if not signature(name)[1]  # the others are written out where they are used
        }
        gravity = Subject("gravity", ("gravity",))
        other.gravity = tuple(self.value(part, ACCELERATION, {}, gravity) for part in model.gravity)
        other.ground = self.body(model.ground)
        other.bodies = {name: self.body(body) for name, body in model.bodies.items()}
        other.elements = {name: self.element(element) for name, element in model.elements.items()}
        return other

    # bodies

    def body(self, body: Body) -> Body:
        what = of_body(body)
        other = replace(body)
        for field, dimension in BODY.items():
            setattr(other, field, self.value(getattr(body, field), dimension, {}, what.part(field)))
        other.points = {name: self.place(place, what.part("points")) for name, place in body.points.items()}
        if body.density is not None:
            self.refuse_bare_density(body, what.part("density"))
            other.density = self.value(body.density, density_of(body.shape), {}, what.part("density"))
        if body.shape is not None:
            given = {
                f.name: self.shape(getattr(body.shape, f.name), what.part(f.name)) for f in fields(body.shape)
            }
            other.shape = replace(body.shape, **given)  # type: ignore[type-var]
        return other

    def refuse_bare_density(self, body: Body, what: Subject) -> None:
        """A link is slender or a plate, as its points lie."""
        if not isinstance(body.shape, LinkShape):
            return
        sort: Sort | None = BARE
        if isinstance(body.density, str):
            with suppress(UnknownName, ModelError):
                sort = self.reader({}).read(self.words.parse(body.density))[1]
        if sort is not None and sort.is_bare:
            self.problems.append(what.says("write its unit: per length of a straight link, else per area."))

    def shape(self, given: Any, what: Subject) -> Any:
        """Lengths, points, or points by name."""
        if isinstance(given, Mapping):
            return {name: self.value(place, LENGTH, {}, what) for name, place in given.items()}
        return self.value(given, LENGTH, {}, what)

    # elements

    def element(self, element: Element) -> Element:
        measure = self.measured(element)
        values = {}
        for field, kind in element.kinds().items():
            given = getattr(element, field)
            what = element.title.part(field)
            if given is not None and kind.name != "plain":
                values[field] = self.field(element, field, given, measure, what)
            elif field == "law" and given is not None:
                self.problems.append(
                    what.says("a Python function knows no units. Give expressions or tables.")
                )
        return replace(element, **values)  # type: ignore[type-var]

    def measured(self, element: Element) -> Dimension:
        """What the measure of an element measures, if it has one."""
        measure = getattr(element, "measure", None)
        if isinstance(measure, Measure):
            kinds = {MEASURES.get(term.kind, LENGTH) for term in measure.terms}
            return kinds.pop() if len(kinds) == 1 else NOTHING
        if isinstance(measure, str):
            with suppress(UnknownName, ModelError):
                return self.reader({}).read(self.words.parse(measure, CALLS))[1].dimension
        return ELEMENTS.get(type(element).__name__, {}).get("value", NOTHING)

    def field(self, element: Element, name: str, given: Any, measure: Dimension, what: Subject) -> Any:
        kind = element.kinds()[name].name
        variables = variables_of(kind, measure)
        if kind == "frame":
            return self.frame(given, what)
        if kind == "measure":
            return (
                self.value(given, None, OF_TIME, what)
                if isinstance(given, str)
                else self.measure(given, what)
            )
        if name == "at":
            return self.place(given, what)
        if kind == "direction":
            return self.direction(given, what)
        if kind == "curve":
            return self.curve(given, variables, what)
        if kind in ("formulas", "formula", "components"):
            return self.formulas(kind, given, what)
        dimension = ELEMENTS.get(type(element).__name__, {}).get(name)
        if dimension is None and hasattr(element, "measure"):
            dimension = of_measure(name, measure)
        if dimension is None and kind in ("number", "numbers", *FUNCTION_KINDS):
            self.problems.append(what.says("what it measures is not known, so that it cannot be converted."))
        return self.value(given, dimension, variables, what)

    def frame(self, given: Any, what: Subject) -> Any:
        if not isinstance(given, Frame) or given.place is None:
            return given
        x, y, angle = self.place(given.place, what)
        return Frame(given.body, place=(x, y, angle))

    def measure(self, given: Measure, what: Subject) -> Measure:
        terms = [
            replace(term, a=self.frame(term.a, what), b=self.frame(term.b, what)) for term in given.terms
        ]
        return Measure(tuple(terms))

    def direction(self, given: Any, what: Subject) -> Any:
        """An angle, or a vector, whose length does not matter as long as both components have the same unit."""
        if np.ndim(given) == 0:
            return self.value(given, ANGLE, {}, what)
        return self.value(given, LENGTH, {}, what)

    def curve(self, given: Curve, variables: Mapping[str, Sort], what: Subject) -> Curve:
        values: dict[str, Any] = {}
        for name, part in given.given.items():
            if name == "direction":
                values[name] = self.value(part, ANGLE, {}, what)
            elif name in CURVE:
                values[name] = self.value(part, CURVE[name], variables, what)
            else:
                values[name] = part
        return Curve(**values)

    def formulas(self, kind: str, given: Any, what: Subject) -> Any:
        if kind == "formula":
            return self.value(given, ENERGY, OF_TIME, what)
        if kind == "formulas":
            return tuple(self.value(text, None, OF_TIME, what) for text in given)
        return {
            self.value(along, None, OF_TIME, what): self.value(
                text, self.effort(along), OF_TIME, what.part(along)
            )
            for along, text in given.items()
        }

    def effort(self, along: str) -> Dimension | None:
        """What acts along a channel or a measure."""
        with suppress(UnknownName, ModelError):
            return effort(self.reader(OF_TIME).read(self.words.parse(along, CALLS))[1].dimension)
        return None
