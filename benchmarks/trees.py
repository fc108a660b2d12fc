"""A spanning tree of a case, for engines that know bodies by their joints.

Joint coordinates s are zero at t = 0, when all frames stand as the ground does: the turn of a hinge, or the way of a
guided body along x. Points are complex numbers.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from cases import GROUND, Case, Pin
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Link(NamedTuple):
    """A body on its parent; `at` is the global place of their joint at t = 0."""

    body: int
    parent: int
    slides: bool
    at: complex


class Tree:
    """Links in depth-first order, and the pins that close loops."""

    def __init__(self, case: Case) -> None:
        self.case = case
        found, self.loops = _spanning(case)
        self.links = _depth_first(found)
        self.index = {link.body: i for i, link in enumerate(self.links)}
        self.at = {link.body: link.at for link in self.links} | {GROUND: 0j}

    def rates(self) -> Floats:
        """Joint velocities at t = 0."""
        qd = self.case.qd0
        spin = lambda body: 0.0 if body == GROUND else qd[body, 2]
        return np.array([qd[k.body, 0] if k.slides else spin(k.body) - spin(k.parent) for k in self.links])

    def arm(self, body: int, point: complex) -> complex:
        """From a body's joint to a point, both at t = 0."""
        return point - self.at[body]

    def center(self, body: int) -> complex:
        """From a body's joint to its mass center at t = 0."""
        return self.arm(body, complex(*self.case.q0[body, :2]))

    def absolute(self, s: Floats, sd: Floats) -> tuple[Floats, Floats]:
        """q and qd of all bodies from joint coordinates and velocities."""
        n = self.case.n
        q, qd = np.zeros((n, 3)), np.zeros((n, 3))
        place, speed, turn, spin = ({GROUND: 0j}, {GROUND: 0j}, {GROUND: 0.0}, {GROUND: 0.0})
        for i, (body, parent, slides, at) in enumerate(self.links):
            arm = self.arm(parent, at) * np.exp(1j * turn[parent])
            place[body] = place[parent] + arm + (s[i] if slides else 0.0)
            speed[body] = speed[parent] + 1j * spin[parent] * arm + (sd[i] if slides else 0.0)
            turn[body] = turn[parent] + (0.0 if slides else s[i])
            spin[body] = spin[parent] + (0.0 if slides else sd[i])
            out = self.center(body) * np.exp(1j * turn[body])
            z, zd = place[body] + out, speed[body] + 1j * spin[body] * out
            q[body] = z.real, z.imag, self.case.q0[body, 2] + turn[body]
            qd[body] = zd.real, zd.imag, spin[body]
        return q, qd


def _spanning(case: Case) -> tuple[list[Link], list[Pin]]:
    """Breadth first from the ground, so that branches are short; what is left closes loops."""
    links = [Link(body, GROUND, True, complex(*case.q0[body, :2])) for body in case.guided]
    reached, used = {GROUND, *case.guided}, set()
    pins: dict[int, list[int]] = {}
    for k, pin in enumerate(case.pins):
        pins.setdefault(pin.a, []).append(k)
        pins.setdefault(pin.b, []).append(k)
    queue = deque([GROUND])
    while queue:
        parent = queue.popleft()
        for k in pins.get(parent, []):
            a, b, at = case.pins[k]
            body = b if a == parent else a
            if body not in reached:
                links.append(Link(body, parent, False, complex(*at)))
                reached.add(body)
                used.add(k)
                queue.append(body)
    return links, [pin for k, pin in enumerate(case.pins) if k not in used]


def _depth_first(links: list[Link]) -> list[Link]:
    children: dict[int, list[Link]] = {}
    for link in links:
        children.setdefault(link.parent, []).append(link)
    ordered, stack = [], children.get(GROUND, [])[::-1]
    while stack:
        link = stack.pop()
        ordered.append(link)
        stack += children.get(link.body, [])[::-1]
    return ordered
