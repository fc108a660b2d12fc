"""A Model to the course's .adm format. What the format cannot represent is refused by name, all at once.

An element that came from an .adm file and was not changed is written as it was there: `keep_records` puts
the records that could not be made again from the element into the model's `look`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from ..errors import ModelError, listed
from ..model.body import Body
from ..model.drawn import written_out
from ..model.elements import Element, Joint
from ..model.frame import GROUND
from ..model.model import Model
from ..model.resolved import ResolvedModel
from ..model.resolved_body import ResolvedBody
from .adm_read_elements import LINE, AdmEntry, meaning
from .adm_write_elements import Draft, fresh_record, tidy
from .model_writer import Unwritable, model_data, plain
from .text_writer import to_json

BODY_LOOK = ("id", "vis", "adm")
"""Keys of a body's look for which .adm has a place."""


class AdmText(NamedTuple):
    """An .adm file as text, and what a reader should know of it."""

    text: str
    renamed: dict[str, str]
    """Elements that are called otherwise in the file."""
    losses: list[str]
    """What the format cannot represent, although the motion is the same."""


def adm_text(model: Model, resolved: ResolvedModel) -> AdmText:
    """The text of an .adm file for a model in numbers; a ModelError names all that the format cannot represent."""
    writer = _AdmWriter(model, resolved)
    data = writer.data()
    try:
        data = plain(data)
    except Unwritable as reason:
        writer.problems.append(f"a look {reason}")
    if writer.problems:
        raise ModelError(
            [f"model '{model.name}' is not saved as .adm: {problem}" for problem in writer.problems]
        )
    return AdmText(to_json(data), writer.renamed, [*_losses(model, resolved), *writer.losses])


def keep_records(model: Model, records: Mapping[str, dict[str, Any]]) -> None:
    """Keep those records of a file that the elements alone would not give back."""
    fresh = _AdmWriter(model, model.check(), original={})
    fresh.data()
    original = {name: record for name, record in records.items() if fresh.records.get(name) != record}
    if original:
        model.look.setdefault("adm", {})["elements"] = original


class _AdmWriter:
    def __init__(
        self, model: Model, resolved: ResolvedModel, original: Mapping[str, Any] | None = None
    ) -> None:
        self.model = model
        self.resolved = resolved
        self.own = _mapping(model.look.get("adm"))
        self.original_records = _mapping(self.own.get("elements")) if original is None else original
        self.ids = _body_ids(model)
        self.done: set[str] = set()
        self.fresh_names: set[str] = set()
        self.records: dict[str, dict[str, Any]] = {}
        self.problems: list[str] = []
        self.losses: list[str] = []
        self.renamed: dict[str, str] = {}

    def data(self) -> dict[str, Any]:
        model = self.model
        data: dict[str, Any] = {"name": model.name, "gravity": [tidy(part) for part in self.resolved.gravity]}
        look = _plain_look(model)
        data |= {"vis": look["vis"]} if "vis" in look else {}
        data["bodies"] = [self.ground()] if "id" in model.ground.look else []
        data["bodies"] += [self.body(body, self.resolved.bodies[name]) for name, body in model.bodies.items()]
        data["constraints"] = self.section([e for e in model.elements.values() if isinstance(e, Joint)])
        forces = self.section([e for e in model.elements.values() if not isinstance(e, Joint)])
        data |= {"forces": forces} if forces else {}
        return data | _mapping(self.own.get("also"))

    # bodies

    def ground(self) -> dict[str, Any]:
        look = self.model.ground.look
        record = {"name": GROUND, "id": 0, "mass": 0, "jbar": 0, "q0": [0, 0, 0], "qd0": [0, 0, 0]}
        return record | {"vis": look.get("vis", {})} | _mapping(look.get("adm"))

    def body(self, body: Body, drawn: ResolvedBody) -> dict[str, Any]:
        record: dict[str, Any] = {
            "name": body.name,
            "id": self.ids[body.name],
            "mass": tidy(drawn.mass),
            "jbar": tidy(drawn.inertia),
            "q0": [tidy(part) for part in drawn.pose],
        }
        if drawn.velocity is not None or drawn.angular_velocity is not None:
            rates = (*(drawn.velocity or (0.0, 0.0)), drawn.angular_velocity or 0.0)
            record["qd0"] = [tidy(part) for part in rates]
        record |= {"vis": body.look["vis"]} if "vis" in body.look else {}
        return record | _mapping(body.look.get("adm"))

    # elements

    def section(self, elements: list[Element]) -> list[dict[str, Any]]:
        # a rack and pinion covers the arm beside it, which therefore comes later
        for element in sorted(elements, key=lambda e: type(e).__name__ != "RackPinion"):
            if element.name in self.done:
                continue
            try:
                self.records[element.name] = self.as_it_stood(element) or self.fresh(element)
            except ModelError as error:
                self.problems += [f"{element.title} {problem}" for problem in error.problems]
        records = [
            self.records[e.name] for e in elements if e.name in self.records and e.name not in self.done
        ]
        return _numbered(records, self.fresh_names)

    def as_it_stood(self, element: Element) -> dict[str, Any] | None:
        """The record the element came from, where it still means the elements of the model."""
        for name in (element.name, element.name.removesuffix(LINE)):
            record = self.original_records.get(name)
            if isinstance(record, dict) and (partners := self.meant(name, record, element)):
                self.done |= partners - {element.name}
                return copy.deepcopy(record)
        return None

    def meant(self, name: str, record: dict[str, Any], element: Element) -> set[str]:
        """Names of the elements that an original record means, if the model has them all unchanged."""
        section = "constraints" if isinstance(element, Joint) else "forces"
        known = meaning(section, record.get("type"))
        bodies = {0: GROUND} | {number: name for name, number in self.ids.items()}
        try:
            built = known.build(AdmEntry(name, record, bodies)) if known else []
        except (ModelError, KeyError):  # the record was changed by hand
            return set()
        same = all(_unchanged(part, self.model.elements.get(part.name)) for part in built)
        names = {part.name for part in built}
        return names if same and element.name in names else set()

    def fresh(self, element: Element) -> dict[str, Any]:
        if isinstance(element, Joint):
            element = replace(element, **written_out(element, self.resolved))  # type: ignore[arg-type]
        draft = Draft(element, self.resolved.elements[element.name], self.resolved, self.ids)
        record, partner = fresh_record(draft)
        self.fresh_names.add(element.name)
        if partner is not None:
            self.done.add(partner)
            self.cover(partner, element.name + LINE)
        return record

    def cover(self, name: str, called: str) -> None:
        """A record of .adm means two elements, of which the second is called after the first."""
        if name != called:
            self.renamed[name] = called
            self.losses.append(f"{self.model.elements[name].title} will be called '{called}'.")


