"""Cams and followers against closed forms, in kinematics and dynamics, in several coordinates.

Closed forms: a flat face on an eccentric circle moves harmonically; the roller of a circular cam keeps the distance of
two centers, like a crank and a rod (Norton, Design of Machinery, on equivalent linkages of cams); circles that roll on
each other are gears; a disk rolls down a slope with 2/3 g sin(slope).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import simengine2d as se
from simengine2d.results.energy import power

DEG, TURN = math.pi / 180, 2 * math.pi
RISE = se.cam_motion(
    (120 * DEG, 0.02, "cycloidal"), (60 * DEG, 0.02), (120 * DEG, 0, "cycloidal"), (60 * DEG, 0)
)
SPEED, MASS, STIFFNESS, G = 20.0, 0.2, 1000.0, 9.81
DESIGNS = {
    "roller": {"follower": "roller", "roller_radius": 0.01, "offset": 0.01},
    "knife": {"follower": "knife", "offset": -0.005},
    "flat": {"follower": "flat"},
}


def machine(curve, follower, at, roller=None, stiffness=STIFFNESS):
    """A cam on a driven shaft lifts a follower in a vertical guide; a spring presses it down."""
    model = se.Model(gravity=(0, -G))
    model.body("cam", mass=1, inertia=1e-3)
    model.body("follower", mass=MASS, inertia=1e-4, at=at, points={"guide": (0, 0.09)})
    model.add(se.Revolute("shaft", "ground", "cam"))
    model.add(se.Translational("guide", "ground", "follower.guide", direction=(0, 1)))
    model.add(se.Cam("contact", "cam", "follower", curve, follower=follower, radius=roller))
    model.add(se.Driver("motor", "angle(ground, cam)", f"{SPEED}*t"))
    if stiffness:
        model.add(se.Spring("spring", "y(ground, follower)", stiffness=stiffness))
    return model


def designed(name):
    cam = se.cam_profile(RISE, 0.04, **DESIGNS[name])
    roller = DESIGNS[name].get("roller_radius")
    return cam, machine(cam.curve, DESIGNS[name]["follower"], cam.place(0.0), roller)


def program(cam, t):
    """Height, velocity and acceleration of the follower as designed."""
    f, fd, fdd = np.array([cam.design.motion.jet(SPEED * time % TURN) for time in t]).T
    return cam.place(0.0)[1] + f, SPEED * fd, SPEED**2 * fdd


def check_program(cam, results):
    y, yd, ydd = program(cam, results.t)
    assert np.abs(results["follower.y"] - y).max() < 1e-14
    assert np.abs(results["follower.yd"] - yd).max() < 1e-11
    assert np.abs(results["follower.ydd"] - ydd).max() < 1e-8 * SPEED**2  # 3 m/s^2 at most


# Designed cams ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DESIGNS)
def test_kinematics_is_the_program(name):
    cam, model = designed(name)
    check_program(cam, se.kinematics(model, t_end=1.3 * TURN / SPEED, step=TURN / SPEED / 90))


@pytest.mark.parametrize("name", DESIGNS)
def test_dynamics_is_the_program_and_forces_balance(name):
    cam, model = designed(name)
    results = se.dynamics(model, t_end=1.3 * TURN / SPEED)
    check_program(cam, results)
    y, yd, ydd = program(cam, results.t)
    # Newton: the vertical part of the contact force carries weight, spring and inertia
    vertical = MASS * (ydd + G) + STIFFNESS * y
    on = results.reaction("contact", on="follower")
    assert np.abs(on.fy - vertical).max() < 1e-9 * vertical.max()
    # its direction is the normal, which leans by the pressure angle
    _, f1, _ = np.array([cam.design.motion.jet(SPEED * t % TURN) for t in results.t]).T
    lean = np.zeros_like(f1) if name == "flat" else np.arctan((f1 - cam.design.offset) / y)
    assert np.abs(on.fx + np.tan(lean) * on.fy).max() < 1e-10 * vertical.max()
    assert np.abs(results["contact.force"] - vertical / np.cos(lean)).max() < 1e-9 * vertical.max()
    # the motor gives what the follower takes: torque times speed is force times velocity
    torque = results.reaction("motor", on="cam").torque
    assert np.abs(torque * SPEED - vertical * yd).max() < 1e-9 * np.abs(vertical * yd).max()
    kinetic, forces, drivers = power(results)
    assert np.abs(kinetic - forces - drivers).max() < 1e-11 * np.abs(drivers).max()


@pytest.mark.parametrize(
    ("name", "coordinates"),
    [
        ("roller", "mixed"),
        ("flat", "relative"),
        pytest.param("roller", "relative", marks=pytest.mark.slow),
        pytest.param("flat", "mixed", marks=pytest.mark.slow),
    ],
)
def test_other_coordinates(name, coordinates):
    cam, model = designed(name)
    results = se.dynamics(model, t_end=0.3, coordinates=coordinates)
    check_program(cam, results)
    y, _, ydd = program(cam, results.t)
    vertical = MASS * (ydd + G) + STIFFNESS * y
    assert np.abs(results.reaction("contact", on="follower").fy - vertical).max() < 1e-9 * vertical.max()


def test_implicit_steps_and_inverse_dynamics():
    cam, model = designed("roller")
    steps = se.dynamics(model, t_end=0.3, step=2e-3, integrator="newmark")  # which holds positions only
    assert np.abs(steps["follower.y"] - program(cam, steps.t)[0]).max() < 1e-12
    results = se.inverse_dynamics(model, t_end=0.3, step=2e-3)
    y, yd, ydd = program(cam, results.t)
    taken = (MASS * (ydd + G) + STIFFNESS * y) * yd
    assert np.abs(results["motor.power"] - taken).max() < 1e-9 * np.abs(taken).max()


def test_a_contact_that_would_be_lost_is_told():
    """Without a spring the follower is thrown up where its acceleration is below -g: at 20 rad/s from -g on."""
    cam, _ = designed("flat")
    fast = machine(cam.curve, "flat", cam.place(0.0), stiffness=0)
    fast.joints["motor"].value = "60*t"
    results = se.dynamics(fast, t_end=0.1)
    told = [note for note in results.notes if "pulls" in note]
    assert len(told) == 1
    assert "Cam 'contact' pulls from t = " in told[0]
    ydd = 3600 * np.array([cam.design.motion.jet(60 * t)[2] for t in results.t])
    assert np.array_equal(results["contact.force"] < 0.0, ydd < -G)
    assert not [note for note in se.dynamics(designed("flat")[1], t_end=0.3).notes if "pulls" in note]


# Circular cams ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("follower", ["flat", "roller", "knife"])
def test_an_eccentric_circle(follower):
    """Flat: y = R + e sin(theta). Roller: y = e sin + sqrt((R + r)^2 - (e cos)^2)."""
    R, e = 0.05, 0.02
    r = {"flat": None, "roller": 0.01, "knife": None}[follower]
    length = R + (r or 0.0)
    start = R if follower == "flat" else math.sqrt(length**2 - e**2)
    curve = se.Curve(x=f"{e} + {R}*cos(s)", y=f"{R}*sin(s)")
    results = se.kinematics(machine(curve, follower, (0, start), r), t_end=0.5, step=0.005)
    c, s = np.cos(SPEED * results.t), np.sin(SPEED * results.t)
    if follower == "flat":
        y, ydd = R + e * s, -(SPEED**2) * e * s
    else:
        w = np.sqrt(length**2 - (e * c) ** 2)
        y = e * s + w
        bend = e**2 * (c**2 - s**2) / w - e**4 * c**2 * s**2 / w**3
        ydd = SPEED**2 * (bend - e * s)
    assert np.abs(results["follower.y"] - y).max() < 1e-15
    assert np.abs(results["follower.ydd"] - ydd).max() < 1e-8 * np.abs(ydd).max()


def test_a_roller_inside_a_ring():
    """A ball in a bowl swings like a pendulum of the length R - r."""
    model = se.Model(gravity=(0, -G))
    model.body("ball", mass=0.3, inertia=1e-4, at=(0.19, 0.0))
    ring = se.Curve(x="0.2*cos(s)", y="0.2*sin(s)")
    model.add(se.Cam("bowl", "ground", "ball", ring, follower="roller", radius=0.01, inside=True))
    model.add(se.AbsoluteAngle("upright", "ball", 0))
    results = se.dynamics(model, t_end=1.0, rtol=1e-9)
    assert np.abs(np.hypot(results["ball.x"], results["ball.y"]) - 0.19).max() < 1e-12
    # released at the height of the center, it presses with 3 m g at the bottom
    lowest = int(results["ball.y"].argmin())
    cosine = -results["ball.y"][lowest] / 0.19
    assert results["bowl.force"][lowest] == pytest.approx(3 * 0.3 * G * cosine, rel=1e-6)


# Curves on curves -------------------------------------------------------------------------------------


def planet(joint):
    """A planet on an arm runs around a fixed wheel."""
    model = se.Model(gravity=(0, 0))
    model.body("arm", mass=1, inertia=0.1, at=(0.25, 0))
    model.body("planet", mass=2, inertia=0.02, at=(0.5, 0))
    model.add(se.Revolute("O", "ground", "arm", at=(0, 0)))
    model.add(se.Revolute("A", "arm", "planet", at=(0.5, 0)))
    model.add(se.Torque("T", "arm", "20"))
    model.add(joint)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("holds", ["roll", "both"])
def test_circles_roll_like_gears(holds):
    wheels = [se.Curve(x=f"{radius}*cos(s)", y=f"{radius}*sin(s)") for radius in (0.3, 0.2)]
    gears = planet(se.Gear("mesh", "ground.at(0, 0)", "planet", radii=(0.3, 0.2)))
    rolling = planet(se.RollingCurves("mesh", "ground", "planet", *wheels, holds=holds))
    options = {"t_end": 2.0, "step": 0.01, "rtol": 1e-11}
    wanted, found = se.dynamics(gears, **options), se.dynamics(rolling, **options)
    assert wanted["planet.phi"][-1] > 3 * TURN
    # over 20 turns; a gap that is held twice costs two digits, for between the stages of a step both disagree
    assert np.abs(found.q - wanted.q).max() < 1e-8 * np.abs(wanted.q).max()
    if holds == "roll":  # where the gap is held too, it is shared between mesh and arm
        torque = [r.reaction("mesh", on="planet", at="planet").torque for r in (found, wanted)]
        assert np.abs(torque[0] - torque[1]).max() < 1e-8 * np.abs(torque[1]).max()


def test_a_disk_rolls_down_a_slope():
    model = se.Model(gravity=(0, -G))
    model.body("disk", mass=2, inertia=0.5 * 2 * 0.2**2, at=(0, 0.2))
    slope = se.Curve(x="s", y="-0.3*s", range=(-5, 5))
    wheel = se.Curve(x="0.2*cos(s)", y="0.2*sin(s)")
    model.add(se.RollingCurves("track", "ground", "disk", slope, wheel))
    results = se.dynamics(model, t_end=1.0)
    angle = math.atan(0.3)
    way = np.hypot(results["disk.x"] - results["disk.x"][0], results["disk.y"] - results["disk.y"][0])
    assert np.abs(way - G * math.sin(angle) / 3 * results.t**2).max() < 1e-10
    assert np.abs(results["disk.phi"] + way / 0.2).max() < 1e-10
    assert results["track.force"] == pytest.approx(np.full(results.t.size, 2 * G * math.cos(angle)), rel=1e-9)


def test_ellipses_that_turn_about_their_foci_roll_on_each_other():
    """Equal ellipses, pinned at foci at the distance 2 a of the long axes: r_1 + r_2 = 2 a at the contact."""
    a, b = 0.05, 0.04
    c = math.sqrt(a * a - b * b)
    curve = se.Curve(x=f"{a}*cos(s) + {c}", y=f"{b}*sin(s)")  # a focus at the origin
    model = se.Model()
    for name, x, angle in (("one", 0.0, 0.0), ("two", 2 * a, 0.0)):
        model.body(name, mass=1, inertia=1e-3, at=(x, 0), angle=angle)
        model.add(se.Revolute(f"pin {name}", "ground", name))
    model.add(se.RollingCurves("mesh", "one", "two", curve, curve, holds="roll"))
    model.add(se.Driver("motor", "angle(ground, one)", "2*t"))
    results = se.kinematics(model, t_end=3.0, step=0.05)
    # r = (a^2 - c^2) / (a - c cos(angle)) from the focus; the contact is on the line of pins
    near = b * b / (a - c * np.cos(2 * results.t))
    assert results["two.phid"] == pytest.approx(-2 * near / (2 * a - near), rel=1e-8)
    # and they keep touching, though nothing but the pins holds them together
    model.joints["mesh"].holds = "both"
    gap = se.System(model).row_names.index("mesh.gap")
    assert (
        max(
            abs(se.System(model).Phi(t, q)[gap])
            for t, q in zip(results.t[::10], results.q[::10], strict=True)
        )
        < 1e-14
    )


def test_a_bead_on_a_wire():
    """Energy of a bead on an elliptic wire, which no straight slot could hold."""
    model = se.Model(gravity=(0, -G))
    model.body("bead", mass=1, inertia=1, at=(2, 0))
    model.add(se.PointOnCurve("wire", "ground", "bead", se.Curve(x="2*cos(s)", y="sin(s)")))
    model.add(se.AbsoluteAngle("upright", "bead", 0))
    results = se.dynamics(model, t_end=3.0, rtol=1e-9)
    assert np.abs(results["bead.x"] ** 2 / 4 + results["bead.y"] ** 2 - 1).max() < 1e-12
    speed2 = results["bead.xd"] ** 2 + results["bead.yd"] ** 2
    assert speed2 == pytest.approx(-2 * G * results["bead.y"], abs=1e-6)
    assert results["bead.x"].min() < -1.99  # it comes up at the other side


def test_the_end_of_a_curve_is_told():
    model = se.Model(gravity=(0, -G))
    model.body("bead", mass=1, inertia=1)
    model.add(se.PointOnCurve("wire", "ground", "bead", se.Curve(x="s", y="-s/2 - s^2/4", range=(-1, 1))))
    model.add(se.AbsoluteAngle("upright", "bead", 0))
    with pytest.raises(
        se.ConvergenceError, match="PointOnCurve 'wire' reached the end of its curve"
    ) as caught:
        se.dynamics(model, t_end=3.0)
    # a contact is at the end of its curve within a millionth of it
    assert 0.9 < caught.value.results["bead.x"][-1] < 1.0 + 2.1e-6


@pytest.mark.slow
def test_the_same_motion_gives_the_same_bits_however_contacts_were_found():
    _, model = designed("roller")
    system = se.System(model)
    first, again = se.dynamics(system, t_end=0.4), se.dynamics(system, t_end=0.4)
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.lam, again.lam)
    part = se.dynamics(designed("roller")[1], t_end=0.2, step=0.004)
    whole = se.dynamics(designed("roller")[1], t_end=0.4, step=0.004)
    assert np.array_equal(part.resume(t_end=0.4).q, whole.q)
