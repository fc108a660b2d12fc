"""What the engine chooses where nothing is named: the same answers as from methods that are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.coordinates.base import family_of
from simengine2d.coordinates.relative.loop_arrays import deepest_nodes, paths_of_rows
from simengine2d.coordinates.relative.loop_paths import fewest_products, products

CHOSEN = [None, "relative", "reference_point"]
TIMES = np.linspace(0.0, 2.0, 21)


def two_bars(**spring):
    model = se.Model()
    a, b = model.bar("a", (0, 0), (1, 0), mass=1), model.bar("b", (1, 0), (2, 0.3), mass=1)
    model.add(se.Revolute("O", model.ground, a["start"]))
    model.add(se.Revolute("A", a["end"], b["start"]))
    if spring:
        model.add(se.Spring("s", se.angle(a, b), free=0.25, **spring))
    return model


def relaxing():
    """A brake of 1e6 N m s that has lost its grip after about half a second."""
    model = se.Model()
    bar = model.bar("bar", (0, 0), (1, 0), mass=1)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    model.add(se.Torque("brake", bar, "-1e6*exp(-30*t)*phid"))
    return model


def parallelogram(cranks=2, speed=3.0):
    """Equal cranks on one coupler: flat poses on the way, and redundant constraints with three cranks."""
    model = se.Model("parallelogram", gravity=(0, 0))
    turn, end = speed, (np.cos(0.7), np.sin(0.7))
    coupler = model.bar(
        "coupler", end, (end[0] + 2, end[1]), mass=1, velocity=(-turn * end[1], turn * end[0])
    )
    for i in range(cranks):
        x = 2.0 * i / (cranks - 1)
        crank = model.bar(f"crank{i}", (x, 0), (x + end[0], end[1]), mass=1, angular_velocity=turn)
        model.add(se.Revolute(f"O{i}", model.ground, crank["start"]))
        model.add(se.Revolute(f"P{i}", crank, coupler, at=(x + end[0], end[1])))
    return model


def same(one, other, share=1e-5):
    for name in ("q", "qd", "qdd", "lam"):
        a, b = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(
            a, b, rtol=0, atol=share * max(1.0, np.abs(b).max(initial=0.0)), err_msg=name
        )


@pytest.mark.parametrize(
    ("build", "options", "coordinates"),
    [
        (lambda: two_bars(), {}, "relative"),
        (lambda: builders.four_bar(1, 2, 3, 3), {}, "relative"),
        (lambda: two_bars(), {"integrator": "tsit5"}, "relative"),
        (lambda: two_bars(), {"integrator": "rk4", "step": 0.01}, "reference_point"),
        (lambda: two_bars(), {"integrator": "newmark", "step": 0.01}, "reference_point"),
        (lambda: two_bars(), {"formulation": "augmented"}, "reference_point"),
        (lambda: two_bars(), {"atol": [1e-8] * 6}, "reference_point"),
        (lambda: two_bars(), {"coordinates": "natural"}, "natural"),
    ],
)
def test_what_is_chosen_is_said(build, options, coordinates):
    r = se.dynamics(build(), t_eval=[0, 0.05], **options)
    assert r.settings["coordinates"] == coordinates
    assert f"in {coordinates} coordinates (" in r.method


def test_a_body_that_no_joint_carries_has_reference_points():
    model = se.Model()
    model.body("b", mass=1, inertia=1)
    assert "since no joint lets a body move, or carries one" in se.dynamics(model, t_eval=[0, 0.1]).method


@pytest.mark.parametrize("coordinates", CHOSEN)
def test_a_body_that_is_welded_stays_where_it_is(coordinates):
    model = se.Model()
    model.add(se.Fixed("weld", model.ground, model.body("b", mass=1, inertia=1)))
    r = se.dynamics(model, t_eval=[0, 0.1], coordinates=coordinates)
    assert np.all(r.q == 0.0) and r.reaction("weld").fy[-1] == pytest.approx(9.80665, rel=1e-3)


def test_unequal_masses_in_a_loop_have_reference_points():
    model = builders.four_bar(1, 2, 3, 3)
    model.bodies["coupler"].mass = model.bodies["coupler"].inertia = 0.0
    r = se.dynamics(model, t_eval=[0, 0.1])
    assert "very unequal" in r.method and r.settings["coordinates"] == "reference_point"


def test_redundant_formulas_have_reference_points():
    """The distance of two circles is held by an arm and by the circles: in a tree, nothing is left to be held."""
    model = se.Model(gravity=(0, 0))
    model.body("arm", mass=1, inertia=0.1, at=(0.25, 0))
    model.body("planet", mass=2, inertia=0.02, at=(0.5, 0))
    model.add(se.Revolute("O", "ground", "arm", at=(0, 0)))
    model.add(se.Revolute("A", "arm", "planet", at=(0.5, 0)))
    model.add(se.Torque("T", "arm", "20"))
    wheels = [se.Curve(x=f"{radius}*cos(s)", y=f"{radius}*sin(s)") for radius in (0.3, 0.2)]
    model.add(se.RollingCurves("mesh", "ground", "planet", *wheels, holds="both"))
    r = se.dynamics(model, t_eval=[0, 0.1])
    assert "redundant" in r.method and r["planet.phi"][-1] > 0.1


def ladder(rungs, hung=True):
    """Two rails with rungs, each on pins of the rung above; or every rung on pins of the ground."""
    model = se.Model()
    ends = [model.ground.at(0, 0), model.ground.at(1, 0)]
    for i in range(rungs):
        x = 0 if hung else 2 * i
        y = -i if hung else 0
        rung = model.bar(f"rung{i}", (x, y - 1), (x + 1, y - 1), mass=1)
        for k, end in enumerate(("start", "end")):
            rail = model.bar(f"{end}{i}", (x + k, y), (x + k, y - 1), mass=1)
            held = ends[k] if hung else model.ground.at(x + k, y)
            model.add(se.Revolute(f"A{end}{i}", held, rail["start"]))
            model.add(se.Revolute(f"B{end}{i}", rail, rung, at=(x + k, y - 1)))
        ends = [rung["start"], rung["end"]]
    return model


@pytest.mark.parametrize(("rungs", "coordinates"), [(4, "relative"), (20, "reference_point")])
def test_loops_that_share_long_paths_have_reference_points(rungs, coordinates):
    """What they cost in a tree grows with the third power of the rungs, and with the first where rows are kept."""
    r = se.dynamics(ladder(rungs), t_eval=[0, 1e-3])
    assert r.settings["coordinates"] == coordinates
    assert ("loops share long paths" in r.method) == (coordinates == "reference_point")
    assert se.dynamics(ladder(rungs, hung=False), t_eval=[0, 1e-3]).settings["coordinates"] == "relative"


@pytest.mark.parametrize("rungs", [1, 3, 8])
@pytest.mark.parametrize("hung", [False, True])
def test_products_are_counted_without_following_paths_and_never_too_many(rungs, hung):
    system = se.System(ladder(rungs, hung))
    family = family_of("relative", system, system.drawn_q)
    fewest = fewest_products(family.tree, deepest_nodes(family.tree, family.closing))
    counted = products(family.tree, paths_of_rows(family.tree, family.closing)[1])
    assert 0 < family.m <= fewest <= counted
    assert family.has_few_products(counted) and not family.has_few_products(counted - 1)


@pytest.mark.slow
def test_a_very_long_chain_is_a_tree_and_keeps_its_digits():
    """Angles are sums of thousands of joint angles, and places sums of as many arms."""
    model = se.Model()
    end = model.ground.at(0, 0)
    for i in range(4_000):
        bar = model.bar(f"b{i}", (i, 0), (i + 1, 0), mass=1)
        model.add(se.Revolute(f"p{i}", end, bar["start"]))
        end = bar["end"]
    system, times = se.System(model), [0, 0.1]
    r = se.dynamics(system, t_eval=times, rtol=1e-10)
    assert r.settings["coordinates"] == "relative"
    want = se.dynamics(system, t_eval=times, rtol=1e-10, coordinates="reference_point")
    # a nanometer, in a chain of 4 km
    np.testing.assert_allclose(r.q[-1], want.q[-1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(r.lam[-1], want.lam[-1], rtol=0, atol=1e-8 * np.abs(want.lam).max())


@pytest.mark.slow
def test_a_very_long_stiff_chain_is_handed_to_implicit_steps():
    model = se.Model()
    before, end = model.ground, model.ground.at(0, 0)
    for i in range(3_200):
        bar = model.bar(f"b{i}", (i, 0), (i + 1, 0), mass=1)
        model.add(se.Revolute(f"p{i}", end, bar["start"]))
        model.add(se.Spring(f"s{i}", se.angle(before, bar), stiffness=1e6, damping=1e4))
        before, end = bar, bar["end"]
    runs = [se.dynamics(model, t_eval=[0, 0.01], coordinates=name) for name in CHOSEN]
    for r in runs:
        assert r.statistics["implicit steps"] > 0
        same(r, runs[-1])


@pytest.mark.slow
@pytest.mark.parametrize("cranks", [2, 3])
def test_flat_poses_and_redundant_cranks(cranks):
    """The cranks of a parallelogram without weight turn uniformly: phi = phi0 + 3 t, from pose to pose."""
    system = se.System(parallelogram(cranks))
    runs = [se.dynamics(system, t_eval=TIMES, coordinates=name, rtol=1e-8) for name in CHOSEN]
    for r in runs:
        np.testing.assert_allclose(r["crank0.phi"], r["crank0.phi"][0] + 3.0 * TIMES, atol=1e-6)
        np.testing.assert_allclose(r[f"crank{cranks - 1}.phi"], r["crank0.phi"], atol=1e-6)
        assert any("singular pose was passed" in note for note in r.notes)
    simulator = se.Simulator(system, rtol=1e-8)
    simulator.advance_to(2.0)
    np.testing.assert_allclose(simulator.q, runs[0].q[-1], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "build", [lambda: two_bars(stiffness=1e6, damping=1e5), relaxing], ids=["stiff", "relaxing"]
)
def test_stiff_motions_are_taken_over_and_given_back(build):
    system = se.System(build())
    radau = {"integrator": "radau_adaptive", "formulation": "augmented"}
    want = se.dynamics(system, t_eval=TIMES, rtol=1e-10, **radau)
    for name in [*CHOSEN, "mixed"]:
        r = se.dynamics(system, t_eval=TIMES, coordinates=name)
        same(r, want)
        assert r.statistics["implicit steps"] < 300 and "Radau IIA of order 9" in r.method
        returns = [note for note in r.notes if "no longer stiff" in note]
        assert len(returns) == (build is relaxing)
    simulator = se.Simulator(system)
    for k, t in enumerate(TIMES):
        simulator.advance_to(t)
        np.testing.assert_allclose(simulator.q, want.q[k], atol=1e-6)
        np.testing.assert_allclose(simulator.lam, want.lam[k], atol=1e-5 * np.abs(want.lam).max())
    assert simulator.statistics["implicit steps"] > 0


@pytest.mark.slow
def test_a_simulator_of_a_stiff_motion_hears_of_forces_that_change():
    torque = [0.0]
    model = two_bars(stiffness=1e6, damping=1e5)
    model.add(se.Torque("motor", "a", lambda *state: torque[0]))
    simulator = se.Simulator(model)
    simulator.advance_to(0.5)
    torque[0] = 40.0
    simulator.renew()
    simulator.advance_to(0.6)
    with_torque = simulator.q.copy()
    jump = two_bars(stiffness=1e6, damping=1e5)
    jump.add(se.Torque("motor", "a", "20 + 20*sign(t - 0.5)"))
    want = se.dynamics(jump, t_eval=[0, 0.5, 0.6])
    np.testing.assert_allclose(with_torque, want.q[-1], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("build", [two_bars, relaxing, parallelogram])
def test_events_happen_at_the_same_times(build):
    system = se.System(build())
    body = system.bodies[-1].name
    runs = [
        se.dynamics(
            system,
            t_end=2,
            rtol=1e-8,
            coordinates=name,
            events=se.Event(f"sin(2*{body}.phi + {body}.phid)", stop=False),
        )
        for name in CHOSEN
    ]
    times = [[event.t for event in r.events] for r in runs]
    assert len(times[0]) > 0
    for other in times[1:]:
        np.testing.assert_allclose(other, times[0], atol=1e-6)


SCRIPT = """
import sys, time, numpy as np, simengine2d as se
sys.path.insert(0, {folder!r})
from test_choice import {name}
def keep(results):
    results.save({path!r})
    print("kept", flush=True)
    time.sleep(1.0)
se.dynamics({name}(), t_end=200.0, step=0.1, keep=keep, coordinates={coordinates!r})
"""


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", CHOSEN)
@pytest.mark.parametrize("name", ["two_bars", "relaxing"])
def test_a_killed_run_goes_on_bit_for_bit(name, coordinates, tmp_path):
    path = tmp_path / "run.npz"
    script = SCRIPT.format(
        folder=os.path.dirname(__file__), name=name, path=str(path), coordinates=coordinates
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("kept")
        process.send_signal(signal.SIGKILL)
        process.wait()
    whole = se.dynamics(globals()[name](), t_end=200.0, step=0.1, coordinates=coordinates)
    again = se.Results.load(path).resume(t_end=200.0)
    for array in ("t", "q", "qd", "qdd", "lam"):
        assert np.array_equal(getattr(again, array), getattr(whole, array)), array
    assert again.method == whole.method
