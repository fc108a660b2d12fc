"""Forward dynamics: forces in, motion and multipliers out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, UnsupportedError, listed
from ..formulations import index3
from ..integrators import integrator_named
from ..integrators.dop853 import DOP853
from ..methods import AlphaMethod, Integrator
from ..model import Model
from ..results import Results
from ..system import System
from .adaptive_run import AdaptiveRun
from .assemble import Assembly, assemble
from .closure import coordinate_scale
from .diagnose import in_words, names_of_rows
from .fixed_run import FixedRun
from .rank import free_motions, rank_of_rows
from .run import LARGEST_EXAMINED, Progress, Run
from .times import check_domains, output_times

Floats = NDArray[np.float64]

NEWTON = {"exact": index3.EXACT, "course": index3.COURSE}


def dynamics(
    model: Model,
    *,
    t_end: float | None = None,
    step: float | None = None,
    t_eval: Sequence[float] | Floats | None = None,
    integrator: str | Integrator | None = None,
    rtol: float = 1e-6,
    newton: str = "exact",
    tolerance: float | None = None,
    progress: Progress | None = None,
) -> Results:
    """The motion of a model under its forces from t = 0 to `t_end`.

    With no integrator named, an adaptive one keeps the error of a step below `rtol`, and `step` is the spacing of the
    outputs. The index-3 integrators (newmark, hht, generalized_alpha) take steps of `step`; their Newton iteration
    ends when the accelerations change by less than 1e-10 of their size, or by less than `tolerance` where given.
    Raises with the results so far (`error.results`) where the integration ends early.
    """
    if not isinstance(model, Model):
        raise ModelError(f"dynamics needs a Model, not {model!r}; read a file with load(path).")
    method = _method(integrator, step)
    if not 1e-14 <= rtol <= 0.1:
        raise ModelError(f"rtol = {rtol!r} must lie between 1e-14 and 0.1.")
    if newton not in NEWTON:
        raise ModelError(f"newton = {newton!r} must be one of {listed(NEWTON)}.")
    times = output_times(t_end, step, t_eval, "dynamics")
    system = System(model)
    if system.n == 0:
        raise UnsupportedError(f"model '{model.name}' has no bodies; add one with model.body(...).")
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    check_domains(system, times)
    assembly = assemble(system, float(times[0]))
    redundant = _examine(system, assembly)
    run: Run
    if isinstance(method, AlphaMethod):
        run = FixedRun(system, assembly, times, redundant, method, step, NEWTON[newton], tolerance)
    else:
        run = AdaptiveRun(system, assembly, times, redundant, rtol)
    return run.to_the_end(progress)


def _method(integrator: str | Integrator | None, step: float | None) -> Integrator:
    if integrator is None:
        return DOP853()
    method = integrator_named(integrator)() if isinstance(integrator, str) else integrator
    if not isinstance(method, AlphaMethod | DOP853):
        known = listed(sorted(Integrator.registry))
        raise UnsupportedError(f"dynamics cannot use {method!r}; it knows the integrators {known}.")
    if not method.adaptive and step is None:
        raise ModelError(f"the integrator '{method.name}' takes fixed steps; give step=..., in seconds.")
    return method


def _examine(system: System, assembly: Assembly) -> list[str]:
    """Names of redundant constraints; an error where a free motion has no mass."""
    if system.n > LARGEST_EXAMINED:
        return []
    scale = coordinate_scale(system)
    J = system.Phi_q(assembly.t, assembly.q) * scale
    rank = rank_of_rows(J)
    masses = np.diag(system.M()) * scale**2
    for motion in free_motions(J, rank.rank).T:
        if motion @ (masses * motion) <= 1e-14 * masses.max(initial=0.0) * (motion @ motion):
            words = in_words(system, assembly.q, scale * motion)
            raise ModelError(
                f"a free motion has no mass, so forces cannot decide it: {words}. "
                "Give these bodies a mass and an inertia, or drive the motion."
            )
    rows = sorted({i for row, partners in rank.dependent.items() for i in (row, *partners)})
    return names_of_rows(system, rows)
