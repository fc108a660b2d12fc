"""A run of dynamics: steps in chunks, outputs, progress, events, and saving what is finished."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypedDict, final

import numpy as np

from ...errors import ConvergenceError, Interrupted, ModelError, SimEngineError, UnsupportedError, ended
from ...integrators import loop_state
from ...numerics.arrays import Floats
from ...numerics.interrupts import Interrupts
from ...results.events import Crossing, EventWatch, crossings_until
from ...results.results import Results
from ..times import Pace
from .blow_up import BlowUp
from .initial_state import InitialState
from .lift_off import lift_off_notes
from .options import DynamicsOptions
from .outputs import Outputs
from .passing import Passing
from .reasons import singular_start, without_value
from .row_checks import cautions, good_rows, halved_notes, undefined_at, useless
from .step_recorder import StepRecorder
from .stepper import DynamicsStepper
from .takeover import Takeover

Progress = Callable[[float], None]
"""Called now and then with the simulated time."""
Keep = Callable[[Results], None]
"""Called now and then with the results so far."""


class ResumeOptions(TypedDict, total=False):
    """What `Results.resume` may be told besides the last time."""

    t_eval: Sequence[float] | Floats | None
    progress: Progress | None
    keep: Keep | None


WINDOW = 64  # steps after which outputs are looked at, where steps are not stored
HALVED = "halved step"
"""Name of the event that a fixed step was not fixed."""


@final
class Run:
    """The loop around a stepper. Where the motion is stiff, an implicit one takes over."""

    def __init__(self, options: DynamicsOptions, start: InitialState, stepper: DynamicsStepper) -> None:
        self.options, self.start, self.system = options, start, options.system
        self.notes: list[str] = []
        self.takeover = Takeover(self, stepper, start.assembly.t)
        self.outputs = Outputs(self.system, options.times, options.spacing, options.noticed)
        self.blow_up = BlowUp()
        self.watch = EventWatch(self.system, options.events) if options.events else None
        if self.watch:
            self.watch.begin(start.assembly.t, start.assembly.q, start.assembly.qd)
        self.crossings: list[Crossing] = []
        self.stopped_by: Crossing | None = None
        self.inside = False  # a chunk
        self.recorder: StepRecorder | None = None  # where the history of all steps is wanted
        # rows, time and checkpoint to which it is possible to go back
        self.safe: tuple[int, float, dict[str, Floats]] | None = None
        self.window = self.steps_in_window  # steps tried after which outputs are looked at
        if options.spacing is not None:
            stepper.look_back_to_here()
        self.notes += [*start.notes, *stepper.words]

    @property
    def passing(self) -> Passing:
        return self.takeover.passing

    @property
    def stepper(self) -> DynamicsStepper:
        """The one that takes the steps at present."""
        return self.takeover.passing.stepper

    @property
    def t(self) -> float:
        """The time reached: the beginning of the last step."""
        return self.stepper.integration.t

    @property
    def span(self) -> float:
        return float(self.outputs.times[-1]) - self.start.assembly.t

    def record(self) -> None:
        """Keep the size, the error and the iterations of every step from here on."""
        self.recorder = StepRecorder()
        self.recorder.begin(self.stepper)

    # the loop

    def to_the_end(self, progress: Progress | None, keep: Keep | None = None) -> Results:
        slow = bool(self.system.callbacks) or progress is not None or keep is not None
        try:
            with Interrupts(later=not slow) as interrupts:
                self.go_on(interrupts, progress, keep)
        except KeyboardInterrupt:
            raise self.interruption() from None
        return self.results(self.verdict())

    def go_on(self, interrupts: Interrupts, progress: Progress | None, keep: Keep | None) -> None:
        """Chunk after chunk. Ctrl-C and what `progress` and `keep` raise come between two of them."""
        outputs, pace = self.outputs, Pace(self.system.n)
        while outputs.done < outputs.times.size and self.stopped_by is None:
            self.inside = True
            try:
                self.chunk(1 if self.watch or self.recorder else pace.next())
            except SimEngineError:
                interrupts.check()  # a law of the user's that was interrupted has no value
                raise
            # outputs that are looked at together belong together: what is kept ends before them
            self.inside = outputs.spacing is not None
            interrupts.check()
            if progress is not None:
                progress(self.t)
            if keep is not None:
                self.try_to_keep(keep)
            if outputs.done < outputs.times.size:
                interrupts.begin()
                if outputs.spacing is None and pace.is_time_to_keep():
                    self.safe = outputs.done, self.t, self.everything()
        if outputs.spacing is not None and self.stopped_by is None:
            self.look_again()

    def chunk(self, steps: int) -> None:
        """Some steps, a look at their rows, and what happened in them."""
        if self.outputs.spacing is not None:
            steps = min(steps, self.steps_to_look())
        first = self.outputs.done
        self.advance(steps)
        self.check_rows(first)
        if self.recorder:
            self.recorder.note(self.stepper, len(self.steppers) > 1 and self.stepper is self.steppers[1])
        if self.watch:
            self.look_for_events(self.watch)

    def advance(self, most_steps: int) -> None:
        """Some steps; singular poses are passed on the way."""
        first = self.outputs.done
        why = self.step(most_steps)
        self.stepper.recover(self.outputs, first, inside=self.stopped_by is not None)
        if self.goes_on(why):
            return
        if self.options.fixed and self.options.formulation.poses == "dae":
            self.blow_up.check(self)
        trouble = self.stepper.trouble(why, self.outputs)
        if trouble is not None:
            raise self.failure(trouble)

    def step(self, most_steps: int) -> int:
        """Some steps, and why they ended."""
        most_steps = self.takeover.pace(most_steps)
        return self.stepper.step(self.outputs, self.passing.pace(most_steps))

    def goes_on(self, why: int) -> bool:
        """Whether something had happened after which the steps go on elsewhere, or otherwise."""
        if self.passing.passed(why):
            return True
        if why == loop_state.TOO_STIFF:
            self.takeover.turn_implicit()
        return why == loop_state.TOO_STIFF

    def check_rows(self, first: int) -> None:
        """End the run if rows from `first` on are useless; some times may have no values at all."""
        outputs, finite = self.outputs, self.outputs.finite_rows(first)
        if finite < outputs.done:
            outputs.done, t = finite, float(outputs.times[finite])
            why = undefined_at(self.system, t, outputs.history.Q[finite], outputs.history.Qd[finite])
            why = why or f"at the output t = {t:.9g} s accelerations or reactions are not finite."
            raise self.stopped(why, t)
        trouble = useless(self.stepper)
        if trouble is not None:
            outputs.done = first
            raise self.failure(trouble)

    # default outputs

    @property
    def tried(self) -> int:
        """Steps tried so far."""
        return sum(stepper.tried for stepper in self.steppers)

    def steps_to_look(self) -> int:
        """Look at the outputs so far if it is time; returns the steps up to the next time."""
        left = self.window - self.tried
        if left > 0:
            return left
        self.look_again()
        return self.begin_window()

    def begin_window(self) -> int:
        """Outputs up to here stay as they are. Returns the steps after which they are looked at again."""
        steps = self.steps_in_window
        self.window = self.tried + steps
        self.safe = self.outputs.done, self.t, self.everything()
        self.stepper.look_back_to_here()
        return steps

    @property
    def steps_in_window(self) -> int:
        """As many as can be looked into later; few where functions in Python make them slow."""
        stored = self.stepper.looks_back or WINDOW
        return min(stored, WINDOW) if self.system.callbacks else stored

    def look_again(self) -> None:
        """If something may have been larger between two outputs than ever before, look into the steps there."""
        outputs, stepper, (first, t, _) = self.outputs, self.stepper, self.safe or (0, self.options.t0, {})
        if outputs.done == first:
            return
        finer = outputs.times_beside_peaks(first, t)
        if finer.size and stepper.looks_back and len(self.takeover.passings) == 1:
            motion = stepper.motion_before(finer)
            if outputs.done < outputs.times.size:  # later peaks are compared with these
                outputs.peaks(finer, motion)
            outputs.insert(first, finer, motion)

    # events

    def look_for_events(self, watch: EventWatch) -> None:
        """Note what happened in the last step; an event may end the run."""
        last, end = float(self.outputs.times[-1]), self.stepper.integration.step_end
        if min(end, last) <= watch.t:
            return
        try:
            crossings = crossings_until(watch, min(end, last), self.between, self.options.rtol, end >= last)
        except ModelError as error:
            raise ModelError(str(error), self.results(f"stopped at t = {self.t:g} s")) from None
        for crossing in crossings:
            self.crossings.append(crossing)
            if crossing.stop:
                self.stopped_by = crossing
                self.end_at(crossing.t)
                return

    def between(self, t: float) -> tuple[Floats, Floats]:
        """q and qd at a time inside the last step, or inside the last passage through a singular pose."""
        return self.passing.state_at(t) or self.stepper.between(t)

    def end_at(self, t: float) -> None:
        """Make t the last output and go no further."""
        self.outputs.end_at(t)
        if not self.passing.write_last(t):
            self.advance(1)

    def forget_events_after(self, t: float, q: Floats, qd: Floats) -> None:
        """The motion goes on from an earlier state."""
        self.crossings[:] = [crossing for crossing in self.crossings if crossing.t <= t]
        if self.watch:
            self.watch.begin(t, q, qd)

    # runs that end early

    def failure(self, what: str) -> SimEngineError:
        """The error for a step that cannot be taken; a force that has no value is named first."""
        t = self.t
        return self.stopped(
            self.broken() or singular_start(self.start.assembly, t) or f"at t = {t:.9g} s {what}", t
        )

    def stopped(self, why: str, t: float) -> SimEngineError:
        self.outputs.done = good_rows(self.stepper, self.outputs)
        results = self.results(f"stopped at t = {t:g} s")
        error = ConvergenceError(f"{why} The {self.outputs.done} points before it are kept.", results)
        error.__cause__ = self.system.raised()
        return error

    def broken(self) -> str | None:
        """A sentence on what has no value at the time reached or a little later."""
        fixed = (self.options.step or 0.0) if self.options.fixed else 0.0
        return without_value(self.start.assembly, self.t, self.stepper.state, self.span or 1.0, fixed)

    def interruption(self) -> Interrupted:
        """Ctrl-C, with what is kept."""
        results, of_all = self.interrupted(), "" if self.outputs.spacing else f" of {self.outputs.times.size}"
        return Interrupted(f"{results.status}; {results.t.size}{of_all} points are kept.", results)

    def interrupted(self) -> Results:
        """What is kept: all so far, or where a chunk was broken off, all before it."""
        if not self.inside:
            return self.results(f"interrupted at t = {self.t:g} s")
        self.outputs.done, t, saved = self.safe or (0, self.options.t0, {})
        results = self.results(f"interrupted at t = {t:g} s")
        results.checkpoint = saved
        seen = float(saved.get("watch_t", t))
        results.events = [event for event in results.events if event.t <= seen]
        return results

    def try_to_keep(self, keep: Keep) -> None:
        """A full disk must not end a run."""
        try:
            keep(self.results(f"unfinished, at t = {self.t:g} s"))
        except OSError as error:
            note = f"the results so far could not be kept: {type(error).__name__}: {error}"
            if note not in self.notes:
                self.notes.append(note)

    # results

    def verdict(self) -> str:
        times, event = self.outputs.times, self.stopped_by
        if event is not None:
            return f"dynamics stopped at t = {event.t:.9g} s by the event '{event.name}', {self.outputs.done} points"
        return finished(times[-1], times.size)

    @property
    def steppers(self) -> list[DynamicsStepper]:
        return self.takeover.steppers

    def reported(self) -> list[str]:
        """Notes on the run so far."""
        known = [*self.notes, *halved_notes(*self.stepper.halved)]
        more = dict.fromkeys(note for stepper in self.steppers for note in cautions(stepper))
        return known + [note for note in more if note not in known]

    @property
    def method(self) -> str:
        """What took the steps, in words."""
        return self.options.method + self.takeover.in_words

    def statistics(self) -> dict[str, int]:
        first, *others = self.steppers
        counts = first.counts()
        statistics = {name: counts[name] for name in first.counted or counts}
        for other in others:
            statistics["implicit steps"] = other.counts()["steps"]
        return statistics

    def results(self, status: str) -> Results:
        k, h, times = self.outputs.done, self.outputs.history, self.outputs.times
        halved = [Crossing(HALVED, t, True, False) for t in self.stepper.halved[1]]
        statistics, reported = self.statistics(), self.reported()
        worst = reduce(np.maximum, [stepper.worst for stepper in self.steppers])
        return Results(
            self.system,
            times[:k].copy(),
            h.Q[:k],
            h.Qd[:k],
            h.Qdd[:k],
            h.Lam[:k],
            analysis="dynamics",
            status=status,
            notes=[*reported, *lift_off_notes(self.system, times[:k], h.Lam[:k])],
            residuals=dict(zip(("position", "velocity", "acceleration"), worst.tolist(), strict=True)),
            statistics=statistics,
            events=sorted([*self.crossings, *halved], key=lambda event: event.t),
            settings=self.options.settings(times) | {"method": self.method},
            checkpoint=self.everything(),
            history=self.recorder.history() if self.recorder else None,
        )

    # checkpoints

    def everything(self) -> dict[str, Floats]:
        """The checkpoint, and the state of the events."""
        saved = self.takeover.checkpoint()
        if self.watch and saved:
            saved |= self.watch.kept()
        if self.outputs.spacing is not None and saved:
            saved["window"] = np.array([float(self.window)])
        return saved

    def go_on_from(self, results: Results) -> None:
        """Take over what a run has finished, and continue from its state."""
        self.crossings = [event for event in results.events if event.name != HALVED]
        self.notes[:] = [
            note for note in results.notes if not note.startswith("resumed") and "halved" not in note
        ]
        self.notes.append(f"resumed at t = {results.t[-1]:g} s")
        try:
            self.take_over(results)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise UnsupportedError(
                "these results cannot be resumed: the state of the integrator does not fit the model, as in a file of "
                f"another version ({ended(error)[:-1]}). Run the analysis again."
            ) from None

    def take_over(self, results: Results) -> None:
        """The rows and the state of the integrator; a ValueError where their shapes are others."""
        outputs, saved = self.outputs, dict(results.checkpoint)
        outputs.take_over(results)
        self.takeover.restore(saved)
        if self.watch:
            self.watch.restore(saved)
        if outputs.spacing is not None:
            outputs.times_beside_peaks(0, np.inf)
            self.window = int(saved["window"][0])
            self.safe = outputs.done, self.t, self.everything()
            self.stepper.look_back_to_here()


def finished(t: float, points: int) -> str:
    """The verdict on a run that has come to its end."""
    return f"dynamics finished at t = {t:g} s, {points} points"
