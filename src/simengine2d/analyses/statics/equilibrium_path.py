"""Equilibria along a parameter of the model, past folds, with the stability of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import ConvergenceError, ModelError, unknown
from ...model.model import Model
from ...numerics.arrays import Floats
from ...system.system import System
from ..assembly.pose import Pose
from .arc_length import PathPoint, ProblemFamily, folds_between, follow
from .equilibrium import Equilibria, equilibria, equilibrium
from .equilibrium_newton import FoundEquilibrium, newton
from .stability import STABLE, Stability
from .statics import Balance, balance_near

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIFFERENCE = 1e-5  # of the whole change of the parameter, for derivatives with respect to it


@dataclass(frozen=True, repr=False)
class EquilibriumPath(PlottedAnswer):
    """Equilibria in the order of the path. `folds` are those at which the parameter turns back."""

    parameter: str
    values: Floats
    points: list[Equilibria]
    folds: list[tuple[float, Equilibria]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, channel: str) -> Floats:
        """A channel along the path, such as "bar.phi"; the parameter by its own name."""
        if channel == self.parameter:
            return self.values
        return np.array([point[channel][0] for point in self.points])

    @property
    def stability(self) -> list[Stability]:
        return [point.stability[0] for point in self.points]

    @property
    def stable(self) -> NDArray[np.bool_]:
        return np.array([each.verdict == STABLE for each in self.stability])

    def __str__(self) -> str:
        first, last = self.values[[0, -1]]
        lines = [f"{len(self)} equilibria along {self.parameter} from {first:g} to {last:g}"]
        lines += [f"fold at {self.parameter} = {value:.9g}" for value, _ in self.folds]
        return "\n".join(lines + self.notes)

    def _parts(self) -> Iterator[Part]:
        yield str(self).splitlines()[0]
        if self.folds:
            rows = [[digits(value), str(fold.stability[0])] for value, fold in self.folds]
            yield Rows([f"fold at {self.parameter} =", "there"], rows, 2)
        yield from self.notes

    def plot(self, ax: Axes | None = None, *, channel: str | None = None) -> Axes:
        """A channel over the parameter, by default the coordinate that changes most; folds are rings."""
        from ...draw.answer_plots import plot_equilibrium_path

        return plot_equilibrium_path(self, channel, ax)


class ByParameter(ProblemFamily):
    """The same model with other values of one parameter."""

    def __init__(self, model: Model, parameter: str, t: float, unit: float) -> None:
        self.t, self.unit = t, unit
        self.system = lru_cache(maxsize=8)(lambda s: System(model.with_parameters(**{parameter: s})))

    def closed(self, q: Floats, s: float) -> Balance | None:
        return balance_near(self.system(s), self.t, q)

    def slope(self, here: Balance, s: float) -> Floats:
        """By central differences, with the mechanism closed on either side and the multipliers held."""
        h, sides = DIFFERENCE * self.unit, []
        for value in (s - h, s + h):
            there = self.closed(here.q, value) or here
            sides.append(there.applied - there.system.Phi_q(self.t, there.q).T @ here.lam)
        return np.asarray(here.Z.T @ (sides[1] - sides[0])) / (2.0 * h)


def equilibrium_path(
    model: Model,
    parameter: str,
    to: float,
    *,
    within: tuple[float, float] | None = None,
    start: Pose = None,
    t: float = 0.0,
    points: int = 500,
) -> EquilibriumPath:
    """Follow the equilibrium closest to `start` while a parameter goes from its present value towards `to`.

    The path continues past folds, where the parameter turns back, until it reaches `to`, leaves the range `within` (by
    default, returns to its first value), or has this number of `points`.
    """
    if not isinstance(model, Model):
        raise ModelError(f"equilibrium_path needs a Model, not {model!r}; read a file with load(path).")
    if parameter not in model.parameters:
        hint = unknown("parameter", parameter, model.parameters)
        raise ModelError(f"model '{model.name}' has no parameter '{parameter}'. {hint}")
    value = model.check().parameters[parameter]
    if not np.isfinite(to) or to == value:
        raise ModelError(f"the path must lead to a value other than {parameter} = {value:g}, not to {to!r}.")
    # the path from the first equilibrium on, then its folds
    first = equilibrium(model, start=start, t=t)
    family = ByParameter(model, parameter, t, abs(float(to) - value))
    ends = sorted(within) if within is not None else sorted((value, float(to)))
    path = _path(family, first.q[0], value, float(to), ends, points)
    if len(path) < 2:
        raise ConvergenceError(
            f"the path ends at once, at {parameter} = {value:g}: nothing closes beyond it."
        )
    folds = [fold for a, b in pairwise(path) for fold in folds_between(a, b)]
    return EquilibriumPath(
        parameter,
        np.array([p.s for p in path]),
        [_found(p) for p in path],
        [(fold.s, _found(fold)) for fold in folds],
        _branchings(path, parameter) + _ending(path, parameter, {float(to), *ends}, points),
    )


def _path(
    family: ByParameter, q: Floats, value: float, to: float, ends: list[float], most: int
) -> list[PathPoint]:
    """The points up to `to` or one of the ends."""
    path: list[PathPoint] = []
    for point in follow(family, q, value, towards=to):
        if path:
            before = path[-1]
            for end in (to, *ends):
                if (before.s - end) * (point.s - end) <= 0.0 and before.s != end:
                    return [*path, _exactly(before, point, end)]
        path.append(point)
        if len(path) >= most:
            break
    return path


def _exactly(before: PathPoint, after: PathPoint, s: float) -> PathPoint:
    """The point at s between two others, or the one after it."""
    part = (s - before.s) / (after.s - before.s)
    near = after.family.closed(before.balance.q + part * (after.balance.q - before.balance.q), s)
    solution = newton(near) if near is not None else None
    if solution is None or near is None:
        return after
    moved, whole = (
        np.abs((q - near.q) / near.space.scale).max() for q in (solution.balance.q, after.balance.q)
    )
    if moved > max(whole, 1e-6 * near.system.length):  # on another path
        return after
    return PathPoint(after.family, solution.balance, s, after.dx, after.ds)


def _ending(path: list[PathPoint], parameter: str, ends: set[float], most: int) -> list[str]:
    """A note if the path ends before it has reached one of its ends."""
    last = path[-1].s
    if any(abs(last - end) <= 1e-9 * path[-1].family.unit for end in ends):
        return []
    why = f"{most} points were made; ask for more" if len(path) >= most else "nothing closes beyond it"
    return [f"the path ends early, at {parameter} = {last:.6g}: {why}"]


def _found(point: PathPoint) -> Equilibria:
    return equilibria([FoundEquilibrium(point.balance, 0)], "arc length", [])


def _branchings(path: list[PathPoint], parameter: str) -> list[str]:
    """Changes of stability without a fold: other equilibria branch off there."""
    notes = []
    for a, b in pairwise(path):
        if a.ds * b.ds > 0.0 and _downhill(a) != _downhill(b):
            notes.append(
                f"between {parameter} = {a.s:.6g} and {b.s:.6g} the stability changes without a fold; "
                "other equilibria branch off there"
            )
    return notes


def _downhill(point: PathPoint) -> int:
    """Number of motions in which the equilibrium is a maximum of the energy."""
    K = point.balance.stiffness
    return int(np.sum(np.linalg.eigvalsh(0.5 * (K + K.T)) < 0.0))
