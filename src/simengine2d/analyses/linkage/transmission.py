"""Transmission angle: how well the force that drives a link is directed.

The link receives its force F at a joint P. With the velocity v that P can have as a point of the link,

    sin mu = |F . v| / (|F| |v|)

is 1 where the force moves the link with all its size, and 0 where it only presses on the link's bearing. F has the
direction of the joint's reaction to a load on the driven link, all other forces left out (statics); of a four-bar, mu
is then the angle between coupler and rocker, of a slider-crank that between the rod and the normal of the guide.
H. Alt, Der Übertragungswinkel und seine Bedeutung für das Konstruieren periodischer Getriebe, 1932;
S. S. Balli, S. Chand, Transmission angle in mechanisms, Mechanism and Machine Theory 37 (2002) 175-195.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...answer import PlottedAnswer
from ...errors import ModelError, UnsupportedError, listed, unknown
from ...model.frame import GROUND, PlacedFrame
from ...model.model import Model
from ...numerics.arrays import Floats
from ...numerics.rank import DEPENDENT, row_space, surely_independent, unit_rows
from ...results.results import Results
from ...system.residuals import jacobians
from ...system.system import System
from ..assembly.closure import coordinate_scale
from .free_motion import ground_joint, joints_of, the_driver

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ON_THE_LINE = 1e-8  # moment of a force about a point on its line, relative to force and length


@dataclass(frozen=True, repr=False)
class TransmissionAngle(PlottedAnswer):
    """The angle over a motion, from 0 to pi/2: that between two lines."""

    body: str
    joint: str
    t: Floats
    angle: Floats

    @property
    def smallest(self) -> float:
        return float(np.nanmin(self.angle))

    @property
    def largest(self) -> float:
        return float(np.nanmax(self.angle))

    @property
    def pressure_angle(self) -> Floats:
        """pi/2 - mu: between the force and the velocity."""
        return 0.5 * np.pi - self.angle

    def __str__(self) -> str:
        low, high = np.degrees([self.smallest, self.largest])
        return f"transmission angle of '{self.body}' at '{self.joint}': {low:.4g}° to {high:.4g}°"

    def plot(self, ax: Axes | None = None) -> Axes:
        """The angle over time, with the 40 degrees that textbooks ask for."""
        from ...draw.linkage_plots import plot_transmission

        return plot_transmission(self, ax)


def transmission_angle(
    results: Results, body: str | None = None, *, joint: str | None = None
) -> TransmissionAngle:
    """The transmission angle of a link over a motion.

    `body` is the driven link, on a pin or in a guide of the ground; `joint` the one through which it is driven. Both
    may be left out where the model has only one such link, and the link one other joint.
    """
    line = ForceLine(results.system, *driven_link(results.model, results.system, body, joint))
    return TransmissionAngle(line.body, line.joint, results.t, line.angles(results.t, results.q))


def driven_links(model: Model, system: System) -> list[tuple[str, str]]:
    """Each link on a bearing in the ground that one other joint drives, with that joint; not the input."""
    row = next(row for owner, row in system.rows if owner == the_driver(system, None))
    inputs = {frame.body for term in row.measure.terms for frame in (term.a, term.b)}  # type: ignore[union-attr]
    links = []
    for body in model.bodies:
        bearing = ground_joint(model, body)
        others = [name for name in joints_of(model, body) if bearing is not None and name != bearing.name]
        if body not in inputs and len(others) == 1:
            links.append((body, others[0]))
    return links


def driven_link(model: Model, system: System, body: str | None, joint: str | None) -> tuple[str, str]:
    """The link and the joint that are meant."""
    if body is None:
        links = driven_links(model, system)
        if len(links) != 1:
            names = f"it has {len(links)}: {listed(link for link, _ in links)}" if links else "it has none"
            raise ModelError(
                f"model '{model.name}' should have one link on a bearing in the ground that one other joint drives, "
                f"but {names}. Name the driven body, and the joint that drives it."
            )
        return links[0]
    model.find_body(body)
    bearing = ground_joint(model, body)
    if bearing is None:
        raise UnsupportedError(
            f"body '{body}' has no pin and no guide in the ground, so it has no direction of its own in which a force "
            "can move it; the transmission angle is that of a link which has."
        )
    others = [name for name in joints_of(model, body) if name != bearing.name]
    if joint is not None and joint not in others:
        raise ModelError(f"joint '{joint}' does not drive '{body}'. {unknown('joint', joint, others)}")
    if joint is None and len(others) != 1:
        raise ModelError(f"body '{body}' has the joints {listed(others)}; say which one drives it, joint=...")
    return body, joint or others[0]


class ForceLine:
    """The force with which a joint drives a body, and the velocity that it can cause."""

    def __init__(self, system: System, body: str, joint: str) -> None:
        self.system, self.body, self.joint = system, body, joint
        self.scale = coordinate_scale(system)
        names = [each.name for each in system.bodies]
        first = 3 * names.index(body)
        self.columns = slice(first, first + 3)
        self.first = {name: 3 * i for i, name in enumerate(names)}
        owners = np.array([name for name, _ in system.rows])
        self.rows = np.flatnonzero(owners == joint)
        bearing = ground_joint(system.model, body)
        assert bearing is not None
        self.bearing = np.flatnonzero(owners == bearing.name)
        element = system.resolved.elements[joint]
        self.frames: list[PlacedFrame] = [element.b, element.a]  # type: ignore[attr-defined]

    def angles(self, t: Floats, Q: Floats) -> Floats:
        """mu in each pose; nan where nothing is driven."""
        J = jacobians(self.system, t, Q)
        v = self._free_velocities(J)
        load = np.zeros(Q.shape)
        load[:, self.columns] = v
        lam = self._multipliers(J, load)
        force = np.einsum("trc,tr->tc", J[:, self.rows, self.columns], lam[:, self.rows])
        x, y = self._points(Q, force).T
        v_x, v_y = v[:, 0] - v[:, 2] * y, v[:, 1] + v[:, 2] * x
        size = np.hypot(force[:, 0], force[:, 1]) * np.hypot(v_x, v_y)
        along = np.abs(force[:, 0] * v_x + force[:, 1] * v_y)
        return np.arcsin(np.minimum(1.0, along / np.where(size > 0.0, size, np.nan)))

    def angle(self, t: float, q: Floats) -> float:
        """mu in one pose."""
        return float(self.angles(np.array([t]), q[None])[0])

    def _free_velocities(self, J: Floats) -> Floats:
        """(xd, yd, phid) that the bearing allows."""
        rows = unit_rows(J[:, self.bearing, self.columns])[0]
        if rows.shape[1] == 2:
            v = np.cross(rows[:, 0], rows[:, 1])
            if np.abs(v).max(axis=1).min(initial=1.0) > DEPENDENT:
                return np.asarray(v)
        return np.stack([row_space(each).null[:, 0] for each in rows])

    def _multipliers(self, J: Floats, load: Floats) -> Floats:
        """lam of Phi_q^T lam = k Q with the load's size k, which vanishes at a dead point of the input."""
        if J.shape[1] != J.shape[2]:  # redundant rows: the smallest multipliers
            spaces = zip(J * self.scale, load * self.scale, strict=True)
            return np.stack([row_space(rows).multipliers(each) for rows, each in spaces])
        lam, J_T, regular = np.zeros(load.shape), J.transpose(0, 2, 1), surely_independent(J * self.scale)
        lam[regular] = np.linalg.solve(J_T[regular], load[regular][..., None])[..., 0]
        others = np.concatenate([J_T[~regular], -load[~regular][..., None]], axis=2) * self.scale[:, None]
        lam[~regular] = np.linalg.svd(others)[2][:, -1, :-1]
        return lam

    def _points(self, Q: Floats, force: Floats) -> Floats:
        """The joint's point on the line of the force, from the body's center."""
        found, size = np.full((len(Q), 2), np.nan), np.hypot(force[:, 0], force[:, 1])
        for frame in reversed(self.frames):
            x, y = self._place(frame, Q).T - Q[:, self.columns][:, :2].T
            moment = force[:, 2] - (x * force[:, 1] - y * force[:, 0])
            on_it = np.abs(moment) <= ON_THE_LINE * size * self.system.length
            found[on_it] = np.column_stack([x, y])[on_it]
        if np.isnan(found).any():
            title = self.system.model.elements[self.joint].title
            raise UnsupportedError(
                f"{title} drives '{self.body}' with a torque, not with a force on a line, so it has no transmission "
                "angle."
            )
        return found

    def _place(self, frame: PlacedFrame, Q: Floats) -> Floats:
        if frame.body == GROUND:
            return np.broadcast_to([frame.x, frame.y], (len(Q), 2))
        x, y, phi = Q[:, self.first[frame.body] : self.first[frame.body] + 3].T
        c, s = np.cos(phi), np.sin(phi)
        return np.column_stack([x + c * frame.x - s * frame.y, y + s * frame.x + c * frame.y])
