"""Natural and mixed coordinates: which points and vectors are chosen, their equations, and what they refuse."""

from __future__ import annotations

from math import cos, pi, sin, tau

import numpy as np
import pytest

import simengine2d as se
from families import body_accelerations, check_against_bodies, moving, shipped_model, solved
from marking import slow_among
from simengine2d import builders
from simengine2d.coordinates.base import Family
from simengine2d.model import library
from simengine2d.system.system import System

FAMILIES = ["natural", "mixed"]
NEED_TURNS = [
    "belt_drive", "cart_pole", "engine", "geared_five_bar", "geneva_drive", "planetary_gear", "rack_pinion",
]  # fmt: skip
COUNT_NO_TURNS = [
    "andrews_squeezer", "chain", "coupled_pendulums", "double_pendulum", "double_wishbone", "excavator",
    "five_bar_robot", "front_loader", "gantry_crane", "kapitza_pendulum", "landing_gear", "pantograph",
    "roberval_balance", "scissor_lift", "shaft_governor", "sprung_slider", "trebuchet", "umbrella",
]  # fmt: skip


def family(name, model):
    system = System(model)
    return Family.registry.named(name)(system, system.drawn_q)


def moved(family, seed=3):
    """A state off the constraints."""
    random = np.random.default_rng(seed)
    z = family.positions(family.system.drawn_q) + 0.02 * family.sizes * random.normal(size=family.n)
    return z, family.sizes * random.normal(size=family.n)


# The same motion as in reference-point coordinates ----------------------------------------------------


@pytest.mark.parametrize("model", library.names())
def test_shipped_models_in_mixed_coordinates(model):
    check_against_bodies("mixed", *moving(shipped_model(model)))


@pytest.mark.parametrize("model", sorted(set(library.names()) - set(NEED_TURNS)))
def test_shipped_models_in_natural_coordinates(model):
    check_against_bodies("natural", *moving(shipped_model(model)))


BUILT = {
    "four_bar": lambda: builders.four_bar(1, 2, 2.5, 3),
    "slider_crank": lambda: builders.slider_crank(1, 3, 0.2),
    "quick_return": lambda: builders.quick_return(1, 2, 4, 2),
    "whitworth": lambda: builders.quick_return(2, 1, 4, 4, block=True),
    "chain": lambda: builders.chain(5, angle=0.4),
    "four_bar_ladder": lambda: builders.four_bar_ladder(3),
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("built", BUILT)
def test_builders(built, name):
    check_against_bodies(name, *moving(BUILT[built]()))


@pytest.mark.parametrize("name", FAMILIES)
def test_only_what_needs_an_angle_is_refused_or_gets_one(name):
    refused = []
    for model in library.names():
        try:
            f = family(name, shipped_model(model))
        except se.UnsupportedError:
            refused.append(model)
        else:
            has_angle = any(c.endswith(".phi") for c in f.names)
            assert has_angle == (name == "mixed" and model not in COUNT_NO_TURNS)
    assert refused == ([] if name == "mixed" else NEED_TURNS)


# Elements ---------------------------------------------------------------------------------------------


def test_a_slider_is_a_point_and_a_vector():
    f = family("natural", builders.slider_crank(1, 3))
    assert f.names == ["A.x", "A.y", "B.x", "B.y", "slider.ux", "slider.uy"]
    assert f.row_names == ["crank.length", "rod.length", "slider.length", "guide.across", "guide.turn"]
    np.testing.assert_array_equal(f.sizes, [f.system.length] * 4 + [1, 1])


def test_a_free_body_is_its_mass_center_and_a_vector():
    model = se.Model()
    model.body("stone", mass=2, inertia=0.3, at=(1, 2), angle=0.7)
    f = family("natural", model)
    assert f.names == ["stone.x", "stone.y", "stone.ux", "stone.uy"]
    np.testing.assert_allclose(f.positions(f.system.drawn_q), [1, 2, cos(0.7), sin(0.7)])
    np.testing.assert_allclose(f.matrices.M, np.diag([2, 2, 0.3, 0.3]))


def three_point_model():
    """A coupler with a pin off its line, which carries a pendulum; the fourth pin is on the ground."""
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=0.8)
    weight = model.body("weight", mass=0.5, inertia=0.1, at=(1.5, 2.8))
    model.add(se.Revolute("P", "coupler", weight, at=(1.2, 2.2)))
    return model


