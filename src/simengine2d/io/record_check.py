"""What is wrong with the records of a file, field by field, in our own sentences."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import ValidationError

from ..errors import Path, unknown
from .files import Document
from .schema import VERSION, Record
from .text_writer import shown


def check_record(document: Document, path: Path, title: str, data: Any, record: type[Record]) -> bool:
    """Complain about every field of a record that is wrong; True where all is well."""
    if not isinstance(data, dict):
        document.complain(path, f"{title} is {shown(data)}; it must be a mapping of {_names(record)}.")
        return False
    return not wrong_fields(document, path, title, data, record)


def wrong_fields(
    document: Document, path: Path, title: str, data: dict[str, Any], record: type[Record]
) -> set[str]:
    """The fields of a record that are wrong, missing or unknown; each is complained about."""
    try:
        record.model_validate(data)
    except ValidationError as error:
        kinds: dict[str, str] = {}
        for finding in error.errors(include_url=False, include_context=False, include_input=False):
            kinds.setdefault(str(finding["loc"][0]), finding["type"])
        for field, kind in kinds.items():
            document.complain((*path, field), _sentence(title, field, kind, data, record))
        return set(kinds)
    return set()


def _sentence(title: str, field: str, kind: str, data: dict[str, Any], record: type[Record]) -> str:
    if field not in data:
        words = record.model_fields[field].description
        return f"{title} needs the field '{field}': {words}."
    if field.endswith(")") and data[field] is None:  # {a: crank.at(0.5, 0)}
        return f"{title}: '{field}' comes after a comma. Put text with a comma in quotes."
    if field not in record.model_fields:
        meant = record.synonyms.get(field)
        hint = f"Write '{meant}'." if meant else unknown("field", field, record.model_fields)
        return f"{title} has no field '{field}'. {hint}"
    if field == "simengine2d":
        remedy = f"This program reads format {VERSION}. Install a newer one, or correct the number."
        return f"the file has the format version {shown(data[field])}. {remedy}"
    words = record.model_fields[field].description
    choices = get_args(record.model_fields[field].annotation)
    if kind == "literal_error":
        hint = unknown("choice", str(data[field]), map(str, choices))
        return f"{title}: {field} is {shown(data[field])}, which is unknown. {hint}"
    return f"{title}: {field} is {shown(data[field])}; it must be {words}."


def _names(record: type[Record]) -> str:
    return ", ".join(record.model_fields)
