"""What to run: the analysis that a file or a model asks for, or else a plausible one, as a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ..analyses.catalog import CATALOG, OPTIONS
from ..analyses.dynamics.run import Keep, Progress
from ..errors import ModelError, Subject, UnsupportedError, counted, listed, warn
from ..integrators.alpha_methods import Newmark
from ..methods import Formulation, Integrator
from ..model.model import Model
from ..results.results import Results
from ..system.system import System
from .acf import load_analysis

ADAPTIVE = ("rtol", "atol", "max_step")
"""What means nothing to an integrator with fixed steps."""

SECONDS = {"kinematics": 1.0, "dynamics": 5.0}
"""How long it runs by default."""


@dataclass(frozen=True)
class Job:
    """One run of an analysis with its options; an option of None is left to the analysis."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    points: int | None = None
    """Number of equally spaced outputs, both ends included; without it they lie `step` apart."""
    remark: str = ""
    """What a user should know before the run."""

    @property
    def t_end(self) -> float | None:
        return self.options.get("t_end")

    def run(self, model: Model, progress: Progress | None = None, keep: Keep | None = None) -> Results:
        options = dict(self.options)
        if CATALOG[self.kind].in_time:
            options["progress"] = progress
        if self.points is not None and self.t_end is not None:
            options["t_eval"] = np.linspace(0.0, self.t_end, self.points)
        if CATALOG[self.kind].resumes:
            options["keep"] = keep
        return CATALOG[self.kind].run(model, options)


def job_for(model: Model, path: Path | None = None) -> Job:
    """What the .acf file says, else what the model says, else an assumption."""
    if path is not None:
        return _of_course_file(path)
    return _of_model(model) if model.analysis else _assumed(model)


def _available(kind: str, source: str) -> None:
    if kind not in CATALOG:
        raise UnsupportedError(
            f"{source} asks for {kind.replace('_', ' ')}, which is not available in this version. "
            f"Available are {listed(name.replace('_', ' ') for name in CATALOG)}, "
            "assembly and diagnosis (`simengine2d check`)."
        )


# Course files -----------------------------------------------------------------------------------------


def _of_course_file(path: Path) -> Job:
    """Dynamics by the course's own method, to reproduce its numbers."""
    wanted = load_analysis(path)
    kind, t_end, step, points = wanted["kind"], wanted["t_end"], wanted["step"], wanted["output_steps"] + 1
    _available(kind, path.name)
    if kind == "equilibrium":
        return Job(
            kind, remark=f"{path.name} asks for an equilibrium. Used: Newton's method from the drawn pose."
        )
    if kind != "dynamics":
        return Job(kind, {"t_end": t_end, "step": step}, points)
    method = Newmark()
    remark = (
        f"{path.name} asks for dynamics. Used: {method.name}, the course's method, with beta = {method.beta:g} "
        f"and gamma = {method.gamma:g}, in steps of {step:g} s, {points} outputs."
    )
    options = {"t_end": t_end, "step": step, "integrator": method.name}
    return Job(kind, options, points, remark)


# Models -----------------------------------------------------------------------------------------------


def _of_model(model: Model) -> Job:
    """The numbers of a model's own analysis, evaluated; options without meaning are named."""
    given = dict(model.analysis)
    kind = given.pop("kind")
    source = f"the analysis of model '{model.name}'"
    _available(kind, source)
    scope = model.check()
    for option in given:
        if option in OPTIONS and OPTIONS[option].is_number and given[option] is not None:
            given[option] = scope.number(given[option], Subject("analysis").part(option))
    if CATALOG[kind].in_time:
        _check_times(given, source)
    known, analysis = _known_options(kind, given.get("integrator"), source)
    strange = [option for option in given if option not in known]
    _refuse_options_of_methods(strange, given, source)
    if strange:
        sentence = f"{source}: {listed(strange)} is not an option of {analysis} and was ignored."
        warn(sentence)
    options = {option: value for option, value in given.items() if option in known}
    steps = options.pop("output_steps", None)
    return Job(kind, options, None if steps is None else steps + 1)


def _refuse_options_of_methods(strange: list[str], given: dict[str, Any], source: str) -> None:
    """An option that belongs to the integrator or the formulation is not ignored: it would change the motion."""
    for kind, registry in (("integrator", Integrator.registry), ("formulation", Formulation.registry)):
        method = registry.made(given.get(kind))
        theirs = [option for option in strange if option in getattr(method, "__dict__", {})]
        if theirs:
            raise ModelError(
                f"{source}: {theirs[0]} is an option of the {kind}. "
                f"Write {kind}: {{type: {method.name}, {theirs[0]}: {given[theirs[0]]}}}."
            )


def _check_times(given: dict[str, Any], source: str) -> None:
    t_end, steps = given.get("t_end"), given.get("output_steps")
    if t_end is None or t_end <= 0.0:
        given_end = "no t_end" if t_end is None else f"t_end = {t_end:g}"
        raise ModelError(f"{source} has {given_end}. Write a positive time, such as t_end: 2.")
    if steps is not None and steps < 1:
        raise ModelError(f"{source} has output_steps = {steps}. Write a number of at least 1.")


def _known_options(kind: str, integrator: Any, source: str) -> tuple[tuple[str, ...], str]:
    """The options of the analysis, and its name for messages; a fixed step has no error to keep below rtol."""
    if "integrator" not in CATALOG[kind].options or integrator is None:
        return CATALOG[kind].options, kind
    try:
        method = Integrator.registry.made(integrator)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    known = CATALOG[kind].options
    if not method.adaptive:
        known = tuple(option for option in known if option not in ADAPTIVE)
    return known, f"{kind} by {method.name}"


# By default -------------------------------------------------------------------------------------------


def _assumed(model: Model) -> Job:
    """Kinematics where every motion is driven, else dynamics; not longer than the tables of the drivers last."""
    system = System(model)
    free = free_motions(system)
    kind = "dynamics" if free else "kinematics"
    why = (
        f"{counted(free, 'motion')} {'is' if free == 1 else 'are'} free" if free else "every motion is driven"
    )
    ends = [function.domain[1] for function in system.functions]
    t_end = min([time for time in ends if isfinite(time) and time > 0.0], default=SECONDS[kind])
    remark = (
        f"Neither the command nor the model says what to run. Assumed: {kind} from 0 to {t_end:g} s "
        f"with 101 outputs{' or more' if free else ''}, since {why}. "
        "Choose with `simengine2d kinematics` or `simengine2d dynamics`, "
        f"or write 'analysis: {{kind: {kind}, t_end: ..., step: ...}}' into the model."
    )
    return Job(kind, {"t_end": t_end}, remark=remark)


def free_motions(system: System) -> int:
    """Motions that no driver prescribes; what only a singular pose sets free is not counted."""
    from ..analyses.assembly.assemble import assemble
    from ..analyses.assembly.diagnose import diagnose

    diagnosis = diagnose(assemble(system))
    return diagnosis.mobility - sum(not group.permanent for group in diagnosis.dependent)
