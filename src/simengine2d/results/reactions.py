"""Reactions: the force and torque with which a joint, a driver or a force element acts on a body, over time.

A force (F_x, F_y) on a body comes with the torque T about its mass center r. About another point P it is

    T_P = T - (r_P - r) x F
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..answer import Answer, Part, PlottedAnswer, Rows, digits
from ..errors import ModelError, UnsupportedError, listed, unknown
from ..expressions.unit_system import SI, UnitSystem
from ..model.elements import Joint, MeasureForce, Wrench
from ..model.frame import GROUND, Frame, PlacedFrame, as_frame
from ..model.measure import Measure
from ..model.si_values import units_of
from ..numerics.arrays import Floats
from ..numerics.rank import row_space, surely_independent
from ..system.applied_forces import frames_of_loads
from ..system.system import System
from .force_history import forces_of

if TYPE_CHECKING:
    from .results import Results


PRESSES = "gap"
"""Label of the rows of contacts that press only."""
DENSE_RANK = 900  # coordinates up to which redundant rows are looked for


class ReactionParts(NamedTuple):
    """Force in newton and torque in newton meter, one entry per time."""

    fx: Floats
    fy: Floats
    torque: Floats


class Reaction(ReactionParts, PlottedAnswer):
    """Force and torque on a body, one entry per time."""

    t: Floats = np.empty(0)
    title: str = ""
    """What acts on what: `A on rod`."""
    units: UnitSystem = SI
    """In which it shows itself."""
    __repr__ = Answer.__repr__

    def __str__(self) -> str:
        force, torque = (
            np.abs(array).max(initial=0.0) for array in (np.hypot(self.fx, self.fy), self.torque)
        )
        largest = [
            self.units.shown(unit).text(value, ".5g") for unit, value in (("N", force), ("N m", torque))
        ]
        return f"{self.title or 'reaction'}: largest force {largest[0]}, largest torque {largest[1]}"

    def _parts(self) -> Iterator[Part]:
        yield str(self)
        force, torque = self.units.shown("N"), self.units.shown("N m")
        units = {"fx": force, "fy": force, "torque": torque}
        columns = {f"{part} {unit.name}": unit.of(getattr(self, part)) for part, unit in units.items()}
        rows = [
            [name, *map(digits, (a[0], a[-1], a.min(), a.max()))] for name, a in columns.items() if a.size
        ]
        yield Rows(["", "first", "last", "lowest", "highest"], rows)


def reaction(
    results: Results,
    name: str,
    on: str | None = None,
    at: Frame | PlacedFrame | str | None = None,
    expressed_in: str = GROUND,
) -> Reaction:
    """What the joint or force `name` does to the body `on`; the torque is about `at`."""
    body, (force_x, force_y, torque) = _acts(results, name, on)
    point = _point(results, _acting(results.system, results, name), body, at)
    axes = results.resolved.frame(as_frame(expressed_in))
    forces = forces_of(results)
    arm_x, arm_y = forces.arm(point, body)
    torque = torque - (arm_x * force_y - arm_y * force_x)
    turn = forces.angle(axes)
    c, s = np.cos(turn), np.sin(turn)
    answer = Reaction(c * force_x + s * force_y, c * force_y - s * force_x, torque)
    answer.t, answer.title, answer.units = results.t, f"{name} on {body}", units_of(results.model)
    return answer


def force_on(results: Results, name: str, on: str | None = None) -> tuple[Floats, Floats]:
    """Its force alone, in the axes of the ground: that depends on the forces of the motion, and on no point."""
    force_x, force_y, _ = _acts(results, name, on)[1]
    return force_x, force_y


def _acts(results: Results, name: str, on: str | None) -> tuple[str, Floats]:
    """The body on which it acts, and force and torque about its mass center."""
    element = _acting(results.system.named, results, name)
    body = element.body(on)
    if element.is_joint:
        refuse_without_forces(results, element.title)
    return body, forces_of(results).on(name, body)


def pull(results: Results, name: str) -> Floats:
    """The law's g of a spring, positive where it resists the growth of its measure; what a contact presses with."""
    element = _acting(results.system.named, results, name)
    if not element.has_law:
        raise ModelError(
            f"{element.title} has no channel '{name}.force'; it has {listed(channels_of(results, name))}."
        )
    if not element.is_joint:
        return forces_of(results).law(name)
    refuse_without_forces(results, element.title)
    first = [owner for owner, _ in results.system.named.rows].index(name)
    return np.asarray(-results.motion.lam[:, first])


def channels_of(results: Results, name: str) -> list[str]:
    """The channels of a joint or a force."""
    has_law = _acting(results.system.named, results, name).has_law
    return [f"{name}.{part}" for part in (*Reaction._fields, *(["force"] if has_law else []))]


