"""Arrows of a scene by kind: reactions of joints, efforts of drivers, contacts, springs, loads; on request also
weights, velocities and accelerations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..model.elements import Element, ForceElement, Joint
from ..model.forces.point_force import PointForce
from ..model.forces.spring import Spring
from ..model.forces.torque import Torque
from ..model.frame import GROUND
from ..model.joints.cam import Cam
from ..model.joints.driver import Driver
from ..model.joints.rolling_curves import RollingCurves
from ..results.reactions import reaction
from ..results.results import Results
from .layout import Layout, spot_of
from .marks import Arrow, OnRequest, Spot

KINDS = {
    "reaction": "reaction of a joint",
    "contact": "contact",
    "effort": "effort of a driver",
    "elastic": "spring or damper",
    "applied": "applied load",
    "weight": "weight",
    "velocity": "velocity",
    "acceleration": "acceleration",
}
"""The kinds of arrows, each of which is an ink, in words for a legend."""
ON_REQUEST = {"weight": "N", "velocity": "m/s", "acceleration": "m/s²"}


def arrows(results: Results, layout: Layout) -> list[Arrow]:
    """What every joint and force does to one body."""
    acting = list(_element_arrows(results, layout))
    largest = max((float(np.abs(arrow.torque).max(initial=0.0)) for arrow in acting), default=0.0)
    turning: list[Spot] = []
    for k, arrow in enumerate(acting):
        if (
            np.abs(arrow.torque).max(initial=0.0) > 1e-6 * largest
        ):  # arcs about one place lie around each other
            acting[k] = arrow._replace(ring=turning.count(arrow.spot))
            turning.append(arrow.spot)
    return acting


def _element_arrows(results: Results, layout: Layout) -> Iterator[Arrow]:
    """Reactions of joints where they are known, and forces whose laws are known."""
    for name, element in layout.resolved.elements.items():
        if isinstance(element, Joint) and results.lam is None:
            continue
        if isinstance(element, ForceElement) and results.system.missing_law is not None:
            continue
        frame = layout.force_frame(name)
        effect = reaction(results, name, frame.body, frame)
        is_load = isinstance(element, PointForce | Torque)
        yield Arrow(spot_of(frame), name, kind_of(element), *effect, on=frame.body, is_load=is_load)


def kind_of(element: Element) -> str:
    """The ink of the arrows of a joint or force."""
    if isinstance(element, Driver):
        return "effort"
    if isinstance(element, Cam | RollingCurves):
        return "contact"
    if isinstance(element, Joint):
        return "reaction"
    return "elastic" if isinstance(element, Spring) else "applied"


def on_request(results: Results, layout: Layout, spots: Mapping[str, Spot]) -> OnRequest:
    """Weights, and the motions of these spots, or of the mass centers where there are none; made when needed."""
    moving = spots or {name: Spot(name, 0.0, 0.0) for name in results.bodies}

    def arrows_of(kind: str) -> list[Arrow]:
        if kind == "weight":
            return list(_weights(results, layout))
        columns = {name: 3 * i for i, name in enumerate(results.bodies)}
        return [
            _motion(kind, name, spot, columns[spot.carrier], results, layout)
            for name, spot in moving.items()
            if spot.carrier in columns
        ]

    return arrows_of


def _motion(kind: str, name: str, spot: Spot, k: int, results: Results, layout: Layout) -> Arrow:
    """v = rd + phid B s or a = rdd + phidd B s - phid^2 A s of a point, where k is the first column of its body."""
    if kind == "velocity":
        x, y = layout.motion.velocity(spot).T
    else:
        (xdd, ydd, phidd), phid = results.qdd[:, k : k + 3].T, results.qd[:, k + 2]
        sx, sy = (layout.motion.place(spot) - results.q[:, k : k + 2]).T
        x, y = xdd - phidd * sy - phid**2 * sx, ydd + phidd * sx - phid**2 * sy
    return Arrow(spot, f"{kind} of {name}", kind, x, y, np.zeros(results.t.size), on=spot.carrier)


def _weights(results: Results, layout: Layout) -> Iterator[Arrow]:
    """m g at the mass center of every body that has a mass."""
    gravity = layout.resolved.gravity
    always = lambda value: np.broadcast_to(value, results.t.size)
    for name, body in layout.resolved.bodies.items():
        if name != GROUND and body.mass > 0.0 and any(gravity):
            fx, fy = always(body.mass * gravity[0]), always(body.mass * gravity[1])
            yield Arrow(Spot(name, 0.0, 0.0), f"weight of {name}", "weight", fx, fy, always(0.0), on=name)
