"""Equilibria, their stability, paths along a parameter, preload: closed forms and classical examples."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

import simengine2d as se
from marking import slow_among
from mechanisms import three_cranks
from simengine2d import builders
from simengine2d.analyses.statics import equilibrium_newton
from simengine2d.analyses.statics.arc_length import follow
from simengine2d.analyses.statics.equilibrium_newton import newton
from simengine2d.analyses.statics.statics import Balance
from simengine2d.analyses.statics.tangent_space import tangent_space

METHODS = ["newton", "relaxation", "energy"]


def four_bar():
    """Hanging in a spring; one free motion."""
    model = builders.four_bar(1, 2, 3, 3)
    model.add(se.Spring("spring", "distance(crank.end, rocker.start)", stiffness=50, free=1))
    return model


def lever(angle=0.4, **options):
    """A bar of 2 kg and 1 m on a pin, with whatever holds it."""
    model = se.Model("lever", **options)
    bar = model.bar("bar", (0, 0), (cos(angle), sin(angle)), mass=2)
    model.add(se.Revolute("O", model.ground, bar["start"]))
    return model


# Methods ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_closed_loop(method):
    """The force along the free motion vanishes: the derivative of the energy by the crank angle, by differences."""
    model = four_bar()
    found = se.equilibrium(model, method=method)
    assert found.stable.all() and len(found) == 1

    def energy(angle):
        pose = se.kinematics(builders.four_bar(1, 2, 3, 3, driver=f"{angle!r}"), t_eval=[0.0])
        s = pose["distance(crank.end, rocker.start)"][0]
        return (
            9.81 * (1 * pose["crank.y"][0] + 2 * pose["coupler.y"][0] + 3 * pose["rocker.y"][0])
            + 25 * (s - 1) ** 2
        )

    here = float(found["crank.phi"][0])
    slope = (energy(here + 1e-4) - energy(here - 1e-4)) / 2e-4
    curvature = (energy(here + 1e-3) - 2 * energy(here) + energy(here - 1e-3)) / 1e-6
    assert abs(slope) < 1e-6 * curvature
    assert curvature > 0


@pytest.mark.parametrize("method", METHODS)
def test_two_freedoms(method):
    """A double pendulum hangs down, wherever it is let go; Newton's method from nearby."""
    found = se.equilibrium(builders.chain(2), method=method, start={"link1.phi": -1.3, "link2.phi": -1.9})
    np.testing.assert_allclose([found["link1.phi"], found["link2.phi"]], -pi / 2, atol=1e-12)
    assert found.stability[0].by_stiffness and found.stability[0].value > 0
    np.testing.assert_allclose(found["pin1.fy"], 2 * 9.81)


@pytest.mark.parametrize("method", slow_among(METHODS, "relaxation"))
def test_redundant_joints(method):
    found = se.equilibrium(three_cranks(), method=method, start={"crank.phi": -1.2})
    np.testing.assert_allclose(found["crank.phi"], -pi / 2, atol=1e-12)
    assert set(found.results.non_unique) == {"A", "B", "C", "D", "E", "F"}
    carried = sum(found.reaction(name, on="ground").fy for name in "ADE")
    np.testing.assert_allclose(carried, -4 * 9.81)  # cranks of 1 kg, a coupler of 2 kg


@pytest.mark.parametrize("method", METHODS)
def test_a_mechanism_that_cannot_move_carries_its_loads(method):
    """Two bars as a truss: the forces in the pins are those of statics."""
    model = se.Model("truss")
    left = model.bar("left", (0, 0), (1, 1))
    right = model.bar("right", (2, 0), (1, 1))
    model.add(se.Revolute("A", model.ground, left["start"]))
    model.add(se.Revolute("B", model.ground, right["start"]))
    model.add(se.Revolute("C", left["end"], right["end"]))
    model.add(se.PointForce("load", left["end"], fy=-100))
    found = se.equilibrium(model, method=method)
    np.testing.assert_allclose(found["A.fx"], 50)
    np.testing.assert_allclose(found["A.fy"], 50)
    assert found.stable.all()


