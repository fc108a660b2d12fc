"""Machine code on disk: one file for each compiled kernel, complete or absent.

A file begins with a digest of the rest. A file that is truncated, damaged, unreadable or of another version counts as
missing: the kernel is compiled and written again. Where nothing can be written, kernels run uncached.
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
    "lane_types",
    "lane_squares",
    "lane_functions",
    "kernel_files",
    "kernel",
)
"""The modules that make machine code: a change of one of them changes the code of every kernel."""


def cache_folder() -> Path:
    """Where compiled kernels are stored; `SIMENGINE2D_CACHE` overrides the user's cache folder."""
    override = os.environ.get("SIMENGINE2D_CACHE")
    if override:
        return Path(override) / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("simengine2d", appauthor=False)) / "kernels"


def source_key(compiler: str) -> str:
    """Hash of everything that determines the machine code: kernel sources, compiler modules, versions of numba."""
    digest = compiler_digest()
    digest.update(compiler.encode())
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


def compiler_digest() -> Any:
    """Hash object over the compiler's own modules and the versions of numba, to be extended."""
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
    """The files of one kernel, one for each signature; replaces numba's index and data files."""

    def __init__(
        self, folder: Path, name: str, stamp: str, dumps: Callable[[Any], bytes] = pickle.dumps
    ) -> None:
        self.folder, self.name, self.stamp, self.dumps = folder, name, stamp, dumps

    def path(self, key: Any) -> Path:
        """The file for a signature and a processor."""
        return self.folder / f"{self.name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load(self, key: Any) -> Any:
        """What was saved under the key; None if there is no valid file."""
        try:
            text = self.read(key)
            if hashlib.sha256(text[DIGEST:]).digest() != text[:DIGEST]:
                return None
            stamp, saved_key, data = pickle.loads(text[DIGEST:])
        except Exception:  # whatever is wrong with the file, the kernel is compiled again
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
    """Write under a temporary name, then rename: no process ever reads a partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        draft.write_bytes(text)
        draft.replace(path)
    except BaseException:  # a full disk, or Ctrl-C
        with suppress(OSError):
            draft.unlink()
        raise
