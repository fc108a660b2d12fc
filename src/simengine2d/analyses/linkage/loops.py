"""The four-bar loops and slider-cranks of a model: links with pins, found in its graph, with their lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import acos, asin, cos, hypot, pi, sin

from ...answer import Answer
from ...model.frame import GROUND, PlacedFrame
from ...model.joints.revolute import Revolute
from ...model.joints.translational import Translational
from ...model.model import Model
from ...model.resolved import ResolvedModel


@dataclass(frozen=True, repr=False)
class FourBarLengths(Answer):
    """A loop of four pins; `links` names its bodies, input first, ground last."""

    input: float
    coupler: float
    output: float
    ground: float
    links: tuple[str, ...] = ("input", "coupler", "output", "ground")

    @property
    def name(self) -> str:
        return f"four-bar {'-'.join(self.links[:3])}"

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(f'{length:.6g}' for _, length in self.named())}"

    def named(self) -> list[tuple[str, float]]:
        """Each link with its length."""
        return list(zip(self.links, (self.input, self.coupler, self.output, self.ground), strict=True))

    def closes(self) -> bool:
        lengths = [length for _, length in self.named()]
        return 2.0 * max(lengths) <= sum(lengths) * (1.0 + 1e-12)

    def gap_in_words(self) -> str:
        name, longest = max(self.named(), key=lambda pair: pair[1])
        others = sum(length for _, length in self.named()) - longest
        return f"{name} is {longest:g} long, the other three together {others:g}"

    def type_in_class(self, kind: str) -> str:
        if kind == "special":
            return "change point"
        if kind == "II":
            return "triple-rocker"
        shortest = min(range(4), key=lambda i: self.named()[i][1])
        return ("crank-rocker", "double-rocker", "rocker-crank", "double-crank")[shortest]

    def transmission_range(self) -> tuple[float, float]:
        """The angle opposite the diagonal f between coupler and output, at its least and greatest f."""
        a, b, c, d = self.input, self.coupler, self.output, self.ground
        diagonals = max(abs(d - a), abs(b - c)), min(d + a, b + c)
        low, high = (acos(min(1.0, max(-1.0, (b * b + c * c - f * f) / (2 * b * c)))) for f in diagonals)
        return low, high


@dataclass(frozen=True, repr=False)
class SliderCrankLengths(Answer):
    """Crank, rod and offset of the guide from the crank's pivot; `links` names crank, rod and slider."""

    crank: float
    rod: float
    offset: float
    links: tuple[str, ...] = field(default=("crank", "rod", "slider"))

    @property
    def name(self) -> str:
        return f"slider-crank {'-'.join(self.links)}"

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(f'{length:.6g}' for _, length in self.named())}"

    def named(self) -> list[tuple[str, float]]:
        """Each length with its name."""
        return [(self.links[0], self.crank), (self.links[1], self.rod), ("offset", self.offset)]

    def closes(self) -> bool:
        return abs(self.offset) <= (self.crank + self.rod) * (1.0 + 1e-12)

    def gap_in_words(self) -> str:
        reach = self.crank + self.rod
        return f"crank and rod together reach {reach:g}, the guide is {abs(self.offset):g} away"

    def type_in_class(self, kind: str) -> str:
        if kind == "special":
            return "change point"
        if kind == "II":
            return "rocker-slider"
        return "crank-slider" if self.crank < self.rod else "rocker-slider, the rod turns fully"

    def transmission_range(self) -> tuple[float, float]:
        """pi/2 less the inclination of the rod, sin = (e - r sin theta) / l."""
        r, rod, e = self.crank, self.rod, abs(self.offset)
        steep, flat = min(1.0, (r + e) / rod), max(0.0, (e - r) / rod)
        return 0.5 * pi - asin(steep), 0.5 * pi - asin(flat)


Lengths = FourBarLengths | SliderCrankLengths


@dataclass(frozen=True)
class LoopJoint:
    """A pin or a guide as an edge of the graph, seen from one of its bodies."""

    joint: str
    here: PlacedFrame
    there: PlacedFrame
    slides: bool


