"""Cams: the profile that produces a given motion of the follower.

The cam turns by theta about its frame; the follower moves along `direction` on a line that passes the cam's center at a
distance `offset` (to its right). With s = s_0 + f(theta) along that line, in the axes of the cam, which turns
counter-clockwise:

    roller, knife    the path of the roller's center is P = A(-theta) (s, -offset); the profile is parallel to it
    flat             c = p m + p_alpha l,   p = base_radius + f,   m and l along and across the direction of motion

(Norton, Cam Design and Manufacturing Handbook; the profile of a flat-faced follower is the envelope of its faces.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import cos, degrees, isfinite, pi, sin, sqrt
from typing import Any, NamedTuple, get_args

import numpy as np

from ...answer import PlottedAnswer
from ...errors import ModelError, listed
from ...expressions.evaluate import number
from ...expressions.function import Function, as_function
from ...expressions.operations import RISES
from ...expressions.syntax import Call, Name, Number, walk
from ...numerics.arrays import Floats
from .curve import Curve, FollowerName, builder
from .piecewise import Pieces, fitted

FOLLOWERS = get_args(FollowerName)
TURN = 2 * pi
GRID = 1441  # angles in the report, a quarter of a degree apart
WORDS = ("base_radius", "follower", "roller_radius", "offset", "direction", "clockwise")


# Motion -----------------------------------------------------------------------------------------------


def cam_motion(*steps: Sequence[Any]) -> str:
    """A motion of theta, step by step: each is (angle, height at its end) for a dwell, or (angle, height, law).

    The laws are cycloidal, harmonic, step5 (the polynomial 3-4-5), poly4567, step and ramp. The motion ends where it
    begins; the angles add up to a full turn: `cam_motion((120*deg, 0.02, "cycloidal"), (60*deg, 0.02), ...)`.
    """
    if not steps:
        raise ModelError("a cam's motion needs steps such as (2.1, 0.02, 'cycloidal').")
    heights = [number(step[1]) for step in steps]
    angle, height, parts = 0.0, heights[-1], []
    for step, end in zip(steps, heights, strict=True):
        stop = angle + number(step[0])
        parts += _step(step, angle, stop, end - height)
        angle, height = stop, end
    if abs(angle - TURN) > 1e-9:
        raise ModelError(
            f"the steps of a cam's motion add up to {degrees(angle):.6g} degrees; a turn has 360."
        )
    return " + ".join([repr(heights[-1]), *parts])


def _step(step: Sequence[Any], start: float, stop: float, lift: float) -> list[str]:
    law = step[2] if len(step) > 2 else None
    if stop <= start:
        raise ModelError(f"the step {tuple(step)!r} of a cam's motion has no positive angle.")
    if law is None and lift == 0.0:
        return []
    if law not in RISES:
        raise ModelError(
            f"the step {tuple(step)!r} of a cam's motion changes the height by {lift:g}; "
            f"name its law: {listed(RISES)}."
        )
    return [f"{law}(theta, {start!r}, 0, {stop!r}, {lift!r})"]


# Design -----------------------------------------------------------------------------------------------


class CamDesign(NamedTuple):
    """The numbers from which a profile is made. `roller` is 0 for knife edge and flat face."""

    motion: Function
    base_radius: float
    follower: str
    roller: float
    offset: float
    direction: float
    clockwise: bool

    @property
    def start(self) -> float:
        """s_0, the follower's position along its line at f = 0."""
        if self.follower == "flat":
            return self.base_radius
        return sqrt((self.base_radius + self.roller) ** 2 - self.offset**2)

    @property
    def turns(self) -> float:
        """1 if the cam turns counter-clockwise, -1 if clockwise."""
        return -1.0 if self.clockwise else 1.0


