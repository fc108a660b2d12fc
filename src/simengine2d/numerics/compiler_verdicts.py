"""The verdict on a compiler, found once for each numba by a process of its own and kept in the cache folder.

The process compiles a kernel of every kind and compares it with Python (`compiler_check.py`). Should machine code be
wrong enough to crash, it is that process that ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from .kernel_files import cache_folder, compiler_digest, versions, write_whole

PATIENCE = 300.0  # seconds; the check takes two
CRASHES = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT")

WINDOWS_EXCEPTIONS = 0xC0000000

CHECK = """
import json, sys
sys.path[:] = {path!r}
try:
    from simengine2d.numerics.compiler_check import problem
    found = problem()
except (MemoryError, OSError):
    raise
except Exception as error:
    found = f"{{type(error).__name__}}: {{error}}"
print(json.dumps({{"problem": " ".join(found.split())[:300]}}))
"""

ON_TRIAL = "SIMENGINE2D_COMPILER_ON_TRIAL"
on_trial: str | None = os.environ.get(ON_TRIAL)
"""The compiler that this process is to check; the environment says so, and such a process never starts another."""


def verdict(compiler: str) -> str | None:
    """What is wrong with a compiler; empty where nothing is, None where nobody could find out."""
    path = file_of(compiler)
    found = remembered(path)
    if found is None:
        found = checked(compiler)
        if found is not None:
            with suppress(OSError):  # a cache that cannot be written: the next process checks again
                write_whole(path, json.dumps({"versions": versions(), "problem": found}).encode())
    return found


def file_of(compiler: str) -> Path:
    """The sources of the check and of the compiler, and the versions behind them, have their own file."""
    digest = compiler_digest()
    digest.update(Path(__file__).with_name("compiler_check.py").read_bytes())
    return cache_folder() / f"{compiler}-{digest.hexdigest()[:16]}.json"


def remembered(path: Path) -> str | None:
    try:
        found = json.loads(path.read_bytes())["problem"]
    except (OSError, ValueError, KeyError, TypeError):  # not there, or not sound
        return None
    return found if isinstance(found, str) else None


def checked(compiler: str) -> str | None:
    """Let another Python check it."""
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.lower().startswith("py"):
        return None  # Python is part of another program, which would be started instead
    code = CHECK.format(path=sys.path)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {ON_TRIAL: compiler},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = told(done.stdout)
    return crash(done.returncode) if found is None else found


def told(text: str) -> str | None:
    """The last line of the check: what is wrong, in JSON."""
    with suppress(ValueError, IndexError, KeyError, TypeError):
        return str(json.loads(text.splitlines()[-1])["problem"])
    return None


def crash(code: int) -> str | None:
    """A crash is a verdict; a process that somebody else ended is none."""
    if code >= WINDOWS_EXCEPTIONS:
        return f"the machine code crashes ({code:#x})"
    crashes = {-getattr(signal, name).value: name for name in CRASHES if hasattr(signal, name)}
    return f"the machine code crashes ({crashes[code]})" if code in crashes else None
