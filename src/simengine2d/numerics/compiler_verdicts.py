"""The verdict on a compiler, reached once for each version of numba in a separate process and cached.

The process compiles a kernel of every kind and compares it with Python (`compiler_check.py`). If the machine code is
wrong enough to crash, only that process ends.
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
"""The compiler that this process is to check, set in its environment; such a process never starts another."""


def verdict(compiler: str) -> str | None:
    """What is wrong with a compiler; empty if nothing is, None if it could not be checked."""
    path = file_of(compiler)
    problem = remembered(path)
    if problem is None:
        problem = checked(compiler)
        if problem is not None:
            with suppress(OSError):  # a cache that cannot be written: the next process checks again
                write_whole(path, json.dumps({"versions": versions(), "problem": problem}).encode())
    return problem


def file_of(compiler: str) -> Path:
    """One file for each state of the check, the compiler's modules and the versions of numba."""
    digest = compiler_digest()
    digest.update(Path(__file__).with_name("compiler_check.py").read_bytes())
    return cache_folder() / f"{compiler}-{digest.hexdigest()[:16]}.json"


def remembered(path: Path) -> str | None:
    try:
        problem = json.loads(path.read_bytes())["problem"]
    except (OSError, ValueError, KeyError, TypeError):  # missing or damaged
        return None
    return problem if isinstance(problem, str) else None


def checked(compiler: str) -> str | None:
    """Check it in another Python process."""
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.lower().startswith("py"):
        return None  # Python is embedded in a program, which would be started instead
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
    problem = reported(done.stdout)
    return crash(done.returncode) if problem is None else problem


def reported(text: str) -> str | None:
    """The last line of the check: what is wrong, in JSON."""
    with suppress(ValueError, IndexError, KeyError, TypeError):
        return str(json.loads(text.splitlines()[-1])["problem"])
    return None


def crash(code: int) -> str | None:
    """A crash is a verdict; a process terminated from outside is not."""
    if code >= WINDOWS_EXCEPTIONS:
        return f"the machine code crashes ({code:#x})"
    crashes = {-getattr(signal, name).value: name for name in CRASHES if hasattr(signal, name)}
    return f"the machine code crashes ({crashes[code]})" if code in crashes else None
