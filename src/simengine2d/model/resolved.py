"""The resolved model: a model with every number evaluated and every frame placed in the initial pose.

It is the step between Model and System, and the model's checker: all problems are collected before raising.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import fields
from math import isfinite
from typing import Any, NamedTuple

from ..errors import ModelError, Problem, Subject, UnsupportedError, unknown
from ..expressions import evaluate
from ..expressions.function import Function, as_function
from ..expressions.law import as_law
from .body import Body, Inertia, Shape
from .elements import NUMERIC_KINDS, Element, ForceElement, Joint, Load, Row, Scope, check_name, resolve_field
from .frame import GROUND, TOO_LARGE, Frame, PlacedFrame, Pose, finite, to_global, to_local
from .model import Model

LARGEST = 1e100  # products of three such numbers are still finite


class ResolvedBody(NamedTuple):
    """A body in numbers. A velocity that was not given is None."""

    name: str
    mass: float
    inertia: float
    pose: Pose
    velocity: tuple[float, float] | None
    angular_velocity: float | None
    points: dict[str, tuple[float, float, float]]


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
        self.model = model
        self.problems: list[Problem] = []
        self.parameters: dict[str, float] = {}
        self.gravity = (0.0, 0.0)
        self.bodies: dict[str, ResolvedBody] = {}
        self.elements: dict[str, Element] = {}
        self.rows: dict[str, list[Row]] = {}

    def _evaluate(self) -> None:
        if not self._evaluate_bodies():
            return
        # joints are attached to bodies: without these, only the numbers of elements can be checked
        if self.problems:
            self._examine_numbers()
            return
        for name, element in self.model.elements.items():
            with self._collecting(element.title):
                self._refuse_self_joint(element)
                self.elements[name] = element.resolved(self)
                if isinstance(element, ForceElement):
                    self._check_loads(self.elements[name])  # type: ignore[arg-type]
                if isinstance(element, Joint):
                    self.rows[name] = self._rows(self.elements[name])  # type: ignore[arg-type]

    def _evaluate_bodies(self) -> bool:
        """Parameters, gravity and bodies; False if the parameters fail, and with them every later number."""
        with self._collecting(Subject("")):
            self.parameters = evaluate.resolve_parameters(self.model.parameters)
        if self.problems:
            return False
        of_gravity = Subject("gravity", ("gravity",))
        with self._collecting(of_gravity):
            gx, gy = self._numbers(self.model.gravity, 2, of_gravity)
            self.gravity = (gx, gy)
        for body in (self.model.ground, *self.model.bodies.values()):
            with self._collecting(of_body(body.name)):
                self.bodies[body.name] = self._body(body)
        return True

    def _evaluate_numbers(self) -> None:
        if self._evaluate_bodies():
            self._examine_numbers()

    def _examine_numbers(self) -> None:
        """Check the numbers and functions of the elements, whatever the bodies are."""
        for element in self.model.elements.values():
            for name, kind in element.kinds().items():
                if kind.name in NUMERIC_KINDS:
                    with self._collecting(element.title):
                        resolve_field(getattr(element, name), kind, self, element.title.part(name))

    @staticmethod
    def _check_loads(force: ForceElement) -> None:
        with suppress(UnsupportedError):  # a law given only by name; dynamics will ask for it
            list(force.loads())

    def _rows(self, joint: Joint) -> list[Row]:
        try:
            rows = list(joint.rows())
            for row in rows:
                if row.formula is None:
                    row.measure.period  # noqa: B018  (raises if the row has no definite value)
            return rows
        except ModelError as error:
            problems = [p if joint.title in p else p.about(joint.title) for p in error.problems]
            raise ModelError(problems) from None

    def with_model(self, model: Model) -> ResolvedModel:
        """The same of an equal model."""
        other = copy(self)
        other.model = model
        return other

    def started(self, states: Mapping[str, tuple[Pose, Pose]]) -> ResolvedModel:
        """The same model with other poses and velocities of the bodies; frames stay fixed in their bodies."""
        other = copy(self)
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

    @contextmanager
    def _collecting(self, title: Subject) -> Iterator[None]:
        """Collect the problems of a part; each begins with the title of the part."""
        try:
            yield
        except ModelError as error:
            self.problems += [problem.about(title) for problem in error.problems]
        except ArithmeticError:
            self.problems.append(title.says(TOO_LARGE))

    # numbers

    def number(self, value: Any, what: Subject) -> float:
        try:
            number = evaluate.number(value, self.parameters)
        except ModelError as error:
            raise ModelError(what.says(error)) from None
        if abs(number) > LARGEST:
            raise ModelError(
                Problem(
                    f"{what} = {number:g} is too large to compute with; give at most {LARGEST:g}.", what.path
                )
            )
        return number

    def function(self, value: Any, what: Subject) -> Function:
        try:
            return as_function(value, self.parameters)
        except ModelError as error:
            raise ModelError(what.says(error)) from None

    def law(self, value: Any, variables: Sequence[str], what: Subject) -> Function:
        try:
            return as_law(value, variables, self.parameters)
        except ModelError as error:
            raise ModelError(what.says(error)) from None

    def _numbers(self, values: Any, count: int, what: Subject) -> list[float]:
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != count:
            raise ModelError(Problem(f"{what} is {values!r}; {count} numbers are needed.", what.path))
        return [self.number(value, what) for value in values]

    # bodies

    def _body(self, body: Body) -> ResolvedBody:
        what = of_body(body.name)
        mass = self._not_negative(body.mass, what.part("mass"))
        shape = self._shape(body, mass)
        inertia = (
            shape.inertia if body.inertia is None else self._not_negative(body.inertia, what.part("inertia"))
        )
        points = dict(shape.points)
        for name, place in body.points.items():
            check_name(name, f"a point of {what}")
            points[name] = self._place(place, what.part("points", f"point '{name}'"))
        velocity = None
        if body.velocity is not None:
            velocity = tuple(self._numbers(body.velocity, 2, what.part("velocity")))
        spin = body.angular_velocity
        return ResolvedBody(
            body.name,
            mass,
            inertia,
            self._pose(body, shape),
            velocity,  # type: ignore[arg-type]
            None if spin is None else self.number(spin, what.part("angular_velocity")),
            points,
        )

    def _shape(self, body: Body, mass: float) -> Inertia:
        if body.shape is None:
            return Inertia(0.0)
        if not isinstance(body.shape, Shape):
            raise ModelError(f"body '{body.name}' has the shape {body.shape!r}; give Bar, Disk or Plate.")
        what = Subject(f"body '{body.name}', {body.shape.word}", of_body(body.name).path)
        numbers = {}
        for item in fields(body.shape):
            given, label = getattr(body.shape, item.name), what.part(item.name)
            is_point = item.name in ("start", "end")
            numbers[item.name] = self._numbers(given, 2, label) if is_point else self.number(given, label)
        try:
            shape = body.shape.inertia(mass, **numbers)  # type: ignore[arg-type]
        except ModelError as error:
            raise ModelError(what.says(error)) from None
        if not all(isfinite(number) for number in (shape.inertia, *(shape.pose or ()))):
            raise ModelError(what.says(TOO_LARGE))
        return shape

    def _pose(self, body: Body, shape: Inertia) -> Pose:
        what = of_body(body.name)
        if shape.pose is not None:
            if body.position is not None or body.angle is not None:
                raise ModelError(
                    Problem(f"{what} is placed by its start and end; leave out at and angle.", what.path)
                )
            return shape.pose
        x, y = self._numbers((0.0, 0.0) if body.position is None else body.position, 2, what.part("at"))
        return x, y, self.number(0.0 if body.angle is None else body.angle, what.part("angle"))

    def _place(self, place: Any, what: Subject) -> tuple[float, float, float]:
        if isinstance(place, str) or not hasattr(place, "__len__") or len(place) not in (2, 3):
            raise ModelError(Problem(f"{what} is {place!r}; write [x, y] or [x, y, angle].", what.path))
        numbers = [self.number(part, what) for part in place] + [0.0]
        return numbers[0], numbers[1], numbers[2]

    def _not_negative(self, value: Any, what: Subject) -> float:
        number = self.number(value, what)
        if number < 0.0:
            raise ModelError(Problem(f"{what} = {number:g} is negative.", what.path))
        return number

    # frames

    def frame(self, frame: Frame) -> PlacedFrame:
        body = self._drawn(frame.body)
        x, y, angle = self._local(frame, body)
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
            self.model.find_body(name)  # says which bodies there are
        return self.bodies[name]

    def _refuse_self_joint(self, element: Element) -> None:
        bodies = {frame.body for frame in element.frames()}
        if len(bodies) == 1 and len(list(element.frames())) > 1:
            raise ModelError(f"{element.title} joins body '{bodies.pop()}' to itself; name two bodies.")


def of_body(name: str) -> Subject:
    return Subject(f"body '{name}'", ("ground",) if name == GROUND else ("bodies", name))


def problems_of_numbers(model: Model) -> list[Problem]:
    """Every number, expression and function of a model that cannot be evaluated; geometry is not checked."""
    resolved = object.__new__(ResolvedModel)
    resolved._clear(model)
    resolved._evaluate_numbers()
    return resolved.problems
