"""J. Cuadrado, Workshop on Multi-body Dynamics, iNaCoMM 2013, Roorkee: the four-bar in natural and mixed coordinates.

The crank leads from A to 1, the coupler from 1 to 2, the rocker from B to 2; q = (x1, y1, x2, y2) and alpha.
Everything is compared entry by entry with the notes, so the tolerance is that of rounding.

Two things in the notes are misprints. The Jacobian has 2 (y1 - xA) where 2 (y1 - yA) is meant. The right-hand side
-Phi_q' q' of the acceleration equation is printed without its minus sign: the second derivative of
(x1 - xA)^2 + (y1 - yA)^2 - L1^2 = 0 is 2 (x1 - xA) x1'' + 2 (y1 - yA) y1'' + 2 (x1'^2 + y1'^2) = 0, so the
first entry is -2 (x1'^2 + y1'^2), and likewise the others.
"""

from __future__ import annotations

from math import cos, hypot, pi, sin

import numpy as np
import pytest

import simengine2d as se
from simengine2d.coordinates.base import Family
from simengine2d.coordinates.natural.points import SharedPoint
from simengine2d.coordinates.natural.rigid_elements import RigidElement
from simengine2d.system.system import System

A, B = (0.1, -0.2), (2.6, 0.3)
L1, L2, L3 = 1.0, 2.0, 1.8
MASSES = m1, m2, m3 = 0.7, 1.9, 1.1

exactly = lambda found, wanted: np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


def four_bar(alpha, gravity=(0.0, 0.0)):
    """Drawn closed with the crank at alpha: point 2 where the circles about 1 and B meet."""
    x1, y1 = A[0] + L1 * cos(alpha), A[1] + L1 * sin(alpha)
    dx, dy = B[0] - x1, B[1] - y1
    d = hypot(dx, dy)
    foot = (d * d + L2 * L2 - L3 * L3) / (2 * d)
    height = (L2 * L2 - foot * foot) ** 0.5
    P1, P2 = (x1, y1), (x1 + (foot * dx - height * dy) / d, y1 + (foot * dy + height * dx) / d)
    model = se.Model("workshop four-bar", gravity=gravity)
    crank = model.bar("crank", A, P1, mass=m1)
    coupler = model.bar("coupler", P1, P2, mass=m2)
    rocker = model.bar("rocker", B, P2, mass=m3)
    model.add(se.Revolute("A", model.ground, crank["start"]))
    model.add(se.Revolute("1", crank["end"], coupler["start"]))
    model.add(se.Revolute("2", coupler["end"], rocker["end"]))
    model.add(se.Revolute("B", model.ground, rocker["start"]))
    return model


def family(name, model):
    system = System(model)
    return Family.registry.named(name)(system, system.drawn_q)


def open_state(family):
    """Anywhere, also where the mechanism does not close: the entries must agree all the same."""
    random = np.random.default_rng(4)
    z = family.positions(family.system.drawn_q) + 0.05 * random.normal(size=family.n)
    return z, random.normal(size=family.n)


def lengths(z):
    """The first three rows of Phi and of Phi_q in the notes."""
    x1, y1, x2, y2 = z[:4]
    (xA, yA), (xB, yB) = A, B
    Phi = [
        (x1 - xA) ** 2 + (y1 - yA) ** 2 - L1**2,
        (x2 - x1) ** 2 + (y2 - y1) ** 2 - L2**2,
        (x2 - xB) ** 2 + (y2 - yB) ** 2 - L3**2,
    ]
    Phi_q = [
        [2 * (x1 - xA), 2 * (y1 - yA), 0, 0],
        [-2 * (x2 - x1), -2 * (y2 - y1), 2 * (x2 - x1), 2 * (y2 - y1)],
        [0, 0, 2 * (x2 - xB), 2 * (y2 - yB)],
    ]
    return Phi, Phi_q


def gamma_of_lengths(zd):
    x1d, y1d, x2d, y2d = zd[:4]
    return [-2 * (x1d**2 + y1d**2), -2 * ((x2d - x1d) ** 2 + (y2d - y1d) ** 2), -2 * (x2d**2 + y2d**2)]


