"""The structure of model files, made from the registry: a newly defined joint is known here at once.

Pydantic checks the records and publishes the JSON Schema.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

from ..analyses.catalog import CATALOG, OPTIONS
from ..expressions.unit_system import UnitSystem, units_of
from ..model.body import BODY_SYNONYMS, Body
from ..model.elements import Element, ForceElement, Joint, Kind
from ..model.shape import FIELDS, SHAPES

VERSION = 1
ADDRESS = "https://json-schema.org/draft/2020-12/schema"

Number = float | str
Point = Annotated[list[Number], Field(min_length=2, max_length=2)]
Place = Annotated[list[Number], Field(min_length=2, max_length=3)]
NamedPoints = Annotated[dict[str, Point], Field(min_length=2)]
Corners = Annotated[list[Point], Field(min_length=3)] | Annotated[dict[str, Point], Field(min_length=3)]
SHAPE_TYPES = {"number": Number, "point": Point, "named points": NamedPoints, "corners": Corners}

EXPECTED = {
    "number": "a number or an expression such as 30*deg",
    "numbers": "a list of numbers or expressions such as [1, 0]",
    "point": "two numbers or expressions [x, y]",
    "named points": "two or more names with global places, such as {A: [0, 0], B: [1, 0], C: [0.5, 1]}",
    "corners": "three or more global places [[0, 0], [2, 0], [0, 1]], "
    "or names with places {A: [0, 0], B: [2, 0], C: [0, 1]}",
    "points": "names with places, such as {A: [1, 0], B: [0, 1, 90*deg]}",
    "function": "a number, an expression of t such as sin(2*t) or drawn + sin(2*t), or a table "
    "{times: [...], values: [...]} or {file: motion.csv}",
    "push law": "an expression of s, sd and t such as 100*s^3, or a table {of: s, points: [...], values: [...]}",
    "state law": "a number, an expression of t, x, y, phi, xd, yd, phid such as -2*xd, a table of time "
    "{times: [...], values: [...]}, or one of a variable {of: x, points: [...], values: [...]}",
    "frame": 'a body, a point such as crank.A, or a place such as "crank.at(0.5, 0)" or {body: crank, at: [0.5, 0]}',
    "measure": "a measure such as angle(ground, crank)",
    "formula": "a formula of channels and measures such as 2*rod.B.y^2",
    "formulas": "a formula of channels and measures such as rod.B.y - 0.1*sin(3*rod.B.x), or a list of them",
    "curve": "a curve {x: 0.05*cos(s), y: 0.03*sin(s)}, {points: [[0, 0], [1, 2], ...]}, or a cam's profile "
    "{motion: 0.01*(1 - cos(theta)), base_radius: 0.04, follower: roller, roller_radius: 0.01}",
    "named formulas": "names with formulas, such as {gap: distance(a.P, b.Q) - 0.1} or {pressure(u): 2e5*gas(u)}",
    "components": "formulas by channel, such as {rod.phi: -2*rod.phid}",
    "direction": "an angle or a vector such as [1, 0]",
    "text": "a text",
    "mapping": "names with values, such as {a: 1}",
}


class Record(BaseModel):
    """What a mapping in a file may hold: these fields, of exactly these types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=())
    synonyms: ClassVar[dict[str, str]] = {}
    """Words that people bring for the names of the fields."""


class FrameAt(Record):
    """A frame given by its place in body axes."""

    body: str
    at: Place


class PointTable(Record):
    """f(t) as points; a cubic spline goes through them. A periodic table repeats."""

    times: Annotated[list[float], Field(min_length=2)]
    values: Annotated[list[float], Field(min_length=2)]
    periodic: bool = False
    smooth: bool = True


class LawTable(Record):
    """A force as a table of one variable of its law, such as s of a spring or x of a body."""

    of: str
    points: Annotated[list[float], Field(min_length=2)]
    values: Annotated[list[float], Field(min_length=2)]
    periodic: bool = False
    smooth: bool = True


class FileTable(Record):
    """Two columns of a CSV file beside the model file; a column is a name or a number from 0.

    The first holds times, or the points of the variable `of`.
    """

    file: str
    of: str = ""
    time: str | Annotated[int, Field(ge=0)] = 0
    value: str | Annotated[int, Field(ge=0)] = 1
    periodic: bool = False
    smooth: bool = True


