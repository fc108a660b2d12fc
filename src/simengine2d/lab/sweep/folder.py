"""The folder of a study: a manifest that says which study it is, and a Parquet file for each finished chunk.

Files appear complete or not at all, so whatever ends a study leaves finished chunks behind, and the next call computes
the others. The manifest ties them to model, samples, settings and versions; a folder of another study is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np

from ... import __version__
from ...errors import ModelError, SimEngineError, UnsupportedError, listed, needed
from ...io.files import read_bytes, write_bytes, write_text
from ...io.model_writer import model_data
from .outputs import WholeResults
from .samples import Samples
from .study import SampleRow, Study
from .table import REASON, SAMPLE, SweepTable, table_of

MANIFEST = "manifest.json"
FORMAT = 1
WORDS = {
    "model": "model",
    "parameters": "samples",
    "analysis": "analysis",
    "options": "options of the analysis",
    "outputs": "outputs",
    "chunk": "size of chunks",
    "versions": "versions of packages",
    "format": "format of the folder",
}


class SweepFolder:
    """Where the rows of one study are kept."""

    def __init__(self, path: Path, study: Study, samples: Samples, size: int) -> None:
        self.path, self.study, self.samples, self.size = path, study, samples, size
        needed("pyarrow", "the folder of a study needs", "parquet", ", or leave `out` away")
        if any(isinstance(output, WholeResults) for output in study.outputs.values()):
            raise UnsupportedError(
                "a folder holds numbers and arrays, not whole results; name outputs, such as {'top': 'max(coupler.y)'}."
            )
        self._open(manifest_of(study, samples, size))

    def _open(self, manifest: dict[str, Any]) -> None:
        """Begin a folder, or go on with one of the same study."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(
                f"the folder {self.path} cannot be made: {(error.strerror or str(error)).lower()}."
            ) from None
        file = self.path / MANIFEST
        if file.exists():
            self._refuse_other(manifest)
        elif any(self.path.iterdir()):
            raise ModelError(
                f"the folder {self.path} holds other files, and no study. Give a new or an empty folder."
            )
        else:
            write_text(file, json.dumps(manifest, indent=2) + "\n")
        for unfinished in self.path.glob(".part-*.tmp"):
            unfinished.unlink(missing_ok=True)

    def _refuse_other(self, manifest: Mapping[str, Any]) -> None:
        there = read_manifest(self.path)
        differing = [
            words for key, words in WORDS.items() if there.get(key) != json.loads(json.dumps(manifest[key]))
        ]
        if differing:
            raise ModelError(
                f"the folder {self.path} is of another study: the two differ in {listed(differing)}. "
                "Give another folder, or delete this one."
            )

    def file(self, first: int) -> Path:
        return self.path / f"part-{first:09d}.parquet"

    def write(self, first: int, rows: list[SampleRow]) -> None:
        """One chunk; complete or not at all."""
        table = table_of("", self.samples, list(self.study.outputs), dict(enumerate(rows, first)))
        write_bytes(self.file(first), parquet_bytes(table))

    def read(self) -> dict[int, SampleRow]:
        """The rows of all chunks that are finished."""
        rows: dict[int, SampleRow] = {}
        for first in range(0, self.samples.count, self.size):
            if self.file(first).exists():
                rows |= read_part(self.file(first), list(self.study.outputs))
        return rows


def manifest_of(study: Study, samples: Samples, size: int) -> dict[str, Any]:
    """What makes a study this one."""
    return {
        "format": FORMAT,
        "name": study.model.name,
        "model": fingerprint_of_model(study),
        "count": samples.count,
        "parameters": {name: _fingerprint(values.tobytes()) for name, values in samples.items()},
        "analysis": study.analysis if isinstance(study.analysis, str) else _name(study.analysis),
        "options": {name: _words(value) for name, value in study.options.items()},
        "outputs": {name: output.identity for name, output in study.outputs.items()},
        "chunk": size,
        "versions": {"simengine2d": __version__, "numpy": np.__version__, "python": python_version()},
    }


def fingerprint_of_model(study: Study) -> str:
    """Of its text; of its bytes, where Python functions are in it."""
    try:
        text = json.dumps(model_data(study.model), sort_keys=True, default=str)
    except SimEngineError:
        import pickle

        return _fingerprint(pickle.dumps(study.model))
    return _fingerprint(text.encode())


def _fingerprint(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _name(function: Any) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _words(value: Any) -> str:
    """An option as text; of an array all its numbers count."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {_fingerprint(value.tobytes())}"
    return _name(value) if callable(value) and hasattr(value, "__qualname__") else repr(value)


def read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(read_bytes(path / MANIFEST))
    except ValueError:
        raise ModelError(f"{path / MANIFEST} is damaged. Give another folder, or delete this one.") from None
    return manifest if isinstance(manifest, dict) else {}


# Parquet ----------------------------------------------------------------------------------------------


def parquet_bytes(table: SweepTable) -> bytes:
    """The table as a Parquet file; whole channels are lists."""
    pyarrow = needed("pyarrow", "Parquet files need", "parquet", ", or write a .csv file")
    needed("pyarrow.parquet", "Parquet files need", "parquet")
    columns = {SAMPLE: table.sample, **table.columns, REASON: list(table.reasons)}
    arrays = [pyarrow.array(_listed(column)) for column in columns.values()]
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=list(columns)), buffer)
    return buffer.getvalue()


def _listed(column: Any) -> Any:
    """A failed sample has no channel; elsewhere nan is a number."""
    if not isinstance(column, np.ndarray) or column.dtype != object:
        return column
    return [list(value) if isinstance(value, np.ndarray) else None for value in column]


def read_part(path: Path, outputs: list[str]) -> dict[int, SampleRow]:
    """The rows of a finished chunk."""
    parquet = needed("pyarrow.parquet", "Parquet files need", "parquet")
    try:
        columns = parquet.read_table(io.BytesIO(read_bytes(path))).to_pydict()
        values = zip(*(columns[name] for name in outputs), strict=True)
        return {
            sample: SampleRow(tuple(map(_value, row)), reason)
            for sample, row, reason in zip(columns[SAMPLE], values, columns[REASON], strict=True)
        }
    except (KeyError, ValueError, OSError) as error:
        raise ModelError(
            f"{path} is damaged ({error}). Delete it, and the same call computes it again."
        ) from None


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return np.array(value, dtype=float)
    return float("nan") if value is None else value
