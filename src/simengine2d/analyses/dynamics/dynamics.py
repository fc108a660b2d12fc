"""Forward dynamics: forces in, motion and multipliers out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...methods import ChosenCoordinates, Formulation, FormulationName, Integrator, IntegratorName
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.events import Event
from ...results.results import Results
from ...system.system import System
from ..equation_system import EquationSystem
from ..times import output_times
from .earlier_motions import earlier
from .new_run import PLAIN, as_system, interrupted_run, new_run, options_from, options_of
from .options import DynamicsOptions
from .repeated_runs import plain_run
from .run import Keep, Progress
from .second_opinion import second_opinion as asked_again


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
    if not any((integrator, formulation, coordinates, events, second_opinion, history, keep)):
        asked = dict(zip(PLAIN, (t_end, step, t_eval, rtol, atol, max_step), strict=True))
        known = _answer_of_earlier(model, asked) if isinstance(model, Model) and progress is None else None
        return plain_run(as_system(model), asked, progress) if known is None else known
    times = output_times(t_end, step, t_eval, "dynamics")
    events = (events,) if isinstance(events, Event) else tuple(events)
    spacing = float(times[1]) if step is None and t_eval is None else None
    others = rtol, atol, events, max_step, spacing
    options = options_of(model, times, step, integrator, formulation, coordinates, *others)
    results = _run(options, progress, keep, history)
    if not second_opinion:
        return results
    return asked_again(results, options, lambda sharper: _run(sharper, None, None, False))


def _answer_of_earlier(model: Model, asked: dict[str, Any]) -> Results | None:
    try:
        return earlier.answer(model, asked)
    except KeyboardInterrupt:
        raise interrupted_run(options_from(as_system(model), asked)) from None


def _run(options: DynamicsOptions, progress: Progress | None, keep: Keep | None, history: bool) -> Results:
    run = new_run(options)
    if history:
        run.record()
    results = run.to_the_end(progress, keep)
    for stepper in run.steppers:
        stepper.put_away()
    return results
