"""Curves against closed forms, and contacts against finite differences and closed forms.

Curves are about 0.1 large. Values are those of rounding; second derivatives lose the square of the number of pieces.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ellipe

import simengine2d as se
from simengine2d.model.curves.contact_arrays import FACE, GAP, POINT, ROLL, Contact
from simengine2d.model.curves.contact_kernel import contact_values
from simengine2d.model.curves.piecewise import at

ELLIPSE = se.Curve(x="0.05*cos(s)", y="0.03*sin(s)")
BLOB = se.Curve(
    points=[
        (0.03 * math.cos(a), 0.04 * math.sin(a) + 0.004 * math.cos(2 * a))
        for a in np.arange(12) * math.pi / 6
    ],
    closed=True,
)
WAVE = se.Curve(x="s", y="0.02*sin(20*s)", range=(-0.2, 0.2))


def circle(radius):
    return se.Curve(x=f"{radius}*cos(s)", y=f"{radius}*sin(s)")


# Curves -----------------------------------------------------------------------------------------------


def test_an_ellipse_has_its_points_tangents_curvature_and_length():
    for s in np.linspace(-1.0, 9.0, 41):
        c, n = math.cos(s), math.sin(s)
        assert ELLIPSE(s) == pytest.approx((0.05 * c, 0.03 * n), abs=1e-16)
        speed = math.hypot(0.05 * n, 0.03 * c)
        assert ELLIPSE.tangent(s) == pytest.approx((-0.05 * n / speed, 0.03 * c / speed), abs=1e-12)
        assert ELLIPSE.normal(s) == pytest.approx((0.03 * c / speed, 0.05 * n / speed), abs=1e-12)
        assert ELLIPSE.curvature(s) == pytest.approx(0.05 * 0.03 / speed**3, rel=1e-9)
    assert ELLIPSE.is_closed
    assert ELLIPSE.length == pytest.approx(4 * 0.05 * ellipe(1 - 0.6**2), rel=1e-14)


def test_third_derivatives_are_those_of_the_expressions():
    for s in np.linspace(0.0, 2 * math.pi, 50):
        *_, x3, y3 = at(ELLIPSE.pieces, s)
        assert (x3, y3) == pytest.approx((0.05 * math.sin(s), -0.03 * math.cos(s)), abs=3e-8)


def test_arc_length_goes_on_over_turns():
    wheel = circle(0.2)
    for s in (0.1, 3.0, 6.2, 20.0, -4.0):
        assert wheel.arc_length(s) == pytest.approx(0.2 * s, abs=1e-14)


def test_a_curve_that_is_run_through_backward_has_the_same_outside():
    backward = se.Curve(x="0.05*cos(-s)", y="0.03*sin(-s)")
    assert backward.normal(0.7) == pytest.approx(ELLIPSE.normal(-0.7), abs=1e-12)
    assert backward.curvature(0.7) == pytest.approx(ELLIPSE.curvature(-0.7), rel=1e-10)


def test_a_spline_goes_through_its_points_with_continuous_curvature():
    points = BLOB.given["points"]
    nearest = [contact_values(Contact(POINT, (BLOB.pieces,), 0.0, 1.0), point).value for point in points]
    assert np.abs(nearest).max() < 1e-16
    knots = BLOB.pieces.knots
    for s in knots[1:-1]:
        assert BLOB.curvature(s - 1e-12) == pytest.approx(BLOB.curvature(s + 1e-12), rel=1e-6)
    first, last = BLOB.range
    assert BLOB.curvature(first) == pytest.approx(BLOB.curvature(last - 1e-12), rel=1e-6)


def test_open_and_closed():
    assert not WAVE.is_closed
    assert not se.Curve(points=[(0, 0), (1, 1), (2, 0)]).is_closed
    assert se.Curve(points=[(0, 0), (1, 1), (2, 0), (0, 0)]).is_closed
    with pytest.raises(se.ModelError, match="declared closed"):
        se.Curve(x="s", y="s^2", closed=True).pieces  # noqa: B018


def test_a_jump_inside_an_expression_is_found():
    # the second derivative jumps at 0.3; nobody says so
    curve = se.Curve(x="s", y="piecewise(s < 0.3, 0, (s - 0.3)^2)", range=(0, 1))
    assert curve(0.7)[1] == pytest.approx(0.16, abs=1e-13)
    assert curve.curvature(0.5) == pytest.approx(2 / (1 + 0.16) ** 1.5, rel=1e-8)
    with pytest.raises(se.ModelError, match=r"corner near 0\.5"):
        se.Curve(x="s", y="abs(s - 0.5)", range=(0, 1)).pieces  # noqa: B018
    with pytest.raises(se.ModelError, match=r"corner near 0\.3"):
        se.Curve(x="s", y="abs(s - 0.3)", range=(0, 1)).pieces  # noqa: B018
    with pytest.raises(se.ModelError, match=r"jumps near 0\.3"):
        se.Curve(x="s", y="s > 0.3", range=(0, 1)).pieces  # noqa: B018


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({}, "given by one of"),
        ({"x": "s"}, r"needs y\(s\)"),
        ({"x": "s", "y": "s", "range": (1, 0)}, "s must grow"),
        ({"x": "s", "y": "q"}, "q"),
        ({"x": "s", "y": "log(s)", "range": (-1, 1)}, "no value"),
        ({"x": "1", "y": "2"}, "single point"),
        ({"points": [(0, 0), (1, 1)]}, "at least three"),
        ({"points": [(0, 0), (0, 0), (1, 1)]}, "the same"),
        ({"points": [(0, 0), (1, 0), (1, 1)], "range": (0, 1)}, "has no 'range'"),
    ],
)
def test_what_is_no_curve_is_refused(words, message):
    with pytest.raises(se.ModelError, match=message):
        se.Curve(**words).pieces  # noqa: B018


def test_parameters_of_the_model_stand_in_curves():
    model = se.Model(parameters={"R": 0.2})
    model.body("bead", at=(0.2, 0.01))
    model.add(se.PointOnCurve("wire", "ground", "bead", se.Curve(x="R*cos(s)", y="R*sin(s)")))
    assert se.System(model).Phi(0.0, np.array([0.3, 0.0, 0.0])) == pytest.approx([0.1], abs=1e-15)


# Contacts ---------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2))
def test_a_point_and_a_circle(x, y):
    """|P| - R, its gradient P / |P| and its curvature 1 / |P| across."""
    r = math.hypot(x, y)
    if r < 0.01:
        return
    wheel = circle(0.05).pieces
    found = contact_values(Contact(POINT, (wheel,), 0.02, wheel.outward), (x, y))
    nx, ny = x / r, y / r
    assert found.value == pytest.approx(r - 0.07, abs=1e-15)
    assert found.gradient == pytest.approx([nx, ny], abs=1e-11)
    assert found.hessian / (1 / r) == pytest.approx(
        np.array([[ny * ny, -nx * ny], [-nx * ny, nx * nx]]), abs=1e-7
    )


def test_an_eccentric_circle_and_a_face():
    """p = R + e cos(alpha): the gap is -side across - p with alpha = angle + side pi / 2."""
    wheel = se.Curve(x="0.02 + 0.05*cos(s)", y="0.05*sin(s)").pieces
    for side in (1.0, -1.0):
        for angle in np.linspace(-7.0, 7.0, 15):
            alpha = angle + side * math.pi / 2
            found = contact_values(Contact(FACE, (wheel,), 0.0, side), (-side * 0.1, angle))
            assert found.value == pytest.approx(0.05 - 0.02 * math.cos(alpha), abs=1e-15)
            assert found.gradient == pytest.approx([-side, 0.02 * math.sin(alpha)], abs=1e-12)
            wanted = np.array([[0.0, 0.0], [0.0, 0.02 * math.cos(alpha)]])
            assert found.hessian == pytest.approx(wanted, abs=1e-10)


CONTACTS = {
    "point outside": (Contact(POINT, (ELLIPSE.pieces,), 0.01, 1.0), (0.05, 0.04)),
    "point inside": (Contact(POINT, (ELLIPSE.pieces,), 0.01, -1.0), (0.035, 0.006)),
    "point and spline": (Contact(POINT, (BLOB.pieces,), 0.0, 1.0), (0.035, 0.03)),
    "point and wave": (Contact(POINT, (WAVE.pieces,), 0.0, -1.0), (0.03, 0.025)),
    "face": (Contact(FACE, (ELLIPSE.pieces,), 0.0, 1.0), (-0.04, 0.4)),
    "face on spline": (Contact(FACE, (BLOB.pieces,), 0.0, -1.0), (0.04, 2.4)),
    "gap": (Contact(GAP, (ELLIPSE.pieces, BLOB.pieces), 0.0, 1.0, -1.0), (0.06, 0.05, 0.3)),
    "roll": (Contact(ROLL, (ELLIPSE.pieces, BLOB.pieces), 0.0, 1.0, -1.0), (0.06, 0.05, 0.3)),
    "gap inside": (Contact(GAP, (ELLIPSE.pieces, circle(0.01).pieces), 0.0, -1.0, 1.0), (0.03, 0.006, 0.3)),
    "roll inside": (Contact(ROLL, (ELLIPSE.pieces, circle(0.01).pieces), 0.0, -1.0, 1.0), (0.03, 0.006, 0.3)),
    "roll on wave": (Contact(ROLL, (WAVE.pieces, circle(0.01).pieces), 0.0, -1.0, -1.0), (0.03, 0.03, 0.3)),
}


@pytest.mark.parametrize("name", CONTACTS)
def test_derivatives_of_contacts_are_those_of_finite_differences(name):
    contact, u = CONTACTS[name]
    u, h = np.array(u), 2e-6
    found = contact_values(contact, u)
    sides = [[contact_values(contact, u + sign * h * d) for sign in (1, -1)] for d in np.eye(len(u))]
    slopes = [(a.value - b.value) / (2 * h) for a, b in sides]
    bends = [(a.gradient - b.gradient) / (2 * h) for a, b in sides]
    size = 1.0 + np.abs(found.hessian).max()
    # truncation h^2 times the third derivative, some size^2; rounding 1e-16 / h
    assert found.gradient == pytest.approx(np.array(slopes), abs=1e-9 * size)
    assert found.hessian == pytest.approx(np.array(bends), abs=1e-8 * size**2)
    assert found.hessian == pytest.approx(found.hessian.T, abs=1e-15 * size)


def test_circles_roll_like_gears_over_turns():
    """s_a + s_b = R_a (beta - phi_a) + R_b (beta - phi_b), up to turns of the contact around both."""
    a, b = circle(0.3), circle(0.2)
    contact = Contact(ROLL, (a.pieces, b.pieces), 0.0, 1.0, -1.0)
    start = contact_values(contact, (0.5, 0.0, 0.0)).value
    for beta, turn in ((0.3, 0.2), (2.0, -5.0), (-9.0, 30.0), (4.0, -70.0)):
        found = contact_values(contact, (0.5 * math.cos(beta), 0.5 * math.sin(beta), turn)).value
        off = (found - start) - (0.5 * beta - 0.2 * turn)
        assert off / math.pi == pytest.approx(round(off / math.pi), abs=1e-12)  # 2 pi (R_a + R_b) = pi
