"""A run at its start: what is asked for, what the engine chooses, and the stepper for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import Interrupted, ModelError
from ...methods import Formulation, Integrator
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.collector import collector_waits
from ...numerics.interrupts import Interrupts
from ...results.events import Event
from ...system.system import System
from ..times import begin_of, check_domains, output_times
from .choice import choice
from .dae_stepper import DaeStepper
from .initial_state import InitialState, start
from .ode_stepper import OdeStepper
from .options import DynamicsOptions, methods
from .run import Run
from .stepper import DynamicsStepper

PLAIN = "t_end", "step", "t_eval", "rtol", "atol", "max_step"
"""Options of a plain call: methods are those that the engine chooses."""


def options_of(
    model: Model | System,
    times: Floats,
    step: float | None,
    integrator: str | Integrator | None,
    formulation: str | Formulation | None,
    coordinates: str | Mapping[str, Any] | None,
    rtol: float = 1e-6,
    atol: float | Sequence[float] | Floats | None = None,
    events: Sequence[Event] = (),
    max_step: float | None = None,
    spacing: float | None = None,
) -> DynamicsOptions:
    """What is asked for, with what the engine chooses where nothing is said."""
    system = as_system(model)
    method, posed = methods(integrator, formulation)
    begin = begin_of(system, times)
    check_domains(system, times)
    chosen = choice(system, begin, coordinates, method, posed, atol)
    others = events, max_step, begin, spacing, *chosen
    return DynamicsOptions(system, times, step, method, posed, rtol, atol, *others)


def options_from(system: System, asked: Mapping[str, Any]) -> DynamicsOptions:
    """What a plain call asks for."""
    t_end, step, t_eval = (asked.get(name) for name in PLAIN[:3])
    times = output_times(t_end, step, t_eval, "dynamics")
    spacing = float(times[1]) if step is None and t_eval is None else None
    rtol, atol, max_step = asked.get("rtol", 1e-6), asked.get("atol"), asked.get("max_step")
    return options_of(system, times, step, None, None, None, rtol, atol, (), max_step, spacing)


def new_run(options: DynamicsOptions) -> Run:
    """A run at its start."""
    with collector_waits(len(options.system.bodies)):
        at = start(options.system, options.t0)
        options.system.forget_raised()
        return Run(options, at, new_stepper(options, at))


def interrupted_run(options: DynamicsOptions) -> Interrupted:
    """What Ctrl-C leaves of a run that is over in one call: its first chunk, from which it goes on."""
    run = new_run(options)
    try:
        with Interrupts() as interrupts:
            interrupts.came = True
            run.go_on(interrupts, None, None)
    except KeyboardInterrupt:
        pass
    return run.interruption()


def new_stepper(options: DynamicsOptions, at: InitialState) -> DynamicsStepper:
    """A stepper of the kind that the options ask for."""
    if options.formulation.poses == "dae":
        return DaeStepper(options, at)
    return OdeStepper.of(options, at)


def as_system(model: Any) -> System:
    if isinstance(model, System):
        return model
    if not isinstance(model, Model):
        raise ModelError(f"dynamics needs a Model, not {model!r}; read a file with load(path).")
    return System(model)
