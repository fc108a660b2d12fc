"""The context of a kernel in memory: 64-bit words in a layout of our own, which compiled code reads field by field.

    number    its value
    array     the address of its first element, then its length along each dimension
    tuple     its parts, one after the other

The layout of numba's own arrays does not matter here. An `Address` owns what it points to, so a context that holds the
addresses of others keeps them alive, no address ever dangles, and nothing that holds an address may be copied.
"""

from __future__ import annotations

import weakref
from ctypes import c_size_t
from itertools import islice
from struct import Struct
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedError
from .kernel import COMPILER, JIT

Kind = TypeVar("Kind", bound=type)


def refuse_copy(thing: Any, *how: Any) -> NoReturn:
    """Addresses in a copy would outlive what they point to."""
    raise UnsupportedError(
        "compiled equations cannot be copied or pickled, because they hold addresses. Copy the model or its System, "
        "and prepare the copy."
    )


def holds_addresses(kind: Kind) -> Kind:
    """A class whose objects are neither copied nor pickled."""
    kind.__deepcopy__ = kind.__reduce_ex__ = refuse_copy  # type: ignore[attr-defined, assignment]
    return kind


@holds_addresses
class Address(int):
    """An address that owns what it points to."""

    kept: Any

    @classmethod
    def of(cls, memory: NDArray[Any], *kept: Any) -> Address:
        made = cls(first_element(memory))
        made.kept = (memory, *kept)
        return made


def first_element(array: NDArray[Any]) -> int:
    """Its address, which is the first field of an array; NumPy's own attributes take ten times as long."""
    return _word_at(id(array) + HEAD).value


_word_at, HEAD = c_size_t.from_address, object.__basicsize__  # what every Python object begins with
_float, _integer = Struct("d").pack, Struct("q").unpack


def laid_out(context: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """A context in memory, as the 64-bit words that compiled code expects, and the kinds of its fields."""
    words: list[int] = []
    form: list[Any] = []
    _write((context,), words, form)
    return np.array(words, dtype=np.int64), form


class _Constant(NamedTuple):
    """An array or a tuple of arrays in memory; as long as it is here, its number belongs to it."""

    parts: Any
    words: list[int]
    form: list[Any]


_constant: dict[int, _Constant] = {}


def lay_out_once(owner: object, parts: Any) -> None:
    """Many contexts will hold these parts: lay them out once, as long as the owner lives."""
    if not JIT or id(parts) in _constant:
        return
    words: list[int] = []
    form: list[Any] = []
    _write((parts,), words, form)
    _constant[id(parts)] = _Constant(parts, words, form)
    weakref.finalize(owner, _constant.pop, id(parts), None)


def _write(parts: tuple[Any, ...], words: list[int], form: list[Any]) -> None:
    for thing in parts:
        known = _constant.get(id(thing))
        if known is not None:
            words += known.words
            form += known.form
        elif isinstance(thing, np.ndarray):
            if not thing.flags.c_contiguous:
                raise ValueError("arrays of a context must be contiguous")
            words += (first_element(thing), *thing.shape)
            form.append((thing.ndim, thing.dtype))
        elif isinstance(thing, tuple):
            _write(thing, words, form)
        elif isinstance(thing, float):
            words += _integer(_float(thing))
            form.append(float)
        else:
            words.append(int(thing))
            form.append(int)


if JIT:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import (
        infer_getattr,
        intrinsic,
        lower_getattr_generic,
        models,
        overload_attribute,
        register_model,
    )

    WORD = ir.IntType(64)

    class ContextPointer(types.Type):
        """A context by its address. Kernels read fields where they need them and pass one word instead of all."""

        def __init__(self, tuple_type: Any) -> None:
            self.tuple_type = tuple_type
            super().__init__(name=f"Pointed({tuple_type})")

        def field(self, name: str) -> Any:
            """The type of a field; None if there is no field of this name."""
            kind = dict(zip(self.tuple_type.fields, self.tuple_type, strict=True)).get(name)
            return ContextPointer(kind) if isinstance(kind, types.BaseNamedTuple) else kind

        def offset(self, name: str) -> int:
            """The number of words before a field."""
            before = islice(self.tuple_type, self.tuple_type.fields.index(name))
            return sum(map(_size, before))

    @register_model(ContextPointer)
    class _PointedModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, WORD)

    def _size(kind: Any) -> int:
        """The number of words that a value takes."""
        if isinstance(kind, types.Array):
            return 1 + int(kind.ndim)
        return sum(map(_size, kind)) if isinstance(kind, types.BaseTuple) else 1

    # Reading ----------------------------------------------------------------------------------------------

    def _read(context: Any, builder: Any, pointed: Any, address: Any, name: str) -> Any:
        """The value of a field."""
        kind, place = pointed.field(name), builder.add(address, WORD(8 * pointed.offset(name)))
        if isinstance(kind, ContextPointer):
            return place
        return _value(context, builder, kind, builder.inttoptr(place, WORD.as_pointer()))

    def _value(context: Any, builder: Any, kind: Any, words: Any) -> Any:
        """A number or an array, from its words."""
        if isinstance(kind, types.Array):
            shape = [_word(builder, words, 1 + k) for k in range(kind.ndim)]
            return array_value(context, builder, kind, _word(builder, words, 0), shape)
        if kind == types.float64:
            return builder.bitcast(_word(builder, words, 0), ir.DoubleType())
        if kind == types.int64:
            return _word(builder, words, 0)
        raise TypeError(f"a context holds arrays, float64, int64 and named tuples of them, not {kind}")

    def _word(builder: Any, words: Any, k: int) -> Any:
        value = builder.load(builder.gep(words, [WORD(k)]) if k else words)
        value.align = 8
        # a context is never written, so LLVM may reuse what it has read
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    def array_value(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
        """The contiguous array at an address."""
        array = cgutils.create_struct_proxy(kind)(context, builder)
        element = context.get_data_type(kind.dtype)
        strides = [WORD(kind.dtype.bitwidth // 8)]
        for size in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], size))
        array.data = builder.inttoptr(address, element.as_pointer())
        array.nitems = shape[0]
        for size in shape[1:]:
            array.nitems = builder.mul(array.nitems, size)
        array.itemsize = strides[-1]
        array.shape = cgutils.pack_array(builder, shape)
        array.strides = cgutils.pack_array(builder, strides)
        return array._getvalue()

    if COMPILER.AttributeTemplate is not None:

        @infer_getattr
        class _Fields(COMPILER.AttributeTemplate):
            key = ContextPointer

            def generic_resolve(self, pointed: Any, name: str) -> Any:
                return pointed.field(name)

        lower_getattr_generic(ContextPointer)(_read)

        def make_readable(kind: Any) -> None:
            """Let kernels read the fields of a tuple; nothing to do here."""

    else:
        readable: set[str] = set()

        def make_readable(kind: Any) -> None:
            """Let kernels read the fields of a tuple, each by a function of its own."""
            for name, part in zip(kind.fields, kind, strict=True):
                if name not in readable:
                    readable.add(name)
                    overload_attribute(ContextPointer, name)(_field_of(name))
                if isinstance(part, types.BaseNamedTuple):
                    make_readable(part)

        def _field_of(name: str) -> Any:
            @intrinsic
            def read(typingctx: Any, pointed: Any) -> Any:
                def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                    return _read(context, builder, pointed, args[0], name)

                return pointed.field(name)(pointed), codegen

            def field(pointed):  # type: ignore[no-untyped-def]
                return None if pointed.field(name) is None else lambda pointed: read(pointed)

            return field
