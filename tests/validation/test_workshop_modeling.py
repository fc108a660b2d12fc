"""J. Cuadrado, Workshop on Multi-body Dynamics, iNaCoMM 2013, Roorkee: one mechanism in four kinds of coordinates.

A crank from A to B, a rod that begins at B and slides in a guide at C, and an arm from D to C at right angles to the
rod. The notes write its constraints four times: in relative, reference-point, natural and mixed coordinates. All of
them have to hold in the motion that the engine finds, and their Jacobians have to allow the same motions.
"""

from __future__ import annotations

from math import asin, atan2, cos, hypot, pi, sin, sqrt

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among

L1, L2, L3, L4 = 1.0, 3.0, 0.8, 3.0
A, D = (0.0, 0.0), (L4, 0.0)
FAMILIES = ["reference_point", "natural", "mixed", "relative"]


def mechanism(psi1=1.2, driven=False):
    """Drawn closed: the triangle B C D has its right angle at C."""
    B = L1 * cos(psi1), L1 * sin(psi1)
    BD = hypot(D[0] - B[0], D[1] - B[1])
    theta = atan2(D[1] - B[1], D[0] - B[0]) + asin(L3 / BD)  # of the rod
    s, along = sqrt(BD**2 - L3**2), (cos(theta), sin(theta))
    C, end = (tuple(B[k] + x * along[k] for k in range(2)) for x in (s, L2))
    m = se.Model("workshop", gravity=(0, -9.81))
    crank, rod, arm = m.bar("crank", A, B, mass=1), m.bar("rod", B, end, mass=2), m.bar("arm", D, C, mass=1)
    m.add(se.Revolute("A", m.ground, crank["start"]))
    m.add(se.Revolute("B", crank["end"], rod["start"]))
    m.add(se.Revolute("D", m.ground, arm["start"]))
    m.add(se.Translational("C", rod, arm["end"], direction=theta))
    if driven:
        m.add(se.Driver("motor", se.angle(m.ground, crank), f"{psi1} + 2*pi*t"))
    return m


def relative(r):
    """psi1 of the crank, psi2 between crank and rod at B, s along the rod."""
    psi1, psi2 = r["crank.phi"], r["rod.phi"] - r["crank.phi"] + pi
    s = r["along(rod.start, arm.end)"]
    theta = psi1 + psi2 - pi
    yield L1 * np.cos(psi1) + s * np.cos(theta) + L3 * np.sin(theta) - L4
    yield L1 * np.sin(psi1) + s * np.sin(theta) - L3 * np.cos(theta)


def reference_point(r):
    """(x, y, psi) of the centers of the three bodies."""
    (x1, y1, psi1), (x2, y2, psi2), (x3, y3, psi3) = (
        [r[f"{body}.{name}"] for name in ("x", "y", "phi")] for body in ("crank", "rod", "arm")
    )
    yield (x1 - A[0]) - L1 / 2 * np.cos(psi1)
    yield (y1 - A[1]) - L1 / 2 * np.sin(psi1)
    yield (x1 + L1 / 2 * np.cos(psi1)) - (x2 - L2 / 2 * np.cos(psi2))
    yield (y1 + L1 / 2 * np.sin(psi1)) - (y2 - L2 / 2 * np.sin(psi2))
    yield psi3 - (psi2 + pi / 2)
    yield (x2 - x3) * np.cos(psi3) + (y2 - y3) * np.sin(psi3) - L3 / 2
    yield (x3 - D[0]) - L3 / 2 * np.cos(psi3)
    yield (y3 - D[1]) - L3 / 2 * np.sin(psi3)


def natural(r):
    """Point 1 at B, point 2 at the end of the rod, point 3 at the end of the arm."""
    x1, y1, x2, y2, x3, y3 = (r[f"{end}.{k}"] for end in ("crank.end", "rod.end", "arm.end") for k in "xy")
    yield (x1 - A[0]) ** 2 + (y1 - A[1]) ** 2 - L1**2
    yield (x2 - x1) ** 2 + (y2 - y1) ** 2 - L2**2
    yield (x3 - D[0]) ** 2 + (y3 - D[1]) ** 2 - L3**2
    yield (x2 - x1) * (x3 - D[0]) + (y2 - y1) * (y3 - D[1])
    yield (x3 - x1) * (y2 - y1) - (y3 - y1) * (x2 - x1)


def mixed(r):
    """The natural ones, and the angle phi at A by a scalar product."""
    yield from natural(r)
    x1, y1 = r["crank.end.x"], r["crank.end.y"]
    yield (x1 - A[0]) * (D[0] - A[0]) + (y1 - A[1]) * (D[1] - A[1]) - L1 * L4 * np.cos(r["crank.phi"])


@pytest.mark.parametrize("equations", [relative, reference_point, natural, mixed])
def test_the_motion_satisfies_the_equations_of_the_notes(equations):
    r = se.kinematics(mechanism(driven=True), t_end=1, step=0.01)
    errors = np.array(list(equations(r)))
    assert errors.shape[0] == {relative: 2, reference_point: 8, natural: 5, mixed: 6}[equations]
    np.testing.assert_allclose(errors, 0.0, atol=1e-12)


def test_rows_and_coordinates_are_as_many_as_in_the_notes():
    """m = n - g with one degree of freedom, g = 1."""
    for family, n in {"relative": 3, "reference_point": 9, "natural": 6}.items():
        at = se.formulate(mechanism(), family).at()
        assert at.Phi_q.shape == (n - 1, n)


def test_jacobian_of_the_reference_points_allows_the_same_motion():
    """The rows of the notes differ from ours by factors and combinations: both have the same null space."""
    names = [f"{body}.{name}" for body in ("crank", "rod", "arm") for name in ("x", "y", "phi")]
    q, h = se.assemble(mechanism()).q, 1e-30  # of a complex step
    rows = [list(reference_point(dict(zip(names, q + 1j * h * unit, strict=True)))) for unit in np.eye(9)]
    J = np.imag(rows).T / h
    ours = se.formulate(mechanism()).at().Phi_q
    assert [np.linalg.matrix_rank(matrix, 1e-9) for matrix in (J, ours, np.vstack([J, ours]))] == [8, 8, 8]


@pytest.mark.parametrize("family", slow_among(FAMILIES, "mixed", "natural"))
def test_it_swings_alike_in_every_family(family):
    wanted = se.dynamics(mechanism(), t_end=1, rtol=1e-9, coordinates="reference_point")
    found = se.dynamics(mechanism(), t_end=1, rtol=1e-9, coordinates=family)
    np.testing.assert_allclose(found["crank.phi"][-1], wanted["crank.phi"][-1], rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.array(list(natural(found))), 0.0, atol=1e-9)
