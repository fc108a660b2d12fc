"""A run of dynamics: outputs in chunks, progress, events, and saving what is finished."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import (
    Caution,
    ConvergenceError,
    Interrupted,
    ModelError,
    SimEngineError,
    UnsupportedError,
    ended,
    listed,
)
from ...numerics.interrupts import Interrupts
from ...results.events import Crossing, EventWatch, crossings_until
from ...results.results import Results
from ...system.elimination import elimination_program
from ...system.equations_of_motion import EquationArrays
from ...system.failures import broken_contact, broken_force, broken_function, overgrown
from ...system.workspace import Workspace
from ..output_grid import MOST_NUMBERS, OutputGrid, beside_peaks
from ..pace import Pace
from .initial_state import InitialState
from .lift_off import lift_off_notes
from .options import Task

Floats = NDArray[np.float64]
Progress = Callable[[float], None]
"""Called now and then with the simulated time."""
Keep = Callable[[Results], None]
"""Called now and then with the results so far."""

HALVED = "halved step"
"""Name of the event that a fixed step was not fixed."""
STEPS_A_CHUNK = 2_000  # after which an adaptive run checks whether it makes progress


class History(NamedTuple):
    """One row per output time."""

    Q: Floats
    Qd: Floats
    Qdd: Floats
    Lam: Floats


class Run(ABC):
    """What all runs share."""

    def __init__(self, task: Task, start: InitialState) -> None:
        self.start, self.system = start, task.system
        self.set_out(task)

    def set_out(self, task: Task) -> None:
        """Empty rows, and what is known before the first step."""
        start, self.task, self.times = self.start, task, task.times
        self.system.forget_raised()
        self.history = new_history(self.times.size, self.system.n, self.system.m)
        self.watch = EventWatch(self.system, task.events) if task.events else None
        if self.watch:
            self.watch.begin(start.assembly.t, start.assembly.q, start.assembly.qd)
        self.crossings: list[Crossing] = []
        self.stopped_by: Crossing | None = None
        self.done = 0
        self.inside = False
        self.grid = None if task.spacing is None else OutputGrid(task.spacing, float(task.times[-1]))
        self.safe: tuple[int, float, dict[str, Floats]] | None = None
        self.noted: list[str] = []
        self.largest = np.zeros(1)
        self.notes = list(start.assembly.notes)
        if start.redundant:
            self.notes.append(
                f"the reactions of {listed(start.redundant)} are not unique, since these constraints are redundant; "
                "the smallest ones are given"
            )

    @property
    def span(self) -> float:
        return float(self.times[-1]) - self.start.assembly.t

    @cached_property
    def d(self) -> EquationArrays:
        """The elimination program of the system."""
        d = elimination_program(self.system, not self.start.regular, False)
        implied = np.array(self.start.implied, dtype=np.int64)
        return d._replace(stabilization=np.array(self.task.formulation.stabilization), dropped=implied)

    @cached_property
    def w(self) -> Workspace:
        return self.system.new_workspace(self.d)

    # what a kind of run says of itself

    @property
    @abstractmethod
    def t(self) -> float:
        """The time reached."""

    @property
    @abstractmethod
    def state(self) -> tuple[Floats, Floats]:
        """q and qd at that time."""

    @abstractmethod
    def advance(self, most_steps: int) -> None:
        """Go on for some steps."""

    @property
    @abstractmethod
    def step_end(self) -> float:
        """End of the last step; `between` knows the states inside it."""

    @abstractmethod
    def between(self, t: float) -> tuple[Floats, Floats]:
        """q and qd at a time inside the last step."""

    @abstractmethod
    def end_at(self, t: float) -> None:
        """Make t the last output and go no further."""

    @property
    @abstractmethod
    def worst(self) -> Floats:
        """Largest errors of the constraint equations at the three levels."""

    @property
    def halved(self) -> tuple[int, list[float]]:
        """How many fixed steps were halved, and when the first of them began."""
        return 0, []

    @abstractmethod
    def statistics(self) -> dict[str, int]: ...

    @abstractmethod
    def checkpoint(self) -> dict[str, Floats]:
        """Everything that is needed to continue later."""

    @abstractmethod
    def restore(self, saved: dict[str, Floats]) -> None:
        """Go on from a checkpoint."""

    def go_on_from(self, results: Results) -> None:
        """Take over what a run has finished, and continue from its state."""
        self.crossings = [event for event in results.events if event.name != HALVED]
        self.notes = [
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
        k = self.done = results.t.size
        names = ("q", "qd", "qdd", "lam")
        given = {name: getattr(results, name) for name in names if getattr(results, name) is not None}
        refill(dict(zip(names, (array[:k] for array in self.history), strict=True)), given)
        saved = dict(results.checkpoint)
        self.restore(saved)
        if self.watch:
            self.watch.restore(saved)
        if self.grid is not None:
            self.largest = self.sizes(slice(0, k)).max(axis=0)
            self.grid.laid[:] = saved["grid"]
            self.make_room(self.grid.times(max(float(results.t[-1]), self.t)))
            self.look_no_further_back()

    def put_away(self) -> None:  # noqa: B027  (most runs keep nothing)
        """Leave what the steps worked in to the next run, when this one has come to its end."""

    # the loop

    def to_the_end(self, progress: Progress | None, keep: Keep | None = None) -> Results:
        try:
            with Interrupts() as interrupts:
                self.go_on(interrupts, progress, keep)
        except KeyboardInterrupt:
            results = self.interrupted()
            kept = f"{results.t.size} of {self.times.size} points are kept"
            raise Interrupted(f"{results.status}; {kept}.", results) from None
        return self.results(self.verdict())

    def go_on(self, interrupts: Interrupts, progress: Progress | None, keep: Keep | None) -> None:
        """Chunk after chunk. Ctrl-C and what `progress` and `keep` raise come between two of them."""
        pace = Pace(self.system.n)
        while self.done < self.times.size and self.stopped_by is None:
            self.inside = True
            try:
                self.chunk(1 if self.watch else pace.next())
            except SimEngineError:
                interrupts.check()  # a law of the user's that was interrupted has no value
                raise
            # outputs that are being laid belong together: what is kept ends before them
            self.inside = self.grid is not None
            interrupts.check()
            if progress is not None:
                progress(self.t)
            if keep is not None:
                self.try_to_keep(keep)
            if self.grid is None and self.done < self.times.size and pace.is_time_to_keep():
                self.safe = self.done, self.t, self.everything()
        if self.grid is not None and self.stopped_by is None:
            self.look_again()

    def chunk(self, steps: int) -> None:
        """Some steps, a look at their rows, and what happened in them."""
        if self.grid is not None:
            steps = min(steps, self.steps_to_lay(self.grid))
        first = self.done
        self.advance(steps)
        self.check_rows(first)
        if self.watch:
            self.look_for_events(self.watch)

    # default outputs

    @property
    def tried(self) -> int:
        """Steps tried so far."""
        return 0

    @property
    def step_ahead(self) -> float:
        """Size of the step that comes next; 0 where that is not known."""
        return 0.0

    @property
    def outputs_per_step(self) -> float:
        """How dense outputs must be to show the motion."""
        return 1.0

    def steps_to_lay(self, grid: OutputGrid) -> int:
        """Choose the outputs again if it is time; returns the steps up to the next time."""
        if self.tried > 0 and grid.is_due(self.tried):
            self.look_again()
            reached = float(self.times[self.done - 1]) if self.done else self.start.assembly.t
            full = self.done * (3 * self.system.n + self.system.m) > MOST_NUMBERS
            grid.lay(self.tried, self.t, 0.0 if full else self.step_ahead / self.outputs_per_step)
            self.make_room(grid.times(max(reached, self.t)))
            self.look_no_further_back()
        return grid.steps_left(self.tried)

    def look_no_further_back(self) -> None:
        """Outputs up to here stay as they are."""
        self.safe, self.noted = (self.done, self.t, self.everything()), list(self.notes)

    def look_again(self) -> None:
        """If something may have been larger between two outputs than ever before, repeat these steps."""
        first, t, saved = self.safe or (0, 0.0, {})
        begin = max(0, first - 1)
        rows = slice(begin, self.done)
        finer = beside_peaks(self.times[rows], self.sizes(rows), self.largest)
        finer = (
            finer[finer > max(t, self.times[first - 1])] if first else finer
        )  # steps before t cannot be looked into
        if saved and finer.size and self.can_go_back:
            self.take_again(first, saved, np.union1d(self.times[first:], finer))
        self.largest = np.maximum(self.largest, self.sizes(slice(begin, self.done)).max(axis=0, initial=0.0))

    def take_again(self, first: int, saved: dict[str, Floats], times: Floats) -> None:
        """The steps since row `first`, with other outputs."""
        tried, ended = self.tried, self.done == self.times.size
        self.restore(saved)
        self.done, self.notes = first, list(self.noted)
        self.make_room(times)
        while self.tried < tried or (ended and self.done < self.times.size):
            self.advance(max(1, tried - self.tried))
        self.check_rows(first)

    @property
    def can_go_back(self) -> bool:
        """Whether steps that were taken once are the same when they are taken again with other outputs."""
        return False

    def sizes(self, rows: slice) -> Floats:
        """The forces of all joints at some outputs; where there are none, the accelerations."""
        if not self.system.first_rows.size:
            return np.abs(self.history.Qdd[rows])
        return np.sqrt(np.add.reduceat(self.history.Lam[rows] ** 2, self.system.first_rows, axis=1))

    def make_room(self, later: Floats) -> None:
        """Rows for outputs at these times, after those that are filled."""
        self.times = np.concatenate([self.times[: self.done], later])
        if len(self.history.Q) < self.times.size:
            more = 2 * self.times.size - len(self.history.Q)
            self.history = History(*(np.concatenate([a, np.zeros((more, a.shape[1]))]) for a in self.history))

    def check_rows(self, first: int) -> None:
        """No row is returned that is not finite: an integrator may have stepped over a time without values."""
        if self.finite_rows(first) == self.done:
            return
        k = self.done = self.finite_rows(first)
        t = float(self.times[k])
        why = self.broken_at(t, self.history.Q[k], self.history.Qd[k])
        why = why or f"at the output t = {t:.9g} s accelerations or reactions are not finite."
        raise self.stopped(why, t)

    def finite_rows(self, first: int) -> int:
        """The number of rows before the first that is not finite; those before `first` are."""
        if all(np.isfinite(array[first : self.done]).all() for array in self.history):
            return self.done
        good = np.all([np.isfinite(array[first : self.done]).all(axis=1) for array in self.history], axis=0)
        return first + int(np.argmin(good))

    def keep_good_rows(self) -> None:
        """Rows of a run that ends early: those before the first useless one."""
        self.done = self.finite_rows(0)

    def interrupted(self) -> Results:
        """What is kept: all so far, or where a chunk was broken off, all before it."""
        if not self.inside:
            return self.results(f"interrupted at t = {self.t:g} s")
        done, t, saved = self.safe or (0, self.task.t0, {})
        self.done = done
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

    def verdict(self) -> str:
        if self.stopped_by is not None:
            event = self.stopped_by
            return f"dynamics stopped at t = {event.t:.9g} s by the event '{event.name}', {self.done} points"
        return f"dynamics finished at t = {self.times[-1]:g} s, {self.times.size} points"

    def look_for_events(self, watch: EventWatch) -> None:
        """Note what happened in the last step; an event may end the run."""
        end = min(self.step_end, float(self.times[-1]))
        if end <= watch.t:
            return
        try:
            last = end >= self.times[-1]
            crossings = crossings_until(watch, end, self.between, self.task.rtol, last)
        except ModelError as error:
            raise ModelError(str(error), self.results(f"stopped at t = {self.t:g} s")) from None
        for crossing in crossings:
            self.crossings.append(crossing)
            if crossing.stop:
                self.stopped_by = crossing
                self.end_at(crossing.t)
                return

    def failure(self, what: str) -> SimEngineError:
        """The error for a step that cannot be taken; a force that has no value is named first."""
        t = self.t
        return self.stopped(self.broken() or f"at t = {t:.9g} s {what}", t)

    def stopped(self, why: str, t: float) -> SimEngineError:
        self.keep_good_rows()
        results = self.results(f"stopped at t = {t:g} s")
        error = ConvergenceError(f"{why} The {self.done} points before it are kept.", results)
        error.__cause__ = self.system.raised()
        return error

    def broken(self) -> str | None:
        """A sentence on what has no value at the time reached or a little later."""
        t, (q, qd) = self.t, self.state
        span = self.span or 1.0
        fixed = self.task.step if self.task.fixed and self.task.step is not None else 0.0
        for ahead in (0.0, 1e-9 * span, 1e-6 * span, 0.25 * fixed, 0.5 * fixed, fixed):
            with np.errstate(over="ignore", invalid="ignore"):
                later = q + ahead * qd
            why = self.broken_at(t + ahead, later, qd)
            if why is not None:
                return why
        finite = bool(np.all(np.isfinite(np.concatenate([q, qd]))))
        return overgrown(self.system, t, q, qd, self.start.assembly) if finite else None

    def broken_at(self, t: float, q: Floats, qd: Floats) -> str | None:
        system = self.system
        if not np.all(np.isfinite(np.concatenate([q, qd]))):
            return broken_function(system, t)
        return broken_function(system, t) or broken_force(system, t, q, qd) or broken_contact(system, t, q)

    def reported(self) -> list[str]:
        """Notes on the run so far."""
        return [*self.notes, *halved_notes(*self.halved)]

    def results(self, status: str) -> Results:
        k, h, (_, times) = self.done, self.history, self.halved
        return Results(
            self.system,
            self.times[:k].copy(),
            h.Q[:k],
            h.Qd[:k],
            h.Qdd[:k],
            h.Lam[:k],
            analysis="dynamics",
            status=status,
            notes=[*self.reported(), *lift_off_notes(self.system, self.times[:k], h.Lam[:k])],
            residuals=dict(zip(("position", "velocity", "acceleration"), self.worst.tolist(), strict=True)),
            statistics=self.statistics(),
            events=sorted(
                [*self.crossings, *(Crossing(HALVED, t, True, False) for t in times)],
                key=lambda event: event.t,
            ),
            settings=self.settings(),
            checkpoint=self.everything(),
        )

    def everything(self) -> dict[str, Floats]:
        """The checkpoint, and the state of the events."""
        saved = self.checkpoint()
        if self.watch and saved:
            saved |= self.watch.kept()
        if self.grid is not None and saved:
            saved["grid"] = self.grid.laid.copy()
        return saved

    def settings(self) -> dict[str, Any]:
        """The options of the task as plain data, for `resume`."""
        task = self.task
        return {
            "begin": task.t0,
            "t_end": float(self.times[-1]),
            "step": task.step,
            "spacing": task.spacing
            or (float(self.times[1] - self.times[0]) if self.times.size > 1 else None),
            "follows_steps": task.spacing is not None,
            "integrator": plain(task.integrator),
            "formulation": plain(task.formulation),
            "coordinates": task.coordinates,
            "rtol": task.rtol,
            "atol": None if task.atol is None else np.asarray(task.atol).tolist(),
            "max_step": task.max_step,
            "events": [plain(event) for event in task.events],
        }


def halved_notes(count: int, times: list[float]) -> list[str]:
    """A sentence if fixed steps were not fixed."""
    if not count:
        return []
    steps = f"{count} fixed steps were" if count > 1 else "one fixed step was"
    when = listed([f"{t:.9g} s" for t in times[:3]]) + (" ..." if count > 3 else "")
    why = "since the iteration did not converge there"
    return [Caution(f"{steps} halved, {why}: after t = {when}; take a smaller step")]


def plain(thing: Any) -> dict[str, Any] | None:
    """A method or an event as data: its name and its options."""
    return None if thing is None else {"name": thing.name, **thing.__dict__}


def refill(arrays: dict[str, Floats], saved: dict[str, Floats]) -> None:
    """Put what was saved into arrays of the same shapes."""
    for name, array in arrays.items():
        if np.shape(saved[name]) != array.shape:
            raise ValueError(f"{name} has the shape {np.shape(saved[name])} instead of {array.shape}")
        if np.any(np.isnan(saved[name]) & ~np.isnan(array)):
            raise ValueError(f"{name} is nan")
        array[...] = saved[name]


def new_history(times: int, n: int, m: int) -> History:
    Q, Qd, Qdd = np.zeros((3, times, n))
    return History(Q, Qd, Qdd, np.zeros((times, m)))
