"""`explain`: one solution of one problem, laid open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...analyses.assembly.assemble import assemble
from ...analyses.dynamics.new_run import new_run, options_of
from ...analyses.dynamics.ode_stepper import OdeStepper
from ...analyses.dynamics.options import DynamicsOptions
from ...analyses.dynamics.run import Run
from ...analyses.kinematics.kinematics import kinematics
from ...analyses.statics.equilibrium import beginning
from ...errors import ModelError, unknown
from ...integrators.ivp.choosing import method_of
from ...integrators.ivp.inputs import real_array
from ...methods import Formulation, Integrator
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from .dae_steps import explain_dae_step
from .explanation import Explanation
from .kinematics import KINEMATICS, explain_kinematics
from .ode_steps import Start, explain_ode_step
from .statics import explain_equilibrium

PROBLEMS = ("kinematics", *KINEMATICS, "dynamics", "equilibrium")
MOST_STEPS = 100_000


def explain(
    model: Model | System | Callable[[float, Floats], Any],
    what: str = "dynamics",
    *,
    at: float | None = None,
    step: float | None = None,
    integrator: str | Integrator | None = None,
    formulation: str | Formulation | None = None,
    coordinates: str | None = None,
    method: str = "newton",
    guess: Sequence[float] | Floats | None = None,
    y0: Sequence[float] | Floats | None = None,
    t0: float = 0.0,
) -> Explanation:
    """How a method solves one problem, line by line: guess, residual, Jacobian, correction, and how fast they converge.

    se.explain(model, "dynamics", integrator="newmark", step=0.01, at=0.01)     the step that ends at t = 0.01 s
    se.explain(model, "position", at=0.5), "velocity", "acceleration", "kinematics"
    se.explain(model, "equilibrium", method="newton")                           or energy, relaxation
    se.explain(lambda t, y: -y**2, integrator="backward_euler", y0=[1], step=0.1)

    A position problem starts from the drawn pose, from the solution a `step` earlier, or from a `guess`; that is also
    where the iteration of an implicit method on y' = f(t, y) starts. Without `at`, it is the first step that is shown;
    without an integrator, that of newmark, or for a function of rk4.
    """
    if callable(model) and not isinstance(model, Model | System):
        if y0 is None:
            raise ModelError("give y0=..., the state at t0, for y' = f(t, y).")
        return _explain_function(
            model, integrator or "rk4", real_array("y0", y0).reshape(-1), t0, step, at, guess
        )
    if not isinstance(model, Model | System):
        raise ModelError(
            f"explain needs a Model, or a function f(t, y), not {model!r}; read a file with load(path)."
        )
    if what not in PROBLEMS:
        raise ModelError(f"there is nothing to explain under {what!r}. {unknown('problem', what, PROBLEMS)}")
    system = model if isinstance(model, System) else System(model)
    if what == "equilibrium":
        return explain_equilibrium(system, beginning(system, at or 0.0), method)
    if what != "dynamics":
        return explain_kinematics(system, at or 0.0, _first_guess(system, at or 0.0, step, guess), what)
    return _explain_dynamics(system, at, step, integrator, formulation, coordinates)


def _first_guess(system: System, t: float, step: float | None, guess: Any) -> Floats:
    if guess is not None:
        given = real_array("guess", guess).reshape(-1)
        if given.size != system.n:
            raise ModelError(
                f"guess has {given.size} numbers; {system.n} are needed: {', '.join(system.coordinate_names)}."
            )
        return given
    if step is None:
        return system.drawn_q.copy()
    before = t - _positive(step)
    times = [0.0, before] if before > 0.0 else [before]
    return (
        np.array(kinematics(system.model, t_eval=times).q[-1]) if before > 0.0 else assemble(system, before).q
    )


def _positive(step: float | None) -> float:
    if step is None or not 0.0 < step < np.inf:
        raise ModelError(
            f"step = {step!r} must be a positive number of seconds; it is the step that is explained."
        )
    return float(step)


def _grid(first: float, at: float | None, step: float) -> Floats:
    """The ends of the steps up to the one that is explained."""
    last = first + step if at is None else float(at)
    count = round((last - first) / step)
    if count < 1 or abs(first + count * step - last) > 1e-6 * step:
        raise ModelError(
            f"at = {last:g} s is not the end of a step: these end at {first:g} s plus multiples of {step:g} s."
        )
    if count > MOST_STEPS:
        raise ModelError(f"at = {last:g} s is {count} steps away; at most {MOST_STEPS} are taken.")
    return np.asarray(first + step * np.arange(count + 1.0))


# Mechanisms -------------------------------------------------------------------------------------------


def _explain_dynamics(
    system: System, at: float | None, step: float | None, integrator: Any, formulation: Any, coordinates: Any
) -> Explanation:
    times = _grid(0.0, at, _positive(step))
    integrator = integrator or ("newmark" if formulation is None else None)
    asked = integrator, formulation, coordinates
    options = options_of(system, times, step, *asked)
    if options.formulation.poses == "dae" and options.fixed:
        before = options_of(system, times[:-1], step, *asked)
        return explain_dae_step(_finished(before), _finished(options), options)
    return _explain_ode(options)


def _finished(options: DynamicsOptions) -> Run:
    run = new_run(options)
    run.to_the_end(None)
    return run


def _explain_ode(options: DynamicsOptions) -> Explanation:
    """The equations of a formulation as y' = f(t, y), with y = (z, zd)."""
    times, method = options.times, options.integrator
    assert method is not None
    before = times[:-1] if options.fixed or times.size == 2 else times[[0, -2]]
    run = _finished(replace(options, times=before))
    stepper, n = run.stepper, run.stepper.family.n
    assert isinstance(stepper, OdeStepper)
    rows = stepper.Y[: run.outputs.done, : 2 * n].copy()

    def slope(t: float, y: Floats) -> Floats:
        out = np.empty(2 * n)
        stepper.problem.rhs(t, np.ascontiguousarray(y), out)
        return out

    names = (*stepper.family.names, *(f"{name}d" for name in stepper.family.names))
    past = list(rows[-2::-1]) if options.fixed else []
    start = Start(
        slope, float(times[-2]), float(times[-1] - times[-2]), rows[-1], past, names, None, options.rtol
    )
    explained = explain_ode_step(method, start)
    end = np.array(explained.found["y1"])
    stepper.problem.finish(float(times[-1]), end, stepper.problem.monitors)
    return _with_projection(explained, end, options)


