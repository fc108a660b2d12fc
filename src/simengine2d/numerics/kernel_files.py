"""Machine code on the disk: one file for each compiled kernel, whole or not there.

A file begins with the digest of all that follows. One that is cut, damaged, of another version or unreadable counts as
missing: the kernel is compiled again, and the file written anew. Where nothing can be written, kernels run uncached.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

DIGEST = hashlib.sha256().digest_size


COMPILER = (
    "bare_compiler",
    "compiler_choice",
    "contexts",
    "kernel_pointer",
    "inside_numba",
    "stock_compiler",
    "fast_compiler",
    "kernel_files",
    "kernel",
)
"""The modules that make machine code: a change of one of them changes the code of every kernel."""


def cache_folder() -> Path:
    """Where compiled kernels are kept; `SIMENGINE2D_CACHE` overrides the user's cache folder."""
    override = os.environ.get("SIMENGINE2D_CACHE")
    if override:
        return Path(override) / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("simengine2d", appauthor=False)) / "kernels"


def source_key(compiler: str) -> str:
    """Hash of all that makes the machine code: sources of kernels, the compiler, the versions behind it."""
    digest = compiler_digest()
    digest.update(compiler.encode())
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


def compiler_digest() -> Any:
    """Hash of the compiler's own modules and of the versions behind it, to go on with."""
    digest = hashlib.sha256(versions().encode())
    for name in COMPILER:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest


@cache
def versions() -> str:
    import llvmlite
    import numba

    return f"numba {numba.__version__}, llvmlite {llvmlite.__version__}, Python {platform.python_version()}"


class KernelFiles:
    """The files of one kernel, one for each signature; takes the place of numba's index and data files."""

    def __init__(
        self, folder: Path, name: str, stamp: str, dumps: Callable[[Any], bytes] = pickle.dumps
    ) -> None:
        self.folder, self.name, self.stamp, self.dumps = folder, name, stamp, dumps

    def path(self, key: Any) -> Path:
        """Of the machine code for a signature and a processor."""
        return self.folder / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load(self, key: Any) -> Any:
        """What was saved under the key; None where there is no sound file."""
        try:
            text = self.read(key)
            if hashlib.sha256(text[DIGEST:]).digest() != text[:DIGEST]:
                return None
            found = pickle.loads(text[DIGEST:])
            stamp, saved_key, data = found
        except Exception:  # a file that cannot be read is compiled anew, whatever is wrong with it
            return None
        return data if (stamp, saved_key) == (self.stamp, key) else None

    def save(self, key: Any, data: Any) -> None:
        text = self.dumps((self.stamp, key, data))
        self.write(key, hashlib.sha256(text).digest() + text)

    def read(self, key: Any) -> bytes:
        return self.path(key).read_bytes()

    def write(self, key: Any, text: bytes) -> None:
        write_whole(self.path(key), text)

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