def test_energy_leaves_a_summit():
    """A pendulum balanced on its head is an equilibrium, but no minimum."""
    upright = builders.chain(1, angle="90*deg")
    assert se.equilibrium(upright)["link1.phi"] == pytest.approx(pi / 2)
    fallen = se.equilibrium(upright, method="energy")
    assert np.abs(fallen["link1.phi"][0] - pi / 2) == pytest.approx(pi)


def test_energy_refuses_forces_without_a_potential():
    model = lever()
    model.add(se.PointForce("jet", "bar.end", fx=-1, axes="body"))
    model.add(se.PointForce("wind", "bar.end", fx=1))
    model.add(se.Torque("motor", "bar", "2 - phi"))
    with pytest.raises(se.UnsupportedError, match="but PointForce 'jet' has none"):
        se.equilibrium(model, method="energy")
    model.add(se.PointForce("whirl", "bar", fx="-y", fy="x"))
    with pytest.raises(se.UnsupportedError, match="PointForce 'jet', PointForce 'whirl' have none"):
        se.equilibrium(model, method="energy")
    for name in ("jet", "whirl"):
        del model.elements[name]
    by_energy = se.equilibrium(model, method="energy")
    by_newton = se.equilibrium(model, start={"bar.phi": -1})
    np.testing.assert_allclose(by_energy.q, by_newton.q, atol=1e-12)
    # m g L/2 cos(phi) = 2 - phi - L sin(phi)
    phi = by_newton["bar.phi"][0]
    assert 9.81 * cos(phi) == pytest.approx(2 - phi - sin(phi), abs=1e-12)


def test_tables_expressions_and_python_laws_have_energy():
    laws = [
        "10*s^3 + s",
        se.Table(of="s", points=(-4, -2, 0, 2, 4), values=(-60, -20, 0, 20, 60)),
        lambda s, sd, t: 10 * np.tanh(s),
    ]
    for law in laws:
        model = lever()
        model.add(se.Spring("spring", "angle(ground, bar)", law=law))
        found = [se.equilibrium(model, method=method)["bar.phi"][0] for method in METHODS]
        assert max(found) - min(found) < 1e-9, law


def test_what_moves_in_time_is_held_or_refused():
    model = lever()
    model.add(se.Spring("spring", "angle(ground, bar)", stiffness=50, actuator="5*t"))
    found = se.equilibrium(model, t=2)
    phi = found["bar.phi"][0]
    assert 9.81 * cos(phi) + 50 * phi + 10 == pytest.approx(0, abs=1e-11)
    assert any("spring changes with time and was held as it is at t = 2 s" in n for n in found.results.notes)
    with pytest.raises(se.UnsupportedError, match="the model depends on time: spring"):
        se.equilibrium(model, method="relaxation")


def test_a_driven_mechanism_is_held_by_its_driver():
    model = builders.slider_crank(1, 2, driver="60*deg + t")
    model.add(se.Spring("load", "x(ground, slider)", stiffness=10))
    found = se.equilibrium(model)
    inverse = se.inverse_dynamics(builders.slider_crank(1, 2, driver="60*deg"), t_eval=[0.0])
    load = 10 * found["slider.x"][0]
    # the load does the virtual work -load dx on top of the weights
    v = se.kinematics(builders.slider_crank(1, 2, speed=1), t_eval=[0.0])["slider.xd"][0]
    assert found["motor.torque"][0] == pytest.approx(inverse["motor.torque"][0] + load * v)


@pytest.mark.parametrize("method", slow_among(METHODS, "relaxation"))
def test_a_body_that_nothing_holds(method):
    model = se.Model("falling")
    model.body("stone", mass=1, inertia=1)
    with pytest.raises(se.ConvergenceError, match=r"stone moves along \(0, -1\)"):
        se.equilibrium(model, method=method)


# All of them ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_all_poses_of_a_double_pendulum():
    """Each rod hangs or stands: four poses, whole turns not counted."""
    found = se.equilibrium(builders.chain(2, angle=-1.0), all=True)
    angles = zip(found["link1.phi"], found["link2.phi"], strict=True)
    poses = sorted((round(sin(a)), round(sin(b))) for a, b in angles)
    assert poses == [(-1, -1), (-1, 1), (1, -1), (1, 1)]
    assert found.stable.sum() == 1
    assert np.all(np.abs(found.q[:, 2::3] + 1.0) <= pi)  # the turn nearest to the start


