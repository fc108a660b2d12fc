"""What the search found, checked: a full run of the model, without a dead point, with all requirements."""

from __future__ import annotations

import numpy as np

from ...analyses.inverse.inverse_dynamics import inverse_dynamics
from ...analyses.kinematics.kinematics import kinematics
from ...analyses.linkage.grashof import grashof_of
from ...analyses.linkage.loops import FourBarLengths, SliderCrankLengths
from ...analyses.linkage.transmission import transmission_angle
from ...errors import SimEngineError
from ...numerics.arrays import Floats
from .model_problem import ModelProblem
from .problem import LinkageProblem
from .requirement_search import within_requirements
from .requirements import Requirement
from .search import LAST, descend
from .solutions import SynthesizedLinkage, SynthesizedModel
from .targets import POSES

TIGHTER = 1.5  # times the angle that is missing
TRIES = 5
FINE = 721  # angles on the way at which the least transmission angle is looked for
AGREES = 1e-6  # closed form and run of the model, relative to the target


def checked_linkage(
    problem: LinkageProblem, x: Floats, requirements: list[Requirement]
) -> SynthesizedLinkage | None:
    """The linkage of x; None if it does not pass all positions as a model, or misses a requirement."""
    x = transmitting(problem, x)
    if requirements:
        x = within_requirements(problem, x, requirements)
    if least_transmission(problem, x) <= problem.least_transmission:
        return None  # it does not close, or transmits too little
    linkage = linkage_of(problem, x)
    try:
        results = linkage.run()
        forces = inverse_dynamics(linkage.model(), t_end=1.0, step=1.0 / 200) if requirements else results
    except SimEngineError:
        return None
    closed = float(np.sqrt(problem.error(x)))
    run = float(np.sqrt((linkage.errors(results) ** 2).sum()))
    agrees = abs(closed - run) <= AGREES * problem.target.size or problem.target.kind == POSES
    held = all(each.holds(forces) for each in requirements)
    return linkage if agrees and held and np.isfinite(run) else None


def transmitting(problem: LinkageProblem, x: Floats) -> Floats:
    """The search's limit is soft and looked at in a few places; it is raised until the linkage keeps to the angle."""
    wanted = problem.least_transmission
    for _ in range(TRIES):
        missing = wanted - least_transmission(problem, x)
        if missing <= 0.0:
            break
        problem.least_transmission += TIGHTER * missing + 1e-5
        _, x = descend(problem, x, LAST)
    problem.least_transmission = wanted
    return x


def least_transmission(problem: LinkageProblem, x: Floats) -> float:
    """min mu of all dyads on the way."""
    theta = problem.inputs(x)
    span = 2 * np.pi if problem.full_turn or problem.target.closed else theta[-1] - theta[0]
    way = theta[0] + np.linspace(0.0, 1.0, FINE) * span
    return problem.kind.least_transmission(problem.values(x), way, problem.sides)


def linkage_of(problem: LinkageProblem, x: Floats) -> SynthesizedLinkage:
    """The unknowns as a linkage."""
    values = {name: float(problem.values(x)[name]) for name in problem.kind.kinds}
    offset = float(x[len(problem.limits)]) if problem.target.kind == POSES else 0.0
    theta = np.asarray(problem.inputs(x), dtype=float)
    return SynthesizedLinkage(
        problem.kind,
        values,
        problem.sides,
        theta,
        problem.target,
        motion_of(values),
        least_transmission(problem, x),
        offset=offset,
        full_turn=problem.full_turn,
    )


def motion_of(values: dict[str, float]) -> str:
    """What the links of the driven loop do."""
    if "rod" in values:
        return grashof_of(SliderCrankLengths(values["crank"], values["rod"], values["offset"])).type
    a, b, c, d = (values[name] for name in ("crank", "coupler", "rocker", "ground"))
    return grashof_of(FourBarLengths(a, b, c, d)).type


def checked_model(problem: ModelProblem, x: Floats, least: float) -> SynthesizedModel | None:
    """The model with the values of x; None if it does not run or misses a requirement."""
    model = problem.changed(x)
    try:
        fine = np.union1d(problem.times, np.linspace(0.0, problem.t_end, 181))
        results = kinematics(model, t_eval=fine, on_singular="raise")
        if least > 0.0 and transmission_angle(results).smallest < least:
            return None
        if problem.requirements:
            forces = inverse_dynamics(model, t_end=problem.t_end, step=problem.t_end / 200)
            if not all(each.holds(forces) for each in problem.requirements):
                return None
    except SimEngineError:
        return None
    at = np.searchsorted(fine, problem.times)
    errors = problem.errors(results.at_rows(at))
    values = dict(zip(problem.names, map(float, x), strict=True))
    return SynthesizedModel(model, values, problem.target, problem.output, errors)
