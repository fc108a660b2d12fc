"""Change points in kinematics: does the motion stay on its smooth branch, and is every passage noted?

The oracle is the closed form of the branch that goes on smoothly, as a function of the driver's angle. A run that ends
in a sentence is an answer; a point, a velocity or an acceleration off the branch is wrong, and so is a passage without
a note. `tally` counts what was met: runs, passages, runs that ended in a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np

import simengine2d as se
from simengine2d import builders

Angle = Callable[[np.ndarray], np.ndarray]
Oracle = Callable[[np.ndarray], dict[str, np.ndarray]]
tally: Counter[str] = Counter()


class Member(NamedTuple):
    """A mechanism whose crank is drawn at an angle, its smooth branch, and the angles at which branches meet."""

    model: se.Model
    branch: Oracle
    meets: tuple[float, ...]  # of the crank, each within a period
    period: float
    size: float


# Mechanisms ---------------------------------------------------------------------------------------------


def points(**places: np.ndarray) -> dict[str, np.ndarray]:
    """Channels of points by complex places."""
    found = {}
    for name, place in places.items():
        found[f"{name.replace('_', '.')}.x"], found[f"{name.replace('_', '.')}.y"] = place.real, place.imag
    return found


def four_bar(lengths, angle: float, branch: Oracle) -> se.Model:
    """Drawn with C where the branch has it: to the left of the line from B to D (open) or to its right."""
    B, place = lengths[0] * np.exp(1j * angle), branch(np.array([angle]))
    C = place["rocker.end.x"][0] + 1j * place["rocker.end.y"][0]
    left = ((C - B) * (lengths[3] - B).conjugate()).imag > 0
    return builders.four_bar(*lengths, crank_angle=angle, branch="open" if left else "crossed")


def parallelogram(rng, size, angle) -> Member:
    a, b = size * rng.uniform(0.3, 2), size * rng.uniform(0.3, 2)
    branch = lambda w: points(rocker_end=b + a * np.exp(1j * w), coupler_start=a * np.exp(1j * w))
    return Member(four_bar((a, b, a, b), angle, branch), branch, (0.0, np.pi), 2 * np.pi, size)


def square(rng, size, angle) -> Member:
    a = size * rng.uniform(0.3, 2)
    branch = lambda w: points(rocker_end=a + a * np.exp(1j * w))
    return Member(four_bar((a, a, a, a), angle, branch), branch, (0.0, np.pi), 2 * np.pi, size)


def folded_square(rng, size, angle) -> Member:
    """The rocker rests on the ground, the coupler on the crank."""
    a = size * rng.uniform(0.3, 2)
    branch = lambda w: points(rocker_end=0j * w)
    return Member(four_bar((a, a, a, a), angle, branch), branch, (0.0, np.pi), 2 * np.pi, size)


def antiparallelogram(rng, size, angle) -> Member:
    """C is the mirror image of A in the perpendicular bisector of BD."""
    a = size * rng.uniform(0.3, 2)
    b = a * rng.choice([rng.uniform(1.2, 3), rng.uniform(0.3, 0.8)])

    def branch(w):
        B = a * np.exp(1j * w)
        along = (b - B) / abs(b - B)
        return points(rocker_end=2 * ((b + B) / 2 * along.conj()).real * along)

    return Member(four_bar((a, b, a, b), angle, branch), branch, (0.0, np.pi), 2 * np.pi, size)


def kite(rng, size, angle) -> Member:
    """Crank and coupler alike, rocker and ground alike: C is the mirror image of A in the line BD."""
    a = size * rng.uniform(0.3, 2)
    b = a * rng.uniform(1.2, 3)

    def branch(w):
        B = a * np.exp(1j * w)
        along = (b - B) / abs(b - B)
        return points(rocker_end=B + np.conj(-B * along.conj()) * along)

    return Member(four_bar((a, a, b, b), angle, branch), branch, (0.0, np.pi), 2 * np.pi, size)


def deltoid(rng, size, angle) -> Member:
    """Crank and ground alike, coupler and rocker alike: C lies on the bisector of the crank's angle."""
    a = size * rng.uniform(0.3, 2)
    b = a * rng.uniform(1.2, 3)
    outer = rng.random() < 0.5
    sign = 1 if outer else -1
    branch = lambda w: points(
        rocker_end=np.exp(0.5j * w) * (a * np.cos(w / 2) + sign * np.sqrt(b**2 - (a * np.sin(w / 2)) ** 2))
    )
    return Member(four_bar((a, b, b, a), angle, branch), branch, (0.0,), 2 * np.pi, size)