def test_all_poses_of_a_closed_loop():
    found = se.equilibrium(four_bar(), all=True)
    assert [stability.verdict for stability in found.stability] == ["stable", "unstable"]


def test_turns_count_where_a_spring_counts_them():
    """A weak torsion spring: it hangs and stands several times within a turn to either side."""
    model = lever(-1.0)
    model.add(se.Spring("spring", "angle(ground, bar)", stiffness=1))
    torque = lambda phi: 9.81 * cos(phi) + phi
    grid = np.linspace(-1 - 2 * pi, -1 + 2 * pi, 4001)
    brackets = [(a, b) for a, b in pairwise(grid) if torque(a) * torque(b) < 0]
    roots = [brentq(torque, a, b, xtol=1e-14) for a, b in brackets]
    found = se.equilibrium(model, all=True)
    np.testing.assert_allclose(found["bar.phi"], roots, atol=1e-12)
    inside = se.equilibrium(model, all=True, region={"bar.phi": (-2, 2)})
    np.testing.assert_allclose(inside["bar.phi"], [r for r in roots if -2 <= r <= 2], atol=1e-12)


# Stability --------------------------------------------------------------------------------------------


def test_ziegler_column():
    """A follower force makes a column of two rods flutter at P L / k = 7/2 - sqrt(2).

    H. Ziegler, Ingenieur-Archiv 20 (1952) 49-56: masses 2 m at the elbow and m at the tip, springs k in both joints.
    """
    critical = 3.5 - sqrt(2)
    for load, verdict in ((0.98 * critical, "neutral"), (1.02 * critical, "unstable")):
        model = se.Model("Ziegler", gravity=(0, 0))
        lower = model.body("lower", mass=2, at=(0, 1), angle="90*deg", points={"O": (-1, 0)})
        upper = model.body("upper", mass=1, at=(0, 2), angle="90*deg", points={"A": (-1, 0)})
        model.add(se.Revolute("O", model.ground, lower["O"]))
        model.add(se.Revolute("A", lower, upper["A"]))
        model.add(se.Spring("foot", "angle(ground, lower)", stiffness=1, free="90*deg"))
        model.add(se.Spring("elbow", "angle(lower, upper)", stiffness=1))
        model.add(se.PointForce("thrust", "upper", fx=-load, axes="body"))
        found = se.equilibrium(model).stability[0]
        assert (found.verdict, found.by_stiffness) == (verdict, False)


def test_negative_damping_is_unstable_though_the_stiffness_is_positive():
    model = lever(-pi / 2)
    model.add(se.Spring("pump", "angle(ground, bar)", damping=-0.1))
    found = se.equilibrium(model)
    assert not found.stable.any()
    # J s^2 - 0.1 s + k = 0
    assert found.stability[0].value == pytest.approx(0.1 / (2 * 2 / 3))


def test_a_cart_stays_where_it_is():
    model = se.Model("cart")
    cart = model.body("cart", mass=1, inertia=1, at=(0.3, 0))
    model.add(se.Translational("rail", model.ground, cart))
    found = se.equilibrium(model)
    assert found.stability[0].verdict == "neutral"
    assert not found.stable.any()
    assert found["cart.x"] == pytest.approx(0.3)
    assert any("one of many" in note for note in found.results.notes)
    for method in ("energy", "relaxation"):
        assert se.equilibrium(model, method=method)["cart.x"] == pytest.approx(0.3)
    assert len(se.equilibrium(model, all=True)) == 1  # one for the whole rail


def test_a_singular_pose_is_no_equilibrium():
    """Next to a change point forces along the free motions say little; no equilibrium is claimed there."""
    system = se.System(builders.four_bar(1, 2, 1, 2, crank_angle=1e-5))
    here = Balance(system, 0.0, tangent_space(system, 0.0, se.assemble(system).q))
    assert here.space.nearly_singular
    assert newton(here) is None


# Along a parameter ------------------------------------------------------------------------------------


