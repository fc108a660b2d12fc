"""The text of a model that was read from YAML, with only what changed in the model changed in the text.

What the text said is read once more and compared with what the model says now; the edited text is read again, and must
say exactly that. Where it does not, or is no longer readable, the model is written anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import ModelError
from ..model.model import Origin
from .model_reader import unchecked_model
from .model_writer import model_data
from .named_laws import NamedLaws
from .yaml_edit import edited, same
from .yaml_reader import read_yaml


def kept_text(origin: Origin | None, data: dict[str, Any], folder: Path) -> str | None:
    """The text for the model `data`, to be written to `folder`; None where it has to be written anew."""
    if origin is None:
        return None
    try:
        before = _said(origin.text, origin.folder)
        if folder.resolve() != origin.folder.resolve():
            before = _without_files(read_yaml(origin.text, "").data, before)
        text = edited(origin.text, before, data)
        return text if same(_said(text, folder), data) else None
    except ModelError:
        return None


def _said(text: str, folder: Path) -> dict[str, Any]:
    """What a text says, as the model would be written."""
    document = read_yaml(text, "")
    data = model_data(unchecked_model(document, folder, NamedLaws(None, "")))
    if document.collected:
        raise ModelError(document.problems)
    return data


def _without_files(written: Any, data: Any) -> Any:
    """The data without the tables that are files beside the text: in another folder their points are written out."""
    if not isinstance(written, dict) or not isinstance(data, dict):
        return data
    if "file" in written:
        return None
    return {key: _without_files(written.get(key), value) for key, value in data.items()}
