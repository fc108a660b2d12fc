"""The functions of `lanes.py` in compiled code, for lanes and for single numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, overload_attribute

from .kernel import COMPILER
from .lane_squares import square_to_lanes, square_to_rows
from .lane_types import TableType, by_llvm, lanes, mask, shape_of
from .lanes import (
    LANES,
    anywhere,
    atan2,
    chosen,
    cos_and_sin,
    everywhere,
    floored,
    lanes_in,
    lanes_of_rows,
    larger,
    rows_of_lanes,
    sqrt,
)

OPTIONS = COMPILER.overload_options

# Instructions -------------------------------------------------------------------------------------------


@intrinsic
def _table(typingctx: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        table.array = args[0]
        return table._getvalue()

    return TableType(array)(array), codegen


@intrinsic
def _rows(typingctx: Any, table: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_value(shape_of(context, builder, table, args[0]), 0)

    return types.intp(table), codegen


@intrinsic
def _select(typingctx: Any, where: Any, one: Any, other: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b = (context.cast(builder, args[k], signature.args[k], lanes) for k in (1, 2))
        return builder.select(args[0], a, b)

    return lanes(where, one, other), codegen


@intrinsic
def _all(typingctx: Any, condition: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(LANES))
        return builder.icmp_unsigned("==", bits, ir.IntType(LANES)(2**LANES - 1))

    return types.boolean(condition), codegen


@intrinsic
def _any(typingctx: Any, condition: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, ir.IntType(LANES)(0))

    return types.boolean(condition), codegen


@intrinsic
def _floor(typingctx: Any, x: Any) -> Any:
    return lanes(x), lambda context, builder, signature, args: by_llvm(builder, "floor", args[0])


@intrinsic
def _root(typingctx: Any, x: Any) -> Any:
    return lanes(x), lambda context, builder, signature, args: by_llvm(builder, "sqrt", args[0])


@intrinsic
def _spread_out(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.cast(builder, args[0], signature.args[0], lanes)

    return lanes(x), codegen


@intrinsic
def _lane(typingctx: Any, x: Any, k: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return types.float64(lanes, types.intp), codegen


@intrinsic
def _with_lane(typingctx: Any, x: Any, k: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], args[1])

    return lanes(lanes, types.intp, types.float64), codegen


# Functions --------------------------------------------------------------------------------------------


@overload(lanes_of_rows, jit_options=OPTIONS)
def _lanes_of_rows(rows, start, stride, last, array, size):  # type: ignore[no-untyped-def]
    def by_squares(rows, start, stride, last, array, size):  # type: ignore[no-untyped-def]
        whole = size - size % LANES
        for j in range(0, whole, LANES):
            square_to_lanes(rows, start + j, stride, last, array, j)
        for k in range(LANES):
            for j in range(whole, size):
                array[j, k] = rows[start + min(k, last) * stride + j]

    return by_squares


@overload(rows_of_lanes, jit_options=OPTIONS)
def _rows_of_lanes(array, first, size, rows, start, stride, count):  # type: ignore[no-untyped-def]
    def by_squares(array, first, size, rows, start, stride, count):  # type: ignore[no-untyped-def]
        whole = size - size % LANES
        for j in range(0, whole, LANES):
            square_to_rows(array, first + j, rows, start + j, stride, count)
        for k in range(count):
            for j in range(whole, size):
                rows[start + k * stride + j] = array[first + j, k]

    return by_squares


@overload(lanes_in, jit_options=OPTIONS)
def _lanes_in(array):  # type: ignore[no-untyped-def]
    return lambda array: _table(array)


@overload_attribute(TableType, "size", jit_options=OPTIONS)
def _size(table):  # type: ignore[no-untyped-def]
    return lambda table: _rows(table)


@overload(chosen, jit_options=OPTIONS)
def _chosen(where, one, other):  # type: ignore[no-untyped-def]
    if where is mask:
        return lambda where, one, other: _select(where, one, other)
    return lambda where, one, other: one if where else other


@overload(everywhere, jit_options=OPTIONS)
def _everywhere(condition):  # type: ignore[no-untyped-def]
    if condition is mask:
        return lambda condition: _all(condition)
    return lambda condition: condition


@overload(anywhere, jit_options=OPTIONS)
def _anywhere(condition):  # type: ignore[no-untyped-def]
    if condition is mask:
        return lambda condition: _any(condition)
    return lambda condition: condition


@overload(larger, jit_options=OPTIONS)
def _larger(one, other):  # type: ignore[no-untyped-def]
    if lanes in (one, other):
        return lambda one, other: _select(other > one, other, one)
    return lambda one, other: other if other > one else one


@overload(floored, jit_options=OPTIONS)
def _floored(x):  # type: ignore[no-untyped-def]
    return (lambda x: _floor(x)) if x is lanes else (lambda x: np.floor(x))


@overload(sqrt, jit_options=OPTIONS)
def _sqrt_of(x):  # type: ignore[no-untyped-def]
    return (lambda x: _root(x)) if x is lanes else (lambda x: np.sqrt(x))


@overload(atan2, jit_options=OPTIONS)
def _atan2_of(y, x):  # type: ignore[no-untyped-def]
    if lanes not in (y, x):
        return lambda y, x: math.atan2(y, x)

    def each_lane(y, x):  # type: ignore[no-untyped-def]
        across, along = _spread_out(y), _spread_out(x)
        for k in range(LANES):
            across = _with_lane(across, k, math.atan2(_lane(across, k), _lane(along, k)))
        return across

    return each_lane


@overload(cos_and_sin, jit_options=OPTIONS)
def _cos_and_sin(x):  # type: ignore[no-untyped-def]
    if x is not lanes:
        return lambda x: (math.cos(x), math.sin(x))

    def each_lane(x):  # type: ignore[no-untyped-def]
        c = s = x
        for k in range(LANES):
            angle = _lane(x, k)
            c, s = _with_lane(c, k, math.cos(angle)), _with_lane(s, k, math.sin(angle))
        return c, s

    return each_lane
