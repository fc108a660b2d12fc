"""Dyads: pairs of bodies pinned together, each held elsewhere by a pin or a guide. Such a pair closes in two ways."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...errors import listed
from ...model.elements import Pair
from ...model.joints.revolute import Revolute
from ...model.joints.translational import Translational
from ...numerics.arrays import Floats
from ...system.system import System

MOVED = 1e-6  # relative to the largest coordinate: a body that moved less has not moved


class DyadPin:
    """A pin or a guide of a body: its position in the body, and its joint."""

    def __init__(self, joint: str, body: int, x: float, y: float, angle: float, slides: bool) -> None:
        self.joint, self.body, self.x, self.y, self.angle, self.slides = joint, body, x, y, angle, slides

    def at(self, q: Floats) -> complex:
        x, y, phi = q[3 * self.body : 3 * self.body + 3]
        return complex(x, y) + complex(self.x, self.y) * np.exp(1j * phi)


class Dyads:
    """Pairs of bodies pinned together, each held elsewhere by another pin or guide: they close in two ways."""

    def __init__(self, system: System, first: Floats) -> None:
        self.names = [body.name for body in system.bodies]
        self.first = first
        self.pairs: list[tuple[DyadPin, DyadPin, DyadPin, DyadPin]] = list(self._pairs(system))

    def _pairs(self, system: System) -> Iterator[tuple[DyadPin, DyadPin, DyadPin, DyadPin]]:
        """Outer pin, inner pin on one body; inner pin, outer pin or guide on the other."""
        sides = self._sides(system)
        for joint, (a, b) in sides.items():
            if a is None or b is None or a.slides:
                continue
            outer_a = [
                p
                for p in self._others(sides, joint, a.body)
                if abs(p.at(self.first) - a.at(self.first)) > 0.0
            ]
            outer_b = self._others(sides, joint, b.body)
            for p in outer_a:
                for r in outer_b:
                    if not (p.slides and r.slides):
                        yield (p, a, b, r) if not p.slides else (r, b, a, p)

    def _sides(self, system: System) -> dict[str, tuple[DyadPin | None, DyadPin | None]]:
        sides = {}
        for name, element in system.resolved.elements.items():
            if isinstance(element, Revolute | Translational) and isinstance(element, Pair):
                slides = isinstance(element, Translational)
                sides[name] = (self._pin(name, element.a, slides), self._pin(name, element.b, slides))
        return sides

    def _pin(self, joint: str, frame, slides: bool) -> DyadPin | None:
        if frame.body not in self.names:
            return None
        return DyadPin(joint, self.names.index(frame.body), frame.x, frame.y, frame.angle, slides)

    @staticmethod
    def _others(sides, joint: str, body: int) -> list[DyadPin]:
        return [
            p
            for name, pair in sides.items()
            if name != joint
            for p in pair
            if p is not None and p.body == body
        ]

    def mirrored(self, q: Floats) -> Iterator[Floats]:
        """Poses with one dyad mirrored: its inner pin about the line through the outer pins, or across the guide."""
        for p, a, b, r in self.pairs:
            P, C = p.at(q), a.at(q)
            along = self._axis(q, P, b, r)
            if abs(along) == 0.0:
                continue
            mirrored = P + ((C - P) / along).conjugate() * along
            new = q.copy()
            _turn(new, a.body, P, C, mirrored)
            if r.slides:
                new[3 * b.body], new[3 * b.body + 1] = (
                    q[3 * b.body] + (mirrored - C).real,
                    q[3 * b.body + 1] + (mirrored - C).imag,
                )
            else:
                _turn(new, b.body, r.at(q), C, mirrored)
            yield new

    def _axis(self, q: Floats, P: complex, b: DyadPin, r: DyadPin) -> complex:
        """Direction of the mirror line through P: to the other pin, or perpendicular to the guide."""
        if r.slides:
            return 1j * complex(np.exp(1j * (q[3 * b.body + 2] + r.angle)))
        return r.at(q) - P

    def differences(self, q: Floats) -> str:
        """The dyads that are mirrored relative to the first pose, or else the body turned most."""
        words = [
            f"{self.names[a.body]} and {self.names[b.body]} mirrored"
            for p, a, b, r in self.pairs
            if self._moved(q, a.body)
            and self._moved(q, b.body)
            and self._side(q, p, a, b, r) * self._side(self.first, p, a, b, r) < 0.0
        ]
        if words:
            return listed(dict.fromkeys(words), 4)
        turns = np.abs(np.sin(0.5 * (q - self.first)[2::3]))
        body = int(np.argmax(turns))
        return f"{self.names[body]} turned by {np.degrees(2 * np.arcsin(turns[body])):.3g} deg"

    def _moved(self, q: Floats, body: int) -> bool:
        change = (q - self.first)[3 * body : 3 * body + 3]
        return bool(np.abs(change).max() > MOVED * np.abs(self.first).max())

    def _side(self, q: Floats, p: DyadPin, a: DyadPin, b: DyadPin, r: DyadPin) -> float:
        P = p.at(q)
        return float(((a.at(q) - P) * np.conj(self._axis(q, P, b, r))).imag)


def _turn(q: Floats, body: int, center: complex, old: complex, new: complex) -> None:
    """Turn a body about a center such that its point moves from old to new."""
    if old == center or new == center:
        return
    turn = (new - center) / (old - center)
    place = center + turn / abs(turn) * (complex(q[3 * body], q[3 * body + 1]) - center)
    q[3 * body], q[3 * body + 1] = place.real, place.imag
    q[3 * body + 2] += float(np.angle(turn))
