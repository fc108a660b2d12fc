"""How numba compiles a kernel: by the few passes that plain loops over arrays need.

Kernels have no closures, generators, array expressions, exceptions or parallel loops. So most passes of numba's usual
pipeline find nothing to do, and take half of its time.
"""

from __future__ import annotations

from typing import Any

from numba.core import typed_passes as typed
from numba.core import untyped_passes as untyped
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.registry import CPUDispatcher

PASSES = (
    untyped.TranslateByteCode,
    untyped.FixupArgs,
    untyped.IRProcessing,
    untyped.GenericRewrites,
    untyped.InlineInlinables,
    untyped.ReconstructSSA,
    typed.NopythonTypeInference,
    typed.PreLowerStripPhis,
    typed.IRLegalization,
    typed.AnnotateTypes,
    typed.NativeLowering,
    typed.NoPythonBackend,
)


class QuickFlags(Flags):
    """Flags that are compared by what was set.

    numba looks its own functions up by the flags of the caller, thousands of times for a kernel, and compares all
    thirty of them each time.
    """

    def __hash__(self) -> int:
        return hash(frozenset(self._values))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, QuickFlags) and self._values == other._values


class KernelCompiler(CompilerBase):
    """Compiles a kernel that is called from outside."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, locals: Any
    ) -> None:
        super().__init__(typing, target, library, args, result, QuickFlags(flags), locals)

    def define_pipelines(self) -> list[PassManager]:
        manager = PassManager("kernel")
        for step in PASSES:
            manager.add_pass(step, step.__name__)
        manager.finalize()
        return [manager]


class InnerCompiler(KernelCompiler):
    """Compiles a kernel that only kernels call."""

    def define_pipelines(self) -> list[PassManager]:
        state = self.state
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class InnerLibrary(JITCodeLibrary):
    """The code of a kernel that only kernels call.

    It becomes part of the code of its callers and is optimized there. By itself it needs neither optimization nor
    machine code, which would take longer than all else.
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
        """Only exceptions need an environment; kernels raise none."""


class InnerKernel(CPUDispatcher):
    """Part of compiled kernels; called from Python, it runs as Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)
