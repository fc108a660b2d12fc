"""Kernel pointers: kernels f(context, t, y, out) that other kernels call by their address.

An integrator knows a pointer and a context, not whose equations they are. So its loop is compiled once and serves every
coordinate family, every formulation and every model, and nothing is compiled for a combination of them.

The context is a NamedTuple of arrays and numbers, laid out in memory once (`contexts`); a call costs a few nanoseconds.
Without numba a kernel pointer is the function itself, and its context the tuple itself.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedError
from .arrays import Floats
from .contexts import Address, holds_addresses, laid_out
from .interrupts import check_interrupts
from .kernel import COMPILER, JIT, kernel, owning
from .parallel_build import build_together


@holds_addresses
class BoundKernel(NamedTuple):
    """A pointer with its context: kernels take `f` and `c`; `kept` owns the context's memory and the context."""

    f: Any
    c: Any
    kept: Any

    def __call__(self, t: float, y: Floats, out: Floats) -> None:
        """The call from Python."""
        if JIT:
            if not self.f:
                raise UnsupportedError("this kernel pointer is null: there is nothing to call.")
            invoke(self.f, self.c, float(t), y, out)
            return
        with np.errstate(all="ignore"):  # compiled code does not warn either
            self.f(self.c, float(t), y.reshape(-1), out.reshape(-1))


class KernelPointer:
    """A kernel f(context, t, y, out), compiled on first call, together with all pointers bound so far.

    Kernels know the address of a cell that holds the address of the machine code, so contexts can be laid out before
    anything is compiled. What few of the runs that bind it ever call is `rare`: it waits for a call of its own.
    """

    def __init__(self, function: Callable[..., None], rare: bool = False) -> None:
        self.function, self.rare, self.__module__ = function, rare, function.__module__
        # inlined into the entry: a call would copy the whole context
        self.kernel = kernel(function, inline=True)
        self.cell = np.zeros(1, dtype=np.int64)
        self.entry: Any = None
        self.form: list[Any] = []
        self.refused = False
        """Whether numba cannot compile it."""

    def __call__(self, context: Any, t: float, y: Floats, out: Floats) -> None:
        self.function(context, t, y, out)

    def __deepcopy__(self, memo: object) -> KernelPointer:
        return self  # kernels know the address of its cell

    def __reduce__(self) -> str:
        return self.function.__qualname__

    def bind(self, context: Any) -> BoundKernel:
        if not JIT:
            return BoundKernel(self.function, context, (None, context))
        if self.entry is None:
            self.prepare(context)
        memory, form = laid_out(context)
        return self._bound_at(Address.of(memory, context), (memory, context, form))

    def prepare(self, context: Any) -> None:
        """Define what is to be compiled for contexts of this type; once, in whichever thread comes first."""
        with _one_at_a_time:
            if self.entry is None:
                entry, self.form = _entry_of(self, context), laid_out(context)[1]
                self.not_yet = _compiling_first(self)
                self.cell[0] = _address_of(self.not_yet)
                if not self.rare:
                    pending.append(self)
                self.entry = entry

    def compile(self) -> None:
        """Compile it, if no other thread has done so, and all pending ones."""
        with _one_at_a_time:
            if self.rare and self.cell[0] == _address_of(self.not_yet):
                pending.append(self)
            compile_pending()

    def bind_like(self, other: BoundKernel) -> BoundKernel:
        """The kernel pointer bound to the context of another one, which is already laid out."""
        if not JIT or self.entry is None:
            return self.bind(other.kept[1])
        return self._bound_at(other.c, other.kept)

    def _bound_at(self, c: Any, kept: tuple[Any, Any, list[Any]]) -> BoundKernel:
        """Bind to an address, if the context there has the layout that the machine code was compiled for."""
        _, context, form = kept
        if form != self.form:
            raise UnsupportedError(
                f"the kernel '{self.function.__name__}' cannot be bound to this {type(context).__name__}: it was "
                "bound to a context with other fields before and is compiled for that. Make a separate kernel."
            )
        return BoundKernel(Address.of(self.cell, self), c, kept)


