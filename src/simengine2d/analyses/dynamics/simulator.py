"""A motion advanced step by step, for your own loops: a controller, a game, a co-simulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock

import numpy as np

from ...answer import Answer, Part, Rows, digits
from ...errors import ConvergenceError, ModelError, UnsupportedError, unknown
from ...integrators import loop_state
from ...integrators.runge_kutta import RungeKutta
from ...methods import CoordinatesName, Formulation, FormulationName, Integrator, IntegratorName
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.contexts import holds_addresses
from ...numerics.interrupts import Interrupts
from ...results.events import Crossing, Event, crossings_until
from ...results.results import Results
from ...system.system import System
from ..equation_system import EquationSystem
from ..times import check_domains
from .choice import choice
from .idle_families import take_family
from .initial_state import start
from .ode_stepper import OdeStepper
from .options import DynamicsOptions, methods
from .outputs import History
from .run import Run
from .simulator_inputs import SimulatorInput, checked_value, with_inputs

STEPS_AT_ONCE = 100_000  # Python hears Ctrl-C between them
SLOW_STEPS_AT_ONCE = 100  # with functions in Python
GOING_ON = (loop_state.PAUSED, loop_state.COLLAPSED, loop_state.ALARMED)


@holds_addresses
class Simulator(Answer):
    """The motion of a model from t = 0 on, advanced on request.

        sim = se.Simulator(model, inputs=["motor"], events=[se.Event("cart.x - 2")])
        while sim.t < 5 and sim.advance_by(0.01) is None:
            sim.set("motor", -20*sim["pole.phi"] - 3*sim["pole.phid"])

    `advance_to(t)` takes error-controlled explicit steps. They do not end at t; the state there is interpolated, so it
    does not matter how often it is called. Where the motion is stiff, implicit steps take over, which end at t.
    `inputs` are forces that `set` changes: the value of a Torque, the actuator of a Spring, "push.fx" or "push.fy" of a
    PointForce. An event that stops ends an advance and is returned by it; all are in `events`.
    When forces of yours change otherwise, `renew()` begins a new step at that time.
    Singular poses are passed in one long step, and reported in `notes`.
    """

    def __init__(
        self,
        model: Model | System | EquationSystem,
        *,
        coordinates: CoordinatesName | None = None,
        integrator: IntegratorName | str | Integrator | None = None,
        formulation: FormulationName | str | Formulation | None = None,
        rtol: float = 1e-6,
        atol: float | Floats | None = None,
        max_step: float | None = None,
        inputs: Sequence[str] = (),
        events: Event | Sequence[Event] = (),
    ) -> None:
        if isinstance(model, EquationSystem):
            raise UnsupportedError(
                "a Simulator moves models with bodies; for equations of one's own take se.dynamics."
            )
        self._inputs: dict[str, SimulatorInput] = {}
        if inputs:
            model, self._inputs = with_inputs(model.model if isinstance(model, System) else model, inputs)
        system = model if isinstance(model, System) else System(model)
        method, posed = methods(integrator, formulation)
        if not isinstance(method, RungeKutta) or not method.adaptive:
            raise UnsupportedError(
                f"a Simulator takes adaptive explicit integrators, such as dop853 and tsitouras5, not {method!r}."
            )
        self._times = np.zeros(1)
        watched = (events,) if isinstance(events, Event) else tuple(events)
        others = watched, max_step, None, None, *choice(system, 0.0, coordinates, method, posed, atol)
        self._options = DynamicsOptions(system, self._times, None, method, posed, rtol, atol, *others)
        self._start = start(system, 0.0)
        family = take_family(system, self._options.coordinates, posed, self._start)
        self._first = OdeStepper(self._options, self._start, family)
        self._seen: History | None = None
        self._row: Results | None = None
        self._coming: list[Crossing] = []
        self._looked = 0.0  # the time up to which events are known
        self.events: list[Crossing] = []
        """Events so far, in the order of time."""
        self._lock, self._busy = RLock(), False
        self.reset()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Other threads wait; a force that uses the simulator that is evaluating it is refused."""
        with self._lock:
            if self._busy:
                raise ModelError(
                    "a Simulator cannot be asked or moved by a force that it is just evaluating; "
                    "take what the force needs from its own arguments."
                )
            self._busy = True
            try:
                yield
            finally:
                self._busy = False

    def reset(self) -> None:
        """Back to t = 0, with the inputs that they have there."""
        with self._at_work():
            for each in self._inputs.values():
                each.value = each.first
            self.t = self._times[0] = 0.0
            self._forget()
            self.events, self._coming, self._looked = [], [], 0.0
            stepper = self._first
            self._options.system.forget_raised()
            stepper.begin(self._options)
            self._run = Run(self._options, self._start, stepper)
            stepper.Y = np.concatenate([stepper.integration.y, stepper.problem.monitors])[None]
            self._run.outputs.done = 1

    def __str__(self) -> str:
        return f"simulator of '{self._options.system.model.name}' at t = {self.t:g} s; {self.method}"

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        if self._inputs:
            yield Rows(["input", "value"], [[name, digits(value)] for name, value in self.inputs.items()])
        names, rates = self._options.system.coordinate_names, zip(self.q, self.qd, strict=True)
        rows = [[name, *map(digits, pair)] for name, pair in zip(names, rates, strict=True)]
        yield Rows(["coordinate", "value", "rate"], rows)

    def _forget(self) -> None:
        self._seen, self._row = None, None

    def advance_to(self, t: float) -> Crossing | None:
        """Go on to the time t, or to the first event that stops, which is returned."""
        with self._at_work():
            return self._advance(t)

    def advance_by(self, dt: float) -> Crossing | None:
        """Go on by dt, or to the first event that stops, which is returned."""
        with self._at_work():
            return self._advance(self.t + dt)

    def _advance(self, t: float) -> Crossing | None:
        if not self.t <= t < np.inf:
            raise ModelError(
                f"a Simulator at t = {self.t:g} s cannot advance to t = {t!r}; `reset()` leads back to 0."
            )
        self._forget()
        check_domains(self._run.system, np.array([t]))
        stop, more = self._next_stop(t), True
        while stop is None and more:
            more = self._go(t)
            stop = self._next_stop(t)
        if stop is not None:
            self._go(stop.t, watching=False)
        self.t = t if stop is None else stop.t
        return stop

    def _go(self, t: float, watching: bool = True) -> bool:
        """Go to the time t; where events are watched, perhaps only some steps of the way, which is True."""
        self._times[0] = t
        if self._on_the_way_over_a_pose(t):
            if watching:
                self._look_for_events(t)
            return False
        return self._move_to(t, watching and self._run.watch is not None)

    def _next_stop(self, t: float) -> Crossing | None:
        """The next event up to t that stops; those before it are noted."""
        while self._coming and self._coming[0].t <= t:
            self.events.append(self._coming.pop(0))
            if self.events[-1].stop:
                return self.events[-1]
        return None

    def _look_for_events(self, t: float) -> None:
        """What became certain in the last step up to t. Where a run has gone back, known events are met again."""
        run, watch = self._run, self._run.watch
        end = min(run.stepper.integration.step_end, t)
        if watch is None or end <= watch.t:
            return
        back, kind = self._looked - watch.t, lambda each: (each.name, each.rising)
        known = []
        if back > 0.0:
            known = [each for each in (*self.events, *self._coming) if each.t > watch.t]
        for crossing in crossings_until(watch, end, run.between, self._options.rtol, False):
            same = [
                each for each in known if kind(each) == kind(crossing) and abs(each.t - crossing.t) <= back
            ]
            if same:
                known.remove(same[0])
            else:
                self._coming.append(crossing)
        self._looked = max(self._looked, end)

    def _move_to(self, t: float, watching: bool) -> bool:
        """Steps up to the time asked for; singular poses are passed, or end in an error. True if some are left."""
        run, outputs = self._run, self._run.outputs
        if watching:  # in what is left of the last step, which leads beyond the time reached
            self._look_for_events(t)
            if self._coming:
                return True
        outputs.done = 0
        while outputs.done == 0:
            why = self._step(1 if watching else STEPS_AT_ONCE)
            if run.goes_on(why):
                self._on_the_way_over_a_pose(t)
            elif outputs.done == 0 and why not in GOING_ON:
                trouble = run.stepper.trouble(why, outputs)
                raise ConvergenceError(run.broken() or f"at t = {run.t:.9g} s {trouble}")
            if watching:
                self._look_for_events(t)
                if self._coming:
                    return outputs.done == 0
        return False

    def _on_the_way_over_a_pose(self, t: float) -> bool:
        """Whether t lies inside the last step over a singular pose; its motion is then what is seen."""
        motion = self._run.passing.motion_at(t)
        if motion is None:
            return False
        self._seen = History(*(rows[0] for rows in motion))
        self._run.stepper.fill_row(t, self._seen)
        return True

    def _step(self, most: int) -> int:
        """Some steps. Ctrl-C does not break off a function in Python, which would be left without a value."""
        if not self._run.system.callbacks:
            return self._run.step(most)
        with Interrupts() as interrupts:
            why = self._run.step(min(most, SLOW_STEPS_AT_ONCE))
        interrupts.check()
        return why

    def renew(self) -> None:
        """Discard the step that leads beyond the time reached, since forces have changed."""
        here = (self.q, self.qd) if self._run.watch is not None else None
        with self._at_work():
            self._forget()
            self._run.stepper.renew(self.t)
            self._run.passing.begin_at(self.t)
            self._coming, self._looked = [], self.t
            if self._run.watch is not None and here is not None:
                self._run.watch.begin(self.t, *here)

    # inputs

    def set(self, name: str, value: float) -> None:
        """Set an input; it keeps the value until it is set again."""
        if name not in self._inputs:
            hint = unknown("input", name, self._inputs)
            raise ModelError(
                f"there is no input '{name}'. {hint} Name it when the Simulator is made: inputs=['{name}']."
            )
        number = checked_value(name, value)
        if number != self._inputs[name].value:
            with self._at_work():
                self._inputs[name].value = number
            self.renew()

    @property
    def inputs(self) -> dict[str, float]:
        """The values of the inputs."""
        return {name: each.value for name, each in self._inputs.items()}

    @property
    def notes(self) -> list[str]:
        """Notes on the motion so far, as in results."""
        with self._at_work():
            return self._run.reported()

    @property
    def method(self) -> str:
        """What takes the steps, and why that was chosen."""
        return self._run.method

    @property
    def statistics(self) -> dict[str, int]:
        """Steps, rejected steps and evaluations since the start, or since `renew`."""
        return self._run.statistics()

    # the state of the bodies

    def __getitem__(self, channel: str) -> float:
        """A channel at the time reached, by its name as in results: "crank.phi", "rod.B.xd", "B.fx", "spring.force"."""
        if channel in self._inputs:
            return self._inputs[channel].value
        motion = self._motion
        if self._row is None:
            q, qd, qdd, lam = motion.Q[None], motion.Qd[None], motion.Qdd[None], motion.Lam[None]
            self._row = Results(self._run.system, np.array([self.t]), q, qd, qdd, lam)
        return float(self._row[channel][0])

    @property
    def q(self) -> Floats:
        """x, y, phi of every body, one after another."""
        return self._motion.Q

    @property
    def qd(self) -> Floats:
        return self._motion.Qd

    @property
    def qdd(self) -> Floats:
        return self._motion.Qdd

    @property
    def lam(self) -> Floats:
        """The multipliers of the constraints."""
        return self._motion.Lam

    @property
    def _motion(self) -> History:
        """Solved on request."""
        with self._at_work():
            if self._seen is None:
                outputs = self._run.outputs
                self._run.stepper.recover(outputs, 0, inside=False)
                self._seen = History(*(rows[0] for rows in outputs.history))
            return self._seen
