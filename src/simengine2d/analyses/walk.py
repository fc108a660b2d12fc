"""One run of kinematics: the compiled march, and what Python does where it stops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import ConvergenceError, Interrupted, ModelError, SimEngineError, SingularityError, listed
from ..results import Results
from ..sparse_lu import Pattern, analyze, factor
from ..system import System
from .assemble import Assembly
from .change_point import Crossing, cross
from .closure import coordinate_scale
from .diagnose import names_of_rows
from .march import (
    ACCEPTED,
    CONTRADICTION,
    DETERMINANT,
    DONE,
    NEAR_SINGULAR,
    REJECTED,
    REPIVOT,
    TIME,
    march,
    new_motion,
    new_walker,
)
from .run import Progress

Floats = NDArray[np.float64]

FIRST_CHUNK = 256  # output points between two calls of `progress`; doubled while the run is fast


def row_pattern(system: System, t: float, q: Floats, rows: NDArray[np.int64]) -> Pattern | None:
    arrays, data = system.arrays, system.Phi_q_data(q, t)
    return analyze(rows, arrays.jac_start, arrays.jac_column, data, coordinate_scale(system))


def pivots_at(system: System, t: float, q: Floats, pattern: Pattern | None) -> tuple[float, float, float]:
    """Smallest relative pivot, growth and sign at q."""
    if pattern is None:
        return 0.0, 0.0, 0.0
    lu, work = np.empty(pattern.columns.size), np.empty(system.n)
    return factor(pattern, system.Phi_q_data(q, t), lu, work)


class Walk:
    """One run: the compiled march, and what Python does where it stops."""

    def __init__(
        self,
        system: System,
        assembly: Assembly,
        rows: NDArray[np.int64],
        times: Floats,
        progress: Progress | None,
    ) -> None:
        self.system, self.rows, self.times, self.progress = system, rows, times, progress
        self.motion = new_motion(times.size, system.n)
        self.notes = list(assembly.moves)  # the drivers alone decide the velocities
        self.scale = coordinate_scale(system)
        self.done = 0
        self.near_known = 0
        self.substeps = self.rejected = 0
        self.start_from(times[0], assembly.q)

    @property
    def t(self) -> float:
        return float(self.walker.state[TIME])

    @property
    def smallest_step(self) -> float:
        span = self.times[-1] - self.times[0]
        return 1e-10 * float(span) if span > 0.0 else 1e-10

    def start_from(self, t: float, q: Floats) -> None:
        """Choose pivots for the pose and stand there."""
        system = self.system
        pattern = row_pattern(system, t, q, self.rows)
        if pattern is None:
            raise SingularityError(
                self.singular_message(t, q, "stands in a singular pose"), self.results("singular")
            )
        self.pattern = pattern
        self.walker = new_walker(system.arrays, pattern, t, q, self.scale, system.length)
        self.walker.state[DETERMINANT] = pivots_at(system, t, q, pattern)[2]

    def run(self) -> Results:
        chunk = FIRST_CHUNK
        try:
            while self.done < self.times.size:
                self.advance(min(self.done + chunk, self.times.size))
                if self.progress is not None:
                    self.progress(self.t)
                chunk = min(2 * chunk, 1 << 16)
        except KeyboardInterrupt:
            status = f"interrupted at t = {self.t:g} s"
            kept = f"{self.done} of {self.times.size} points are kept"
            raise Interrupted(f"{status}; {kept}.", self.results(status)) from None
        return self.results(f"kinematics finished at t = {self.times[-1]:g} s, {self.times.size} points")

    def advance(self, stop: int) -> None:
        """March to output row `stop`, choosing new pivots and crossing change points on the way."""
        pivots_chosen_at = -np.inf
        while self.done < stop:
            self.done, why = march(
                self.system.arrays, self.pattern, self.walker, self.times, self.done, stop, self.motion,
                self.smallest_step, self.near_known,
            )  # fmt: skip
            if why == DONE:
                return
            if why == REPIVOT and self.t > pivots_chosen_at:
                pivots_chosen_at = self.t
                self.start_anew(self.t, self.walker.q)
            elif why == CONTRADICTION:
                raise self.contradiction()
            else:
                self.pass_singularity(why)

    def start_anew(self, t: float, q: Floats) -> None:
        self.substeps += int(self.walker.state[ACCEPTED])
        self.rejected += int(self.walker.state[REJECTED])
        self.start_from(t, q)

    def pass_singularity(self, why: int) -> None:
        """Go on smoothly behind a change point, or report the dead point."""
        crossing = cross(self)
        if crossing is not None:
            self.follow(crossing)
        elif why == NEAR_SINGULAR:  # on the way to a dead point: go as far as possible
            self.near_known = self.done + 1
        else:
            raise self.broken_driver() or self.dead_point()

    def follow(self, crossing: Crossing) -> None:
        """Fill the outputs inside the crossing and go on behind it."""
        first = int(np.searchsorted(self.times, crossing.before.t))
        self.done = int(np.searchsorted(self.times, crossing.after.t, side="right"))
        for k in range(first, self.done):
            self.motion.Q[k], self.motion.Qd[k], self.motion.Qdd[k] = crossing.at(self.times[k])
        self.start_anew(crossing.after.t, crossing.after.q)
        self.notes.append(
            f"at t = {crossing.t:.6g} s the mechanism passes a change point, where another branch begins; "
            "the motion was continued smoothly"
        )

    # what went wrong

    def broken_driver(self) -> SimEngineError | None:
        """The error of a function that has no value, or jumps, just behind the last good time."""
        t, ahead = self.t, 2 * self.smallest_step
        results = self.results(f"stopped at t = {t:g} s")
        kept = f"The {self.done} points before it are kept."
        sentence = (
            self.system.broken_function(t)
            or self.system.broken_function(t + ahead)
            or self.system.broken_contact(t, self.walker.q)
        )
        if sentence:
            return ConvergenceError(f"{sentence} {kept}", results)
        before, after = self.system.functions_at(t), self.system.functions_at(t + ahead)
        jumps = after[:, 0] - before[:, 0] - ahead * before[:, 1]
        allowed = 1e-6 * self.system.length + ahead * np.abs(after[:, 1] - before[:, 1])
        for i in np.flatnonzero(np.abs(jumps) > allowed):
            title = self.system.model.elements[self.system.rows[i][0]].title
            return ConvergenceError(
                f"{title} jumps by {jumps[i]:.4g} just after t = {t:.9g} s, which no body can follow. {kept} "
                "Use a ramp or a smooth rise such as step5(t, t0, h0, t1, h1).",
                results,
            )
        return None

    def contradiction(self) -> SimEngineError:
        """Redundant rows were not used to find the motion, and here they disagree with it."""
        t = self.t
        errors = np.abs(self.system.Phi(t, self.walker.q))
        row = int(np.argmax(errors))
        return ModelError(
            f"at t = {t:g} s the redundant constraints contradict each other: {self.system.row_names[row]} is "
            f"violated by {errors[row]:.3g}. Check the lengths and drivers, or remove one of the dependent joints; "
            "diagnose(model) names them.",
            self.results(f"stopped at t = {t:g} s"),
        )

    def dead_point(self) -> SingularityError:
        message = self.singular_message(self.t, self.walker.q, "reaches a dead point")
        return SingularityError(message, self.results(f"stopped at a dead point at t = {self.t:.9g} s"))

    def singular_message(self, t: float, q: Floats, what: str) -> str:
        """Which rows became dependent at the pose, and who drives."""
        names = listed(names_of_rows(self.system, self.nearly_dependent_rows(t, q)))
        drivers = [name for name, joint in self.system.model.joints.items() if joint.drives]
        who = f" The driver {listed(drivers)} cannot go further." if drivers else ""
        return (
            f"at t = {t:.9g} s the mechanism {what}: {names} became dependent.{who} "
            f"The {self.done} points before it are kept. Drive another body, or end before that time."
        )

    def nearly_dependent_rows(self, t: float, q: Floats) -> list[int]:
        J = (self.system.Phi_q(t, q) * self.scale)[self.rows]
        norms = np.linalg.norm(J, axis=1, keepdims=True)
        left = np.abs(np.linalg.svd(J / np.where(norms > 0.0, norms, 1.0))[0][:, -1])
        return [int(self.rows[i]) for i in np.flatnonzero(left > 0.2 * left.max())]

    def results(self, status: str) -> Results:
        k, motion, state = self.done, self.motion, self.walker.state
        return Results(
            self.system.model,
            self.times[:k].copy(),
            motion.Q[:k],
            motion.Qd[:k],
            motion.Qdd[:k],
            analysis="kinematics",
            status=status,
            notes=self.notes,
            residuals=dict(
                zip(("position", "velocity", "acceleration"), map(float, motion.worst), strict=True)
            ),
            statistics={
                "substeps": self.substeps + int(state[ACCEPTED]),
                "rejected steps": self.rejected + int(state[REJECTED]),
            },
        )
