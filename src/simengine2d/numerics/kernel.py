"""`@kernel`: a plain function of floats and arrays, compiled by numba where numba is.

A kernel runs unchanged as Python: in a browser, where numba is absent, or with `NUMBA_DISABLE_JIT=1`.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from .compiler_choice import BARE, PYTHON, RUNG, SHORT, STOCK
from .kernel_files import cache_folder, source_key

JIT = RUNG != PYTHON


def compiler() -> Any:
    """The compiler of this process; None where kernels run as Python."""
    if RUNG == SHORT:
        from .fast_compiler import ShortCompiler

        return ShortCompiler()
    if RUNG == STOCK:
        from .stock_compiler import KeptCompiler

        return KeptCompiler()
    if RUNG == BARE:
        from .bare_compiler import BareCompiler

        return BareCompiler()
    return None


COMPILER = compiler()


def kernel(function: Any = None, /, *, inline: bool = False, entry: bool = False) -> Any:
    """Compile a function with numba and cache the machine code; without numba, return it unchanged.

    A kernel allocates nothing: scratch arrays come from the caller. So numba need not count references, which
    would cost more than the arithmetic of a small mechanism. `inline` copies it into its callers: a call that
    passes a system's arrays costs more than most work. `entry` adds a Python wrapper, which takes longer to
    compile than the kernel itself; without it, a kernel called from Python runs as plain Python.
    """
    if function is None:
        return lambda later: kernel(later, inline=inline, entry=entry)
    if not JIT:
        return function
    return COMPILER.entry(function, inline) if entry else InnerKernel(function, inline)


class InnerKernel:
    """A kernel for other kernels. Called from Python, it runs as Python; numba sees it when compiling a caller."""

    def __init__(self, function: Any, inline: bool) -> None:
        self.py_func, self.inline = function, inline
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        return COMPILER.inner(self.py_func, self.inline)

    @cached_property
    def type(self) -> Any:
        """Its numba type."""
        return types.Dispatcher(self.dispatcher)


def plain(function: Any) -> Any:
    """A kernel as plain Python, for a few calls on a small mechanism: compiling would take longer."""
    return getattr(function, "py_func", function)


# User functions ---------------------------------------------------------------------------------------
#
# A user's Python function is called from compiled code through its address, so that every model has
# the same kernel types. It may not raise through compiled code: it returns nan, and the exception waits
# in `raised` for the analysis to report it.

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_int64, ctypes.c_int64)


class _Guarded(threading.local):
    """A user's function that never raises, as machine code calls it. A reference to its Callback would be a cycle."""

    def __init__(self, function: Callable[[float, int], float]) -> None:
        self.function = function
        self.raised: BaseException | None = None  # in this thread; others have runs of their own

    def __call__(self, t: float, k: int, out: int) -> None:
        """Write the value to the address `out`, which holds nan beforehand."""
        ctypes.c_double.from_address(out).value = self.value(t, k)

    def value(self, t: float, k: int) -> float:
        try:
            return float(self.function(t, k))
        except BaseException as error:
            self.raised = self.raised or error
            return float("nan")


class Callback:
    """f(t, k): the k-th derivative of a user's function of time, callable from kernels during the object's lifetime.

    An array that holds its address also holds a reference to it (`owning`), so the address never dangles.
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
    """The same numbers in an array that holds references to the objects at its addresses."""
    memory: Any = (ctypes.c_int64 * addresses.size)()
    memory.owners = owners
    array = np.frombuffer(memory, dtype=np.int64).reshape(addresses.shape)
    array[...] = addresses
    return array


def call_address(address: int, t: float, k: int) -> float:
    """Call the function at `address`."""
    return Callback.by_address[int(address)].guarded.value(t, k)


if JIT:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, overload, typeof_impl

    typeof_impl.register(InnerKernel)(lambda kernel, context: kernel.type)

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

    @overload(call_address, jit_options=COMPILER.overload_options)
    def _compiled_call_address(address, t, k):  # type: ignore[no-untyped-def]
        return lambda address, t, k: _call_address(address, t, k)


def warmup(compile_all: Callable[[], None]) -> tuple[float, Path | None]:
    """Run `compile_all`; return the seconds it took and the folder of the cached machine code, if any."""
    start = time.perf_counter()
    compile_all()
    folder = cache_folder() / source_key(RUNG) if RUNG in (SHORT, STOCK) else None
    return time.perf_counter() - start, folder
