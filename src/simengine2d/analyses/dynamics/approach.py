"""The way up to a singular pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Floats

if TYPE_CHECKING:
    from .bridge import Bridge

FINEST, COARSEST = 1e-10, 1e-6  # tolerance of the steps, which need not be much better than those of the run


class Approach:
    """The motion towards a pose, in short steps from a state in which the run has been; `lost` if these fail."""

    def __init__(self, bridge: Bridge, known: list[tuple[float, Floats, Floats]], rtol: float) -> None:
        """`known` are states of the run, in their order."""
        self.bridge, self.known, self.earliest = bridge, known, known[0][0] if known else np.inf
        self.tolerance = min(max(FINEST, 0.1 * rtol), COARSEST)
        self.begin = self.end = np.inf
        self.first = np.zeros(0)  # the state at `begin`
        self.lost = False

    def begin_before(self, t: float, latest: float) -> bool:
        """Begin at t or earlier, or else at most at `latest`; False if the run has not been anywhere then."""
        if self.begin <= t:
            return True
        possible = [state for state in self.known if state[0] <= t] or self.known[:1]
        begin, q, qd = possible[-1]
        if begin > max(t, latest):
            return False
        if begin != self.begin:
            self.begin, self.first = begin, self.bridge.held(begin, np.concatenate([q, qd]))
            self.restart()
        return True

    def restart(self) -> None:
        steps = self.bridge.up_to
        steps.path.notes[:] = 0.0
        steps.restart(self.begin, self.first, self.tolerance, self.tolerance * self.bridge.scale)
        steps.store_steps()
        self.end, self.bridge.approach = self.begin, self

    def go_to(self, t: float) -> bool:
        """Whether steps lead to t."""
        steps = self.bridge.up_to
        if self.bridge.approach is not self:
            self.restart()
        if t > self.end:
            steps.go_no_further(t)
            if self.bridge.states_at(steps, np.array([t])) is None:
                self.lost, self.begin = True, np.inf
                return False
            self.end = t
        return True

    def states(self, times: Floats) -> Floats | None:
        """The states at some times; None if one is not reached."""
        if not self.begin_before(float(times[0]), -np.inf) or not self.go_to(float(times[-1])):
            return None
        steps, size = self.bridge.up_to, self.first.size
        if steps.has_room:
            return steps.look_back(times)[:, :size]
        return self.bridge.integrate(self.begin, self.first, times)

    def state(self, t: float) -> Floats | None:
        """The state at a time, on the constraints."""
        states = self.states(np.array([t]))
        return None if states is None else self.bridge.held(t, states[0])
