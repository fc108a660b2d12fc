"""Inverse dynamics: from a motion to the forces that produce it.

Kinematics first; then, with q, qd, qdd known at every time,

    Phi_q^T lam = QA - M qdd

The multiplier of a driver's row is the effort of its actuator: F = -Phi_r^T lam and T = (Phi_r B s' - Phi_phi)^T lam
on body i. Channels of a driver named motor: `motor.torque`, `motor.fx`, `motor.fy`; and `motor.effort` in the direction
of its measure, `motor.power`, `motor.energy`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import Caution, ModelError, SimEngineError, UnsupportedError, listed, unknown
from ...methods import ChosenCoordinates
from ...model.joints.driver import Driver
from ...model.model import Model
from ...numerics.arrays import Floats
from ...results.reactions import non_unique
from ...results.results import Results
from ...system.system import System
from ..assembly.closure import coordinate_scale
from ..dynamics.lift_off import lift_off_notes
from ..dynamics.run import Progress
from ..kinematics.kinematics import kinematics
from .actuators import Actuators, actuated, movers, named
from .motion_data import Columns, Noise, columns_of, with_motion
from .multipliers import multipliers, shared_multipliers

Limits = Mapping[str, tuple[float, float]]

CLOSED = 1e-6  # gap of a given motion, relative to the size of the mechanism, beyond which it is refused


def inverse_dynamics(
    model: Model,
    *,
    t_end: float | None = None,
    step: float | None = None,
    t_eval: Sequence[float] | Floats | None = None,
    motion: Results | Columns | str | os.PathLike[str] | None = None,
    noise: Noise = None,
    actuators: Actuators | None = None,
    limits: Limits | None = None,
    coordinates: ChosenCoordinates | None = None,
    progress: Progress | None = None,
) -> Results:
    """The forces and torques with which drivers, joints and supports produce a prescribed motion.

    The motion is that of the model's drivers, as many as there are free motions. Or `motion` gives it: columns over
    `t` as arrays or as a CSV file, named after drivers or channels (`noise`, their standard deviation, smooths them);
    or the Results of another analysis.

    `actuators` names what produces the motion, if not the drivers that prescribe it: drivers by name, or
    {"motor": "angle(ground, crank)"}. If there are more than free motions, they share it with the smallest sum of
    squares, within `limits` such as {"motor": (-5, 5)}. With `coordinates`, the motion is solved in these.
    """
    if not isinstance(model, Model):
        raise ModelError(f"inverse_dynamics needs a Model, not {model!r}; read a file with load(path).")
    wanted = None if actuators is None else named(actuators, model)
    bounds = _checked_limits(limits, wanted)
    moved = _motion(
        model,
        motion,
        noise,
        t_end=t_end,
        step=step,
        t_eval=t_eval,
        coordinates=coordinates,
        progress=progress,
    )
    if moved.system.missing_law is not None:
        raise UnsupportedError(moved.system.missing_law)
    if wanted is None and isinstance(motion, Results):
        wanted = _own_drivers(moved)
    if wanted is None:
        return _all_rows(moved)
    return _actuated_rows(_moved_by(moved, wanted), list(wanted), bounds)


def _checked_limits(limits: Limits | None, wanted: dict[str, Any] | None) -> dict[str, tuple[float, float]]:
    if limits and wanted is None:
        raise ModelError("limits belong to actuators; name them too, with actuators=[...].")
    for name, pair in (limits or {}).items():
        if name not in (wanted or {}):
            raise ModelError(f"limits are given for '{name}'. {unknown('actuator', name, wanted or {})}")
        if np.shape(pair) != (2,) or not pair[0] <= pair[1]:
            raise ModelError(f"the limits of '{name}' are {pair!r}; write (low, high).")
    return {name: (float(low), float(high)) for name, (low, high) in (limits or {}).items()}


# The motion -------------------------------------------------------------------------------------------


def _motion(
    model: Model, motion: Results | Columns | str | os.PathLike[str] | None, noise: Noise, **times: Any
) -> Results:
    """q, qd and qdd over time, by kinematics if they are not given."""
    if isinstance(motion, Results):
        return _given(model, motion, times)
    if motion is None:
        if times["t_end"] is None and times["t_eval"] is None:
            raise ModelError("inverse_dynamics needs t_end, t_eval or a motion.")
        return kinematics(model, **times)
    columns = columns_of(motion)
    driven, notes = with_motion(model, columns, noise)
    if times["t_end"] is None and times["t_eval"] is None:
        times = times | {"t_eval": columns["t"]}
    moved = kinematics(driven, **times)
    return replace(moved, notes=notes + moved.notes)


def _given(model: Model, motion: Results, times: dict[str, Any]) -> Results:
    """The motion of other results, checked against the joints of this model; drivers will follow it."""
    given = [name for name in ("t_end", "step", "t_eval") if times[name] is not None]
    if given:
        raise ModelError(f"the motion has its own times; leave out {listed(given)}.")
    if motion.bodies != list(model.bodies):
        raise ModelError(
            f"the motion has the bodies {listed(motion.bodies)}, the model {listed(model.bodies)}; they must agree."
        )
    results = Results(System(model), motion.t, motion.q, motion.qd, motion.qdd, status=motion.status)
    system, drivers = results.system, [name for name, e in model.elements.items() if isinstance(e, Driver)]
    lengths = 1.0 / np.linalg.norm(system.Phi_q(motion.t[0], motion.q[0]) * coordinate_scale(system), axis=1)
    for t, q in zip(motion.t, motion.q, strict=True):
        for (name, _), gap in zip(system.rows, system.Phi(t, q) * lengths, strict=True):
            if name not in drivers and not abs(gap) <= CLOSED * system.length:
                title = model.elements[name].title
                raise ModelError(f"at t = {t:g} s the motion opens {title} by {abs(gap):.3g} m.")
    return results


def _own_drivers(moved: Results) -> dict[str, Any]:
    """The drivers of the model as actuators that follow a given motion."""
    elements = moved.model.elements
    drivers = {name: elements[name] for name in movers(moved.system)}
    if not drivers:
        raise ModelError(
            "the motion is given and the model has no drivers, so nothing produces it; name the actuators, "
            'e.g. actuators={"motor": "angle(ground, crank)"}.'
        )
    return {name: driver.measure if isinstance(driver, Driver) else None for name, driver in drivers.items()}


def _moved_by(moved: Results, wanted: dict[str, Any]) -> Results:
    """The same motion, produced by the actuators."""
    known = movers(moved.system)
    strange = [name for name, measure in wanted.items() if measure is None and name not in known]
    if strange:
        hint = unknown("driver", strange[0], known)
        raise ModelError(
            f"the actuator '{strange[0]}' moves nothing: its value does not change with time. {hint}"
        )
    return replace(moved, system=System(actuated(moved, wanted)))


# The forces -------------------------------------------------------------------------------------------


def _all_rows(moved: Results) -> Results:
    """Every row carries its own force."""
    lam, singular = multipliers(moved, moved.system)
    when = listed(f"{t:g}" for t in singular)
    sentence = (
        f"at t = {when} s the pose is singular and no forces in the joints balance the motion; beside it they grow "
        "without bound, so those given there mean little"
    )
    return _finished(moved, lam, [Caution(sentence)] * bool(singular))


def _actuated_rows(moved: Results, actuators: list[str], limits: dict[str, tuple[float, float]]) -> Results:
    rows: list[Floats] = []
    try:
        for lam in shared_multipliers(moved, moved.system, actuators, limits):
            rows.append(lam)
    except SimEngineError as error:
        lam = np.array(rows).reshape(len(rows), moved.system.m)
        error.results = _finished(moved.at_rows(slice(len(rows))), lam, [])
        raise
    return _finished(moved, np.array(rows), [])


def _finished(moved: Results, lam: Floats, notes: list[str]) -> Results:
    notes = [*moved.notes, *notes, *lift_off_notes(moved.system, moved.t, lam)]
    idle = non_unique(moved.system, float(moved.t[0]), moved.q[0]) if moved.t.size else []
    if idle:
        notes.append(
            f"the reactions of {listed(idle)} are not unique, since these constraints are redundant; "
            "the smallest ones are given"
        )
    status = (
        f"inverse dynamics finished at t = {moved.t[-1]:g} s, {moved.t.size} points" if moved.t.size else ""
    )
    return replace(moved, lam=lam, analysis="inverse_dynamics", status=status, notes=notes)
