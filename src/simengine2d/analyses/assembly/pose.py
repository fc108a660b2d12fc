"""A pose as users give it: none, numbers, values of channels, or the result of another analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import AssemblyError, ModelError, listed
from ...model.joints.driver import Driver
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from ..inverse.motion_data import channel_measure, driver_name
from .assemble import Assembly, assemble
from .closure import close

Pose = Any
"""None, an array q, {"bar.phi": 2.1}, an Assembly, or Results, of which the last time is used."""


def closed_pose(system: System, t: float, at: Pose) -> tuple[Floats, Floats]:
    """q that closes the joints and qd that they allow; velocities are zero if only a pose was given."""
    if at is None:
        assembly = assemble(system, t)
        return assembly.q, np.zeros(system.n)
    if isinstance(at, Mapping):
        return _with_values(system, t, at), np.zeros(system.n)
    if isinstance(at, Assembly):
        return at.q, at.qd
    if isinstance(at, Results):
        if at.t.size == 0:
            raise ModelError("the results that should give the pose contain no times.")
        return _closed(system, t, at.q[-1]), np.array(at.qd[-1])
    try:
        q = np.array(at, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        q = np.empty(0)
    if q.size != system.n:
        raise ModelError(
            f"the pose {at!r} is not understood; give {system.n} coordinates ({listed(system.coordinate_names, 6)}), "
            'values such as {"crank.phi": 1.2}, or results.'
        )
    return _closed(system, t, q), np.zeros(system.n)


def _closed(system: System, t: float, q: Floats) -> Floats:
    closure = close(system, t, q)
    if not closure.closed:
        raise AssemblyError(
            f"the given pose does not close the joints: {float(np.abs(closure.gaps).max()):.3g} m remain open."
        )
    return closure.q


def _with_values(system: System, t: float, values: Mapping[str, float]) -> Floats:
    """The pose closest to the initial one in which the channels have these values."""
    model = system.model.copy()
    for channel, value in values.items():
        model.add(Driver(f"pose {driver_name(channel)}", channel_measure(channel, model), float(value)))
    return assemble(model, t).q
