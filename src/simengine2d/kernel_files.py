"""Machine code on the disk: one file for each compiled kernel, whole or not there.

A file begins with the digest of all that follows. One that is cut, damaged, of another version or unreadable counts as
missing: the kernel is compiled again, and the file written anew. Where nothing can be written, kernels run uncached.
"""

from __future__ import annotations

import hashlib
import pickle
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

DIGEST = hashlib.sha256().digest_size


class KernelFiles:
    """The files of one kernel, one for each signature; takes the place of numba's index and data files."""

    def __init__(self, folder: Path, name: str, stamp: str) -> None:
        self.folder, self.name, self.stamp = folder, name, stamp

    def path(self, key: Any) -> Path:
        """Of the machine code for a signature and a processor."""
        return self.folder / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load(self, key: Any) -> Any:
        """What was saved under the key; None where there is no sound file."""
        try:
            text = self.path(key).read_bytes()
            if hashlib.sha256(text[DIGEST:]).digest() != text[:DIGEST]:
                return None
            found = pickle.loads(text[DIGEST:])
            stamp, saved_key, data = found
        except Exception:  # a file that cannot be read is compiled anew, whatever is wrong with it
            return None
        return data if (stamp, saved_key) == (self.stamp, key) else None

    def save(self, key: Any, data: Any) -> None:
        text = dumps((self.stamp, key, data))
        write_whole(self.path(key), hashlib.sha256(text).digest() + text)

    def flush(self) -> None:
        """Forget all signatures."""
        for path in self.folder.glob(f"{self.name}.*.nbc"):
            path.unlink(missing_ok=True)


def write_whole(path: Path, text: bytes) -> None:
    """Write a file under another name first, so that nobody ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        draft.write_bytes(text)
        draft.replace(path)
    except BaseException:  # a full disk, or Ctrl-C
        with suppress(OSError):
            draft.unlink()
        raise
