"""The numbers of a model: expressions to floats, and bodies with their shapes to mass, inertia and pose."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import ModelError, Problem, Subject
from ..expressions import evaluate
from ..expressions.function import Function, as_function
from ..expressions.law import as_law
from ..expressions.recorded import called, isfinite
from .body import Body
from .dimensions import check_dimension
from .elements import Scope
from .frame import LARGEST, TOO_LARGE, Pose, usual, usual_place
from .names import check_name, is_name
from .resolved_body import Naming, ResolvedBody, of_body, of_shape
from .shape import EXAMPLE, FIELDS, Inertia, Shape

NO_SHAPE = Inertia(0.0)


class NumberScope(Scope, ABC):
    """Evaluates what is written with the parameters and words of a model."""

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

    def fields_of(self, body: Body) -> Iterator[Callable[[], Any]]:
        """The evaluation of each field of a body on its own, to find all that are wrong."""
        for field in ("mass", "density", "inertia", "angle", "angular_velocity"):
            if getattr(body, field) is not None:
                yield partial(self._number, body, field, getattr(body, field))
        for field, value in (("at", body.position), ("velocity", body.velocity)):
            if value is not None:
                yield partial(self._vector, body, field, value)
        for name, place in body.points.items():
            yield partial(self._point, body, name, place)

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
            raise ModelError(
                Problem(f"{what} = {number:g} is negative. Write 0 or a positive number.", what.path)
            )
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
        return density * called(_size, body.shape, numbers)

    def _shape(self, body: Body, mass: float, numbers: dict[str, Any]) -> Inertia:
        assert body.shape is not None
        try:
            shape: Inertia = called(_inertia, body.shape, mass, numbers)
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


def _inertia(shape: Shape, mass: float, numbers: dict[str, Any]) -> Inertia:
    return shape.inertia(mass, **numbers)


def _size(shape: Shape, numbers: dict[str, Any]) -> float:
    return shape.size(**numbers)
