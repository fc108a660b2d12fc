"""A run of dynamics: outputs in chunks, progress, and keeping what was finished."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..equations import D, Work, new_work
from ..errors import ConvergenceError, Interrupted, SimEngineError, listed
from ..formulations.index3 import History
from ..posing import build
from ..results import Results
from ..system import System
from .assemble import Assembly

Floats = NDArray[np.float64]
Progress = Callable[[float], None]
"""Called now and then with the simulated time."""

LARGEST_EXAMINED = 900  # coordinates up to which the rank of the constraints is examined
STEPS_A_CHUNK = 2_000  # between two calls of `progress`; Python hears Ctrl-C only then


class Run(ABC):
    """What all runs share. `redundant` names the constraints whose reactions are not unique."""

    def __init__(
        self, system: System, assembly: Assembly, times: Floats, redundant: list[str], *, tangent: bool
    ) -> None:
        self.system, self.times, self.redundant = system, times, redundant
        # the rank of large systems is not examined: their constraints are treated as if some were redundant
        self.d: D = build(system, bool(redundant) or system.n > LARGEST_EXAMINED, tangent)
        self.w: Work = new_work(system, self.d)
        self.history = new_history(times.size, system)
        self.done = 0
        self.notes = list(assembly.notes)
        if redundant:
            self.notes.append(
                f"the reactions of {listed(redundant)} are not unique, since these constraints are redundant; "
                "the smallest ones are given"
            )

    @property
    @abstractmethod
    def t(self) -> float:
        """The time reached."""

    @property
    @abstractmethod
    def state(self) -> tuple[Floats, Floats]:
        """q and qd at that time."""

    @abstractmethod
    def advance(self) -> None:
        """Go on for a chunk of steps."""

    @abstractmethod
    def residuals(self) -> dict[str, float]: ...

    @abstractmethod
    def statistics(self) -> dict[str, int]: ...

    def to_the_end(self, progress: Progress | None) -> Results:
        try:
            while self.done < self.times.size:
                self.advance()
                if progress is not None:
                    progress(self.t)
        except KeyboardInterrupt:
            status = f"interrupted at t = {self.t:g} s"
            kept = f"{self.done} of {self.times.size} points are kept"
            raise Interrupted(f"{status}; {kept}.", self.results(status)) from None
        return self.results(f"dynamics finished at t = {self.times[-1]:g} s, {self.times.size} points")

    def failure(self, what: str) -> SimEngineError:
        """The error for a step that cannot be taken; a force that has no value is named first."""
        t = self.t
        results = self.results(f"stopped at t = {t:g} s")
        kept = f"The {self.done} points before it are kept."
        ahead = t + 1e-6 * float(self.times[-1] - self.times[0])
        broken = (
            self.system.broken_function(t)
            or self.system.broken_force(t, *self.state)
            or self.system.broken_function(ahead)
            or self.system.broken_force(ahead, *self.state)
        )
        if broken:
            return ConvergenceError(f"{broken} {kept}", results)
        return ConvergenceError(f"at t = {t:.9g} s {what} {kept}", results)

    def results(self, status: str) -> Results:
        k, h = self.done, self.history
        return Results(
            self.system.model,
            self.times[:k].copy(),
            h.Q[:k],
            h.Qd[:k],
            h.Qdd[:k],
            h.Lam[:k],
            analysis="dynamics",
            status=status,
            notes=self.notes,
            residuals=self.residuals(),
            statistics=self.statistics(),
        )


def new_history(times: int, system: System) -> History:
    Q, Qd, Qdd = (np.zeros((times, system.n)) for _ in range(3))
    return History(Q, Qd, Qdd, np.zeros((times, system.m)))