def test_natural_coordinates():
    f = family("natural", four_bar(1.1))
    assert f.names == ["1.x", "1.y", "2.x", "2.y"]
    assert f.row_names == ["crank.length", "coupler.length", "rocker.length"]
    z, zd = open_state(f)
    e = f.at(0.0, z, zd)
    Phi, Phi_q = lengths(z)
    exactly(e.Phi, Phi)
    exactly(e.J, Phi_q)
    exactly(e.nu, 0.0)
    exactly(e.gamma, gamma_of_lengths(zd))


@pytest.mark.parametrize("element", ["spring", "driver"])
@pytest.mark.parametrize("alpha", [1.1, 1.1 - pi])
def test_mixed_coordinates(element, alpha):
    """alpha comes with the first element that needs it; the row (x1 - xA) - L1 cos alpha is that of the notes."""
    model = four_bar(alpha)
    if element == "spring":
        model.add(se.Spring("torsion", "angle(ground, crank)", stiffness=3.0))
    else:
        model.add(se.Driver("motor", "angle(ground, crank)", f"{alpha} + 2*t"))
    f = family("mixed", model)
    assert f.names == ["1.x", "1.y", "2.x", "2.y", "crank.phi"]
    assert f.own_rows == ["crank.length", "coupler.length", "rocker.length", "crank.angle"]
    z, zd = open_state(f)
    e = f.at(0.0, z, zd)
    Phi, Phi_q = lengths(z)
    exactly(e.Phi[:4], [*Phi, z[0] - A[0] - L1 * cos(z[4])])
    exactly(e.J[:4], np.block([[np.array(Phi_q), np.zeros((3, 1))], [1, 0, 0, 0, L1 * sin(z[4])]]))
    exactly(e.gamma[:4], [*gamma_of_lengths(zd), -L1 * zd[4] ** 2 * cos(z[4])])
    if element == "driver":  # the row of the driver is alpha - f(t)
        assert f.row_names[4:] == ["motor.drive"]
        exactly(e.Phi[4], z[4] - alpha)
        exactly(e.J[4], [0, 0, 0, 0, 1])
        exactly([e.nu[4], e.gamma[4]], [2, 0])
    else:  # its torque acts on alpha alone
        exactly(e.Q, [0, 0, 0, 0, -3.0 * z[4]])


def test_the_other_row_where_the_cosine_is_flat():
    model = four_bar(0.3)
    model.add(se.Spring("torsion", "angle(ground, crank)", stiffness=3.0))
    f = family("mixed", model)
    z, zd = open_state(f)
    e = f.at(0.0, z, zd)
    exactly(e.Phi[3], z[1] - A[1] - L1 * sin(z[4]))
    exactly(e.J[3], [0, 1, 0, 0, -L1 * cos(z[4])])
    exactly(e.gamma[3], -L1 * zd[4] ** 2 * sin(z[4]))


@pytest.mark.parametrize("name", ["natural", "mixed"])
def test_the_sign_of_gamma(name):
    """gamma = -d(Phi_q)/dt qd, by central differences; Phi_q is at most quadratic here but for the cosine."""
    model = four_bar(1.1)
    if name == "mixed":
        model.add(se.Spring("torsion", "angle(ground, crank)", stiffness=3.0))
    f = family(name, model)
    z, zd = open_state(f)
    h = 1e-4
    change = (f.at(0.0, z + h * zd, zd).J.copy() - f.at(0.0, z - h * zd, zd).J) / (2 * h)
    np.testing.assert_allclose(f.at(0.0, z, zd).gamma, -change @ zd, atol=1e-7)


def test_mass_matrix_of_homogeneous_rods():
    """m/3 and m/6 of each rod, at the points that it shares; what belongs to A and B drops out."""
    f = family("natural", four_bar(1.1))
    one = np.eye(2)
    wanted = np.block([[(m1 + m2) / 3 * one, m2 / 6 * one], [m2 / 6 * one, (m2 + m3) / 3 * one]])
    exactly(f.matrices.M, wanted)


