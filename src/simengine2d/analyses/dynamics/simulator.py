"""A motion advanced step by step, for your own loops: a controller, a game, a co-simulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np

from ...errors import ConvergenceError, ModelError, UnsupportedError
from ...integrators import loop_state
from ...integrators.runge_kutta import RungeKutta
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.contexts import holds_addresses
from ...numerics.interrupts import Interrupts
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

STEPS_AT_ONCE = 100_000  # Python hears Ctrl-C between them
SLOW_STEPS_AT_ONCE = 100  # with functions in Python
GOING_ON = (loop_state.PAUSED, loop_state.COLLAPSED, loop_state.ALARMED)


@holds_addresses
class Simulator:
    """The motion of a model from t = 0 on, advanced on request.

    `advance(t)` takes error-controlled explicit steps. They do not end at t; the state there is interpolated, so it
    does not matter how often it is called. Where the motion is stiff, implicit steps take over, which end at t. When
    forces change from outside, `renew()` begins a new step at that time.
    Singular poses are passed in one long step, and reported in `notes`.
    """

    def __init__(
        self,
        model: Model | System | EquationSystem,
        *,
        coordinates: str | None = None,
        integrator: Any = None,
        formulation: Any = None,
        rtol: float = 1e-6,
        atol: float | Floats | None = None,
        max_step: float | None = None,
    ) -> None:
        if isinstance(model, EquationSystem):
            raise UnsupportedError(
                "a Simulator moves models with bodies; for equations of one's own take se.dynamics."
            )
        system = model if isinstance(model, System) else System(model)
        method, posed = methods(integrator, formulation)
        if not isinstance(method, RungeKutta) or not method.adaptive:
            raise UnsupportedError(
                f"a Simulator takes adaptive explicit integrators, such as dop853 and tsitouras5, not {method!r}."
            )
        self._times = np.zeros(1)
        others = (), max_step, None, None, *choice(system, 0.0, coordinates, method, posed, atol)
        self._options = DynamicsOptions(system, self._times, None, method, posed, rtol, atol, *others)
        self._start = start(system, 0.0)
        family = take_family(system, self._options.coordinates, posed, self._start)
        self._first = OdeStepper(self._options, self._start, family)
        self._seen: History | None = None
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
        """Back to t = 0."""
        with self._at_work():
            self.t = self._times[0] = 0.0
            stepper, self._seen = self._first, None
            self._options.system.forget_raised()
            stepper.begin(self._options)
            self._run = Run(self._options, self._start, stepper)
            stepper.Y = np.concatenate([stepper.integration.y, stepper.problem.monitors])[None]
            self._run.outputs.done = 1

    def advance(self, t: float) -> None:
        """Go on to the time t."""
        with self._at_work():
            self._advance(t)

    def _advance(self, t: float) -> None:
        if not self.t <= t < np.inf:
            raise ModelError(
                f"a Simulator at t = {self.t:g} s cannot advance to t = {t!r}; `reset()` leads back to 0."
            )
        self._times[0], self._seen = t, None
        check_domains(self._run.system, self._times)
        if not self._on_the_way_over_a_pose(t):
            self._move_to(t)
        self.t = t

    def _move_to(self, t: float) -> None:
        """Steps up to the time asked for; singular poses are passed, or end in an error."""
        run, outputs = self._run, self._run.outputs
        outputs.done = 0
        while outputs.done == 0:
            why = self._step()
            if run.goes_on(why):
                self._on_the_way_over_a_pose(t)
            elif outputs.done == 0 and why not in GOING_ON:
                trouble = run.stepper.trouble(why, outputs)
                raise ConvergenceError(run.broken() or f"at t = {run.t:.9g} s {trouble}")

    def _on_the_way_over_a_pose(self, t: float) -> bool:
        """Whether t lies inside the last step over a singular pose; its motion is then what is seen."""
        motion = self._run.passing.motion_at(t)
        if motion is None:
            return False
        self._seen = History(*(rows[0] for rows in motion))
        self._run.stepper.fill_row(t, self._seen)
        return True

    def _step(self) -> int:
        """Some steps. Ctrl-C does not break off a function in Python, which would be left without a value."""
        if not self._run.system.callbacks:
            return self._run.step(STEPS_AT_ONCE)
        with Interrupts() as interrupts:
            why = self._run.step(SLOW_STEPS_AT_ONCE)
        interrupts.check()
        return why

    def renew(self) -> None:
        """Discard the step that leads beyond the time reached, since forces have changed."""
        with self._at_work():
            self._seen = None
            self._run.stepper.renew(self.t)
            self._run.passing.begin_at(self.t)

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
