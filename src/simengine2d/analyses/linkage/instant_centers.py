"""Instant centers: the point about which one body turns relative to another, of every pair of bodies at every time.

With the velocity v_0 that a body has at the origin of the ground, and its angular velocity w, two bodies differ by
v = v_0j - v_0i and w = w_j - w_i, and

    v + w k x I = 0,      I = (-v_y, v_x) / w

In homogeneous coordinates (-v_y, v_x, w) this also holds for bodies that do not turn relative to each other: their
center is at infinity in the direction (-v_y, v_x). The coordinates of three bodies add up, so their three centers lie
on a line: the theorem of Aronhold and Kennedy.
R. L. Norton, Design of Machinery, sections 6.3 to 6.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ...answer import Answer, PlottedAnswer
from ...errors import ModelError, unknown
from ...model.frame import GROUND
from ...numerics.arrays import Floats
from ...results.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AT_INFINITY = 1e-11  # rotation in lengths of the mechanism, relative to the velocity, that counts as none


@dataclass(frozen=True, repr=False)
class InstantCenter(Answer):
    """A center over time; at infinity x and y are infinite, and nan where the bodies do not move relatively."""

    x: Floats
    y: Floats
    direction: Floats
    """The angle of the line on which it lies where it is at infinity; elsewhere as seen from the origin."""

    def __str__(self) -> str:
        far, none = int(self.at_infinity.sum()), int(np.isnan(self.x).sum())
        return f"instant center at {self.x.size} times, {far} of them at infinity, {none} without relative motion"

    @property
    def at_infinity(self) -> Floats:
        return np.asarray(np.isinf(self.x) | np.isinf(self.y))


@dataclass(frozen=True, repr=False)
class InstantCenters(PlottedAnswer):
    """The centers of all pairs of bodies, the ground included: n (n - 1) / 2 of them."""

    results: Results
    bodies: list[str]

    def __post_init__(self) -> None:
        q = self.results.motion.q.reshape(self.results.t.size, -1, 3)
        qd = self.results.motion.qd.reshape(q.shape)
        w = qd[..., 2]
        at_origin = np.stack([qd[..., 0] + w * q[..., 1], qd[..., 1] - w * q[..., 0], w], axis=-1)
        twists = np.concatenate([np.zeros((q.shape[0], 1, 3)), at_origin], axis=1)
        object.__setattr__(self, "twists", twists)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.bodies, 2))

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)

    def homogeneous(self, a: str, b: str) -> Floats:
        """(-v_y, v_x, w) of b relative to a, one row per time."""
        i, j = (self._number(body) for body in (a, b))
        v_x, v_y, w = (self.twists[:, j] - self.twists[:, i]).T  # type: ignore[attr-defined]
        return np.column_stack([-v_y, v_x, w])

    def __getitem__(self, pair: tuple[str, str]) -> InstantCenter:
        x, y, w = self.homogeneous(*pair).T
        speed = np.hypot(x, y)
        scale = np.abs(self.twists[..., :2]).max(initial=0.0)  # type: ignore[attr-defined]
        none = np.abs(w) * self.results.system.length <= AT_INFINITY * np.maximum(speed, scale)
        with np.errstate(divide="ignore", invalid="ignore"):
            far = none & (speed > AT_INFINITY * scale)
            places = [
                np.where(far, np.copysign(np.inf, part), np.where(none, np.nan, part / w)) for part in (x, y)
            ]
        return InstantCenter(places[0] + 0.0, places[1] + 0.0, np.arctan2(y, x))

    def _number(self, body: str) -> int:
        if body not in self.bodies:
            raise ModelError(
                f"there is no body '{body}'. {unknown('body', body, self.bodies, plural='bodies')}"
            )
        return self.bodies.index(body)

    def rows(self, t: float) -> list[list[str]]:
        """The table at the output nearest to t: two bodies, x and y."""
        from ...draw.scene import nearest_row

        i = nearest_row(self.results, t)
        centers = [(pair, self[pair]) for pair in self.pairs]
        return [[*pair, f"{center.x[i]:.6g}", f"{center.y[i]:.6g}"] for pair, center in centers]

    def __str__(self) -> str:
        return f"{len(self)} instant centers of {len(self.bodies)} bodies at {self.results.t.size} times"

    def plot(self, ax: Axes | None = None, *, t: float = 0.0) -> Axes:
        """The mechanism at the output nearest to t with its centers, those at infinity as directions."""
        from ...draw.linkage_plane import plot_instant_centers

        return plot_instant_centers(self, t, ax)


def instant_centers(results: Results) -> InstantCenters:
    """The instant centers of all pairs of bodies over a motion: `centers["crank", "rocker"].x`."""
    return InstantCenters(results, [GROUND, *results.bodies])


# Centrodes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Centrodes(PlottedAnswer):
    """The paths of an instant center in both bodies. The moving one rolls on the fixed one, without slipping."""

    results: Results
    body: str
    relative_to: str
    fixed: Floats
    """In the axes of `relative_to`, one row per time; nan where the center is at infinity."""
    moving: Floats
    """In the axes of `body`."""

    def __str__(self) -> str:
        seen = int(np.isfinite(self.fixed[:, 0]).sum())
        return f"centrodes of '{self.body[:18]}' on '{self.relative_to[:18]}': {seen} of {self.fixed.shape[0]} points"

    def plot(self, ax: Axes | None = None, *, t: float = 0.0) -> Axes:
        """Both curves at the output nearest to t, where they touch."""
        from ...draw.linkage_plane import plot_centrodes

        return plot_centrodes(self, t, ax)


def centrodes(results: Results, body: str, relative_to: str = GROUND) -> Centrodes:
    """The fixed and the moving centrode of a body relative to another."""
    center = instant_centers(results)[relative_to, body]
    places = np.column_stack([center.x, center.y])
    places[center.at_infinity] = np.nan
    return Centrodes(
        results, body, relative_to, in_axes(results, relative_to, places), in_axes(results, body, places)
    )


def in_axes(results: Results, body: str, places: Floats) -> Floats:
    """s = A^T (r_P - r): global places in the axes of a body, one row per time."""
    x, y, phi = pose_of(results, body)
    c, s = np.cos(phi), np.sin(phi)
    dx, dy = places[:, 0] - x, places[:, 1] - y
    return np.column_stack([c * dx + s * dy, -s * dx + c * dy])


def pose_of(results: Results, body: str) -> tuple[Floats, Floats, Floats]:
    """x, y and phi over time; zero for the ground."""
    if body == GROUND:
        zero = np.zeros(results.t.size)
        return zero, zero, zero
    return results[f"{body}.x"], results[f"{body}.y"], results[f"{body}.phi"]
