"""Random mechanisms in other units: every family and formulation moves them by the same angles, with the same forces.

Lengths from 1e-6 to 1e6 m, masses from 1e-9 to 1e9 kg, bodies of different weight side by side, doubled pins, redundant
cranks, springs and drivers. The oracle is the default at rtol = 1e-10 in meters and kilograms.
"""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se

FAMILIES = ("reference_point", "natural", "mixed", "relative")
FORMULATIONS = (
    "projection", "augmented", "penalty", "matrix_r", "partitioning", "index3", "ggl", "augmented_lagrangian",
)  # fmt: skip
TIMES = [0.0, 0.2, 0.4]
COMBINATIONS = 4  # of each mechanism
RTOL = 1e-7
ALLOWED = {"angles": 1e-4, "places": 1e-4, "rates": 3e-4, "accelerations": 2e-3, "forces": 2e-3}
OF_PENALTY = 10.0  # times more where joints give way


class Draft:
    """The random numbers of a mechanism, from which it is built in any units."""

    def __init__(self, rng):
        self.kind = rng.choice(list(BUILDERS))
        self.seed = int(rng.integers(2**32))

    def model(self, length=1.0, mass=1.0):
        return BUILDERS[self.kind](np.random.default_rng(self.seed), length, mass)


def bars(model, rng, places, length, mass, links):
    """Bars between places, of unequal weight."""
    spread = rng.choice([0.3, 3.0])
    return [
        model.bar(
            f"b{i}",
            tuple(np.multiply(length, places[a])),
            tuple(np.multiply(length, places[b])),
            mass=mass * 10 ** rng.uniform(-spread, spread),
        )
        for i, (a, b) in enumerate(links)
    ]


def new_model(rng, length):
    return se.Model("m", gravity=(0, -9.81 * length))


def chain(rng, length, mass):
    model = new_model(rng, length)
    places = np.cumsum(
        np.vstack([[0, 0], rng.uniform([-0.7, -0.9], [1.3, 1.1], (rng.integers(1, 4), 2))]), axis=0
    )
    rods = bars(model, rng, places, length, mass, [(i, i + 1) for i in range(len(places) - 1)])
    before = model.ground
    for i, rod in enumerate(rods):
        at = tuple(length * places[i])
        model.add(se.Revolute(f"O{i}", before, rod, at=at))
        if rng.random() < 0.3:
            model.add(se.Revolute(f"again{i}", before, rod, at=at))
        before = rod
    return model


def sprung_chain(rng, length, mass):
    model = chain(rng, length, mass)
    end = model.bodies[next(reversed(model.bodies))]
    stiffness = mass * rng.uniform(1, 50)
    free, anchor = length * rng.uniform(0.3, 1.5), tuple(length * rng.uniform(-3, -1, 2))
    distance = se.distance(model.ground.at(*anchor), end)
    model.add(se.Spring("spring", distance, stiffness=stiffness, damping=0.1 * stiffness, free=free))
    return model


def four_bar(rng, length, mass):
    model = new_model(rng, length)
    places = np.array([[0, 0], [0.5, 0.9], [1.9, 1.2], [2, 0]]) + rng.uniform(-0.2, 0.2, (4, 2))
    a, b, c = bars(model, rng, places, length, mass, [(0, 1), (1, 2), (2, 3)])
    for name, x, y, place in (
        ("O", model.ground, a, 0),
        ("A", a, b, 1),
        ("B", b, c, 2),
        ("C", c, model.ground, 3),
    ):
        model.add(se.Revolute(name, x, y, at=tuple(length * places[place])))
    return model


def driven_four_bar(rng, length, mass):
    model = four_bar(rng, length, mass)
    angle, speed = model.bodies["b0"].angle, rng.uniform(-1, 1)
    model.add(se.Driver("motor", "angle(ground, b0)", f"{angle!r} + {speed!r}*t"))
    return model


def three_cranks(rng, length, mass):
    model = new_model(rng, length)
    turn = rng.uniform(1.2, 1.9)  # it comes to no change point
    arm = np.array([np.cos(turn), np.sin(turn)])
    feet = np.array([[0.0, 0.0], [1.0, 0.0], [rng.uniform(1.5, 2.5), 0.0]])
    places = np.vstack([feet, feet + arm])
    cranks = bars(model, rng, places, length, mass, [(0, 3), (1, 4), (2, 5)])
    deck = model.bar("deck", tuple(length * places[3]), tuple(length * places[5]), mass=2 * mass)
    for i, crank in enumerate(cranks):
        model.add(se.Revolute(f"O{i}", model.ground, crank, at=tuple(length * places[i])))
        model.add(se.Revolute(f"A{i}", crank, deck, at=tuple(length * places[3 + i])))
    return model


