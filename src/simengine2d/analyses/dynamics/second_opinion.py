"""A second opinion: the same run again, with a tenth of the tolerance or half the step, and the difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import SimEngineError
from ...results.results import Results
from .options import DynamicsOptions

SHARPER = 0.1
LEFT = 20.0  # times rtol: errors of many steps add up
FIXED = 1e-3  # of the motion, for steps without error control


def second_opinion(
    results: Results, options: DynamicsOptions, run: Callable[[DynamicsOptions], Results]
) -> Results:
    """The results with the difference from the second run, for the verdict."""
    sharper: dict[str, Any] = {"times": results.t, "spacing": None, "events": ()}
    if options.fixed:
        assert options.step is not None
        sharper["step"], how, allowed = 0.5 * options.step, "with half the step", FIXED
    else:
        sharper["rtol"] = max(1e-14, SHARPER * options.rtol)
        how, allowed = f"with rtol = {sharper['rtol']:g}", LEFT * options.rtol
    try:
        differs = difference(results, run(replace(options, **sharper)))
    except SimEngineError as error:
        how, differs = f"{how} ended with '{error}' and so", np.inf
    said = {"how": how, "differs": differs, "allowed": allowed}
    return replace(results, settings=results.settings | {"second_opinion": said})


def difference(one: Results, other: Results) -> float:
    """The largest difference of positions, relative to their size and that of the mechanism."""
    size = one.system.sizes + np.abs(one.q)
    return float(np.max(np.abs(one.q - other.q) / size, initial=0.0))
