"""Every coordinate family by every formulation, with one integrator each, on the same mechanisms: one motion.

The tests run over the registries, so that a new family, formulation or integrator is tested when its file is there.
Differences are those of `lab.compare`: positions in lengths of the mechanism and radians; velocities, accelerations
and reactions relative to the largest of their kind.
"""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
import simengine2d.coordinates
import simengine2d.formulations
import simengine2d.integrators  # which register all methods
from simengine2d import builders, lab
from simengine2d.coordinates.base import Family
from simengine2d.methods import Formulation, Integrator

QUANTITIES = ("q", "qd", "qdd", "reactions")
T_END = 0.3


def four_bar():
    return builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5)


def slider_crank():
    return builders.slider_crank(1, 2, crank_angle=0.5)


def quick_return():
    return builders.quick_return(0.4, 1.0, 2.0, 1.5, crank_angle=0.4)


def gear_pair():
    """Wheels that mesh; the first is out of balance and sets both in motion."""
    model = se.Model("gear pair")
    for name, x, offset in (("pinion", 0.0, 0.1), ("wheel", 0.5, 0.0)):
        wheel = model.body(name, mass=2, inertia=0.05, at=(x + offset, 0), points={"O": (-offset, 0)})
        model.add(se.Revolute(f"bearing of {name}", model.ground, wheel["O"]))
    model.add(se.Gear("mesh", model.bodies["pinion"]["O"], model.bodies["wheel"]["O"], radii=(0.2, 0.3)))
    return model


def motor():
    """A motor turns the first bar; the second swings."""
    return builders.chain(2, angle=0.3, speed=3)


def tree():
    """A bar with two others at its end; a slider with a spring runs along one of them."""
    model = se.Model("tree")
    trunk = model.bar("trunk", (0, 0), (1, 0.2), mass=1)
    left = model.bar("left", (1, 0.2), (1.5, 1), mass=0.5)
    right = model.bar("right", (1, 0.2), (2, 0), mass=0.5)
    slider = model.body("slider", mass=0.2, inertia=0.01, at=(1.5, 0.1), angle="atan2(-0.2, 1)")
    model.add(se.Revolute("root", model.ground, trunk["start"]))
    model.add(se.Revolute("fork", trunk["end"], left["start"]))
    model.add(se.Revolute("twig", trunk["end"], right["start"]))
    model.add(se.Translational("rail", right, slider))
    model.add(se.Spring("spring", se.distance(right["end"], slider), stiffness=20, damping=0.1, free=0.4))
    return model


def two_loops():
    return builders.four_bar_ladder(2)


MECHANISMS = {
    make.__name__: make for make in (four_bar, slider_crank, quick_return, gear_pair, motor, tree, two_loops)
}
REFUSED = {("gear_pair", "natural")}  # turns must be counted there

# A stiff penalty: constraints give way by lam / (alpha omega^2), which is some 1e-10 of a length here
POSED = {
    name: se.Penalty(alpha=1e10) if name == "penalty" else cls() for name, cls in Formulation.registry.items()
}


def compared(make, coordinates, formulations, **options):
    """The trials of all formulations in one family."""
    model, found = make(), []
    reference = se.dynamics(model, t_eval=np.linspace(0.0, T_END, 6), rtol=1e-12)
    for posed in formulations:
        settings = {"rtol": 1e-10, "step": T_END / 480} | options
        done = lab.compare(
            model,
            [coordinates],
            [posed],
            [None],  # the one that `dynamics` takes: DOP853, or Radau IIA with error control
            reference=reference,
            repeats=0,
            **settings,
        )
        found += done.trials
    return found


def check(trial, tolerance=1e-8):
    assert trial.status == "ran", f"{trial.name}: {trial.reason}"
    differences = {name: getattr(trial, name) for name in QUANTITIES}
    assert max(differences.values()) < tolerance, f"{trial.name}: {differences}"


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", sorted(Family.registry))
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_all_formulations_agree(mechanism, coordinates):
    """With the reference to 1e-8, in positions, velocities, accelerations and joint reactions."""
    trials = compared(MECHANISMS[mechanism], coordinates, POSED.values())
    if (mechanism, coordinates) in REFUSED:
        assert {trial.status for trial in trials} == {"refused"}
        assert all("use coordinates='mixed'" in trial.reason for trial in trials)
        return
    for trial in trials:
        check(trial)


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", sorted(Family.registry))
def test_turns_are_counted(coordinates):
    """A bar that whirls twice around its pin: points and vectors alone would forget the turns."""
    model = builders.chain(1, gravity=(0, 0))
    model.bodies["link1"].velocity, model.bodies["link1"].angular_velocity = (0, 10), 20
    reference = se.dynamics(model, t_eval=np.linspace(0.0, 0.7, 4), rtol=1e-12)
    assert reference["link1.phi"][-1] == pytest.approx(14.0)
    for posed in POSED.values():
        options = {"reference": reference, "rtol": 1e-9, "step": 1e-3, "repeats": 0}
        (trial,) = lab.compare(model, coordinates, [posed], [None], **options).trials
        check(trial, 1e-6)


@pytest.mark.parametrize(
    ("coordinates", "formulation"), [("natural", "projection"), ("relative", "augmented")]
)
def test_some_without_compiled_kernels(coordinates, formulation):
    """The same without the JIT, where all of them would take too long."""
    (trial,) = compared(four_bar, coordinates, [POSED[formulation]], rtol=1e-8)
    check(trial, 1e-6)


# Integrators ------------------------------------------------------------------------------------------

# the pendulum turns at 4 rad/s at most: a step of T_END / 200 is 6e-3 of its motion; the constants of the methods'
# errors are a few units
STEP = T_END / 200
MOTION = 4.0 * STEP


def tolerance_of(method):
    """Adaptive methods keep rtol = 1e-7, which velocities and accelerations miss by a factor; others C h^p."""
    if method.adaptive:
        return 1e-6
    return max(10.0 * MOTION**method.order, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(Integrator.registry))
def test_all_integrators_agree(name):
    """Each on a pendulum, by the first formulation that it solves, in every family."""
    method = Integrator.registry[name]
    formulation = next(posed for posed, fitting in lab.pairs().items() if name in fitting)
    found = lab.compare(
        builders.chain(1, angle=0.3),
        None,
        [formulation],
        [name],
        t_end=T_END,
        points=6,
        step=STEP,
        rtol=1e-7,
        repeats=0,
    )
    assert len(found.trials) == len(Family.registry)
    for trial in found.trials:
        check(trial, tolerance_of(method))


# Drift ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["natural", "reference_point"])
def test_the_unstabilized_pendulum_drifts_and_baumgarte_does_not(coordinates):
    """Errors of Phi'' integrate twice to errors of Phi, which grow; with Baumgarte's terms they decay."""
    found = {}
    for seconds in (5.0, 20.0):
        free, held = lab.compare(
            builders.chain(1, angle=0.3), coordinates, [se.Augmented(0, 0), se.Augmented(10, 10)], ["rk4"],
            t_end=seconds, step=0.02, repeats=0,
        ).trials  # fmt: skip
        found[seconds] = free.position, held.position
    assert found[20.0][0] > 3.0 * found[5.0][0]
    assert found[20.0][1] < 2.0 * found[5.0][1]
    assert found[20.0][0] > 100.0 * found[20.0][1]
