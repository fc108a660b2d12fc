"""The resolved model: a model with every number evaluated and every frame placed in the initial pose.

It is the step between Model and System, and the model's checker: all problems are collected before raising.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from math import isfinite
from operator import attrgetter
from typing import Any, TypeVar

from ..errors import ModelError, Problem, Subject, UnsupportedError, unknown
from ..expressions import evaluate
from ..expressions.function import Function, as_function
from ..expressions.law import as_law
from .body import Body
from .channel_law import examined
from .dimensions import check_dimension
from .elements import (
    NUMERIC_KINDS,
    Element,
    ForceElement,
    Joint,
    Load,
    Row,
    Scope,
    resolve_field,
)
from .frame import (
    LARGEST,
    TOO_LARGE,
    Frame,
    PlacedFrame,
    Pose,
    finite,
    to_global,
    to_local,
    usual,
    usual_place,
)
from .model import Model
from .names import check_name, is_name
from .resolved_body import Naming, ResolvedBody, of_body, of_shape
from .shape import EXAMPLE, FIELDS, Inertia, Shape
from .words import NO_WORDS, vocabulary_of

OF_GRAVITY = Subject("gravity", ("gravity",))

Part = TypeVar("Part")
NO_SHAPE = Inertia(0.0)
title_of: Callable[[Element], Subject] = attrgetter("title")


class ResolvedModel(Scope):
    """Bodies, joints and rows in numbers."""

    def __init__(self, model: Model) -> None:
        """`model` is a snapshot: results describe the model as it was, even if it changes later."""
        self._clear(model)
        self._evaluate()
        if self.problems:
            where = f"{model.source}: " if model.source else ""
            raise ModelError([problem.begun(where) for problem in self.problems])

    def _clear(self, model: Model) -> None:
        self.written = model
        """What it was made from. It is never edited: others are given `model`."""
        self.problems: list[Problem] = []
        self.parameters: dict[str, float] = {}
        self.words = NO_WORDS
        self.gravity = (0.0, 0.0)
        self.bodies: dict[str, ResolvedBody] = {}
        self.elements: dict[str, Element] = {}
        self.rows: dict[str, list[Row]] = {}

    @cached_property
    def model(self) -> Model:
        """The model as it was; a copy of its own, which may be edited. Most runs never ask for it."""
        return self.written.snapshot()

    def _evaluate(self) -> None:
        if not self._evaluate_bodies():
            return
        # joints are attached to bodies: without these, only the numbers of elements can be checked
        if self.problems:
            self._examine_numbers()
            return
        self._collect(self.written.elements.values(), self._resolve, title_of)

    def _resolve(self, element: Element) -> None:
        self._refuse_self_joint(element)
        resolved = self.elements[element.name] = element.resolved(self)
        if isinstance(resolved, ForceElement):
            self._check_loads(resolved)
        if isinstance(resolved, Joint):
            self.rows[element.name] = self._rows(resolved)

    def _evaluate_bodies(self) -> bool:
        """Parameters, gravity and bodies; False if the parameters fail, and with them every later number."""
        self._collect([self.written], self._evaluate_parameters, lambda _: Subject(""))
        if self.problems:
            return False
        self._collect([self.written], self._evaluate_gravity, lambda _: OF_GRAVITY)
        self._collect(
            (self.written.ground, *self.written.bodies.values()),
            self._evaluate_body,
            of_body,
        )
        return True

    def _evaluate_parameters(self, model: Model) -> None:
        self.parameters = evaluate.resolve_parameters(model.parameters)
        self.words = vocabulary_of(model)

    def _evaluate_gravity(self, model: Model) -> None:
        gx, gy = self._numbers(model.gravity, 2, OF_GRAVITY)
        self.gravity = (gx, gy)

    def _evaluate_body(self, body: Body) -> None:
        self.bodies[body.name] = self._body(body)

    def _evaluate_numbers(self) -> None:
        if self._evaluate_bodies():
            self._examine_numbers()

    def _examine_numbers(self) -> None:
        """Check the numbers and functions of the elements, whatever the bodies are."""
        for element in self.written.elements.values():
            fields = [name for name, kind in element.kinds().items() if kind.name in NUMERIC_KINDS]
            self._collect(fields, partial(self._examine_field, element), lambda _, of=element: of.title)  # type: ignore[misc]

    def _examine_field(self, element: Element, name: str) -> None:
        given = examined(element, name, self)
        resolve_field(given, element.kinds()[name], self, element.title.part(name))

    @staticmethod
    def _check_loads(force: ForceElement) -> None:
        with suppress(UnsupportedError):  # a law given only by name; dynamics will ask for it
            list(force.loads())

    def _rows(self, joint: Joint) -> list[Row]:
        try:
            rows = list(joint.rows())
            for row in rows:
                if row.formula is None and len(row.measure.terms) > 1:
                    row.measure.period  # noqa: B018  (raises if the row has no definite value)
            return rows
        except ModelError as error:
            problems = [p if joint.title in p else p.about(joint.title) for p in error.problems]
            raise ModelError(problems) from None

    def with_model(self, model: Model) -> ResolvedModel:
        """The same of an equal model."""
        other = self._like()
        other.written = model
        other.__dict__.pop("model", None)
        return other

    def _like(self) -> ResolvedModel:
        """Another one with the same attributes."""
        other = object.__new__(ResolvedModel)
        other.__dict__.update(self.__dict__)
        return other

    def started(self, states: Mapping[str, tuple[Pose, Pose]]) -> ResolvedModel:
        """The same model with other poses and velocities of the bodies; frames stay fixed in their bodies."""
        other = self._like()
        other.bodies = dict(self.bodies)
        for name, (pose, rates) in states.items():
            body = self.bodies[name]
            other.bodies[name] = body._replace(pose=pose, velocity=rates[:2], angular_velocity=rates[2])
        return other

    def loads(self) -> tuple[list[tuple[str, Load]], str | None]:
        """The loads of every force by name; and why there are none, if a law is given only by name."""
        forces = [(name, e) for name, e in self.elements.items() if isinstance(e, ForceElement)]
        try:
            return [(name, load) for name, force in forces for load in force.loads()], None
        except UnsupportedError as error:  # kinematics does without forces
            return [], str(error)

    def _collect(
        self, parts: Iterable[Part], work: Callable[[Part], object], title: Callable[[Part], Subject]
    ) -> None:
        """Do the work for each part, and collect its problems; each begins with the title of the part."""
        for part in parts:
            try:
                work(part)
            except ModelError as error:
                self.problems += [problem.about(title(part)) for problem in error.problems]
            except ArithmeticError:
                self.problems.append(title(part).says(TOO_LARGE))

    # numbers

    def number(self, value: Any, what: Subject) -> float:
        try:
            number = evaluate.number(value, self.parameters)
        except ModelError as error:
            raise ModelError(what.says(error)) from None
        if isinstance(value, str):
            check_dimension(value, what)
        if abs(number) > LARGEST:
            raise ModelError(
                Problem(
                    f"{what} = {number:g} is too large to compute with; give at most {LARGEST:g}.", what.path
                )
            )
        return number

    def function(self, value: Any, what: Subject) -> Function:
        try:
            return as_function(value, self.parameters, words=self.words)
        except ModelError as error:
            raise ModelError(what.says(error)) from None

    def law(self, value: Any, variables: Sequence[str], what: Subject) -> Function:
        try:
            return as_law(value, variables, self.parameters, self.words)
        except ModelError as error:
            raise ModelError(what.says(error)) from None

    def _numbers(self, values: Any, count: int, what: Subject) -> list[float]:
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != count:
            raise ModelError(Problem(f"{what} is {values!r}; {count} numbers are needed.", what.path))
        return [self.number(value, what) for value in values]

    # bodies; the subjects of sentences take longer to write than the numbers to check

    def _body(self, body: Body) -> ResolvedBody:
        numbers = {} if body.shape is None else self.shape_numbers(body)
        mass = (
            self._not_negative(body, "mass", body.mass) if body.density is None else self._mass(body, numbers)
        )
        shape = NO_SHAPE if body.shape is None else self._shape(body, mass, numbers)
        inertia = shape.inertia if body.inertia is None else self._not_negative(body, "inertia", body.inertia)
        points = dict(shape.points)
        for name, place in body.points.items():
            if name in shape.points:
                raise ModelError(
                    f"body '{body.name}' has two points '{name}', one of them by its shape; rename one."
                )
            points[name] = (is_name(name) and usual_place(place)) or self._point(body, name, place)
        velocity, spin = body.velocity, body.angular_velocity
        return ResolvedBody(
            body.name,
            mass,
            inertia,
            self._pose(body, shape),
            None if velocity is None else self._vector(body, "velocity", velocity),
            None if spin is None else self._number(body, "angular_velocity", spin),
            points,
        )

    def _number(self, body: Body, field: str, value: Any, of: Naming = of_body) -> float:
        number = usual(value)
        return self.number(value, of(body).part(field)) if number is None else number

    def _vector(self, body: Body, field: str, value: Any, of: Naming = of_body) -> tuple[float, float]:
        place = usual_place(value) if type(value) is tuple and len(value) == 2 else None
        x, y = place[:2] if place else self._numbers(value, 2, of(body).part(field))
        return x, y

    def _point(self, body: Body, name: str, place: Any) -> Pose:
        what = of_body(body)
        check_name(name, f"a point of {what}")
        return self._place(place, what.part("points", f"point '{name}'"))

    def _not_negative(self, body: Body, field: str, value: Any) -> float:
        number = self._number(body, field, value)
        if number < 0.0:
            what = of_body(body).part(field)
            raise ModelError(Problem(f"{what} = {number:g} is negative.", what.path))
        return number

    def shape_numbers(self, body: Body) -> dict[str, Any]:
        """The fields of a body's shape in numbers; corners and points by their names, or else counted from 1."""
        if not isinstance(body.shape, Shape):
            raise ModelError(
                f"body '{body.name}' has the shape {body.shape!r}; give Bar, LinkShape, Plate, Disk or Block."
            )
        numbers: dict[str, Any] = {}
        for field, given in vars(body.shape).items():
            kind = FIELDS.get(field, "number")
            if kind == "number":
                numbers[field] = self._number(body, field, given, of_shape)
            elif kind == "point":
                numbers[field] = self._vector(body, field, given, of_shape)
            else:
                numbers[field] = self._places(body, field, given)
        return numbers

    def _places(self, body: Body, field: str, given: Any) -> dict[str, tuple[float, float]]:
        if isinstance(given, tuple) and field == "corners":
            given = {str(i): place for i, place in enumerate(given, 1)}
        elif not isinstance(given, Mapping):
            what = of_shape(body).part(field)
            raise ModelError(Problem(f"{what} is {given!r}; write names with places, {EXAMPLE}.", what.path))
        else:
            for name in given:
                check_name(name, f"a point of {of_body(body)}")
        of = self._vector
        return {
            name: of(body, name, place, lambda b: of_shape(b).part(field)) for name, place in given.items()
        }

    def _mass(self, body: Body, numbers: dict[str, Any]) -> float:
        """The mass by the density of a shape."""
        density = self._not_negative(body, "density", body.density)
        what = of_body(body).part("density")
        if body.shape is None:
            raise ModelError(what.says("only a body with a shape has a density; give its mass."))
        if body.mass != 0.0:
            raise ModelError(what.says(f"the mass {body.mass} is given too; give one of them."))
        return density * body.shape.size(**numbers)

    def _shape(self, body: Body, mass: float, numbers: dict[str, Any]) -> Inertia:
        assert body.shape is not None
        try:
            shape = body.shape.inertia(mass, **numbers)
        except ModelError as error:
            raise ModelError(of_shape(body).says(error)) from None
        if not all(isfinite(number) for number in (mass, shape.inertia, *(shape.pose or ()))):
            raise ModelError(of_shape(body).says(TOO_LARGE))
        return shape

    def _pose(self, body: Body, shape: Inertia) -> Pose:
        if shape.pose is not None:
            if body.position is not None or body.angle is not None:
                what = of_body(body)
                fields = " and ".join("points" if field == "through" else field for field in vars(body.shape))
                raise ModelError(
                    Problem(f"{what} is placed by its {fields}; leave out at and angle.", what.path)
                )
            return shape.pose
        x, y = (0.0, 0.0) if body.position is None else self._vector(body, "at", body.position)
        return x, y, 0.0 if body.angle is None else self._number(body, "angle", body.angle)

    def _place(self, place: Any, what: Subject) -> Pose:
        if isinstance(place, str) or not hasattr(place, "__len__") or len(place) not in (2, 3):
            raise ModelError(Problem(f"{what} is {place!r}; write [x, y] or [x, y, angle].", what.path))
        numbers = [self.number(part, what) for part in place] + [0.0]
        return numbers[0], numbers[1], numbers[2]

    # frames

    def frame(self, frame: Frame) -> PlacedFrame:
        body = self.bodies.get(frame.body) or self._drawn(frame.body)
        x, y, angle = usual_place(frame.place) or self._local(frame, body)
        return finite(PlacedFrame(body.name, x, y, angle, *to_global(body.pose, x, y, angle)))

    def frame_at(self, body: str, x: float, y: float, angle: float) -> PlacedFrame:
        return finite(PlacedFrame(body, *to_local(self._drawn(body).pose, x, y, angle), x, y, angle))

    def _local(self, frame: Frame, body: ResolvedBody) -> Pose:
        if frame.place is not None:
            return self._place(frame.place, Subject(f"frame {frame.text}"))
        if frame.point is None:
            return 0.0, 0.0, 0.0
        if frame.point not in body.points:
            hint = unknown("point", frame.point, body.points)
            raise ModelError(f"body '{body.name}' has no point '{frame.point}'. {hint}")
        return body.points[frame.point]

    def _drawn(self, name: str) -> ResolvedBody:
        if name not in self.bodies:
            self.written.find_body(name)  # says which bodies there are
        return self.bodies[name]

    def _refuse_self_joint(self, element: Element) -> None:
        bodies = [frame.body for frame in element.frames()]
        if len(bodies) > 1 and bodies.count(bodies[0]) == len(bodies):
            raise ModelError(f"{element.title} joins body '{bodies[0]}' to itself; name two bodies.")


def problems_of_numbers(model: Model) -> list[Problem]:
    """Every number, expression and function of a model that cannot be evaluated; geometry is not checked."""
    resolved = object.__new__(ResolvedModel)
    resolved._clear(model)
    resolved._evaluate_numbers()
    return resolved.problems
