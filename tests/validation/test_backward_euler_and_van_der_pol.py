"""Single steps in exact arithmetic, and the Van der Pol oscillator to 22 digits.

Backward Euler: the assignment problems of the course ME451 (University of Wisconsin-Madison); the steps are roots of
y1 - h f(t1, y1) = y, computed in 40 digits. Newmark: m x'' + c x' + k x = 0 with the parameters of the same course, in
exact rational arithmetic. Van der Pol: y'' = (1 - y^2) y' - y, y(0) = 2, y'(0) = 0, by extrapolation in 30 digits; two
orders agree to 2.4e-27.
"""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among
from simengine2d.integrators.ode_method import OdeMethod
from simengine2d.methods import Integrator

# name: f, y(0), the first five steps of h = 0.1
BACKWARD_EULER = {
    "y' = -0.1 y + sin t": (
        lambda t, y: -0.1 * y + np.sin(t),
        0.0,
        [
            0.009884496697705757,
            0.029456861165556316,
            0.05842463547692106,
            0.09640244525523377,
            0.1429158407085684,
        ],
    ),
    "y' = -y^2": (
        lambda t, y: -(y**2),
        2.4,
        [2.0, 1.7082039324993692, 1.4870670818940737, 1.314322673014164, 1.1760202987151556],
    ),
    "y' = sin y, at rest": (lambda t, y: np.sin(y), 0.0, [0.0] * 5),
    "y' = sin y": (
        lambda t, y: np.sin(y),
        1.0,
        [1.0885977523978936, 1.18110020729766, 1.276809839228305, 1.3748971433593884, 1.4744332100136404],
    ),
}


@pytest.mark.parametrize("newton", ["exact", "modified", "fixed_point"])
@pytest.mark.parametrize("problem", BACKWARD_EULER)
@pytest.mark.parametrize("method", [se.BackwardEuler(), se.BDF(1)], ids=repr)
def test_first_steps_of_backward_euler(method, problem, newton):
    """Newton's iteration ends at rounding; the others estimate what is left, at most 1e-13 of y in each step."""
    f, y0, expected = BACKWARD_EULER[problem]
    found = se.ivp.solve(f, (0, 0.5), y0, method, h=0.1, newton=newton)
    np.testing.assert_allclose(found.t, np.arange(6) * 0.1, atol=1e-15)
    np.testing.assert_allclose(found.y[0, 1:], expected, rtol=0, atol=2e-15 if newton == "exact" else 1e-12)


VAN_DER_POL = {5: (-0.8370774502947651, 1.307088937799672), 20: (2.0081497621749484, -0.04250887527320215)}
ADAPTIVE = [name for name, cls in Integrator.registry.items() if issubclass(cls, OdeMethod) and cls.adaptive]


def van_der_pol(t, y):
    return y[1], (1.0 - y[0] ** 2) * y[1] - y[0]


OTHER_NAMES = ["ode45", "ode23", "ode113", "ode15s", "ode23s", "ode23t", "ode23tb"]


@pytest.mark.parametrize("method", [*ADAPTIVE, *slow_among(OTHER_NAMES, "ode23t", "ode23tb")])
def test_van_der_pol_to_the_tolerance_asked(method):
    """Three periods, with errors that are never damped along the cycle."""
    for rtol in (1e-3, 1e-4):
        found = se.ivp.solve(van_der_pol, (0, 20), [2, 0], method, rtol=rtol, atol=rtol, t_eval=[5, 20])
        np.testing.assert_allclose(found.y.T, [VAN_DER_POL[5], VAN_DER_POL[20]], rtol=0, atol=rtol)


@pytest.mark.parametrize("method", ["dormand_prince", "tsitouras5", "dop853", "adams_variable", "ode45"])
def test_van_der_pol_to_a_tight_tolerance(method):
    for rtol in (1e-7, 1e-10):
        found = se.ivp.solve(van_der_pol, (0, 20), [2, 0], method, rtol=rtol, atol=rtol, t_eval=[5, 20])
        np.testing.assert_allclose(found.y.T, [VAN_DER_POL[5], VAN_DER_POL[20]], rtol=0, atol=rtol)


# x, v, a after so many steps
UNDAMPED = {
    1: (39921 / 40121, -40001 / 401210, -39921 / 40121),
    2: (0.9801149862932295, -0.19830840711607986, -0.9801149862932295),
    5: (0.8779909715757137, -0.47786829513352913, -0.8779909715757137),
}
DAMPED = {
    1: (577568111 / 1289632000, -17504437 / 16120400, -1312637 / 806020),
    2: (0.3917047778907017, -1.1602106989713945, -1.3927875067170976),
    5: (0.20527218634207195, -1.3084874536781392, -0.6248156273165669),
}


@pytest.mark.parametrize(
    ("m", "c", "k", "h", "x0", "v0", "expected"),
    [(1, 0, 1, 0.1, 1, 0, UNDAMPED), (2, 0.3, 8, 0.05, 0.5, -1, DAMPED)],
    ids=["undamped", "damped"],
)
def test_single_steps_of_newmark(m, c, k, h, x0, v0, expected):
    """beta = 0.3025 and gamma = 0.6, to rounding."""
    found = se.ivp.newmark(m, c, k, 0, (0, 5 * h), x0, v0, h)
    for step, values in expected.items():
        got = found.q[0, step], found.qd[0, step], found.qdd[0, step]
        np.testing.assert_allclose(got, values, rtol=0, atol=1e-14)
