"""Tables of named columns as files of other programs: .csv, .parquet, .xlsx, complete or not written at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, needed
from ..numerics.arrays import Floats
from .files import write_bytes

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of a sheet
WIDTH = 14  # characters of a column of a sheet


def write_csv(columns: Mapping[str, Floats], path: Path) -> Path:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(repr, row) for row in _rows(columns))
    return write_bytes(_checked(path, ".csv"), text.getvalue().encode("utf-8"))


def write_parquet(columns: Mapping[str, Floats], path: Path) -> Path:
    pyarrow = needed("pyarrow", "Parquet files need", "parquet", ", or write a .csv file")
    import_module("pyarrow.parquet")
    arrays = [pyarrow.array(np.ascontiguousarray(column)) for column in columns.values()]
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=list(columns)), buffer)
    return write_bytes(_checked(path, ".parquet"), buffer.getvalue())


def write_excel(columns: Mapping[str, Floats], path: Path, about: Mapping[str, str]) -> Path:
    """A sheet of numbers whose headings stay in view, and a sheet about them."""
    openpyxl = needed("openpyxl", "Excel files need", "excel", ", or write a .csv file")
    rows = len(next(iter(columns.values())))
    if rows >= MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise ModelError(
            f"{path} is not written: a sheet of Excel holds {MOST_ROWS - 1} rows below its headings and {MOST_COLUMNS} "
            f"columns, and there are {rows} times and {len(columns)} columns. Choose fewer channels, or write .parquet."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("results")
    sheet.freeze_panes = "B2"
    letters = import_module("openpyxl.utils").get_column_letter
    for i, head in enumerate(columns, 1):
        sheet.column_dimensions[letters(i)].width = max(WIDTH, len(head) + 2)
    for row in chain([list(columns)], _rows(columns)):
        sheet.append(row)
    notes = book.create_sheet("about")
    notes.column_dimensions["B"].width = 100
    for pair in about.items():
        notes.append(pair)
    buffer = io.BytesIO()
    book.save(buffer)
    return write_bytes(_checked(path, ".xlsx"), buffer.getvalue())


def _rows(columns: Mapping[str, Floats]) -> list[list[float]]:
    table: list[list[float]] = np.column_stack(list(columns.values())).tolist()
    return table


def _checked(path: Path, ending: str) -> Path:
    """The path, whose ending must not promise another kind of file."""
    if path.suffix.lower() != ending:
        raise ModelError(f"{path} is not written: a file of this kind ends in {ending}.")
    return path


WRITERS: dict[str, Callable[..., Any]] = {".csv": write_csv, ".parquet": write_parquet, ".xlsx": write_excel}
