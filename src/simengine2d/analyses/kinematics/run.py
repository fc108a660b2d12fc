"""One run of kinematics: the compiled loop, and how Python handles its interruptions."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import (
    Caution,
    ConvergenceError,
    Interrupted,
    ModelError,
    SimEngineError,
    SingularityError,
    listed,
)
from ...numerics.arrays import Floats
from ...numerics.interrupts import Interrupts
from ...numerics.rank import row_space
from ...results.results import Results
from ...system.failures import broken_contact, broken_function
from ...system.system import System
from ..assembly.closure import coordinate_scale
from ..assembly.diagnose import names_of_rows
from ..dynamics.run import Progress
from ..times import Pace
from .change_point import SmoothPassage, cross
from .passage import Passage, branches_in_words
from .solver import Solver, method_in_words, solver_at
from .stepper import (
    ACCEPTED,
    ALERT,
    BUDGET,
    CONTRADICTION,
    DISTANCE,
    DONE,
    ENDED,
    FALL,
    LAST_STEP,
    NEXT,
    PAUSE,
    REJECTED,
    REPIVOT,
    SMALLEST,
    STOP,
    SUSPECT,
    TIME,
    Stepper,
    carry_levels,
)

FIRST_CHUNK = 256  # output points between two calls of `progress`; doubled while the run is fast
NEAREST = 1e-6  # rad or lengths: a singular pose is not examined from closer than this

SMALL_PIVOT = 1e-2  # at the start, below which a singular pose may be near

OnSingular = Literal["pass", "stop", "raise"]


class KinematicsRun:
    """One run: the compiled loop, and how Python handles its interruptions."""

    def __init__(
        self,
        system: System,
        solver: Solver,
        times: Floats,
        progress: Progress | None,
        on_singular: OnSingular = "pass",
        notes: list[str] | None = None,
    ) -> None:
        self.system, self.solver, self.times, self.progress = system, solver, times, progress
        self.on_singular = on_singular
        self.pace = Pace(system.n)
        self.interrupts = Interrupts(later=progress is None and not system.callbacks)
        self.stopped = ""
        self.change_points: list[float] = []
        self.motion = np.zeros((3, times.size, system.n))
        """q, qd and qdd."""
        self.worst = np.zeros(3)
        """The largest errors at the three levels."""
        self.notes = list(notes or [])
        self.scale = coordinate_scale(system)
        self.done = 0
        self.substeps = self.rejected = 0

    @property
    def stepper(self) -> Stepper:
        return self.solver.stepper

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows that determine the motion."""
        return self.solver.rows

    @property
    def t(self) -> float:
        return float(self.stepper.state[TIME])

    @property
    def distance(self) -> float:
        """The distance to the singular pose predicted by the determinant, in rad or lengths of the mechanism."""
        return float(self.stepper.state[DISTANCE])

    @property
    def smallest_step(self) -> float:
        return smallest_step(self.times)

    def start_from(self, t: float, q: Floats) -> None:
        """Start in another pose, with pivots chosen for it."""
        solver = solver_at(self.system, t, q, self.rows)
        if solver is None:
            raise SingularityError(
                self.singular_message(t, q, "is in a singular pose"), self.results("singular")
            )
        self.solver = solver

    def run(self) -> Results:
        try:
            with self.interrupts:
                self.go_on()
        except KeyboardInterrupt:
            status = f"interrupted at t = {self.t:g} s"
            done = f"{self.done} of {self.times.size} points are kept"
            raise Interrupted(f"{status}; {done}.", self.results(status)) from None
        if self.stopped:
            return self.results(self.stopped)
        return self.results(finished(self.times))

    def go_on(self) -> None:
        """All outputs, in chunks."""
        chunk = FIRST_CHUNK if self.progress is not None else self.times.size
        if self.solver.smallest_pivot < SMALL_PIVOT:
            self.examine()
        while self.done < self.times.size and not self.stopped:
            self.advance(min(self.done + chunk, self.times.size))
            if self.progress is not None:
                self.progress(self.t)
            chunk = min(2 * chunk, 1 << 16)

    def advance(self, stop: int) -> None:
        """Step to output row `stop`, choosing new pivots and crossing change points where necessary."""
        pivots_chosen_at = -np.inf
        while self.done < stop and not self.stopped:
            why = self.integrate_on(stop)
            if why == REPIVOT and self.t > pivots_chosen_at:
                pivots_chosen_at = self.t
                self.start_anew(self.t, self.stepper.q)
            elif why == SUSPECT:
                self.examine()
            elif why == CONTRADICTION:
                raise self.contradiction()
            elif why not in (DONE, PAUSE):
                self.end_of_motion()

    def integrate_on(self, stop: int) -> int:
        """Step for about as long as a user may wait for a response. Returns why it ended."""
        self.interrupts.check()
        state = self.stepper.state
        state[[BUDGET, NEXT, STOP, SMALLEST]] = self.pace.next(), self.done, stop, self.smallest_step
        self.solver.step(0.0, self.times, self.motion)
        self.done, self.worst = int(state[NEXT]), np.maximum(self.worst, self.stepper.worst)
        self.interrupts.check()
        if self.done < self.times.size:
            self.interrupts.begin()
        return int(state[ENDED])

    def start_anew(self, t: float, q: Floats) -> None:
        """Choose new pivots; what is known about the determinant remains valid if the pose is the same."""
        old = self.stepper
        self.substeps += int(old.state[ACCEPTED])
        self.rejected += int(old.state[REJECTED])
        self.start_from(t, q)
        carry_levels(old, self.stepper)
        if old.state[TIME] == t:
            self.stepper.fall[:] = old.fall
            for entry in (FALL, LAST_STEP, DISTANCE, ALERT):
                self.stepper.state[entry] = old.state[entry]

    def examine(self) -> None:
        """A singular pose is near: pass it smoothly if possible, else approach it further."""
        crossing = cross(self)
        if crossing is None or not self.follow(crossing):
            nearer = 0.1 * self.distance
            self.stepper.state[ALERT] = nearer if nearer > NEAREST else 0.0

    def follow(self, crossing: SmoothPassage) -> bool:
        """Fill the outputs inside the crossing and continue after it; False if the driver fails inside."""
        passage = Passage(crossing, self.t, self.times, self.smallest_step)
        if passage.broken:
            return False
        met = passage.met[:1] if self.on_singular != "pass" else passage.met
        end = met[0][0] if met and self.on_singular != "pass" else passage.end
        # an output at a change point may lie a rounding error after it
        reached = int(np.searchsorted(self.times, end + self.smallest_step, side="right"))
        first, self.done = self.done, max(self.done, reached)
        while first > 0 and abs(crossing.place(self.times[first - 1])) < 1.0:  # where the run began too close
            first -= 1
        for k in range(first, self.done):
            self.motion[:, k] = crossing.at(self.times[k])
            self.measure_errors(k)
        for t, s in met:
            self.meet(t, crossing, s)
        if self.done < self.times.size and not self.stopped:
            self.start_anew(end, crossing.at(end)[0])
        else:
            self.stepper.state[TIME] = end
        return True

    def measure_errors(self, k: int) -> None:
        """Largest errors at the three levels in output k."""
        t, (q, qd, qdd), system = float(self.times[k]), self.motion[:, k], self.system
        J = system.Phi_q(t, q)
        errors = system.Phi(t, q), J @ qd - system.nu(t, q), J @ qdd - system.gamma(t, q, qd)
        self.worst = np.maximum(self.worst, [np.abs(error).max(initial=0.0) for error in errors])

    def meet(self, t: float, crossing: SmoothPassage, s: float) -> None:
        """Note a change point, or end there, as requested."""
        self.change_points.append(t)
        others = branches_in_words(self, crossing, t, s)
        if self.on_singular == "pass":
            sentence = f"at t = {t:.9g} s the mechanism passes a change point, where {others}"
            self.notes.append(Caution(f"{sentence}; the motion was continued smoothly"))
            return
        self.stopped = f"stopped at a change point at t = {t:.9g} s"
        sentence = f"at t = {t:.9g} s the mechanism comes to a change point, where {others}"
        if self.on_singular == "raise":
            raise SingularityError(
                f"{sentence}. The {self.done} points up to it are kept. "
                "Let on_singular='pass' continue the motion smoothly.",
                self.results(self.stopped),
            )
        self.notes.append(f"{sentence}; the motion ends there, as asked for by on_singular='stop'")

    def end_of_motion(self) -> None:
        """The motion cannot continue: the driver fails, or it is a dead point."""
        error = self.broken_driver() or self.dead_point()
        if isinstance(error, SingularityError) and self.on_singular == "stop":
            self.stopped = error.results.status
            self.notes.append(str(error))
            return
        raise error

    # what went wrong

    def broken_driver(self) -> SimEngineError | None:
        """The error of a function that has no value, or jumps, just after the last good time."""
        t, ahead = self.t, 2 * self.smallest_step
        results = self.results(f"stopped at t = {t:g} s")
        so_far = f"The {self.done} points before it are kept."
        sentence = (
            broken_function(self.system, t)
            or broken_function(self.system, t + ahead)
            or broken_contact(self.system, t, self.stepper.q)
        )
        if sentence:
            return ConvergenceError(f"{sentence} {so_far}", results)
        before, after = self.system.functions_at(t), self.system.functions_at(t + ahead)
        jumps = after[:, 0] - before[:, 0] - ahead * before[:, 1]
        allowed = 1e-6 * self.system.length + ahead * np.abs(after[:, 1] - before[:, 1])
        for i in np.flatnonzero(np.abs(jumps) > allowed):
            title = self.system.model.elements[self.system.rows[i][0]].title
            return ConvergenceError(
                f"{title} jumps by {jumps[i]:.4g} just after t = {t:.9g} s, which no body can follow. {so_far} "
                "Use a ramp or a smooth rise such as step5(t, t0, h0, t1, h1).",
                results,
            )
        return None

    def contradiction(self) -> SimEngineError:
        """Redundant rows were not used to compute the motion, and here they disagree with it."""
        t = self.t
        errors = np.abs(self.system.Phi(t, self.stepper.q))
        row = int(np.argmax(errors))
        return ModelError(
            f"at t = {t:g} s the redundant constraints contradict each other: {self.system.row_names[row]} is "
            f"violated by {errors[row]:.3g}. Check the lengths and drivers, or remove one of the dependent joints; "
            "diagnose(model) names them.",
            self.results(f"stopped at t = {t:g} s"),
        )

    def dead_point(self) -> SingularityError:
        t, q = self.t, self.stepper.q
        if self.pushes_on(t, q):
            what, name = "reaches a dead point", "dead point"
        else:
            what = "comes to a change point, which it cannot pass smoothly since drivers change their speed there"
            name = "change point"
        return SingularityError(
            self.singular_message(t, q, what), self.results(f"stopped at a {name} at t = {t:.9g} s")
        )

    def pushes_on(self, t: float, q: Floats) -> bool:
        """At a dead point a driver prescribes a velocity that no motion has: w^T nu != 0 with w^T Phi_q = 0."""
        J = (self.system.Phi_q(t, q) * self.scale)[self.rows]
        space = row_space(J)
        nu, left = self.system.nu(t, q)[self.rows] / space.norms, space.U[:, -1]
        return bool(abs(left @ nu) > 1e-3 * np.linalg.norm(nu))

    def singular_message(self, t: float, q: Floats, what: str) -> str:
        """Which rows became dependent at the pose, and which driver is affected."""
        names = listed(names_of_rows(self.system, self.nearly_dependent_rows(t, q)))
        drivers = [name for name, joint in self.system.model.joints.items() if joint.drives]
        who = f" The driver {listed(drivers)} cannot go further." if drivers else ""
        return (
            f"at t = {t:.9g} s the mechanism {what}: {names} became dependent.{who} "
            f"The {self.done} points before it are kept. Drive another body, or end before that time."
        )

    def nearly_dependent_rows(self, t: float, q: Floats) -> list[int]:
        J = (self.system.Phi_q(t, q) * self.scale)[self.rows]
        left = np.abs(row_space(J).U[:, -1])
        return [int(self.rows[i]) for i in np.flatnonzero(left > 0.2 * left.max())]

    def results(self, status: str) -> Results:
        k, state = self.done, self.stepper.state
        return results_of(
            self.system,
            self.times[:k].copy(),
            self.motion[:, :k],
            status,
            self.notes,
            method_in_words(self.system, self.solver.groups),
            self.worst,
            self.substeps + int(state[ACCEPTED]),
            self.rejected + int(state[REJECTED]),
        )


def smallest_step(times: Floats) -> float:
    span = float(times[-1] - times[0])
    return 1e-10 * span if span > 0.0 else 1e-10


def finished(times: Floats) -> str:
    """The status of a run that has reached its end."""
    return f"kinematics finished at t = {times[-1]:g} s, {times.size} points"


def results_of(
    system: System,
    times: Floats,
    motion: Floats,
    status: str,
    notes: list[str],
    method: str,
    worst: Floats,
    substeps: int,
    rejected: int,
) -> Results:
    """The results of a motion (q, qd and qdd), with its largest errors at the three levels."""
    levels = ("position", "velocity", "acceleration")
    q, qd, qdd = motion
    return Results(
        system,
        times,
        q,
        qd,
        qdd,
        analysis="kinematics",
        status=status,
        notes=notes,
        settings={"method": method},
        residuals=dict(zip(levels, map(float, worst), strict=True)),
        statistics={"substeps": substeps, "rejected steps": rejected},
    )