class NamedTable(Record):
    """A function by points, for use in expressions: a spline leads through them, straight lines if not smooth."""

    points: Annotated[list[Annotated[list[float], Field(min_length=2, max_length=2)]], Field(min_length=2)]
    smooth: bool = True
    periodic: bool = False


class NamedFileTable(Record):
    """The same from two columns of a CSV file beside the model file; a column is a name or a number from 0."""

    file: str
    argument: str | Annotated[int, Field(ge=0)] = 0
    value: str | Annotated[int, Field(ge=0)] = 1
    smooth: bool = True
    periodic: bool = False


class ParametricCurve(Record):
    """x and y as expressions of s; closed where the ends meet, unless given."""

    x: Number
    y: Number
    range: Point | None = None
    closed: bool | None = None


class SplineCurve(Record):
    """A spline through points; closed where the last point is the first, or where given."""

    points: Annotated[list[Point], Field(min_length=3)]
    closed: bool | None = None


class CamCurve(Record):
    """The profile of a cam that gives its follower a motion, an expression of the cam's angle theta over a turn."""

    motion: Number
    base_radius: Number
    follower: Literal["roller", "knife", "flat"] = "roller"
    roller_radius: Number | None = None
    offset: Number | None = None
    direction: Number | None = None
    clockwise: bool | None = None


FUNCTION = float | str | PointTable | FileTable
LAW = float | str | PointTable | LawTable | FileTable
CURVE = ParametricCurve | SplineCurve | CamCurve
FILE_TYPES = {
    "frame": str | FrameAt,
    "function": FUNCTION,
    "push law": LAW,
    "state law": LAW,
    "curve": CURVE,
}


# Elements ---------------------------------------------------------------------------------------------


@cache
def element_record(cls: type[Element]) -> type[Record]:
    """The record of an element in a file: its type, then the fields of the class."""
    defaults = {f.name: f.default for f in fields(cls)}  # type: ignore[arg-type]
    required = cls.required()
    entries: dict[str, Any] = {"type": (Literal[cls.__name__], Field(description="the class of the element"))}  # type: ignore[name-defined]
    for name, kind in cls.kinds().items():
        accepted = FILE_TYPES.get(kind.name, kind.file_type)
        options = Field(..., description=expected(kind))
        if name not in required:
            default = None if defaults[name] is MISSING else defaults[name]
            accepted = accepted | None if default is None else accepted
            options = Field(default=default, description=expected(kind))
        entries[name] = (accepted, options)
    record = _made(cls.__name__, inspect.getdoc(cls), entries)
    record.synonyms = cls.synonyms
    return record


def expected(kind: Kind) -> str:
    """What a field wants, in words."""
    if kind.name in EXPECTED:
        return EXPECTED[kind.name]
    if kind.file_type is bool:
        return "true or false"
    if getattr(kind.file_type, "__origin__", None) is Literal:
        return " or ".join(str(word) for word in kind.file_type.__args__)
    return EXPECTED["text"]


def known_types(base: type[Element]) -> dict[str, type[Element]]:
    """The registered joints or forces by name."""
    return {name: cls for name, cls in sorted(Element.registry.loaded().items()) if issubclass(cls, base)}


# Bodies -----------------------------------------------------------------------------------------------


@cache
def body_record(shape: str | None) -> type[Record]:
    """The record of a body, with the fields of its shape."""
    entries: dict[str, Any] = {}
    if shape is not None:
        entries["shape"] = (Literal[shape], Field(description="the outline, which gives the inertia"))
        for item in fields(SHAPES[shape]):
            kind = FIELDS.get(item.name, "number")
            entries[item.name] = (SHAPE_TYPES[kind], Field(..., description=EXPECTED[kind]))
    for name in ("mass", "inertia", "at", "angle", "velocity", "angular_velocity", "density"):
        kind, accepted = ("point", Point) if name in ("at", "velocity") else ("number", Number)
        entries[name] = (accepted | None, Field(default=None, description=EXPECTED[kind]))
    entries |= _ground_entries()
    cls = SHAPES[shape] if shape else Body
    record = _made(cls.__name__, inspect.getdoc(cls), entries)
    record.synonyms = BODY_SYNONYMS | (
        dict.fromkeys(("width", "height"), "shape: block") if shape == "plate" else {}
    )
    return record


def _ground_entries() -> dict[str, Any]:
    return {
        "points": (dict[str, Place] | None, Field(default=None, description=EXPECTED["points"])),
        "look": (dict[str, Any] | None, Field(default=None, description="how to draw it: any plain data")),
    }


