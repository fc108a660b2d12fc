"""Lanes in compiled code: the types of numba, their arithmetic, and elements of tables of lanes.

An operation on lanes is one instruction of LLVM on a vector, rounded in each lane as that on a single number.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.extending import lower_builtin, lower_cast, models, register_model, type_callable

from .lanes import LANES

DOUBLE, INDEX = ir.DoubleType(), ir.IntType(32)
VECTOR = ir.VectorType(DOUBLE, LANES)


class LanesType(types.Type):
    """`LANES` doubles; a single number may stand for as many equal ones."""

    in_register = True

    def __init__(self) -> None:
        super().__init__(name="Lanes")

    def unify(self, typingctx: Any, other: Any) -> Any:
        return self if isinstance(other, types.Number) else None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Worse than not at all: of a kernel for lanes and one for numbers, numbers go to the latter."""
        return Conversion.safe if isinstance(other, types.Number) else None


class MaskType(types.Type):
    """A condition in each lane."""

    def __init__(self) -> None:
        super().__init__(name="LaneMask")

    def unify(self, typingctx: Any, other: Any) -> Any:
        # a comparison whose sides were numbers until they became lanes
        return self if other == types.boolean else None


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


def by_llvm(builder: Any, name: str, x: Any) -> Any:
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(VECTOR, [VECTOR]), f"llvm.{name}.v{LANES}f64"
    )
    return builder.call(function, [x])


_define_one(operator.neg, lambda builder, x: builder.fneg(x))
_define_one(abs, lambda builder, x: by_llvm(builder, "fabs", x))

# Tables -----------------------------------------------------------------------------------------------


def _array(context: Any, builder: Any, kind: Any, table: Any) -> Any:
    whole = cgutils.create_struct_proxy(kind)(context, builder, table).array
    return cgutils.create_struct_proxy(kind.array)(context, builder, whole)


def shape_of(context: Any, builder: Any, kind: Any, table: Any) -> Any:
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
