"""Cam profiles against closed forms, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simengine2d as se

DEG = math.pi / 180
RISE = se.cam_motion(
    (120 * DEG, 0.02, "cycloidal"), (60 * DEG, 0.02), (120 * DEG, 0, "cycloidal"), (60 * DEG, 0)
)
ECCENTRIC = "0.01*(1 - cos(theta))"


def f(theta):
    """The cycloidal rise over 120 degrees, by hand."""
    s = theta / (120 * DEG)
    return 0.02 * (s - math.sin(2 * math.pi * s) / (2 * math.pi))


# Motion -----------------------------------------------------------------------------------------------


def test_steps_make_a_motion():
    motion = se.cam_profile(RISE, 0.04, "knife").design.motion
    assert motion(0.0) == motion(330 * DEG) == 0.0
    assert motion(50 * DEG) == pytest.approx(f(50 * DEG), abs=1e-16)
    assert motion(150 * DEG) == pytest.approx(0.02, abs=1e-16)
    assert motion(240 * DEG) == pytest.approx(0.01, abs=1e-16)


@pytest.mark.parametrize("law", ["harmonic", "step5", "poly4567", "cycloidal"])
def test_laws_are_half_way_in_the_middle(law):
    text = se.cam_motion((math.pi, 0.02, law), (math.pi, 0.0, law))
    motion = se.cam_profile(text, 0.04, "knife").design.motion
    assert motion(math.pi / 2) == pytest.approx(0.01, abs=1e-16)
    assert motion.jet(math.pi / 2)[2] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([(math.pi, 0.02, "cycloidal")], "180 degrees"),
        ([(math.pi, 0.02), (math.pi, 0.0, "step5")], "name its law"),
        ([(math.pi, 0.02, "linear"), (math.pi, 0.0, "step5")], "name its law"),
        ([(0.0, 0.02, "step5"), (2 * math.pi, 0.0, "step5")], "no positive angle"),
        ([], "needs steps"),
    ],
)
def test_steps_that_are_no_motion(steps, message):
    with pytest.raises(se.ModelError, match=message):
        se.cam_motion(*steps)


# Profiles ---------------------------------------------------------------------------------------------


def test_the_flat_cam_of_harmonic_motion_is_an_eccentric_circle():
    """p = R + e - e cos(theta): a circle of radius R + e about (direction 90 degrees) (0, -e)."""
    cam = se.cam_profile(ECCENTRIC, 0.03, "flat")
    distance = np.hypot(cam.profile[:, 0], cam.profile[:, 1] + 0.01)
    assert distance == pytest.approx(np.full(distance.size, 0.04), abs=1e-16)
    assert cam.radius_of_curvature == pytest.approx(np.full(distance.size, 0.04), abs=1e-15)
    assert cam.curve.length == pytest.approx(2 * math.pi * 0.04, rel=1e-13)
    assert not cam.undercut
    assert cam.smallest_base_radius == 0.0


def test_points_curvature_and_pressure_angle_of_curve_and_report_agree():
    cam = se.cam_profile(RISE, 0.04, roller_radius=0.01, offset=0.01)
    for i in range(1, cam.theta.size - 1, 97):
        theta = float(cam.theta[i])
        assert cam.curve(theta) == pytest.approx(tuple(cam.profile[i]), abs=1e-14)
        assert 1 / cam.curve.curvature(theta) == pytest.approx(cam.radius_of_curvature[i], rel=1e-8)
        # the normal, turned with the cam, against the upward direction of the follower
        nx, ny = cam.curve.normal(theta)
        c, s = math.cos(theta), math.sin(theta)
        assert math.atan2(-(c * nx - s * ny), s * nx + c * ny) == pytest.approx(
            cam.pressure_angle[i], abs=1e-11
        )


def test_pressure_angle_of_the_textbook():
    """tan = (f' - e) / (f + sqrt((R + r)^2 - e^2)), for an offset that eases the rise."""
    cam = se.cam_profile(RISE, 0.04, roller_radius=0.01, offset=0.01)
    i = 240  # 60 degrees, the middle of the rise, where f' = 2 lift / angle
    slope = 2 * 0.02 / (120 * DEG)
    wanted = math.atan((slope - 0.01) / (0.01 + math.sqrt(0.05**2 - 0.01**2)))
    assert cam.theta[i] == pytest.approx(60 * DEG)
    assert cam.pressure_angle[i] == pytest.approx(wanted, abs=1e-14)


def test_undercut_of_a_flat_face_is_told_with_its_remedy():
    """R + f + f'' > 0:  f'' = -lift 2 pi / angle^2 at three quarters of the rise."""
    steep = se.cam_motion(
        (60 * DEG, 0.02, "cycloidal"), (120 * DEG, 0.02), (60 * DEG, 0, "cycloidal"), (120 * DEG, 0)
    )
    cam = se.cam_profile(steep, 0.04, "flat")
    s = np.linspace(0.0, 1.0, 100001)
    lift = 0.02 * (s - np.sin(2 * np.pi * s) / (2 * np.pi))
    bend = 0.02 * 2 * np.pi * np.sin(2 * np.pi * s) / (60 * DEG) ** 2
    assert cam.smallest_base_radius == pytest.approx(-(lift + bend).min(), rel=1e-4)  # from quarter degrees
    first, last = cam.undercut[0]
    assert 30 * DEG < first < 45 * DEG < last < 60 * DEG
    with pytest.raises(se.ModelError, match=r"base_radius must be larger than 0\.09"):
        cam.curve.pieces  # noqa: B018
    assert "undercut" in str(cam)
    larger = se.cam_profile(steep, 1.001 * cam.smallest_base_radius, "flat")
    assert not larger.undercut
    assert larger.curve.is_closed


def test_undercut_of_a_roller():
    steep = se.cam_motion(
        (40 * DEG, 0.02, "step5"), (140 * DEG, 0.02), (40 * DEG, 0, "step5"), (140 * DEG, 0)
    )
    cam = se.cam_profile(steep, 0.02, roller_radius=0.015)
    assert cam.undercut
    assert not se.cam_profile(steep, 1.001 * cam.smallest_base_radius, roller_radius=0.015).undercut
    assert se.cam_profile(steep, 0.999 * cam.smallest_base_radius, roller_radius=0.015).undercut


def test_a_clockwise_cam_is_the_mirror_image():
    there = se.cam_profile(RISE, 0.04, roller_radius=0.01, offset=0.01)
    back = se.cam_profile(RISE, 0.04, roller_radius=0.01, offset=-0.01, clockwise=True)
    assert back.profile == pytest.approx(there.profile * (-1, 1), abs=1e-16)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"motion": "theta"}, "does not close"),
        ({"follower": "wheel"}, "unknown"),
        ({"base_radius": -0.01}, "must be positive"),
        ({"roller_radius": None}, "only a roller"),
        ({"follower": "flat"}, "only a roller"),
        ({"offset": 0.06}, "misses the base circle"),
        ({"follower": "flat", "roller_radius": None, "offset": 0.01}, "changes nothing"),
    ],
)
def test_designs_that_make_no_sense(options, message):
    with pytest.raises(se.ModelError, match=message):
        se.cam_profile(**{"motion": RISE, "base_radius": 0.04, "roller_radius": 0.01, **options})


