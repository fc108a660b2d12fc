"""Contexts in memory: where a `@door` finds the arrays and numbers that it works with.

An address keeps alive what lies there, so a context that holds the addresses of others holds these too. Whoever has an
address therefore never reads memory that is gone, and nothing with an address is ever copied.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from .errors import UnsupportedError
from .kernels import JIT

Kind = TypeVar("Kind", bound=type)


def refuse_copy(thing: Any, *how: Any) -> NoReturn:
    """Addresses in a copy would outlive what they lead to."""
    raise UnsupportedError(
        "compiled equations cannot be copied or pickled, for they hold addresses. Copy the model or its System, "
        "and begin anew with the copy."
    )


def holds_addresses(kind: Kind) -> Kind:
    """A class whose objects are neither copied nor pickled."""
    kind.__deepcopy__ = kind.__reduce_ex__ = refuse_copy  # type: ignore[attr-defined, assignment]
    return kind


@holds_addresses
class Address(int):
    """An address that keeps alive what lies there, as long as somebody holds it."""

    kept: Any

    @classmethod
    def of(cls, memory: NDArray[Any], *kept: Any) -> Address:
        made = cls(memory.__array_interface__["data"][0])
        made.kept = (memory, *kept)
        return made


def laid_out(context: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """A context in memory, as the 64-bit words that compiled code expects, and which kinds of fields these are."""
    words: list[int] = []
    form: list[Any] = []
    _write(context, words, form)
    return np.array(words, dtype=np.int64), form


def _write(thing: Any, words: list[int], form: list[Any]) -> None:
    if isinstance(thing, np.ndarray):
        if not thing.flags.c_contiguous:
            raise ValueError("arrays of a context must be contiguous")
        address = thing.__array_interface__["data"][0]
        words += (0, 0, thing.size, thing.itemsize, address, *thing.shape, *thing.strides)
        form.append((thing.ndim, thing.dtype.char))
    elif isinstance(thing, tuple):
        for part in thing:
            _write(part, words, form)
    elif isinstance(thing, float):
        words.append(int(np.float64(thing).view(np.int64)))
        form.append(float)
    else:
        words.append(int(thing))
        form.append(int)


if JIT:
    from llvmlite import ir
    from numba import types
    from numba.core.imputils import lower_getattr_generic
    from numba.core.typing.templates import AttributeTemplate, infer_getattr
    from numba.extending import models, register_model

    class Pointed(types.Type):
        """A context by its address. Kernels read its fields where they need them, and pass one word instead of all."""

        def __init__(self, tuple_type: Any) -> None:
            self.tuple_type = tuple_type
            super().__init__(name=f"Pointed({tuple_type})")

    @register_model(Pointed)
    class _PointedModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, ir.IntType(64))

    @infer_getattr
    class _PointedFields(AttributeTemplate):
        key = Pointed

        def generic_resolve(self, pointed: Any, name: str) -> Any:
            if name not in pointed.tuple_type.fields:
                return None
            kind = pointed.tuple_type[pointed.tuple_type.fields.index(name)]
            return Pointed(kind) if isinstance(kind, types.BaseNamedTuple) else kind

    @lower_getattr_generic(Pointed)
    def _read_field(context: Any, builder: Any, pointed: Any, address: Any, name: str) -> Any:
        tuple_type = pointed.tuple_type
        index = tuple_type.fields.index(name)
        pointer = builder.inttoptr(address, context.get_value_type(tuple_type).as_pointer())
        field = builder.gep(pointer, [ir.IntType(32)(0), ir.IntType(32)(index)])
        if isinstance(tuple_type[index], types.BaseNamedTuple):
            return builder.ptrtoint(field, ir.IntType(64))
        value = builder.load(field)
        value.align = 8
        # nobody writes into a context: what was read once need not be read again
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value
