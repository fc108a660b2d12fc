"""`@kernel`: a plain function of floats and arrays, compiled by numba where numba is.

A kernel runs unchanged as Python: in a browser, where numba is absent, or with `NUMBA_DISABLE_JIT=1`.
The machine code is kept in the user's cache folder under the hash of *all* kernel sources: numba's own
cache looks at one file only and goes stale when a kernel called from another file changes.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

COLD_COMPILE_SECONDS = 15  # measured on two cores of 2023; `warmup` prints what it took

try:
    import numba
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
    from numba.core.registry import CPUDispatcher
except ImportError:  # the kernels then run as plain Python
    numba = None

JIT = numba is not None and not numba.config.DISABLE_JIT


def source_key() -> str:
    """Hash of every source file of the package that holds a kernel."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text or b"@door" in text:
            digest.update(text)
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled kernels are kept; `SIMENGINE2D_CACHE` overrides the user's cache folder."""
    override = os.environ.get("SIMENGINE2D_CACHE")
    if override:
        return Path(override) / "kernels"
    import platformdirs

    return Path(platformdirs.user_cache_dir("simengine2d", appauthor=False)) / "kernels"


if JIT:
    from .kernel_compiler import InnerKernel, KernelCompiler

    _KEY = source_key()
    _FOLDER = cache_folder() / _KEY

    class _Locator(_CacheLocator):
        """Tells numba where a kernel's machine code lies and what makes it stale."""

        def __init__(self, function: Any, file: str) -> None:
            # numba names a cache file after module and function only; the line tells namesakes apart
            self._disambiguator = str(function.__code__.co_firstlineno)

        def get_cache_path(self) -> str:
            return str(_FOLDER)

        def get_source_stamp(self) -> str:
            return _KEY

        def get_disambiguator(self) -> str:
            return self._disambiguator

        @classmethod
        def from_function(cls, function: Any, file: str) -> _Locator:
            return cls(function, file)

    class _Impl(CompileResultCacheImpl):
        _locator_classes = [_Locator]

    class KernelCache(FunctionCache):
        _impl_class = _Impl
        said = False

        def load_overload(self, signature: Any, target: Any) -> Any:
            found = None
            # without numba's own refresh, which gathers all functions that can be compiled: machine code needs none
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(signature, target)
            if found is None and not KernelCache.said:
                KernelCache.said = True
                print(
                    "simengine2d: compiling kernels; after installation this happens once for each kind of analysis "
                    f"and takes up to {COLD_COMPILE_SECONDS} s ...",
                    file=sys.stderr,
                    flush=True,
                )
            return found

        def save_overload(self, signature: Any, data: Any) -> None:
            try:
                super().save_overload(signature, data)
            except OSError:  # a read-only home or a full disk: the kernel still runs, uncached
                pass


def kernel(function: Any = None, /, *, inline: bool = False, entry: bool = False) -> Any:
    """Compile a function with numba and keep the machine code; without numba, return it as it is.

    A kernel allocates nothing: scratch arrays come from the caller. So numba need not count references, which
    would cost more than the arithmetic of a small mechanism. `inline` copies it into its callers: a call that
    passes a system's arrays costs more than most work. `entry` makes an entrance for Python, which takes longer to
    compile than the kernel itself; without it, a kernel called from Python runs as plain Python.
    """
    if function is None:
        return lambda later: kernel(later, inline=inline, entry=entry)
    if not JIT:
        return function
    options = {
        "nopython": True,
        "boundscheck": None,
        "error_model": "numpy",
        "forceinline": inline,
        "no_cpython_wrapper": not entry,
        "no_cfunc_wrapper": True,
        "_nrt": False,
    }
    if not entry:
        return InnerKernel(function, options)
    dispatcher = CPUDispatcher(function, targetoptions=options, pipeline_class=KernelCompiler)
    try:
        dispatcher._cache = KernelCache(function)
    except (RuntimeError, OSError):  # no folder to write to
        pass
    return dispatcher


def plain(function: Any) -> Any:
    """A kernel as plain Python, for the few calls that a small mechanism needs: compiling would take longer."""
    return getattr(function, "py_func", function)


# User functions ---------------------------------------------------------------------------------------
#
# A user's Python function is called from compiled code through its address, so that every model has
# the same kernel types. It may not raise through compiled code: it returns nan, and the exception waits
# in `raised` for the analysis to report it.

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)


class Callback:
    """f(t, k): the k-th derivative of a user's function of time, callable from kernels."""

    by_address: dict[int, Callback] = {}

    def __init__(self, function: Callable[[float, int], float]) -> None:
        self.function = function
        self.raised: BaseException | None = None
        self.pointer = _CALLBACK(self._guarded)
        self.address = ctypes.cast(self.pointer, ctypes.c_void_p).value or 0
        Callback.by_address[self.address] = self

    def _guarded(self, t: float, k: int) -> float:
        try:
            return float(self.function(t, k))
        except BaseException as error:
            self.raised = self.raised or error
            return float("nan")


def call_address(address: int, t: float, k: int) -> float:
    """Call the function `double f(double t, int64 k)` that lies at `address`."""
    return Callback.by_address[int(address)]._guarded(t, k)


if JIT:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload

    @intrinsic
    def _call_address(typingctx: Any, address: Any, t: Any, k: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            double, integer = ir.DoubleType(), ir.IntType(64)
            function_type = ir.FunctionType(double, [double, integer])
            pointer = builder.inttoptr(args[0], cgutils.voidptr_t)
            pointer = builder.bitcast(pointer, function_type.as_pointer())
            return builder.call(pointer, [args[1], args[2]])

        return types.float64(types.int64, types.float64, types.int64), codegen

    @overload(call_address, jit_options={"_nrt": False})
    def _compiled_call_address(address, t, k):  # type: ignore[no-untyped-def]
        return lambda address, t, k: _call_address(address, t, k)


def warmup(compile_all: Callable[[], None]) -> tuple[float, Path | None]:
    """Run `compile_all`; return the seconds it took and the folder of the machine code."""
    start = time.perf_counter()
    compile_all()
    return time.perf_counter() - start, _FOLDER if JIT else None
