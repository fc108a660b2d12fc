"""A whole motion against the engine's, channel by channel: when it departs, and in what way."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any, NamedTuple

import numpy as np

from ...analyses.dynamics.dynamics import dynamics
from ...errors import ModelError
from ...numerics.arrays import Floats
from ...results.results import Results
from ...system.system import System
from ..motion_columns import SolutionLike, columns_in, refuse_unknown_channels
from .checked import CheckedWork, Mistake
from .comparison import Tolerance
from .suspicions import FACTORS

TIGHT = 1e-9  # relative tolerance of the motion that is taken as right
FLOOR = 1e-9
MOST_TIMES = 200_000


class MotionColumns(NamedTuple):
    """The times, and the channels in SI units and radians."""

    t: Floats
    channels: dict[str, Floats]


def check_motion(
    system: System, solution: SolutionLike, reference: Results | None, tolerance: Tolerance
) -> CheckedWork:
    """Each channel at the times given; by default against the motion of `dynamics`."""
    given = columns_of(solution, system)
    right = _motion(system, given.t) if reference is None else reference
    mistakes: list[Mistake] = []
    shown: dict[str, Floats] = {}
    for channel, G in given.channels.items():
        shown[channel] = _at(right, channel, given.t)
        mistakes += _compared(channel, G, shown[channel], given.t, right, tolerance)
    title = f"{system.model.name} from t = {given.t[0]:g} to {given.t[-1]:g} s"
    times = [f"t = {t:g} s" for t in given.t]
    names = dict.fromkeys(given.channels, (times, [""]))
    return CheckedWork(title, tuple(given.channels), mistakes, [], given.channels, shown, names)


def _motion(system: System, t: Floats) -> Results:
    begin = [] if t[0] <= 0.0 else [0.0]
    return dynamics(system, t_eval=[*begin, *t.tolist()], rtol=TIGHT)


def _at(results: Results, channel: str, t: Floats) -> Floats:
    """A channel at some times; between those of the results it is interpolated."""
    values = np.asarray(results[channel], dtype=float)
    if results.t.size == t.size and np.allclose(results.t, t, rtol=0.0, atol=1e-12 * (1.0 + abs(t[-1]))):
        return values
    span = results.t[-1] - results.t[0]
    if t[0] < results.t[0] - 1e-9 * span or t[-1] > results.t[-1] + 1e-9 * span:
        raise ModelError(
            f"the solution covers t = {t[0]:g} to {t[-1]:g} s, the reference only {results.t[0]:g} to "
            f"{results.t[-1]:g} s."
        )
    return np.interp(t, results.t, values)


# What was given ---------------------------------------------------------------------------------------


def columns_of(solution: Any, system: System) -> MotionColumns:
    """The columns of a file, a DataFrame, a mapping or of Results, in SI units."""
    columns = {name: column.values for name, column in columns_in(solution, "the solution").items()}
    t = columns.pop("t")
    if t.size < 2 or t.size > MOST_TIMES or not np.all(np.diff(t) > 0.0):
        raise ModelError("the column t must hold at least two times, each larger than the one before.")
    if not columns:
        raise ModelError("the solution has a column t, but no other; name channels such as crank.phi.")
    refuse_unknown_channels(system, list(columns))
    return MotionColumns(t, columns)


# The kinds --------------------------------------------------------------------------------------------


def _compared(
    channel: str, G: Floats, E: Floats, t: Floats, right: Results, tolerance: Tolerance
) -> list[Mistake]:
    if G.size != t.size:
        return [Mistake(channel, "shape", f"has {G.size} values for {t.size} times")]
    close = tolerance.rtol * np.abs(E).max() + (FLOOR if tolerance.atol is None else tolerance.atol)
    wrong = np.flatnonzero(~(np.abs(G - E) <= close))
    if not wrong.size:
        return []
    k = int(wrong[0])
    kind, remark = next(_kinds(channel, G, E, t, right, close), ("value", "departs here"))
    owner = channel.rpartition(".")[0]
    joint, body = (owner, "") if owner in right.model.elements else ("", owner)
    places = tuple((int(i),) for i in wrong)
    numbers = float(G[k]), float(E[k])
    return [
        Mistake(
            channel, kind, remark, (k,), f"{channel} at t = {t[k]:.4g} s", joint, body, "", *numbers, places
        )
    ]


def _kinds(
    channel: str, G: Floats, E: Floats, t: Floats, right: Results, close: float
) -> Iterator[tuple[str, str]]:
    """The kinds of mistakes that explain the channel at all times."""

    def near(a: Floats, b: Floats, scale: float = 1.0) -> bool:
        return bool(np.all(np.abs(a - b) <= close * max(1.0, scale)))

    if not np.isfinite(G).all():
        yield "not a number", "holds something that is not a finite number"
    elif near(G, -E):
        yield "sign", "has the opposite sign throughout"
    elif not G.any():
        yield "missing", "is zero throughout"
    for factor, words in FACTORS.items():
        if near(G, factor * E, factor):
            yield ("angle unit" if "degrees" in words else "factor"), f"is {words}, throughout"
    if near(G[1:], E[:-1]) or near(G[:-1], E[1:]):
        late = near(G[1:], E[:-1])
        yield "shifted", f"is one step {'late' if late else 'early'} throughout"
    offset = float(np.mean(G - E))
    if near(G, E + offset):
        turns = f", {offset / pi:.4g} pi" if channel.endswith(".phi") else ""
        yield "offset", f"differs by the constant {offset:.5g}{turns}"
    for other in right.channels:
        if other != channel and near(G, _at(right, other, t)):
            yield "column order", f"is the channel {other}"
    ratio = float(G @ E / (E @ E)) if E.any() else 0.0
    if ratio and near(G, ratio * E, abs(ratio)):
        yield "factor", f"is multiplied by {ratio:.4g} throughout"
    if not abs(G[0] - E[0]) <= close:
        yield "value", "is wrong from the beginning: look at the initial state"
