"""What a System keeps for later: workspaces that are idle, and constants that were worked out for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .system import System

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_KINDS = 16  # of workspaces that wait
MOST_KNOWN = 16  # arguments for which a constant is known


class Pool:
    """Workspaces between two uses. Each has one user at a time; threads may take and give at once, without a lock."""

    def __init__(self) -> None:
        self.waiting: dict[Hashable, list[Any]] = {}

    def take(self, kind: Hashable) -> Any:
        """One that is idle; None where there is none."""
        try:
            return self.waiting[kind].pop()
        except (KeyError, IndexError):
            return None

    def give(self, kind: Hashable, workspace: Any) -> None:
        """It is idle again; where too many kinds wait, the oldest are left to go."""
        self.waiting.setdefault(kind, []).append(workspace)
        for oldest in list(self.waiting)[:-MOST_KINDS]:
            self.waiting.pop(oldest, None)


def once_per_system(function: Function) -> Function:
    """Work out a constant of a System, and of hashable arguments, once; `system.known` keeps it.

    Two threads may do that at once; both find the same. The answer must never be written.
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