def test_a_third_point_adds_two_linear_rows():
    f = family("natural", three_point_model())
    assert f.names == ["B.x", "B.y", "C.x", "C.y", "P.x", "P.y", "weight.ux", "weight.uy"]
    assert f.own_rows == [
        "crank.length", "coupler.length", "coupler.P.x", "coupler.P.y", "rocker.length", "weight.length",
    ]  # fmt: skip
    z, zd = moved(f)
    e = f.at(0.0, z, zd)
    (coupler,) = (x for x in f.layout.elements if x.body == "coupler")
    (point,) = coupler.further
    C_P = coupler.matrix(point.places["coupler"])
    np.testing.assert_allclose(e.Phi[2:4], z[4:6] - C_P @ z[:4], atol=1e-14)
    np.testing.assert_allclose(e.J[2:4], np.hstack([-C_P, np.eye(2), np.zeros((2, 2))]), atol=1e-15)
    np.testing.assert_array_equal(e.gamma[2:4], 0.0)
    check_against_bodies("natural", *moving(three_point_model()))


def test_the_two_points_that_lie_farthest_apart_are_the_base():
    model = se.Model()
    plate = model.body("plate", mass=1, inertia=1, points={"P": (0, 0), "Q": (1, 0), "R": (0, 5)})
    for name in "PQR":
        arm = model.body(f"arm{name}", mass=1, inertia=1, at=(3, 3))
        model.add(se.Revolute(name, plate[name], arm))
    system = System(model)
    (element, *_) = Family.registry.named("natural")(system, system.drawn_q).layout.elements
    assert (element.origin.name, element.tip.name) == ("Q", "R")
    assert [p.name for p in element.further] == ["P"]


def test_one_point_for_three_bodies():
    """Two pins at the same place are one point; its rows and a second pin between the same bodies vanish."""
    model = se.Model()
    bars = [model.bar(f"bar{i}", (0, 0), (cos(i), sin(i)), mass=1) for i in range(3)]
    model.add(se.Revolute("A", bars[0]["start"], bars[1]["start"]))
    model.add(se.Revolute("B", bars[2]["start"], bars[1]["start"]))
    model.add(se.Revolute("C", bars[0]["start"], bars[2]["start"]))
    model.add(se.Revolute("G", model.ground, bars[2]["end"]))
    f = family("natural", model)
    assert f.names == ["A.x", "A.y", "bar0.ux", "bar0.uy", "bar1.ux", "bar1.uy"]
    assert f.remaining_rows == [] and f.n - f.m == 3
    check_against_bodies("natural", *moving(model))


def test_points_too_near_each_other_make_no_base():
    """1e-6 apart: rounding would turn the body by 1e-10; a unit vector is as good as ever."""
    model = builders.four_bar(1, 2, 2.5, 3)
    bit = model.body("bit", mass=1, inertia=0.2, at=(0, 1), points={"P": (0, 0), "Q": (1e-6, 0)})
    model.add(se.Revolute("P", bit["P"], model.ground))
    other = model.body("other", mass=1, inertia=0.2, at=(1e-6, 1))
    model.add(se.Revolute("Q", bit["Q"], other))
    f = family("natural", model)
    assert "bit.ux" in f.names and "bit.Q.x" in f.own_rows
    check_against_bodies("natural", *moving(model))


def test_a_body_on_two_ground_pins_has_no_coordinates():
    model = builders.four_bar(1, 2, 2.5, 3)
    truss = model.bar("truss", (0, 0), (3, 0), mass=1)
    model.add(se.Revolute("T", model.ground, truss["start"]))
    model.add(se.Revolute("U", model.ground, truss["end"]))
    f = family("natural", model)
    assert f.names == ["B.x", "B.y", "C.x", "C.y"]
    assert f.own_rows == ["crank.length", "coupler.length", "rocker.length"]
    system, q, qd = moving(model)
    found = Family.registry.named("natural")(system, q).at(0.0, f.positions(q), f.velocities(q, qd))
    np.testing.assert_allclose(found.q, q, atol=1e-14)


