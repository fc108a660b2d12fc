"""The course's .adm files to a Model. Entries unknown to us are ignored with a warning, and preserved."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

from ..errors import ModelError, Path, listed, unknown, warn
from ..model.elements import Element
from ..model.frame import GROUND
from ..model.model import GRAVITY, Model
from .adm_read_elements import COMMON, LINE, SECTIONS, AdmEntry, Meaning, is_number, meaning
from .adm_writer import keep_records
from .files import Document
from .model_reader import LAW
from .named_laws import GivenLaw, NamedLaws
from .text_writer import shown

BODY_FIELDS = ("name", "id", "mass", "jbar", "q0", "qd0", "vis")
FILE_FIELDS = ("name", "gravity", "vis", "bodies", *SECTIONS)
ADAMS = re.compile(
    r"^\s*(!|ADAMS/|(PART|MARKER|JOINT|MOTION|REQUEST|GRAPHICS|ACCGRAV|UNITS|MATERIAL|SFORCE|GFORCE|RESULTS|OUTPUT|"
    r"SPRINGDAMPER|INTEGRATOR|END|STOP|simulate|output|control|preferences|integrator|variable|file|undo|stop|end)"
    r"\s*(/|$)|simulate\b|STOP\s*$)",
    re.IGNORECASE | re.MULTILINE,
)


def refuse_adams(text: str, name: str) -> None:
    """MSC Adams has text files with the same endings."""
    if not text.lstrip().startswith(("{", "[")) and ADAMS.search(text):
        raise ModelError(
            f"{name} is a text file of MSC Adams. Here .adm (model) and .acf (analysis) are the JSON files "
            "of the ME451 course, an unrelated format. Write the model as .yaml or as a course .adm file."
        )


def is_course_model(data: Any) -> bool:
    """Bodies in a list and constraints: the course's format, whatever the file is called."""
    return isinstance(data, dict) and isinstance(data.get("bodies"), list)


def read_adm(document: Document, laws: Mapping[str, GivenLaw] | None) -> Model:
    """The model in a course file. `laws` are those of its mfiles."""
    if not isinstance(document.data, dict):
        content = shown(document.data)
        raise ModelError(
            f"{document.name} holds {content}, which is not a course model; it begins with {{ and has bodies."
        )
    reader = _AdmReader(document, laws)
    model = reader.model()
    if document.collected:
        raise ModelError(document.problems)
    try:
        model.check()
    except ModelError as error:
        raise document.located(error, reader.paths) from None
    reader.give_laws()
    reader.laws.write_into(model)
    keep_records(model, reader.records)
    for sentence in reader.warnings:
        warn(sentence)
    reader.laws.warn()
    model.source = document.name
    return model


