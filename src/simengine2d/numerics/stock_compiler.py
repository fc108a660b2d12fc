"""Compiling kernels with numba's usual pipeline and caching the machine code on disk.

numba's own cache looks at one file only and goes stale when a kernel called from another file changes. So the files
are in a folder named after the hash of all sources and of the compiler (`numerics/kernel_files.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .bare_compiler import ENTRY, BareCompiler, say_compiling, uninterrupted, without_collection
from .compiler_choice import RUNG
from .inside_numba import KEEPING, inside
from .kernel_files import KernelFiles, cache_folder, source_key

private = inside(KEEPING)
KEY = source_key(RUNG)
FOLDER = cache_folder() / KEY

# A kernel allocates nothing, so numba need not count references.
OPTIONS = {"nopython": True, "boundscheck": None, "error_model": "numpy", "_nrt": False}


class KeptCompiler(BareCompiler):
    """numba's usual pipeline; subclasses may name another one."""

    seconds = 45
    overload_options = {"_nrt": False}
    AttributeTemplate = private.AttributeTemplate
    inner_pipeline: Any = private.Compiler
    outer_pipeline: Any = private.Compiler

    def entry(self, function: Callable[..., Any], inline: bool) -> Any:
        # the interpreter is free while a kernel runs: other threads use it
        options = self.options(inline, no_cpython_wrapper=False) | {"nogil": True}
        made = KernelDispatcher(function, targetoptions=options, pipeline_class=self.outer_pipeline)
        made._cache = KernelCache(function, self.seconds)
        return made

    def inner(self, function: Callable[..., Any], inline: bool) -> Any:
        options = self.options(inline, no_cpython_wrapper=True)
        return private.CPUDispatcher(function, targetoptions=options, pipeline_class=self.inner_pipeline)

    def pointer(self, function: Callable[..., None]) -> Any:
        signature = ENTRY.args, ENTRY.return_type
        made = StockEntry(function, signature, {}, OPTIONS, pipeline_class=self.outer_pipeline)
        made._cache = KernelCache(function, self.seconds)
        return made

    @staticmethod
    def options(inline: bool, no_cpython_wrapper: bool) -> dict[str, Any]:
        more = {"forceinline": inline, "no_cpython_wrapper": no_cpython_wrapper, "no_cfunc_wrapper": True}
        return OPTIONS | more


class KernelDispatcher(private.CPUDispatcher):
    """The entry point from Python to a kernel."""

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        with uninterrupted():
            return super()._compile_for_args(*args, **kws)


class StockEntry(private.CFunc):
    """Entry point of a kernel pointer, compiled or loaded lazily."""

    def load(self) -> bool:
        """Load the machine code from disk; False if there is none."""
        with private.global_compiler_lock, uninterrupted():
            code = self._cache.load_overload(self._sig, self._targetdescr.target_context)
            if code is not None:
                self.take(code)
        return code is not None

    def build(self) -> None:
        """Compile, and cache the machine code on disk."""
        with private.global_compiler_lock, uninterrupted(), without_collection():
            made = self._compiler.compile(self._sig.args, self._sig.return_type)
            self._cache.save_overload(self._sig, made)
            self.take(made)

    def take(self, code: Any) -> None:
        self._library, self._wrapper_name = code.library, code.fndesc.llvm_cfunc_wrapper_name
        self._wrapper_address = self._library.get_pointer_to_function(self._wrapper_name)


# Files --------------------------------------------------------------------------------------------------


class Locator(private._CacheLocator):
    """Gives numba the location of a kernel's machine code and the stamp that makes it stale."""

    def __init__(self, function: Any, file: str) -> None:
        # numba names a cache file after module and function only; the line distinguishes namesakes
        self._disambiguator = str(function.__code__.co_firstlineno)

    def get_cache_path(self) -> str:
        return str(FOLDER)

    def get_source_stamp(self) -> str:
        return KEY

    def get_disambiguator(self) -> str:
        return self._disambiguator

    @classmethod
    def from_function(cls, function: Any, file: str) -> Locator:
        return cls(function, file)

    def ensure_cache_path(self) -> None:
        """A read-only folder may still be read; folders are made when a file is written."""


class Impl(private.CompileResultCacheImpl):
    _locator_classes = [Locator]


class KernelCache(private.Cache):
    """The machine code of one kernel on disk."""

    _impl_class = Impl
    files = KernelFiles

    def __init__(self, function: Any, seconds: int) -> None:
        super().__init__(function)
        self.seconds = seconds
        self._cache_file = self.files(FOLDER, self._impl.filename_base, KEY, private.dumps)

    def load_overload(self, signature: Any, target: Any) -> Any:
        code = None
        try:
            # without numba's own refresh, which gathers all functions that can be compiled: machine code needs none
            code = self._load_overload(signature, target)
        except Exception:  # what cannot be loaded is compiled
            pass
        if code is None:
            say_compiling(self.seconds)
        return code

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            self._save_overload(signature, data)
        except OSError:  # a read-only home or a full disk: the kernel still runs, uncached
            pass