def slider_crank(rng, length, mass):
    model = new_model(rng, length)
    places = np.array([[0, 0], [0.4, 0.8], [2.2, 0]]) + np.array([[0, 0], rng.uniform(-0.2, 0.2, 2), [0, 0]])
    crank, rod = bars(model, rng, places, length, mass, [(0, 1), (1, 2)])
    slider = model.body("slider", mass=mass, inertia=0.1 * mass * length**2, at=tuple(length * places[2]))
    model.add(se.Revolute("O", model.ground, crank, at=(0.0, 0.0)))
    model.add(se.Revolute("A", crank, rod, at=tuple(length * places[1])))
    model.add(se.Revolute("B", rod, slider, at=tuple(length * places[2])))
    if rng.random() < 0.5:
        model.add(se.Translational("guide", model.ground, slider))
    else:
        model.add(se.AbsoluteY("height", slider, 0.0))
        model.add(se.AbsoluteAngle("level", slider, 0.0))
    return model


def folded(rng, length, mass):
    model = new_model(rng, length)
    elbow = np.array([0.3, 0.0]) + rng.uniform(-0.1, 0.1, 2)
    a, b = bars(
        model, rng, np.array([[0, 0], elbow, elbow + np.array([0, 0.5])]), length, mass, [(0, 1), (1, 2)]
    )
    model.add(se.Revolute("O", model.ground, a["start"]))
    model.add(se.Revolute("A", a["end"], b["start"]))
    model.add(se.PinSlot("slot", a, b.at(-0.25 * length, 0.1 * length)))
    return model


BUILDERS = {
    each.__name__: each
    for each in (chain, sprung_chain, four_bar, driven_four_bar, three_cranks, slider_crank, folded)
}


def motion(model, length, mass, **how):
    """Angles, places, rates, accelerations and forces without units."""
    r = se.dynamics(model, t_eval=TIMES, **how)
    if how.get("formulation") == "penalty" and not r.verdict.is_good:
        return {}  # strong springs on light bodies open joints that give way, and the verdict says so
    if any("singular pose" in note for note in r.notes):
        raise se.SingularityError("this is for regular motions.")
    angle = np.tile([length, length, 1.0], len(model.bodies))
    joints = [name for name, e in model.elements.items() if isinstance(e, se.Revolute)]
    found = {
        "angles": r.q[:, 2::3],
        "places": (r.q / angle)[:, np.arange(r.q.shape[1]) % 3 != 2],
        "rates": r.qd / angle,
        "accelerations": r.qdd / angle,
    }
    if joints and not any("not unique" in note for note in r.notes):
        forces = [r.reaction(name) for name in joints]
        found["forces"] = np.array([[f.fx, f.fy] for f in forces]) / (length * mass)
    return found


def difference(found, want):
    """The first quantity that differs, with its error against its size; None where all agree."""
    for name, allowed in ALLOWED.items():
        if name in found and name in want:
            size = max(1.0, np.abs(want[name]).max()) if name != "forces" else np.abs(want[name]).max()
            off = np.abs(found[name] - want[name]).max() / size
            if not off <= allowed:
                yield name, off, allowed


def attack(rng, count):
    """Yield a sentence for each of `count` random combinations whose answer is wrong."""
    done = 0
    while done < count:
        draft = Draft(rng)
        try:
            want = motion(draft.model(), 1.0, 1.0, rtol=1e-10)
        except se.SimEngineError:
            continue  # a singular pose on the way
        for _ in range(COMBINATIONS):
            length, mass = 10 ** rng.uniform(-6, 6), 10 ** rng.uniform(-9, 9)
            family, formulation = rng.choice(FAMILIES), rng.choice(FORMULATIONS)
            done += 1
            where = f"{draft.kind} {draft.seed} {family}/{formulation}, lengths x {length:.3g}, masses x {mass:.3g}"
            how = {"coordinates": str(family), "formulation": str(formulation), "rtol": RTOL}
            try:
                found = motion(draft.model(length, mass), length, mass, **how)
            except se.SimEngineError as error:
                yield f"{where}: {type(error).__name__}: {str(error)[:150]}"
                continue
            for name, off, allowed in difference(found, want):
                if off > allowed * (OF_PENALTY if formulation == "penalty" else 1.0):
                    yield f"{where}: {name} are off by {off:.1e}"
                    break


@pytest.mark.slow
def test_all_units_are_alike():
    assert list(attack(np.random.default_rng(5), 60)) == []