class _AdmReader:
    """Reads section by section; problems go into the document, warnings wait until the model is good."""

    def __init__(self, document: Document, laws: Mapping[str, GivenLaw] | None) -> None:
        self.document = document
        self.laws = NamedLaws(laws, document.name)
        self.bodies: dict[int, str] = {0: GROUND}
        self.paths: dict[str, Path] = {}
        self.counts: dict[str, int] = {}
        """The last number appended to each name that occurs several times."""
        self.records: dict[str, dict[str, Any]] = {}
        self.warnings: list[str] = []

    def warn(self, path: Path, sentence: str) -> None:
        self.warnings.append(f"{self.document.where(path)}: {sentence}")

    def model(self) -> Model:
        data = self.document.data
        name = data.get("name")
        self.result = Model(name if isinstance(name, str) else FilePath(self.document.name).stem)
        self.result.gravity = tuple(self.numbers((), data, "gravity", "the model", 2) or GRAVITY)
        if "gravity" not in data:
            self.warn((), "there is no gravity; [0, -9.81] is taken.")
        strange = {key: data[key] for key in data if key not in FILE_FIELDS}
        for key in strange:
            self.warn((key,), f"'{key}' is unknown and ignored.")
        self.result.look = _without_empty({"vis": data.get("vis"), "adm": _without_empty({"also": strange})})
        for path, text in self.document.arithmetic.items():
            self.warn(path, f"{text} is not a JSON number; it is read as {self.at(path):g}.")
        self.each("bodies", self.body)
        for section in SECTIONS:
            self.each(section, self.entry)
        return self.result

    def at(self, path: Path) -> Any:
        value = self.document.data
        for key in path:
            value = value[key]
        return value

    def each(self, section: str, read: Callable[[Path, dict[str, Any]], None]) -> None:
        records = self.document.data.get(section)
        if not isinstance(records, list | None):
            self.document.complain(
                (section,), f"{section} is {shown(records)}; it must be a list of records."
            )
            return
        for i, record in enumerate(records or []):
            path = (section, i)
            if record == {}:
                self.warn(path, f"an empty record in {section} is ignored.")
            elif not isinstance(record, dict):
                self.document.complain(
                    path, f"{section} holds {shown(record)}; it must hold records {{...}}."
                )
            else:
                read(path, record)

    # bodies

    def body(self, path: Path, record: dict[str, Any]) -> None:
        number = record.get("id")
        title = f"body {record.get('name')!r}"
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            self.document.complain(
                (*path, "id"), f"{title} has the id {shown(number)}; give each body a whole number."
            )
            return
        if number in self.bodies and number != 0:
            other = self.bodies[number]
            self.document.complain(
                (*path, "id"), f"{title} has the id {number}, as '{other}' has. Give it another."
            )
            return
        look = {"id": number, "vis": record.get("vis")}
        strange = {key: record[key] for key in record if key not in BODY_FIELDS}
        for key in strange:
            self.warn((*path, key), f"{title} has the field '{key}', which is unknown and ignored.")
        look = _without_empty(look | {"adm": strange})
        if number == 0:
            self.ground(path, record, look)
            return
        name = self.unique(record.get("name"), f"body {number}", path)
        self.bodies[number] = name
        self.numbered_body(path, record, name, look)

    def ground(self, path: Path, record: dict[str, Any], look: dict[str, Any]) -> None:
        if any(self.numbers(path, record, "q0", "the ground", 3) or ()):
            self.document.complain((*path, "q0"), "body id 0 is the ground, so its q0 must be [0, 0, 0].")
        self.result.ground.look = look

    def numbered_body(self, path: Path, record: dict[str, Any], name: str, look: dict[str, Any]) -> None:
        title = f"body '{name}'"
        missing = [key for key in ("mass", "jbar", "q0") if key not in record]
        for key in missing:
            self.document.complain(path, f"{title} needs the field '{key}'.")
        mass, inertia = (self.number(path, record, key, title) for key in ("mass", "jbar"))
        pose = self.numbers(path, record, "q0", title, 3) or [0, 0, 0]
        rates = self.numbers(path, record, "qd0", title, 3)
        body = self.result.body(
            name,
            mass=mass,
            inertia=inertia,
            at=tuple(pose[:2]),
            angle=pose[2],
            velocity=tuple(rates[:2]) if rates else None,
            angular_velocity=rates[2] if rates else None,
        )
        body.look = look

    def number(self, path: Path, record: dict[str, Any], key: str, title: str) -> float:
        try:
            return AdmEntry("", record, {}).number(key) if key in record else 0.0
        except ModelError as error:
            self.document.complain((*path, key), f"{title}: {error}")
            return 0.0

    def numbers(
        self, path: Path, record: dict[str, Any], key: str, title: str, count: int
    ) -> list[float] | None:
        value = record.get(key)
        if key not in record:
            return None
        if not isinstance(value, list) or len(value) != count or not all(is_number(part) for part in value):
            self.document.complain(
                (*path, key), f"{title}: {key} is {shown(value)}; it must be {count} numbers."
            )
            return None
        return list(value)

    def unique(self, given: Any, otherwise: str, path: Path, suffix: str = "") -> str:
        """A name that is unique, with or without the suffix, and that references can contain."""
        name = otherwise
        if isinstance(given, str) and given.strip():
            name = re.sub(r"[.,()'\"\n]", "_", given)
        base, count = name, self.counts.get(name, 1)
        while any(word == GROUND or word in self.paths for word in (name, name + suffix)):
            count += 1
            name = f"{base} {count}"
        self.counts[base] = count
        if name != given:
            was = f"'{given}'" if given else "no name"
            self.warn(
                path,
                f"{otherwise} has {was} in the file; it is called '{name}', for names are words and differ.",
            )
        self.paths[name] = path
        return name

    # constraints and forces

    def entry(self, path: Path, record: dict[str, Any]) -> None:
        section = str(path[0])
        word, known = SECTIONS[section]
        known_type = meaning(section, record.get("type"))
        title = f"{word} {record.get('name')!r}"
        if known_type is None:
            hint = unknown("type", str(record.get("type")), known)
            self.document.complain(
                (*path, "type"), f"{title} has the type {shown(record.get('type'))}, which is unknown. {hint}"
            )
            return
        missing = [key for key in known_type.needs if key not in record]
        for key in missing:
            self.document.complain(path, f"{title} ({record['type']}) needs the field '{key}'.")
        if missing:
            return
        self.warn_of_strange(path, record, known_type, title)
        otherwise = f"{record['type']} {record.get('id', '')}".strip()
        name = self.unique(record.get("name"), otherwise, path, LINE if "sQ1" in known_type.needs else "")
        try:
            elements = known_type.build(AdmEntry(name, record, self.bodies))
            for element in elements:
                self.add(element, path)
            self.records[name] = record
        except ModelError as error:
            self.document.complain(path, f"{title} ({record['type']}): {error}")

    def add(self, element: Element, path: Path) -> None:
        self.paths[element.name] = path
        self.result.add(element)

    def warn_of_strange(self, path: Path, record: dict[str, Any], known_type: Meaning, title: str) -> None:
        known = (*COMMON, *known_type.needs, *known_type.may_have)
        idle = ("fun",) if record.get("fun") in (None, 0, "0", "NONE") else ()
        strange = [key for key in record if key not in known + idle]
        if strange:
            self.warn(
                path, f"{title} ({record['type']}) has {listed(strange)}, which is unknown and ignored."
            )

    def give_laws(self) -> None:
        """Named laws get what was given for them."""
        for name, element in self.result.elements.items():
            for field, kind in element.kinds().items():
                if kind == LAW and isinstance(law := getattr(element, field), str):
                    setattr(element, field, self.laws.find(law, self.document.where(self.paths[name]), name))


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None and value != {}}