def test_point_masses():
    """Nothing depends on how they are turned, so each is one point; the frequencies are sqrt(1), sqrt(3)."""
    model = se.Model(gravity=(0, 0))
    for i in (1, 2):
        model.body(f"m{i}", mass=1, at=(i, 0))
    for i, (a, b) in enumerate([("ground", "m1"), ("m1", "m2"), ("m2", "ground.W")]):
        model.ground.points["W"] = (3, 0)
        model.add(se.Spring(f"spring{i}", f"x({a}, {b})", stiffness=1, free=1))
    f = family("natural", model)
    assert f.names == ["m1.x", "m1.y", "m2.x", "m2.y"] and f.m == 0
    z = f.positions(f.system.drawn_q)
    force = np.array([f.at(0.0, z + step).Q.copy() for step in np.eye(4)])
    stiffness = -force[np.ix_([0, 2], [0, 2])]
    np.testing.assert_allclose(np.linalg.eigvalsh(stiffness), [1, 3])
    np.testing.assert_array_equal(f.matrices.R[2::3], 0.0)


def test_a_mass_that_something_turns_has_a_vector():
    model = se.Model()
    model.body("bob", mass=1, at=(1, 0))
    model.add(se.PointForce("push", "bob", fx=1))
    assert family("natural", model).names == ["bob.x", "bob.y"]
    model.add(se.PointForce("jet", "bob", fx=1, axes="body"))
    assert family("natural", model).names == ["bob.x", "bob.y", "bob.ux", "bob.uy"]


@pytest.mark.parametrize("name", FAMILIES)
def test_welds_need_no_angle(name):
    """Two bodies welded into a pendulum, drawn a whole turn apart."""
    model = se.Model()
    arm = model.bar("arm", (0, 0), (1, 0), mass=1)
    head = model.body("head", mass=2, inertia=0.3, at=(1.2, 0.4), angle=0.5 + tau)
    model.add(se.Revolute("O", model.ground, arm["start"]))
    model.add(se.Fixed("weld", arm, head))
    f = check_against_bodies(name, *moving(model))
    assert not any(c.endswith(".phi") for c in f.names)
    assert [f.row_names[i] for i in range(len(f.own_rows), f.m)] == ["weld.angle"]


# Equations against differences ------------------------------------------------------------------------


def differences(function, z, sizes):
    """Columns of the derivative by central differences."""
    steps = 1e-5 * sizes
    columns = [
        (function(z + h * unit) - function(z - h * unit)) / (2 * h)
        for h, unit in zip(steps, np.eye(z.size), strict=True)
    ]
    return np.array(columns).T


DIFFERENCED = [*library.names(), "distance"]


def distance_driven():
    model = builders.slider_crank(1, 3, 0.2)
    model.ground.points["W"] = (6, 1)
    model.add(se.Driver("cylinder", "distance(ground.W, slider)", "2.3 + 0.2*sin(3*t)"))
    return model


@pytest.mark.parametrize("model", DIFFERENCED)
def test_derivatives_in_mixed_coordinates(model):
    """R and J are derivatives of q and Phi; bias and gamma come from their change along zd. Off the constraints too."""
    f = family("mixed", distance_driven() if model == "distance" else shipped_model(model))
    z, zd = moved(f)
    e = f.at(0.2, z, zd)
    R, J, bias, gamma, qd, nu = (a.copy() for a in (e.R, e.J, e.bias, e.gamma, e.qd, e.nu))
    size = np.abs(zd).max() ** 2 * max(1.0, np.abs(J).max()) / f.sizes.min()
    for found, name in ((R, "q"), (J, "Phi")):
        wanted = differences(lambda z, name=name: getattr(f.at(0.2, z), name).copy(), z, f.sizes)
        np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(found).max())
    np.testing.assert_allclose(qd, R @ zd, atol=1e-12 * np.abs(zd).max() * np.abs(R).max())
    h = 1e-5
    path = lambda s: f.at(0.2 + s, z + s * zd, zd)
    Rd = (path(h).R.copy() - path(-h).R) / (2 * h)
    Jd_zd = (path(h).J @ zd - path(h).nu - (path(-h).J @ zd - path(-h).nu)) / (2 * h)
    np.testing.assert_allclose(bias, Rd @ zd, atol=1e-6 * size)
    np.testing.assert_allclose(gamma, -Jd_zd, atol=1e-6 * size)
    rates = (path(h).Phi.copy() - path(-h).Phi) / (2 * h)
    np.testing.assert_allclose(J @ zd - nu, rates, atol=1e-7 * size)


