"""Archives of arrays, .npz: written so that equal arrays give equal bytes, read with every size checked before use.

Nothing in a file is executed, and a small file cannot fill the memory: the sizes that it declares are compared with
each other before an array is made.
"""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

ENDING = ".npy"
KINDS = "fiubU"  # numbers, truths, text; no objects, which would be code
ALWAYS_FINE = 100_000_000  # bytes of arrays that any file may hold
RATIO = 10  # times its own size that a larger one may hold


def pack(arrays: Arrays) -> bytes:
    """The bytes of an archive. np.savez would write the time of day, and the same results would give other bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(name + ENDING), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def unpack(data: bytes) -> Arrays:
    """The arrays of an archive; a ValueError where it is none, or none of ours."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise ValueError("it is not an archive of arrays")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        _check_sizes(members, len(data))
        return {m.filename.removesuffix(ENDING): _array(archive.read(m), m.filename) for m in members}


def _check_sizes(members: list[zipfile.ZipInfo], size: int) -> None:
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise ValueError("a name occurs twice in it")
    whole, most = sum(member.file_size for member in members), max(ALWAYS_FINE, RATIO * size)
    if whole > most:
        raise ValueError(f"its {size / 1e6:.3g} MB would become {whole / 1e6:.0f} MB of arrays")


def _array(data: bytes, name: str) -> NDArray[Any]:
    """One array; its header must fit the bytes that follow."""
    file = io.BytesIO(data)
    shape, in_columns, dtype = _header(file, name)
    start, count = file.tell(), math.prod(shape)
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ValueError(f"{name} holds {dtype}, which are not numbers")
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data) - start:
        raise ValueError(f"{name} has {len(data) - start} bytes, which do not fit its shape {shape}")
    flat = np.frombuffer(data, dtype, count, start) if count else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if in_columns else "C").copy()


def _header(file: io.BytesIO, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        return read(file)
    except Exception as error:  # NumPy parses it as Python text, which can fail in many ways
        raise ValueError(f"the header of {name} is damaged ({type(error).__name__})") from None


def digest(text: str, arrays: Arrays) -> str:
    """A fingerprint of a text and of arrays with their names, kinds and shapes."""
    hashed = hashlib.sha256(text.encode("utf-8", errors="surrogatepass"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        hashed.update(f"|{name}|{array.dtype.str}|{array.shape}|".encode())
        hashed.update(array.tobytes())
    return hashed.hexdigest()
