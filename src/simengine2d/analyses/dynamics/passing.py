"""Singular poses in a run: detected, passed in one step from a state before them; or reported as an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...coordinates.reference_point.multipliers import spread_of_pivots
from ...errors import Caution, SingularityError, listed
from ...integrators import loop_state
from ...numerics.arrays import Floats
from ...system.failures import broken_force
from ..singular_poses import NearPose, RankWatch, SingularPose
from .approach import Approach
from .pose_crossing import PoseCrossing
from .row_checks import good_rows

if TYPE_CHECKING:
    from .run import Run
    from .stepper import DynamicsStepper


REACHES = (6e-2, 3e-2, 1.2e-1, 1e-2, 6e-3, 3e-3)
"""Distance before and after a pose from which a step is taken across it, in lengths or radians."""
CLEAR = 6e-2  # the same for the steps of the run itself, which lose their digits closer to the pose
NEAREST = 0.2  # of its reach: a step may begin this close to the pose if the motion begins there
LATEST = 1e-3  # the same for the motion that is followed towards it, in lengths or radians
PROMISING = (
    0.3  # g expected in a pose, relative to that at a state before it: a step is tried before a closer look
)
NEARLY_SINGULAR = 1e3  # spread of the pivots above which steps may collapse for that reason
TROUBLE = (loop_state.STEP_TOO_SMALL, loop_state.NO_CONVERGENCE, loop_state.BLEW_UP, loop_state.COLLAPSED)


class Passing:
    """What a run knows about the singular poses it meets: it restarts its stepper after the pose."""

    def __init__(self, run: Run, stepper: DynamicsStepper, t: float) -> None:
        self.run, self.stepper = run, stepper
        self.begin_at(t)

    def begin_at(self, t: float) -> None:
        """Nothing has been passed yet."""
        self.begun = t  # of the present integration
        self.over: PoseCrossing | None = None  # through the last pose

    def pace(self, most_steps: int) -> int:
        """How many steps to try at once: those that do not examine constraints themselves come one by one."""
        return most_steps if self.stepper.rank is None or self.stepper.compiled else 1

    # after some steps

    def passed(self, why: int) -> bool:
        """Whether there was a singular pose, which has now been passed; raises if it cannot be."""
        stepper, outputs, rank = self.stepper, self.run.outputs, self.stepper.rank
        if rank is None:
            return False
        finished, before = outputs.done == outputs.times.size, {}
        if finished or not stepper.compiled:
            before = {name: array.copy() for name, array in rank.kept().items()}
            self.look_at_end(rank)
        end = float(outputs.times[-1])
        # an alarm of the step that contains the last output may be about a pose before it
        reached = max(end, stepper.integration.step_end)
        alarms = rank.alarms()
        rank.keep_alarms([alarm for alarm in alarms if alarm[0] > reached])
        now = [alarm for alarm in alarms if alarm[0] <= reached]
        trouble = why in TROUBLE and (why != loop_state.COLLAPSED or self.near_a_pose())
        for alarm in now + (self.alarms_in_trouble(rank) if trouble else []):
            pose, crossing = self.examine(rank, alarm)
            if pose is not None and pose.t > end:
                rank.keep_alarms([alarm])
            elif pose is not None:
                self.land(pose, crossing or self.cross(rank, pose))
                return True
        if finished and stepper.compiled:
            rank.put_back(before)  # a resumed run examines what it would have examined
        return False

    def look_at_end(self, rank: RankWatch) -> None:
        """Examine the end of the last step."""
        integration = self.stepper.integration
        rank.look_soon()
        rank.looking(integration.step_end, integration.between(integration.step_end), np.zeros(0))

    def near_a_pose(self) -> bool:
        """Whether multipliers can hardly be solved for at the end of the last step."""
        stepper, equations = self.stepper, self.stepper.bridge.problem
        t, y = stepper.integration.t, np.concatenate(stepper.state)
        equations.rhs(t, y, np.empty_like(y))
        context = equations.rhs.kept[1]
        return bool(spread_of_pivots(context.D, stepper.system.n, context.w.v) > NEARLY_SINGULAR)

    def alarms_in_trouble(self, rank: RankWatch) -> list[list[float]]:
        """Time, rows and speed where steps ended: a singular pose may be the reason."""
        t, (q, qd) = self.stepper.integration.t, self.stepper.state
        if not np.all(np.isfinite(np.concatenate([q, qd]))) or broken_force(self.stepper.system, t, q, qd):
            return []
        return [[t, float(row), rank.speed(qd)] for row in rank.weakest_rows(t, q)]

    def examine(self, rank: RankWatch, alarm: list[float]) -> tuple[SingularPose | None, PoseCrossing | None]:
        """The singular pose that caused an alarm, if there was one; and the crossing if a step across it proved it.

        A step across a promising place and the closed joints on the way say more than states before it.
        """
        t, _, speed = alarm
        if speed == 0.0:
            return None, None
        approach = self.new_approach(rank)
        if approach.earliest > t - LATEST / speed:
            return None, None
        rough = rank.rough_pose(approach.states, approach.earliest, alarm)
        crossing = None if rough is None else self.promising(approach, rough)
        pose = None
        if rough is not None and crossing is not None:
            pose = rank.pose_ahead(crossing.through, rough, crossing.before, t)
            if pose is None or crossing.closes_at(pose.t):
                return pose, crossing
        if rough is not None:
            pose = rank.pose_ahead(approach.states, rough, approach.earliest, t)
        if pose is None and approach.lost:
            self.caution(
                f"near t = {t:.4g} s the constraints may lose rank; the motion could not be followed there"
            )
        return pose, None

    def promising(self, approach: Approach, rough: NearPose) -> PoseCrossing | None:
        """A step across a pose of which only a rough place is known."""
        if rough.low > (PROMISING * rough.g) ** 2 or not approach.begin_before(
            rough.t - CLEAR / rough.speed, -np.inf
        ):
            return None
        width = REACHES[0] / rough.speed
        return self.stepper.bridge.across(approach, rough.t, width, max(width, CLEAR / rough.speed))

    def new_approach(self, rank: RankWatch) -> Approach:
        """From states up to the last step: outputs inside that are not written yet."""
        known = [state for state in rank.states() if state[0] <= self.stepper.integration.t]
        return Approach(self.stepper.bridge, known, self.run.options.rtol)

    def caution(self, words: str) -> None:
        if words not in self.run.notes:
            self.run.notes.append(Caution(words))

    def cross(self, rank: RankWatch, pose: SingularPose) -> PoseCrossing:
        """The crossing of a pose, from as far away as possible."""
        approach = self.new_approach(rank)
        for reach in REACHES:
            width, clear = reach / pose.speed, max(reach, CLEAR) / pose.speed
            if approach.begin_before(pose.t - clear, pose.t - NEAREST * width):
                crossing = self.stepper.bridge.across(approach, pose.t, width, clear)
                if crossing is not None:
                    return crossing
        raise self.failure(rank, pose)

    def land(self, pose: SingularPose, crossing: PoseCrossing) -> None:
        """Outputs up to the other side, where the run continues."""
        run, outputs, n = self.run, self.run.outputs, self.run.system.n
        outputs.done = int(np.searchsorted(outputs.times, crossing.begin, side="right"))
        spacing = max(crossing.end - pose.t, self.stepper.integration.step_ahead)
        later = outputs.ahead(crossing.begin, crossing.end, spacing)
        inside = later[later <= crossing.end]
        if inside.size:
            outputs.append(inside, self.stepper.bridge.motion_at(inside, crossing.states(inside)))
        run.notes.append(Caution(f"at t = {pose.t:.6g} s a singular pose was passed in one step"))
        self.over = crossing
        run.forget_events_after(crossing.begin, crossing.first[:n], crossing.first[n:])
        self.restart_at(crossing.end, crossing.last[:n], crossing.last[n:])
        if outputs.spacing is not None:
            run.begin_window()

    def restart_at(self, t: float, q: Floats, qd: Floats) -> None:
        """The stepper goes on from another state; what it has counted so far remains."""
        stepper = self.stepper
        stepper.before = stepper.counts()
        if stepper.rank is not None:
            stepper.rank.begin()
        stepper.restart_at(t, q, qd)
        self.begun = t

    # while crossing a pose

    def motion_at(self, t: float) -> list[Floats] | None:
        """The motion at a time inside the last crossing; None elsewhere."""
        crossing, times = self.over, np.array([t])
        if crossing is None or not crossing.begin <= t < crossing.end:
            return None
        return self.stepper.bridge.motion_at(times, crossing.states(times))

    def state_at(self, t: float) -> tuple[Floats, Floats] | None:
        motion = self.motion_at(t)
        return None if motion is None else (motion[0][0], motion[1][0])

    def write_last(self, t: float) -> bool:
        """The last output, if it is inside the last crossing."""
        motion = self.motion_at(t)
        if motion is not None:
            self.run.outputs.append(np.array([t]), motion)
        return motion is not None

    # what is reported and saved

    def failure(self, rank: RankWatch, pose: SingularPose) -> SingularityError:
        run, outputs, options = self.run, self.run.outputs, self.run.options
        # closer to the pose, outputs are unreliable
        reached = pose.t - REACHES[0] / pose.speed
        dependent = rank.dependent(pose.t, pose.q)
        outputs.done = min(outputs.done, int(np.searchsorted(outputs.times, reached, side="right")))
        outputs.done = good_rows(self.stepper, outputs)
        t, q, qd = ([state for state in rank.states() if state[0] <= reached] or rank.states()[:1])[-1]
        self.restart_at(t, q, qd)
        rows = f": {listed(dependent)} become dependent" if dependent else ""
        default = options.formulation.name == "projection"
        remedy = (
            "No step leads reliably to the other side: the motion may come to rest there, or forces may jump. "
            "Start after the pose, or change a length a little."
            if default
            else "Try formulation='projection', or start after the pose."
        )
        results = run.results(f"stopped at t = {pose.t:g} s")
        kept = f"The {outputs.done} points before it are kept."
        return SingularityError(
            f"at t = {pose.t:.9g} s the constraints lose rank{rows}. This is a change point. {remedy} {kept}",
            results,
        )

    def checkpoint(self) -> dict[str, Floats]:
        """What the run needs besides its own arrays: where the integration began, and its counts."""
        saved: dict[str, Floats] = {"passing_begun": np.array([self.begun])}
        if self.stepper.before:
            saved["passing_counts"] = np.array([float(count) for count in self.stepper.before.values()])
        return saved

    def restore(self, saved: Mapping[str, Floats]) -> None:
        """Take up a checkpoint, of the stepper as well."""
        stepper, at, begun = self.stepper, self.run.start.assembly, float(saved["passing_begun"][0])
        self.over = None
        if begun != self.begun:
            stepper.restart_at(begun, at.q, at.qd)  # its arrays are restored afterwards
            self.begun = begun
        names, counts = stepper.integration.counts(), saved.get("passing_counts")
        stepper.before = {} if counts is None else dict(zip(names, map(int, counts), strict=True))
        stepper.restore(saved)
