"""The check of a compiler: kernels of every kind, compiled and compared with the same code run as Python.

It runs in a separate process, once for each version of numba (`numerics/compiler_verdicts.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiler_choice import BARE, RUNG
from .kernel import kernel
from .kernel_files import KernelFiles
from .kernel_pointer import BoundKernel, KernelPointer, compile_pending, invoke, kernel_pointer
from .lanes import LANES, anywhere, chosen, everywhere, lanes_in, larger


class MixedPart(NamedTuple):
    """A context inside a context."""

    weights: NDArray[np.float64]
    chosen: NDArray[np.uint32]
    scale: float


class Arrays(NamedTuple):
    a: NDArray[np.float64]
    M: NDArray[np.float64]
    T: NDArray[np.float64]
    lanes: NDArray[np.float64]
    k: NDArray[np.int64]
    part: MixedPart
    shift: int
    far: NDArray[np.uint64]


@kernel
def inner(part, x, out):
    """A kernel that is called, not inlined: it has a loop, an early return and a result."""
    total = 0.0
    for j in range(part.chosen.size):
        i = part.chosen[j]
        if part.weights[i] > x:
            return total
        total += part.scale * part.weights[i]
        out[i] += total
    return -total


@kernel(inline=True)
def copied(part, i):
    """A kernel that is inlined into its caller."""
    return part.weights[part.chosen[i]] + i


@kernel_pointer
def mixed(c, t, y, out):
    """Elements from both ends, of arrays of one to three dimensions; arithmetic and comparisons of all kinds."""
    # reading, with indices of either sign
    a, M, T, k = c.a, c.M, c.T, c.k
    out[0] = a[-1] + a[c.shift - 3] * y[0]
    out[1] = M[1, -1] - M[-2, c.shift] / y[1]
    out[2] = T[0, -1, 1] + T[c.shift - 2, 0, -1]
    out[3] = k[-2] * k[1] - k[0] + c.shift
    k[c.shift] = k[0] - 2 * k[1]
    out[4] = k[c.shift]
    # comparisons
    out[-1] = 0.0
    if y[0] < y[1]:
        out[-1] += 1.0
    if y[0] <= y[1]:
        out[-1] += 2.0
    if y[0] == y[1]:
        out[-1] += 4.0
    if y[0] != y[1]:
        out[-1] += 8.0
    if y[0] > y[1] or k[0] >= k[1]:
        out[-1] += 16.0
    # writing, rows and slices
    M[-1, 0] = t
    out[5] = M[M.shape[0] - 1, 0] // 2 + k[0] % 3 + t * t
    row = M[1]
    row[1:][0] = 7
    out[6] = M[1, 1] + row.size
    # inner kernels and unsigned indices
    out[7] = inner(c.part, y[0], a) + copied(c.part, 1)
    out[8] = a[c.far[1]] + M[c.far[0], c.part.chosen[0]] + k[c.far[0]] * c.far[1]
    # several numbers side by side
    table, sum_of_lanes = lanes_in(c.lanes), 0.0
    for i in range(table.size):
        sum_of_lanes = table[i] * y[0] - sum_of_lanes
    if anywhere(sum_of_lanes > 1.0) or everywhere(sum_of_lanes <= 1.0):
        table[0] = chosen(sum_of_lanes < table[1], larger(-sum_of_lanes, abs(table[1])), 0.5)


class CheckedPointers(NamedTuple):
    f: Any
    c: Any


@kernel_pointer
def outer(c, t, y, out):
    """Calls another kernel pointer."""
    invoke(c.f, c.c, t + 1.0, y, out)
    out[0] += 1.0


SIZE = 10  # of out


def new_arrays(seed: int = 5) -> Arrays:
    random = np.random.default_rng(seed)
    part = MixedPart(random.normal(size=4), random.permutation(4).astype(np.uint32), 0.75)
    return Arrays(
        random.normal(size=5),
        random.normal(size=(3, 4)),
        random.normal(size=(2, 3, 2)),
        random.normal(size=(3, LANES)),
        random.integers(-9, 9, size=5),
        part,
        1,
        np.array([random.integers(3), random.integers(5)], dtype=np.uint64),
    )


def arrays_of(context: Any) -> list[NDArray[Any]]:
    """All arrays of a context, also those of contexts inside it."""
    parts = [arrays_of(part) if isinstance(part, tuple) else [part] for part in context]
    return [one for part in parts for one in part if isinstance(one, np.ndarray)]


def differs(computed: Any, expected: Any) -> bool:
    return not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(computed, expected, strict=True))


class InMemory(KernelFiles):
    """Files in memory instead of on disk."""

    texts: dict[str, bytes] = {}

    def read(self, key: Any) -> bytes:
        return self.texts[str(self.path(key))]

    def write(self, key: Any, text: bytes) -> None:
        self.texts[str(self.path(key))] = text


def problem() -> str:
    """What is wrong with the compiler of this process; empty if nothing is."""
    if RUNG != BARE:
        from .stock_compiler import KernelCache

        KernelCache.files = InMemory
    for made in (mixed, again(mixed)):
        bound = made.bind(new_arrays())
        if RUNG != BARE and made is not mixed and not made.entry.load():
            return "cached machine code cannot be loaded"
        for y in ((0.5, -0.25), (-3.0, 2.0), (1.0, 1.0), (np.nan, 1.0)):
            if wrong(bound, np.array(y)):
                return "compiled kernels and Python differ"
    return ""


def again(pointer: KernelPointer) -> KernelPointer:
    """The same kernel pointer, not yet compiled."""
    return KernelPointer(pointer.function)


def wrong(bound: BoundKernel, y: NDArray[np.float64], t: float = 0.5, seed: int = 5) -> bool:
    """Whether a compiled kernel, called directly and through another one, does not do what Python does."""
    through = outer.bind(CheckedPointers(bound.f, bound.c))
    compile_pending()
    for go, later in (bound, 0.0), (through, 1.0):
        context, expected, computed = new_arrays(seed), np.zeros(SIZE), np.zeros(SIZE)
        for mine, theirs in zip(arrays_of(bound.kept[1]), arrays_of(context), strict=True):
            mine[...] = theirs
        go(t, y, computed)
        with np.errstate(all="ignore"):
            mixed(context, t + later, y, expected)
        expected[0] += later
        if differs([computed, *arrays_of(bound.kept[1])], [expected, *arrays_of(context)]):
            return True
    return False
