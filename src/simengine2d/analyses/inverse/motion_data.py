"""A motion given as data: measured arrays or columns of a file become drivers.

Each quantity is a spline of degree 5 over its times, through its points or, if the noise of the measurement is given,
as smooth as that noise allows: sum (spline - value)^2 <= N noise^2 (P. Dierckx, Curve and Surface Fitting with
Splines, 1993). Velocities and accelerations are the derivatives of the spline.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ModelError, listed, unknown
from ...expressions.function import Derivatives, Function, python_function
from ...expressions.table import read_columns
from ...model.frame import GROUND, Frame
from ...model.joints.driver import Driver
from ...model.measure import KINDS, Measure
from ...model.model import Model
from ...model.si_values import text_in_si
from ...numerics.arrays import Floats
from ...numerics.kernel import Callback
from ...results.named_channels import POINT_MEASURES

Columns = Mapping[str, Sequence[float] | Floats]
Noise = float | Mapping[str, float] | None

DEGREE = 5


def columns_of(motion: Columns | str | os.PathLike[str]) -> dict[str, Floats]:
    """The columns by name, as arrays of equal length; `t` increases."""
    given = read_columns(motion) if isinstance(motion, str | os.PathLike) else dict(motion)
    if "t" not in given:
        raise ModelError(f"the motion has no times: its columns are {listed(given)}. Name one of them 't'.")
    columns = {str(name): _array(str(name), values) for name, values in given.items()}
    t = columns["t"]
    for name, values in columns.items():
        if values.size != t.size:
            raise ModelError(f"the motion has {t.size} times, but {values.size} values of '{name}'.")
    if t.size <= DEGREE or np.any(np.diff(t) <= 0.0):
        raise ModelError(
            f"the motion has {t.size} times; at least {DEGREE + 1} increasing ones are needed, "
            f"since it is differentiated by splines of degree {DEGREE}."
        )
    return columns


def _array(name: str, values: Any) -> Floats:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if array.ndim != 1 or not np.all(np.isfinite(array)):
        raise ModelError(f"the motion's '{name}' must be a list of finite numbers.")
    return array


def with_motion(model: Model, columns: dict[str, Floats], noise: Noise) -> tuple[Model, list[str]]:
    """A copy driven by the columns, and a sentence on how each was differentiated.

    A column named after a driver gives that driver its values; any other is a channel such as `crank.phi`, `rod.B.x`
    or `distance(a, b)`, for which a driver is added.
    """
    other, notes, t = model.in_si().copy(), [], columns["t"]
    for name, values in columns.items():
        if name == "t":
            continue
        turns = np.unwrap(values) if name.endswith(".phi") else values
        if not np.array_equal(turns, values):
            notes.append(f"the jumps of '{name}' by whole turns were removed")
        function, sentence = _spline(name, t, turns, _noise_of(noise, name, columns))
        notes.append(sentence)
        known = other.elements.get(name)
        if isinstance(known, Driver):
            known.value = function
        else:
            other.add(Driver(driver_name(name), channel_measure(name, model), function))
    return other, notes


def driver_name(channel: str) -> str:
    """`crank phi` for crank.phi: a name cannot contain the signs of references."""
    return " ".join("".join(" " if sign in ".,()'\"" else sign for sign in channel).split())


def channel_measure(channel: str, model: Model) -> Measure | str:
    """The measure that a channel reads, in SI units: `crank.phi` is angle(ground, crank)."""
    if any(f"{kind}(" in channel for kind in KINDS):
        return text_in_si(model, channel)
    *path, quantity = channel.split(".")
    if quantity not in POINT_MEASURES or len(path) not in (1, 2):
        raise ModelError(
            f"'{channel}' is neither a driver nor a position; write crank.phi, rod.B.x or a measure such as "
            "distance(a, b)."
        )
    body, point = (*path, None)[:2]
    return POINT_MEASURES[quantity](Frame(GROUND), Frame(str(body), point))


def _noise_of(noise: Noise, name: str, columns: dict[str, Floats]) -> float:
    if isinstance(noise, Mapping):
        strange = [key for key in noise if key not in columns]
        if strange:
            hint = unknown("column", strange[0], columns)
            raise ModelError(f"noise is given for '{strange[0]}', which is not in the motion. {hint}")
    size = noise.get(name, 0.0) if isinstance(noise, Mapping) else noise or 0.0
    if not np.isfinite(size) or size < 0.0:
        raise ModelError(f"noise = {size!r} of '{name}' must be a standard deviation, zero or more.")
    return float(size)


def _spline(name: str, t: Floats, values: Floats, noise: float) -> tuple[Function, str]:
    """The spline with its derivatives as a function of time, and a sentence on what was done."""
    from scipy.interpolate import UnivariateSpline, make_interp_spline

    if noise == 0.0:
        spline = make_interp_spline(t, values, k=DEGREE)
        sentence = f"'{name}' was differentiated by a spline of degree {DEGREE} through its {t.size} points"
    else:
        spline = UnivariateSpline(t, values, k=DEGREE, s=t.size * noise**2)
        moved = float(np.abs(spline(t) - values).max())
        sentence = f"'{name}' was smoothed by a spline of degree {DEGREE} for noise of {noise:g}: "
        sentence += f"its {t.size} values moved by up to {moved:.3g}"
    jets = [spline, spline.derivative(1), spline.derivative(2)]
    domain = float(t[0]), float(t[-1])
    callback = Callback(Derivatives(jets))
    return python_function(callback, f"the motion '{name}'", domain), sentence
