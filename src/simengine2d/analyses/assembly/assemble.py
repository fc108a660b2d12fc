"""Assembly: from the initial pose, as drawn, to one in which every joint closes, with consistent velocities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import hypot, isfinite, pi

import numpy as np
from numpy.typing import NDArray

from ...answer import Part, PlottedAnswer, Rows, digits
from ...errors import AssemblyError, ModelError, counted, listed
from ...model.attachment import center_gaps
from ...model.measure import ANGLE, Term
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.rank import Matrix
from ...system.failures import broken_function
from ...system.geometry import once_per_geometry
from ...system.system import System
from .closure import Closure, ScaledRows, close, coordinate_scale, weighted_change

UNGIVEN = 1e-10  # weight of a velocity the user did not give, relative to a given one
ROUNDING = 8.0 * np.finfo(float).eps  # of an equation, relative to its terms
NEW_STARTS = 4
SUSPECTS = 8  # joints tried in turn if the mechanism does not close


@dataclass(frozen=True, repr=False)
class Assembly(PlottedAnswer):
    """A closed pose and consistent velocities."""

    system: System
    t: float
    q: Floats
    qd: Floats
    iterations: int
    residual: float
    """Largest remaining gap, as a length."""
    change: Floats
    """From the initial pose; full turns that only a driver counts are left out."""
    changed_velocities: list[str]
    """A sentence for each given velocity that the joints do not allow."""

    @property
    def model(self) -> Model:
        return self.system.model

    @cached_property
    def moved(self) -> dict[str, tuple[float, float]]:
        """How far each body was moved (m) and turned (rad) from its initial pose."""
        shifts, turns = _shifts(self.change), self.change[2::3]
        names = (body.name for body in self.system.bodies)
        return dict(zip(names, zip(shifts.tolist(), turns.tolist(), strict=True), strict=True))

    @cached_property
    def moves(self) -> list[str]:
        """A sentence for each body that was moved."""
        return _move_sentences(self.system, self.change)

    @property
    def notes(self) -> list[str]:
        """What differs from what was given."""
        return self.moves + self.changed_velocities

    def __str__(self) -> str:
        head = f"assembled at t = {self.t:g} s in {self.iterations} iterations, largest gap {self.residual:.1e} m"
        return "\n".join([head, *self.notes])

    def _parts(self) -> Iterator[Part]:
        yield f"{self.model.name}: {str(self).splitlines()[0]}"
        heads = ["body", "x m", "y m", "phi rad", "moved by m", "turned by rad"]
        poses = zip(self.moved.items(), self.q.reshape(-1, 3), strict=True)
        yield Rows(heads, [[name, *map(digits, (*pose, *moved))] for (name, moved), pose in poses])
        yield from self.changed_velocities


def assemble(model: Model | System, t: float = 0.0) -> Assembly:
    """Close the mechanism at time t near its initial pose.

    Raises AssemblyError with the joint that stays open and its gap.
    """
    system = model if isinstance(model, System) else System(model)
    drawn, closure = closed_pose(system, t)
    qd, changes = consistent_velocities(system, closure.rows, system.drawn_qd)
    residual = float(np.abs(closure.gaps).max(initial=0.0))
    return Assembly(system, t, closure.q.copy(), qd, closure.iterations, residual, closure.q - drawn, changes)


@once_per_geometry
def closed_pose(system: System, t: float) -> tuple[Floats, Closure]:
    """The drawn pose with the whole turns of drivers, and the closed one near it."""
    f = system.functions_at(t)
    if not np.all(np.isfinite(f)):
        raise ModelError(broken_function(system, t) or f"a function of time has no value at t = {t:g} s.")
    drawn = with_whole_turns(system, f[:, 0], system.drawn_q)
    closure = close(system, t, drawn)
    return drawn, closure if closure.closed else _closed_from_elsewhere(system, t, drawn, closure)


def _closed_from_elsewhere(system: System, t: float, drawn: Floats, closure: Closure) -> Closure:
    """From other starts than the initial pose, which has left a gap."""
    for start in _other_starts(system, drawn):
        closure = min(closure, close(system, t, start), key=lambda c: (not c.closed, np.abs(c.gaps).max()))
        if closure.closed:
            return closure
    raise AssemblyError(_open_joint(system, t, closure))


def _other_starts(system: System, drawn: Floats) -> Iterator[Floats]:
    """The initial pose, slightly perturbed: escapes dead ends such as links drawn exactly in line."""
    random = np.random.default_rng(0)
    scale = coordinate_scale(system) * system.length
    for k in range(NEW_STARTS):
        yield drawn + 0.05 * (k + 1) * scale * random.standard_normal(system.n)


def _open_joint(system: System, t: float, closure: Closure) -> str:
    """Name the joint added last without which the others close; it takes the whole gap."""
    gaps = _by_joint(system, closure.gaps)
    worst = max(gaps, key=gaps.__getitem__)
    open_ones = [name for name, gap in gaps.items() if gap > 0.05 * gaps[worst]]
    for name in reversed(open_ones[-SUSPECTS:]):
        if close(system, t, closure.q, _weights(system, name, 0.0)).closed:
            worst = name
            break
    relaxed = close(system, t, closure.q, _weights(system, worst, 0.03))
    element = system.model.elements[worst]
    bodies = listed(dict.fromkeys(frame.body for frame in element.frames()))
    return (
        f"the mechanism does not close at t = {t:g} s: {element.title} between {bodies} stays "
        f"{_gap_text(system, worst, system.Phi(t, relaxed.q))} when the others close "
        f"({counted(closure.iterations, 'iteration')}, {NEW_STARTS} new starts). "
        f"{_remedy(system)}"
    )


def _remedy(system: System) -> str:
    for gap in center_gaps(system.resolved):  # the likely cause, even if another joint stays open
        return f"{gap.text} {gap.remedy}"
    if len(system.driver_rows):
        return (
            "Check its position, the lengths of the bodies around it, and the drivers' values at that time."
        )
    return "Check its position and the lengths of the bodies around it."


def _weights(system: System, joint: str, weight: float) -> Floats:
    """One for every row except those of the joint."""
    return np.array([weight if name == joint else 1.0 for name, _ in system.rows])


def _gap_text(system: System, joint: str, Phi: Floats) -> str:
    """`0.21 m apart` or `0.3 rad off`."""
    lengths, angles = 0.0, 0.0
    for (name, row), error in zip(system.rows, Phi, strict=True):
        if name != joint:
            continue
        if row.formula is not None:
            return f"violated, with '{row.formula.text}' = {error:.4g} instead of 0,"
        first = row.measure.terms[0]
        if first.kind == "half_distance2":  # Phi = (d^2 - L^2) / (2 L), of weight 1 / L
            length = 1.0 / first.weight
            lengths = abs(float(np.sqrt(max(length * length + 2.0 * length * error, 0.0))) - length)
        elif all(term.kind in ("angle", "misalignment", "direction") for term in row.measure.terms):
            angles = max(angles, abs(float(error)))
        else:
            lengths = float(np.hypot(lengths, error))
    return f"{lengths:.4g} m apart" if lengths > angles * system.length else f"{angles:.4g} rad off"


def _by_joint(system: System, gaps: Floats) -> dict[str, float]:
    """The size of each joint's gap."""
    sizes: dict[str, float] = {}
    for (name, _), gap in zip(system.rows, gaps, strict=True):
        sizes[name] = hypot(sizes.get(name, 0.0), gap)
    return sizes


