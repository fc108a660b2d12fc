"""Linearization in every coordinate family against differences of that family's own equations of motion."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.coordinates.base import family_of
from simengine2d.system.system import System

FAMILIES = ("reference_point", "natural", "mixed", "relative", "mixed(angles=coupler)", "relative(cut=B)")


def sprung_four_bar():
    m = builders.four_bar(1, 2, 3, 3)
    m.add(se.Spring("s", "distance(ground, coupler)", stiffness=300, free=1.0, damping=5))
    return m


def accelerations(family, t, kept, z, values, rates):
    """zdd of the kept coordinates, which have these values and rates; the others follow from the constraints."""
    z, select = z.copy(), np.eye(family.n)[kept]
    for _ in range(20):
        e = family.at(t, z)
        z += np.linalg.lstsq(np.vstack([e.J, select]), np.append(-e.Phi, values - z[kept]), rcond=1e-12)[0]
    J = family.at(t, z).J.copy()
    zd = np.linalg.lstsq(np.vstack([J, select]), np.append(family.at(t, z).nu, rates), rcond=1e-12)[0]
    e = family.at(t, z, zd)
    m = e.J.shape[0]
    matrix = np.block([[e.M, e.J.T], [e.J, np.zeros((m, m))]])
    return np.linalg.lstsq(matrix, np.append(e.Q, e.gamma), rcond=1e-12)[0][kept]


def by_differences(family, t, kept, z, zd, h=1e-4):
    """The lower half of A, by differences of fourth order."""
    x = np.append(z[kept], zd[kept])
    at = lambda x: accelerations(family, t, kept, z, x[: len(kept)], x[len(kept) :])
    steps = h * np.eye(x.size)
    columns = [(8 * (at(x + d) - at(x - d)) - (at(x + 2 * d) - at(x - 2 * d))) / (12 * h) for d in steps]
    return np.column_stack(columns)


def states(name):
    """The model, and the state about which is linearized: at rest in an equilibrium, elsewhere, and in motion."""
    m = sprung_four_bar()
    equilibrium = se.equilibrium(m, method="energy")
    if name == "equilibrium":
        return m, equilibrium, equilibrium.q[0], np.zeros(9), 0.0
    if name == "drawn":
        q = se.assemble(m).q
        return m, q, q, np.zeros(9), 0.0
    r = se.dynamics(m, t_end=0.3, rtol=1e-11)
    return m, r, r.q[-1], r.qd[-1], r.t[-1]


@pytest.mark.parametrize("state", ["equilibrium", "drawn", "moving"])
@pytest.mark.parametrize("coordinates", FAMILIES)
def test_the_matrix_of_every_family_is_that_of_its_own_equations(state, coordinates):
    m, at, q, qd, t = states(state)
    lin = se.linearize(m, at=at, coordinates=coordinates)
    family = family_of(coordinates, System(m), q)
    kept = [family.names.index(name) for name in lin.states[:1]]
    expected = by_differences(family, t, kept, family.positions(q), family.velocities(q, qd))
    np.testing.assert_allclose(lin.A[1:], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_array_equal(lin.A[0], [0, 1])


def test_states_are_chosen_among_the_coordinates_of_the_family():
    m = sprung_four_bar()
    names = se.formulate(m, "natural").names
    one, other = (se.linearize(m, coordinates="natural", states=[name]) for name in names[:2])
    assert (one.states, other.states) == ([names[0], f"{names[0]}d"], [names[1], f"{names[1]}d"])
    np.testing.assert_allclose(np.sort(one.eigenvalues), np.sort(other.eigenvalues), rtol=1e-9)
    with pytest.raises(se.ModelError, match="is not one of the natural coordinates"):
        se.linearize(m, coordinates="natural", states=["crank.phi"])
    with pytest.raises(se.ModelError, match="2 states are given"):
        se.linearize(m, coordinates="natural", states=names[:2])


def test_states_that_depend_on_each_other_are_refused():
    m = se.load("double_pendulum")
    with pytest.raises(se.ModelError, match="do not determine the pose"):
        se.linearize(m, coordinates="natural", states=se.formulate(m, "natural").names[:2])
