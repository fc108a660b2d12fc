"""Gears of a model: how many teeth each wheel shows, and how it is turned so that the teeth mesh as drawn.

A wheel's phase at an angle is how many pitches that angle is past the middle of a tooth. Where the pitch circles of
a and b touch, a tooth of one meets a gap of the other:

    phase_a + phase_b = 1/2 (mod 1),      internal: phase_b - phase_a = 1/2
"""

from __future__ import annotations

from math import atan2, cos, pi, sin
from typing import NamedTuple

from ..model.frame import PlacedFrame
from ..model.joints.gear import Gear
from ..model.joints.rack_pinion import RackPinion
from ..model.resolved import ResolvedModel
from .outlines import TURN

FEWEST, MOST, PINION = 12, 60, 18  # teeth of wheels for which no number was given


class Wheel(NamedTuple):
    """A toothed wheel about a frame; `tooth` is the angle of a tooth's middle in the axes of its body."""

    center: PlacedFrame
    radius: float
    teeth: int
    tooth: float
    internal: bool = False

    @property
    def module(self) -> float:
        """Pitch diameter per tooth."""
        return 2 * self.radius / self.teeth

    def phase(self, angle: float) -> float:
        """In pitches, at a global angle as drawn."""
        turned = self.center.drawn_angle - self.center.angle
        return (angle - turned - self.tooth) * self.teeth / TURN


Wheels = dict[tuple[str, float, float], Wheel]


def wheels(resolved: ResolvedModel) -> Wheels:
    """The wheels of all meshes, by body and center. A wheel in several meshes is turned for the first."""
    known_wheels: Wheels = {}
    meshes = [e for e in resolved.elements.values() if isinstance(e, Gear)]
    while meshes:  # next to a wheel that is there already, else anywhere
        known = [
            mesh for mesh in meshes if wheel_key(mesh.a) in known_wheels or wheel_key(mesh.b) in known_wheels
        ]
        mesh = (known or meshes)[0]
        meshes.remove(mesh)
        _add_mesh(known_wheels, mesh)
    for element in resolved.elements.values():
        if isinstance(element, RackPinion) and wheel_key(element.b) not in known_wheels:
            known_wheels[wheel_key(element.b)] = Wheel(element.b, abs(element.radius), PINION, 0.0)
    return known_wheels


def wheel_key(frame: PlacedFrame) -> tuple[str, float, float]:
    """Body and center."""
    return frame.body, round(frame.x, 9), round(frame.y, 9)


def _add_mesh(known_wheels: Wheels, mesh: Gear) -> None:
    radius_a, radius_b = mesh.pitch_radii()
    teeth_a, teeth_b = _teeth(mesh, radius_a, radius_b, known_wheels)
    beta = atan2(mesh.b.drawn_y - mesh.a.drawn_y, mesh.b.drawn_x - mesh.a.drawn_x)
    # the angles, seen from a and from b, of the point where the circles touch
    at_a, at_b = (beta + pi, beta + pi) if mesh.internal else (beta, beta + pi)
    a = known_wheels.get(wheel_key(mesh.a))
    b = known_wheels.get(wheel_key(mesh.b))
    if a is None and b is not None:
        wanted = b.phase(at_b) - 0.5 if mesh.internal else 0.5 - b.phase(at_b)
        a = known_wheels[wheel_key(mesh.a)] = _turned(mesh.a, radius_a, teeth_a, at_a, wanted, False)
    if a is None:
        a = known_wheels[wheel_key(mesh.a)] = _turned(mesh.a, radius_a, teeth_a, at_a, 0.0, False)
    if b is None:
        wanted = a.phase(at_a) + 0.5 if mesh.internal else 0.5 - a.phase(at_a)
        known_wheels[wheel_key(mesh.b)] = _turned(mesh.b, radius_b, teeth_b, at_b, wanted, mesh.internal)


def _turned(
    center: PlacedFrame, radius: float, teeth: int, angle: float, phase: float, internal: bool
) -> Wheel:
    """The wheel with the given phase at a global angle as drawn."""
    flat = Wheel(center, radius, teeth, 0.0, internal)
    return flat._replace(tooth=(flat.phase(angle) - phase) * TURN / teeth)


def _teeth(mesh: Gear, radius_a: float, radius_b: float, known_wheels: Wheels) -> tuple[int, int]:
    """The numbers given; the module of a wheel that is there; else the smallest numbers near the ratio."""
    if mesh.teeth is not None and all(float(n).is_integer() for n in mesh.teeth):
        return int(mesh.teeth[0]), int(mesh.teeth[1])
    for frame in (mesh.a, mesh.b):
        wheel = known_wheels.get(wheel_key(frame))
        if wheel is not None:
            per_length = wheel.teeth / wheel.radius
            return max(3, round(radius_a * per_length)), max(3, round(radius_b * per_length))
    small, large = min(radius_a, radius_b), max(radius_a, radius_b)
    counts = range(FEWEST, MOST)
    best = min(counts, key=lambda n: (round(abs(n * large / small - round(n * large / small)), 3), n))
    ratio = best / small
    return round(radius_a * ratio), round(radius_b * ratio)


def rack_tooth(mesh: RackPinion, pinion: Wheel) -> float:
    """Where, along the axis of the rack's frame, a tooth of the rack has its middle.

    Where pinion and rack touch, a gap of the rack meets a tooth of the pinion. The pinion's phase grows
    counter-clockwise, which at the pitch line is along the axis for R > 0 (below the center) and against it for R < 0.
    """
    side = 1.0 if mesh.radius > 0.0 else -1.0
    phase = pinion.phase(mesh.a.drawn_angle - side * pi / 2)
    dx, dy = mesh.b.drawn_x - mesh.a.drawn_x, mesh.b.drawn_y - mesh.a.drawn_y
    along = cos(mesh.a.drawn_angle) * dx + sin(mesh.a.drawn_angle) * dy
    pitch = pi * pinion.module
    # a tooth of the pinion is `phase` pitches before the foot of its center
    return along - side * phase * pitch + pitch / 2