def equal_slider_crank(rng, size, angle) -> Member:
    """x = 2 r cos(angle), or the slider stays on the crank's pivot."""
    r = size * rng.uniform(0.3, 2)
    moves = rng.random() < 0.7
    right = (np.cos(angle) > 0) == moves
    model = builders.slider_crank(r, r, crank_angle=angle, branch="open" if right else "crossed")
    branch = lambda w: {"slider.x": 2 * r * np.cos(w) * moves, "slider.y": 0 * w}
    return Member(model, branch, (np.pi / 2, 3 * np.pi / 2), 2 * np.pi, size)


def three_cranks(rng, size, angle) -> Member:
    """A coupler on three equal cranks, one of which is redundant, with pivots in line or not."""
    a, far = size * rng.uniform(0.3, 1), size * rng.uniform(1, 3)
    between = rng.uniform(0.2, 0.8) * far + 1j * rng.choice([0.0, rng.uniform(0.2, 0.5)]) * size
    tip = a * np.exp(1j * angle)
    model = se.Model("three cranks")
    coupler = model.body(
        "coupler",
        mass=1,
        inertia=1,
        at=(tip.real, tip.imag),
        points={"P": (0, 0), "Q": (between.real, between.imag), "R": (far, 0)},
    )
    for name, pivot, pin in (("crank", 0j, "P"), ("second", between, "Q"), ("third", far + 0j, "R")):
        end = pivot + tip
        bar = model.bar(name, (pivot.real, pivot.imag), (end.real, end.imag))
        model.add(se.Revolute(f"O{pin}", model.ground, bar["start"]))
        model.add(se.Revolute(pin, bar["end"], coupler[pin]))
    branch = lambda w: points(coupler_R=far + a * np.exp(1j * w), second_end=between + a * np.exp(1j * w))
    return Member(model, branch, (0.0, np.pi) if between.imag == 0 else (), 2 * np.pi, size)


def double_parallelogram(rng, size, angle) -> Member:
    """The rocker of one parallelogram is the crank of the next, bent or not: flat together, or one after the other."""
    a, b, c = size * rng.uniform(0.3, 1.5, 3)
    bend = rng.choice([0.0, rng.uniform(0.05, 1.5), 10 ** rng.uniform(-4, -1)])
    tip, arm = a * np.exp(1j * angle), c * np.exp(1j * (angle + bend))
    model = se.Model("double parallelogram")
    crank = model.bar("crank", (0, 0), (tip.real, tip.imag))
    coupler = model.bar("coupler", (tip.real, tip.imag), (b + tip.real, tip.imag))
    rocker = model.body(
        "rocker",
        mass=1,
        inertia=1,
        at=(b, 0),
        angle=angle,
        points={"C": (a, 0), "E": (c * np.cos(bend), c * np.sin(bend))},
    )
    second = model.bar("second", (b + arm.real, arm.imag), (2 * b + arm.real, arm.imag))
    last = model.bar("last", (2 * b, 0), (2 * b + arm.real, arm.imag))
    model.add(se.Revolute("A", model.ground, crank["start"]))
    model.add(se.Revolute("B", crank["end"], coupler["start"]))
    model.add(se.Revolute("C", coupler["end"], rocker["C"]))
    model.add(se.Revolute("D", model.ground, rocker))
    model.add(se.Revolute("E", rocker["E"], second["start"]))
    model.add(se.Revolute("F", second["end"], last["end"]))
    model.add(se.Revolute("G", model.ground, last["start"]))
    branch = lambda w: points(rocker_C=b + a * np.exp(1j * w), last_end=2 * b + c * np.exp(1j * (w + bend)))
    return Member(model, branch, tuple({0.0, np.pi, -bend, np.pi - bend}), 2 * np.pi, size)


def moving_parallelogram(rng, size, angle) -> Member:
    """A parallelogram on a carriage that a second driver moves and turns."""
    a, b = size * rng.uniform(0.3, 2), size * rng.uniform(0.3, 2)
    rate, sway = float(rng.uniform(0.3, 2)), float(size * rng.uniform(-1, 1))
    model = se.Model("moving parallelogram")
    carriage = model.body("carriage", mass=1, inertia=1, points={"A": (0, 0), "D": (b, 0)})
    tip = a * np.exp(1j * angle)
    crank = model.bar("crank", (0, 0), (tip.real, tip.imag))
    coupler = model.bar("coupler", (tip.real, tip.imag), (b + tip.real, tip.imag))
    rocker = model.bar("rocker", (b, 0), (b + tip.real, tip.imag))
    model.add(se.Translational("rail", model.ground, carriage, direction=(1, 0)))
    model.add(se.Driver("carriage motor", se.x(model.ground, carriage), f"{sway!r}*sin({rate!r}*t)"))
    model.add(se.Revolute("A", carriage["A"], crank["start"]))
    model.add(se.Revolute("B", crank["end"], coupler["start"]))
    model.add(se.Revolute("C", coupler["end"], rocker["end"]))
    model.add(se.Revolute("D", carriage["D"], rocker["start"]))
    # beside the carriage, which moves by the time, the rocker turns as the crank
    branch = lambda w: {"rocker.phi": w, "coupler.phi": 0 * w}
    return Member(model, branch, (0.0, np.pi), 2 * np.pi, 1.0)