def test_a_fold_of_the_pendulum_with_a_spring():
    """m g L cos(phi) + k phi = 0 and its derivative vanish together where cos(phi) + phi sin(phi) = 0."""
    model = se.Model("pendulum", parameters={"k": 25})
    bar = model.body("bar", mass=10, inertia=1, at=(1, 0), points={"O": (-1, 0)})
    model.add(se.Revolute("O", model.ground.at(0, 0), bar["O"]))
    model.add(se.Spring("spring", "angle(ground, bar)", stiffness="k"))
    path = se.equilibrium_path(model, "k", 60, start={"bar.phi": 3.57})
    phi = brentq(lambda x: cos(x) + x * sin(x), 2, 3.1, xtol=1e-15)
    [(value, fold)] = path.folds
    assert value == pytest.approx(98.1 * sin(phi), rel=1e-12)
    assert fold["bar.phi"][0] == pytest.approx(phi, rel=1e-7)
    assert path.stable[0] and not path.stable[-1]  # the stable and the unstable one meet there
    np.testing.assert_allclose(98.1 * np.cos(path["bar.phi"]) + path["k"] * path["bar.phi"], 0, atol=1e-9)
    assert path["k"][-1] == 25.0
    assert path["bar.phi"][-1] == pytest.approx(2.1509498681045187)
    assert f"fold at k = {value:.9g}" in str(path)


@pytest.mark.slow
def test_snap_through_of_a_shallow_truss():
    """The load of a von Mises truss with springs of free length l over a half span b has its limit at

    P = k l (1 - (b/l)^(2/3))^(3/2),  with y = sqrt(b^(4/3) l^(2/3) - b^2).
    """
    b, free, k = 1.0, 1.2, 100.0
    height = sqrt(free**2 - b**2)
    model = se.Model("truss", gravity=(0, 0), parameters={"P": 0})
    top = model.body("top", mass=1, inertia=1, at=(0, height))
    model.add(se.Translational("guide", model.ground, top, direction=(0, 1)))
    model.add(se.Spring("bar", se.distance(model.ground.at(b, 0), top), stiffness=k, free=free))
    model.add(se.PointForce("load", top, fy="-P"))
    limit = k * free * (1 - (b / free) ** (2 / 3)) ** 1.5
    path = se.equilibrium_path(model, "P", 4 * limit, within=(-2 * limit, 5 * limit))
    assert [value for value, _ in path.folds] == pytest.approx([limit, -limit], rel=1e-12)
    y = sqrt(b ** (4 / 3) * free ** (2 / 3) - b**2)
    assert [fold["top.y"][0] for _, fold in path.folds] == pytest.approx([y, -y], rel=1e-6)
    assert path["P"][-1] == 4 * limit  # turned inside out
    between = np.abs(path["top.y"]) < y - 1e-3
    assert path.stable[0] and path.stable[-1] and between.any() and not path.stable[between].any()
    there_and_back = se.equilibrium_path(model, "P", 4 * limit)
    assert len(there_and_back.folds) == 1 and there_and_back["P"][-1] == 0.0


def test_a_length_as_parameter():
    """A hanging weight on a spring whose anchor moves: y = height - free - m g / k."""
    model = se.Model("weight", parameters={"height": 3})
    weight = model.body("weight", mass=2, inertia=1, at=(0, 0))
    model.add(se.Translational("guide", model.ground, weight, direction=(0, 1)))
    model.add(se.Spring("spring", se.distance(model.ground.at(0, "height"), weight), stiffness=100, free=1))
    path = se.equilibrium_path(model, "height", 5)
    np.testing.assert_allclose(path["weight.y"], path["height"] - 1 - 2 * 9.81 / 100, atol=1e-10)
    assert (path["height"][0], path["height"][-1], path.folds) == (3.0, 5.0, [])
    assert path.stable.all()


def test_a_link_length_as_parameter_moves_the_constraints():
    """A four-bar with a longer and longer coupler stays balanced at every point of the path."""
    model = four_bar()
    path = se.equilibrium_path(model, "coupler", 2.3)
    assert path["coupler"][-1] == pytest.approx(2.3)
    for point, value in zip(path.points, path["coupler"], strict=True):
        again = se.equilibrium(model.with_parameters(coupler=float(value)), start=point.q[0])
        np.testing.assert_allclose(point.q, again.q, atol=1e-8)


