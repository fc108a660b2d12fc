"""Forward dynamics: forces in, motion and multipliers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import ModelError
from ...methods import ChosenCoordinates, Formulation, FormulationName, Integrator, IntegratorName
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.collector import collector_waits
from ...results.events import Event
from ...results.results import Results
from ...system.system import System
from ..equation_system import EquationSystem
from ..times import begin_of, check_domains, output_times
from .choice import choice
from .dae_stepper import DaeStepper
from .earlier_motions import earlier
from .initial_state import InitialState, start
from .ode_stepper import OdeStepper
from .options import DynamicsOptions, methods
from .run import Keep, Progress, Run
from .second_opinion import second_opinion as asked_again
from .stepper import DynamicsStepper


def dynamics(
    model: Model | System | EquationSystem,
    *,
    t_end: float | None = None,
    step: float | None = None,
    t_eval: Sequence[float] | Floats | None = None,
    integrator: IntegratorName | str | Integrator | None = None,
    formulation: FormulationName | str | Formulation | None = None,
    coordinates: ChosenCoordinates | None = None,
    rtol: float = 1e-6,
    atol: float | Sequence[float] | Floats | None = None,
    max_step: float | None = None,
    events: Event | Sequence[Event] = (),
    second_opinion: bool = False,
    history: bool = False,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Results:
    """The motion of a model under its forces from the initial pose at t = 0 to `t_end`, or to the last of `t_eval`.

    By default, the engine chooses coordinates and methods; `results.method` names them and says why. An adaptive method
    keeps the error below `rtol` of each coordinate plus `atol` (by default `rtol` of a length of the mechanism, or of a
    radian), and `step` is the spacing of the outputs. Without `step` and `t_eval`
    there are 101 of them and, where steps are short, more between them, so that forces show their peaks. Other
    integrators take steps of `step`. A method is given by its name, with options as in "newmark(beta=0.25)", or as an
    object, `se.Newmark(newton="modified")`. A System in place of a model saves the time to build it again; a
    `symbolic.SymbolicSystem` is integrated as it is.

    `history` keeps every step: `results.history` and channels such as step.size have sizes, errors and iterations.
    `second_opinion` runs it again with a tighter tolerance, and adds the difference to `results.verdict`.
    Adaptive steps are not longer than `max_step`: it should resolve what a Python function does.

    `progress` is called with the simulated time, `keep` with the results so far.
    Raises with the results so far (`error.results`) if the integration ends early.
    """
    if isinstance(model, EquationSystem):
        return model.dynamics(
            t_end=t_end, step=step, t_eval=t_eval, integrator=integrator, formulation=formulation, rtol=rtol,
            atol=atol, max_step=max_step, events=events, second_opinion=second_opinion, history=history,
            coordinates=coordinates, progress=progress, keep=keep,
        )  # fmt: skip
    if isinstance(model, Model) and not any((integrator, formulation, coordinates, events, progress, keep)):
        asked = {
            "t_end": t_end,
            "step": step,
            "t_eval": t_eval,
            "rtol": rtol,
            "atol": atol,
            "max_step": max_step,
        }
        known = None if second_opinion or history else earlier.answer(model, asked)
        if known is not None:
            return known
    times = output_times(t_end, step, t_eval, "dynamics")
    events = (events,) if isinstance(events, Event) else tuple(events)
    spacing = float(times[1]) if step is None and t_eval is None else None
    others = rtol, atol, events, max_step, spacing
    options = options_of(model, times, step, integrator, formulation, coordinates, *others)
    results = _run(options, progress, keep, history)
    if not second_opinion:
        return results
    return asked_again(results, options, lambda sharper: _run(sharper, None, None, False))


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
    system = _system(model)
    method, posed = methods(integrator, formulation)
    begin = begin_of(system, times)
    check_domains(system, times)
    chosen = choice(system, begin, coordinates, method, posed, atol)
    others = events, max_step, begin, spacing, *chosen
    return DynamicsOptions(system, times, step, method, posed, rtol, atol, *others)


def _run(options: DynamicsOptions, progress: Progress | None, keep: Keep | None, history: bool) -> Results:
    run = new_run(options)
    if history:
        run.record()
    results = run.to_the_end(progress, keep)
    for stepper in run.steppers:
        stepper.put_away()
    return results


def new_run(options: DynamicsOptions) -> Run:
    """A run at its start."""
    with collector_waits(len(options.system.bodies)):
        at = start(options.system, options.t0)
        options.system.forget_raised()
        return Run(options, at, new_stepper(options, at))


def new_stepper(options: DynamicsOptions, at: InitialState) -> DynamicsStepper:
    """A stepper of the kind that the options ask for."""
    if options.formulation.poses == "dae":
        return DaeStepper(options, at)
    return OdeStepper.of(options, at)


def _system(model: Any) -> System:
    if isinstance(model, System):
        return model
    if not isinstance(model, Model):
        raise ModelError(f"dynamics needs a Model, not {model!r}; read a file with load(path).")
    return System(model)