def design_of(given: Mapping[str, Any], parameters: Mapping[str, float]) -> CamDesign:
    """The design from what was given, after checking it."""
    if "base_radius" not in given:
        raise ModelError("a cam's profile needs a base_radius.")
    values = {
        word: number(given.get(word, default), parameters)
        for word, default in (
            ("base_radius", 0.0),
            ("roller_radius", 0.0),
            ("offset", 0.0),
            ("direction", pi / 2),
        )
    }
    follower = given.get("follower", "roller")
    motion = as_function(given["motion"], parameters, variable="theta")
    design = CamDesign(
        motion,
        values["base_radius"],
        follower,
        values["roller_radius"],
        values["offset"],
        values["direction"],
        bool(given.get("clockwise", False)),
    )
    _check(design)
    return design


def _check(design: CamDesign) -> None:
    if design.follower not in FOLLOWERS:
        raise ModelError(f"the follower {design.follower!r} is unknown; give {listed(FOLLOWERS)}.")
    if design.base_radius <= 0.0:
        raise ModelError(f"base_radius = {design.base_radius:g} must be positive.")
    if (design.follower == "roller") != (design.roller > 0.0):
        raise ModelError(
            f"a {design.follower} follower with roller_radius = {design.roller:g}; only a roller has a radius, and "
            "it must be positive."
        )
    if design.follower == "flat" and design.offset != 0.0:
        raise ModelError(
            "the offset of a flat follower changes nothing; its face must be long enough. Leave it out."
        )
    if abs(design.offset) >= design.base_radius + design.roller:
        raise ModelError(
            f"the offset {design.offset:g} is not smaller than base_radius + roller_radius = "
            f"{design.base_radius + design.roller:g}: the follower's line misses the base circle."
        )
    (f0, fd0, _), (f1, fd1, _) = design.motion.jet(0.0), design.motion.jet(TURN)
    scale = max(abs(design.motion.jet(angle)[0]) for angle in np.linspace(0.0, TURN, 25)) or 1.0
    if abs(f1 - f0) > 1e-9 * scale or abs(fd1 - fd0) > 1e-7 * scale:
        raise ModelError(
            f"the motion {design.motion.text} does not close: it begins at {f0:g} with the slope {fd0:g} and ends, a "
            f"turn later, at {f1:g} with {fd1:g}."
        )


@builder("motion", *WORDS)
def _by_motion(given: dict[str, Any], parameters: Mapping[str, float]) -> tuple[Pieces, float]:
    """The base curve of a profile, and the distance by which the profile lies outside it."""
    design = design_of(given, parameters)
    profile = CamProfile(dict(given), dict(parameters))
    if profile.undercut:
        raise ModelError(profile.undercut_sentence)
    sample = _flat_sample if design.follower == "flat" else _pitch_sample
    what = f"the cam of the motion {design.motion.text}"
    return fitted(lambda theta: sample(design, theta), _breaks(design.motion), True, what), -design.roller


def _jets(design: CamDesign, theta: Floats) -> Floats:
    """f, f', f'' in rows."""
    return np.array([design.motion.jet(float(angle)) for angle in theta]).T


def _pitch_sample(design: CamDesign, theta: Floats) -> Floats:
    """The pitch curve and its slope:  P = A (s, -e),   P' = A (f' - k e, -k s),   A = A(direction - k theta)"""
    f, fd, _ = _jets(design, theta)
    k, e, s = design.turns, design.offset, design.start + f
    alpha = design.direction - k * theta
    return np.hstack([_turned(alpha, s, np.full_like(s, -e)), _turned(alpha, fd - k * e, -k * s)])


def _flat_sample(design: CamDesign, theta: Floats) -> Floats:
    """c = A (p, -k f'),   c' = A (0, -k (p + f''))"""
    f, fd, fdd = _jets(design, theta)
    k, p = design.turns, design.base_radius + f
    alpha = design.direction - k * theta
    return np.hstack([_turned(alpha, p, -k * fd), _turned(alpha, 0.0 * p, -k * (p + fdd))])


def _turned(alpha: Floats, x: Floats, y: Floats) -> Floats:
    c, s = np.cos(alpha), np.sin(alpha)
    return np.column_stack([c * x - s * y, s * x + c * y])