def _shifts(change: Floats) -> Floats:
    return np.hypot(change[0::3], change[1::3])


def _move_sentences(system: System, change: Floats) -> list[str]:
    shifts, turns, sentences = _shifts(change), change[2::3], []
    shifted, turned = shifts > 1e-6 * system.length, np.abs(turns) > 1e-6
    for k in np.flatnonzero(shifted | turned).tolist():
        parts = [f"moved by {shifts[k]:.3g} m"] if shifted[k] else []
        parts += [f"turned by {turns[k]:.3g} rad"] if turned[k] else []
        sentences.append(f"body '{system.bodies[k].name}' was {' and '.join(parts)} to close the joints")
    return sentences


def consistent_velocities(system: System, rows: ScaledRows, given: Floats) -> tuple[Floats, list[str]]:
    """Velocities with Phi_q qd = nu, as close as possible to those given; and a sentence for each change."""
    is_given = ~np.isnan(given)
    wanted = np.where(is_given, given, 0.0)
    scale, J, nu, qd = coordinate_scale(system), rows.J, rows.nu, wanted
    if is_satisfied(J, wanted / scale, nu):
        return qd, []
    weight = np.where(is_given, 1.0, UNGIVEN)
    # again from the computed velocities where none were given, so that these do not affect the given ones
    for _ in range(2):
        near = np.where(is_given, wanted, qd)
        qd = near + scale * weighted_change(J, nu - J @ (near / scale), weight)
    return qd, _velocity_sentences(system, wanted, is_given, qd)