pending: list[KernelPointer] = []
"""Kernel pointers that are bound but not yet compiled."""
_one_at_a_time = threading.RLock()


def compile_pending() -> None:
    """Compile or load all pending kernels. Other threads wait: theirs may be among them."""
    with _one_at_a_time:
        pointers = list(pending)
        build_together([pointer.entry for pointer in pointers if not pointer.entry.load()])
        for pointer in pointers:
            pointer.cell[0] = pointer.entry.address
        del pending[: len(pointers)]  # last: other threads must not pass before all are compiled


def compiled_together(pointers: Sequence[KernelPointer]) -> bool:
    """Compile or load bound pointers now; False where numba cannot, for those who have another way."""
    with _one_at_a_time:
        if not JIT or any(pointer.refused for pointer in pointers):
            return not JIT
        waiting = [pointer for pointer in pointers if pointer.cell[0] == _address_of(pointer.not_yet)]
        try:
            build_together([pointer.entry for pointer in waiting if not pointer.entry.load()])
        except Exception:  # numba has many, and LLVM others
            for pointer in waiting:
                pointer.refused = True
            return False
        for pointer in waiting:
            pointer.cell[0] = pointer.entry.address
        return True


def kernel_pointer(function: Callable[..., None]) -> KernelPointer:
    """Make a kernel that compiled loops call by its address."""
    return KernelPointer(function)


def rare_kernel_pointer(function: Callable[..., None]) -> KernelPointer:
    """The same for one that is compiled only when it is called."""
    return KernelPointer(function, rare=True)


def as_words(*pointers: BoundKernel) -> tuple[Any, ...]:
    """f and c of each pointer, then an array that keeps their contexts alive: parts of a tuple that Python passes on.

    Plain integers, since numba takes fifty times as long to recognize a tuple with an Address in it.
    """
    if pending:
        compile_pending()  # kernels called from Python need them compiled
    return words_of(*pointers)


def words_of(*pointers: BoundKernel) -> tuple[Any, ...]:
    """The same for kernel pointers that are called by others only, or rarely."""
    if not JIT:
        return *(word for each in pointers for word in each[:2]), NOTHING
    words = [int(word) for each in pointers for word in each[:2]]
    return *words, owning(np.array(words, dtype=np.int64), pointers)


NOTHING: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def bound(pointer: KernelPointer, context: Any, needed: bool) -> tuple[Any, Any, Any]:
    """The words of one pointer; zeros if it is not needed."""
    return as_words(pointer.bind(context)) if needed else (0, 0, NOTHING)


def python_pointer(function: Callable[[float, Floats, Floats], None]) -> BoundKernel:
    """A user's function f(t, y, out) as a pointer; an exception goes into the list `kept[1]`, and out becomes nan."""
    raised: list[BaseException] = []

    def guarded(t: float, y: Floats, out: Floats) -> None:
        try:
            check_interrupts()
            if not raised:
                function(t, y, out)
                return
        except BaseException as error:
            raised.append(error)
        out[:] = np.nan

    if not JIT:
        return BoundKernel(lambda c, t, y, out: guarded(t, y, out), 0, (None, raised))

    def from_addresses(c: int, t: float, y: int, y_size: int, out: int, out_size: int) -> None:
        guarded(t, _array(y, y_size), _array(out, out_size))

    callback = _CALLED(from_addresses)
    cell = np.array([_address_of(callback)], dtype=np.int64)
    return BoundKernel(Address.of(cell, callback), 0, (cell, raised))


def invoke(f: Any, c: Any, t: float, y: Floats, out: Floats) -> None:
    """Call a kernel pointer from a kernel; the callee sees flat arrays."""
    if isinstance(f, int):  # a kernel that runs as Python
        if pending:
            compile_pending()
        _call_once(int(f), int(c), t, y.reshape(-1), out.reshape(-1))
    else:
        f(c, t, y.reshape(-1), out.reshape(-1))


_CALLED = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, ctypes.c_double, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)


