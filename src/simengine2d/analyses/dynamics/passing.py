"""Singular poses in a run: detected, passed in one step after going back; or reported as an error."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...coordinates.reference_point.multipliers import spread_of_pivots
from ...errors import Caution, SingularityError, listed
from ...integrators import loop_state
from ...numerics.arrays import Floats
from ...system.failures import broken_force
from ..singular_poses import RankWatch, SingularPose
from ..times import next_mark
from .bridge import Crossed, Way
from .row_checks import good_rows
from .stepper import tried

if TYPE_CHECKING:
    from .run import Run
    from .stepper import DynamicsStepper


REACHES = (6e-2, 3e-2, 1.2e-1, 1e-2, 6e-3, 3e-3)
"""Distance before and after a pose from which a step is taken across it, in lengths or radians."""
CLEAR = 6e-2  # the same for the steps of the run itself, which lose their digits closer to the pose
AGREEMENT = 1e-8  # of two steps across a pose, in lengths or radians
NEAREST = 0.2  # of its reach: a step may begin this close to the pose if the motion begins there
APPROACH = 0.6  # distance before a pose from which it is approached
APART = 0.3  # distance between two stored states from which a pose can be approached again
FEWEST_STEPS, MOST_STEPS = 32, 2_000  # tried at once, the fewest between poses in quick succession
NEARLY_SINGULAR = 1e3  # spread of the pivots above which steps may collapse for that reason
TROUBLE = (loop_state.STEP_TOO_SMALL, loop_state.NO_CONVERGENCE, loop_state.BLEW_UP, loop_state.COLLAPSED)


class Anchor(NamedTuple):
    """A state from which a run can continue again."""

    t: float
    q: Floats
    y: Floats
    done: int
    kept: dict[str, Floats]


class Passing:
    """What a run knows about the singular poses it meets: it takes its stepper back, and restarts it after the pose."""

    def __init__(self, run: Run, stepper: DynamicsStepper, t: float) -> None:
        self.run, self.stepper = run, stepper
        self.begin_at(t)

    def begin_at(self, t: float) -> None:
        """Nothing has been passed yet."""
        self.anchors: deque[Anchor] = deque(maxlen=3)
        self.most_steps = MOST_STEPS
        self.mark = 0  # steps tried after which the state is stored next
        self.begun = t  # of the present integration
        self.over: Way | None = None  # the last pose

    @property
    def attempts(self) -> int:
        """Steps tried since the present integration began."""
        return tried(self.stepper.integration.counts())

    # before some steps

    def pace(self, most_steps: int) -> int:
        """How many steps to try; those after a pose will be wasted."""
        stepper = self.stepper
        if stepper.rank is None:
            return most_steps
        if not stepper.compiled:
            return 1
        to_mark = next_mark(stepper.system.n, self.attempts) - self.attempts
        return min(most_steps, self.most_steps, to_mark)

    def remember(self) -> None:
        """Store the state of the run, if it has moved far enough.

        That happens after certain numbers of steps and not where chunks end, which depends on the clock: a run that
        goes back must go back to the same states each time.
        """
        stepper = self.stepper
        if stepper.rank is None or (stepper.compiled and self.anchors and self.attempts < self.mark):
            return
        self.mark = next_mark(stepper.system.n, self.attempts) if stepper.compiled else 0
        t, y = self.end_of_step()
        if stepper.compiled and self.anchors and t - self.anchors[-1].t <= 0.0:
            return
        q = stepper.bodies(t, y)[0]
        near = self.anchors and np.max(np.abs(q - self.anchors[-1].q) / stepper.system.sizes) <= APART
        if not (stepper.compiled and near):
            self.anchors.append(self.anchor(t, q, y))

    def anchor(self, t: float, q: Floats, y: Floats) -> Anchor:
        kept = self.stepper.copied() if self.stepper.compiled else {}
        return Anchor(t, q, y, self.run.outputs.done, kept)

    def end_of_step(self) -> tuple[float, Floats]:
        integration = self.stepper.integration
        return integration.step_end, integration.between(integration.step_end)

    # after them

    def passed(self, why: int) -> bool:
        """Whether there was a singular pose, which has now been passed; raises if it cannot be."""
        stepper, outputs, rank = self.stepper, self.run.outputs, self.stepper.rank
        if rank is None:
            return False
        before = {name: array.copy() for name, array in rank.kept().items()}
        finished = outputs.done == outputs.times.size
        if finished or not stepper.compiled:
            rank.look_soon()
            rank.looking(*self.end_of_step(), np.zeros(0))
        end = float(outputs.times[-1])
        # an alarm of the step that contains the last output may be about a pose before it
        reached = max(end, stepper.integration.step_end)
        alarms = rank.alarms()
        rank.keep_alarms([alarm for alarm in alarms if alarm[0] > reached])
        now = [alarm for alarm in alarms if alarm[0] <= reached]
        trouble = why in TROUBLE and (why != loop_state.COLLAPSED or self.near_a_pose())
        for alarm in now + (self.alarms_in_trouble(rank) if trouble else []):
            pose = self.examine(rank, *alarm)
            if pose is not None and pose.t > end:
                rank.keep_alarms([alarm])
            elif pose is not None:
                self.cross(pose)
                return True
        if finished and stepper.compiled:
            rank.put_back(before)  # a resumed run examines what it would have examined
        self.most_steps = min(2 * self.most_steps, MOST_STEPS)
        return False

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

    def examine(self, rank: RankWatch, t: float, row: float, speed: float) -> SingularPose | None:
        """The singular pose that caused an alarm; None if there was none."""
        if speed == 0.0:
            return None
        stepper = self.stepper
        now, y = self.end_of_step()
        here = self.anchor(now, y, y)
        if not self.back_to(t - APPROACH / speed, t - 1e-3 / speed):
            return None
        begin, y = self.end_of_step()
        motion = stepper.bridge.motion_from(begin, *stepper.bodies(begin, y))
        pose = rank.pose_ahead(motion, begin, t, speed, int(row))
        if pose is None and motion.lost:
            self.caution(
                f"near t = {t:.4g} s the constraints may lose rank; the motion could not be followed there"
            )
        if stepper.compiled:
            alarms = rank.alarms()
            self.put_back(here)
            rank.keep_alarms(alarms)
        return pose

    def caution(self, words: str) -> None:
        if words not in self.run.notes:
            self.run.notes.append(Caution(words))

    def cross(self, pose: SingularPose) -> None:
        """Go back a little, then across the pose."""
        stepper, outputs, reached = self.stepper, self.run.outputs, self.run.outputs.done
        for reach in REACHES:
            width, clear = reach / pose.speed, max(reach, CLEAR) / pose.speed
            if not self.back_to(pose.t - clear, pose.t - NEAREST * width):
                continue
            t, y = self.end_of_step()
            later = self.outputs_after(t, width)
            way = Way(t, *stepper.bodies(t, y), pose.t, width, pose.t + clear)
            crossed = stepper.bridge.over(way, later, AGREEMENT)
            if crossed is not None:
                self.land(pose, crossed, later, way)
                return
        outputs.done = reached
        raise self.failure(pose)

    def outputs_after(self, t: float, width: float) -> Floats:
        """The remaining outputs; if these follow the steps, those that collapsed before a pose do not count."""
        outputs = self.run.outputs
        if outputs.grid is None:
            return outputs.times[outputs.times > t]
        outputs.grid.lay(self.run.tried, t, width)
        return outputs.grid.times(t)

    def back_to(self, before: float, latest: float) -> bool:
        """Go back to the last end of a step up to `before`; False if none is known up to `latest`."""
        possible = [anchor for anchor in self.anchors if anchor.t <= before] or [
            anchor for anchor in self.anchors if anchor.t <= latest
        ][:1]
        if not possible:
            return False
        self.put_back(possible[-1])
        if self.stepper.compiled:
            self.approach(before)
        return True

    def put_back(self, anchor: Anchor) -> None:
        self.run.outputs.done = anchor.done
        if self.stepper.compiled:
            self.stepper.put_back(anchor.kept)
        else:
            self.stepper.restart_at(anchor.t, *self.stepper.bodies(anchor.t, anchor.y))

    def approach(self, before: float) -> None:
        """The same steps again, as many as end up to `before`: twice as many each time, then fewer."""
        stepper, count, grows = self.stepper, 1, True
        while count > 0:
            t, y = self.end_of_step()
            here = self.anchor(t, y, y)
            why = stepper.step_again(self.run.outputs, before, count)
            if stepper.integration.step_end > before or why not in (loop_state.PAUSED, loop_state.COLLAPSED):
                self.put_back(here)
                grows = False
            count = 2 * count if grows else count // 2

    def land(self, pose: SingularPose, crossed: Crossed, later: Floats, way: Way) -> None:
        """Outputs up to the other side, where the run continues."""
        run, stepper, outputs = self.run, self.stepper, self.run.outputs
        outputs.done = int(np.searchsorted(outputs.times, way.t, side="right"))
        if outputs.grid is not None:
            outputs.make_room(later)
        self.write(stepper.bridge.motion_at(crossed.times, crossed.Y))
        run.notes.append(Caution(f"at t = {pose.t:.6g} s a singular pose was passed in one step"))
        self.most_steps = max(FEWEST_STEPS, 2 * stepper.integration.counts()["steps"])
        self.over = way
        run.forget_events_after(way.t, way.q, way.qd)
        self.restart_at(crossed.t, crossed.q, crossed.qd)
        if outputs.grid is not None:
            outputs.grid.laid[0] = run.tried + 1  # the first step shows again how long steps are
            run.look_no_further_back()

    def restart_at(self, t: float, q: Floats, qd: Floats) -> None:
        """The stepper goes on from another state; what it has counted so far remains."""
        stepper = self.stepper
        stepper.before = stepper.counts()
        if stepper.rank is not None:
            stepper.rank.begin()
        stepper.restart_at(t, q, qd)
        self.begun, self.mark = t, 0
        self.anchors.clear()

    def write(self, motion: list[Floats]) -> None:
        """Rows of outputs, from the next one on."""
        outputs = self.run.outputs
        outputs.write(outputs.done, motion)
        outputs.done += len(motion[0])

    # while crossing a pose

    def motion_at(self, t: float) -> list[Floats] | None:
        """The motion at a time inside the last crossing; None elsewhere."""
        way = self.over
        if way is None or not way.t <= t < way.end:
            return None
        times, bridge = np.array([t]), self.stepper.bridge
        if t == way.t:
            Y = bridge.rows(1)
            Y[0, : 2 * way.q.size] = bridge.held(t, way.q, way.qd)
            return bridge.motion_at(times, Y)
        again = bridge.over(way, times, np.inf)
        return None if again is None else bridge.motion_at(times, again.Y)

    def state_at(self, t: float) -> tuple[Floats, Floats] | None:
        motion = self.motion_at(t)
        return None if motion is None else (motion[0][0], motion[1][0])

    def write_last(self, t: float) -> bool:
        """The last output, if it is inside the last crossing."""
        motion = self.motion_at(t)
        if motion is not None:
            self.write(motion)
        return motion is not None

    # what is reported and saved

    def failure(self, pose: SingularPose) -> SingularityError:
        run, outputs, options = self.run, self.run.outputs, self.run.options
        # closer to the pose, outputs are unreliable
        reached = min(self.end_of_step()[0], pose.t - REACHES[0] / pose.speed)
        outputs.done = min(outputs.done, int(np.searchsorted(outputs.times, reached, side="right")))
        outputs.done = good_rows(self.stepper, outputs)
        dependent = [] if self.stepper.rank is None else self.stepper.rank.dependent(pose.t, pose.q)
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
        saved: dict[str, Floats] = {"passing_begun": np.array([self.begun, self.most_steps, self.mark])}
        if self.stepper.before:
            saved["passing_counts"] = np.array([float(count) for count in self.stepper.before.values()])
        for i, anchor in enumerate(self.anchors):
            saved |= {f"anchor{i}_{name}": array for name, array in anchor.kept.items()}
            saved[f"anchor{i}_t"] = np.array([anchor.t, anchor.done])
            saved[f"anchor{i}_q"], saved[f"anchor{i}_y"] = anchor.q, anchor.y
        return saved

    def restore(self, saved: Mapping[str, Floats]) -> None:
        """Take up a checkpoint, of the stepper as well."""
        stepper, at = self.stepper, self.run.start.assembly
        begun, most_steps, mark = saved["passing_begun"].tolist()
        self.most_steps, self.mark, self.over = int(most_steps), int(mark), None
        if begun != self.begun:
            stepper.restart_at(begun, at.q, at.qd)  # its arrays are restored afterwards
            self.begun = begun
        names, counts = stepper.integration.counts(), saved.get("passing_counts")
        stepper.before = {} if counts is None else dict(zip(names, map(int, counts), strict=True))
        self.anchors.clear()
        for i in range(3):
            if f"anchor{i}_t" in saved:
                t, done = saved[f"anchor{i}_t"].tolist()
                kept = {name: saved[f"anchor{i}_{name}"] for name in stepper.arrays()}
                self.anchors.append(Anchor(t, saved[f"anchor{i}_q"], saved[f"anchor{i}_y"], int(done), kept))
        stepper.restore(saved)