def is_satisfied(J: Matrix, x: Floats, b: Floats) -> bool:
    """Whether J x = b but for rounding."""
    return bool(np.all(np.abs(b - J @ x) <= ROUNDING * (abs(J) @ np.abs(x) + np.abs(b))))


def _velocity_sentences(system: System, wanted: Floats, is_given: NDArray[np.bool_], qd: Floats) -> list[str]:
    change = np.abs(qd - wanted) / coordinate_scale(system)
    tolerance = 1e-8 * (system.length + np.abs(wanted / coordinate_scale(system)).max(initial=0.0))
    changed = np.flatnonzero(is_given & (change > tolerance))
    return [
        f"the given velocity {system.coordinate_names[i]}d = {wanted[i]:g} was changed to {qd[i]:.6g} by the joints"
        for i in changed
    ]


# Full turns: a crank drawn at -1 rad and driven from 5.28 rad is in the same pose ---------------------
#
# A drawing does not count turns, a driver does. If an iteration led the crank through the missing turn, the other
# bodies would be dragged along and might end on another branch. So the turn is added at once, and nothing else moves.


def with_turns_of_drivers(system: System, t: float) -> System:
    """The bodies drawn with the whole turns that the drivers have at time t; the picture is the same."""
    drawn = system.drawn_q
    q = with_whole_turns(system, system.functions_at(t)[:, 0], drawn)
    return system.drawn_at(q) if np.any(q != drawn) else system


def with_whole_turns(system: System, f: Floats, q: Floats) -> Floats:
    """q with each body turned by the full turns that a row on its angle alone asks for, whose value is in f."""
    if not np.any(system.arrays.term_kind == ANGLE):
        return q
    terms = [
        (i, term)
        for i, (_, row) in enumerate(system.rows)
        for term in row.measure.terms
        if term.kind == "angle"
    ]
    index = {body.name: 3 * k + 2 for k, body in enumerate(system.bodies)}
    q = q.copy()
    for i, term in terms:
        row = system.rows[i][1]
        if len(row.measure.terms) != 1 or row.formula is not None or not isfinite(f[i]):
            continue
        turns = round((_angle(term, q, index) - f[i] / term.weight) / (2 * pi))
        for frame, sign in ((term.b, -1.0), (term.a, 1.0)):
            if turns and frame.body in index and _held_once(frame.body, terms):  # type: ignore[union-attr]
                q[index[frame.body]] += sign * 2 * pi * turns  # type: ignore[union-attr]
                break
    return q


def _angle(term: Term, q: Floats, index: dict[str, int]) -> float:
    a, b = (q[index[p.body]] + p.angle if p.body in index else p.angle for p in (term.a, term.b))  # type: ignore[union-attr]
    return float(b - a)


def _held_once(body: str, terms: list[tuple[int, Term]]) -> bool:
    """Whether only one row involves the body's angle."""
    return sum(body in (term.a.body, term.b.body) for _, term in terms) == 1  # type: ignore[union-attr]
