"""The resolved model: a model with every number evaluated and every frame placed in the initial pose.

It is the step between Model and System, and the model's checker: all problems are collected before raising.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from operator import attrgetter
from typing import TypeVar

from ..answer import Answer
from ..errors import ModelError, Problem, Subject, UnsupportedError, unknown
from ..expressions import evaluate
from .body import Body
from .channel_law import examined
from .elements import NUMERIC_KINDS, Element, ForceElement, Joint, Load, Row, resolve_field
from .frame import TOO_LARGE, Frame, PlacedFrame, Pose, finite, to_global, to_local, usual_place
from .measure_text import parse_channels
from .model import Model
from .number_scope import NumberScope
from .resolved_body import ResolvedBody, of_body
from .words import NO_WORDS, vocabulary_of, words_of

OF_GRAVITY = Subject("gravity", ("gravity",))

Part = TypeVar("Part")


def of_formula(name: str) -> Subject:
    return Subject(f"formula '{name}'", ("formulas", name))


title_of: Callable[[Element], Subject] = attrgetter("title")


class ResolvedModel(Answer, NumberScope):
    """Bodies, joints and rows in numbers."""

    def __str__(self) -> str:
        return f"{self.model!r} in numbers"

    def __init__(self, model: Model) -> None:
        """`model` is a snapshot: results describe the model as it was, even if it changes later."""
        self._clear(model)
        self._evaluate()
        if self.problems:
            where = f"{model.source}: " if model.source else ""
            raise ModelError([problem.begun(where) for problem in self.problems])

    def _clear(self, model: Model, broken: Collection[str] = ()) -> None:
        self.written = model
        """What it was made from. It is never edited: others are given `model`."""
        self.problems: list[Problem] = []
        self.parameters: dict[str, float] = {}
        self.words = NO_WORDS
        self.gravity = (0.0, 0.0)
        self.bodies: dict[str, ResolvedBody] = {}
        self.elements: dict[str, Element] = {}
        self.rows: dict[str, list[Row]] = {}
        self.said: set[str] = set()
        self.doubtful: set[str] = set()
        """Parameters, tables and formulas that are wrong; what uses them is not."""
        self.broken: Collection[str] = broken
        """Bodies that could not be read."""

    @cached_property
    def model(self) -> Model:
        """The model as it was; a copy of its own, which may be edited. Most runs never ask for it."""
        return self.written.snapshot()

    def _evaluate(self) -> None:
        """Everything is examined, whatever else is wrong; what follows from another problem is left out."""
        model = self.written
        self._evaluate_parameters(model)
        self._collect([model], self._evaluate_words, lambda _: Subject(""))
        self.doubtful |= words_of(model) - {*self.words.tables, *self.words.texts}
        self._collect([model], self._evaluate_gravity, lambda _: OF_GRAVITY)
        self._collect((model.ground, *model.bodies.values()), self._evaluate_body, of_body)
        for name in self.broken:
            self.bodies.pop(name, None)
        self._collect(self.words.texts, self._examine_formula, of_formula)
        self._collect(model.elements.values(), self._resolve, title_of)

    def _evaluate_parameters(self, model: Model) -> None:
        self.parameters, problems = evaluate.parameter_values(model.parameters)
        self.problems += problems
        self.doubtful |= model.parameters.keys() - self.parameters.keys()

    def _evaluate_words(self, model: Model) -> None:
        self.words = vocabulary_of(model)

    def _evaluate_gravity(self, model: Model) -> None:
        gx, gy = self._numbers(model.gravity, 2, OF_GRAVITY)
        self.gravity = (gx, gy)

    def _evaluate_body(self, body: Body) -> None:
        try:
            self.bodies[body.name] = self._body(body)
        except (ModelError, ArithmeticError):
            self._collect(self.fields_of(body), lambda evaluate: evaluate(), lambda _: of_body(body))
            raise

    def _examine_formula(self, name: str) -> None:
        """Bodies and points that a named formula refers to."""
        if not self.words.arguments[name]:
            for measure in parse_channels(self.words.texts[name], self.words).measures:
                self.measure(measure)

    def _resolve(self, element: Element) -> None:
        try:
            self._attach(element)
        except ModelError:
            self.examine(element)
            raise

    def _attach(self, element: Element) -> None:
        self._refuse_self_joint(element)
        resolved = self.elements[element.name] = element.resolved(self)
        if isinstance(resolved, Joint):
            self.rows[element.name] = self._rows(resolved)
        elif isinstance(resolved, ForceElement):
            self._check_loads(resolved)

    def examine(self, element: Element) -> None:
        """Check the numbers and functions of an element, whatever its bodies are."""
        fields = [name for name, kind in element.kinds().items() if kind.name in NUMERIC_KINDS]
        self._collect(fields, partial(self._examine_field, element), lambda _: element.title)

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
                self._add(problem.about(title(part)) for problem in error.problems)
            except ArithmeticError:
                self.problems.append(title(part).says(TOO_LARGE))

    def _add(self, problems: Iterable[Problem]) -> None:
        """Problems that are new, and do not follow from what is wrong with a parameter, a table or a formula."""
        for problem in problems:
            if problem not in self.said and not any(f"'{name}'" in problem for name in self.doubtful):
                self.problems.append(problem)
                self.said.add(problem)

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
            raise ModelError([])  # what is wrong with the body has been said
        return self.bodies[name]

    def _refuse_self_joint(self, element: Element) -> None:
        bodies = [frame.body for frame in element.frames()]
        if len(bodies) > 1 and bodies.count(bodies[0]) == len(bodies):
            raise ModelError(f"{element.title} joins body '{bodies[0]}' to itself; name two bodies.")


def problems_of(model: Model, drafts: Iterable[Element], broken: Collection[str]) -> list[Problem]:
    """All problems of a model of which some bodies are broken, and those of the numbers of elements outside it."""
    resolved = object.__new__(ResolvedModel)
    resolved._clear(model, broken)
    resolved._evaluate()
    for element in drafts:
        resolved.examine(element)
    return resolved.problems
