"""Newton's matrix of the index-3 methods against differences of the equations of motion:

    K = M + b ((Phi_q^T lam)_q - QA_q) - c QA_qd

Of applied forces that depend on velocities or turn with a body, the matrix holds the symmetric part of K.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_rows import FIRST, JOINTS, STEPS, H, posed

import simengine2d as se
from marking import slow_among
from mechanisms import FORCES
from simengine2d.system import elimination
from simengine2d.system.derivatives import newton_matrix
from simengine2d.system.equations_of_motion import accelerate
from simengine2d.system.system import System

# the differences of Phi_q have the truncation and rounding of those of Phi, which test_rows explains
TOLERANCE = 1e-7
T, B, C = 0.7, 0.3, 0.05  # time, and the weights b and c of positions and velocities


def dense(d, v):
    """The matrix whose upper triangle is in the slots v."""
    program = d.program
    order, pivot, column = (
        np.asarray(a, dtype=np.int64) for a in (program.order, program.pivot, program.column)
    )
    K = np.zeros((order.size, order.size))
    for k in range(order.size):
        for p in range(pivot[k], pivot[k + 1] - 1):
            K[order[k], order[column[p]]] = K[order[column[p]], order[k]] = v[p]
    return K


def matrix(system, q, qd, lam, b=B, c=C):
    d = elimination.elimination_program(system, False, True)
    w = system.new_workspace(d)
    with np.errstate(all="ignore"):  # random rows may depend on each other
        accelerate(system.arrays, d, T, q, qd, w)  # which evaluates the state
    newton_matrix(system.arrays, d, T, q, qd, lam, b, c, w)
    return dense(d, w.v), d


def differences(f, z):
    """Jacobian of f at z, one column per variable."""
    return np.column_stack(
        [FIRST @ np.array([f(z + H * k * unit) for k in STEPS]) for unit in np.eye(z.size)]
    )


def expected(system, q, qd, lam, b=B, c=C):
    constraint = differences(lambda z: system.Phi_q(T, z).T @ lam, q) if system.m else 0.0
    by_q = differences(lambda z: system.QA(T, z, qd), q)
    by_qd = differences(lambda z: system.QA(T, q, z), qd)
    return system.M() + b * (constraint - by_q) - c * by_qd


def check(system, q, qd, lam):
    n = system.n
    K, d = matrix(system, q, qd, lam)
    exact = expected(system, q, qd, lam)
    exact = 0.5 * (exact + exact.T) + np.diag(d.template[d.diagonal[:n]] - system.masses)
    size = 1.0 + np.abs(exact).max()
    np.testing.assert_allclose(K[:n, :n], exact, atol=TOLERANCE * size, rtol=0)
    np.testing.assert_allclose(K[n:, :n], system.Phi_q(T, q), atol=1e-13)
    assert not np.any(K[n:, n:])


@pytest.mark.parametrize("name", slow_among(JOINTS, "RollingCurves"))
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_constraints(name, data):
    system, q = data.draw(posed(name))
    lam = np.array(data.draw(st.lists(st.floats(-3.0, 3.0), min_size=system.m, max_size=system.m)))
    check(system, q, np.zeros(6), lam)


Q0 = np.array([0.3, -0.2, 0.4, 3.5, 1.1, -0.7])
QD0 = np.array([0.5, 0.1, -0.8, -0.3, 0.9, 1.2])


@pytest.mark.parametrize("force", FORCES.values(), ids=FORCES)
def test_forces(force):
    model = se.Model(gravity=(0, 0))
    model.body("one", mass=2, inertia=0.5, at=(0, 0), points={"P": (0.6, -0.1)})
    model.body("two", mass=3, inertia=0.7, at=(3, 0), points={"R": (-0.2, 0.5)})
    model.add(force)
    check(System(model), Q0, QD0, np.zeros(0))


def test_forces_and_constraints_together():
    model = se.Model()
    model.body("one", mass=2, inertia=0.5, at=(0, 0), points={"P": (0.6, -0.1)})
    model.body("two", mass=3, inertia=0.7, at=(3, 0), points={"R": (-0.2, 0.5)})
    model.add(se.Revolute("A", "ground", "one", at=(0, 1)))
    model.add(se.Link("B", "one.P", "two.R"))
    model.add(se.Spring("s", se.distance("ground", "two.R"), stiffness=5, damping=1, free=2))
    model.add(se.Torque("t", "one", "-2*phid"))
    check(System(model), Q0, QD0, np.array([1.0, -2.0, 3.0]))
