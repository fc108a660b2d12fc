"""The folder of the studio: model files by plain names, and nothing outside of it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

from ...errors import ModelError
from ...io.files import decoded, read_bytes, write_bytes

ENDINGS = (".yaml", ".yml")
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""Endings of pictures behind a drawing; none of them can hold a script."""
UNTITLED = "untitled"
"""The drafts of models without a name bear this one."""
LARGEST_TEXT = 5_000_000
"""Bytes of a model in the studio."""
LARGEST_PICTURE = 20_000_000
LONGEST_NAME = 120
MOST_FILES = 1000
BOM = b"\xef\xbb\xbf"

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class DiskText(NamedTuple):
    """What a file says, with lines that end as the page ends them, and the bytes by which it is known again."""

    text: str
    hash: str
    line_end: str
    marked: bool
    """Whether it begins with a byte order mark."""

    def in_its_manner(self, text: str) -> str:
        """Another text with the line ends and the mark of this file."""
        return ("\ufeff" if self.marked else "") + text.replace("\n", self.line_end)


class ModelFolder:
    """Model files of one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def names(self) -> list[str]:
        """The model files, sorted."""
        try:
            entries = sorted(self.root.iterdir())
        except OSError:
            return []
        names = [path.name for path in entries if path.suffix.lower() in ENDINGS and path.is_file()]
        return [name for name in names if not name.startswith(".")][:MOST_FILES]

    def path(self, name: str, endings: tuple[str, ...] = ENDINGS) -> Path:
        """The file of that name; names that lead elsewhere are refused."""
        if not isinstance(name, str):
            raise ModelError(f"a file name is a text, not {name!r}.")
        reason = _wrong(name, endings)
        if reason:
            raise ModelError(f"'{name[:60]}' is not a file name: {reason}.")
        path = self.root / name
        if not _resolved(path).is_relative_to(self.root):
            raise ModelError(f"'{name}' is a link to a place outside the folder {self.root}.")
        return path

    def read(self, name: str) -> DiskText | None:
        """The file; None where there is none."""
        path = self.path(name)
        if not path.exists():
            return None
        data = read_bytes(path, LARGEST_TEXT)
        line_end = "\r\n" if data.partition(b"\n")[0].endswith(b"\r") else "\n"
        return DiskText(decoded(data, path), hash_of(data), line_end, data.startswith(BOM))

    def write(self, name: str, text: str) -> str:
        """Write a text as the file that is there ends its lines; one that says the same stays as it is to the byte."""
        if len(text) > LARGEST_TEXT:
            raise ModelError(f"{name} is not written: the text is longer than {LARGEST_TEXT / 1e6:.0f} MB.")
        before = self.read(name)
        if before is not None and before.text == text:
            return before.hash
        data = _encoded(name, text if before is None else before.in_its_manner(text))
        write_bytes(self.path(name), data)
        return hash_of(data)

    def picture(self, name: str) -> bytes | None:
        """A picture that lies beside the models; None where there is none."""
        path = self.path(name, PICTURES)
        return read_bytes(path, LARGEST_PICTURE) if path.is_file() else None

    # drafts

    def draft_path(self, name: str | None, number: int) -> Path:
        """`.four_bar.yaml.draft`, beside the file; further ones are `.four_bar.yaml.2.draft`."""
        shown = UNTITLED if name is None else self.path(name).name
        return self.root / (f".{shown}.draft" if number == 1 else f".{shown}.{number}.draft")

    def has_draft(self, name: str | None, number: int) -> bool:
        path = self.draft_path(name, number)
        return path.is_file() and not path.is_symlink()

    def read_draft(self, name: str | None, number: int) -> str | None:
        """Unsaved work that an earlier page left."""
        path = self.draft_path(name, number)
        try:
            return decoded(read_bytes(path, LARGEST_TEXT), path)
        except ModelError:
            return None

    def write_draft(self, name: str | None, number: int, text: str) -> None:
        path = self.draft_path(name, number)
        if path.is_symlink():
            raise ModelError(f"{path} is a link; the draft is not written.")
        write_bytes(path, _encoded(path.name, text))

    def delete_draft(self, name: str | None, number: int) -> None:
        path = self.draft_path(name, number)
        try:
            if path.exists():
                path.unlink()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ModelError(f"the draft {path} is not deleted: {reason}.") from None


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        raise ModelError(f"'{path.name}' is a link that leads back to itself. Delete it.") from None


def _encoded(name: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise ModelError(f"{name} is not written: the character {character!r} is not text.") from None


def _wrong(name: str, endings: tuple[str, ...]) -> str:
    """What is wrong with a name on any system, so that a folder can move between them."""
    if not name.lower().endswith(endings):
        return f"it does not end in {' or '.join(endings)}"
    if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        return f"it has more than {LONGEST_NAME} letters"
    if _FORBIDDEN.search(name):
        return r'it holds one of / \ : * ? " < > | or a control character'
    if name.startswith(".") or name != name.strip() or name.endswith("."):
        return "it begins or ends with a dot or a space"
    return "the name is reserved on Windows" if _RESERVED.fullmatch(name) else ""
