"""Private names of numba that this package uses.

Any release of numba may rename them. All are looked up here, before anything is compiled: if one is missing, or arrays
have another layout, a compiler that needs less takes over (`numerics/compiler_choice.py`).
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

KEEPING = (
    "numba.core.caching:Cache._load_overload",
    "numba.core.caching:Cache._save_overload",
    "numba.core.caching:CompileResultCacheImpl",
    "numba.core.caching:_CacheLocator",
    "numba.core.ccallback:CFunc",
    "numba.core.compiler:Compiler",
    "numba.core.compiler_lock:global_compiler_lock",
    "numba.core.cpu:CPUTargetOptions._nrt",
    "numba.core.cpu:CPUTargetOptions.forceinline",
    "numba.core.cpu:CPUTargetOptions.no_cfunc_wrapper",
    "numba.core.cpu:CPUTargetOptions.no_cpython_wrapper",
    "numba.core.registry:CPUDispatcher._compile_for_args",
    "numba.core.serialize:dumps",
    "numba.core.typing.templates:AttributeTemplate.resolve",
)
"""For machine code cached on disk, without reference counting, and for reading fields of contexts."""

PIPELINE = (
    "numba.core.codegen:JITCodeLibrary._ensure_finalized",
    "numba.core.codegen:JITCodeLibrary._finalize_dynamic_globals",
    "numba.core.codegen:JITCodeLibrary._finalize_final_module",
    "numba.core.codegen:JITCodeLibrary._optimize_final_module",
    "numba.core.codegen:JITCodeLibrary.get_pointer_to_function",
    "numba.core.compiler:CompilerBase.compile_extra",
    "numba.core.compiler:CompilerBase.define_pipelines",
    "numba.core.compiler:Flags",
    "numba.core.compiler_machinery:FunctionPass",
    "numba.core.compiler_machinery:PassManager._ENFORCING",
    "numba.core.compiler_machinery:PassManager.add_pass",
    "numba.core.compiler_machinery:PassManager.finalize",
    "numba.core.compiler_machinery:register_pass",
    "numba.core.datamodel:default_manager.lookup",
    "numba.core.errors:NumbaWarning",
    "numba.core.errors:WarningsFixer",
    "numba.core.lowering:Lower.loadvar",
    "numba.core.lowering:Lower.lower_binop",
    "numba.core.lowering:Lower.lower_getitem",
    "numba.core.lowering:Lower.lower_setitem",
    "numba.core.lowering:Lower.typeof",
    "numba.core.typed_passes:BaseNativeLowering",
    "numba.core.typed_passes:IRLegalization",
    "numba.core.typed_passes:NoPythonBackend",
    "numba.core.typed_passes:PreLowerStripPhis",
    "numba.core.typeinfer:TypeInferer.build_constraint",
    "numba.core.typeinfer:TypeInferer.propagate",
    "numba.core.typeinfer:TypeInferer.resolve_call",
    "numba.core.typeinfer:TypeInferer.seed_argument",
    "numba.core.typeinfer:TypeInferer.seed_return",
    "numba.core.typeinfer:TypeInferer.unify",
    "numba.core.untyped_passes:FixupArgs",
    "numba.core.untyped_passes:IRProcessing",
    "numba.core.untyped_passes:ReconstructSSA",
    "numba.core.untyped_passes:TranslateByteCode",
)
"""For the short pipeline."""

ARRAY = "meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides"
"""The fields of an array, in the order in which the short pipeline reads them."""


class Unfamiliar(Exception):
    """This version of numba differs from what the package expects."""


def inside(paths: tuple[str, ...]) -> Any:
    """The objects at these paths, by the first name after the colon; `Unfamiliar` if one does not exist."""
    internals = SimpleNamespace()
    for path in paths:
        module, _, names = path.partition(":")
        first, *more = names.split(".")
        try:
            thing = getattr(import_module(module), first)
            setattr(internals, first, thing)
            for name in more:
                thing = getattr(thing, name)
        except (ImportError, AttributeError):
            raise Unfamiliar(f"{module}.{names} does not exist") from None
    return internals


def check_layout() -> None:
    """Check that numba's arrays have the fields that the short pipeline reads."""
    from numba import types

    model = inside(PIPELINE).default_manager.lookup(types.Array(types.float64, 2, "C"))
    fields = tuple(getattr(model, "_fields", ()))
    if fields != ARRAY:
        raise Unfamiliar(f"its arrays consist of {', '.join(fields) or 'something unknown'}")
