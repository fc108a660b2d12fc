"""Runs that watch for singular poses."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from ...coordinates.base import Family
from ..singular_poses import RankWatch, can_lose_rank
from .bridge import Bridge
from .passing import Passing
from .run import Run

Floats = NDArray[np.float64]


class WatchedRun(Run):
    """What `Passing` needs of a run: to store its state, to take it back, and to restart it."""

    family: Family
    rank: RankWatch | None
    """The watch over its constraints; None if they are always independent."""
    passing: Passing
    bridge: Bridge | None = None
    """The passage through singular poses, once there was one."""

    def watch_over(self, family: Family) -> None:
        """Watch for singular poses in the coordinates of a family."""
        self.family = family
        watched = can_lose_rank(self.system)
        self.rank = RankWatch(self.system, family, self.start.regular) if watched else None
        self.passing = Passing(self)

    @property
    def looks_at_steps(self) -> bool:
        """Whether its step loop examines the constraints itself."""
        return True

    @property
    def keeps(self) -> bool:
        """Whether the integration can be saved and resumed."""
        return True

    @abstractmethod
    def kept(self) -> dict[str, Floats]:
        """The arrays that make up the state of the integration."""

    def put_back(self, saved: dict[str, Floats]) -> None:
        for name, array in self.kept().items():
            array[...] = saved[name]

    @abstractmethod
    def go_on_at(self, t: float, q: Floats, qd: Floats) -> None:
        """Restart in a state of the bodies."""

    @abstractmethod
    def steps_again(self, before: float, count: int) -> int:
        """Some steps that were taken before, about up to a time. Returns why they ended, as `march` does."""

    @abstractmethod
    def coordinates_between(self, t: float) -> Floats:
        """(z, zd) at a time inside the last step."""

    def bodies(self, t: float, y: Floats) -> tuple[Floats, Floats]:
        """q and qd of (z, zd)."""
        n = self.family.n
        found = self.family.bodies(t, y[:n], y[n : 2 * n], np.zeros(n))
        return found.q, found.qd

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Steps and their cost, since the integration began or was restarted."""

    def statistics(self) -> dict[str, int]:
        return self.passing.with_counts_before(self.counts())
