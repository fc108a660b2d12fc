"""Model: the mechanism as the user wrote it. Names and numbers, no mathematics."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack

from ..errors import ModelError, OptionError, answers_misspellings, counted, unknown
from ..expressions.sampled import sampled
from ..expressions.table import Table, split_points
from ..expressions.unit_system import UnitSystem, as_unit_system
from ..methods import ChosenCoordinates, NotationName
from ..numerics.collector import collector_waits
from .body import BODY_SYNONYMS, Body, BodyOptions
from .elements import Element, ForceElement, Joint
from .formula_input import formula_text
from .frame import GROUND, Number
from .names import check_name
from .shape import Bar, Block, Disk, LinkShape, Plate, Point, Shape
from .snapshots import functions_in, own, refuse_unpicklable, unchanged

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..symbolic.equations import Equations
    from .resolved import ResolvedModel

E = TypeVar("E", bound=Element)

GRAVITY = (0.0, -9.81)
EARTH = (0.0, "-9.81 m/s^2")
"""The same in a model with units."""
NUMBERS = (
    "units",
    "parameters",
    "tables",
    "formulas",
    "gravity",
    "ground",
    "bodies",
    "elements",
)  # what a resolved model is made from


class Origin(NamedTuple):
    """A text in which a model was written, the folder of its tables, and how its lines ended in the file."""

    text: str
    folder: Path
    line_end: str = "\n"


class Model:
    """A planar mechanism: bodies, and the joints and forces between them. SI units, radians, or `units` of its own.

    Any number may be an expression of the `parameters`: `mass="rho*L"`.
    """

    __slots__ = ("__dict__", "__weakref__", "_converted", "_resolved")  # the last two beside what is copied

    def __init__(
        self,
        name: str = "mechanism",
        *,
        gravity: Sequence[Number] | None = None,
        parameters: Mapping[str, Number] | None = None,
        units: Mapping[str, str] | UnitSystem | None = None,
    ) -> None:
        self.name = name
        self.units = as_unit_system(units)
        """The units of bare numbers; None: SI units, radians."""
        self.written: Model | None = None
        """The model with units from which it was converted, if it was."""
        gravity = (GRAVITY if self.units is None else EARTH) if gravity is None else gravity
        if isinstance(gravity, str) or not isinstance(gravity, Iterable):
            raise ModelError(f"gravity = {gravity!r} must be two numbers (gx, gy), for example (0, -9.81).")
        self.gravity = tuple(gravity)
        self.parameters: dict[str, Number] = dict(parameters or {})
        self.tables: dict[str, Table] = {}
        """Tables by the names under which expressions call them."""
        self.formulas: dict[str, str] = {}
        """Formulas by name, `gap`, or by name and arguments, `pressure(u)`; expressions use them."""
        self.ground = Body(GROUND)
        self.bodies: dict[str, Body] = {}
        self.elements: dict[str, Element] = {}
        self.analysis: dict[str, Any] = {}
        """What `simengine2d run` does with the model, e.g. {"kind": "kinematics", "t_end": 2, "step": 0.01}."""
        self.look: dict[str, Any] = {}
        """How to draw it; stored with the model, never read by an analysis."""
        self.source: str | None = None
        """The file it came from, for messages."""
        self.origin: Origin | None = None
        """The YAML text it was read from; saving changes only what changed in the model."""

    # bodies

    @partial(answers_misspellings, synonyms=BODY_SYNONYMS)
    def body(
        self,
        name: str,
        *,
        mass: Number = 0.0,
        inertia: Number | None = None,
        at: Point | None = None,
        angle: Number | None = None,
        velocity: Point | None = None,
        angular_velocity: Number | None = None,
        points: Mapping[str, Point] | None = None,
        shape: Shape | None = None,
        density: Number | None = None,
    ) -> Body:
        """Add a body. `at` and `angle` are the pose of its mass center, `points` are given in body axes.

        A body with a shape may be given a `density` instead of a mass.
        """
        check_name(name, "a body")
        self._refuse_taken(name)
        parts = dict(points or {}), shape, density
        body = self.bodies[name] = Body(name, mass, inertia, at, angle, velocity, angular_velocity, *parts)
        return body

    def bar(
        self, name: str, start: Point, end: Point, *, mass: Number = 0.0, **options: Unpack[BodyOptions]
    ) -> Body:
        """Add a uniform bar between two global points; it has the points "start" and "end"."""
        return self.body(name, mass=mass, shape=Bar(tuple(start), tuple(end)), **options)

    def link(
        self, name: str, through: Mapping[str, Point], *, mass: Number = 0.0, **options: Unpack[BodyOptions]
    ) -> Body:
        """Add a uniform link through any number of named global points: `m.link("hip", {"Y": (0, 0), ...}, mass=2)`.

        It is the plate whose corners are the outermost points; where all lie on one line, a slender bar. Its axis leads
        from the first to the second. `density` is mass per area, of a slender link per length.
        """
        return self.body(name, mass=mass, shape=LinkShape(through), **options)

    def plate(
        self,
        name: str,
        corners: Mapping[str, Point] | Sequence[Point] = (),
        *,
        mass: Number = 0.0,
        **options: Unpack[BodyOptions],
    ) -> Body:
        """Add a uniform plate with global corners, in order around it; in a mapping they are named points of it.

        Its axes are parallel to the global ones as drawn.
        """
        if "width" in options or "height" in options:
            raise OptionError(
                "plate takes the corners of a polygon; write block(name, width=..., height=...)."
            )
        return self.body(name, mass=mass, shape=Plate(corners), **options)

    def disk(self, name: str, *, radius: Number, mass: Number = 0.0, **options: Unpack[BodyOptions]) -> Body:
        """Add a uniform disk; `at` is its center."""
        return self.body(name, mass=mass, shape=Disk(radius), **options)

    def block(
        self, name: str, *, width: Number, height: Number, mass: Number = 0.0, **options: Unpack[BodyOptions]
    ) -> Body:
        """Add a uniform rectangle; `at` is its center, `width` is along its x axis."""
        return self.body(name, mass=mass, shape=Block(width, height), **options)

    # names for expressions

    def table(
        self,
        name: str,
        points: Sequence[Sequence[float]] | Sequence[float],
        values: Sequence[float] | None = None,
        *,
        smooth: bool = True,
        periodic: bool = False,
    ) -> None:
        """Name a table that formulas and laws can call: `m.table("gas", [(0, 1), (1, 5)])`, then "gas(crank.phi)".

        `points` are pairs, or arguments beside `values`. A spline leads through them, straight lines if not `smooth`.
        """
        x, y = split_points(name, points) if values is None else (points, values)
        self.tables[name] = Table(of="u", points=x, values=y, smooth=smooth, periodic=periodic)  # type: ignore[arg-type]

    def function(
        self,
        name: str,
        function: Callable[[float], float],
        start: float,
        end: float,
        *,
        periodic: bool = False,
    ) -> None:
        """Name a Python function of a number: `m.function("gas", f, 0, 6)` for arguments from 0 to 6.

        It becomes a table, with so many points that the spline through them is within 1e-9 of the range of its values.
        A function that can be written with symbols is better a `formula`, which is exact.
        """
        self.tables[name] = sampled(name, function, float(start), float(end), periodic)

    def formula(self, name: str, formula: Any) -> None:
        """Name a formula that others and laws can use: `m.formula("gap", "distance(a.P, b.Q) - 0.1")`.

        It may have arguments, `m.formula("pressure(u)", "2e5*gas(u)")`, and be a Python function of symbols.
        """
        self.formulas[name] = formula_text(formula, f"formula '{name}'")

    # elements

    def add(self, element: E) -> E:
        """Add a joint, a driver or a force."""
        if not isinstance(element, Element):
            raise ModelError(f"{element!r} is neither a joint nor a force; add bodies with model.body(...).")
        self._refuse_taken(element.name)
        for frame in element.frames():
            if frame.body not in self.bodies and frame.body != GROUND:
                raise ModelError(f"{element.title} refers to {self._unknown_body(frame.body)}")
        self.elements[element.name] = element
        return element

    @property
    def joints(self) -> dict[str, Joint]:
        """The joints and drivers by name, in the order in which they were added."""
        return {name: e for name, e in self.elements.items() if isinstance(e, Joint)}

    @property
    def forces(self) -> dict[str, ForceElement]:
        return {name: e for name, e in self.elements.items() if isinstance(e, ForceElement)}

    def __getitem__(self, name: str) -> Any:
        """A body or an element by its name."""
        if name == GROUND:
            return self.ground
        if name in self.bodies:
            return self.bodies[name]
        if name in self.elements:
            return self.elements[name]
        names = [*self.bodies, *self.elements]
        raise ModelError(f"model '{self.name}' has no '{name}'. {unknown('name', name, names)}")

    def find_body(self, name: str) -> Body:
        """The body, or an error that suggests the nearest name."""
        if name == GROUND:
            return self.ground
        if name not in self.bodies:
            raise ModelError(f"there is {self._unknown_body(name)}")
        return self.bodies[name]

    # copies and files

    def with_parameters(self, **values: Number) -> Model:
        """A copy with other parameter values."""
        strange = [name for name in values if name not in self.parameters]
        if strange:
            raise ModelError(
                [
                    f"model '{self.name}' has no parameter '{name}'. {unknown('parameter', name, self.parameters)}"
                    for name in strange
                ]
            )
        other = self.copy()
        other.parameters.update(values)
        return other

    def copy(self) -> Model:
        """An independent copy."""
        return copy.deepcopy(self)

    def snapshot(self) -> Model:
        """The model as it is now, unaffected by later changes; Python functions are shared."""
        other = object.__new__(type(self))
        other.__dict__.update(own(self.__dict__))
        return other

    def __copy__(self) -> Model:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        other = object.__new__(type(self))
        memo[id(self)] = other
        other.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return other

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled; functions go by name, and those without an importable name are refused."""
        for element in self.elements.values():
            for field in element.kinds():
                for function in functions_in(getattr(element, field)):
                    refuse_unpicklable(function, f"{element.title}, {field}")
        return self.__dict__

    def check(self) -> ResolvedModel:
        """Every number evaluated and every frame placed; raises a ModelError that lists all problems.

        This is done once while the model stays as it is. What is returned has a snapshot of the model of its own.
        """
        from .resolved import ResolvedModel

        if self.units is not None:
            return self.in_si().check()
        known: ResolvedModel | None = getattr(self, "_resolved", None)
        if known is not None and self._is_like(known.written):
            return known.with_model(self.snapshot())
        with collector_waits(len(self.bodies)):
            self._resolved = ResolvedModel(self.snapshot())
        return self._resolved.with_model(self._resolved.written)

    def in_si(self) -> Model:
        """The same mechanism in SI units and radians; the model itself, where it has no `units`."""
        from .in_si import in_si

        if self.units is None:
            return self
        before, converted = getattr(self, "_converted", (None, self))
        if before is None or not self._is_like(before):
            converted = in_si(self, self.units)
            self._converted = (self.snapshot(), converted)
        return converted

    def _is_like(self, before: Model) -> bool:
        return all(unchanged(getattr(self, name), getattr(before, name)) for name in NUMBERS)

    def equations(
        self,
        coordinates: ChosenCoordinates = "reference_point",
        *,
        notation: NotationName = "haug",
        numbers: bool = False,
    ) -> Equations:
        """M, QA, Phi, Phi_q, nu, gamma and Newmark's matrix as SymPy, with symbols or with the model's `numbers`.

        `coordinates` may have choices, as in "natural(points=rod.P)". `notation` selects the letters of a textbook:
        haug, nikravesh, garcia_de_jalon or shabana.
        """
        from ..symbolic.from_model import equations_of

        return equations_of(self, coordinates, notation, numbers)

    def draw(self, ax: Axes | None = None, *, labels: bool = True, centers: bool = False) -> Axes:
        """The mechanism in its assembled pose, on new axes or on `ax`; optionally with mass centers."""
        from ..draw.snapshot import draw_model

        return draw_model(self, ax, labels=labels, centers=centers)

    def _repr_html_(self) -> str:
        from ..draw.notebook import model_html

        return model_html(self)

    def save(self, path: str | Path) -> Path:
        """Write the model: .yaml, .json, .adm, the format of the course ME451, or .py, a program that builds it."""
        from ..io import save

        return save(self, path)

    def __repr__(self) -> str:
        parts = (
            counted(len(self.bodies), "body", "bodies"),
            counted(len(self.joints), "joint"),
            counted(len(self.forces), "force"),
        )
        return f"<Model '{self.name}': {', '.join(parts)}>"

    def _refuse_taken(self, name: str) -> None:
        if name == GROUND or name in self.bodies or name in self.elements:
            kind = "the ground" if name == GROUND else "a body" if name in self.bodies else "a joint or force"
            raise ModelError(
                f"the name '{name}' is taken by {kind} of model '{self.name}'; names must differ."
            )

    def _unknown_body(self, name: str) -> str:
        hint = unknown("body", name, [GROUND, *self.bodies], plural="bodies")
        return f"body '{name}', which is not in the model. {hint}"
