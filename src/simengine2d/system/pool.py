"""What a System stores for reuse: idle workspaces, and constants computed for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .system import System

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_KINDS = 16  # of idle workspaces
MOST_KNOWN = 16  # arguments for which a constant is stored


class Pool:
    """Idle workspaces. Each has one user at a time; threads may take and give at once, without a lock."""

    def __init__(self) -> None:
        self.waiting: dict[Hashable, list[Any]] = {}

    def take(self, kind: Hashable) -> Any:
        """An idle workspace; None if there is none."""
        try:
            return self.waiting[kind].pop()
        except (KeyError, IndexError):
            return None

    def give(self, kind: Hashable, workspace: Any) -> None:
        """Make it idle again; if there are too many kinds, the oldest are dropped."""
        self.waiting.setdefault(kind, []).append(workspace)
        for oldest in list(self.waiting)[:-MOST_KINDS]:
            self.waiting.pop(oldest, None)


def once_per_system(function: Function) -> Function:
    """Compute a constant of a System, and of hashable arguments, once; `system.known` stores it.

    Two threads may do that at once, with the same result. The answer must never be written to.
    """

    @wraps(function)
    def known(system: System, *arguments: Hashable) -> Any:
        answers = system.known.setdefault(function.__qualname__, {})
        if (found := answers.get(arguments)) is None:
            found = answers[arguments] = function(system, *arguments)
            for oldest in list(answers)[:-MOST_KNOWN]:
                answers.pop(oldest, None)
        return found

    return known  # type: ignore[return-value]