def test_a_branch_is_told():
    """An upright rod on a spring buckles where the weight beats the spring: k = m g L / 2."""
    model = se.Model("column", parameters={"k": 20})
    rod = model.bar("rod", (0, 0), (0, 1), mass=2)
    model.add(se.Revolute("O", model.ground, rod["start"]))
    model.add(se.Spring("spring", "angle(ground, rod)", stiffness="k", free="90*deg"))
    path = se.equilibrium_path(model, "k", 5)
    np.testing.assert_allclose(path["rod.phi"], pi / 2)
    [note] = path.notes
    low, high = path["k"][~path.stable].max(), path["k"][path.stable].min()
    assert low < 9.81 < high
    assert f"between k = {high:.6g} and {low:.6g} the stability changes without a fold" in note


# Preload ----------------------------------------------------------------------------------------------


def test_a_desk_lamp():
    """The spring that holds an arm at 40 degrees; then it is an equilibrium."""
    model = lever(0.7)
    model.add(se.Spring("spring", se.distance(model.ground.at(0, 1), "bar.end"), stiffness=200, free=0.4))
    found = se.preload(model, "spring")
    s = np.hypot(cos(0.7), sin(0.7) - 1)
    arm = cos(0.7) / s  # of the spring about O: the ground point stands 1 m above it
    assert found["spring"].force == pytest.approx(9.81 * cos(0.7) / arm)
    assert found["spring"].free == pytest.approx(s - found["spring"].force / 200)
    again = se.equilibrium(found.model)
    np.testing.assert_allclose(again.q[0], found.q, atol=1e-12)
    assert again["spring.force"][0] == pytest.approx(found["spring"].force)
    assert "spring pulls with" in str(found) and "free length" in str(found)


def test_two_springs_share_and_actuators_are_set():
    model = lever(0.0)
    for name in ("left", "right"):
        model.add(se.Spring(name, "angle(ground, bar)", actuator=1))
    found = se.preload(model, ["left", "right"])
    assert found["left"] == pytest.approx((-9.81 / 2, None))
    assert se.equilibrium(found.model)["bar.phi"] == pytest.approx(0.0, abs=1e-12)
    assert "by an actuator" in str(found)


@pytest.mark.parametrize(
    ("springs", "words"),
    [("sprong", "Did you mean 'spring'"), ("wind", "is not a Spring"), ("ramp", "changes with time")],
)
def test_springs_that_cannot_be_preloaded(springs, words):
    model = lever()
    model.add(se.Spring("spring", "angle(ground, bar)", stiffness=1))
    model.add(se.PointForce("wind", "bar", fx=1))
    model.add(se.Spring("ramp", "angle(ground, bar)", actuator="t"))
    with pytest.raises(se.ModelError, match=words):
        se.preload(model, springs)


def test_too_few_springs():
    model = builders.chain(2)
    model.add(se.Spring("spring", "angle(ground, link1)", stiffness=1))
    with pytest.raises(
        se.UnsupportedError, match=r"remain unbalanced in the motion '.*link2.*'. There are 2 free motions"
    ):
        se.preload(model, "spring")


# What is given and what comes out ---------------------------------------------------------------------


def test_starts_of_every_kind():
    model = four_bar()
    found = se.equilibrium(model)
    for start in (
        found.q[0],
        found.results,
        se.assemble(model),
        {"crank.phi": -0.4},
        se.dynamics(model, t_end=0.1),
    ):
        again = se.equilibrium(model, start=start)
        np.testing.assert_allclose(again.q, found.q, atol=1e-10)


