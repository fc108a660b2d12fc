"""The mechanisms of the benchmarks of dynamics, described once as data from which every engine builds its model.

A body has mass, inertia, pose (x, y, angle of its mass center) and velocity. Pins join two bodies at the global point
where they meet at t = 0; GROUND is the fixed frame. A guided body slides along x and does not turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, hypot, pi, sin, sqrt
from typing import NamedTuple

import numpy as np
import squeezer
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Point = tuple[float, float]

GROUND = -1
WEIGHT = (0.0, -9.81)


class Body(NamedTuple):
    mass: float
    inertia: float
    pose: tuple[float, float, float]
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Pin(NamedTuple):
    a: int
    b: int
    at: Point


class Spring(NamedTuple):
    """A linear spring and damper from a point of a body, given where it is at t = 0, to a fixed point."""

    body: int
    at: Point
    anchor: Point
    stiffness: float
    free: float
    damping: float = 0.0


class Bushing(NamedTuple):
    """An elastic pin: with the gap d = r_b - r_a, the force -k d - c d' on b."""

    a: int
    b: int
    at: Point
    stiffness: float
    damping: float


class JointSpring(NamedTuple):
    """A spring and damper on the angle between two bodies, at rest at t = 0."""

    a: int
    b: int
    stiffness: float
    damping: float


@dataclass
class Case:
    """One mechanism and the length of its run."""

    name: str
    title: str
    t_end: float
    bodies: list[Body]
    pins: list[Pin]
    guided: list[int] = field(default_factory=list)
    springs: list[Spring] = field(default_factory=list)
    bushings: list[Bushing] = field(default_factory=list)
    joint_springs: list[JointSpring] = field(default_factory=list)
    torques: list[tuple[int, float]] = field(default_factory=list)
    gravity: Point = WEIGHT
    stiff: bool = False

    def __post_init__(self) -> None:
        self.mass = np.array([body.mass for body in self.bodies])
        self.inertia = np.array([body.inertia for body in self.bodies])
        self.q0 = np.array([body.pose for body in self.bodies])
        self.qd0 = np.array([body.velocity for body in self.bodies])
        self.n = len(self.bodies)

    @property
    def has_loops(self) -> bool:
        return len(self.pins) + len(self.guided) > self.n

    def local(self, body: int, at: Point) -> Point:
        """A global point at t = 0 in the axes of a body."""
        if body == GROUND:
            return at
        x, y, angle = self.bodies[body].pose
        dx, dy, c, s = at[0] - x, at[1] - y, cos(angle), sin(angle)
        return c * dx + s * dy, c * dy - s * dx

    def place(self, q: Floats, bodies: NDArray[np.int64], local: Floats) -> Floats:
        """Global places of local points, one per row."""
        pose = np.vstack([q, np.zeros(3)])[bodies]  # the last row is the ground
        c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        x, y = local.T
        return pose[:, :2] + np.column_stack([c * x - s * y, s * x + c * y])

    def gap(self, q: Floats) -> float:
        """The largest violation of a joint, in meters or radians."""
        if not self.pins:
            return 0.0
        a, b = (np.array([pin[side] for pin in self.pins]) for side in (0, 1))
        sides = [
            self.place(q, i, np.array([self.local(k, pin.at) for k, pin in zip(i, self.pins, strict=True)]))
            for i in (a, b)
        ]
        gaps = [np.abs(sides[0] - sides[1]).max()]
        gaps += [np.abs(q[i, 1:] - self.q0[i, 1:]).max() for i in self.guided]
        return float(max(gaps))

    def energy(self, q: Floats, qd: Floats) -> float:
        """Kinetic and potential energy; a constant torque has a potential as well. Not for stiff cases: dampers."""
        kinetic = self.mass @ (qd[:, 0] ** 2 + qd[:, 1] ** 2) / 2 + self.inertia @ qd[:, 2] ** 2 / 2
        potential = -float(self.mass @ (q[:, :2] @ np.array(self.gravity)))
        for spring in self.springs:
            at = np.array([self.local(spring.body, spring.at)])
            x, y = self.place(q, np.array([spring.body]), at)[0]
            stretch = hypot(x - spring.anchor[0], y - spring.anchor[1]) - spring.free
            potential += spring.stiffness * stretch**2 / 2
        potential -= sum(torque * q[body, 2] for body, torque in self.torques)
        return float(kinetic + potential)


