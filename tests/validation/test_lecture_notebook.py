"""A lecture's notebook, end to end: the augmented equations of one link on a pin.

Source: "Augmented solution for one-bar linkage", lecture notebook (Julia, ModelingToolkit): a uniform link of length
L = 0.5 m and mass m = 0.3 kg, pinned at one end, released from rest at theta = 0, g = 9.81 m/s^2. Its printed matrices
are those below. The motion is also known in elliptic functions: with k = sin(theta_max / 2) = sin(pi / 4) and
omega^2 = 3 g / (2 L), the angle psi = theta + pi/2 from the vertical is

    sin(psi / 2) = k sn(K(k) - omega t, k)

and the force of the pin follows from the accelerations of the mass center. PRINTED holds 15 digits of these formulas,
evaluated with 30 digits by another program.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from scipy.special import ellipj, ellipk

import simengine2d as se
from simengine2d.symbolic import SymbolicSystem

LENGTH, MASS, G = 0.5, 0.3, 9.81
OMEGA2 = 1.5 * G / LENGTH
PRINTED = {  # t: theta, thetad, thetadd, R_x, R_y
    0.0: (0.0, 0.0, -29.43, 0.0, 0.73575),
    0.5: (-2.64991579234139, -5.27144070356079, 25.9437941318066, 2.75584254896675, 2.21162496977399),
    1.0: (-1.76433377594566, 7.60007135496678, 5.66031593119757, 1.24979352969400, 7.11255216788250),
    2.0: (-3.10390194337544, -1.48927834315059, 29.4090984980466, 0.249342161792377, 0.745152335873019),
    3.0: (-1.00442054086515, -7.04762943678664, -15.7914694105421, -2.99827128509371, 5.45099765944888),
}
x, y, theta = q = sp.symbols("x_1 y_1 theta_1")
L, m, g = sp.symbols("L m g")


@pytest.fixture(scope="module")
def link() -> SymbolicSystem:
    """The notebook's q, C, M and Q."""
    return SymbolicSystem(
        q,
        C=[x - L / 2 * sp.cos(theta), y - L / 2 * sp.sin(theta)],
        M=sp.diag(m, m, m * L**2 / 12),
        Q=[0, -m * g, 0],
        parameters={L: LENGTH, m: MASS, g: G},
        name="one-bar linkage",
    )


def in_symbols_of(system, *expressions):
    """Expressions of the test in the symbols of the system, which go by the same names."""
    by_name = {symbol.name: symbol for symbol in system.letters}
    rename = lambda e: e.xreplace({s: by_name[s.name] for s in e.free_symbols})
    return [rename(sp.Matrix(e)) for e in expressions]


def test_constraints_and_derivatives_are_the_notebooks(link):
    thetad = sp.Symbol("theta_1d")
    C, C_q, C_t, Q_d = in_symbols_of(
        link,
        [x - L / 2 * sp.cos(theta), y - L / 2 * sp.sin(theta)],
        [[1, 0, L / 2 * sp.sin(theta)], [0, 1, -L / 2 * sp.cos(theta)]],
        [0, 0],
        [-(thetad**2) * L / 2 * sp.cos(theta), -(thetad**2) * L / 2 * sp.sin(theta)],
    )
    assert link.C == C
    assert link.C_q == C_q
    assert link.nu == -C_t
    assert link.Q_d == Q_d


def test_the_matrix_and_the_right_hand_side_are_the_notebooks(link):
    """Printed there at q = 0: a 5 x 5 matrix with 0.3, 0.3, 0.00625, and (0, -2.943, 0, 0, 0)."""
    matrix = [
        [0.3, 0, 0, 1, 0],
        [0, 0.3, 0, 0, 1],
        [0, 0, 0.00625, 0, -0.25],
        [1, 0, 0, 0, 0],
        [0, 1, -0.25, 0, 0],
    ]
    zero = np.zeros(3)
    np.testing.assert_allclose(link.lambdify("augmented")(0.0, zero, zero), matrix, atol=1e-17)
    np.testing.assert_allclose(link.lambdify("right_side")(0.0, zero, zero), [0, -2.943, 0, 0, 0], rtol=1e-15)
    M, C_q = link.M, link.C_q
    assert link.augmented == sp.Matrix(sp.BlockMatrix([[M, C_q.T], [C_q, sp.zeros(2)]]))
    assert list(link.right_side) == [*link.Q_e, *link.Q_d]