def test_a_held_distance_gets_a_coordinate():
    """s - f(t) = 0 and d.d - s^2 = 0; the multiplier of the first is the force of the cylinder, as without s."""
    system, q, qd = moving(distance_driven())
    f = check_against_bodies("mixed", system, q, qd)
    assert f.names[-1] == "cylinder.s" and f.own_rows[-1] == "cylinder.distance"
    z = f.positions(q)
    e = f.at(0.0, z, f.velocities(q, qd))
    np.testing.assert_allclose(z[-1], 2.3)
    np.testing.assert_allclose(e.J[-1], [0] * (f.n - 1) + [1])
    np.testing.assert_allclose([e.nu[-1], e.gamma[-1]], [0.6, 0.0])
    forces = []
    for name in ("natural", "mixed"):
        g = Family.registry.named(name)(system, q)
        e = g.at(0.0, g.positions(q), g.velocities(q, qd))
        zdd = solved(e.M, e.J, e.Q, e.gamma, g.sizes)
        forces.append(np.linalg.lstsq(e.J.T, e.Q - e.M @ zdd, rcond=None)[0][-1])
    np.testing.assert_allclose(forces[1], forces[0], rtol=1e-9)


def test_no_velocity_terms():
    """The mass matrix is constant, and Q does not change with the velocities."""
    f = family("natural", three_point_model())
    z, zd = moved(f)
    still = f.at(0.0, z)
    M, Q = still.M.copy(), still.Q.copy()
    fast = f.at(0.0, 1.5 * z, 3 * zd)
    np.testing.assert_array_equal(fast.M, M)
    np.testing.assert_array_equal(f.at(0.0, z, zd).Q, Q)


# Turns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_the_angle_of_a_body_counts_turns_from_step_to_step(name):
    """A pendulum goes round five times; z says only which way it points."""
    model = se.Model()
    arm = model.bar("arm", (0, 0), (1, 0), mass=1)
    model.add(se.Revolute("O", model.ground, arm["start"]))
    f = family(name, model)
    for angle in np.linspace(0, -5 * tau, 40):
        y = np.array([cos(angle), sin(angle), 0.0, 0.0])
        f.remember(0.0, y, f.turns)
    np.testing.assert_allclose(f.turns[0], -5 * tau)
    np.testing.assert_allclose(f.at(0.0, y[:2]).q[2], -5 * tau)


@pytest.mark.parametrize("step", [0.05, 0.6, pi / 2 + 0.3])
def test_the_row_of_an_angle_is_never_flat(step):
    """One of the two rows is taken all around the circle, also where a step is long."""
    f = family("mixed", builders.four_bar(1, 2, 2.5, 3, speed=1))
    column, row = f.names.index("crank.phi"), f.own_rows.index("crank.angle")
    z = f.positions(f.system.drawn_q)
    for angle in np.arange(pi / 3, 3 * tau, step):
        z[column] = angle
        assert abs(f.at(0.0, z).J[row, column]) >= 0.25
        f.remember(0.0, np.concatenate([z, z]), f.turns)
        slope = f.at(0.0, z).J[row, column]
        assert abs(slope) == pytest.approx(max(abs(sin(angle)), abs(cos(angle))))


@pytest.mark.parametrize(
    "formulation",
    slow_among(
        ["projection", "augmented", "index3", "ggl", "matrix_r"], "projection", "index3", "ggl", "matrix_r"
    ),
)
def test_a_flywheel_keeps_its_turns_at_loose_tolerances(formulation):
    model = se.Model(gravity=(0, 0))
    wheel = model.body("wheel", mass=1, inertia=1, angular_velocity=50)
    model.add(se.Revolute("O", model.ground, wheel))
    times = np.linspace(0, 10, 2001)
    r = se.dynamics(model, t_eval=times, rtol=1e-2, coordinates="natural", formulation=formulation)
    assert r["wheel.phi"][-1] == pytest.approx(np.trapezoid(r["wheel.phid"], times), abs=1)
    assert r["wheel.phi"][-1] == pytest.approx(500, rel=5e-2)


