"""Model files: our own YAML and JSON, and the course's .adm and .acf."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..errors import MissingFileError, ModelError, listed, unknown
from ..model import library
from ..model.model import Model, Origin
from .acf import load_analysis, save_analysis
from .adm_check import checked_adm
from .adm_reader import is_course_model, read_adm, refuse_adams
from .files import Document, line_end, read_text, write_text
from .json_reader import read_json
from .kept_text import kept_text
from .model_reader import read_model
from .model_writer import LONGEST_NAME, model_data
from .named_laws import GivenLaw
from .python_writer import to_python
from .schema import json_schema
from .text_writer import to_json, to_yaml
from .yaml_reader import read_yaml

__all__ = ["json_schema", "load", "load_analysis", "save", "save_analysis"]

YAML, JSON, COURSE, ANALYSIS, PROGRAM = (".yaml", ".yml"), (".json",), (".adm",), (".acf",), (".py",)
SECTIONS = ("bodies", "joints", "forces")


def load(path: str | Path, laws: Mapping[str, GivenLaw] | None = None) -> Model:
    """Read a model: .yaml, .json, or the course's .adm; with any other ending, the content decides.

    A bare word that names no file is a shipped mechanism: `load("four_bar")`; `models()` lists them.
    `laws` gives the force laws that the file only names: {"piston": "-100*x, 0"}, expressions of t and of the body's
    state x, y, phi, xd, yd, phid (two for a force, one for a torque), or Python functions (t, q, qd).
    """
    if isinstance(path, str) and _is_bare_word(path):
        with library.file(path) as shipped:
            return _load(shipped, laws)
    return _load(Path(path), laws)


def _is_bare_word(name: str) -> bool:
    """Neither a file here nor written as one: a mistyped path must not run another mechanism."""
    path = Path(name)
    if path.name != name or path.suffix or path.is_file():
        return False
    if library.is_shipped(name):
        return True
    if path.exists():
        return False
    hint = unknown("shipped mechanism", name, library.names())
    raise MissingFileError(f"there is no file '{name}' here and no shipped mechanism of that name. {hint}")


def _load(path: Path, laws: Mapping[str, GivenLaw] | None) -> Model:
    ending = path.suffix.lower()
    if ending in ANALYSIS:
        raise ModelError(
            f"{path} is an analysis file, not a model. Read it with load_analysis, or give the .adm file."
        )
    if ending in PROGRAM:
        raise ModelError(f"{path} is a Python program, not a model file. Run it with `python {path}`.")
    text = _text(path)
    if ending in COURSE:
        refuse_adams(text, path.name)
        return read_adm(read_json(text, path.name, arithmetic=True), laws)
    document = _read(text, path, ending)
    if ending not in YAML + JSON and is_course_model(document.data):
        return read_adm(document, laws)
    model = read_model(document, path.parent, laws)
    if ending not in JSON:
        model.origin = Origin(text, path.parent, line_end(path))
    return model


def _text(path: Path) -> str:
    """The text of a file; where it is missing, what its name would mean without the ending."""
    try:
        return read_text(path)
    except MissingFileError as error:
        word = str(path).removesuffix(library.ENDING)
        if not library.is_shipped(word):
            raise
        raise MissingFileError(f"{error} The shipped mechanism is called by its bare name, {word}.") from None


def _read(text: str, path: Path, ending: str) -> Document:
    """The data of a text; without a known ending, a bracket at the start means JSON."""
    if ending in YAML:
        return read_yaml(text, path.name)
    if ending in JSON or text.lstrip().startswith("{"):
        return read_json(text, path.name)
    refuse_adams(text, path.name)
    return read_yaml(text, path.name)


def save(model: Model, path: str | Path) -> Path:
    """Write a model: .yaml, .json, the course's .adm, or .py. An old file stays until the new one is complete.

    A model that was read from YAML keeps its text: comments, order and what did not change stay as they are. A .py file
    is a program that builds the model.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending in COURSE:
        return write_text(path, checked_adm(model))
    if ending in PROGRAM:
        return write_text(path, to_python(model))
    if ending not in YAML + JSON:
        endings = listed(YAML + JSON + COURSE + PROGRAM)
        raise ModelError(f"{path} is not written: the ending '{ending}' is unknown. Use one of {endings}.")
    data = model_data(model)
    long = [name for section in SECTIONS for name in data.get(section, ()) if len(name) > LONGEST_NAME]
    if long:
        raise ModelError([f"{path} is not written: the name '{name[:40]}...' is too long." for name in long])
    if ending in JSON:
        return write_text(path, to_json(data))
    text = kept_text(model.origin, data, path.parent) or to_yaml(data, SECTIONS)
    return write_text(path, text if model.origin is None else text.replace("\n", model.origin.line_end))