def call_beside(bound: BoundKernel, t: float, y: Floats, out: Floats) -> None:
    """Call a pointer from Python with the GIL released, so that threads run side by side; arrays are contiguous."""
    if not JIT:
        bound(t, y, out)
        return
    if pending:
        compile_pending()
    code = ctypes.c_int64.from_address(int(bound.f)).value
    _CALLED(code)(int(bound.c), t, y.ctypes.data, y.size, out.ctypes.data, out.size)


def _address_of(callback: Any) -> int:
    return ctypes.cast(callback, ctypes.c_void_p).value or 0


def _compiling_first(pointer: KernelPointer) -> Any:
    """What machine code calls before a kernel pointer is compiled: it compiles the pointer, then calls it."""

    def compile_first(c: int, t: float, y: int, y_size: int, out: int, out_size: int) -> None:
        try:
            pointer.compile()
            _CALLED(int(pointer.cell[0]))(c, t, y, y_size, out, out_size)
        except BaseException:
            _array(out, out_size)[:] = np.nan
            raise

    return _CALLED(compile_first)


def _array(address: int, size: int) -> Floats:
    return np.frombuffer((ctypes.c_double * size).from_address(address), dtype=np.float64)  # type: ignore[call-overload, no-any-return]


if JIT:
    import numba
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.errors import TypingError
    from numba.extending import intrinsic, overload

    from .contexts import ContextPointer, array_value, make_readable

    @intrinsic
    def _array_at(typingctx: Any, address: Any, size: Any) -> Any:
        """The array at an address."""
        array_type = types.Array(types.float64, 1, "C")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return array_value(context, builder, array_type, args[0], [args[1]])

        return array_type(types.int64, types.int64), codegen

    @intrinsic
    def _call(typingctx: Any, f: Any, c: Any, t: Any, y: Any, out: Any) -> Any:
        """Call the address in the cell f; arrays are passed as pointers to doubles with their sizes."""
        for array in (y, out):
            if not isinstance(array, types.Array) or array.dtype != types.float64 or array.layout != "C":
                raise TypingError(f"kernel pointers take contiguous arrays of doubles, not {array}")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            double, integer = ir.DoubleType(), ir.IntType(64)
            function = ir.FunctionType(ir.VoidType(), [integer, double, integer, integer, integer, integer])
            pointer = builder.load(builder.inttoptr(args[0], function.as_pointer().as_pointer()))
            arrays = []
            for kind, value in zip(signature.args[3:], args[3:], strict=True):
                array = cgutils.create_struct_proxy(kind)(context, builder, value)
                arrays += [builder.ptrtoint(array.data, integer), array.nitems]
            builder.call(pointer, [args[1], args[2], *arrays])
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.float64, y, out), codegen

    @overload(invoke, jit_options=COMPILER.overload_options)
    def _compiled_call(f, c, t, y, out):  # type: ignore[no-untyped-def]
        return lambda f, c, t, y, out: _call(f, c, t, y, out)

    def _loader(context_type: Any) -> Any:
        @intrinsic
        def load(typingctx: Any, address: Any) -> Any:
            return ContextPointer(context_type)(types.int64), lambda context, builder, signature, args: args[
                0
            ]

        return load

    def _entry(c, t, y, y_size, out, out_size):  # type: ignore[no-untyped-def]
        # the names are bound in the copy that `_entry_of` makes for each kernel pointer
        kernel(load(c), t, array_at(y, y_size), array_at(out, out_size))  # type: ignore  # noqa: F821

    def _entry_of(pointer: KernelPointer, context: Any) -> Any:
        context_type = numba.typeof(context)
        make_readable(context_type)
        parts = {"kernel": pointer.kernel, "load": _loader(context_type), "array_at": _array_at}
        entry = FunctionType(_entry.__code__, parts, pointer.function.__name__)
        # the disk cache distinguishes entries by this name only
        module = pointer.function.__module__
        entry.__module__, entry.__qualname__ = module, f"{module}.{pointer.function.__qualname__}"
        return COMPILER.pointer(entry)


@kernel(entry=True)
def _call_once(f, c, t, y, out):
    invoke(f, c, t, y, out)
