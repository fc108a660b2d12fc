"""Results as files: .csv holds the columns; .npz and .parquet also hold the model, the status and the notes.

A CSV file has the column t, then the channels `body.x`, `body.y`, `body.phi` of every body, then their first
and second derivatives, in digits that read back to the same floats; of a model with units it is in these, which the
headings name. The other two are in SI units and carry one JSON text of all
that is not an array. A file is written completely or not at all, and nothing in it is ever executed when it is read.
"""

from __future__ import annotations

import io
import json
import platform
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Caution, ModelError, UnsupportedError, listed, needed
from ..expressions.table import Table
from ..expressions.unit_system import factor_of
from ..model.elements import FUNCTION_KINDS, Element
from ..model.model import Model
from ..results.events import Crossing
from ..results.results import Results
from ..results.tables import columns_of
from ..system.system import System
from .archive import ALWAYS_FINE, RATIO, Arrays, digest, pack, unpack
from .files import Document, read_bytes, write_bytes
from .model_reader import LAW, read_model
from .model_writer import model_data

FORMAT = 3
READABLE = (2, 3)
WITH_DIGEST = 3
"""The first format that carries a digest."""
METADATA, DIGEST = "simengine2d", "simengine2d digest"
WORDS = {
    "analysis": str,
    "status": str,
    "notes": list,
    "residuals": dict,
    "statistics": dict,
    "settings": dict,
}
"""What is not an array, and its type."""
ARRAYS = ("t", "q", "qd", "qdd", "lam")
CHECKPOINT = "checkpoint_"


def save_results(results: Results, path: Path) -> Path:
    """Write results; the ending says how. An old file is replaced only when the new one is complete."""
    written = _codec(path, "written")[0]
    for name in ARRAYS:
        array = getattr(results, name)
        if array is not None and not np.all(np.isfinite(array)):
            raise ModelError(
                f"{path} is not written: {name} of the results holds numbers that are not finite."
            )
    return write_bytes(path, written(results))


def load_results(path: Path) -> Results:
    """Read what `save_results` wrote."""
    read = _codec(path, "read")[1]
    data = read_bytes(path)
    try:
        return read(data, path)
    except UnsupportedError:
        raise
    except (
        Exception
    ) as error:  # damaged bytes end in ten kinds of exceptions of the readers of archives and columns
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
    columns = columns_of(results.shown, None, units=False)
    lines = [",".join(columns)]
    lines += [",".join(map(repr, row)) for row in np.column_stack(list(columns.values())).tolist()]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _from_csv(data: bytes, path: Path) -> Results:
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    if not text.endswith("\n"):
        raise ValueError("its last line has no end, as in a file that was cut")
    header, *lines = text.split("\n")
    names, factors = zip(*map(_heading, header.split(",")), strict=True)
    bodies = [name.removesuffix(".x") for name in names if name.endswith(".x")]
    model = Model(path.stem)
    for body in bodies:
        model.body(body)
    results = Results(System(model), *(np.empty(0),) * 4, status=f"read from {path.name}", columns_only=True)
    wanted = ["t", *results.motion_channels]
    if sorted(names) != sorted(wanted):
        raise ValueError(f"the columns are {listed(names, 6)}; expected are {listed(wanted, 6)}")
    rows = [_csv_row(line, i, len(names)) for i, line in enumerate(lines, 2) if line.strip()]
    table = np.array(rows, dtype=float).reshape(-1, len(names)) * factors
    table = table[:, [names.index(name) for name in wanted]]
    results.t = table[:, 0].copy()
    results.q, results.qd, results.qdd = (part.copy() for part in np.split(table[:, 1:], 3, axis=1))
    return results


def _heading(text: str) -> tuple[str, float]:
    """The name of a column, and how much its unit is in SI units: `crank.x [mm]`."""
    name, _, unit = text.removesuffix("]").partition(" [")
    return (name, factor_of(unit)) if unit else (text, 1.0)


def _csv_row(line: str, number: int, count: int) -> list[float]:
    cells = line.split(",")
    if len(cells) != count:
        raise ValueError(f"line {number} has {len(cells)} cells, the first line {count}")
    try:
        values = [float(cell) for cell in cells]
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None
    strange = [cell for cell, value in zip(cells, values, strict=True) if not isfinite(value) or "_" in cell]
    if strange:
        raise ValueError(f"line {number}: {strange[0]} is not a finite number")
    return values


# NPZ --------------------------------------------------------------------------------------------------


def _npz(results: Results) -> bytes:
    arrays: Arrays = {name: array for name in ARRAYS if (array := getattr(results, name)) is not None}
    if not _without_code(results)[1]:  # the model that is saved is the one that ran
        arrays |= {CHECKPOINT + name: np.asarray(array) for name, array in results.checkpoint.items()}
    text = _metadata(results)
    return pack(arrays | {"metadata": np.array(text), "digest": np.array(digest(text, arrays))})


def _from_npz(data: bytes, path: Path) -> Results:
    arrays = unpack(data)
    text = str(arrays.pop("metadata"))
    given = arrays.pop("digest", None)
    return _results(text, arrays, path, None if given is None else str(given))


# Parquet ----------------------------------------------------------------------------------------------