@pytest.mark.parametrize("integrator", ["bdf_variable", "adams_variable"])
def test_turns_are_counted_by_methods_of_others_too(integrator):
    model = se.Model()
    arm = model.bar("arm", (0, 0), (1, 0), mass=1, angular_velocity=15)
    model.add(se.Revolute("O", model.ground, arm["start"]))
    kwargs = {"t_eval": [0, 3], "integrator": integrator, "formulation": "augmented", "rtol": 1e-5}
    angles = [
        se.dynamics(model, coordinates=c, **kwargs)["arm.phi"][-1] for c in ("natural", "reference_point")
    ]
    assert angles[0] == pytest.approx(angles[1], rel=1e-3) and angles[0] > 5 * tau


def test_what_holds_a_direction_is_held():
    model = se.Model()
    slider = model.body("slider", mass=1, inertia=0.2, at=(1, 0), angle=0.3)
    model.add(se.AbsoluteAngle("level", slider, 0.3))
    model.add(se.PointForce("f", slider, fx=1.0, fy=9.81))
    for angle in (0.3, 0.3 + tau):
        model.elements["level"] = se.AbsoluteAngle("level", slider, angle)
        slider.angle = angle
        r = se.dynamics(model, t_end=1, coordinates="natural")
        assert r["slider.x"][-1] == pytest.approx(1.5, abs=1e-9)
        np.testing.assert_allclose(r["slider.phi"], angle, atol=1e-9)


@pytest.mark.slow
def test_a_driven_crank_goes_round():
    model = builders.four_bar(1, 2, 2.5, 3, speed=7)
    for body in model.bodies.values():
        body.mass, body.inertia = 1.0, 0.2
    r = se.dynamics(model, t_end=5, coordinates="natural")
    np.testing.assert_allclose(r["crank.phi"] - r["crank.phi"][0], 7 * r.t, atol=1e-5)


# Refusals ---------------------------------------------------------------------------------------------


def refusal(*elements):
    model = builders.four_bar(1, 2, 2.5, 3)
    for element in elements:
        model.add(element)
    with pytest.raises(se.UnsupportedError) as caught:
        family("natural", model)
    f = family("mixed", model)
    assert "crank.phi" in f.names
    return str(caught.value)


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (se.Driver("motor", "1.5*angle(ground, crank)", "t"), "Driver 'motor' holds angle(ground, crank)"),
        (se.Spring("coil", "angle(crank, coupler)", stiffness=1), "Spring 'coil' pushes on angle(crank, coupler)"),
        (se.Torque("wind", "crank", "-phi"), "Torque 'wind' is a law of crank.phi"),
        (se.Torque("law", "crank", law=lambda t, q, qd: -q[2]), "Torque 'law' is a law of crank.phi"),
        (se.RackPinion("rack", "rocker", "crank", 0.2), "RackPinion 'rack' holds angle(rocker, crank)"),
    ],
)  # fmt: skip
def test_what_counts_turns_is_refused(element, words):
    message = refusal(element)
    assert words in message and "do not count the turns of" in message
    assert message.endswith("use coordinates='mixed'.")


def test_all_refusals_at_once():
    message = refusal(
        se.Driver("motor", "1.5*angle(ground, crank)", "t"),
        se.Spring("coil", "angle(ground, rocker)", stiffness=1),
    )
    assert "2 problems" in message and "motor" in message and "coil" in message


@pytest.mark.parametrize(
    "element",
    [
        se.Spring("rod", "distance(crank.end, rocker.start)", stiffness=2, free=1),
        se.Spring("slide", "along(crank, rocker)", damping=2),
        se.Torque("drag", "crank", "1 - 0.3*phid"),
        se.Driver("motor", "angle(ground, crank)", "t"),
        se.Driver("slow", "2*angle(ground, crank) - angle(ground, rocker)", "t"),
        se.PointForce("wind", "coupler", fx="x*t", fy="-yd", axes="body"),
    ],
)
def test_what_counts_no_turns_is_not(element):
    model = builders.four_bar(1, 2, 2.5, 3)
    model.add(element)
    system, q, qd = moving(model)
    check_against_bodies("natural", system, q, qd)
    assert np.abs(body_accelerations(system, q, qd)).max() > 0.1
