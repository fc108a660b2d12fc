"""Curves fixed in a body: by expressions of a parameter s, or as a spline through points.

Curve(x="0.05*cos(s)", y="0.03*sin(s)")           an ellipse: s runs from 0 to 2 pi if no range is given
Curve(points=[(0, 0), (0.1, 0.02), (0.2, 0)])     a spline from the first point to the last
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import hypot, pi
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, final

import numpy as np

from ...answer import PlottedAnswer
from ...errors import ModelError, listed, unknown
from ...expressions.evaluate import number
from ...expressions.function import as_function
from ...numerics.arrays import Floats
from .piecewise import Pieces, at, fitted, length_at, packed

Builder = Callable[[dict[str, Any], Mapping[str, float]], tuple[Pieces, float]]
"""From the given data and the parameters to the pieces of a base curve, and the curve's offset outside it."""

CLOSING = 1e-9  # distance of the ends, relative to the size, at which a curve is closed
NOTHING: Mapping[str, float] = {}


FollowerName: TypeAlias = Literal["roller", "knife", "flat"]


class ProfileWords(TypedDict, total=False):
    """A cam's profile as a curve; see `cam_profile`."""

    motion: Any
    base_radius: Any
    follower: FollowerName
    roller_radius: Any
    offset: Any
    direction: Any
    clockwise: bool


@final
class Curve(PlottedAnswer):
    """A curve in the axes of the frame it is fixed in. Numbers may be expressions of the model's parameters.

    `x` and `y` are expressions of s over `range`, `points` make a spline. `closed` is whether the end joins the
    beginning, by default decided by their positions. A profile made by `cam_profile` is a Curve too.
    """

    def __init__(
        self,
        *,
        x: Any = None,
        y: Any = None,
        range: Any = None,
        points: Any = None,
        closed: bool | None = None,
        **design: Unpack[ProfileWords],
    ) -> None:
        given = {"x": x, "y": y, "range": range, "points": points, "closed": closed, **design}
        self.given = {name: _plain(value) for name, value in given.items() if value is not None}
        self.parameters = NOTHING
        self._builder = _builder(self.given)

    def resolved(self, parameters: Mapping[str, float]) -> Curve:
        """The same curve for these values of the parameters."""
        curve = Curve(**self.given)
        curve.parameters = parameters
        curve.pieces  # noqa: B018  (raises now if something is wrong)
        return curve

    def __str__(self) -> str:
        words = {k: v if k != "points" else f"{len(v)} points" for k, v in self.given.items()}
        return f"Curve({', '.join(f'{k}={v!r}' for k, v in words.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Curve) and self.given == other.given

    __hash__ = None  # type: ignore[assignment]

    # geometry

    @cached_property
    def _built(self) -> tuple[Pieces, float]:
        return self._builder(self.given, self.parameters)

    @property
    def pieces(self) -> Pieces:
        """The base curve in numbers."""
        return self._built[0]

    @property
    def offset(self) -> float:
        """The curve's distance outside its base curve: a cam lies inside the path of its roller's center."""
        return self._built[1]

    @property
    def is_closed(self) -> bool:
        return self.pieces.closed

    @property
    def range(self) -> tuple[float, float]:
        """The first and the last value of the parameter."""
        return float(self.pieces.knots[0]), float(self.pieces.knots[-1])

    def __call__(self, s: float) -> tuple[float, float]:
        """The point at s."""
        (x, y, *_), (nx, ny), _ = self._at(s)
        return x + self.offset * nx, y + self.offset * ny

    def tangent(self, s: float) -> tuple[float, float]:
        """Unit tangent, in the direction of growing s."""
        (_, _, dx, dy, *_), _, _ = self._at(s)
        return dx / hypot(dx, dy), dy / hypot(dx, dy)

    def normal(self, s: float) -> tuple[float, float]:
        """Unit normal: out of a closed curve, to the right of an open one."""
        return self._at(s)[1]

    def curvature(self, s: float) -> float:
        """1 / radius, positive where a closed curve is convex or an open one turns left."""
        curvature = self._at(s)[2]
        return curvature / (1.0 + curvature * self.offset)

    def arc_length(self, s: float) -> float:
        """Length from the beginning of the range to s."""
        first, last = self.range
        turns = np.floor((s - first) / (last - first)) if self.is_closed else 0.0
        table, numbers = packed([self.pieces])
        base = float(length_at(table, numbers, 0, float(s))) + turns * float(self.pieces.lengths[-1])
        return base + self.offset * self._turned(s, turns)

    @property
    def length(self) -> float:
        """From end to end, or once around."""
        turning = self.pieces.turning * self.pieces.outward
        return float(self.pieces.lengths[-1]) + self.offset * turning

    def outline(self, count: int = 361) -> Floats:
        """Points along the curve, for a picture."""
        return np.array([self(s) for s in np.linspace(*self.range, count)])

    def _at(self, s: float) -> tuple[tuple[float, ...], tuple[float, float], float]:
        """Point and derivatives, outward normal, curvature of the base curve."""
        values = at(self.pieces, s)
        _, _, dx, dy, ddx, ddy, _, _ = values
        speed, side = hypot(dx, dy), self.pieces.outward
        return values, (side * dy / speed, -side * dx / speed), side * (dx * ddy - dy * ddx) / speed**3

    def _turned(self, s: float, turns: float) -> float:
        """The angle by which the outward normal has turned since the beginning of the range."""
        from .piecewise import tangent_angle

        table, numbers = packed([self.pieces])
        angle = float(tangent_angle(table, numbers, 0, float(s))) - float(self.pieces.angles[0])
        return self.pieces.outward * (angle + turns * self.pieces.turning)


