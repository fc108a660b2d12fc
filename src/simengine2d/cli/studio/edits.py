"""Edits of the text of a model by drawing: each takes a text and gives a text, and changes only what it is about.

Comments, order and layout stay. What was a model before is one afterwards, or the edit is refused with a sentence.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import ModelError, SimEngineError, unknown
from ...io.text_writer import to_yaml
from ...io.yaml_edit import edited as edited_text
from ...io.yaml_edit import same
from ...io.yaml_reader import read_yaml
from . import adding, changing, copying, moving, removing
from .draft import NAME, PLACE, TextDraft, read_draft
from .sheet import Sheet

SECTIONS = ("bodies", "joints", "forces")

EDITS: dict[str, Callable[..., str]] = {
    edit.__name__: edit
    for edit in (
        adding.add_link,
        adding.add_point,
        adding.add_ground,
        adding.add_slider,
        adding.add_gears,
        adding.add_spring,
        adding.add_damper,
        adding.add_driver,
        adding.add_force,
        adding.add_torque,
        changing.set_field,
        changing.set_joint_type,
        changing.set_parameter,
        changing.set_analysis,
        changing.set_picture,
        changing.scale_picture,
        changing.lock,
        changing.unlock,
        copying.copy,
        copying.mirror,
        moving.move_point,
        moving.set_length,
        moving.set_angle,
        removing.delete,
    )
}
EDITS["add_plate"] = adding.add_link


def edited(text: str, edit: dict[str, Any], folder: str | Path = ".") -> dict[str, Any]:
    """The text after an edit, what is selected then, and notes; raises a ModelError where it is not possible."""
    options = {str(key): value for key, value in edit.items() if key not in ("do", "edit", "kind_of_edit")}
    verb = str(edit.get("do", edit.get("edit", "")))
    if verb not in EDITS:
        raise ModelError(f"There is no edit '{verb}'. {unknown('edit', verb, EDITS)}")
    _refuse_missing(verb, options)
    sheet = Sheet(text, folder)
    selected = EDITS[verb](sheet, **options)
    new = written(sheet.draft, sheet.data)
    _refuse_broken(new, sheet)
    return {"text": new, "selected": selected, "notes": sheet.notes}


def _refuse_missing(verb: str, options: dict[str, Any]) -> None:
    parameters = list(inspect.signature(EDITS[verb]).parameters.values())[1:]
    missing = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    missing = [name for name in missing if name not in options]
    if missing:
        raise ModelError(f"The edit '{verb}' needs {', '.join(missing)}.")


def written(draft: TextDraft, data: dict[str, Any]) -> str:
    """The text that says `data`; what it said before stays as it is written."""
    before = draft.data
    if same(before, data):
        return draft.text
    if not before:
        return comments_of(draft.text) + to_yaml(data, SECTIONS)
    new = edited_text(draft.text, before, data)
    if not same(read_yaml(new, NAME).data, data):
        raise ModelError("The text cannot be changed there without writing it anew. Change it by hand.")
    if not data:
        return comments_of(new)
    return new if new.endswith("\n") or not draft.text.endswith("\n") else f"{new}\n"


def comments_of(text: str) -> str:
    """A text that says nothing, without the braces of an empty mapping: what is written below it would not be read."""
    lines = (line for line in text.splitlines() if not line.strip() or line.lstrip().startswith("#"))
    return "".join(f"{line}\n" for line in lines)


def _refuse_broken(text: str, sheet: Sheet) -> None:
    """What was a model before is one afterwards."""
    if text == sheet.draft.text:
        return
    try:
        problems = read_draft(text, sheet.folder).problems
    except SimEngineError as error:
        raise ModelError(f"This is not possible: {error}") from None
    if problems:
        raise ModelError(f"This is not possible: {PLACE.sub('', problems[0])}")