def _parquet(results: Results) -> bytes:
    pyarrow = _pyarrow()
    columns = {"t": results.t}
    columns |= dict(
        zip(results.motion_channels, np.hstack([results.q, results.qd, results.qdd]).T, strict=True)
    )
    if results.lam is not None:
        columns |= {f"lam{i}": column for i, column in enumerate(results.lam.T)}
    arrays = [pyarrow.array(np.ascontiguousarray(column)) for column in columns.values()]
    table = pyarrow.table(arrays, names=list(columns))
    text = _metadata(results)
    known = {name: array for name in ARRAYS if (array := getattr(results, name)) is not None}
    table = table.replace_schema_metadata({METADATA: text, DIGEST: digest(text, known)})
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue()


def _from_parquet(data: bytes, path: Path) -> Results:
    pyarrow = _pyarrow()
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
        rows, columns = file.metadata.num_rows, file.metadata.num_columns
        if 8 * rows * columns > max(ALWAYS_FINE, RATIO * len(data)):
            raise ValueError(f"its {len(data) / 1e6:.3g} MB would become {8 * rows * columns / 1e6:.0f} MB")
        table = file.read()
    except pyarrow.ArrowException as error:
        raise ValueError(str(error)) from None
    known = {key.decode(): word.decode("utf-8") for key, word in (table.schema.metadata or {}).items()}
    return _results(known[METADATA], _blocks(table), path, known.get(DIGEST))


def _blocks(table: Any) -> Arrays:
    """t, q, qd, qdd and lam, of which a parquet file has the columns."""
    columns = {name: np.asarray(table[name].to_numpy(), dtype=float) for name in table.column_names}
    stacked = lambda part: np.array(part).reshape(len(part), table.num_rows).T
    motion = stacked([column for name, column in columns.items() if "." in name])
    lam = [column for name, column in columns.items() if name.startswith("lam") and "." not in name]
    q, qd, qdd = map(np.ascontiguousarray, np.split(motion, 3, axis=1))
    blocks = {"t": columns["t"], "q": q, "qd": qd, "qdd": qdd}
    return blocks | ({"lam": np.ascontiguousarray(stacked(lam))} if lam else {})


def _pyarrow() -> Any:
    pyarrow = needed("pyarrow", "Parquet files need", "tables", ", or save as .npz or .csv")
    import_module("pyarrow.parquet")
    return pyarrow


CODECS = {".csv": (_csv, _from_csv), ".npz": (_npz, _from_npz), ".parquet": (_parquet, _from_parquet)}


# What is not an array ---------------------------------------------------------------------------------


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
        "cautions": [note for note in results.notes if isinstance(note, Caution)],
        "residuals": results.residuals,
        "statistics": results.statistics,
        "events": results.events,
        "settings": results.settings,
        "has_multipliers": results.lam is not None,
        "source": model.source,
        "model": model_data(model),
    }
    if model.written is not None:  # in units of its own, in which results are shown
        data["written"] = model_data(model.written)
    try:
        return json.dumps(data, default=_number)
    except TypeError as error:
        raise UnsupportedError(f"these results cannot be saved: {error}. Save them as .csv.") from None


def _number(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{value!r} in their settings is not plain data")


def _results(text: str, arrays: Arrays, path: Path, given: str | None) -> Results:
    """The results again. A file that was changed, or whose arrays do not fit its model, is refused."""
    data = json.loads(text)
    if data["format"] not in READABLE:
        raise ValueError(f"its format is {data['format']!r}, this version reads {listed(READABLE)}")
    if data.get("has_multipliers") and "lam" not in arrays:  # those of no equations have no columns
        arrays["lam"] = np.empty((arrays["t"].size, 0))
    if data["format"] >= WITH_DIGEST and digest(text, arrays) != given:
        raise ValueError("it was changed after it was saved: its arrays and its text do not fit its digest")
    model = read_model(Document(path.name, data["model"]), path.parent, None)
    model.source = data["source"]
    if "written" in data:
        model.written = read_model(Document(path.name, data["written"]), path.parent, None)
    system = System(model)
    _check_arrays(arrays, system)
    _check_words(data)
    words = {name: data[name] for name in WORDS}
    cautions = set(data.get("cautions", ()))
    words["notes"] = [Caution(note) if note in cautions else note for note in data["notes"]]
    words["events"] = [Crossing(*event) for event in data["events"]]
    words["checkpoint"] = {
        name.removeprefix(CHECKPOINT): array for name, array in arrays.items() if name.startswith(CHECKPOINT)
    }
    t, q, qd, qdd = (arrays[name] for name in ARRAYS[:4])
    return Results(system, t, q, qd, qdd, arrays.get("lam"), **words)


def _check_arrays(arrays: Arrays, system: System) -> None:
    """Shapes and kinds that the model asks for; no run gives a number that is not finite."""
    rows = arrays["t"].size
    shapes = dict.fromkeys(ARRAYS[1:4], (rows, system.n)) | {"t": (rows,), "lam": (rows, system.m)}
    for name, shape in shapes.items():
        array = arrays.get(name) if name == "lam" else arrays[name]
        if array is None:
            continue
        if array.dtype != float or array.shape != shape:
            raise ValueError(
                f"{name} has the shape {array.shape} of {array.dtype}, expected is {shape} of float64"
            )
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{name} holds numbers that are not finite")


def _check_words(data: dict[str, Any]) -> None:
    for name, kind in WORDS.items():
        if not isinstance(data[name], kind):
            raise ValueError(f"{name} is {data[name]!r}, expected is a {kind.__name__}")


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
    function = getattr(results.resolved.elements[element.name], name)
    values = [function(t) for t in results.t.tolist()]
    return (
        Table(tuple(results.t.tolist()), tuple(values)) if len(values) > 1 else values[0] if values else 0.0
    )
