"""The derivatives of channels, from those of the motion that they are read from.

A channel c is a formula of the state z = (t, q, qd, qdd, lam) and of the numbers of the model. Along the tangent z_p of
the motion, and with the numbers of the model alone,

    d/dp c(z(p), p) = d/ds c(z + s z_p, p) + d/ds c(z, p + s)    at s = 0

so every channel that results know is differentiated, as any other formula in `varied.py`. The first part needs one
system only, for all parameters at once. The second is zero for most parameters; one reading with all of them changed
finds out, and where it differs, halves of them are tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import SimEngineError, UnsupportedError
from ...numerics.arrays import Floats
from ...results.reactions import DENSE_RANK, force_on, sharing_joints
from ...results.results import Results
from ...system.residuals import jacobians
from ...system.system import System
from ...system.workspace import once_per_system
from ..sweep.reading import channel_of
from ..sweep.variants import variant
from .differences import CENTRAL, STEPS, central_trials, largest
from .motion_slopes import MotionSlopes
from .sloped import Sloped
from .varied import Varied, VariedNumber, VariedTime

Read = Callable[[Results], Any]
"""Anything that is read from results, with the times as its last axis."""

FOLLOWED = re.compile(r"\.energy\b|\benergy\.(input|dissipated)\b|\bdirection\(")
"""Channels that add up over time, or count turns: their values depend on the motion before."""
TURNS = re.compile(r"\bdirection\(")
"""Those that count turns."""
UNCHANGED = 1e-13
"""Of the values: what numbers without influence change."""


def slope_of(
    read: Read, results: Results, slopes: MotionSlopes, numbers: Sequence[Varied], *, followed: bool = False
) -> Sloped:
    """Anything that is read from results, with its derivatives.

    What is `followed` through the motion is read row after row of it, all else at once for all parameters.
    """
    here = np.asarray(read(results), dtype=float)
    if followed or any(isinstance(number, VariedTime) for number in numbers):
        parts = [_along(read, results, slopes, number, k) for k, number in enumerate(numbers)]
        return Sloped(here, np.stack(parts, axis=-1))
    by_state = _by_state(read, results, slopes, numbers, here)
    for k in _influential(read, results, numbers, here):
        by_state[..., k] += numbers[k].slope(lambda system, _: read(replace(results, system=system)))
    return Sloped(here, by_state)


def _along(read: Read, results: Results, slopes: MotionSlopes, number: Varied, k: int) -> Floats:
    """d/ds of a reading along the tangent of the motion and with the number itself."""

    def moved(system: System, change: float) -> Any:
        t = results.t + change if isinstance(number, VariedTime) else results.t
        return read(replace(_moved(results, slopes, k, change), system=system, t=t))

    return number.slope(moved)


def _moved(results: Results, slopes: MotionSlopes, k: int, change: float) -> Results:
    """The results moved along their tangent by a change of parameter k."""
    lam = None if results.lam is None else results.lam + change * slopes.lam[..., k]
    q, qd, qdd = (
        getattr(results, name) + change * getattr(slopes, name)[..., k] for name in ("q", "qd", "qdd")
    )
    return replace(results, q=q, qd=qd, qdd=qdd, lam=lam)


def _by_state(
    read: Read, results: Results, slopes: MotionSlopes, numbers: Sequence[Varied], here: Floats
) -> Floats:
    """The part of the state, for all parameters and steps in one reading."""
    sizes = np.array([number.size for number in numbers])
    changes = STEPS[0] * np.multiply.outer(sizes, CENTRAL.offsets)
    moved: Any = {name: _moved_by(changes, results, slopes, name) for name in MotionSlopes._fields}
    values = np.asarray(read(replace(results, t=np.tile(results.t, changes.size), **moved)))
    values = np.moveaxis(values.reshape(*here.shape[:-1], *changes.shape, results.t.size), (-3, -2), (0, 1))
    found, holds = central_trials(values, here, 0.0, sizes)
    for k in np.flatnonzero(~holds).tolist():
        found[k] = numbers[k].slope_at_center(lambda change, k=k: read(_moved(results, slopes, k, change)))  # type: ignore[misc]
    return np.moveaxis(found, 0, -1)


def _moved_by(changes: Floats, results: Results, slopes: MotionSlopes, name: str) -> Floats | None:
    """An array of results moved along its tangent, by each change of one parameter after the other."""
    here = getattr(results, name)
    if here is None:
        return None
    along = np.moveaxis(getattr(slopes, name), -1, 0)[:, None]
    return np.asarray(
        (here + changes[..., None, None] * along).reshape(changes.size * len(here), here.shape[1])
    )


def _influential(read: Read, results: Results, numbers: Sequence[Varied], here: Floats) -> Iterator[int]:
    """The parameters on which a reading depends at a constant state."""
    waiting = [list(range(len(numbers)))]
    while waiting:
        group = waiting.pop()
        if not _has_influence(read, results, [numbers[k] for k in group], here):
            continue
        if len(group) == 1:
            yield group[0]
        else:
            waiting += [group[: len(group) // 2], group[len(group) // 2 :]]


def _has_influence(read: Read, results: Results, numbers: Sequence[Varied], here: Floats) -> bool:
    """Whether a reading changes with some numbers, each changed by another part of itself so that none cancel."""
    varied = [number for number in numbers if isinstance(number, VariedNumber)]
    if len(varied) < len(numbers):
        return True
    try:
        there = read(replace(results, system=_system_beside(varied[0].system(0.0), *varied)))
    except SimEngineError:
        return True
    return not largest(np.asarray(there) - here) <= UNCHANGED * largest(here)


@once_per_system
def _system_beside(system: System, *numbers: VariedNumber) -> System:
    """With all these numbers changed."""
    changed = {}
    for k, number in enumerate(numbers):
        part = number.stencil.offsets[-1] * (0.5 + (0.618 * (k + 1)) % 0.5)
        changed[number.name] = number.value + part * STEPS[0] * number.size
    return System(variant(numbers[0].model, changed))


def channel_slopes(
    results: Results, channels: Sequence[str], slopes: MotionSlopes, numbers: Sequence[Varied]
) -> tuple[Floats, Floats]:
    """Values (times, channels) and derivatives (times, channels, parameters)."""
    refuse_non_unique(results, channels)
    found = _sloped_channels(results, channels, slopes, numbers)
    values, derivatives = zip(*((found[name].value, found[name].slope) for name in channels), strict=True)
    return np.stack(values, axis=-1), np.stack(derivatives, axis=1)


def _sloped_channels(
    results: Results, channels: Sequence[str], slopes: MotionSlopes, numbers: Sequence[Varied]
) -> dict[str, Sloped]:
    """Each channel with its derivatives; those of coordinates and their rates are known."""
    columns = {name: _column(results, name) for name in channels}
    found = {
        name: Sloped(getattr(results, c[0])[:, c[1]], getattr(slopes, c[0])[:, c[1]])
        for name, c in columns.items()
        if c is not None
    }
    for followed in (False, True):
        group = [name for name in columns if name not in found and bool(FOLLOWED.search(name)) == followed]
        if group:
            read = lambda moved, group=group: np.concatenate([_components(moved, name) for name in group])
            rows, first = slope_of(read, results, slopes, numbers, followed=followed), 0
            for name in group:
                count = 2 if _is_size(results, name) else 1
                found[name], first = _size(rows[first : first + count]), first + count
    return found


def _is_size(results: Results, channel: str) -> bool:
    """Whether it is the size of a force, which has a kink at zero."""
    owner, _, quantity = channel.rpartition(".")
    return quantity == "force" and owner in results.system.named.resolved.rows


def _components(results: Results, channel: str) -> Floats:
    """What a channel is computed from, a row each."""
    if _is_size(results, channel):
        return np.stack(force_on(results, channel.rpartition(".")[0]))
    return channel_of(results, channel)[None]


def _size(components: Sloped) -> Sloped:
    """F_p = (F_x F_x,p + F_y F_y,p) / F"""
    if len(components) == 1:
        return components[0]
    size = np.hypot(*components.value)
    along = components.value / np.where(size > 0.0, size, 1.0)
    return Sloped(size, np.einsum("ct,ctp->tp", along, components.slope))


def _column(results: Results, channel: str) -> tuple[str, int] | None:
    """Where a coordinate, its rate or acceleration is among the arrays of the motion."""
    names, n = results.motion_channels, results.system.n
    if channel not in names:
        return None
    order, column = divmod(names.index(channel), n)
    return ("q", "qd", "qdd")[order], column


def refuse_non_unique(results: Results, channels: Sequence[str]) -> None:
    """Reactions that redundant constraints share have no derivatives of their own."""
    system, t = results.system, results.t
    if results.lam is None or t.size == 0 or not 0 < system.n <= DENSE_RANK or system.m == 0:
        return
    for name in sharing_joints(system, jacobians(system, t[:1], results.q[:1])[0]):
        for channel in channels:
            if f"{name}." in channel and channel.removeprefix("lam.").startswith(f"{name}."):
                raise UnsupportedError(
                    f"'{channel}' has no derivatives: the reactions of '{name}' are not unique, since its constraints "
                    "are redundant. Remove the redundant ones."
                )