def _breaks(motion: Function) -> list[float]:
    """Angles at which a rise begins or ends, or a table has its points."""
    angles = list(motion.table.times) if motion.table else []
    for node, _ in walk(motion.tree) if motion.tree is not None else ():
        if isinstance(node, Call) and node.name in RISES and isinstance(node.args[0], Name):
            angles += [part.value for part in (node.args[1], node.args[3]) if isinstance(part, Number)]
    inner = sorted({angle for angle in angles if 1e-9 < angle < TURN - 1e-9})
    return [0.0, *inner, TURN]


# Report -----------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class CamProfile(PlottedAnswer):
    """A cam's profile and its properties over one turn. Made by `cam_profile`."""

    given: dict[str, Any]
    parameters: dict[str, float] = field(default_factory=dict)

    @cached_property
    def design(self) -> CamDesign:
        return design_of(self.given, self.parameters)

    @cached_property
    def curve(self) -> Curve:
        """The profile in the cam's axes; raises a ModelError if it is undercut."""
        return Curve(**self.given).resolved(self.parameters) if self.parameters else Curve(**self.given)

    @cached_property
    def theta(self) -> Floats:
        """Angles of the cam from 0 to a full turn."""
        return np.linspace(0.0, TURN, GRID)

    @cached_property
    def _motion(self) -> Floats:
        return _jets(self.design, self.theta)

    @property
    def lift(self) -> Floats:
        """f at each angle."""
        return self._motion[0]

    @cached_property
    def pitch(self) -> Floats:
        """The path of the roller's center or the edge in the cam's axes; for a flat follower, the profile."""
        sample = _flat_sample if self.design.follower == "flat" else _pitch_sample
        return sample(self.design, self.theta)[:, :2]

    @cached_property
    def profile(self) -> Floats:
        """Points of the profile in the cam's axes, even if it is undercut."""
        if self.design.roller == 0.0:
            return self.pitch
        alpha = self.design.direction - self.design.turns * self.theta
        tilt = self.pressure_angle
        inward = _turned(alpha, -np.cos(tilt), -np.sin(tilt))
        return self.pitch + self.design.roller * inward

    @cached_property
    def pressure_angle(self) -> Floats:
        """From the follower's direction to the contact normal:  tan = (k f' - e) / s;  0 for a flat face."""
        f, fd, _ = self._motion
        if self.design.follower == "flat":
            return np.zeros_like(f)
        return np.arctan2(self.design.turns * fd - self.design.offset, self.design.start + f)

    @cached_property
    def radius_of_curvature(self) -> Floats:
        """Of the profile: positive where convex, negative where concave."""
        return _radius(self.design, self._motion)

    @cached_property
    def undercut(self) -> list[tuple[float, float]]:
        """Ranges of cam angles that the profile cannot produce: it would cross itself."""
        bad = _is_undercut(self.design, self._motion)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], bad, [False]]).astype(int)))
        return [(float(self.theta[a]), float(self.theta[b - 1])) for a, b in edges.reshape(-1, 2)]

    @cached_property
    def smallest_base_radius(self) -> float:
        """The base radius above which there is no undercut; 0 if there is none for any."""
        return _smallest_base_radius(self.design, self._motion)

    @property
    def undercut_sentence(self) -> str:
        where = listed(f"{degrees(a):.4g} to {degrees(b):.4g} degrees" for a, b in self.undercut)
        return (
            f"the cam is undercut from {where}: with base_radius = {self.design.base_radius:g} it cannot produce the "
            f"motion {self.design.motion.text}. The base_radius must be larger than {self.smallest_base_radius:.6g}."
        )

    def place(self, theta: float = 0.0) -> tuple[float, float]:
        """Position of the roller's center, the edge or the face when the cam at the origin has turned by theta."""
        s, e, angle = self.design.start + self.design.motion(theta), self.design.offset, self.design.direction
        return s * cos(angle) + e * sin(angle), s * sin(angle) - e * cos(angle)

    def __str__(self) -> str:
        radii = self.radius_of_curvature[np.isfinite(self.radius_of_curvature)]
        convex, concave = radii[radii > 0.0], radii[radii < 0.0]
        worst = int(np.abs(self.pressure_angle).argmax())
        lines = [
            f"cam with {self.design.follower} follower, base radius {self.design.base_radius:g}, "
            f"lift {np.ptp(self.lift):.6g}",
            f"largest pressure angle {degrees(self.pressure_angle[worst]):.4g} degrees "
            f"at {degrees(self.theta[worst]):.4g} degrees of the cam",
        ]
        if convex.size:
            lines.append(f"smallest radius of curvature {convex.min():.6g}")
        if concave.size:
            lines.append(f"smallest concave radius {-concave.max():.6g}")
        lines.append(self.undercut_sentence if self.undercut else "no undercut")
        return "\n".join(lines)