def test_weight_of_homogeneous_rods():
    """C_P of the middle is 1/2 at both ends: half of the weight m g goes to each."""
    f = family("natural", four_bar(1.1, gravity=(0.0, -9.81)))
    z, zd = open_state(f)
    exactly(f.at(0.0, z, zd).Q, [0, -9.81 * (m1 + m2) / 2, 0, -9.81 * (m2 + m3) / 2])


def test_spring_on_point_2():
    """F = -k (l - l0) (r2 - rC) / l acts on x2, y2; the spring needs no coordinate.

    The notes write Q = C_P^T F = (0, 0, Fx, Fy). Here the force reaches the coordinates through the mass center and
    the angle of its body. Both have the same power in every motion of a rigid coupler, so they differ by a multiple
    of the gradient of its length: the multiplier of that row changes, and nothing else.
    """
    model = four_bar(1.1)
    C, k, l0 = (3.0, 2.0), 40.0, 0.5
    model.ground.points["C"] = C
    model.add(se.Spring("spring", "distance(ground.C, coupler.end)", stiffness=k, free=l0))
    f = family("mixed", model)
    assert f.n == 4
    z = f.positions(f.system.drawn_q)
    d = z[2:] - C
    length = np.hypot(*d)
    e = f.at(0.0, z)
    difference = np.array([0, 0, *(-k * (length - l0) * d / length)]) - e.Q
    gradient = e.J[1]
    np.testing.assert_allclose(
        difference, gradient * (gradient @ difference) / (gradient @ gradient), atol=1e-12
    )


# The two-point element --------------------------------------------------------------------------------

L, X, Y = 1.7, 0.4, -0.3  # length, and a place in axes along the element


def element(s1=0.0j, s2=complex(L, 0.0)):
    return RigidElement("rod", SharedPoint("1", {"rod": s1}), SharedPoint("2", {"rod": s2}))


def test_a_point_of_an_element():
    """C_P = [L - xP, yP, xP, -yP; -yP, L - xP, yP, xP] / L"""
    wanted = np.array([[L - X, Y, X, -Y], [-Y, L - X, Y, X]]) / L
    exactly(element().matrix(complex(X, Y)), wanted)


def test_mass_matrix_of_an_element():
    """A body with its mass center at (xG, yG) of the element and the inertia I1 about its first point."""
    m, IG = 2.3, 0.9
    I1 = IG + m * (X**2 + Y**2)
    first, between, last, turn = m - 2 * m * X / L + I1 / L**2, m * X / L - I1 / L**2, I1 / L**2, m * Y / L
    wanted = [
        [first, 0, between, -turn],
        [0, first, turn, between],
        [between, turn, last, 0],
        [-turn, between, 0, last],
    ]
    exactly(element(-complex(X, Y), L - complex(X, Y)).mass_matrix(m, IG), wanted)


def test_mass_matrix_of_one_homogeneous_rod():
    m = 2.3
    one = np.eye(2)
    wanted = np.block([[m / 3 * one, m / 6 * one], [m / 6 * one, m / 3 * one]])
    exactly(element(-L / 2 + 0j, L / 2 + 0j).mass_matrix(m, m * L**2 / 12), wanted)


@pytest.mark.parametrize("vector", [False, True])
def test_the_mass_matrix_is_the_integral_of_the_points(vector):
    """M = sum of m C^T C over a cloud of point masses about its mass center, for two points and for a unit vector."""
    random = np.random.default_rng(7)
    masses, places = random.uniform(0.1, 1, 30), random.normal(size=30) + 1j * random.normal(size=30)
    places -= masses @ places / masses.sum()
    if vector:
        rod = RigidElement("rod", SharedPoint("1", {"rod": 0.3 - 0.8j}), has_vector=True)
    else:
        rod = element(0.3 - 0.8j, -1.1 + 0.2j)
    wanted = sum(m * rod.matrix(s).T @ rod.matrix(s) for m, s in zip(masses, places, strict=True))
    found = rod.mass_matrix(masses.sum(), masses @ np.abs(places) ** 2)
    np.testing.assert_allclose(found, wanted, atol=1e-13)
