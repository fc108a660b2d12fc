"""All linkages that meet a target exactly, by the classical method of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import ModelError
from .function_generation import function_generator
from .motion_generation import motion
from .path_generation import path
from .solutions import SynthesizedLinkages
from .targets import FUNCTION, POSES, SynthesisTarget


def exact_linkages(
    target: SynthesisTarget, fixed_pivots: Sequence[Sequence[Any]] | None = None
) -> SynthesizedLinkages:
    """Burmester's for poses and for points of a path with the crank's angles, Freudenstein's for a function."""
    if target.kind == POSES:
        return motion(target.rows.tolist(), fixed_pivots=fixed_pivots)
    if target.inputs is None:
        raise ModelError(
            "the exact methods need the crank's angle at each point of a path: give inputs. Without them a search, "
            "synthesize, comes close to any number of points."
        )
    if target.kind == FUNCTION:
        if fixed_pivots is not None:
            raise ModelError("fixed pivots are not chosen for a function; leave them out.")
        return function_generator(target.inputs.tolist(), target.rows[:, 0].tolist())
    return path(target.rows.tolist(), target.inputs.tolist(), fixed_pivots=fixed_pivots)