MECHANISMS = (
    parallelogram,
    square,
    folded_square,
    antiparallelogram,
    kite,
    deltoid,
    equal_slider_crank,
    three_cranks,
    double_parallelogram,
    moving_parallelogram,
)


# Drivers ------------------------------------------------------------------------------------------------


class Law(NamedTuple):
    text: str
    t_end: float
    smooth: bool


def steady(rng, angle, meets) -> Law:
    speed = rng.choice([-1, 1]) * 10 ** rng.uniform(-1, 1.5)
    return Law(f"{float(angle)!r} + {float(speed)!r}*t", rng.uniform(3, 15) / abs(speed), True)


def accelerating(rng, angle, meets) -> Law:
    speed, more = rng.uniform(-3, 3), rng.uniform(-2, 2)
    return Law(f"{float(angle)!r} + {float(speed)!r}*t + {float(more)!r}*t^2", rng.uniform(2, 4), True)


def swinging(rng, angle, meets) -> Law:
    """Back and forth, over change points and back."""
    return Law(
        f"{float(angle)!r} + {float(rng.uniform(1, 6))!r}*sin({float(rng.uniform(0.5, 4))!r}*t)",
        rng.uniform(4, 8),
        True,
    )


def turning_back(rng, angle, meets) -> Law:
    """Turns back just before, at or just behind a change point."""
    past = rng.choice([0.0, 1.0, -1.0]) * 10 ** rng.uniform(-10, -1)
    way = _nearest(angle, meets) + past - angle
    return Law(
        f"{float(angle)!r} + {float(way)!r}*sin({float(rng.uniform(0.5, 4))!r}*t)", rng.uniform(2, 6), True
    )


def halting(rng, angle, meets) -> Law:
    """Goes to a change point, rests there, and goes on or back."""
    meet = _nearest(angle, meets)
    further, wait = float(rng.uniform(-1, 1)), float(rng.choice([1.2, 1.5]))
    onward = f"step5(t, {wait!r}, 0, 2.5, {further!r})"
    return Law(f"step5(t, 0.1, {angle!r}, 1.2, {meet!r}) + {onward}", 3.0, True)


def zigzag(rng, angle, meets) -> Law:
    """Jumps of velocity, one of them at a change point or near it."""
    meet = float(_nearest(angle, meets) + rng.choice([0.0, 10 ** rng.uniform(-8, -1)]))
    speed = meet - angle
    other = float(speed * rng.uniform(-1.5, 1.5))
    text = f"piecewise(t < 1, {angle!r} + {speed!r}*t, {meet!r} + {other!r}*(t - 1))"
    return Law(text, rng.uniform(1.5, 3), False)


LAWS = (steady, steady, accelerating, swinging, turning_back, halting, zigzag)


def _nearest(angle, meets) -> float:
    turns = [meet + 2 * np.pi * k for meet in meets or (0.0,) for k in (-1, 0, 1)]
    return float(
        min((turn for turn in turns if abs(turn - angle) > 0.02), key=lambda turn: abs(turn - angle))
    )


# The attack ---------------------------------------------------------------------------------------------


def attack(
    rng: np.random.Generator, count: int, outputs: Sequence[int] = (7, 23, 100, 357, 1000)
) -> Iterator[str]:
    for number in range(count):
        build = MECHANISMS[number % len(MECHANISMS)]
        angle = _start(rng)
        member = build(rng, 10 ** rng.uniform(-3, 3), angle)
        law = LAWS[rng.integers(len(LAWS))](rng, angle, member.meets)
        if _too_near(member, angle):
            continue
        step = law.t_end / float(rng.choice(outputs))
        yield from examine(build.__name__, member, law, step, rng.random() < 0.3)


def _start(rng) -> float:
    if rng.random() < 0.15:  # begin near a change point
        return float(rng.choice([0, np.pi / 2, np.pi]) - 10 ** rng.uniform(-4, -1))
    return float(rng.uniform(0.1, 3.0))


def _too_near(member, angle) -> bool:
    return any(abs((angle - meet + np.pi) % (2 * np.pi) - np.pi) < 5e-5 for meet in member.meets)


