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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

COLD_COMPILE_SECONDS = 15  # measured on two cores of 2023; `warmup` prints what it took

try:
    import numba
    from numba.core.caching import Cache, CompileResultCacheImpl, _CacheLocator
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
    from .kernel_compiler import InnerKernel, KernelCompiler, KernelDispatcher
    from .kernel_files import KernelFiles

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

        def ensure_cache_path(self) -> None:
            """A folder that cannot be written may still be read; files make theirs when they are written."""

    class _Impl(CompileResultCacheImpl):
        _locator_classes = [_Locator]

    class KernelCache(Cache):
        """The machine code of one kernel on the disk."""

        _impl_class = _Impl
        said = False

        def __init__(self, function: Any) -> None:
            super().__init__(function)
            # the version of numba is part of it: machine code of another one may not fit
            stamp = f"{_KEY} {numba.__version__}"
            self._cache_file = KernelFiles(_FOLDER, self._impl.filename_base, stamp)

        def load_overload(self, signature: Any, target: Any) -> Any:
            found = None
            try:
                # without numba's own refresh, which gathers all functions that can be compiled: machine code needs none
                found = self._load_overload(signature, target)
            except Exception:  # what cannot be loaded is compiled
                pass
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
                self._save_overload(signature, data)
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
    dispatcher = KernelDispatcher(function, targetoptions=options, pipeline_class=KernelCompiler)
    dispatcher._cache = KernelCache(function)
    return dispatcher


def plain(function: Any) -> Any:
    """A kernel as plain Python, for the few calls that a small mechanism needs: compiling would take longer."""
    return getattr(function, "py_func", function)


# User functions ---------------------------------------------------------------------------------------
#
# A user's Python function is called from compiled code through its address, so that every model has
# the same kernel types. It may not raise through compiled code: it returns nan, and the exception waits
# in `raised` for the analysis to report it.

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)


class _Guarded:
    """What machine code calls: a user's function that never raises. It does not know its Callback: both would last."""

    def __init__(self, function: Callable[[float, int], float]) -> None:
        self.function = function
        self.raised: BaseException | None = None

    def __call__(self, t: float, k: int, out: int) -> None:
        """Write the value where it is wanted; there stands nan, should nothing be written."""
        ctypes.c_double.from_address(out).value = self.value(t, k)

    def value(self, t: float, k: int) -> float:
        try:
            return float(self.function(t, k))
        except BaseException as error:
            self.raised = self.raised or error
            return float("nan")


class Callback:
    """f(t, k): the k-th derivative of a user's function of time, callable from kernels as long as somebody keeps it.

    An array with its address keeps it (`owning`), so machine code never calls what is gone.
    """

    by_address: WeakValueDictionary[int, Callback] = WeakValueDictionary()

    def __init__(self, function: Callable[[float, int], float]) -> None:
        self.function = function
        self.guarded = _Guarded(function)
        self.pointer = _CALLBACK(self.guarded)
        self.address = ctypes.cast(self.pointer, ctypes.c_void_p).value or 0
        Callback.by_address[self.address] = self

    @property
    def raised(self) -> BaseException | None:
        """The first exception of the function."""
        return self.guarded.raised

    def __deepcopy__(self, memo: object) -> Callback:
        return self  # its address cannot be copied

    def __reduce__(self) -> Any:
        return Callback, (self.function,)


def owning(addresses: NDArray[np.int64], owners: Sequence[object]) -> NDArray[np.int64]:
    """The same numbers in an array that keeps alive what its addresses lead to."""
    if not owners:
        return addresses
    memory: Any = (ctypes.c_int64 * addresses.size)()
    memory.owners = owners
    array = np.frombuffer(memory, dtype=np.int64).reshape(addresses.shape)
    array[...] = addresses
    return array


def call_address(address: int, t: float, k: int) -> float:
    """Call the function that lies at `address`."""
    return Callback.by_address[int(address)].guarded.value(t, k)


if JIT:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload

    @intrinsic
    def _call_address(typingctx: Any, address: Any, t: Any, k: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            double, integer = ir.DoubleType(), ir.IntType(64)
            function_type = ir.FunctionType(ir.VoidType(), [double, integer, integer])
            pointer = builder.inttoptr(args[0], cgutils.voidptr_t)
            pointer = builder.bitcast(pointer, function_type.as_pointer())
            # Ctrl-C may end the call before the function has begun
            out = cgutils.alloca_once_value(builder, double(float("nan")))
            builder.store(double(float("nan")), out)
            builder.call(pointer, [args[1], args[2], builder.ptrtoint(out, integer)])
            return builder.load(out)

        return types.float64(types.int64, types.float64, types.int64), codegen

    @overload(call_address, jit_options={"_nrt": False})
    def _compiled_call_address(address, t, k):  # type: ignore[no-untyped-def]
        return lambda address, t, k: _call_address(address, t, k)


def warmup(compile_all: Callable[[], None]) -> tuple[float, Path | None]:
    """Run `compile_all`; return the seconds it took and the folder of the machine code."""
    start = time.perf_counter()
    compile_all()
    return time.perf_counter() - start, _FOLDER if JIT else None
