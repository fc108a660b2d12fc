"""Several numbers at once: what eight outputs, or eight of anything else, need of the same arithmetic.

The processor adds and multiplies eight numbers in the time of one, and a recursion that waits for its last step has
seven others to go on with. A kernel without branches on numbers is one for lanes too: given tables of lanes in place of
arrays, it computes the same for each lane, bit for bit, since every operation is rounded as it is for a single number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import Floats
from .kernel import COMPILER, JIT, kernel

LANES = 8
"""Numbers side by side."""


class LaneTable:
    """An array whose last dimension is that of the lanes: an element without it is `LANES` numbers."""

    def __init__(self, array: Any) -> None:
        self.array, self.size = array, array.shape[0]

    def __getitem__(self, place: Any) -> Any:
        return self.array[place].copy()

    def __setitem__(self, place: Any, value: Any) -> None:
        self.array[place] = value


def lanes_in(array: Any) -> Any:
    """An array with `LANES` numbers in its last dimension as a table of lanes."""
    return LaneTable(array)


def lane_zeros(*shape: int) -> Floats:
    """An array of lanes, each element in a cache line of its own."""
    size = int(np.prod(shape)) * LANES
    room = np.zeros(size + LANES)
    first = -room.ctypes.data // room.itemsize % LANES
    return room[first : first + size].reshape(*shape, LANES)


def chosen(where: Any, one: Any, other: Any) -> Any:
    """`one` where the condition holds, else `other`."""
    if not isinstance(where, np.ndarray):
        return one if where else other
    return np.where(where, one, other)


@kernel(inline=True)
def or_one(size):  # type: ignore[no-untyped-def]
    """A size to divide by: what has the size zero stays zero."""
    return chosen(size == 0.0, 1.0, size)


def everywhere(condition: Any) -> bool:
    """Whether a condition holds in all lanes."""
    return bool(np.all(condition))


def anywhere(condition: Any) -> bool:
    """Whether a condition holds in some lane."""
    return bool(np.any(condition))


def larger(one: Any, other: Any) -> Any:
    """The larger of two; the first one if either is nan."""
    return chosen(other > one, other, one)


def floored(x: Any) -> Any:
    return np.floor(x)


def lanes_of_rows(rows: Any, start: int, stride: int, last: int, array: Any, size: int) -> None:
    """Row k of a flat array becomes lane k: array[j, k] = rows[start + k stride + j], and rows after `last` are as it."""
    for k in range(LANES):
        here = start + min(k, last) * stride
        for j in range(size):
            array[j, k] = rows[here + j]


def rows_of_lanes(array: Any, first: int, size: int, rows: Any, start: int, stride: int, count: int) -> None:
    """The first lanes become rows of a flat array: rows[start + k stride + j] = array[first + j, k]."""
    for k in range(count):
        here = start + k * stride
        for j in range(size):
            rows[here + j] = array[first + j, k]


def sqrt(x: Any) -> Any:
    return np.sqrt(x) if isinstance(x, np.ndarray) else math.sqrt(x)


def atan2(y: Any, x: Any) -> Any:
    """By the C library."""
    if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray):
        return math.atan2(y, x)
    return np.array([math.atan2(*each) for each in np.broadcast(y, x)])


def cos_and_sin(x: Any) -> Any:
    """Both by the C library."""
    if not isinstance(x, np.ndarray):
        return math.cos(x), math.sin(x)
    return np.array([math.cos(each) for each in x]), np.array([math.sin(each) for each in x])


if JIT:
    import operator

    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import (
        intrinsic,
        lower_builtin,
        lower_cast,
        models,
        overload,
        overload_attribute,
        register_model,
        type_callable,
    )

    OPTIONS = COMPILER.overload_options
    DOUBLE, INDEX = ir.DoubleType(), ir.IntType(32)
    VECTOR = ir.VectorType(DOUBLE, LANES)

    class LanesType(types.Type):
        """`LANES` doubles; a single number may stand for as many equal ones."""

        def __init__(self) -> None:
            super().__init__(name="Lanes")

        def unify(self, typingctx: Any, other: Any) -> Any:
            return self if isinstance(other, types.Number) else None

        def can_convert_from(self, typingctx: Any, other: Any) -> Any:
            return typingctx.can_convert(other, types.float64) if isinstance(other, types.Number) else None

    class MaskType(types.Type):
        """A condition in each lane."""

        def __init__(self) -> None:
            super().__init__(name="LaneMask")

    class TableType(types.Type):
        """See `LaneTable`."""

        def __init__(self, array: Any) -> None:
            self.array = array
            super().__init__(name=f"LaneTable({array})")

    lanes, mask = LanesType(), MaskType()

    @register_model(LanesType)
    class _LanesModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, VECTOR)

    @register_model(MaskType)
    class _MaskModel(models.PrimitiveModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, ir.VectorType(ir.IntType(1), LANES))

    @register_model(TableType)
    class _TableModel(models.StructModel):
        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, [("array", kind.array)])

    # A number in all lanes ----------------------------------------------------------------------------------

    @lower_cast(types.Number, LanesType)
    def _spread(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
        number = context.cast(builder, value, types.unliteral(given), types.float64)
        first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, INDEX(0))
        zeros = ir.Constant(ir.VectorType(INDEX, LANES), None)
        return builder.shuffle_vector(first, first, zeros)

    def _both(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
        return [context.cast(builder, a, kind, lanes) for a, kind in zip(args, signature.args, strict=True)]

    # Arithmetic -------------------------------------------------------------------------------------------

    NAMES = {
        operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv",
        operator.iadd: "fadd", operator.isub: "fsub", operator.imul: "fmul", operator.itruediv: "fdiv",
    }  # fmt: skip
    ORDERS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "=="}

    def _define(operation: Any, result: Any, make: Any) -> None:
        """An operation of two, at least one of them lanes."""

        @type_callable(operation)
        def _typed(context: Any) -> Any:
            def typer(one: Any, other: Any) -> Any:
                pair = (one, other)
                known = all(kind is lanes or isinstance(kind, types.Number) for kind in pair)
                return result if known and lanes in pair else None

            return typer

        def lowered(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return make(builder, *_both(context, builder, signature, args))

        for kinds in ((LanesType, LanesType), (LanesType, types.Number), (types.Number, LanesType)):
            lower_builtin(operation, *kinds)(lowered)

    for _operation, _name in NAMES.items():
        _define(_operation, lanes, lambda builder, a, b, name=_name: getattr(builder, name)(a, b))
    for _operation, _name in ORDERS.items():
        _define(_operation, mask, lambda builder, a, b, name=_name: builder.fcmp_ordered(name, a, b))

    def _define_one(operation: Any, make: Any) -> None:
        """An operation of one."""

        @type_callable(operation)
        def _typed(context: Any) -> Any:
            return lambda x: lanes if x is lanes else None

        lower_builtin(operation, LanesType)(lambda context, builder, signature, args: make(builder, args[0]))

    def _by_llvm(builder: Any, name: str, x: Any) -> Any:
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(VECTOR, [VECTOR]), f"llvm.{name}.v{LANES}f64"
        )
        return builder.call(function, [x])

    _define_one(operator.neg, lambda builder, x: builder.fneg(x))
    _define_one(abs, lambda builder, x: _by_llvm(builder, "fabs", x))

    # Tables -----------------------------------------------------------------------------------------------

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
            return builder.extract_value(_shape(context, builder, table, args[0]), 0)

        return types.intp(table), codegen

    def _array(context: Any, builder: Any, kind: Any, table: Any) -> Any:
        whole = cgutils.create_struct_proxy(kind)(context, builder, table).array
        return cgutils.create_struct_proxy(kind.array)(context, builder, whole)

    def _shape(context: Any, builder: Any, kind: Any, table: Any) -> Any:
        return _array(context, builder, kind, table).shape

    def _element(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Pointer to the lanes at an index, or at one for each dimension; none of them is negative."""
        kind, at = signature.args[:2]
        array = _array(context, builder, kind, args[0])
        ats = tuple(at) if isinstance(at, types.BaseTuple) else (at,)
        place = None
        for k, one in enumerate(ats):
            i = builder.extract_value(args[1], k) if isinstance(at, types.BaseTuple) else args[1]
            i = context.cast(builder, i, one, types.intp)
            size = builder.extract_value(array.shape, k)
            place = i if place is None else builder.add(builder.mul(place, size), i)
        place = builder.mul(place, ir.IntType(64)(LANES))
        return builder.bitcast(builder.gep(array.data, [place]), VECTOR.as_pointer())

    def _fits(table: Any, at: Any) -> bool:
        ats = tuple(at) if isinstance(at, types.BaseTuple) else (at,)
        integers = all(isinstance(one, types.Integer) for one in ats)
        return isinstance(table, TableType) and integers and len(ats) == table.array.ndim - 1

    @type_callable(operator.getitem)
    def _typed_getitem(context: Any) -> Any:
        return lambda table, at: lanes if _fits(table, at) else None

    @type_callable(operator.setitem)
    def _typed_setitem(context: Any) -> Any:
        def typer(table: Any, at: Any, value: Any) -> Any:
            known = value is lanes or isinstance(value, types.Number)
            return types.none if _fits(table, at) and known else None

        return typer

    @lower_builtin(operator.getitem, TableType, types.Any)
    def _getitem(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(_element(context, builder, signature, args))
        value.align = 8
        return value

    @lower_builtin(operator.setitem, TableType, types.Any, types.Any)
    def _setitem(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = context.cast(builder, args[2], signature.args[2], lanes)
        builder.store(value, _element(context, builder, signature, args)).align = 8
        return context.get_dummy_value()

    # Functions, which are those of single numbers too -----------------------------------------------------------

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
        return lanes(x), lambda context, builder, signature, args: _by_llvm(builder, "floor", args[0])

    @intrinsic
    def _root(typingctx: Any, x: Any) -> Any:
        return lanes(x), lambda context, builder, signature, args: _by_llvm(builder, "sqrt", args[0])

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

    # Rows to lanes and back -----------------------------------------------------------------------------------

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
    def _square_to_lanes(
        typingctx: Any, rows: Any, start: Any, stride: Any, last: Any, array: Any, j: Any
    ) -> Any:
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
    def _square_to_rows(
        typingctx: Any, array: Any, j: Any, rows: Any, start: Any, stride: Any, count: Any
    ) -> Any:
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

    @overload(lanes_of_rows, jit_options=OPTIONS)
    def _lanes_of_rows(rows, start, stride, last, array, size):  # type: ignore[no-untyped-def]
        def by_squares(rows, start, stride, last, array, size):  # type: ignore[no-untyped-def]
            whole = size - size % LANES
            for j in range(0, whole, LANES):
                _square_to_lanes(rows, start + j, stride, last, array, j)
            for k in range(LANES):
                for j in range(whole, size):
                    array[j, k] = rows[start + min(k, last) * stride + j]

        return by_squares

    @overload(rows_of_lanes, jit_options=OPTIONS)
    def _rows_of_lanes(array, first, size, rows, start, stride, count):  # type: ignore[no-untyped-def]
        def by_squares(array, first, size, rows, start, stride, count):  # type: ignore[no-untyped-def]
            whole = size - size % LANES
            for j in range(0, whole, LANES):
                _square_to_rows(array, first + j, rows, start + j, stride, count)
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
