"""Layout: where everything goes over time, and how large symbols are; what these need to know to be drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import Subject, UnsupportedError
from ..model.elements import Element, ForceElement, Joint, MeasureForce, Pair, Wrench
from ..model.forces.torque import Torque
from ..model.frame import GROUND, Frame, PlacedFrame
from ..model.joints.cam import Cam
from ..model.joints.gear import Gear
from ..model.joints.rack_pinion import RackPinion
from ..model.joints.revolute import Revolute
from ..model.joints.rolling_curves import RollingCurves
from ..model.joints.translational import Translational
from ..model.measure import Measure
from ..model.resolved import ResolvedModel
from ..model.shape import Block, Disk, Plate
from ..numerics.arrays import Floats
from ..results.results import Results
from . import outlines
from .gears import Wheel, Wheels, wheel_key, wheels
from .marks import Spot
from .style import every_body, ink_of_bodies, own_outlines

SYMBOL = 0.017  # size of symbols, as a part of the picture's diagonal
SMALLEST = 0.006
PATH, MOST_BETWEEN = 1500, 16  # points of a path, and between two outputs


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

    def path(self, spot: Spot) -> Floats:
        """The places with more between them, where outputs are few: p(u) is the cubic of places and velocities.

        p = v^2 ((1 + 2 u) a + u h ad) + u^2 ((3 - 2 u) b - v h bd),  v = 1 - u,  h the time from a to b
        """
        place, between = self.place(spot), self.per_output
        if between == 1:
            return place
        rate, h = self.velocity(spot)[:, None], np.diff(self.t)[:, None, None]
        a, b = place[:-1, None], place[1:, None]
        u = (np.arange(between) / between)[None, :, None]
        v = 1.0 - u
        pieces = v**2 * ((1 + 2 * u) * a + u * h * rate[:-1]) + u**2 * ((3 - 2 * u) * b - v * h * rate[1:])
        return np.vstack([pieces.reshape(-1, 2), place[-1:]])

    @property
    def per_output(self) -> int:
        """Points of a path for each output."""
        return max(1, min(MOST_BETWEEN, PATH // self.t.size)) if self.t.size > 1 else 1

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


class SliderBlock(NamedTuple):
    """A slider in the axes of its frame: from where to where it reaches along them, its width across them."""

    start: float
    end: float
    width: float
    is_drawn: bool
    """Its body is drawn that large anyway."""


class Layout:
    """The model in numbers, its motion, its look, its wheels and the size of symbols."""

    def __init__(self, resolved: ResolvedModel, motion: CarrierMotion) -> None:
        self.resolved, self.motion = resolved, motion
        self.inks = ink_of_bodies(resolved.model)
        self.own_outlines = {body.name: own_outlines(body, resolved) for body in every_body(resolved.model)}
        has_wheels = any(isinstance(e, Gear | RackPinion) for e in resolved.elements.values())
        self.wheels: Wheels = wheels(resolved) if has_wheels else {}
        self.frames = {name: frames_of(element) for name, element in resolved.elements.items()}
        places = self._places()
        self.low, self.high = places.min(axis=0), places.max(axis=0)
        self.diagonal = diagonal = float(np.hypot(*(self.high - self.low))) or 1.0
        self.size = min(SYMBOL * diagonal, max(SMALLEST * diagonal, 0.3 * self._shortest_link(diagonal)))

    def _places(self) -> Floats:
        """Where attached points and mass centers go; round bodies and plates count with their corners."""
        frames = [frame for frames in self.frames.values() for frame in frames]
        spots = {spot_of(frame) for frame in frames}
        for name, body in self.resolved.bodies.items():
            spots |= {Spot(name, x, y) for x, y, _ in body.points.values()}
            if name != GROUND:
                spots |= {Spot(name, float(x), float(y)) for x, y in self.corners(name)}
        for wheel in self.wheels.values():
            x, y, r = wheel.center.x, wheel.center.y, wheel.radius
            spots |= {Spot(wheel.center.body, x + sx * r, y + sy * r) for sx in (-1, 1) for sy in (-1, 1)}
        return np.vstack([self.motion.place(spot) for spot in spots] or [np.zeros((1, 2))])

    def corners(self, name: str) -> Floats:
        """The corners of a body's shape in body axes; those of the square around a disk, or the center alone."""
        body = self.resolved.model.find_body(name)
        if isinstance(body.shape, Disk):
            radius = self.number(body.shape.radius)
            return Block(radius, radius).outline(2 * radius, 2 * radius)
        if isinstance(body.shape, Block | Plate):
            return body.shape.outline(**self.resolved.shape_numbers(body))
        return np.zeros((1, 2))

    def _shortest_link(self, longest: float) -> float:
        """The smallest distance between two places of a body at which something is attached."""
        shortest = longest
        for body in self.resolved.bodies:
            points = np.array(
                [(f.x, f.y) for frames in self.frames.values() for f in frames if f.body == body]
            ).reshape(-1, 2)
            gaps = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
            gaps = gaps[gaps > 1e-6 * longest]
            shortest = min(shortest, float(gaps.min(initial=shortest)))
        return shortest

    def number(self, value: object) -> float:
        return self.resolved.number(value, Subject("the picture"))

    @property
    def middle(self) -> Floats:
        return (self.low + self.high) / 2

    # what symbols ask

    def travel(self, a: PlacedFrame, b: PlacedFrame) -> tuple[float, float]:
        """The smallest and largest place of b along the axis of a."""
        along = self.motion.seen_from(a, b)[:, 0]
        return float(along.min()), float(along.max())

    def block(self, frame: PlacedFrame) -> SliderBlock:
        """The slider at a frame: what its look or shape says, or a block of its own; not too small to be seen."""
        body = self.resolved.model.find_body(frame.body)
        rack = self.rack_of(frame.body)
        if rack is not None:
            return self._rack_block(rack)
        corners = self.own_outlines[frame.body]
        if isinstance(body.shape, Block | Plate) and not corners:
            corners = [self.corners(body.name)]
        if not corners:
            return SliderBlock(-2.0 * self.size, 2.0 * self.size, 2.4 * self.size, False)
        seen = outlines.moved(np.vstack(corners) - (frame.x, frame.y), (0, 0), -frame.angle)
        (start, low), (end, high) = seen.min(axis=0), seen.max(axis=0)
        grow = max(0.0, 3.6 * self.size - (end - start)) / 2
        width = max(2 * max(-low, high), 2.8 * self.size)
        return SliderBlock(
            float(start - grow), float(end + grow), float(width), grow == 0.0 and width > 2.8 * self.size
        )

    def _rack_block(self, rack: RackPinion) -> SliderBlock:
        """A rack is as long as its plate, or as its stroke needs; its width reaches from the pitch line to its back."""
        pinion = self.wheel_at(rack.b)
        assert pinion is not None
        along = self.motion.seen_from(rack.a, rack.b)[:, 0]
        start, end = float(along.min()) - 3 * pinion.radius, float(along.max()) + 3 * pinion.radius
        if isinstance(self.resolved.model.find_body(rack.a.body).shape, Block | Plate):
            along = self.corners(rack.a.body)[:, 0]
            start, end = float(along.min()), float(along.max())
        return SliderBlock(start, end, 2 * outlines.RACK_DEPTH * pinion.module, True)

    def rack_of(self, body: str) -> RackPinion | None:
        """The mesh in which a body is the rack."""
        racks = [e for e in self.resolved.elements.values() if isinstance(e, RackPinion)]
        return next((rack for rack in racks if rack.a.body == body), None)

    def wheel_at(self, frame: PlacedFrame) -> Wheel | None:
        """The toothed wheel about a frame."""
        return self.wheels.get(wheel_key(frame)) if self.wheels else None

    def is_drawn_by_a_joint(self, body: str) -> bool:
        """A rack, which its joint gives teeth; a slider too small to be seen, for which its joint draws a block."""
        sliders = [e for e in self.resolved.elements.values() if isinstance(e, Translational)]
        return self.rack_of(body) is not None or any(
            not self.block(slider.b).is_drawn for slider in sliders if slider.b.body == body
        )

    def free_side(self, guide: PlacedFrame) -> float:
        """The side of a guide (+1 left, -1 right) with fewer joints; below, where they are equal."""
        others = [f for frames in self.frames.values() for f in frames if f.body != GROUND]
        across = np.mean([self.motion.seen_from(guide, f)[:, 1].mean() for f in others]) if others else 0.0
        if abs(across) > 0.1 * self.diagonal:
            return -1.0 if across > 0.0 else 1.0
        left_is_up = np.cos(self.motion.axis(guide)[0]) >= 0.0
        return -1.0 if left_is_up else 1.0

    def pivot(self, a: str, b: str) -> PlacedFrame | None:
        """The pin between two bodies, as a frame of the first."""
        for element in self.resolved.elements.values():
            if isinstance(element, Revolute) and {element.a.body, element.b.body} == {a, b}:
                return element.a if element.a.body == a else element.b
        return None

    def force_frame(self, name: str) -> PlacedFrame:
        """Where the force of an element is shown, on its last body; the torque of a motor at the pin of that body."""
        bodies = [frame.body for frame in self.resolved.model.elements[name].frames()]
        body = [each for each in bodies if each != GROUND][-1]
        attached = [frame for frame in self.frames[name] if frame.body == body]
        if attached:
            return attached[-1]
        others = [each for each in bodies if each != body] or [GROUND]
        return self.pivot(body, others[0]) or self.resolved.frame(Frame(body))

    def is_round(self, frame: PlacedFrame) -> bool:
        """Whether the frame is in the middle of a disk or a wheel."""
        if frame.body == GROUND:
            return False
        shape = self.resolved.model.bodies[frame.body].shape
        in_disk = isinstance(shape, Disk) and abs(frame.x) + abs(frame.y) < 1e-9
        cams = [e for e in self.resolved.elements.values() if isinstance(e, Cam | RollingCurves)]
        on_cam = any(frame.body in (cam.a.body, cam.b.body) for cam in cams)
        return in_disk or on_cam or self.wheel_at(frame) is not None


def frames_of(element: Element) -> list[PlacedFrame]:
    """The placed frames that an element joins or pushes on; where only its body matters, a frame does not count."""
    if isinstance(element, Pair):
        return [element.a, element.b]
    if isinstance(element, Joint):
        return _frames_in([row.measure for row in element.rows()])
    assert isinstance(element, ForceElement)
    if isinstance(element, Torque):
        return []
    try:
        loads = list(element.loads())
    except UnsupportedError:  # a law that is only named
        return []
    along = _frames_in([load.measure for load in loads if isinstance(load, MeasureForce)])
    return along + [load.frame for load in loads if isinstance(load, Wrench)]


def _frames_in(measures: list[Measure]) -> list[PlacedFrame]:
    frames: dict[PlacedFrame, None] = {}
    for term in (term for measure in measures for term in measure.terms):
        assert isinstance(term.a, PlacedFrame) and isinstance(term.b, PlacedFrame)
        if term.kind not in ("angle", "misalignment"):
            is_global = term.kind in ("x", "y")  # measured from the origin, where nothing need be
            frames |= {f: None for f in (term.a, term.b) if not (is_global and f.body == GROUND)}
    return list(frames)
