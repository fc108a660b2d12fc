"""A System of a run's own, into which the numbers of other Systems of the same structure can be written.

What a run prepares holds addresses of arrays, and all but their numbers depends on structure alone. With other numbers
in the same arrays it serves the next model, which is new in numbers only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..expressions.function_table import FunctionTable, with_own_numbers
from ..numerics.arrays import constant
from ..numerics.contexts import lay_out_once
from ..numerics.kernel import kernel
from .equations_of_motion import EquationArrays
from .system import System
from .workspace import Pool, Workspace, refresh

Arrays = TypeVar("Arrays")

OWN = "arrays", "load_arrays", "masses", "arms", "sizes", "idle", "known", "writers"
"""Attributes that stay when numbers are taken from another System; arrays among them are written."""


class OwnSystem(System):
    """The System of one run at a time: its arrays stay where they are, and take numbers of one System after another."""

    def __init__(self, system: System) -> None:
        self.__dict__.update(system.attributes())
        self.source = system
        self.arrays, self.load_arrays = own(system.arrays), own(system.load_arrays)
        self.masses, self.arms, self.sizes = own(system.masses), own(system.arms), own(system.sizes)
        self.idle, self.known = Pool(), {}
        self.writers: list[Callable[[], None]] = []
        lay_out_once(self, self.arrays)
        lay_out_once(self, self.load_arrays)

    def follow_numbers(self, write: Callable[[], None]) -> None:
        self.writers.append(write)
        write()

    def new_workspace(self, d: EquationArrays | None = None) -> Workspace:
        w = super().new_workspace(d)
        self.writers.append(lambda: refresh(w, self.arrays))
        return w

    def owned(self, answer: Any) -> Any:
        """A copy, into which the answers of other Systems are written."""
        return own(answer)

    def take_numbers(self, system: System) -> bool:
        """Become a System that differs in numbers; if it differs in more, False, and this one is spoiled."""
        stays = {name: self.__dict__[name] for name in OWN}
        self.__dict__.clear()
        self.__dict__.update({**system.attributes(), **stays, "source": system})
        alike = all(overwrite(stays[name], getattr(system, name)) for name in OWN[:5])
        return alike and self._compute_again()

    def _compute_again(self) -> bool:
        """What was computed once for this System, into the same arrays."""
        earlier, self.known = self.known, {}
        answers = [
            (f, at, old) for f, each in earlier.items() for at, old in each.items() if _has_arrays(old)
        ]
        for function, arguments, old in answers:
            if not overwrite(old, function(self, *arguments)):
                return False
        for function, arguments, old in answers:
            self.known[function][arguments] = old
        return True

    def write_again(self) -> None:
        """Whatever else follows from the numbers."""
        for write in self.writers:
            write()


@contextmanager
def own_system(system: System) -> Iterator[OwnSystem]:
    """An idle one with the numbers of a System, which must have them again in the end."""
    own: OwnSystem = system.idle.take(OwnSystem) or OwnSystem(system)
    yield own
    system.idle.give(OwnSystem, own)


def is_shareable(system: System) -> bool:
    """Whether the arrays of a system hold all that its runs depend on: no Python functions, no formulas."""
    return not (system.has_formulas or system.callbacks)


def own(arrays: Arrays) -> Arrays:
    """The same with numbers in memory of their own; integers are shared."""
    copied: Any = arrays
    if isinstance(arrays, FunctionTable):
        copied = with_own_numbers(arrays)
    elif isinstance(arrays, tuple):
        copied = type(arrays)(*map(own, arrays))
    elif isinstance(arrays, np.ndarray) and arrays.dtype == np.float64:
        copied = constant(arrays.copy())
    return copied  # type: ignore[no-any-return]


def overwrite(old: Any, new: Any) -> bool:
    """Write the numbers of new arrays into old ones; False where shapes or integers differ."""
    if isinstance(old, np.ndarray):
        return _overwrite_array(old, new)
    if not isinstance(old, tuple):
        return bool(old == new)
    if isinstance(old, FunctionTable):  # after its arrays come addresses
        old, new = old[:5], new[:5]
    # what is shared is the same; most of it is
    return len(old) == len(new) and all(a is b or overwrite(a, b) for a, b in zip(old, new, strict=True))


def _overwrite_array(old: NDArray[Any], new: NDArray[Any]) -> bool:
    if old.shape != new.shape:
        return False
    if old.dtype != np.float64:
        return old.tobytes() == new.tobytes()
    writeable = old.flags.writeable
    old.setflags(write=True)
    old[...] = new
    old.setflags(write=writeable)
    return True


# Numbers that a kernel writes --------------------------------------------------------------------------


def let_write(arrays: Any) -> None:
    """The numbers of a System of one's own."""
    for part in arrays:
        if isinstance(part, tuple):
            let_write(part)
        elif isinstance(part, np.ndarray) and part.dtype == np.float64:
            part.setflags(write=True)


@kernel(inline=True)
def copied(numbers, at, target):
    """Write the next numbers into an array. Returns where those after them begin."""
    for k in range(target.size):
        target[k] = numbers[at + k]
    return at + target.size


def _has_arrays(answer: Any) -> bool:
    return isinstance(answer, np.ndarray | EquationArrays)