def cam_profile(
    motion: Any,
    base_radius: Any,
    follower: FollowerName = "roller",
    *,
    roller_radius: Any = None,
    offset: Any = None,
    direction: Any = None,
    clockwise: bool = False,
    parameters: Mapping[str, float] | None = None,
) -> CamProfile:
    """The profile that gives a follower the `motion` f(theta), an expression of the cam's angle theta over a turn.

    The follower is a "roller", a "knife" edge or "flat". It moves along `direction` (upward by default), `offset` to
    the right of the cam's center. The cam turns by theta counter-clockwise, or `clockwise`. `.curve` is the profile
    for a `Cam` joint.
    """
    given = {
        "motion": motion,
        "base_radius": base_radius,
        "follower": follower,
        "roller_radius": roller_radius,
        "offset": offset,
        "direction": direction,
        "clockwise": clockwise or None,
    }
    profile = CamProfile({k: v for k, v in given.items() if v is not None}, dict(parameters or {}))
    profile.design  # noqa: B018  (raises now if something is wrong)
    return profile


def _pitch_radius(design: CamDesign, jets: Floats) -> Floats:
    """rho = |P'|^3 / (P'' x P' k), infinite where straight:  P' = (f' - k e, -k s),  P'' = (f'' - s, e - 2 k f')"""
    f, fd, fdd = jets
    k, e, s = design.turns, design.offset, design.start + f
    dx, dy, ddx, ddy = fd - k * e, -k * s, fdd - s, e - 2 * k * fd
    bend = -k * (dx * ddy - dy * ddx)
    with np.errstate(divide="ignore"):
        return np.hypot(dx, dy) ** 3 / bend


def _radius(design: CamDesign, jets: Floats) -> Floats:
    if design.follower == "flat":
        return design.base_radius + jets[0] + jets[2]
    return _pitch_radius(design, jets) - design.roller


def _is_undercut(design: CamDesign, jets: Floats) -> Any:
    """A roller must be smaller than the pitch curve's radius where that is convex; a flat face needs p + p'' > 0."""
    if design.follower == "flat":
        return _radius(design, jets) <= 0.0
    if design.roller == 0.0:
        return np.zeros(jets.shape[1], dtype=bool)
    pitch = _pitch_radius(design, jets)
    return (pitch > 0.0) & (pitch <= design.roller)


def _smallest_base_radius(design: CamDesign, jets: Floats) -> float:
    if design.follower == "flat":
        return max(0.0, -float((jets[0] + jets[2]).min()))
    if design.roller == 0.0:
        return 0.0
    low = max(0.0, abs(design.offset) - design.roller)
    high = max(design.base_radius, low) or 1.0
    while _is_undercut(design._replace(base_radius=high), jets).any():
        high *= 2.0
        if not isfinite(high):
            raise ModelError(f"no base radius produces the motion {design.motion.text} without undercut.")
    for _ in range(60):
        middle = (low + high) / 2
        bad = _is_undercut(design._replace(base_radius=middle), jets).any()
        low, high = (middle, high) if bad else (low, middle)
    return high