def loops_of(model: Model) -> list[Lengths]:
    """Every four-bar loop and every slider-crank through the ground; the input is the link nearest to the driver."""
    resolved = model.check()
    edges = _edges(resolved)
    depth = _depths(resolved, edges)
    loops = {}
    for path in _cycles(edges):
        bodies = frozenset(pin.there.body for pin in path)
        if bodies not in loops and (lengths := _lengths(path, depth)) is not None:
            loops[bodies] = lengths
    return list(loops.values())


def _edges(resolved: ResolvedModel) -> dict[str, list[LoopJoint]]:
    """The pins and guides of each body."""
    edges: dict[str, list[LoopJoint]] = {name: [] for name in resolved.bodies}
    for name, element in resolved.elements.items():
        if isinstance(element, Revolute | Translational):
            a, b, slides = element.a, element.b, isinstance(element, Translational)
            edges[a.body].append(LoopJoint(name, a, b, slides))  # type: ignore[arg-type]
            edges[b.body].append(LoopJoint(name, b, a, slides))  # type: ignore[arg-type]
    return edges


def _depths(resolved: ResolvedModel, edges: dict[str, list[LoopJoint]]) -> dict[str, int]:
    """How many joints each body is away from what a driver moves, not counting ways through the ground."""
    driven = [
        frame.body
        for name, rows in resolved.rows.items()
        if resolved.elements[name].drives  # type: ignore[attr-defined]
        for row in rows
        for term in row.measure.terms
        for frame in (term.b, term.a)
        if frame.body != GROUND  # type: ignore[union-attr]
    ]
    depth = dict.fromkeys(driven, 0)
    front = list(depth)
    for body in front:
        for pin in edges[body]:
            if pin.there.body not in depth and pin.there.body != GROUND:
                depth[pin.there.body] = depth[body] + 1
                front.append(pin.there.body)
    return depth


def _cycles(edges: dict[str, list[LoopJoint]]) -> Iterator[tuple[LoopJoint, ...]]:
    """Ways of four joints from the ground over three bodies back to it."""
    for first in edges[GROUND]:
        for second in edges[first.there.body]:
            for third in edges[second.there.body]:
                for last in edges[third.there.body]:
                    bodies = {GROUND, first.there.body, second.there.body, third.there.body}
                    if last.there.body == GROUND and len(bodies) == 4:
                        yield first, second, third, last


def _lengths(path: tuple[LoopJoint, ...], depth: dict[str, int]) -> Lengths | None:
    """The loop in the direction from its input to its output; None where it is neither of the two."""
    slides = [pin.slides for pin in path]
    links = tuple(pin.there.body for pin in path[:3])
    if slides == [False, False, False, True]:
        guide = path[3].there
        return SliderCrankLengths(
            _length(path, 0), _length(path, 1), _offset(path[0].here, guide, path), links
        )
    far = len(depth) + 1
    if any(slides) or depth.get(links[0], far) > depth.get(links[2], far):
        return None  # the same loop is found in the other direction
    a, b, c, d = (_length(path, i) for i in range(4))
    return FourBarLengths(a, b, c, d, (*links, GROUND))


def _length(path: tuple[LoopJoint, ...], i: int) -> float:
    """The distance of the two pins of the i-th body on the way; the last is the ground."""
    came, leaves = path[i].there, path[(i + 1) % 4].here
    return hypot(leaves.x - came.x, leaves.y - came.y)


def _offset(pivot: PlacedFrame, guide: PlacedFrame, path: tuple[LoopJoint, ...]) -> float:
    """How far the line of the rod's end in the slider passes to the left of the crank's pivot, along the guide."""
    block, pin = path[3].here, path[2].there  # both in the slider
    turn = guide.angle - block.angle
    # from the guide's frame to the pin, in axes of the ground
    dx, dy = pin.x - block.x, pin.y - block.y
    x = guide.x + cos(turn) * dx - sin(turn) * dy - pivot.x
    y = guide.y + sin(turn) * dx + cos(turn) * dy - pivot.y
    return -sin(guide.angle) * x + cos(guide.angle) * y