def _with_projection(explained: Explanation, end: Floats, options: DynamicsOptions) -> Explanation:
    """What a formulation does after the step, if anything."""
    title = f"{explained.title}, on the formulation {options.formulation.name} in {options.coordinates} coordinates"
    if np.allclose(end, explained.found["y1"], rtol=1e-15, atol=0.0):
        return replace(explained, title=title)
    names = {**explained.names, "y1 on the constraints": explained.names["y1"]}
    return replace(
        explained, title=title, found={**explained.found, "y1 on the constraints": end}, names=names
    )


# Functions --------------------------------------------------------------------------------------------


def _explain_function(
    f: Callable[[float, Floats], Any],
    integrator: Any,
    y0: Floats,
    t0: float,
    step: float | None,
    at: float | None,
    guess: Any,
) -> Explanation:
    method, times = method_of(integrator), _grid(t0, at, _positive(step))
    slope = lambda t, y: real_array("f(t, y)", f(t, y)).reshape(-1)
    names = ("y",) if y0.size == 1 else tuple(f"y{i + 1}" for i in range(y0.size))
    rows, explained = [y0], None
    start = None if guess is None else real_array("guess", guess).reshape(-1)
    for t, following in pairwise(times):
        at_start = Start(slope, float(t), float(following - t), rows[0], rows[1:], names, start)
        explained = explain_ode_step(method, at_start)
        rows = [np.array(explained.found["y1"]), *rows[:6]]
    assert explained is not None
    return explained
