"""A short numba pipeline: the few passes that plain loops over arrays need.

Kernels have no closures, generators, array expressions, exceptions or parallel loops, so most passes of numba's usual
pipeline would find nothing to do.
"""

from __future__ import annotations

import operator
from typing import Any, ClassVar

from llvmlite import ir
from numba import types

from .bare_compiler import without_collection
from .inside_numba import ARRAY, KEEPING, PIPELINE, check_layout, inside
from .stock_compiler import KeptCompiler

check_layout()
private = inside(KEEPING + PIPELINE)

# Types ------------------------------------------------------------------------------------------------


def in_register(kind: Any) -> bool:
    """Whether values are several numbers side by side (`lane_types.py`), whose instructions are those of one."""
    return getattr(kind, "in_register", False)


class KernelTyper(private.TypeInferer):
    """Infers the types of a kernel's variables; result types of arithmetic are looked up once.

    numba would compile a kernel again for each number that is written in a call of it.
    """

    known: ClassVar[dict[Any, Any]] = {}

    def resolve_call(self, function: Any, args: Any, kws: Any) -> Any:
        if isinstance(function, types.Dispatcher):
            return super().resolve_call(function, tuple(map(types.unliteral, args)), kws)
        if (
            not isinstance(function, types.Function)
            or kws
            or not all(isinstance(a, types.Number) or in_register(a) for a in args)
        ):
            return super().resolve_call(function, args, kws)
        key = function, tuple(args)
        if key not in self.known:
            self.known[key] = super().resolve_call(function, args, kws)
        return self.known[key]


@private.register_pass(mutates_CFG=False, analysis_only=False)
class KernelTyping(private.FunctionPass):
    _name = "kernel_typing"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        code, warnings = state.func_ir, private.WarningsFixer(private.NumbaWarning)
        typer = KernelTyper(state.typingctx, code, warnings)
        called = state.typingctx.callstack.register(state.targetctx.target, typer, code.func_id, state.args)
        with called, warnings:
            for index, (name, kind) in enumerate(zip(code.arg_names, state.args, strict=True)):
                typer.seed_argument(name, index, kind)
            if state.return_type is not None:
                typer.seed_return(state.return_type)
            typer.build_constraint()
            typer.propagate()
            state.typemap, state.return_type, state.calltypes = typer.unify()
        return True


# Elements of arrays, and arithmetic ---------------------------------------------------------------------
#
# numba emits hundreds of instructions for each array element it reads, which LLVM has to remove again. Kernels do
# little else than read and write elements, add and multiply.

NUMBERS = (types.float64, types.int64)
FLOATS = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"}
INTEGERS = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}
ORDER = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "=="}
DATA, SHAPE = ARRAY.index("data"), ARRAY.index("shape")


