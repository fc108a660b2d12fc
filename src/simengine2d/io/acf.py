"""The course's analysis files (.acf): which simulation, how long, in which steps."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

from ..errors import ModelError, listed, unknown, warn
from .adm_read_elements import is_number
from .adm_reader import refuse_adams
from .files import Document, read_text, write_text
from .json_reader import read_json
from .text_writer import shown, to_json

SIMULATIONS = {
    "Kinematics": "kinematics",
    "Dynamics": "dynamics",
    "InverseDynamics": "inverse_dynamics",
    "Equilibrium": "equilibrium",
}
FIELDS = {"t_end": "tend", "step": "stepSize", "output_steps": "outputSteps"}


def load_analysis(path: str | Path) -> dict[str, Any]:
    """Read an .acf file: {"kind": "dynamics", "t_end": 4.0, "step": 0.005, "output_steps": 400}."""
    path = Path(path)
    text = read_text(path)
    refuse_adams(text, path.name)
    document = read_json(text, path.name)
    data = document.data
    if not isinstance(data, dict) or ("simulation" not in data and "bodies" in data):
        what = "a model" if isinstance(data, dict) else shown(data)
        raise ModelError(
            f'{path.name} holds {what}, not an analysis. An .acf file is {{"simulation": "Dynamics", ...}}.'
        )
    analysis = _checked(document)
    strange = [key for key in data if key not in ("simulation", *FIELDS.values())]
    if strange:
        warn(f"{path.name}: {listed(strange)} is unknown and ignored.")
    return analysis


def _checked(document: Document) -> dict[str, Any]:
    analysis = {
        "kind": _kind(document),
        "t_end": _positive(document, "tend"),
        "step": _positive(document, "stepSize"),
        "output_steps": _count(document),
    }
    if document.collected:
        raise ModelError(document.problems)
    return analysis


def _kind(document: Document) -> str:
    word = document.data.get("simulation")
    folded = {name.lower(): kind for name, kind in SIMULATIONS.items()}
    if isinstance(word, str) and word.lower() in folded:
        return folded[word.lower()]
    if word is None:
        document.complain((), f"the field 'simulation' is missing. Write one of {listed(SIMULATIONS)}.")
    else:
        hint = unknown("simulation", str(word), SIMULATIONS)
        document.complain(("simulation",), f"the simulation {shown(word)} is unknown. {hint}")
    return ""


def _positive(document: Document, field: str) -> float:
    value = document.data.get(field)
    if value is None:
        document.complain((), f"the field '{field}' is missing. Write a positive number.")
    elif not is_number(value) or not 0 < value < inf:
        document.complain((field,), f"{field} is {shown(value)}; it must be a positive number.")
    else:
        return float(value)
    return 1.0


def _count(document: Document) -> int:
    count = _positive(document, "outputSteps")
    if count != int(count):
        given = document.data["outputSteps"]
        document.complain(("outputSteps",), f"outputSteps is {shown(given)}; it must be a whole number.")
    return int(count)


def save_analysis(analysis: dict[str, Any], path: str | Path) -> Path:
    """Write an .acf file from what `load_analysis` gives."""
    path = Path(path)
    names = {kind: name for name, kind in SIMULATIONS.items()}
    kind = analysis.get("kind")
    if kind not in names:
        hint = unknown("analysis", str(kind), names, plural="analyses")
        raise ModelError(f"{path} is not written: an .acf file holds no analysis {kind!r}. {hint}")
    missing = [key for key in FIELDS if key not in analysis]
    if missing:
        raise ModelError(
            f"{path} is not written: the analysis has no {listed(missing)}. Give a number for each."
        )
    data = {"simulation": names[kind]} | {field: analysis[key] for key, field in FIELDS.items()}
    _checked(Document(path.name, data))
    lost = [key for key in analysis if key not in ("kind", *FIELDS)]
    if lost:
        sentence = f"{path.name}: an .acf file has no place for {listed(lost)}, which is left out."
        warn(sentence)
    return write_text(path, to_json(data))