def _plain(value: Any) -> Any:
    """Lists and arrays as tuples, so that two curves can be compared."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(_plain(part) for part in value) if isinstance(value, list | tuple) else value


def as_curve(given: Any, what: str) -> Curve:
    """A Curve, or the mapping that a model file holds."""
    if isinstance(given, Curve):
        return given
    curve = getattr(given, "curve", None)
    if isinstance(curve, Curve):  # a cam's design
        return curve
    if not isinstance(given, Mapping):
        raise ModelError(
            f"{what} is {given!r}; give a Curve such as Curve(x='0.05*cos(s)', y='0.03*sin(s)')."
        )
    try:
        return Curve(**given)
    except ModelError as error:
        raise ModelError([f"{what}: {problem}" for problem in error.problems]) from None


def resolve_curve(curve: Curve, parameters: Mapping[str, float], what: str) -> Curve:
    """The curve in numbers."""
    try:
        return curve.resolved(parameters)
    except ModelError as error:
        raise ModelError([f"{what}: {problem}" for problem in error.problems]) from None


# Builders ---------------------------------------------------------------------------------------------


BUILDERS: dict[str, tuple[Builder, tuple[str, ...]]] = {}
"""By the word that identifies the kind of a curve: its builder, and the other words it accepts."""


def builder(word: str, *others: str) -> Callable[[Builder], Builder]:
    """Register how curves with this word are built."""

    def register(function: Builder) -> Builder:
        BUILDERS[word] = function, others
        return function

    return register


def _builder(given: dict[str, Any]) -> Builder:
    from . import cam_design  # noqa: F401  (registers the profiles of cams)

    words = [word for word in BUILDERS if word in given]
    if len(words) != 1:
        kinds = listed(f"'{word}'" for word in BUILDERS)
        raise ModelError(
            f"a curve is given by one of {kinds}; given: {listed(given) if given else 'nothing'}."
        )
    build, others = BUILDERS[words[0]]
    for name in given:
        if name not in (words[0], *others):
            raise ModelError(
                f"a curve by {words[0]} has no '{name}'. {unknown('word', name, [words[0], *others])}"
            )
    return build


@builder("x", "y", "range", "closed")
def _by_expressions(given: dict[str, Any], parameters: Mapping[str, float]) -> tuple[Pieces, float]:
    if "y" not in given:
        raise ModelError("a curve with x(s) needs y(s) too.")
    first, last = _range(given.get("range", (0.0, 2 * pi)), parameters)
    x, y = (as_function(given[c], parameters, variable="s") for c in "xy")

    def sample(s: Floats) -> Floats:
        return np.array([(*a[:1], *b[:1], a[1], b[1]) for a, b in ((x.jet(v), y.jet(v)) for v in s)])

    what = f"the curve x = {x.text}, y = {y.text}"
    return fitted(
        sample, (first, last), _is_closed(sample, first, last, given.get("closed"), what), what
    ), 0.0


def _range(given: Any, parameters: Mapping[str, float]) -> tuple[float, float]:
    if isinstance(given, str) or len(given) != 2:
        raise ModelError(
            f"range is {given!r}; the first and the last value of s are needed, such as [0, 2*pi]."
        )
    first, last = (number(part, parameters) for part in given)
    if not first < last:
        raise ModelError(f"range runs from {first:g} to {last:g}; s must grow.")
    return first, last


def _is_closed(sample: Any, first: float, last: float, given: bool | None, what: str) -> bool:
    """What was given, if the ends allow it; by default decided by the ends."""
    (ax, ay, adx, ady), (bx, by, bdx, bdy) = sample(np.array([first, last]))
    size = float(np.ptp(sample(np.linspace(first, last, 33))[:, :2], axis=0).max())
    meet = hypot(bx - ax, by - ay) <= CLOSING * size
    smooth = adx * bdx + ady * bdy >= (1.0 - 1e-9) * hypot(adx, ady) * hypot(bdx, bdy)
    if given and not (meet and smooth):
        where = f"ends at ({bx:.6g}, {by:.6g}) and begins at ({ax:.6g}, {ay:.6g})"
        raise ModelError(f"{what} is declared closed but {where}{', in another direction' if meet else ''}.")
    return bool(meet and smooth) if given is None else given


@builder("points", "closed")
def _by_points(given: dict[str, Any], parameters: Mapping[str, float]) -> tuple[Pieces, float]:
    from scipy.interpolate import CubicSpline

    points = np.array([[number(part, parameters) for part in point] for point in given["points"]])
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3:
        raise ModelError("a curve needs at least three points [x, y].")
    size = float(np.ptp(points, axis=0).max())
    meets = hypot(*(points[-1] - points[0])) <= CLOSING * size
    closed = bool(meets) if given.get("closed") is None else bool(given["closed"])
    if closed and not meets:
        points = np.vstack([points, points[:1]])
    if closed:
        points[-1] = points[0]
    steps = np.hypot(*np.diff(points, axis=0).T)
    if steps.min() == 0.0:
        raise ModelError("two consecutive points of a curve are the same.")
    knots = np.append(0.0, np.cumsum(steps))  # chord lengths: s is nearly the arc length
    spline = CubicSpline(knots, points, bc_type="periodic" if closed else "not-a-knot")
    slopes = spline.derivative()
    what = f"the spline through {len(points)} points"
    return fitted(lambda s: np.hstack([spline(s), slopes(s)]), knots.tolist(), closed, what), 0.0