@cache
def ground_record() -> type[Record]:
    """The record of the ground."""
    return _made("Ground", "The fixed body. Its axes are the global ones.", _ground_entries())


@cache
def units_record() -> type[Record]:
    """The units of a model."""
    entries: dict[str, Any] = {
        name: (
            Literal[tuple(units_of(name))],
            Field(default=default, description=" or ".join(units_of(name))),
        )  # type: ignore[misc]
        for name, default in asdict(UnitSystem()).items()
    }
    return _made("Units", "The units of bare numbers; those left out are in SI units and radians.", entries)


# The file ---------------------------------------------------------------------------------------------


class OpenRecord(Record):
    """A record that may hold more than it names."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)


def analysis_record() -> type[Record]:
    """What to run with the model. Options that its analysis does not know are named when it runs."""
    return _analysis_record(tuple(CATALOG))


@cache
def _analysis_record(kinds: tuple[str, ...]) -> type[Record]:
    entries: dict[str, Any] = {"kind": (Literal[kinds], Field(description=" or ".join(kinds)))}  # type: ignore[valid-type]
    for name, option in OPTIONS.items():
        entries[name] = (option.accepts | None, Field(default=None, description=option.words))
    doc = "What to run with the model. Further options are those of the analysis."
    return create_model("Analysis", __base__=OpenRecord, __doc__=doc, **entries)


@cache
def file_record() -> type[Record]:
    """The whole file; the contents of its sections are left to records of their own."""
    return _file_record({})


def _file_record(inner: Mapping[str, Any]) -> type[Record]:
    mapping = EXPECTED["mapping"]

    def section(name: str, accepted: Any, words: str = mapping) -> tuple[Any, Any]:
        return (inner.get(name, accepted) | None, Field(default=None, description=words))

    anything = dict[str, Any]
    entries: dict[str, Any] = {
        "simengine2d": (Literal[VERSION], Field(default=VERSION, description="version of the format")),
        "name": (str, Field(default="mechanism", description=EXPECTED["text"])),
        "units": section(
            "units",
            anything,
            "the units of bare numbers, such as {length: mm, angle: deg, mass: g, force: kN}",
        ),
        "gravity": (Point, Field(default=[0.0, -9.81], description=EXPECTED["point"])),
        "parameters": section(
            "parameters", dict[str, Number], "names with numbers or expressions, such as {L: 2}"
        ),
        "tables": section(
            "tables", anything, "names with tables, such as {gas: {points: [[0, 1], [1, 5], [2, 3]]}}"
        ),
        "formulas": section("formulas", dict[str, Number], EXPECTED["named formulas"]),
        "ground": section("ground", anything),
        "bodies": section("bodies", anything, "names with bodies, such as {crank: {mass: 1, inertia: 0.1}}"),
        "joints": section(
            "joints", anything, "names with joints, such as {A: {type: Revolute, a: ground, b: crank}}"
        ),
        "forces": section(
            "forces", anything, "names with forces, such as {F: {type: PointForce, frame: crank, fx: 1}}"
        ),
        "analysis": section("analysis", anything, "an analysis such as {kind: dynamics, t_end: 2}"),
        "look": section("look", anything, "how to draw it: any plain data"),
    }
    return _made(
        "Model",
        "A planar mechanism. SI units, radians, or units of its own; a number may be an expression.",
        entries,
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of model files, for editors and other programs."""
    bodies: Any = Union[tuple(body_record(shape) for shape in (None, *SHAPES))]  # noqa: UP007
    sections = {
        "units": units_record(),
        "tables": dict[str, NamedTable | NamedFileTable],
        "ground": ground_record(),
        "bodies": dict[str, bodies],  # type: ignore
        "joints": dict[str, _any_of(Joint)],  # type: ignore[misc]
        "forces": dict[str, _any_of(ForceElement)],  # type: ignore[misc]
        "analysis": analysis_record(),
    }
    schema = _file_record(sections).model_json_schema()
    head = {"$schema": ADDRESS, "title": f"simengine2d model, format {VERSION}", "version": VERSION}
    return head | {key: value for key, value in schema.items() if key != "title"}


def _any_of(base: type[Element]) -> Any:
    records = tuple(element_record(cls) for cls in known_types(base).values())
    return Annotated[Union[records], Field(discriminator="type")]  # noqa: UP007


def _made(name: str, doc: str | None, entries: dict[str, Any]) -> type[Record]:
    return create_model(name, __base__=Record, __doc__=doc, **entries)
