"""Adams methods of every order: their weights, their orders, iterated corrections."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from simengine2d.integrators.adams import bashforth, moulton


def test_weights_are_those_of_the_books():
    """Hairer, Norsett & Wanner I, tables III.1.1 and III.1.2."""
    assert bashforth(1) * 1 == pytest.approx([1])
    assert bashforth(2) * 2 == pytest.approx([3, -1])
    assert bashforth(3) * 12 == pytest.approx([23, -16, 5])
    assert bashforth(4) * 24 == pytest.approx([55, -59, 37, -9])
    assert bashforth(5) * 720 == pytest.approx([1901, -2774, 2616, -1274, 251])
    assert bashforth(6) * 1440 == pytest.approx([4277, -7923, 9982, -7298, 2877, -475])
    assert moulton(2) * 2 == pytest.approx([1, 1])
    assert moulton(3) * 12 == pytest.approx([5, 8, -1])
    assert moulton(4) * 24 == pytest.approx([9, 19, -5, 1])
    assert moulton(5) * 720 == pytest.approx([251, 646, -264, 106, -19])
    assert moulton(6) * 1440 == pytest.approx([475, 1427, -798, 482, -173, 27])


@pytest.mark.parametrize("k", range(1, 9))
def test_polynomials_of_their_degree_are_integrated_exactly(k):
    """The slopes of t^p with p <= k, at the nodes of the formulas."""
    for p in range(1, k + 1):
        assert bashforth(k) @ [p * (-float(j)) ** (p - 1) for j in range(k)] == pytest.approx(1.0)
        assert moulton(k) @ [p * (1.0 - j) ** (p - 1) for j in range(k)] == pytest.approx(1.0)


@pytest.mark.parametrize("method", [se.AdamsBashforth, se.AdamsBashforthMoulton])
@pytest.mark.parametrize("k", range(1, 8))
def test_orders_are_observed(method, k):
    order = se.lab.order(method(k=k))
    assert order.claimed == k
    assert order.observed["y"] == pytest.approx(k, abs=0.35)


@pytest.mark.parametrize("corrections", [2, 3])
@pytest.mark.parametrize("k", [2, 4, 6])
def test_iterated_corrections_keep_the_order(k, corrections):
    order = se.lab.order(se.AdamsBashforthMoulton(k=k, corrections=corrections))
    assert order.observed["y"] == pytest.approx(k, abs=0.35)


def test_many_corrections_solve_the_implicit_formula():
    """P(EC)^m E converges to y1 = y + h (5 f1 + 8 f0 - f-1) / 12, with h |f_y| / 2 < 1."""
    f, h = lambda t, y: np.cos(t) - 2.0 * y, 0.05
    r = se.ivp.solve(f, (0, 1), [0.0], se.AdamsBashforthMoulton(k=3, corrections=60), h=h)
    t, y = r.t, r.y[0]
    left = y[3:] - y[2:-1] - h / 12 * (5 * f(t[3:], y[3:]) + 8 * f(t[2:-1], y[2:-1]) - f(t[1:-2], y[1:-2]))
    assert np.abs(left).max() < 1e-14
    once = se.ivp.solve(f, (0, 1), [0.0], se.AdamsBashforthMoulton(k=3), h=h)
    assert np.abs(once.y - r.y).max() > 1e-7
    # one evaluation for each correction, one at the end of each step; the starter has four
    assert r.nfev == pytest.approx(18 * 61 + 2 * 4 + 1, abs=3)


def test_order_one_is_euler():
    f = lambda t, y: -y
    euler = se.ivp.solve(f, (0, 1), [1.0], "forward_euler", h=0.1)
    assert se.ivp.solve(f, (0, 1), [1.0], "ab1", h=0.1).y == pytest.approx(euler.y, rel=1e-15)


def test_a_mechanism_moves_by_order_six():
    m = se.builders.chain(2)
    exact = se.dynamics(m, t_end=0.5, rtol=1e-12)["link2.phi"][-1]
    errors = [
        abs(
            se.dynamics(m, t_end=0.5, step=h, integrator="ab6", formulation="projection")["link2.phi"][-1]
            - exact
        )
        for h in (0.005, 0.0025)
    ]
    assert errors[1] < 1e-9 and errors[0] > 20 * errors[1]


@pytest.mark.parametrize("options", [{"k": 0}, {"k": 9}, {"corrections": 0}])
def test_what_is_out_of_range_is_refused(options):
    with pytest.raises(se.ModelError, match="adams_bashforth_moulton needs"):
        se.AdamsBashforthMoulton(**options)


def test_a_corrected_step_is_explained():
    f = lambda t, y: -(y**2)
    step = se.explain(f, integrator=se.AdamsBashforthMoulton(k=3, corrections=2), y0=[1], step=0.1, at=0.4)
    names = [line.name for line in step]
    assert names[-4:] == ["prediction", "correction 1", "evaluation 2", "correction 2"]
