"""Files: read them, or say in one sentence why not; write them completely or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from difflib import get_close_matches
from pathlib import Path

from ..errors import ModelError

LARGEST = 50_000_000
"""Bytes; a larger file is not a model, but perhaps the results of one."""

REMEDIES = {
    errno.ENOSPC: "Make room on the disk, or write to another one",
    errno.EDQUOT: "Delete files of yours, or write to another disk",
    errno.EACCES: "Choose a folder in which you may write",
    errno.EPERM: "Choose a folder in which you may write",
    errno.EROFS: "Choose a folder in which you may write",
    errno.ENAMETOOLONG: "Choose a shorter name",
}


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, which is a model or an analysis."""
    data = read_bytes(path, LARGEST)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ModelError(
            f"{path} is not UTF-8 text: line {line} holds the byte 0x{data[error.start]:02x}. "
            "Save it again in an editor with the encoding UTF-8."
        ) from None
    if not text.strip():
        raise ModelError(f"{path} is empty. Write a model into it, or check the path.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: Path, largest: int | None = None) -> bytes:
    """What a file holds; one of more than `largest` bytes is refused."""
    try:
        if path.is_dir():
            raise ModelError(f"{path} is a folder. Give the path of a file in it.")
        if not path.exists():
            raise ModelError(_missing(path))
        if not path.is_file():
            raise ModelError(f"{path} is not an ordinary file. Give the path of one.")
        size = path.stat().st_size
        if largest is not None and size > largest:
            raise ModelError(
                f"{path} has {size / 1e6:.0f} MB; at most {largest / 1e6:.0f} MB are read. "
                "Check that it is a model file."
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        raise ModelError(
            f"{path} cannot be read: {_reason(error)}. Check the path and its permissions."
        ) from None


def _missing(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no file {path}: the folder {folder.resolve()} does not exist. Check the path."
    close = get_close_matches(path.name, [entry.name for entry in folder.iterdir()], n=1)
    hint = f"Did you mean '{close[0]}'?" if close else "Check the path."
    return f"there is no file {path.name} in {folder.resolve()}. {hint}"


def write_text(path: Path, text: str) -> Path:
    """Write a UTF-8 file that is old or new, never partial."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelError(
            f"{path} is not written: the character {error.object[error.start]!r} is not text."
        ) from None
    return write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> Path:
    """Write a file that is old or new, never partial: a temporary one beside it takes its name at the end."""
    try:
        _refuse_folder(path)
        _replace(path.resolve(), data)  # a link stays a link
    except (OSError, ValueError) as error:
        remedy = REMEDIES.get(getattr(error, "errno", 0), "Check the path and the disk")
        raise ModelError(f"{path} is not written: {_reason(error)}. {remedy}.") from None
    return path


def _refuse_folder(path: Path) -> None:
    folder = path.parent
    if path.is_dir():
        raise ModelError(f"{path} is not written: it is a folder. Give the path of a file.")
    if not folder.exists():
        raise ModelError(f"{path} is not written: the folder {folder} does not exist. Make it first.")
    if not folder.is_dir():
        raise ModelError(f"{path} is not written: {folder} is a file, not a folder. Check the path.")


def _replace(path: Path, data: bytes) -> None:
    """The temporary file is gone afterwards, whatever happens: a full disk, Ctrl+C."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(path))
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those a new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _reason(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return (reason or type(error).__name__).lower()