def bar(
    start: Point, end: Point, mass: float, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Body:
    """A uniform bar."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    pose = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, float(np.arctan2(dy, dx)))
    return Body(mass, mass * (dx**2 + dy**2) / 12, pose, velocity)


# Mechanisms -------------------------------------------------------------------------------------------


def chain(n: int, t_end: float = 1.0, name: str = "", title: str = "") -> Case:
    """n bars of 1 m and 1 kg in a row, released from the horizontal."""
    bodies = [bar((i, 0.0), (i + 1.0, 0.0), 1.0) for i in range(n)]
    pins = [Pin(i - 1, i, (float(i), 0.0)) for i in range(n)]
    return Case(name or f"chain{n}", title or f"chain of {n}", t_end, bodies, pins)


CRANK, COUPLER, ROCKER, BASE = 1.0, 4.0, 3.0, 4.0
CRANK_ANGLE = pi / 3


def four_bar() -> Case:
    """Bars of 1 kg/m released at a crank angle of 60 degrees; the pin C is to the left of the line from B to D."""
    b = (CRANK * cos(CRANK_ANGLE), CRANK * sin(CRANK_ANGLE))
    dx, dy = BASE - b[0], -b[1]
    diagonal = hypot(dx, dy)
    foot = (diagonal**2 + COUPLER**2 - ROCKER**2) / (2 * diagonal)
    height = sqrt(COUPLER**2 - foot**2)
    c = (b[0] + (foot * dx - height * dy) / diagonal, b[1] + (foot * dy + height * dx) / diagonal)
    a, d = (0.0, 0.0), (BASE, 0.0)
    bodies = [bar(a, b, CRANK), bar(b, c, COUPLER), bar(d, c, ROCKER)]
    pins = [Pin(GROUND, 0, a), Pin(0, 1, b), Pin(1, 2, c), Pin(GROUND, 2, d)]
    return Case("four_bar", "four-bar", 5.0, bodies, pins)


SHORT, ROD, BLOCK = 0.5, 1.5, 1.0


def slider_crank() -> Case:
    """Crank and rod of 1 kg/m and a block of 1 kg, released at a crank angle of 60 degrees."""
    a = (SHORT * cos(CRANK_ANGLE), SHORT * sin(CRANK_ANGLE))
    b = (a[0] + sqrt(ROD**2 - a[1] ** 2), 0.0)
    bodies = [bar((0.0, 0.0), a, SHORT), bar(a, b, ROD), Body(BLOCK, 0.01, (*b, 0.0))]
    pins = [Pin(GROUND, 0, (0.0, 0.0)), Pin(0, 1, a), Pin(1, 2, b)]
    return Case("slider_crank", "slider-crank", 5.0, bodies, pins, guided=[2])


def ladder(windows: int) -> Case:
    """N four-bars side by side (IFToMM library, problem A02): posts, then beams, of 1 m and 1 kg.

    All tops start with 1 m/s. Twice a turn the posts and beams are in line, where the constraints lose rank.
    """
    tops = [(float(i), 1.0) for i in range(windows + 1)]
    feet = [(float(i), 0.0) for i in range(windows + 1)]
    bodies = [bar(foot, top, 1.0, (0.5, 0.0, -1.0)) for foot, top in zip(feet, tops, strict=True)]
    pins = [Pin(GROUND, i, foot) for i, foot in enumerate(feet)]
    for i in range(windows):
        beam = windows + 1 + i
        bodies.append(bar(tops[i], tops[i + 1], 1.0, (1.0, 0.0, 0.0)))
        pins += [Pin(i, beam, tops[i]), Pin(beam, i + 1, tops[i + 1])]
    return Case(f"ladder{windows}", f"N-four-bar, N = {windows}", 10.0, bodies, pins)


def andrews() -> Case:
    """Andrews' squeezing mechanism: seven bodies, a motor and a spring, no weight."""
    poses = squeezer.poses(squeezer.START)
    bodies = [
        Body(m, i, tuple(pose)) for m, i, pose in zip(squeezer.MASS, squeezer.INERTIA, poses, strict=True)
    ]
    p = squeezer.points(squeezer.START)
    places = [(GROUND, 0, "O"), (0, 1, "E"), (1, 2, "F"), (1, 3, "F"), (1, 5, "F")]
    places += [(GROUND, 2, "B"), (3, 4, "H"), (GROUND, 4, "A"), (5, 6, "K"), (GROUND, 6, "A")]
    pins = [Pin(a, b, p[at]) for a, b, at in places]
    spring = Spring(2, p["D"], squeezer.C, squeezer.STIFFNESS, squeezer.FREE)
    motor = [(0, squeezer.TORQUE)]
    return Case(
        "squeezer",
        "Andrews' squeezer",
        0.05,
        bodies,
        pins,
        springs=[spring],
        torques=motor,
        gravity=(0.0, 0.0),
    )


def rod_pendulum() -> Case:
    """A bob of 1 kg on an elastic rod of 1 m, released from the horizontal; the damping is half the critical one."""
    bob = Body(1.0, 0.1, (1.0, 0.0, 0.0))
    rod = Spring(0, (1.0, 0.0), (0.0, 0.0), 1e8, 1.0, 1e4)
    return Case("rod_pendulum", "pendulum, rod 1e8 N/m", 5.0, [bob], [], springs=[rod], stiff=True)


def bushing_four_bar() -> Case:
    """The four-bar with elastic pins, which damp their vibrations by 0.05 to 0.4 of the critical damping."""
    rigid = four_bar()
    pins = [Bushing(*pin, 1e7, 1e3) for pin in rigid.pins]
    title = "four-bar, pins 1e7 N/m"
    return Case("bushing_four_bar", title, 5.0, rigid.bodies, [], bushings=pins, stiff=True)


def spring_chain(n: int) -> Case:
    """The chain with springs in its joints, also in the first; the fastest vibration is damped by a tenth."""
    free = chain(n)
    springs = [JointSpring(i - 1, i, 1e5, 10.0) for i in range(n)]
    title = f"chain of {n}, 1e5 Nm/rad"
    return Case(f"spring_chain{n}", title, 1.0, free.bodies, free.pins, joint_springs=springs, stiff=True)


CASES = {
    "double_pendulum": lambda: chain(2, 2.0, "double_pendulum", "double pendulum"),
    "four_bar": four_bar,
    "slider_crank": slider_crank,
    "squeezer": andrews,
    "chain10": lambda: chain(10),
    "chain100": lambda: chain(100),
    "chain1000": lambda: chain(1000),
    "ladder1": lambda: ladder(1),
    "ladder2": lambda: ladder(2),
    "ladder40": lambda: ladder(40),
    "rod_pendulum": rod_pendulum,
    "bushing_four_bar": bushing_four_bar,
    "spring_chain100": lambda: spring_chain(100),
}
