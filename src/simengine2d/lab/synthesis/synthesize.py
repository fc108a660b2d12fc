"""`synthesize`: linkages that come close to any target, searched for over types and assembly modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import pi
from typing import Any

import numpy as np

from ...errors import ConvergenceError, ModelError, counted, listed, unknown
from ...expressions.evaluate import number
from ...model.model import Model
from .candidates import checked_linkage, checked_model
from .linkage_types import ANGLE, LENGTH, LinkageType, type_named
from .model_problem import ModelProblem
from .problem import LinkageProblem, sides_of
from .requirements import read_requirements
from .search import Progress, best_points
from .solutions import SearchedLinkages
from .targets import FUNCTION, SynthesisTarget, as_target

STARTS, MODEL_STARTS = 24, 4  # of each type and assembly mode; of a model
KEPT = 5
MET = 1e-20  # sum of squared distances, relative to the target's size, that is rounding
SAME = 1e-3  # relative difference of parameters of one and the same linkage


def synthesize(
    linkage: Model | str | Sequence[str],
    target: Any,
    variables: Mapping[str, Any] | Sequence[str] | None = None,
    limits: Mapping[str, tuple[Any, Any]] | None = None,
    subject_to: Sequence[str] | str | None = None,
    *,
    full_turn: bool = False,
    output: str | None = None,
    t_end: float = 1.0,
    starts: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> SearchedLinkages:
    """Linkages that meet a target as well as possible, the best first.

    `linkage` is a type ("four-bar", "slider-crank", "watt", "watt-2", "stephenson"), a list of types, or a model whose
    parameters vary. `target` is a path, poses or a function. `variables` are the names of what varies, or a mapping of
    names to limits (low, high) and to values of what is fixed; by default all parameters of a type vary. `subject_to`
    are requirements, such as "transmission > 40*deg" or "max(B.force) < 400". With `full_turn` the crank must be able
    to turn fully. Of a model, `output` is the point that is led or the channel that is generated.

    Every linkage that is returned has been run through all positions without passing a dead point.
    """
    wanted = as_target(target)
    least, requirements = read_requirements(subject_to)
    rng = np.random.default_rng(seed)
    if isinstance(linkage, Model):
        ranges, fixed = _ranges(list(linkage.parameters), {}, variables, limits, linkage.name)
        problem = ModelProblem(
            linkage.with_parameters(**fixed) if fixed else linkage,
            wanted, ranges, _output(output, wanted), t_end, requirements,
        )  # fmt: skip
        count = _count(starts, MODEL_STARTS)
        points = best_points(problem, count, rng, _counter(progress, count))
        found: list[Any] = [checked_model(problem, x, least) for _, x in points]
    else:
        kinds = [type_named(name) for name in ([linkage] if isinstance(linkage, str) else linkage)]
        count = _count(starts, STARTS)
        problems = [
            each for kind in kinds for each in _problems(kind, wanted, variables, limits, least, full_turn)
        ]
        done = _counter(progress, count * len(problems))
        found = []
        for each in problems:
            points = best_points(each, count, rng, done)[:KEPT]
            found += [checked_linkage(each, x, requirements) for _, x in points]
            if sum(one is not None and one.error < MET * wanted.size**2 for one in found) >= KEPT:
                break  # enough linkages that meet the target: other assemblies could not be better
    return _answer(linkage, wanted, [each for each in found if each is not None], subject_to)


def _answer(linkage: Any, target: SynthesisTarget, found: list[Any], subject_to: Any) -> SearchedLinkages:
    name = (
        linkage.name
        if isinstance(linkage, Model)
        else listed([linkage] if isinstance(linkage, str) else linkage)
    )
    if not found:
        such = f" that holds {listed(repr(each) for each in _texts(subject_to))}" if subject_to else ""
        raise ConvergenceError(
            f"synthesize: no {name}{such} was found that goes through the {counted(len(target), 'position')} in one "
            "piece. Widen the limits, ask for less, or give more starts."
        )
    found.sort(key=lambda each: each.error)
    return SearchedLinkages(f"{name} for a {target}", target, distinct(found)[:KEPT])


def distinct(found: list[Any]) -> list[Any]:
    """Each linkage once: several starts may lead to the same one."""
    kept: list[Any] = []
    for each in found:
        values = np.array(list(each.parameters.values()))
        same = [
            other
            for other in kept
            if list(other.parameters) == list(each.parameters)
            and np.allclose(
                values, list(other.parameters.values()), rtol=SAME, atol=SAME * np.abs(values).max()
            )
        ]
        kept += [] if same else [each]
    return kept


def _texts(subject_to: Any) -> list[str]:
    return [subject_to] if isinstance(subject_to, str) else list(subject_to)


def _count(starts: int | None, default: int) -> int:
    count = default if starts is None else starts
    if count < 1:
        raise ModelError(f"synthesize: starts = {starts} must be at least 1.")
    return count


def _counter(progress: Progress | None, total: int) -> Callable[[], None]:
    """Counts the starts that are finished."""
    state = [0]

    def done() -> None:
        state[0] += 1
        if progress is not None:
            progress(state[0], total)

    return done


def _output(output: str | None, target: SynthesisTarget) -> str:
    if output is None:
        example = "'rocker.phi'" if target.kind == FUNCTION else "'coupler.P'"
        raise ModelError(
            f"synthesize: say what of the model shall follow the {target.kind}, output={example}."
        )
    return output


def _problems(
    kind: LinkageType,
    target: SynthesisTarget,
    variables: Any,
    limits: Any,
    least: float,
    full_turn: bool,
) -> list[LinkageProblem]:
    """One for each assembly mode and, where the timing is free, for each direction of the crank."""
    ranges, fixed = _ranges(list(kind.kinds), usual_limits(kind, target), variables, limits, kind.name)
    directions = (1, -1) if target.inputs is None else (1,)
    return [
        LinkageProblem(kind, sides, target, ranges, fixed, least, full_turn, direction)
        for sides in sides_of(kind)
        for direction in directions
    ]


def usual_limits(kind: LinkageType, target: SynthesisTarget) -> dict[str, tuple[float, float]]:
    """Limits of the size of the target: lengths to three times its extent, places within that distance."""
    if target.kind == FUNCTION:  # only ratios matter
        size, x, y = 1.0, 0.0, 0.0
    else:
        size = target.size
        x, y = target.rows[:, :2].mean(axis=0)
    table = {}
    for name, what in kind.kinds.items():
        if what == LENGTH:
            table[name] = (0.05 * size, 4.0 * size)
        elif what == ANGLE:
            table[name] = (-pi, pi)
        else:
            middle = {"Ax": x, "Ay": y, "Gx": x, "Gy": y}.get(name, 0.0)
            table[name] = (middle - 3.0 * size, middle + 3.0 * size)
    if target.kind == FUNCTION:
        for name in ("Ax", "Ay", "ground_angle", "guide_angle", "Px", "Py"):
            if name in table:
                table[name] = (0.0, 0.0)
        if "ground" in table:
            table["ground"] = (1.0, 1.0)
    return table


def _ranges(
    names: list[str], usual: Mapping[str, tuple[float, float]], variables: Any, limits: Any, who: str
) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """Limits of what varies, and values of what does not."""
    given = dict(limits or {})
    if isinstance(variables, Mapping):
        given = dict(variables) | given
        chosen = [*usual, *(name for name in given if name not in usual)]
    else:
        chosen = list(usual) if variables is None else list(variables)
    strange = [name for name in [*chosen, *given] if name not in names]
    if strange:
        advice = unknown("parameter", strange[0], names)
        raise ModelError(f"synthesize: {who} has no parameter '{strange[0]}'. {advice}")
    fixed = {name: low for name, (low, high) in usual.items() if low == high or name not in chosen}
    ranges: dict[str, tuple[float, float]] = {}
    for name in chosen:
        low, high = _range(name, given.get(name, usual.get(name)))
        if low == high:
            fixed[name] = low
        else:
            ranges[name] = (low, high)
            fixed.pop(name, None)
    if not ranges:
        raise ModelError(
            f"synthesize: nothing of {who} varies. Name variables; it has the parameters {listed(names)}."
        )
    return ranges, fixed


def _range(name: str, given: Any) -> tuple[float, float]:
    """(low, high); a single value is fixed."""
    if given is None:
        raise ModelError(
            f"synthesize: '{name}' varies without limits; give them, limits={{'{name}': (low, high)}}."
        )
    if isinstance(given, str | int | float):
        value = number(given)
        return value, value
    low, high = (number(each) for each in given)
    if not low <= high or not np.isfinite([low, high]).all():
        raise ModelError(f"synthesize: the limits of '{name}', {low:g} to {high:g}, exclude every value.")
    return low, high