class KernelLower(private.Lower):
    """Emits the LLVM instructions of a kernel."""

    def lower_getitem(self, result: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        place = self.element(value, index)
        if place is None:
            return super().lower_getitem(result, expr, value, index, signature)
        return self.context.cast(
            self.builder, self.builder.load(place), self.typeof(value.name).dtype, result
        )

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        place = self.element(target, index)
        kind = self.typeof(value.name)
        if place is None or types.unliteral(kind) not in NUMBERS:
            return super().lower_setitem(target, index, value, signature)
        number = self.context.cast(
            self.builder, self.loadvar(value.name), kind, self.typeof(target.name).dtype
        )
        self.builder.store(number, place)
        return None

    def element(self, array: Any, index: Any) -> Any:
        """Pointer to the element that an index, or one for each dimension, denotes; None for anything else."""
        kind, at = self.typeof(array.name), self.typeof(index.name)
        ats = tuple(at) if isinstance(at, types.BaseTuple) else (at,)
        plain = isinstance(kind, types.Array) and kind.layout == "C" and kind.dtype in NUMBERS
        if not plain or len(ats) != kind.ndim or not all(isinstance(one, types.Integer) for one in ats):
            return None
        builder, whole, value = self.builder, self.loadvar(array.name), self.loadvar(index.name)
        place = None
        for k, one in enumerate(ats):
            i = builder.extract_value(value, k) if isinstance(at, types.BaseTuple) else value
            size = builder.extract_value(whole, (SHAPE, k))
            i = self.counted_from_the_end(self.context.cast(builder, i, one, types.intp), one, size)
            place = i if place is None else builder.add(builder.mul(place, size), i)
        return builder.gep(builder.extract_value(whole, DATA), [place])

    def counted_from_the_end(self, i: Any, kind: Any, size: Any) -> Any:
        """i, or size + i where i is negative."""
        if isinstance(kind, types.IntegerLiteral) and kind.literal_value >= 0:
            return i
        negative = self.builder.icmp_signed("<", i, ir.IntType(64)(0))
        return self.builder.select(negative, self.builder.add(i, size), i)

    def lower_binop(self, result: Any, expr: Any, op: Any) -> Any:
        signature = self.fndesc.calltypes[expr]
        kind, other = sorted(signature.args, key=in_register, reverse=True)
        names = INTEGERS if kind == types.int64 else FLOATS
        alike = (
            kind == other
            if kind in NUMBERS
            else in_register(kind) and isinstance(other, type(kind) | types.Float)
        )
        if not alike or not (op in names or op in ORDER):
            return super().lower_binop(result, expr, op)
        builder, cast = self.builder, self.context.cast
        left, right = (
            cast(builder, self.loadvar(side.name), self.typeof(side.name), kind)
            for side in (expr.lhs, expr.rhs)
        )
        if op in names:
            # as numba does: loop indices do not overflow
            flags = ["nsw"] if names is INTEGERS else []
            value = getattr(builder, names[op])(left, right, flags=flags)
        else:
            compare = builder.icmp_signed if kind == types.int64 else builder.fcmp_ordered
            value = compare(ORDER[op], left, right)
        return cast(builder, value, signature.return_type, result)


@private.register_pass(mutates_CFG=False, analysis_only=False)
class KernelLowering(private.BaseNativeLowering):
    _name = "kernel_lowering"
    lowering_class = KernelLower


# The compiler -----------------------------------------------------------------------------------------

PASSES = (
    private.TranslateByteCode,
    private.FixupArgs,
    private.IRProcessing,
    private.ReconstructSSA,
    KernelTyping,
    private.PreLowerStripPhis,
    private.IRLegalization,
    KernelLowering,
    private.NoPythonBackend,
)


class QuickFlags(private.Flags):
    """Flags that are compared only by those that were set.

    numba looks up its own functions by the caller's flags, thousands of times for a kernel, and compares all thirty
    each time.
    """

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, QuickFlags) and self._values == other._values


class KernelPasses(private.PassManager):
    """The passes leave blocks and variables in order, so these are not put in order again after each of them."""

    _ENFORCING = False


class KernelCompiler(private.CompilerBase):
    """Compiles a kernel that is called from outside compiled code."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, locals: Any
    ) -> None:
        super().__init__(typing, target, library, args, result, QuickFlags(flags), locals)

    def compile_extra(self, function: Any) -> Any:
        with without_collection():
            return super().compile_extra(function)

    def define_pipelines(self) -> list[Any]:
        manager = KernelPasses("kernel")
        for step in PASSES:
            manager.add_pass(step, step.__name__)
        manager.finalize()
        return [manager]


class InnerCompiler(KernelCompiler):
    """Compiles a kernel that only kernels call."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class InnerLibrary(private.JITCodeLibrary):
    """The code of a kernel that only kernels call.

    It is linked into its callers and optimized there. Optimizing it and generating machine code for it alone would
    take longer than everything else.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Only exceptions need an environment, and kernels do not raise."""


class ShortCompiler(KeptCompiler):
    """The short pipeline; machine code is cached on disk."""

    seconds = 25
    inner_pipeline = InnerCompiler
    outer_pipeline = KernelCompiler
