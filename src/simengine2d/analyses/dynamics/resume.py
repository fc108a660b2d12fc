"""Runs of dynamics that go on from where they ended."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import ModelError, UnsupportedError, ended
from ...numerics.arrays import Floats
from ...results.results import Results
from ..times import output_times
from .new_run import new_run
from .options import DynamicsOptions
from .run import Keep, Progress


def resume(
    results: Results,
    *,
    t_end: float | None = None,
    t_eval: Sequence[float] | Floats | None = None,
    progress: Progress | None = None,
    keep: Keep | None = None,
) -> Results:
    """Continue a run of dynamics up to `t_end` (by default, to the end that it did not reach).

    The motion is the same, bit for bit, as if the run had never ended.
    """
    if not results.checkpoint or results.t.size == 0:
        raise UnsupportedError(
            "these results cannot be resumed: only those of dynamics, saved as .npz, hold the state of the integrator."
        )
    settings = results.settings
    try:
        times = _later_times(results, t_end, t_eval)
        spacing = settings["spacing"] if settings.get("follows_steps") and t_eval is None else None
        times = np.concatenate([results.t, times])
        options = DynamicsOptions.again(results.system, settings, times, spacing)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnsupportedError(
            "these results cannot be resumed: their settings are damaged, or of another version "
            f"({ended(error)[:-1]}). Run the analysis again."
        ) from None
    run = new_run(options)
    run.go_on_from(results)
    return run.to_the_end(progress, keep)


def _later_times(results: Results, t_end: float | None, t_eval: Sequence[float] | Floats | None) -> Floats:
    """The outputs that are still missing. One of the grid that differs from the last by rounding is not."""
    end, spacing = results.settings["t_end"] if t_end is None else t_end, results.settings["spacing"]
    times = output_times(end, spacing, t_eval, "resume")
    rounding = 1e-9 * spacing if t_eval is None and spacing else 0.0
    later = times[times > results.t[-1] + rounding]
    if later.size == 0:
        raise ModelError(f"the results already reach t = {results.t[-1]:g} s; give a larger t_end.")
    return later
