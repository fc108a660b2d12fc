"""The derivatives of channels, from those of the motion that they are read from.

A channel is a formula of t, q, qd, qdd, lam and the numbers of the model. Along the tangent of the motion,

    d/dp c(q(p), ..., p) = d/ds c(q + s q_p, qd + s qd_p, qdd + s qdd_p, lam + s lam_p; p + s)    at s = 0

so every channel that results know is differentiated, as any other formula in `parameters.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from ..sweep.reading import channel_of
from .motion_slopes import MotionSlopes
from .parameters import Varied, VariedTime


def moved_results(
    results: Results, slopes: MotionSlopes, number: Varied, k: int, system: System, change: float
) -> Results:
    """The results moved along their tangent by a change of parameter number k."""
    lam = None if results.lam is None else results.lam + change * slopes.lam[..., k]
    return replace(
        results,
        system=system,
        t=results.t + change if isinstance(number, VariedTime) else results.t,
        q=results.q + change * slopes.q[..., k],
        qd=results.qd + change * slopes.qd[..., k],
        qdd=results.qdd + change * slopes.qdd[..., k],
        lam=lam,
    )


def slope_of(
    read: Callable[[Results], Any], results: Results, slopes: MotionSlopes, numbers: Sequence[Varied]
) -> Floats:
    """The derivatives of anything that is read from results, the parameters last."""
    at = lambda k, number: (
        lambda system, change: read(moved_results(results, slopes, number, k, system, change))
    )
    parts = [number.slope(at(k, number)) for k, number in enumerate(numbers)]
    return np.stack(parts, axis=-1)


def channel_slopes(
    results: Results, channels: Sequence[str], slopes: MotionSlopes, numbers: Sequence[Varied]
) -> tuple[Floats, Floats]:
    """Values (times, channels) and derivatives (times, channels, parameters)."""
    refuse_non_unique(results, channels)
    values = np.stack([channel_of(results, name) for name in channels], axis=-1)
    parts = list(dict.fromkeys(part for name in channels for part in _parts(results, name)))
    by_part = _part_slopes(results, parts, slopes, numbers)
    return values, np.stack([_of_parts(results, name, by_part) for name in channels], axis=1)


def _parts(results: Results, channel: str) -> tuple[str, ...]:
    """The channels that one is computed from: a force from its components, since it has a kink at zero."""
    owner, _, quantity = channel.rpartition(".")
    is_size = quantity == "force" and owner in results.resolved.rows
    return (f"{owner}.fx", f"{owner}.fy") if is_size else (channel,)


def _of_parts(results: Results, channel: str, by_part: dict[str, Floats]) -> Floats:
    """F_p = (F_x F_x,p + F_y F_y,p) / F"""
    parts = _parts(results, channel)
    if len(parts) == 1:
        return by_part[channel]
    values = np.stack([results[part] for part in parts])
    size = np.hypot(*values)
    along = values / np.where(size > 0.0, size, 1.0)
    return np.asarray(np.einsum("ct,ctp->tp", along, np.stack([by_part[part] for part in parts])))


def _part_slopes(
    results: Results, channels: Sequence[str], slopes: MotionSlopes, numbers: Sequence[Varied]
) -> dict[str, Floats]:
    """(times, parameters) of each channel; those of coordinates and their rates are known."""
    columns = {name: _column(results, name) for name in channels}
    known = {name: getattr(slopes, c[0])[:, c[1]] for name, c in columns.items() if c is not None}
    others = [name for name in channels if name not in known]
    if not others:
        return known
    read = lambda moved: np.stack([channel_of(moved, name) for name in others])
    return known | dict(zip(others, slope_of(read, results, slopes, numbers), strict=True))


def _column(results: Results, channel: str) -> tuple[str, int] | None:
    """Where a coordinate, its rate or acceleration is among the arrays of the motion."""
    names, n = results.motion_channels, results.system.n
    if channel not in names:
        return None
    order, column = divmod(names.index(channel), n)
    return ("q", "qd", "qdd")[order], column


def refuse_non_unique(results: Results, channels: Sequence[str]) -> None:
    """Reactions that redundant constraints share have no derivatives of their own."""
    if results.lam is None:
        return
    for name in results.non_unique:
        for channel in channels:
            if f"{name}." in channel and channel.removeprefix("lam.").startswith(f"{name}."):
                raise UnsupportedError(
                    f"'{channel}' has no derivatives: the reactions of '{name}' are not unique, since its constraints "
                    "are redundant. Remove the redundant ones."
                )
