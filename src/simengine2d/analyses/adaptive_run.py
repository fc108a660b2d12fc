"""Dynamics with error control: explicit where that is possible, implicit where it must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formulations.sparse import solve, spread_of_pivots
from ..integrators import march
from ..integrators.marcher import CompiledMarcher, OdeMethod
from ..integrators.runge_kutta import RungeKutta
from .closure import coordinate_scale
from .general_run import CHATTER, WHY, OdeRun
from .implicit_run import AdaptiveImplicitRun
from .rank import rank_of_rows
from .run import STEPS_A_CHUNK, refill
from .start import LARGEST_EXAMINED

Floats = NDArray[np.float64]

NEARLY_SINGULAR = 1e5  # spread of the pivots near which steps collapse for that reason
# how far before and behind a singular pose a step is taken over it, in the time that one length or radian takes
BRIDGES = (3e-2, 1e-2, 3e-3)
SINGULAR = 3e-2  # smallest against largest singular value of the constraints from which on that is allowed
WEAKENED = 1e-2  # the same for the smallest eigenvalue of Phi_q M^-1 Phi_q^T, against what it was
CONCESSION = 1e6  # its error estimate is pessimistic, since some of its stages lie near the pose

_TOO_SMALL = (
    "the step became too small. Look for a singular pose, or a force that jumps or grows without bound."
)


class AdaptiveRun(OdeRun):
    """Error-controlled explicit steps on the index-1 equations.

    Where these equations are stiff, error-controlled implicit steps take over; where
    they are singular, one long step leads over the singular pose.
    """

    method: RungeKutta
    marcher: CompiledMarcher

    def begin(self) -> None:
        super().begin()
        self.implicit: AdaptiveImplicitRun | None = None
        self.bridged_at = -np.inf
        self.counts = [0, 0, 0]  # of steps, rejected steps and evaluations before the last singular pose
        # (t, y) row by row, from which a singular pose can be approached again
        self.earlier = self.row_of(self.t, self.marcher.y)

    def new_marcher(self, method: OdeMethod, **options: Any) -> CompiledMarcher:
        marcher = super().new_marcher(method, watch=True, **options)
        assert isinstance(marcher, CompiledMarcher)
        return marcher

    def in_words(self) -> str:
        return f"integrated by {self.method.name}, for smooth motions, with rtol = {self.task.rtol:g}"

    def advance(self, most_steps: int) -> None:
        if self.implicit is not None:
            self.implicit.advance(most_steps)
            self.done = self.implicit.done
            return
        most_steps = self.attempts_left(most_steps)
        first = self.done
        self.done, why = self.marcher.march(self.times, first, self.Y, most_steps)
        self.recover(first, self.done)
        if why == march.TOO_STIFF:
            self.notes.append(
                f"at t = {self.t:.6g} s the motion is stiff; the implicit method esdirk4 with error control goes on"
            )
            self.turn_implicit()
        elif why == march.STEP_TOO_SMALL or (why == march.COLLAPSED and self.near_a_singular_pose()):
            self.bridge()
        elif why in WHY or why == march.JUMPS:
            self.refuse(why)
        elif (attempts := self.attempts) > 0 and attempts % STEPS_A_CHUNK == 0:
            if self.chatters():
                raise self.failure(CHATTER)
            self.earlier = np.vstack([self.earlier[-1:], self.row_of(self.t, self.marcher.y)])

    def attempts_left(self, most_steps: int) -> int:
        """Up to the end of the chunk: pauses come at the same steps, whether a run was interrupted or not."""
        return min(most_steps, STEPS_A_CHUNK - self.attempts % STEPS_A_CHUNK)

    @property
    def attempts(self) -> int:
        return self.marcher.steps + int(self.marcher.path.state[march.REJECTED])

    def chatters(self) -> bool:
        """Whether the last chunk of steps got nowhere: tiny steps, many of them refused, no end in sight."""
        went, longest = self.t - self.earlier[-1, 0], self.marcher.path.state[march.LONGEST]
        span = self.span
        refused = self.marcher.path.state[march.REJECTED] / self.attempts
        tiny = went / STEPS_A_CHUNK < 1e-3 * longest or longest < 1e-6 * span
        return bool(self.done < self.times.size and went < 1e-4 * span and tiny and refused > 0.15)

    # stiff motions

    def turn_implicit(self) -> None:
        """Hand the run over; times, outputs and events stay the same."""
        implicit = AdaptiveImplicitRun(self.task, self.start, (self.t, *self.state))
        implicit.go_on_in(self.times, self.history, self.done)
        self.implicit = implicit

    @property
    def t(self) -> float:
        return self.implicit.t if self.implicit is not None else super().t

    @property
    def state(self) -> tuple[Floats, Floats]:
        return self.implicit.state if self.implicit is not None else super().state

    @property
    def tried(self) -> int:
        return super().tried + (self.implicit.tried if self.implicit is not None else 0)

    @property
    def step_ahead(self) -> float:
        return self.implicit.step_ahead if self.implicit is not None else super().step_ahead

    @property
    def outputs_per_step(self) -> float:
        return self.implicit.outputs_per_step if self.implicit is not None else super().outputs_per_step

    @property
    def can_go_back(self) -> bool:
        return self.implicit is None

    def make_room(self, later: Floats) -> None:
        super().make_room(later)
        if self.implicit is not None:
            self.implicit.go_on_in(self.times, self.history, self.done)

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

    def near_a_singular_pose(self) -> bool:
        """Whether the multipliers of the step that was refused could hardly be solved for."""
        context = self.posed.rhs.kept[1]
        return bool(spread_of_pivots(context.D, self.system.n, context.w.v) > NEARLY_SINGULAR)

    def nearly_singular(self) -> bool:
        """Whether the constraints are about to lose rank; a force that jumps must not be stepped over."""
        q = self.state[0]
        if self.start.regular:
            poses = [self.start.assembly.q, *self.earlier[:, 1 : 1 + q.size]]
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
        n, c, size = self.system.n, np.linspace(1.0, 2.0, self.system.m), 1.0
        solved, x = solve.beside(self.posed.rhs), np.zeros(self.system.n + self.system.m)
        for _ in range(10):
            c /= np.linalg.norm(c)
            solved(self.t, np.concatenate([q, np.zeros(n), c]), x)
            c = x[n:].copy()
            size = float(np.linalg.norm(c))
        return 1.0 / size if size > 0.0 else np.inf

    def step_over(self, before: float, behind: float) -> bool:
        """Integrate anew up to `before`, then go to `behind` in one step; False where that leads nowhere."""
        earlier = self.earlier[self.earlier[:, 0] < before]
        if not earlier.size:
            return False
        there, clean = self.rows(1), self.marcher_until(before, earlier[-1, 0], earlier[-1, 1:])
        if clean.march(np.array([before]), 0, there, 10**6)[0] == 0:
            return False
        size = self.y0.size
        long = self.marcher_until(behind, before, there[0, :size], CONCESSION)
        long.path.state[march.STEP] = behind - before
        inside = int(np.searchsorted(self.times, behind))
        times = np.append(self.times[self.done : inside], behind)
        Y = self.rows(times.size)
        row, _ = long.march(times, 0, Y, 2)
        missed = long.path.notes[0] > 1e-4 * self.system.length
        if row < times.size or long.counts()["rejected steps"] or missed:
            return False
        self.posed.notes[:2] = np.maximum(self.posed.notes[:2], long.path.notes[:2])
        self.Y[self.done : inside] = Y[:-1]
        self.recover(self.done, inside)
        self.done = inside
        self.counts = list(self.statistics().values())[:3]
        self.marcher.restart(behind, Y[-1, :size], self.local, self.atol)
        self.earlier = self.row_of(behind, Y[-1, :size])
        return True

    def marcher_until(self, end: float, t: float, y: Floats, concession: float = 1.0) -> CompiledMarcher:
        """Another integration from (t, y) on, whose last step ends at `end`."""
        return self.new_marcher(
            self.method, t0=t, y0=y, span=(t, end), notes=np.zeros_like(self.posed.notes),
            rtol=concession * self.local, atol=concession * self.atol,
        )  # fmt: skip

    def row_of(self, t: float, y: Floats) -> Floats:
        return np.concatenate([[t], y])[None]

    def rows(self, count: int) -> Floats:
        return np.zeros((count, self.Y.shape[1]))

    # what is reported and kept

    @property
    def worst(self) -> Floats:
        worst = super().worst
        return worst if self.implicit is None else np.maximum(worst, self.implicit.worst)

    def statistics(self) -> dict[str, int]:
        (steps, rejected, evaluations), state = self.counts, self.marcher.path.state
        counts = {
            "steps": steps + self.marcher.steps,
            "rejected steps": rejected + int(state[march.REJECTED]),
            "evaluations": evaluations + int(state[march.EVALUATIONS]),
        }
        if self.implicit is not None:
            counts["implicit steps"] = self.implicit.statistics()["steps"]
        return counts

    def checkpoint(self) -> dict[str, Floats]:
        saved = super().checkpoint()
        saved["bridged"] = np.array([self.bridged_at, *self.counts])
        saved["earlier"] = self.earlier
        if self.implicit is not None:
            saved |= {f"implicit_{name}": array for name, array in self.implicit.checkpoint().items()}
        return saved

    def restore(self, saved: dict[str, Floats]) -> None:
        super().restore(saved)
        bridged = np.empty(1 + len(self.counts))
        refill({"bridged": bridged}, saved)
        self.bridged_at, *counts = bridged.tolist()
        self.counts = [int(count) for count in counts]
        if saved["earlier"].shape[1:] != self.earlier.shape[1:]:
            raise ValueError(f"earlier has the shape {saved['earlier'].shape}")
        self.earlier = saved["earlier"]
        implicit = {
            name.removeprefix("implicit_"): array
            for name, array in saved.items()
            if name.startswith("implicit_")
        }
        if implicit:
            self.turn_implicit()
            assert self.implicit is not None
            self.implicit.restore(implicit)
