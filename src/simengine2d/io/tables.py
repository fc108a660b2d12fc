"""Results as files: .csv holds the columns; .npz and .parquet also hold the model, the status and the notes.

A CSV file has the column t, then the channels `body.x`, `body.y`, `body.phi` of every body, then their first
and second derivatives, in digits that read back to the same floats. The other two carry one JSON text of all
that is no array. A file is written whole or not at all, and nothing in it is ever executed when it is read.
"""

from __future__ import annotations

import io
import json
import platform
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..elements import FUNCTION_KINDS, Element
from ..errors import ModelError, UnsupportedError, listed
from ..events import Crossing
from ..model import Model
from ..results import Floats, Results
from ..tables import Table
from .document import Document
from .files import read_bytes, write_bytes
from .laws import LAW
from .model_reader import read_model
from .model_writer import model_data

FORMAT = 2
METADATA = "simengine2d"
ARRAYS = ("t", "q", "qd", "qdd", "lam")
CHECKPOINT = "checkpoint_"


def save_results(results: Results, path: Path) -> Path:
    """Write results; the ending says how. An old file is replaced only when the new one is complete."""
    return write_bytes(path, _codec(path, "written")[0](results))


def load_results(path: Path) -> Results:
    """Read what `save_results` wrote."""
    read = _codec(path, "read")[1]
    data = read_bytes(path)
    try:
        return read(data, path)
    except (KeyError, TypeError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise ModelError(f"{path} holds no results of simengine2d, or it is damaged: {reason}.") from None


def _codec(path: Path, what: str) -> Any:
    ending = path.suffix.lower()
    if ending not in CODECS:
        raise ModelError(
            f"{path} is not {what}: the ending '{ending}' is unknown. Use one of {listed(CODECS)}."
        )
    return CODECS[ending]


# CSV --------------------------------------------------------------------------------------------------


def _csv(results: Results) -> bytes:
    table = np.column_stack([results.t, results.q, results.qd, results.qdd])
    lines = [",".join(["t", *results.channels])]
    lines += [",".join(map(repr, row)) for row in table.tolist()]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _from_csv(data: bytes, path: Path) -> Results:
    header, *lines = data.decode("utf-8-sig").splitlines() or [""]
    names = header.split(",")
    bodies = [name.removesuffix(".x") for name in names if name.endswith(".x")]
    model = Model(path.stem)
    for body in bodies:
        model.body(body)
    results = Results(model, *(np.empty(0),) * 4, status=f"read from {path.name}", columns_only=True)
    wanted = ["t", *results.channels]
    if sorted(names) != sorted(wanted):
        raise ValueError(f"the columns are {listed(names, 6)}; expected are {listed(wanted, 6)}")
    rows = [_csv_row(line, i, len(names)) for i, line in enumerate(lines, 2) if line.strip()]
    table = np.array(rows, dtype=float).reshape(-1, len(names))[:, [names.index(name) for name in wanted]]
    results.t = table[:, 0].copy()
    results.q, results.qd, results.qdd = (part.copy() for part in np.split(table[:, 1:], 3, axis=1))
    return results


def _csv_row(line: str, number: int, count: int) -> list[float]:
    cells = line.split(",")
    if len(cells) != count:
        raise ValueError(f"line {number} has {len(cells)} cells, the first line {count}")
    try:
        return [float(cell) for cell in cells]
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None


# NPZ --------------------------------------------------------------------------------------------------


def _npz(results: Results) -> bytes:
    arrays = {name: array for name in ARRAYS if (array := getattr(results, name)) is not None}
    arrays["metadata"] = np.array(_metadata(results))
    if not _without_code(results)[1]:  # the model that is saved is the one that ran
        arrays |= {CHECKPOINT + name: array for name, array in results.checkpoint.items()}
    buffer = io.BytesIO()
    # np.savez would write the time of day, and the same results would give other bytes
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return buffer.getvalue()


def _from_npz(data: bytes, path: Path) -> Results:
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise ValueError("it is no archive of arrays")
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return _results(str(arrays.pop("metadata")), arrays, path)


# Parquet ----------------------------------------------------------------------------------------------


def _parquet(results: Results) -> bytes:
    pyarrow = _pyarrow()
    columns = {"t": results.t}
    columns |= dict(zip(results.channels, np.hstack([results.q, results.qd, results.qdd]).T, strict=True))
    if results.lam is not None:
        columns |= {f"lam{i}": column for i, column in enumerate(results.lam.T)}
    arrays = [pyarrow.array(np.ascontiguousarray(column)) for column in columns.values()]
    table = pyarrow.table(arrays, names=list(columns))
    table = table.replace_schema_metadata({METADATA: _metadata(results)})
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue()


def _from_parquet(data: bytes, path: Path) -> Results:
    pyarrow = _pyarrow()
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
    except pyarrow.ArrowException as error:
        raise ValueError(str(error)) from None
    text = (table.schema.metadata or {})[METADATA.encode()].decode("utf-8")
    columns = {name: table[name].to_numpy() for name in table.column_names}
    lam = [column for name, column in columns.items() if name.startswith("lam") and "." not in name]
    motion = [column for name, column in columns.items() if "." in name]
    blocks = np.split(np.array(motion, dtype=float).reshape(len(motion), table.num_rows).T, 3, axis=1)
    arrays = {"t": columns["t"]} | dict(
        zip(("q", "qd", "qdd"), map(np.ascontiguousarray, blocks), strict=True)
    )
    return _results(text, arrays | ({"lam": np.array(lam).T} if lam else {}), path)


def _pyarrow() -> ModuleType:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UnsupportedError(
            "Parquet files need the package pyarrow, which is not installed. "
            "Install it with: pip install 'simengine2d[tables]', or save as .npz or .csv."
        ) from None
    return pyarrow


CODECS = {".csv": (_csv, _from_csv), ".npz": (_npz, _from_npz), ".parquet": (_parquet, _from_parquet)}


# What is no array -------------------------------------------------------------------------------------


def _metadata(results: Results) -> str:
    from .. import __version__

    model, notes = _without_code(results)
    data = {
        "format": FORMAT,
        "versions": {
            "simengine2d": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "analysis": results.analysis,
        "status": results.status,
        "notes": [*results.notes, *notes],
        "residuals": results.residuals,
        "statistics": results.statistics,
        "events": results.events,
        "settings": results.settings,
        "source": model.source,
        "model": model_data(model),
    }
    return json.dumps(data, ensure_ascii=False)


def _results(text: str, arrays: dict[str, Floats], path: Path) -> Results:
    """The results again; arrays that do not fit the model are refused."""
    data = json.loads(text)
    if data["format"] != FORMAT:
        raise ValueError(f"its format is {data['format']!r}, this version reads {FORMAT}")
    model = read_model(Document(path.name, data["model"]), path.parent, None)
    model.source = data["source"]
    t = arrays["t"]
    for name in ("q", "qd", "qdd"):
        expected = (t.size, 3 * len(model.bodies))
        if arrays[name].shape != expected:
            raise ValueError(f"{name} has the shape {arrays[name].shape}, expected {expected}")
    words = {
        name: data[name] for name in ("analysis", "status", "notes", "residuals", "statistics", "settings")
    }
    words["events"] = [Crossing(*event) for event in data["events"]]
    words["checkpoint"] = {
        name.removeprefix(CHECKPOINT): array for name, array in arrays.items() if name.startswith(CHECKPOINT)
    }
    return Results(model, t, arrays["q"], arrays["qd"], arrays["qdd"], arrays.get("lam"), **words)


def _without_code(results: Results) -> tuple[Model, list[str]]:
    """The model with its Python functions replaced by what a file can hold, and sentences that say so."""
    model, notes = results.model.copy(), []
    for element in model.elements.values():
        for name, kind in element.kinds().items():
            given = getattr(element, name)
            if kind == LAW and callable(given):
                setattr(element, name, str(getattr(given, "__name__", "law")))
                notes.append(
                    f"{element.title}: of its Python function '{getattr(element, name)}' the name was saved"
                )
            elif kind.name != "function" and kind.name in FUNCTION_KINDS and callable(given):
                setattr(element, name, None if name == "law" else 0.0)
                notes.append(
                    f"{element.title}: its Python function {name} could not be saved and was left out"
                )
            elif kind.name in FUNCTION_KINDS and (callable(given) or isinstance(given, tuple)):
                setattr(element, name, _sampled(results, element, name))
                notes.append(
                    f"{element.title}: its Python function was saved as its values at the output times"
                )
    return model, notes


def _sampled(results: Results, element: Element, name: str) -> Any:
    """A function of time as a table over the output times."""
    function = getattr(results.drawing.elements[element.name], name)
    values = [function(t) for t in results.t.tolist()]
    return (
        Table(tuple(results.t.tolist()), tuple(values)) if len(values) > 1 else values[0] if values else 0.0
    )