# Joints -----------------------------------------------------------------------------------------------


def machine(joint):
    model = se.Model()
    model.body("cam")
    model.body("follower", at=(0, 0.06))
    model.add(joint)
    return model


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"follower": "roller"}, "needs a positive radius"),
        ({"follower": "knife", "radius": 0.1}, "Leave it out"),
        ({"follower": "flat", "inside": True}, "cannot run inside"),
        ({"follower": "wedge"}, "knife, roller or flat"),
        ({"curve": "round"}, "give a Curve"),
        ({"curve": se.Curve(x="s", y="s^2", range=(0, 1)), "inside": True}, "no inside"),
        ({"curve": se.Curve(x="s", y="-s^2", range=(1, 2))}, "no contact as drawn"),
    ],
)
def test_cams_that_make_no_sense(options, message):
    curve = options.pop("curve", se.Curve(x="0.05*cos(s)", y="0.05*sin(s)"))
    with pytest.raises(se.ModelError, match=message):
        machine(se.Cam("contact", "cam", "follower", curve, **options)).check()


def test_a_design_is_a_curve_for_a_joint_and_survives_a_file(tmp_path):
    cam = se.cam_profile(RISE, 0.04, roller_radius=0.01)
    model = machine(se.Cam("contact", "cam", "follower", cam, follower="roller", radius=0.01))
    wave = se.Curve(points=[(-1, 0), (0, 0.06), (1, 0)])
    model.add(se.PointOnCurve("slot", "ground", "follower", wave))
    for name in ("cam.yaml", "cam.json"):
        model.save(tmp_path / name)
        again = se.load(tmp_path / name)
        assert again.joints["contact"].curve == cam.curve
        assert again.joints["slot"].curve == wave
        q = np.array([0.0, 0.0, 0.7, 0.01, 0.06, 0.0])
        assert se.System(again).Phi(0.0, q) == pytest.approx(se.System(model).Phi(0.0, q), abs=1e-15)


def test_a_file_with_a_wrong_curve_is_told_its_line(tmp_path):
    file = tmp_path / "cam.yaml"
    file.write_text(
        "bodies: {cam: {}, follower: {at: [0, 0.05]}}\n"
        "joints:\n"
        "  contact: {type: Cam, a: cam, b: follower, curve: {x: 0.05*cos(s), y: 0.05*sin(u)}}\n"
    )
    with pytest.raises(se.ModelError, match=r"cam.yaml, line 3: .*'u'"):
        se.load(file)


def test_equations_of_contacts_are_refused_by_name():
    model = machine(se.Cam("contact", "cam", "follower", se.Curve(x="0.05*cos(s)", y="0.05*sin(s)")))
    with pytest.raises(se.UnsupportedError, match="no closed form"):
        model.equations()