def _mapping(look: Any) -> dict[str, Any]:
    """What a look holds, if it is a mapping: users may write anything there."""
    return look if isinstance(look, dict) else {}


def _unchanged(built: Element, given: Element | None) -> bool:
    """Equal, where a law may have got its function."""
    if given is None or type(given) is not type(built):
        return False
    laws = {name: getattr(built, name) for name in built.kinds() if callable(getattr(given, name))}
    return replace(given, **laws) == built  # type: ignore[type-var]


def _numbered(records: list[dict[str, Any]], fresh: set[str]) -> list[dict[str, Any]]:
    """Give an id to new records: their position, or the next free one."""
    taken = {number for record in records if isinstance(number := record.get("id"), int | float)}
    last = max((len(records), *(n for n in taken if isinstance(n, int))))
    for i, record in enumerate(records, 1):
        name = record.get("name")
        if isinstance(name, str) and name in fresh and "id" not in record:
            number = i if i not in taken else last + 1
            last = max(last, number)
            taken.add(number)
            first = {"name": record.pop("name"), "id": number}
            rest = dict(record)
            record.clear()
            record |= first | rest
    return records


def _body_ids(model: Model) -> dict[str, int]:
    """The ids the bodies came with, where they are good; else the next free one."""
    ids: dict[str, int] = {GROUND: 0}
    taken = {0}
    for name, body in model.bodies.items():
        given = body.look.get("id")
        if type(given) is int and given > 0 and given not in taken:
            ids[name] = given
            taken.add(given)
    free = (i for i in count(1) if i not in taken)
    ids |= {name: next(free) for name in model.bodies if name not in ids}
    return {name: ids[name] for name in (GROUND, *model.bodies)}


def _plain_look(model: Model) -> dict[str, Any]:
    """The looks as plain data, refused where they contain something else."""
    bare = Model(model.name)
    bare.look = model.look
    return model_data(bare).get("look", {})  # type: ignore[no-any-return]


def _losses(model: Model, resolved: ResolvedModel) -> list[str]:
    """What the format cannot represent, although the motion is the same."""
    everybody = {GROUND: model.ground} | model.bodies
    points = [name for name, body in everybody.items() if body.points]
    strange = [f"{name}.{key}" for name, b in everybody.items() for key in b.look if key not in BODY_LOOK]
    still = [name for name in model.bodies if resolved.bodies[name].velocity is None]
    shapes = [name for name, body in model.bodies.items() if body.shape is not None]
    looks = [key for key in model.look if key not in ("vis", "adm")]
    findings = {
        f"the parameters {listed(model.parameters)} are written as their values.": model.parameters,
        f"the points of {listed(points)} lose their names.": points,
        f"the shapes of {listed(shapes)} are written as masses and inertias.": shapes,
        f"{listed(still)} without a velocity: qd0 is left out; the course's engine wants one.": still,
        "the analysis belongs into an .acf file (save_analysis).": model.analysis,
        f"the look {listed(looks)} is left out.": looks,
        f"the look {listed(strange)} of bodies is left out.": strange,
    }
    return [sentence for sentence, is_lost in findings.items() if is_lost]
