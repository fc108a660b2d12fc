"""How what the model says depends on the unknowns: d model / d x.

Exact, from the derivatives of the motion (`lab/sensitivity`). Where there are none, extrapolated differences, of order
h^4, of runs with tight tolerances; on one side where the other does not run.
"""

from __future__ import annotations

import numpy as np

from ...errors import ConvergenceError, SimEngineError
from ...expressions.evaluate import number
from ...numerics.arrays import Floats
from ..sensitivity.channel_derivatives import channel_derivatives
from ..sensitivity.differences import AFTER, BEFORE, CENTRAL, Stencil
from .problem import FitProblem
from .unknowns import Unknown

STEP = 5e-4  # of the size of an unknown
MOST = 0.2  # of the spread of a channel: how far the steps may move it
VANISHING = 1e-5  # what is zero but for the errors of differences, beside columns of length 1
SMALLEST = 1e-12  # of the size of an unknown


def model_jacobian(problem: FitProblem, x: Floats) -> Floats:
    """One row a value, one column an unknown."""
    if problem.exact:
        try:
            return exact_jacobian(problem, x)
        except (SimEngineError, ArithmeticError):
            problem.exact = False
    return np.column_stack([differenced(problem, x, k) for k in range(x.size)])


# Exact ------------------------------------------------------------------------------------------------


def has_exact(problem: FitProblem) -> bool:
    """Numbers of parts of a model with units are in units that only the model knows."""
    return problem.model.units is None or not any("." in each.name for each in problem.unknowns)


def exact_jacobian(problem: FitProblem, x: Floats) -> Floats:
    """Experiment after experiment; an unknown of another experiment has no influence."""
    if not has_exact(problem):
        raise ConvergenceError("there are no derivatives of numbers of parts of a model with units.")
    J = np.zeros((problem.data.size, x.size))
    for e, experiment in enumerate(problem.experiments):
        columns = [k for k, each in enumerate(problem.unknowns) if each.experiment in (None, e)]
        names = [problem.unknowns[k].name for k in columns]
        channels = list(experiment.channels)
        slopes = channel_derivatives(
            problem.changed(x, e), channels, names, problem.analysis, t_eval=experiment.t, **problem.options
        ).slopes
        factors = [_per_written(problem.unknowns[k]) for k in columns]
        for block in problem.blocks:
            if block.experiment == e:
                J[block.rows, columns] = slopes[:, channels.index(block.channel)] * factors
    if not np.isfinite(J).all():
        raise ConvergenceError("derivatives of the motion are not finite.")
    return J


def _per_written(unknown: Unknown) -> float:
    """How much of its SI unit one of the unknown is, as it is written."""
    return number(f"1 {unknown.unit}") if unknown.unit else 1.0


# Differences ------------------------------------------------------------------------------------------


def differenced(problem: FitProblem, x: Floats, k: int) -> Floats:
    """A column: sum w_i model(x + n_i h e_k) / h."""
    size = max(abs(float(x[k])), 1e-3 * problem.unknowns[k].size)
    h = STEP * size
    while h > SMALLEST * size:
        for stencil in (CENTRAL, AFTER, BEFORE):
            values = _values(problem, x, k, h, stencil)
            if values is None:
                continue
            if np.any(np.ptp(values, axis=0) > MOST * problem.spreads):
                break
            return np.asarray(stencil.slope(list(values), h))
        h /= 10.0
    raise ConvergenceError(
        f"the model runs neither a little above nor a little below {problem.unknowns[k].label} = {x[k]:.6g}: "
        "the fit cannot say where to go from there. Give another start, or bounds."
    )


def _values(problem: FitProblem, x: Floats, k: int, h: float, stencil: Stencil) -> Floats | None:
    """What the model says at the nodes; None where one is beyond a bound or does not run."""
    rows = []
    for node in stencil.offsets:
        at = x.copy()
        at[k] += node * h
        if not problem.low[k] <= at[k] <= problem.high[k]:
            return None
        rows.append(problem.try_predicted(at))
        if np.isnan(rows[-1]).any():
            return None
    return np.array(rows)