class _Acting(NamedTuple):
    """A joint or a force: the frames at which it acts, and all bodies that it refers to."""

    title: str
    is_joint: bool
    frames: list[PlacedFrame]
    bodies: list[str]
    has_law: bool
    """Whether it pushes along a measure, or presses as a contact does."""

    def body(self, on: str | None) -> str:
        """The body asked for; where none was, the last one that is not the ground."""
        if on is None:
            return next((frame.body for frame in reversed(self.frames) if frame.body != GROUND), GROUND)
        if on not in self.bodies and on != GROUND:
            raise ModelError(
                f"{self.title} does not act on '{on}'. {unknown('body', on, self.bodies, plural='bodies')}"
            )
        return on

    def attachment(self, body: str) -> PlacedFrame | None:
        """The one point at which it is attached; None where there is none or several."""
        places = {frame[:3]: frame for frame in self.frames if frame.body == body}
        return places.popitem()[1] if len(places) == 1 else None


def _acting(system: System, results: Results, name: str) -> _Acting:
    """`system` is that of the results, or one with the same names."""
    elements = system.written.elements
    if name not in elements:
        hint = (
            unknown("element", name, elements, plural="joints and forces")
            if elements
            else "The model has none."
        )
        if results.columns_only:
            hint = "These results come from a CSV file, which holds no model; save them as .npz or .parquet."
        raise ModelError(f"there is no joint or force '{name}' in the results. {hint}")
    title = elements[name].title
    return _joint(system, name, title) if isinstance(elements[name], Joint) else _force(system, name, title)


def _joint(system: System, name: str, title: str) -> _Acting:
    rows = system.resolved.rows[name]
    frames = _ends(row.measure for row in rows)
    presses = bool(rows) and rows[0].label == PRESSES and rows[0].formula is not None
    return _Acting(title, True, frames, _bodies(frames), presses)


def _force(system: System, name: str, title: str) -> _Acting:
    if system.missing_law is not None:
        raise UnsupportedError(system.missing_law)
    loads = [load for owner, load in system.loads if owner == name]
    along = [load for load in loads if isinstance(load, MeasureForce)]
    frames = _ends(load.measure for load in along)
    frames += [load.frame for load in loads if isinstance(load, Wrench)]
    pulls = any(load.is_law for load in along)
    return _Acting(title, False, frames, _bodies([*frames, *frames_of_loads(along)]), pulls)


def _ends(measures: Iterable[Measure]) -> list[PlacedFrame]:
    return [frame for measure in measures for term in measure.terms for frame in (term.a, term.b)]  # type: ignore[misc]


def _bodies(frames: Iterable[PlacedFrame]) -> list[str]:
    return list(dict.fromkeys(frame.body for frame in frames))


def refuse_without_forces(results: Results, title: str) -> None:
    """A joint has no reactions where there are no multipliers."""
    if results.lam is None:
        what = f"a run of {results.analysis}" if results.analysis else "this file"
        raise UnsupportedError(
            f"{title}: {what} has no reactions, since it involves no forces. Run dynamics(model, t_end=...)."
        )


def _point(
    results: Results, element: _Acting, body: str, at: Frame | PlacedFrame | str | None
) -> PlacedFrame:
    """The point asked for: a point of the body, or any frame; else where the element is attached to the body."""
    resolved = results.resolved
    if isinstance(at, PlacedFrame):
        return at
    if at is None:
        return element.attachment(body) or resolved.frame(Frame(body))
    if isinstance(at, str):
        points = resolved.bodies[body].points
        if at in points:
            return resolved.frame(Frame(body, at))
        if at != body and at in results.model.elements:
            return _acting(results.system, results, at).attachment(body) or resolved.frame(Frame(body))
        if "." not in at and at not in resolved.bodies:
            raise ModelError(f"body '{body}' has no point '{at}'. {unknown('point', at, points)}")
    return resolved.frame(as_frame(at))


# Redundancy -------------------------------------------------------------------------------------------


def non_unique(system: System, t: float, q: Floats) -> list[str]:
    """Joints whose reactions the equations do not determine: their rows take part in Phi_q^T lam = 0.

    Models of more than 900 coordinates are not examined.
    """
    if system.m == 0 or system.n > DENSE_RANK:
        return []
    return sharing_joints(system, system.Phi_q(t, q))


def sharing_joints(system: System, Phi_q: Floats) -> list[str]:
    """The same where Phi_q is known."""
    J = Phi_q * (system.sizes / np.repeat(system.arms, 3))  # angles as lengths
    if surely_independent(J):
        return []
    free = row_space(J).takes_part()
    return list(dict.fromkeys(name for (name, _), is_free in zip(system.rows, free, strict=True) if is_free))
