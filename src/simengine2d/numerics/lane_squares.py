"""Rows of a flat array become lanes, and lanes rows: squares of eight by eight are transposed in registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .lane_types import INDEX, VECTOR
from .lanes import LANES


def _exchanged(builder: Any, rows: list[Any]) -> list[Any]:
    """The transpose of a square: blocks of one, then of two, of four are exchanged across its diagonal."""
    width = 1
    while width < LANES:
        low = [i if not i & width else i - width + LANES for i in range(LANES)]
        high = [i + width if not i & width else i + LANES for i in range(LANES)]
        masks = [ir.Constant(ir.VectorType(INDEX, LANES), each) for each in (low, high)]
        for i in range(LANES):
            if not i & width:
                pair = rows[i], rows[i + width]
                rows[i], rows[i + width] = (builder.shuffle_vector(*pair, each) for each in masks)
        width *= 2
    return rows


def _vector_at(builder: Any, array: Any, place: Any) -> Any:
    return builder.bitcast(builder.gep(array.data, [place]), VECTOR.as_pointer())


@intrinsic
def square_to_lanes(typingctx: Any, rows: Any, start: Any, stride: Any, last: Any, array: Any, j: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, first, step, end, _, column = args
        source, target = (
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in ((rows, args[0]), (array, args[4]))
        )
        word, square = ir.IntType(64), []
        for k in range(LANES):
            lane = builder.select(builder.icmp_signed("<", word(k), end), word(k), end)
            value = builder.load(_vector_at(builder, source, builder.add(first, builder.mul(lane, step))))
            value.align = 8
            square.append(value)
        for k, value in enumerate(_exchanged(builder, square)):
            place = builder.mul(builder.add(column, word(k)), word(LANES))
            builder.store(value, _vector_at(builder, target, place)).align = 8
        return context.get_dummy_value()

    index = types.intp
    return types.void(rows, index, index, index, array, index), codegen


@intrinsic
def square_to_rows(typingctx: Any, array: Any, j: Any, rows: Any, start: Any, stride: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, column, _, first, step, end = args
        source, target = (
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in ((array, args[0]), (rows, args[2]))
        )
        word, square = ir.IntType(64), []
        for k in range(LANES):
            place = builder.mul(builder.add(column, word(k)), word(LANES))
            value = builder.load(_vector_at(builder, source, place))
            value.align = 8
            square.append(value)
        for k, value in enumerate(_exchanged(builder, square)):
            with builder.if_then(builder.icmp_signed("<", word(k), end)):
                place = builder.add(first, builder.mul(word(k), step))
                builder.store(value, _vector_at(builder, target, place)).align = 8
        return context.get_dummy_value()

    index = types.intp
    return types.void(array, index, rows, index, index, index), codegen
