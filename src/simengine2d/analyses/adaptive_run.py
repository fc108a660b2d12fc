"""Dynamics with error control: explicit where that is possible, implicit where it must be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..equations import solve_at
from ..formulations import index1
from ..formulations.index1 import Limits
from ..formulations.index3 import History
from ..integrators.runge_kutta import Runner
from ..results import Results
from .closure import coordinate_scale
from .explicit_run import ExplicitRun
from .implicit_run import AdaptiveImplicitRun
from .rank import rank_of_rows
from .run import STEPS_A_CHUNK, new_history
from .start import LARGEST_EXAMINED, Start
from .task import Task

Floats = NDArray[np.float64]

LOCAL = 0.1  # error allowed in one step, against `rtol` for the whole motion: errors of many steps add up
# how far before and behind a singular pose a step is taken over it, in the time that one length or radian takes
BRIDGES = (3e-2, 1e-2, 3e-3)
SINGULAR = 3e-2  # smallest against largest singular value of the constraints from which on that is allowed
WEAKENED = 1e-2  # the same for the smallest eigenvalue of Phi_q M^-1 Phi_q^T, against what it was
CONCESSION = 1e6  # its error estimate is pessimistic, since some of its stages lie near the pose

_TOO_SMALL = (
    "the step became too small. Look for a singular pose, or a force that jumps or grows without bound."
)

_CHATTER = (
    "thousands of tiny steps led nowhere. Look for a force that jumps back and forth, such as sign(v) at rest; "
    "a steep smooth law such as tanh(v/0.001) can be integrated."
)


class AdaptiveRun(ExplicitRun):
    """Error-controlled explicit steps on the index-1 equations.

    Where these equations are stiff, error-controlled generalized-alpha steps on the index-3 equations take over; where
    they are singular, one long step leads over the singular pose.
    """

    def __init__(self, task: Task, start: Start) -> None:
        assert task.integrator is not None
        super().__init__(task, start, task.integrator, LOCAL * task.rtol)
        self.implicit: AdaptiveImplicitRun | None = None
        self.bridged_at = -np.inf
        self.counts = np.zeros(3)  # of steps, rejected steps and evaluations before the last singular pose
        self.earlier = [
            (self.t, self.r.y.copy())
        ]  # states from which a singular pose can be approached again
        self.notes.append(
            f"integrated by {task.integrator.name}, for smooth motions, with rtol = {task.rtol:g}"
        )

    def advance(self, most_steps: int) -> None:
        if self.implicit is not None:
            self.implicit.advance(most_steps)
            self.done = self.implicit.done
            return
        most_steps = self.attempts_left(most_steps)
        self.done, why = self.integrate(self.r, self.limits, self.times, self.done, self.history, most_steps)
        if why == index1.TOO_STIFF:
            self.notes.append(
                f"at t = {self.t:.6g} s the motion is stiff; generalized_alpha with error control goes on"
            )
            self.turn_implicit()
        elif why == index1.STEP_TOO_SMALL:
            self.bridge()
        elif self.attempts > 0 and self.attempts % STEPS_A_CHUNK == 0:
            if self.chatters():
                raise self.failure(_CHATTER)
            self.earlier = [*self.earlier[-1:], (self.t, self.r.y.copy())]

    def chatters(self) -> bool:
        """Whether the last chunk of steps got nowhere: tiny steps, many of them refused, no end in sight."""
        went, longest = self.t - self.earlier[-1][0], self.r.state[index1.LONGEST]
        span = float(self.times[-1] - self.times[0])
        refused = self.r.state[index1.REJECTED] / self.attempts
        tiny = went / STEPS_A_CHUNK < 1e-3 * longest or longest < 1e-6 * span
        return bool(self.done < self.times.size and went < 1e-4 * span and tiny and refused > 0.15)

    def integrate(
        self, r: Runner, limits: Limits, times: Floats, row: int, history: History, most_steps: int
    ) -> tuple[int, int]:
        """The next row to fill, and why it ended."""
        system = self.system
        row, why = index1.integrate(
            system.arrays, system.load_arrays, self.d, self.T, r, limits, times, row, history, most_steps, self.w
        )  # fmt: skip
        return row, why

    # stiff motions

    def turn_implicit(self) -> None:
        """Hand the run over; times, outputs and events stay the same."""
        implicit = AdaptiveImplicitRun(self.task, self.start, (self.t, *self.state))
        implicit.times, implicit.history, implicit.done = self.times, self.history, self.done
        self.implicit = implicit

    @property
    def t(self) -> float:
        return self.implicit.t if self.implicit is not None else super().t

    @property
    def state(self) -> tuple[Floats, Floats]:
        return self.implicit.state if self.implicit is not None else super().state

    @property
    def step_end(self) -> float:
        return self.implicit.step_end if self.implicit is not None else super().step_end

    def between(self, t: float) -> tuple[Floats, Floats]:
        return self.implicit.between(t) if self.implicit is not None else super().between(t)

    def end_at(self, t: float) -> None:
        if self.implicit is None:
            super().end_at(t)
            return
        self.implicit.end_at(t)
        self.times, self.history, self.done = self.implicit.times, self.implicit.history, self.implicit.done

    # singular poses

    def bridge(self) -> None:
        """One long step over a singular pose.

        There the accelerations lose their digits, and no step is short enough. The motion itself is smooth, so a
        step that begins and ends well away from the pose is as exact as any other.
        """
        t = self.t
        if t <= self.bridged_at or not self.nearly_singular() or self.system.broken_force(t, *self.state):
            raise self.failure(_TOO_SMALL)
        speed = float(np.abs(self.state[1] / coordinate_scale(self.system)).max()) / self.system.length
        for reach in BRIDGES:
            width = reach / speed if speed > 0.0 else reach
            pose = self.time_of_the_pose(0.1 * width)
            if abs(pose - t) < width and self.step_over(pose - width, pose + width):
                self.bridged_at = t
                self.notes.append(f"at t = {pose:.6g} s a singular pose was passed in one step")
                return
        raise self.failure(_TOO_SMALL)

    def time_of_the_pose(self, lag: float) -> float:
        """Where the smallest singular value, the root of `weakest`, would pass zero if it went on as it does now."""
        q, qd = self.state
        now, before = np.sqrt(self.weakest(q)), np.sqrt(self.weakest(q - lag * qd))
        return self.t + float(now) * lag / float(before - now) if before != now else self.t

    def nearly_singular(self) -> bool:
        """Whether the constraints are about to lose rank; a force that jumps must not be stepped over."""
        q = self.state[0]
        if self.start.regular:
            poses = [self.start.assembly.q, *(y[: q.size] for _, y in self.earlier)]
            usual = max(self.weakest(pose) for pose in poses)
            return self.weakest(q) < WEAKENED * usual
        if self.system.n > LARGEST_EXAMINED:
            return False
        J = self.system.Phi_q(self.t, q) * coordinate_scale(self.system)
        norms = np.linalg.norm(J, axis=1, keepdims=True)
        sizes = np.linalg.svd(J / np.where(norms > 0.0, norms, 1.0), compute_uv=False)
        return bool(sizes[rank_of_rows(J).rank - 1] < SINGULAR * sizes[0])

    def weakest(self, q: Floats) -> float:
        """The smallest eigenvalue of Phi_q M^-1 Phi_q^T, by inverse iteration."""
        c, size = np.linspace(1.0, 2.0, self.system.m), 1.0
        for _ in range(10):
            c /= np.linalg.norm(c)
            solve_at(self.system.arrays, self.d, self.t, q, np.zeros(self.system.n), c, self.w)
            c = self.w.x[self.system.n :].copy()
            size = float(np.linalg.norm(c))
        return 1.0 / size if size > 0.0 else np.inf

    def step_over(self, before: float, behind: float) -> bool:
        """Integrate anew up to `before`, then go to `behind` in one step; False where that leads nowhere."""
        earlier = [state for state in self.earlier if state[0] < before]
        if not earlier:
            return False
        clean, limits = self.runner(*earlier[-1]), self.limits_until(before)
        row, _ = self.integrate(clean, limits, np.array([before]), 0, self.rows(1), 10**6)
        if row == 0:
            return False
        long, limits = self.runner(before, clean.new, CONCESSION), self.limits_until(behind)
        long.state[index1.STEP] = behind - before
        inside = int(np.searchsorted(self.times, behind))
        times = np.append(self.times[self.done : inside], behind)
        history = self.rows(times.size)
        row, _ = self.integrate(long, limits, times, 0, history, 2)
        if (
            row < times.size
            or long.state[index1.REJECTED] > 0.0
            or limits.worst[0] > 1e-4 * self.system.length
        ):
            return False
        self.limits.worst[:] = np.maximum(self.limits.worst, limits.worst)
        for target, source in zip(self.history, history, strict=True):
            target[self.done : inside] = source[:-1]
        self.done = inside
        self.counts = np.array(list(self.statistics().values())[:3], dtype=float)
        self.r = self.runner(behind, long.new)
        self.earlier = [(behind, self.r.y.copy())]
        return True

    def limits_until(self, t: float) -> Limits:
        """Limits under which a step ends at t."""
        return self.limits._replace(span=np.array([t, t]), worst=np.zeros(3))

    def rows(self, count: int) -> History:
        return new_history(count, self.system.n, self.system.m)

    # what is reported and kept

    def results(self, status: str) -> Results:
        singular = self.r.state[index1.SINGULAR_AT]
        if np.isfinite(singular) and self.start.regular:
            where = f"at the output t = {singular:g} s the constraints lose rank"
            self.notes = [*self.notes, f"{where}; accelerations and reactions there mean little"]
        return super().results(status)

    @property
    def worst(self) -> Floats:
        return (
            self.limits.worst if self.implicit is None else np.maximum(self.limits.worst, self.implicit.worst)
        )

    def statistics(self) -> dict[str, int]:
        now = super().statistics()
        counts = {
            name: count + int(more) for (name, count), more in zip(now.items(), self.counts, strict=True)
        }
        if self.implicit is not None:
            counts["implicit steps"] = self.implicit.statistics()["steps"]
        return counts

    def checkpoint(self) -> dict[str, Floats]:
        saved = super().checkpoint()
        saved["bridged_at"], saved["counts"] = np.array(self.bridged_at), self.counts
        saved["earlier_t"] = np.array([t for t, _ in self.earlier])
        saved["earlier_y"] = np.array([y for _, y in self.earlier])
        if self.implicit is not None:
            saved |= {f"implicit_{name}": array for name, array in self.implicit.checkpoint().items()}
        return saved

    def restore(self, saved: dict[str, Floats]) -> None:
        super().restore(saved)
        self.bridged_at, self.counts = float(saved["bridged_at"]), saved["counts"]
        self.earlier = [(float(t), y) for t, y in zip(saved["earlier_t"], saved["earlier_y"], strict=True)]
        implicit = {
            name.removeprefix("implicit_"): array
            for name, array in saved.items()
            if name.startswith("implicit_")
        }
        if implicit:
            self.turn_implicit()
            assert self.implicit is not None
            self.implicit.restore(implicit)