def examine(name: str, member: Member, law: Law, step: float, exactly: bool) -> Iterator[str]:
    """Sentences on what is wrong with one run."""
    what = f"{name} of size {member.size:.3g}, driver {law.text}, step {step:.4g}"
    model = member.model
    model.add(se.Driver("motor", se.angle(model.ground, "crank"), law.text))
    angle = lambda t: np.array([float(function(x)) for x in t])
    function = se.System(model).functions[-1]
    times = np.arange(0.0, law.t_end, step)
    if exactly:  # outputs on the change points themselves
        times = np.unique(np.concatenate([times, passages(member, angle, law.t_end)]))
    tally["runs"] += 1
    try:
        r = se.kinematics(model, t_eval=times)
    except se.SimEngineError as error:
        tally["sentences"] += 1
        tally[f"sentences: {name}"] += 1
        if error.results is None or error.results.t.size == 0:
            return
        # accelerations lose their digits on the last steps to the pose that the sentence names
        r, end = error.results, float(re.findall(r"at t = ([0-9.e+-]+) s", str(error))[0])
        r = se.kinematics(model, t_eval=r.t[r.t < end - 0.02 * law.t_end])
    expected = passages(member, angle, float(r.t[-1]))
    tally["passages"] += len(expected)
    noted = np.array([float(t) for note in r.notes for t in re.findall(r"at t = (\S+) s the mech", note)])
    # a driver that grazes a change point is there for a while: then its angle tells
    there = angle(noted)
    unnoted = [
        t
        for t in expected
        if not np.any(np.abs(noted - t) < 1e-6 * law.t_end + 1e-7)
        and not np.any((np.abs(noted - t) < 0.01 * law.t_end) & (np.abs(there - angle([t])) < 1e-8))
    ]
    if unnoted:
        yield f"{what}: the passages at t = {unnoted} are not noted"
    yield from off_the_branch(what, member, function, r)


def passages(member: Member, angle, t_end: float) -> list[float]:
    """Times at which the driver goes through a change point, on a fine grid, then by bisection."""
    t = np.linspace(0.0, t_end, 4001)
    w = angle(t)
    found = []
    for meet in member.meets:
        phase = np.floor((w - meet) / member.period)
        for i in np.flatnonzero(np.diff(phase)):
            target = meet + member.period * max(phase[i], phase[i + 1])
            if min(abs(w[i] - target), abs(w[i + 1] - target)) < 1e-9:
                continue  # it halts or turns back there
            a, b = t[i], t[i + 1]
            rises = w[i + 1] > w[i]
            for _ in range(60):
                middle = 0.5 * (a + b)
                below = angle(np.array([middle]))[0] < target
                a, b = (middle, b) if below == rises else (a, middle)
            found.append(b)
    return sorted(found)


def off_the_branch(what: str, member: Member, function, r: se.Results) -> Iterator[str]:
    """Compare positions, velocities and accelerations with the closed form."""
    jets = np.array([function.jet(float(t)) for t in r.t])
    w, wd, wdd = jets.T
    at = member.branch
    e = 1e-3
    for channel, place in at(w).items():
        # derivatives of the closed form by differences of fourth order
        p = [at(w + k * e)[channel] for k in (-2, -1, 0, 1, 2)]
        first = (p[0] - 8 * p[1] + 8 * p[3] - p[4]) / (12 * e)
        second = (-p[0] + 16 * p[1] - 30 * p[2] + 16 * p[3] - p[4]) / (12 * e * e)
        speed, force = np.abs(wd).max() + 1e-300, np.abs(wdd).max() + np.abs(wd).max() ** 2 + 1e-300
        errors = (
            np.abs(r[channel] - place).max() / member.size / 1e-8,
            np.abs(r[channel + "d"] - first * wd).max() / member.size / speed / 1e-6,
            np.abs(r[channel + "dd"] - second * wd**2 - first * wdd).max() / member.size / force / 1e-4,
        )
        if not max(errors) <= 1.0:
            yield (
                f"{what}: {channel} leaves its branch by {errors[0] * 1e-8:.2g}, {errors[1] * 1e-6:.2g}, "
                + (f"{errors[2] * 1e-4:.2g} (relative errors of position, velocity and acceleration)")
            )
            return


def test_no_branch_is_left_without_a_word():
    assert list(attack(np.random.default_rng(5), 20, outputs=(7, 23))) == []
    assert tally["passages"] > 15


def test_a_driver_that_halts_at_a_change_point_while_another_moves_on():
    """The motion in time says nothing about the branch: the carriage moves through it, the crank stands still."""
    for seed, angle, meet in ((3, 1.5690956540857681, 0.0), (9, 2.1262401597298153, np.pi)):
        rng = np.random.default_rng(seed)
        member = moving_parallelogram(rng, 10 ** rng.uniform(-3, 3), angle)
        onward = "step5(t, 1.2, 0, 2.5, -0.4327)"
        law = Law(f"step5(t, 0.1, {angle!r}, 1.2, {meet!r}) + {onward}", 3.0, True)
        for step in (0.008403, 0.0123, 0.05):
            again = member._replace(model=deepcopy(member.model))
            assert list(examine("moving parallelogram", again, law, step, False)) == []
