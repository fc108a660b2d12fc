"""Models written as .yaml, .json and .adm and read again: they move in the same way, or saving was refused."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import simengine2d as se

T_EVAL = [0.0, 0.02]
ENDINGS = (".yaml", ".json", ".adm")


class Maker:
    """A chain of bodies with joints, drivers and forces of random kinds; any number may be an expression."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.m = se.Model("trip", gravity=tuple(rng.normal(size=2)), parameters={"L": 0.8, "w": -1.5, "n": 3})
        self.m.ground.points.update(G=(0.3, "L/2", 0.4), P=(0, 0, 1), Q=(1, 0.5))
        self.bodies = [self.body(f"b{i}", i) for i in range(int(rng.integers(1, 4)))]
        for i, body in enumerate(self.bodies):
            self.joint(i, body)
        for i in range(int(rng.integers(0, 4))):
            self.force(f"f{i}")
        if rng.random() < 0.3:
            self.motor()

    def pick(self, *choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def maybe(self, value: Any) -> Any:
        return value if self.rng.random() < 0.5 else None

    def number(self) -> Any:
        return self.pick(float(self.rng.uniform(0.2, 2)), "L", "L + 0.1", "2*L^2", 1)

    def body(self, name: str, i: int) -> Any:
        speed: Any = {"velocity": (0.1, "w"), "angular_velocity": "0.3*w"}
        given = {key: value for key, value in speed.items() if self.rng.random() < 0.4}
        points = {"P": (0.2, "-L/4", self.pick(0, "pi/3", 1.1)), "Q": (-0.1, 0.3)}
        if self.rng.random() < 0.4:
            return self.m.bar(name, (i, 0), (i + 1, "L/2"), mass=self.number(), points=points, **given)
        body = self.m.body(
            name, mass=self.number(), inertia=self.number(), at=(i + 0.4, 0.1), points=points, **given
        )
        body.angle = self.pick(0, 0.3, "-2*L")
        return body

    def frame(self, body: Any) -> Any:
        return self.pick(body, body["P"], body["Q"], body.at(0.1, "L", 0.7), body.at(-0.2, 0.1))

    def joint(self, i: int, body: Any) -> None:
        other = self.m.ground if i == 0 or self.rng.random() < 0.3 else self.bodies[i - 1]
        where = (i + 0.1, 0.2)
        make: Callable[..., Any] = self.pick(
            lambda: se.Revolute(f"j{i}", other, body, at=where),
            lambda: se.Translational(
                f"j{i}", other, body, at=where, direction=self.pick("30*deg", 2.0, (1, -1))
            ),
            lambda: se.PinSlot(f"j{i}", other, body, at=(*where, 0.5)),
            lambda: se.Fixed(f"j{i}", other, body),
            lambda: se.AbsoluteX(f"j{i}", self.frame(body), self.pick("0.1*sin(w*t)", "w^n^2*t", 0.3)),
            lambda: se.AbsoluteAngle(f"j{i}", self.frame(body), self.pick("t^2/2", "w*t", "-2^2*t + 0.1")),
            lambda: se.RelativeAngle(f"j{i}", self.frame(other), self.frame(body), self.pick("t^2/2", 0.2)),
            lambda: se.RelativeY(f"j{i}", self.frame(other), self.frame(body), "0.1*t"),
        )
        self.m.add(make())

    def motor(self) -> None:
        body = self.pick(*self.bodies)
        a, b = self.pick(self.m.ground, self.m.ground.at(0.1, 0.2, 0.3)), self.frame(body)
        measure = self.pick(se.angle, se.x, se.along)(a, b)
        self.m.add(se.Driver("motor", measure, self.pick("w*t", "t^2", se.Table((0, 1, 2), (0, 1, 3)))))

    def force(self, name: str) -> None:
        body = self.pick(*self.bodies)
        ends = self.pick(self.m.ground["G"], self.m.ground.at(2, 3)), self.frame(body)
        numbers = {key: self.number() for key in ("stiffness", "damping", "free") if self.rng.random() < 0.7}
        law = self.pick(None, None, "3*s^3 - sd", se.Table(of="s", points=(-50, 0, 50), values=(-5, 0, 5)))
        values = (0.5, "sin(w*t)", "-xd", "w*t^n", se.Table((0, 1), (1, 2)))
        make: Callable[..., Any] = self.pick(
            lambda: se.Spring(name, self.pick(se.distance, se.angle, se.y)(*ends), **numbers, law=law),
            lambda: se.Spring(name, se.angle(*ends), **numbers, actuator=self.pick(0, "t^2", "cos(w*t)")),
            lambda: se.PointForce(
                name,
                self.frame(body),
                *(self.pick(*values), self.pick(*values)),
                axes=self.pick("global", "body"),
            ),
            lambda: se.Torque(name, self.frame(body), self.pick(*values)),
            lambda: se.Force(name, along={f"{body.name}.phi": f"-0.2*{body.name}.phid + w"}),
        )
        self.m.add(make())


def moved(m: se.Model) -> Any:
    """Where it is after a while; the sentence where it does not move."""
    try:
        r = se.dynamics(m, t_eval=T_EVAL, rtol=1e-9)
    except se.SimEngineError as error:
        return type(error)
    return np.concatenate([r.q.ravel(), r.qd.ravel(), r.qdd.ravel()])


def differ(a: Any, b: Any) -> bool:
    if isinstance(a, type) or isinstance(b, type):
        return a is not b
    return bool(np.abs(a - b).max() > 1e-6 * (1.0 + np.abs(a).max()))


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Compare the motion of random models with that of what was read again."""
    warnings.simplefilter("ignore")
    held = dict.fromkeys(ENDINGS, 0)
    with tempfile.TemporaryDirectory() as folder:
        for case in range(count):
            m = Maker(rng).m
            wanted = None
            for ending in ENDINGS:
                try:
                    path = m.save(Path(folder) / f"m{ending}")
                except se.SimEngineError:
                    if ending != ".adm":
                        yield f"case {case}: {ending} refuses {json.dumps(list(map(str, m.elements.values())))}"
                    continue
                held[ending] += 1
                wanted = moved(m) if wanted is None else wanted
                if differ(wanted, moved(se.load(path))):
                    yield f"case {case}: {ending} moves otherwise: {list(m.elements.values())}"
    assert held[".adm"] > 0.2 * count - 2, held


def test_what_is_saved_is_what_moves():
    assert list(attack(np.random.default_rng(11), 6)) == []