def test_one_by_one():
    found = se.equilibrium(builders.chain(1), all=True)
    assert len(found) == 2
    phis = [float(one["link1.phi"][0]) for one in found]
    np.testing.assert_array_equal(phis, found["link1.phi"])
    assert [one.stable.tolist() for one in found] == [[True], [False]]
    assert found[1].stable.tolist() == [False] and found[1]["link1.phi"] == found["link1.phi"][1]
    text = str(found)
    assert "2 equilibria" in text and "unstable (lowest stiffness" in text
    assert "energy" not in found.results.summary()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "guess"}, "must be one of newton, relaxation, energy"),
        ({"region": {"link1.phi": (0, 1)}}, "give all=True too"),
        ({"all": True, "region": {"link1.phi": (1, 0)}}, r"write \(low, high\)"),
        ({"all": True, "region": {"link1.phi": (5, 6)}}, "outside the region"),
        ({"all": True, "method": "energy"}, "leave out method='energy'"),
        ({"start": [1, 2]}, "give 3 coordinates"),
        ({"start": {"link1.fi": 1}}, "neither a driver nor a position"),
        ({"start": {"lonk1.phi": 1}}, "Did you mean 'link1'"),
    ],
)
def test_what_is_wrong_is_told(options, words):
    with pytest.raises(se.ModelError, match=words):
        se.equilibrium(builders.chain(1), **options)


def test_other_mistakes():
    with pytest.raises(se.ModelError, match="needs a Model"):
        se.equilibrium("four_bar")
    with pytest.raises(se.UnsupportedError, match="has no bodies"):
        se.equilibrium(se.Model())
    truss = four_bar()
    truss.add(se.Link("far", truss.ground.at(0, 99), "crank.end", length=1))
    with pytest.raises(se.AssemblyError, match="remain open"):
        se.equilibrium(truss, start=np.zeros(9))
    with pytest.raises(se.ModelError, match="Did you mean 'coupler'"):
        se.equilibrium_path(four_bar(), "couple", 3)
    with pytest.raises(se.ModelError, match="a value other than coupler = 2"):
        se.equilibrium_path(four_bar(), "coupler", 2)
    with pytest.raises(se.ModelError, match="needs a Model"):
        se.equilibrium_path("four_bar", "coupler", 2)


@pytest.mark.parametrize(
    "equation", ["acos(abs((1 and -1) and (1e-300 - bar.phi)))", "sqrt(bar.phi^2) - bar.phi^2"]
)
def test_constraints_without_a_linearization_end_in_a_sentence(equation):
    m = se.Model("odd")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Constraint("c", [equation]))
    for act in (se.modes, se.equilibrium, lambda m: se.equilibrium(m, method="energy"), se.linearize):
        with contextlib.suppress(se.SimEngineError), np.errstate(all="ignore"):
            act(m)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shaft_governor", "roberval_balance"])
def test_a_search_that_went_round_once_is_given_up(name, monkeypatch):
    """Forces repeat after a whole turn: 400 points of the path, several turns, would only repeat them."""
    points = []

    def counting(*given, **options):
        for point in follow(*given, **options):
            points.append(point)
            yield point

    monkeypatch.setattr(equilibrium_newton, "follow", counting)
    with pytest.raises(se.ConvergenceError, match="did not find an equilibrium"):
        se.equilibrium(se.load(name))
    assert 50 < len(points) < 120


def test_a_spring_that_counts_turns_is_followed_further():
    m = se.Model(gravity=(0, 0))
    m.body("b", mass=1, inertia=1)
    m.add(se.Revolute("O", m.ground, "b"))
    m.add(se.Spring("s", "angle(ground, b)", law="atan(s - 20) + 0.001*(s - 20)^3"))
    assert se.equilibrium(m).results["b.phi"][0] == pytest.approx(20.0)


@pytest.mark.slow
def test_the_way_of_relaxation_is_its_damped_motion():
    model = lever(0.4)
    model.add(se.Spring("spring", "angle(ground, bar)", stiffness=25))
    found = se.equilibrium(model, method="relaxation")
    way = found.search
    assert way.t[0] == 0.0 and np.all(np.diff(way.t) > 0.0) and way.t.size > 80
    assert way["bar.phi"][0] == pytest.approx(0.4) and way["bar.phi"][-1] == pytest.approx(
        found["bar.phi"][0], abs=1e-5
    )
    # it moves: rates are those of the positions, and energy only falls
    traveled = np.sum(0.5 * (way["bar.phid"][1:] + way["bar.phid"][:-1]) * np.diff(way.t))
    assert traveled == pytest.approx(found["bar.phi"][0] - 0.4, rel=0.01)
    assert np.all(np.diff(way["energy.total"]) < 1e-6)
