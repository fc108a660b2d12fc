"""Work: what drivers and forces have put into a mechanism since the first time, and what dampers have taken out of it.

    (T + V) - (T + V)_0 = input - dissipated

    dissipated = integral of sum c sd^2,      input = integral of -lam^T nu and of all forces without a potential

They are integrals of cubic splines through the outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from ..model.elements import Load, MeasureForce, Wrench
from ..numerics.arrays import Floats
from .actuator_effort import integrated
from .actuator_effort import power as power_of
from .channels import formula_along, measure_rates
from .energy import power

if TYPE_CHECKING:
    from .results import Results


def dissipated(results: Results) -> Floats:
    """What linear dampers have taken out."""
    total = np.zeros(results.t.size)
    for _, load in results.system.loads:
        if _is_linear(load) and load.law.numbers[1] != 0.0:
            total += load.law.numbers[1] * measure_rates(results, load.measure)[1] ** 2
    return integrated(results.t, total)


def work_put_in(results: Results) -> Floats:
    """What drivers and forces have put in; a force that brakes, such as friction, counts negative."""
    put_in = power(results).drivers.copy()
    stored = np.zeros(results.t.size)
    others = {name for name, load in results.system.loads if not _stores(load)}
    for name in others:
        put_in += power_of(results, name)
    for name, load in results.system.loads:
        if name in others and _is_linear(load):
            put_in += _linear_power(results, load)
        elif name in others and isinstance(load, MeasureForce) and load.formula is not None and load.by == 0:
            potential = formula_along(results, load.formula)
            stored += potential - potential[:1]
    return integrated(results.t, put_in) + stored


def _linear_power(results: Results, load: MeasureForce) -> Floats:
    """What a linear spring takes: (k (s - free) + c sd) sd"""
    stiffness, damping, free = load.law.numbers
    s, sd, _ = measure_rates(results, load.measure)
    return (stiffness * (s - free) + damping * sd) * sd


def _stores(load: Load) -> bool:
    """Linear springs and dampers, and potentials that do not change with time."""
    if isinstance(load, Wrench):
        return False
    return _is_linear(load) or (load.formula is not None and load.by >= 0 and not load.formula.reads_time)


def _is_linear(load: Load) -> TypeGuard[MeasureForce]:
    return isinstance(load, MeasureForce) and load.formula is None and load.law.is_linear


WORKS: dict[str, Callable[[Results], Floats]] = {
    "energy.input": work_put_in,
    "energy.dissipated": dissipated,
}
"""Channels beside kinetic, potential and total energy, where reactions are known."""
