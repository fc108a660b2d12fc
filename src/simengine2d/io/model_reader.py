"""From a document in our own format to a Model. All problems are reported at once, each with its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, get_args

from ..errors import ModelError, Path, unknown
from ..expressions.table import Table
from ..model.body import Body
from ..model.elements import (
    FORMULA_KINDS,
    FUNCTION_KINDS,
    BodyLaw,
    Element,
    ForceElement,
    Joint,
    Kind,
)
from ..model.formula_input import texts_of
from ..model.frame import GROUND, Frame, as_frame
from ..model.measure_text import frames_in, frames_in_formula
from ..model.model import Model
from ..model.names import check_name
from ..model.registry import WRITTEN_AS, element_class
from ..model.resolved import problems_of
from ..model.shape import SHAPES
from . import schema
from .files import Document
from .named_laws import GivenLaw, NamedLaws
from .record_check import check_record, wrong_fields
from .text_writer import shown

MOST_HINTS = 200  # after so many problems hints about what was meant are left out
SECTIONS: dict[str, tuple[str, type[Element]]] = {
    "joints": ("joint", Joint),
    "forces": ("force", ForceElement),
}

LAW: Kind = get_args(BodyLaw)[1]


def read_model(document: Document, folder: FilePath, given: Mapping[str, GivenLaw] | None) -> Model:
    """The model in a document; `folder` is where its tables lie, `given` holds the laws it names."""
    data = document.data
    if not isinstance(data, dict):
        raise ModelError(
            f"{document.name} holds {shown(data)}, which is not a model. "
            "Write the sections name, bodies, joints, forces."
        )
    check_record(document, (), "the model", data, schema.file_record())
    laws = NamedLaws(given, document.name)
    reader = _ModelReader(document, folder, laws)
    model = reader.model()
    laws.warn()
    laws.write_into(model)
    if document.collected:
        reader.examine()
        raise ModelError(document.problems)
    try:
        model.check()
    except ModelError as error:
        raise document.located(error) from None
    model.source = document.name
    return model


def unchecked_model(document: Document, folder: FilePath, laws: NamedLaws) -> Model:
    """The model with all that can be read; the document holds the problems."""
    return _ModelReader(document, folder, laws).model()


class _ModelReader:
    """Builds the model section by section; what is wrong is noted in the document and left out."""

    def __init__(self, document: Document, folder: FilePath, laws: NamedLaws) -> None:
        self.document = document
        self.folder = folder
        self.laws = laws
        self.points: dict[str, list[str] | None] = {}
        """The points of each body; None where the body could not be read."""
        self.drafts: list[Element] = []
        """Elements that are not in the model, because something about them is wrong."""

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """The bodies, once all are read."""
        return tuple(name for name in self.points if name != GROUND)

    def section(self, name: str) -> dict[str, Any]:
        content = self.document.data.get(name)
        return content if isinstance(content, dict) else {}

    def model(self) -> Model:
        data = self.document.data
        name, gravity = data.get("name"), data.get("gravity")
        self.result = Model(
            name if isinstance(name, str) else "mechanism",
            gravity=gravity if isinstance(gravity, list) else None,
            parameters=self.section("parameters"),
            units=self.units(),
        )
        self.result.look = self.section("look")
        self.result.formulas = {name: str(text) for name, text in self.section("formulas").items()}
        for name, record in self.section("tables").items():
            self.named_table(name, record)
        self.ground()
        for name, record in self.section("bodies").items():
            self.body(name, {} if record is None else record)
        for section in SECTIONS:
            for name, record in self.section(section).items():
                self.element(section, name, record)
        if data.get("analysis") is not None:
            check_record(
                self.document, ("analysis",), "the analysis", data["analysis"], schema.analysis_record()
            )
            self.result.analysis = self.section("analysis")
        return self.result

    def units(self) -> dict[str, str] | None:
        given = self.document.data.get("units")
        if given is None or not check_record(
            self.document, ("units",), "units", given, schema.units_record()
        ):
            return None
        return self.section("units")

    def examine(self) -> None:
        """Complain about all else that is wrong with the model; parts of it could not be read."""
        known = {problem.path for problem in self.document.collected}
        broken = [name for name, points in self.points.items() if points is None]
        for problem in problems_of(self.result, self.drafts, broken):
            if problem.path not in known:
                self.document.complain(problem.path, problem)

    def named_table(self, name: str, record: Any) -> None:
        path: Path = ("tables", name)
        is_file = isinstance(record, dict) and "file" in record
        accepted = schema.NamedFileTable if is_file else schema.NamedTable
        if not check_record(self.document, path, f"table '{name}'", record, accepted):
            return
        try:
            if is_file:
                columns = {"time": record.get("argument", 0), "of": "u"}
                given = {key: value for key, value in record.items() if key != "argument"}
                self.result.tables[name] = self.table(given | columns)
            else:
                self.result.table(name, **record)
        except ModelError as error:
            self.document.complain(path, f"table '{name}': {error}")

    # bodies

    def ground(self) -> None:
        record = self.document.data.get("ground")
        self.points[GROUND] = None
        if record is None:
            self.points[GROUND] = []
        elif check_record(self.document, (GROUND,), "the ground", record, schema.ground_record()):
            self.fill(self.result.ground, record, (GROUND,))

    def body(self, name: str, record: Any) -> None:
        path: Path = ("bodies", name)
        title = f"body '{name}'"
        self.points[name] = None
        if name == GROUND:
            self.document.complain(
                path, "the ground is not an ordinary body. Write its points in the section 'ground'."
            )
            return
        word = record.get("shape") if isinstance(record, dict) else None
        if word is not None and (not isinstance(word, str) or word not in SHAPES):
            hint = unknown("shape", str(word), SHAPES)
            self.document.complain(
                (*path, "shape"), f"{title} has the shape {shown(word)}, which is unknown. {hint}"
            )
            return
        if not isinstance(record, dict):
            check_record(self.document, path, title, record, schema.body_record(None))
            record = {}
            wrong = {"points"}
        else:
            wrong = wrong_fields(self.document, path, title, record, schema.body_record(word))
        if not self.named(path, "a body"):
            return
        self.fill(self.made_body(name, word, _without(record, wrong)), _without(record, wrong), path)
        if wrong:
            self.points[name] = None  # joints that refer to it are not to blame

    def made_body(self, name: str, word: str | None, record: dict[str, Any]) -> Body:
        """The body with those fields that are right."""
        outline = SHAPES[word] if word else None
        outlined = outline is not None and all(f.name in record for f in fields(outline))
        keys = ["inertia", "angle", "angular_velocity", *(["density"] if outlined or not outline else [])]
        given = {key: record.get(key) for key in keys}
        given |= {key: _tuple(record.get(key)) for key in ("at", "velocity")}
        shape = (
            outline(**{f.name: _tuple(record[f.name]) for f in fields(outline)})
            if outline and outlined
            else None
        )
        mass = 0.0 if record.get("mass") is None else record["mass"]
        return self.result.body(name, mass=mass, shape=shape, **given)

    def fill(self, body: Body, record: dict[str, Any], path: Path) -> None:
        """Points and look, which the ground has too."""
        body.look = record.get("look") or {}
        for name, place in (record.get("points") or {}).items():
            if self.named((*path, "points", name), f"a point of '{body.name}'"):
                body.points[name] = tuple(place)
        self.points[body.name] = body.point_names

    def named(self, path: Path, kind: str) -> bool:
        try:
            check_name(path[-1], kind)
        except ModelError as error:
            self.document.complain(path, str(error))
            return False
        return True

    # elements

    def element(self, section: str, name: str, record: Any) -> None:
        path: Path = (section, name)
        title = f"{SECTIONS[section][0]} '{name}'"
        if not self.named(path, SECTIONS[section][0]) or self.is_taken(path, title):
            return
        cls = self.element_class(path, title, record)
        if cls is None:
            return
        title = f"{title} ({cls.__name__})"
        record = {**record, "type": cls.__name__}
        wrong = wrong_fields(self.document, path, title, record, schema.element_record(cls))
        try:
            values = {
                key: self.value(record[key], kind, path)
                for key, kind in cls.kinds().items()
                if record.get(key) is not None and key not in wrong
            }
            well = self.refers_well(values, cls, path)
            element = cls(name=name, **values) if values.keys() >= set(cls.required()) - {"name"} else None
        except ModelError as error:
            self.document.complain(path, f"{title}: {error}")
            return
        if element is not None and well and not wrong:
            self.result.add(element)
        elif element is not None:
            self.drafts.append(element)

    def is_taken(self, path: Path, title: str) -> bool:
        section, name = path
        earlier: list[Path] = [("ground",)] if name == GROUND else []
        earlier += [("bodies", name)] if name in self.section("bodies") else []
        earlier += [("joints", name)] if section == "forces" and name in self.section("joints") else []
        if earlier:
            first = self.document.lines.get(earlier[0])
            where = f", in line {first}" if first else ""
            self.document.complain(
                path, f"{title} has the name of something in {earlier[0][0]}{where}. Rename one."
            )
        return bool(earlier)

    def element_class(self, path: Path, title: str, record: Any) -> type[Element] | None:
        known = schema.known_types(SECTIONS[str(path[0])][1])
        example = f"{{type: {next(iter(known))}, ...}}"
        if not isinstance(record, dict) or "type" not in record:
            self.document.complain(path, f"{title} is {shown(record)}; it needs a type, as in {example}.")
            return None
        word = record["type"]
        cls = element_class(word) if isinstance(word, str) else None
        if cls is None:
            written = WRITTEN_AS.get(str(word).lower())
            hint = f"Write it as {written}." if written else unknown("type", str(word), known)
            self.document.complain(
                (*path, "type"), f"{title} has the type {shown(word)}, which is unknown. {hint}"
            )
            return None
        if cls.__name__ not in known:
            other = next(name for name, (_, base) in SECTIONS.items() if issubclass(cls, base))
            self.document.complain(
                (*path, "type"), f"{title} is a {cls.__name__}, which belongs to '{other}'. Move it."
            )
            return None
        return cls

    def value(self, given: Any, kind: Kind, path: Path) -> Any:
        """What a field holds, from what the file says."""
        if kind.name == "frame":
            return _frame(given)
        if kind.name in FUNCTION_KINDS and isinstance(given, dict):
            return self.table(given)
        if kind == LAW:
            return self.laws.find(given, self.document.where(path), str(path[-1]))
        return _tuple(given)

    def table(self, given: dict[str, Any]) -> Table:
        if "file" not in given:
            return Table(**given)
        path = FilePath(given["file"])
        inside = (self.folder / path).resolve().is_relative_to(self.folder.resolve())
        if path.is_absolute() or not inside:
            raise ModelError(
                f"the table {path} lies outside the folder of the model file. Copy it beside the model."
            )
        if not (self.folder / path).is_file():
            raise ModelError(f"the table {path} does not exist in {self.folder.resolve()}. Check the path.")
        options = {key: given[key] for key in ("time", "value", "periodic", "of", "smooth") if key in given}
        return Table.from_csv(self.folder / path, **options)

    # references

    def refers_well(self, values: Mapping[str, Any], cls: type[Element], path: Path) -> bool:
        """Every body and point that the fields of an element name is in the file."""
        before = len(self.document.collected)
        title = f"{SECTIONS[str(path[0])][0]} '{path[-1]}'"
        for field, kind in cls.kinds().items():
            for frame in self.frames_of(values.get(field), kind, (*path, field), title):
                problem = self.wrong_reference(frame)
                if problem:
                    self.document.complain((*path, field), f"{title} refers to {problem}")
        return len(self.document.collected) == before

    def frames_of(self, given: Any, kind: Kind, path: Path, title: str) -> list[Frame]:
        if given is None or kind.name not in ("frame", "measure", *FORMULA_KINDS):
            return []
        if kind.name == "frame":
            return [given]
        try:
            if kind.name in FORMULA_KINDS:
                return [frame for text in texts_of(given) for frame in frames_in_formula(text)]
            return list(frames_in(given))
        except ModelError as error:
            self.document.complain(path, f"{title}, {path[-1]}: {error}")
            return []

    def wrong_reference(self, frame: Frame) -> str:
        """What is wrong with a reference, or nothing."""
        if frame.body not in self.points:
            if len(self.document.collected) > MOST_HINTS:
                return f"body '{frame.body}', which is not in the model."
            near_ground = get_close_matches(frame.body.lower()[:40], [GROUND], cutoff=0.6)
            hint = unknown("body", frame.body, (*near_ground, *self.body_names), plural="bodies")
            return f"body '{frame.body}', which is not in the model. {hint}"
        points = self.points[frame.body]
        if frame.point is not None and points is not None and frame.point not in points:
            hint = unknown("point", frame.point, points)
            return f"point '{frame.point}', which body '{frame.body}' does not have. {hint}"
        return ""


def _without(record: dict[str, Any], fields: set[str]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in fields}


def _tuple(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


def _frame(given: Any) -> Frame:
    if isinstance(given, str):
        return as_frame(given)
    x, y, angle = [*given["at"], 0.0][:3]
    return Frame(given["body"], place=(x, y, angle))
