"""What the shell completes: shipped mechanisms, model files, names of methods. Nothing slow is imported for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from ..analyses.catalog import EquilibriumMethod
from ..methods import CoordinatesName, FormulationName, IntegratorName, NotationName
from ..model import library

MODEL_FILES = (".yaml", ".yml", ".json", ".adm")
RESULT_FILES = (".npz", ".parquet", ".csv")

Completion = Callable[[str], list[Any]]


def shipped(incomplete: str) -> list[Any]:
    """Mechanisms that come with the package, each with its sentence."""
    return [(name, library.description(name)) for name in library.names() if name.startswith(incomplete)]


def starters(incomplete: str) -> list[Any]:
    """Models to begin with, each with its sentence."""
    from ..model.library import starters

    words = [(starters.spelled(name), starters.description(name)) for name in starters.names()]
    return [each for each in words if each[0].startswith(incomplete)]


def notebooks(incomplete: str) -> list[Any]:
    """The notebooks, each with its title."""
    from .notebooks import notebooks

    return [(each.name, each.title) for each in notebooks() if each.name.startswith(incomplete)]


def models(incomplete: str) -> list[Any]:
    return [*_files(incomplete, MODEL_FILES), *shipped(incomplete)]


def results(incomplete: str) -> list[Any]:
    return _files(incomplete, RESULT_FILES)


def results_and_models(incomplete: str) -> list[Any]:
    return [*results(incomplete), *models(incomplete)]


def one_of(names: Any, *more: str) -> Completion:
    """The words of a type."""
    known = (*get_args(names), *more)
    return lambda incomplete: [name for name in known if name.startswith(incomplete)]


def several_of(names: Any, *more: str) -> Completion:
    """The last word of a list with commas."""
    complete = one_of(names, *more)

    def words(incomplete: str) -> list[Any]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in complete(last)]

    return words


integrators = one_of(IntegratorName)
formulations = one_of(FormulationName)
coordinates = one_of(CoordinatesName)
equilibrium_methods = one_of(EquilibriumMethod)
notations = one_of(NotationName)


def _files(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    """Files of these kinds, and folders, in the folder that is being written."""
    written = incomplete.rpartition("/")
    folder = Path(written[0] + written[1] or ".")
    if not folder.is_dir():
        return []
    entries = [entry for entry in sorted(folder.iterdir()) if entry.name.startswith(written[2])]
    head = written[0] + written[1]
    folders = [f"{head}{entry.name}/" for entry in entries if entry.is_dir() and entry.name[0] != "."]
    return [f"{head}{entry.name}" for entry in entries if entry.suffix.lower() in endings] + folders
