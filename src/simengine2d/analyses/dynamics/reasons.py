"""Why a step cannot be taken: a force that has no value, or a pose from which the motion is not unique."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Floats
from ...system.failures import overgrown
from ..assembly.assemble import Assembly
from ..assembly.diagnose import ISOLATED, diagnose
from .row_checks import undefined_at


def without_value(
    start: Assembly, t: float, state: tuple[Floats, Floats], span: float, step: float
) -> str | None:
    """A sentence on what has no value at a state, or a little later, at most a fixed `step`; None if all has one."""
    q, qd = state
    for ahead in (0.0, *(10.0**k * span for k in range(-9, -2)), 0.25 * step, 0.5 * step, step):
        with np.errstate(over="ignore", invalid="ignore"):
            later = q + ahead * qd
        why = undefined_at(start.system, t + ahead, later, qd)
        if why is not None:
            return why
    finite = bool(np.all(np.isfinite(np.concatenate([q, qd]))))
    return overgrown(start.system, t, q, qd, start) if finite else None


def singular_start(start: Assembly, t: float) -> str | None:
    """A sentence where the motion began in a pose from which it is not unique."""
    diagnosis = diagnose(start)
    if not diagnosis.singular:
        return None
    if diagnosis.isolated:
        remedy = f"{ISOLATED}: links are stretched out or folded completely. Make one longer or shorter."
    else:
        remedy = "Start from another pose."
    pose = f"the motion begins in a singular pose: {diagnosis.singular_sentence}"
    return f"at t = {t:.9g} s the joints cannot be held together, since {pose} {remedy}"
