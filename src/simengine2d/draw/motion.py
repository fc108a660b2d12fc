"""Motion: the poses of all carriers over time."""

from __future__ import annotations

import numpy as np

from ..model.frame import GROUND, PlacedFrame
from ..model.resolved import ResolvedModel
from ..results.results import Results
from .marks import Spot
from .outlines import Floats


class CarrierMotion:
    """Poses (x, y, phi) and their rates, one row per time, by carrier: the ground, every body, and what follows."""

    def __init__(self, t: Floats, bodies: list[str], q: Floats, qd: Floats) -> None:
        self.t = t
        self.poses = {GROUND: np.zeros((t.size, 3))}
        self.rates = {GROUND: np.zeros((t.size, 3))}
        for i, name in enumerate(bodies):
            self.poses[name], self.rates[name] = q[:, 3 * i : 3 * i + 3], qd[:, 3 * i : 3 * i + 3]

    @staticmethod
    def of(results: Results) -> CarrierMotion:
        return CarrierMotion(results.t, results.bodies, results.q, results.qd)

    @staticmethod
    def at_rest(resolved: ResolvedModel, q: Floats) -> CarrierMotion:
        """One pose."""
        names = [name for name in resolved.bodies if name != GROUND]
        return CarrierMotion(np.zeros(1), names, np.atleast_2d(q), np.zeros((1, q.size)))

    def place(self, spot: Spot) -> Floats:
        """r_P = r + A s at each time."""
        r, arm = self._arms(spot)
        return r[:, :2] + arm

    def velocity(self, spot: Spot) -> Floats:
        """rd_P = rd + B s phid at each time."""
        _, arm = self._arms(spot)
        rate = self.rates[spot.carrier]
        return rate[:, :2] + rate[:, 2:] * np.column_stack([-arm[:, 1], arm[:, 0]])

    def _arms(self, spot: Spot) -> tuple[Floats, Floats]:
        pose = self.poses[spot.carrier]
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        return pose, np.column_stack([c * spot.x - s * spot.y, s * spot.x + c * spot.y])

    def axis(self, frame: PlacedFrame) -> Floats:
        """The angle of a frame at each time."""
        return self.poses[frame.body][:, 2] + frame.angle

    def seen_from(self, a: PlacedFrame, b: PlacedFrame) -> Floats:
        """Frame b's point in the axes of frame a at each time: along and across."""
        d = self.place(spot_of(b)) - self.place(spot_of(a))
        c, s = np.cos(self.axis(a)), np.sin(self.axis(a))
        return np.column_stack([c * d[:, 0] + s * d[:, 1], c * d[:, 1] - s * d[:, 0]])

    def distance(self, a: PlacedFrame, b: PlacedFrame) -> tuple[float, float]:
        """Shortest and longest distance of two points."""
        d = np.hypot(*(self.place(spot_of(b)) - self.place(spot_of(a))).T)
        return float(d.min()), float(d.max())

    def follow(self, name: str, frame: PlacedFrame, axis: PlacedFrame | None = None) -> str:
        """A new carrier at the point of `frame` that turns with `axis`, or not at all."""
        spot, zero = spot_of(frame), np.zeros(self.t.size)
        angle, rate = (zero, zero) if axis is None else (self.axis(axis), self.rates[axis.body][:, 2])
        self.poses[name] = np.column_stack([self.place(spot), angle])
        self.rates[name] = np.column_stack([self.velocity(spot), rate])
        return name


def spot_of(frame: PlacedFrame) -> Spot:
    return Spot(frame.body, frame.x, frame.y)
