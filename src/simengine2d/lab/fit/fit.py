"""`fit`: the numbers of a model from measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ...errors import ModelError, SimEngineError, counted
from ...expressions.unit_system import SI, ShownUnit
from ...model.model import Model
from ...results.results import Results
from ..analysis_options import MotionOptions
from ..motion_columns import SolutionLike
from ..sweep.variants import variant
from .confidence import Confidence, at_bounds, confidence_of
from .experiments import Columns, Experiment, experiments_of
from .fitted import Fit, FittedChannel
from .identifiability import null_directions, sentences
from .losses import LossName, constant_of
from .noise import Sizes, noise_of
from .problem import FitProblem, analysis_of
from .search import Minimum, following, searched
from .unknowns import Bounds, distinct, unknowns_of

FOLLOWS = 0.3  # correlation of residuals with the next beyond which they are called no noise
TOGETHER = 0.9995  # correlation of parameters that is worth a sentence


def fit(
    model: Model,
    data: SolutionLike | Experiment | Sequence[SolutionLike | Experiment],
    parameters: Sequence[str],
    analysis: str | None = None,
    *,
    bounds: Bounds | None = None,
    start: Mapping[str, Any] | None = None,
    channels: Columns = None,
    noise: Sizes = None,
    weights: Sizes = None,
    loss: LossName = "linear",
    starts: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[MotionOptions],
) -> Fit:
    """Find numbers of a model such that its motion comes close to what was measured.

    `data` are columns of channels over a column t: a CSV file, a DataFrame, a mapping of arrays; or a list of
    several experiments, `se.Experiment(data, parameters={"theta0": 0.3})` where conditions differ. Headings may name
    units, `bar.phi [deg]`; without one they are in SI units. `channels` chooses columns, or maps them to channels,
    {"angle": "bar.phi"}.

    `parameters` are names of numbers: parameters of the model, or `spring.stiffness`, `bar.mass`. They start from the
    numbers of the model or from `start`, and stay within `bounds`, {"k": (0, None)}. `analysis` is dynamics,
    kinematics or inverse_dynamics, by default that of the model; `options` go to it.

    `noise` are known standard deviations of the channels, {"bar.phi": "0.5 deg"}; without them they are estimated
    from what remains. `weights` are relative instead. `loss` is "linear" (least squares), or "huber", "soft_l1",
    "cauchy", which give way to outliers. `starts` searches from several starts; by default further
    ones are tried where the first has clearly missed.

    The answer has `parameters`, `intervals`, `correlation`, `residuals`, the fitted `model`, and a `message` that says
    what the data do not determine. Trials that do not run are turned back from.
    """
    if not isinstance(model, Model):
        raise ModelError(f"fit needs a Model, not {model!r}; read a file with load(path).")
    _check_choices(loss, starts, confidence)
    names = distinct(model, parameters)
    kind, settings = analysis_of(model, analysis, options)
    measured = experiments_of(model, data, channels, names)
    own = [(i, name) for i, each in enumerate(measured) for name in each.own]
    unknowns = unknowns_of(model, names, own, bounds, start)
    problem = FitProblem(model, unknowns, measured, kind, settings, progress)
    _refuse_few(problem)
    found = searched(problem, noise_of(problem, noise, weights), loss, starts, seed)
    return answer_of(problem, found, loss, confidence)


def _check_choices(loss: str, starts: Any, confidence: Any) -> None:
    constant_of(loss)
    if starts is not None and (isinstance(starts, bool) or not isinstance(starts, int) or starts < 1):
        raise ModelError(f"starts = {starts!r} must be a number of at least 1.")
    if not isinstance(confidence, float) or not 0.0 < confidence < 1.0:
        raise ModelError(f"confidence = {confidence!r} must be between 0 and 1, such as 0.95.")


def _refuse_few(problem: FitProblem) -> None:
    if problem.data.size < len(problem.unknowns):
        raise ModelError(
            f"{counted(problem.data.size, 'value')} cannot determine {counted(len(problem.unknowns), 'parameter')}: "
            "give more data, or fit fewer."
        )


def answer_of(problem: FitProblem, found: Minimum, loss: str, level: float) -> Fit:
    """The answer, with what is to be said of it."""
    held = at_bounds(problem, found.x)
    null = null_directions(problem, found.x, found.J, held)
    trust = confidence_of(problem, found, null, held, level, loss)
    free = list(sentences(problem, found.x, found.J, null))
    notes = [*_search_notes(problem, found, held), *free, *_trust_notes(problem, found, trust)]
    labels = [each.label for each in problem.unknowns]
    by_label = lambda values: dict(zip(labels, values, strict=True))
    low, high = found.x - trust.half_widths, found.x + trust.half_widths
    return Fit(
        fitted_model(problem, found),
        by_label(found.x.tolist()),
        by_label(zip(low.tolist(), high.tolist(), strict=True)),
        by_label(trust.errors.tolist()),
        trust.correlation,
        _noise(found, trust),
        list(_channels(problem, found)),
        found.converged and not free,
        "\n".join(notes) or "The search converged, and the data determine all parameters.",
        level,
        {each.label: each.unit for each in problem.unknowns if each.unit},
        problem.runs,
    )


def fitted_model(problem: FitProblem, found: Minimum) -> Model:
    """A model of its own with the numbers that hold in all experiments; of one experiment, all of them."""
    alone = len(problem.experiments) == 1
    values = {
        each.name: each.written(value)
        for each, value in zip(problem.unknowns, found.x.tolist(), strict=True)
        if each.experiment is None or alone
    }
    return variant(problem.model.copy(), values)


def _noise(found: Minimum, trust: Confidence) -> dict[str, float]:
    """Weights say the noise but for a factor, which is that of the residuals."""
    factor = trust.scale if found.noise.kind == "weights" else 1.0
    return {name: factor * sigma for name, sigma in found.noise.sigma.items()}


def _channels(problem: FitProblem, found: Minimum) -> Iterator[FittedChannel]:
    predicted = problem.data + found.difference
    at_rest = problem.run(found.x, 0)
    for block in problem.blocks:
        experiment = problem.experiments[block.experiment]
        unit = _unit(at_rest, block.channel)
        yield FittedChannel(
            experiment.title,
            block.channel,
            experiment.t,
            problem.data[block.rows],
            predicted[block.rows],
            unit,
        )


def _unit(results: Results, channel: str) -> ShownUnit:
    """The unit in which the model shows a channel; of what has no known one, none."""
    try:
        return results.shown.shown_unit(channel)
    except SimEngineError:
        return SI.shown("")


# What there is to say ---------------------------------------------------------------------------------


def _search_notes(problem: FitProblem, found: Minimum, held: Any) -> Iterator[str]:
    if not found.converged:
        yield "The search has not converged: these numbers are the best so far. Give a better start, or bounds."
    if found.missed(problem):
        yield (
            f"The model misses the data after {counted(found.starts, 'search', 'searches')}: this may be a local "
            "minimum, or the model lacks something. Give bounds and starts=20, or another start."
        )
    for k in np.flatnonzero(held).tolist():
        each = problem.unknowns[k]
        yield f"{each.label} is at its bound {found.x[k]:.5g}, and has no interval."


def _trust_notes(problem: FitProblem, found: Minimum, trust: Confidence) -> Iterator[str]:
    if trust.freedom < 1 and found.noise.kind != "known":
        yield "There are as many parameters as values, so nothing tells the noise: give noise for intervals."
    for name in problem.channels:
        like = following(problem, found.difference, name)
        if like > FOLLOWS and not found.missed(problem) and _counts(problem, found, name):
            yield (
                f"What remains of {name} is not noise: each residual is like the one before (correlation "
                f"{like:.2f}). The model lacks something small, and the intervals are too narrow."
            )
    if (
        found.noise.kind == "known"
        and trust.freedom > 0
        and abs(trust.scale - 1.0) > 4.0 / np.sqrt(2 * trust.freedom)
    ):
        yield (
            f"The residuals are {trust.scale:.3g} times the noise that was given, on which the intervals rest: "
            + (
                "the model lacks something, or the noise is larger."
                if trust.scale > 1.0
                else "the noise is smaller."
            )
        )
    yield from _together(problem, trust)


def _counts(problem: FitProblem, found: Minimum, channel: str) -> bool:
    """Whether there are enough residuals, and they are more than what the engine leaves."""
    r = problem.of_channel(channel, found.difference)
    return r.size >= 20 and float(np.std(r)) > 1e-6 * problem.spread(channel)


def _together(problem: FitProblem, trust: Confidence) -> Iterator[str]:
    """Pairs that are hardly told apart."""
    names = [each.label for each in problem.unknowns]
    for i in range(len(names)):
        for j in range(i):
            both = trust.correlation[i, j]
            if np.isfinite(both) and abs(both) > TOGETHER:
                yield f"{names[j]} and {names[i]} are hardly told apart by these data: their correlation is {both:.5f}."