def test_baumgartes_terms_are_the_notebooks(link):
    alpha, beta = sp.symbols("alpha beta", positive=True)
    expected = link.Q_d - 2 * alpha * (link.C_q * link.qd) - beta**2 * link.C
    assert link.baumgarte() == expected
    assert link.baumgarte(0, 0) == link.Q_d


def test_the_initial_state_is_the_notebooks(link):
    start = link.initial(theta_1=0)
    np.testing.assert_allclose(start.q, [0.25, 0, 0], atol=1e-15)
    np.testing.assert_allclose(start.qd, 0, atol=1e-15)


def elliptic_solution(t):
    """theta, thetad and thetadd."""
    k2 = 0.5
    sn, cn, _, _ = ellipj(ellipk(k2) - np.sqrt(OMEGA2) * t, k2)
    psi = 2 * np.arcsin(np.sqrt(k2) * sn)
    rate = -2 * np.sqrt(k2) * np.sqrt(OMEGA2) * cn
    return psi - np.pi / 2, rate, -OMEGA2 * np.sin(psi)


@pytest.mark.parametrize(
    "formulation", [se.Augmented(alpha=5, beta=5), se.Augmented(alpha=0, beta=0), "projection"]
)
def test_the_motion_is_the_elliptic_one(link, formulation):
    """With rtol = 1e-10, over three seconds and some two swings: 1e-7 rad, and forces of 3 N to 1e-6 N."""
    r = se.dynamics(link.initial(theta_1=0), t_end=3, step=0.05, rtol=1e-10, formulation=formulation)
    angle, rate, acceleration = elliptic_solution(r.t)
    np.testing.assert_allclose(r["theta_1"], angle, atol=1e-7)
    np.testing.assert_allclose(r["theta_1d"], rate, atol=1e-6)
    c, s = np.cos(angle), np.sin(angle)
    R_x = MASS * LENGTH / 2 * (-acceleration * s - rate**2 * c)
    R_y = MASS * LENGTH / 2 * (acceleration * c - rate**2 * s) + MASS * G
    np.testing.assert_allclose(-r.lam[:, 0], R_x, atol=1e-6)
    np.testing.assert_allclose(-r.lam[:, 1], R_y, atol=1e-6)


def test_the_motion_has_the_printed_numbers(link):
    """R_x = -lam_1 and R_y = -lam_2 are the forces of the pin on the link; all to 2e-6, as rtol allows after 3 s."""
    times = list(PRINTED)
    r = se.dynamics(link.initial(theta_1=0), t_eval=times, rtol=1e-10, formulation="augmented")
    found = np.column_stack([r["theta_1"], r["theta_1d"], r["theta_1dd"], -r.lam])
    expected = np.array([PRINTED[t] for t in times])
    np.testing.assert_allclose(elliptic_solution(np.array(times))[0], expected[:, 0], atol=1e-13)
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_the_same_link_as_a_body(link):
    model = se.Model(gravity=(0, -G))
    bar = model.bar("bar", (0, 0), (LENGTH, 0), mass=MASS)
    model.add(se.Revolute("pin", model.ground, bar["start"]))
    bodies = se.dynamics(model, t_end=3, step=0.1, rtol=1e-10)
    symbols = se.dynamics(link.initial(theta_1=0), t_end=3, step=0.1, rtol=1e-10)
    np.testing.assert_allclose(symbols["theta_1"], bodies["bar.phi"], atol=1e-7)
    np.testing.assert_allclose(-symbols["lam2"], bodies.reaction("pin", on="bar").fy, atol=1e-6)
    # the model's own equations are the same formulas, with the model's names
    equations = model.equations(notation="shabana")
    state = 0.0, np.array([0.2, -0.1, 0.7]), np.array([1.0, 2.0, 3.0])
    for quantity in ("C_q", "Q_d", "augmented", "right_side"):
        mine = link.lambdify(quantity)(*state)
        np.testing.assert_allclose(equations.lambdify(quantity)(*state), mine, atol=1e-14)


def test_it_hangs_at_rest(link):
    rest = se.equilibrium(link, start={"theta_1": -1.2})
    assert rest["theta_1"] == pytest.approx(-np.pi / 2)
    np.testing.assert_allclose(-rest.lam, [0, MASS * G], atol=1e-9)
    np.testing.assert_allclose(np.abs(se.linearize(rest).eigenvalues.imag), np.sqrt(OMEGA2), rtol=1e-9)
