"""Singular poses in a run: detected, passed in one step after going back; or reported as an error."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...coordinates.reference_point.multipliers import spread_of_pivots
from ...errors import Caution, SingularityError, listed
from ...integrators import time_loop
from ...numerics.kernel_pointer import BoundKernel
from ...system.failures import broken_force
from ..singular_poses import SingularPose
from .bridge import Bridge, Crossed, Way
from .run import STEPS_A_CHUNK

if TYPE_CHECKING:
    from .watched_run import WatchedRun

Floats = NDArray[np.float64]

REACHES = (6e-2, 3e-2, 1.2e-1, 1e-2, 6e-3, 3e-3)
"""Distance before and after a pose from which a step is taken across it, in lengths or radians."""
CLEAR = 6e-2  # the same for the steps of the run itself, which lose their digits closer to the pose
AGREEMENT = 1e-8  # of two steps across a pose, in lengths or radians
NEAREST = 0.2  # of its reach: a step may begin this close to the pose if the motion begins there
APPROACH = 0.6  # distance before a pose from which it is approached
APART = 0.3  # distance between two stored states from which a pose can be approached again
FEWEST_STEPS = 32  # tried at once between poses in quick succession
NEARLY_SINGULAR = 1e3  # spread of the pivots above which steps may collapse for that reason
TROUBLE = (time_loop.STEP_TOO_SMALL, time_loop.NO_CONVERGENCE, time_loop.BLEW_UP, time_loop.COLLAPSED)


class Anchor(NamedTuple):
    """A state from which a run can continue again."""

    t: float
    q: Floats
    y: Floats
    done: int
    kept: dict[str, Floats]


class Passing:
    """What a run knows about the singular poses it meets."""

    def __init__(self, run: WatchedRun) -> None:
        self.run = run
        self.begin()

    def begin(self) -> None:
        """Nothing has been passed yet."""
        self.begin_at(self.run.start.assembly.t)

    def begin_at(self, t: float) -> None:
        """The same, from a later state on."""
        self.anchors: deque[Anchor] = deque(maxlen=3)
        self.most_steps = STEPS_A_CHUNK
        self.begun = t  # of the present integration
        self.before: dict[str, int] = {}  # counts of those that ended at a pose
        self.over: Way | None = None  # the last pose
        if self.run.rank is not None:
            self.run.rank.begin()

    # before some steps

    def pace(self, most_steps: int) -> int:
        """How many steps to try; those after a pose will be wasted."""
        if self.run.rank is not None and not self.run.looks_at_steps:
            return 1
        return min(most_steps, self.most_steps)

    def remember(self) -> None:
        """Store the state of the run, if it has moved far enough."""
        run = self.run
        if run.rank is None:
            return
        t, y = self.end_of_step()
        if run.keeps and self.anchors and t - self.anchors[-1].t <= 0.0:
            return
        q = run.bodies(t, y)[0]
        if not run.keeps:
            self.anchors.append(Anchor(t, q, y, run.done, {}))
        elif not self.anchors or np.max(np.abs(q - self.anchors[-1].q) / run.system.sizes) > APART:
            self.anchors.append(self.anchor(t, q, y))

    def anchor(self, t: float, q: Floats, y: Floats) -> Anchor:
        run = self.run
        return Anchor(t, q, y, run.done, {name: array.copy() for name, array in run.kept().items()})

    def end_of_step(self) -> tuple[float, Floats]:
        t = self.run.step_end
        return t, self.run.coordinates_between(t)

    # after them

    def passed(self, why: int) -> bool:
        """Whether there was a singular pose, which has now been passed; raises if it cannot be."""
        rank = self.run.rank
        if rank is None:
            return False
        before = {name: array.copy() for name, array in rank.kept().items()}
        if self.run.done == self.run.times.size or not self.run.looks_at_steps:
            rank.look_soon()
            self.looking(*self.end_of_step(), np.zeros(0))
        end = float(self.run.times[-1])
        # an alarm of the step that contains the last output may be about a pose before it
        reached = max(end, self.run.step_end)
        alarms = rank.alarms()
        rank.keep_alarms([alarm for alarm in alarms if alarm[0] > reached])
        now = [alarm for alarm in alarms if alarm[0] <= reached]
        trouble = why in TROUBLE and (why != time_loop.COLLAPSED or self.near_a_pose())
        for alarm in now + (self.alarms_in_trouble() if trouble else []):
            pose = self.examine(*alarm)
            if pose is not None and pose.t > end:
                rank.keep_alarms([alarm])
            elif pose is not None:
                self.cross(pose)
                return True
        if self.run.done == self.run.times.size and self.run.looks_at_steps:
            rank.put_back(before)  # a resumed run examines what it would have examined
        self.most_steps = min(2 * self.most_steps, STEPS_A_CHUNK)
        return False

    @property
    def looking(self) -> BoundKernel:
        """The watch without the end of a step."""
        assert self.run.rank is not None
        return self.run.rank.looking

    def near_a_pose(self) -> bool:
        """Whether multipliers can hardly be solved for at the end of the last step."""
        run, equations = self.run, self.bridge().problem
        t, y = run.t, np.concatenate(run.state)
        equations.rhs(t, y, np.empty_like(y))
        context = equations.rhs.kept[1]
        return bool(spread_of_pivots(context.D, run.system.n, context.w.v) > NEARLY_SINGULAR)

    def alarms_in_trouble(self) -> list[list[float]]:
        """Time, rows and speed where steps ended: a singular pose may be the reason."""
        run = self.run
        assert run.rank is not None
        t, (q, qd) = run.t, run.state
        if not np.all(np.isfinite(np.concatenate([q, qd]))) or broken_force(run.system, t, q, qd):
            return []
        return [[t, float(row), run.rank.speed(qd)] for row in run.rank.weakest_rows(t, q)]

    def examine(self, t: float, row: float, speed: float) -> SingularPose | None:
        """The singular pose that caused an alarm; None if there was none."""
        run = self.run
        assert run.rank is not None
        if speed == 0.0:
            return None
        now, y = self.end_of_step()
        here = self.anchor(now, y, y)
        if not self.back_to(t - APPROACH / speed, t - 1e-3 / speed):
            return None
        begin, y = self.end_of_step()
        motion = self.bridge().motion_from(begin, *run.bodies(begin, y))
        pose = run.rank.pose_ahead(motion, begin, t, speed, int(row))
        if pose is None and motion.lost:
            self.caution(
                f"near t = {t:.4g} s the constraints may lose rank; the motion could not be followed there"
            )
        if run.keeps:
            alarms = run.rank.alarms()
            self.put_back(here)
            run.rank.keep_alarms(alarms)
        return pose

    def caution(self, words: str) -> None:
        if words not in self.run.notes:
            self.run.notes.append(Caution(words))

    def cross(self, pose: SingularPose) -> None:
        """Go back a little, then across the pose."""
        run, reached = self.run, self.run.done
        bridge = self.bridge()
        for reach in REACHES:
            width, clear = reach / pose.speed, max(reach, CLEAR) / pose.speed
            if not self.back_to(pose.t - clear, pose.t - NEAREST * width):
                continue
            t, y = self.end_of_step()
            later = self.outputs_behind(t, width)
            way = Way(t, *run.bodies(t, y), pose.t, width, pose.t + clear)
            crossed = bridge.over(way, later, AGREEMENT)
            if crossed is not None:
                self.land(pose, crossed, later, way)
                return
        run.done = reached
        raise self.failure(pose)

    def outputs_behind(self, t: float, width: float) -> Floats:
        """The remaining outputs; if these follow the steps, those that collapsed before a pose do not count."""
        run = self.run
        if run.grid is None:
            return run.times[run.times > t]
        run.grid.lay(run.tried, t, width)
        return run.grid.times(t)

    def bridge(self) -> Bridge:
        if self.run.bridge is None:
            self.run.bridge = Bridge(self.run.system, self.run.start)
        return self.run.bridge

    def back_to(self, before: float, latest: float) -> bool:
        """Go back to the last end of a step up to `before`; False if none is known up to `latest`."""
        possible = [anchor for anchor in self.anchors if anchor.t <= before] or [
            anchor for anchor in self.anchors if anchor.t <= latest
        ][:1]
        if not possible:
            return False
        self.put_back(possible[-1])
        if self.run.keeps:
            self.approach(before)
        return True

    def put_back(self, anchor: Anchor) -> None:
        run = self.run
        run.done = anchor.done
        if run.keeps:
            run.put_back(anchor.kept)
        else:
            run.go_on_at(anchor.t, *run.bodies(anchor.t, anchor.y))

    def approach(self, before: float) -> None:
        """The same steps again, as many as end up to `before`: twice as many each time, then fewer."""
        run, count, grows = self.run, 1, True
        while count > 0:
            t, y = self.end_of_step()
            here = self.anchor(t, y, y)
            why = run.steps_again(before, count)
            if run.step_end > before or why not in (time_loop.PAUSED, time_loop.COLLAPSED):
                self.put_back(here)
                grows = False
            count = 2 * count if grows else count // 2

    def land(self, pose: SingularPose, crossed: Crossed, later: Floats, way: Way) -> None:
        """Outputs up to the other side, where the run continues."""
        run = self.run
        assert run.rank is not None
        run.done = int(np.searchsorted(run.times, way.t, side="right"))
        if run.grid is not None:
            run.make_room(later)
        self.write(crossed.times, self.bridge().motion_at(crossed.times, crossed.Y))
        run.notes.append(Caution(f"at t = {pose.t:.6g} s a singular pose was passed in one step"))
        self.most_steps = max(FEWEST_STEPS, 2 * run.counts()["steps"])
        self.before = self.with_counts_before(run.counts())
        self.over = way
        self.forget_events_behind(way.t, way.q, way.qd)
        run.rank.begin()
        run.go_on_at(crossed.t, crossed.q, crossed.qd)
        self.begun = crossed.t
        self.anchors.clear()
        if run.grid is not None:
            run.look_no_further_back()

    def write(self, times: Floats, found: list[Floats]) -> None:
        """Rows of the history, from the next one on."""
        run = self.run
        for array, rows in zip(run.history, found, strict=True):
            array[run.done : run.done + times.size] = rows
        run.done += times.size

    def forget_events_behind(self, t: float, q: Floats, qd: Floats) -> None:
        run = self.run
        run.crossings[:] = [crossing for crossing in run.crossings if crossing.t <= t]
        if run.watch:
            run.watch.begin(t, q, qd)

    # while crossing a pose

    def motion_at(self, t: float) -> list[Floats] | None:
        """The motion at a time inside the last crossing; None elsewhere."""
        if self.over is None or not self.over.t < t < self.over.end:
            return None
        times, bridge = np.array([t]), self.bridge()
        again = bridge.over(self.over, times, np.inf)
        return None if again is None else bridge.motion_at(times, again.Y)

    def state_at(self, t: float) -> tuple[Floats, Floats] | None:
        found = self.motion_at(t)
        return None if found is None else (found[0][0], found[1][0])

    def write_last(self, t: float) -> bool:
        """The last output, if it is inside the last crossing."""
        found = self.motion_at(t)
        if found is not None:
            self.write(np.array([t]), found)
        return found is not None

    # what is reported and saved

    def failure(self, pose: SingularPose) -> SingularityError:
        run = self.run
        # closer to the pose, outputs are unreliable
        reached = min(self.end_of_step()[0], pose.t - REACHES[0] / pose.speed)
        run.done = min(run.done, int(np.searchsorted(run.times, reached, side="right")))
        run.keep_good_rows()
        rows = f": {listed(pose.rows)} become dependent" if pose.rows else ""
        default = run.task.coordinates == "reference_point" and run.task.formulation.name == "projection"
        remedy = (
            "No step leads reliably to the other side: the motion may come to rest there, or forces may jump. "
            "Start after the pose, or change a length a little."
            if default
            else "Try coordinates='reference_point' with formulation='projection', or start after the pose."
        )
        results = run.results(f"stopped at t = {pose.t:g} s")
        kept = f"The {run.done} points before it are kept."
        return SingularityError(
            f"at t = {pose.t:.9g} s the constraints lose rank{rows}. This is a change point. {remedy} {kept}",
            results,
        )

    def with_counts_before(self, counts: dict[str, int]) -> dict[str, int]:
        return {name: count + self.before.get(name, 0) for name, count in counts.items()}

    def checkpoint(self) -> dict[str, Floats]:
        """What the run needs besides its own arrays: where the integration began, and its counts."""
        saved: dict[str, Floats] = {"passing_begun": np.array([self.begun, self.most_steps])}
        if self.before:
            saved["passing_counts"] = np.array([float(count) for count in self.before.values()])
        for i, anchor in enumerate(self.anchors):
            saved |= {f"anchor{i}_{name}": array for name, array in anchor.kept.items()}
            saved[f"anchor{i}_t"] = np.array([anchor.t, anchor.done])
            saved[f"anchor{i}_q"], saved[f"anchor{i}_y"] = anchor.q, anchor.y
        return saved

    def restore(self, saved: dict[str, Floats]) -> None:
        run = self.run
        begun, most_steps = saved["passing_begun"].tolist()
        self.most_steps, self.over = int(most_steps), None
        if begun != self.begun:
            run.go_on_at(
                begun, run.start.assembly.q, run.start.assembly.qd
            )  # its arrays are restored afterwards
            self.begun = begun
        self.before = {}
        names = run.counts()
        if "passing_counts" in saved:
            self.before = dict(zip(names, (int(count) for count in saved["passing_counts"]), strict=True))
        self.anchors.clear()
        for i in range(3):
            if f"anchor{i}_t" in saved:
                t, done = saved[f"anchor{i}_t"].tolist()
                kept = {name: saved[f"anchor{i}_{name}"] for name in run.kept()}
                self.anchors.append(Anchor(t, saved[f"anchor{i}_q"], saved[f"anchor{i}_y"], int(done), kept))
