"""The sections of a model file and the fields of bodies, from the schema."""

from __future__ import annotations

from typing import Any

from simengine2d.io import json_schema
from simengine2d.model import library

from .markdown import escaped, table

HEAD = """\
# Model file

A model is a YAML file, or JSON of the same form. Any number may be an expression of the parameters; numbers in text
may have a unit. [Write a mechanism in few words](../../how-to/write-a-mechanism.md) teaches it, this page lists it.
`simengine2d schema --out model.schema.json` writes the schema, with which editors complete and check a file while
it is written.
"""


def page_text() -> str:
    schema = json_schema()
    rows = [
        [f"`{name}`", _kind(part, schema), escaped(part.get("description", ""))]
        for name, part in schema["properties"].items()
    ]
    text = library.text("four_bar").strip()
    example = f"## Example\n\nThe four-bar linkage that comes with the package:\n\n```yaml\n{text}\n```"
    parts = [HEAD, "## Sections", table(["section", "holds", ""], rows), *_definitions(schema), example]
    return "\n\n".join(parts) + "\n"


def _definitions(schema: dict[str, Any]) -> list[str]:
    """The records other than joints and forces, which have pages of their own."""
    known = schema.get("$defs", {})
    shown = {
        name: part
        for name, part in known.items()
        if "properties" in part and "type" not in part["properties"]
    }
    return [f"## {name}\n\n{_fields(part, schema)}" for name, part in sorted(shown.items())]


def _fields(part: dict[str, Any], schema: dict[str, Any]) -> str:
    required = part.get("required", [])
    rows = [
        [
            f"`{name}`",
            _kind(field, schema),
            "yes" if name in required else "",
            escaped(field.get("description", "")),
        ]
        for name, field in part["properties"].items()
    ]
    return table(["field", "holds", "required", ""], rows)


def _kind(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """What a field holds, in a few words."""
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    if "enum" in field or "const" in field:
        return ", ".join(f"`{word}`" for word in field.get("enum", [field.get("const")]))
    if "anyOf" in field or "oneOf" in field:
        kinds = [_kind(each, schema) for each in field.get("anyOf", field.get("oneOf", []))]
        return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "null"))
    words = {"object": "a mapping", "array": "a list", "string": "text", "number": "a number",
             "boolean": "true or false", "integer": "a whole number", "null": "null"}  # fmt: skip
    kind = field.get("type", "")
    if kind == "array" and isinstance(field.get("items"), dict) and field["items"]:
        return f"a list of {_kind(field['items'], schema)}"
    return words.get(kind, "anything") if isinstance(kind, str) else " or ".join(words[k] for k in kind)
