"""Saving: where the results of a command go, as results that can be read again or as a table of chosen channels."""

from __future__ import annotations

from importlib.util import find_spec
from os import W_OK, access
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ...errors import ModelError, UnsupportedError
from ..terminal import say
from .app import Format
from .keeping import UNFINISHED

if TYPE_CHECKING:
    from ...model.model import Model
    from ...results.results import Results

NEEDS = {".parquet": ("pyarrow", "parquet"), ".xlsx": ("openpyxl", "excel")}
"""The package that writes such a file, and the extra that brings it."""


class Target(NamedTuple):
    """A file, and the columns of a table; without them, everything is saved."""

    path: Path
    channels: tuple[str, ...] = ()

    @property
    def is_table(self) -> bool:
        return bool(self.channels) or self.path.suffix.lower() == ".xlsx"


def target_file(
    model: str, out: Path | None, format: Format | None, channels: list[str] | None = None
) -> Target | None:
    """The file to save in, named after the model where --out is a folder.

    Anything that would prevent saving is reported before the run.
    """
    if out is None:
        given = "--format" if format is not None else "--channel" if channels else ""
        if given:
            raise typer.BadParameter(
                f"{given} says how to save; give the folder or the file too, with --out."
            )
        return None
    path = _path(model, out, format)
    ending = path.suffix.lower()
    if ending in NEEDS and not find_spec(NEEDS[ending][0]):
        package, extra = NEEDS[ending]
        raise UnsupportedError(
            f"{ending} files need the package {package}: pip install 'simengine2d[{extra}]'."
        )
    if channels and ending == ".npz":
        raise typer.BadParameter(
            "--channel chooses columns of .csv, .parquet and .xlsx; .npz holds everything."
        )
    check_folder(path)
    return Target(path, tuple(channels or ()))


def check_folder(path: Path) -> None:
    """The folder of a file; it is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not access(path.parent, W_OK):
        raise ModelError(f"the folder {path.parent} is not writable. Give another one.")


def _path(model: str, out: Path, format: Format | None) -> Path:
    ending = out.suffix.lower().removeprefix(".")
    if ending in Format.__members__ and not out.is_dir():
        if format is not None and format != ending:
            raise typer.BadParameter(f"--out {out} ends in .{ending}, but --format is {format}.")
        return out
    stem = Path(model).stem.partition(UNFINISHED)[0]
    return out / f"{stem}.{format or Format.csv}"


def at_rest(model: Model, forces: bool) -> Results:
    """The drawn pose as results, with every channel that a run will have."""
    import numpy as np

    from ...results.results import Results as AtRest
    from ...system.system import System

    system = System(model)
    still, lam = np.zeros((1, system.n)), np.zeros((1, system.m)) if forces else None
    return AtRest(system, np.zeros(1), system.drawn_q[None], still, still, lam)


def save(results: Results, target: Target | None, degrees: bool = False) -> dict[str, Any]:
    """Save the results where they are wanted in a file; what the answer says of it."""
    if target is None:
        return {}
    replaced = ", in place of an earlier file" if target.path.exists() else ""
    written = _table(results, target, degrees) if target.is_table or degrees else results.save(target.path)
    say(f"saved {results.t.size} points in {written}{replaced}")
    return {"saved": [written]}


def _table(results: Results, target: Target, degrees: bool) -> Path:
    from ..summary import view_of

    table = view_of(results) if degrees else results
    write = {".csv": table.to_csv, ".parquet": table.to_parquet, ".xlsx": table.to_excel}
    return write[target.path.suffix.lower()](target.path, target.channels or None)
