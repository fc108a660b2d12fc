"""Files: read them, or say in one sentence why not; write them completely or not at all.

A `Document` is what a text file says: plain data that remembers the line of each part.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..errors import MissingFileError, ModelError, Problem
from ..errors import Path as Keys

LARGEST = 50_000_000
"""Bytes; a larger file is not a model, but perhaps the results of one."""

DEEPEST = 60
"""Levels of nesting that are read; a mechanism needs six, and a bottomless file must not end Python."""

REMEDIES = {
    errno.ENOSPC: "Make room on the disk, or write to another one",
    errno.EDQUOT: "Delete files of yours, or write to another disk",
    errno.EACCES: "Choose a folder in which you may write",
    errno.EPERM: "Choose a folder in which you may write",
    errno.EROFS: "Choose a folder in which you may write",
    errno.ENAMETOOLONG: "Choose a shorter name",
}


def read_text(path: Path) -> str:
    """The text of a UTF-8 file that somebody has written."""
    text = decoded(read_bytes(path, LARGEST), path)
    if not text.strip():
        raise ModelError(f"{path} is empty. Write into it, or check the path.")
    return text


def decoded(data: bytes, path: Path) -> str:
    """The text of a file's bytes, whose lines may end as on Windows."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ModelError(
            f"{path} is not UTF-8 text: line {line} holds the byte 0x{data[error.start]:02x}. "
            "Save it again in an editor with the encoding UTF-8."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def line_end(path: Path) -> str:
    """How the lines of a file end; an editor on Windows may write two characters."""
    first = read_bytes(path, LARGEST).partition(b"\n")[0]
    return "\r\n" if first.endswith(b"\r") else "\n"


def read_bytes(path: Path, largest: int | None = None) -> bytes:
    """What a file holds; one of more than `largest` bytes is refused."""
    try:
        if path.is_dir():
            raise ModelError(f"{path} is a folder. Give the path of a file in it.")
        check_exist([path])
        if not path.is_file():
            raise ModelError(f"{path} is not an ordinary file. Give the path of one.")
        size = path.stat().st_size
        if largest is not None and size > largest:
            raise ModelError(
                f"{path} has {size / 1e6:.0f} MB; at most {largest / 1e6:.0f} MB are read. "
                "Check that it is a model file."
            )
        return path.read_bytes()
    except MissingFileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        raise ModelError(
            f"{path} cannot be read: {_reason(error)}. Check the path and its permissions."
        ) from None


def check_exist(paths: Sequence[Path]) -> None:
    """All paths that lead nowhere are named at once."""
    missing = [_missing(path) for path in paths if not path.exists()]
    if missing:
        raise MissingFileError(missing)


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


# Documents --------------------------------------------------------------------------------------------


@dataclass
class Document:
    """The data of a file, the line of every key, and the problems that did not stop the reading."""

    name: str
    data: Any = None
    lines: dict[Keys, int] = field(default_factory=dict)
    collected: list[Problem] = field(default_factory=list)
    """Problems with their lines, not yet reported."""
    arithmetic: dict[Keys, str] = field(default_factory=dict)
    """Numbers that were written as arithmetic, where the reader allows it."""

    @property
    def problems(self) -> list[Problem]:
        """All problems so far, from the top of the file to its end."""
        in_order = sorted(self.collected, key=lambda problem: problem.line)
        return [problem.begun(f"{self.at(problem.line)}: ") for problem in in_order]

    def line(self, path: Sequence[str | int] = ()) -> int:
        """The line of a key; a missing one has that of its parent; 0 is the whole file."""
        path = tuple(path)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines[path] if path else 0

    def at(self, line: int) -> str:
        """`slider_crank.yaml, line 14`"""
        return f"{self.name}, line {line}" if line else self.name

    def where(self, path: Sequence[str | int] = ()) -> str:
        return self.at(self.line(path))

    def complain(self, path: Sequence[str | int], sentence: str) -> None:
        """Collect a problem; the reader goes on and reports all of them at once."""
        self.collected.append(Problem(sentence, tuple(path), self.line(path)))

    def located(self, error: ModelError, paths: Mapping[str, Keys] | None = None) -> ModelError:
        """The same problems with their lines; `paths` says where elements are that have another name in the file."""
        return ModelError([self._located(problem, paths or {}) for problem in error.problems])

    def _located(self, problem: Problem, paths: Mapping[str, Keys]) -> Problem:
        elsewhere = paths.get(problem.element or "")
        path = problem.path if elsewhere is None else (*elsewhere, *problem.path[2:])
        return Problem(f"{self.where(path)}: {problem}", problem.path, self.line(path))

    def add(self, mapping: dict[str, Any], path: Keys, line: int) -> bool:
        """Note the line of a key; False where the key is there already."""
        key = path[-1]
        if key in mapping:
            inside = " of ".join(f"'{part}'" for part in reversed(path[:-1])) or "the file"
            first = self.lines[path]
            sentence = (
                f"'{key}' occurs twice in {inside}, first in line {first}. Rename one of them, or delete it."
            )
            self.collected.append(Problem(sentence, path, line))
            return False
        self.lines[path] = line
        return True


def syntax_error(name: str, line: int, column: int, sentence: str) -> ModelError:
    """The error of a text that cannot be read any further."""
    return ModelError(f"{name}, line {line}, column {column}: {sentence}")
