"""Symbolic systems: every line that is drawn moves with its points; more formulations, the same motion."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import simengine2d as se

pytest.importorskip("sympy")

from simengine2d.symbolic import SymbolicSystem

DRAW = {"rod": ["0, 0", "L*cos(theta), L*sin(theta)"], "cord": ["0.6, 0.1", ("x", "y")]}


@pytest.fixture(scope="module")
def link() -> SymbolicSystem:
    return SymbolicSystem(
        q="x y theta",
        C=["x - L/2*cos(theta)", "y - L/2*sin(theta)"],
        M=["m", "m", "m*L^2/12"],
        Q=[0, "-m*g", "-c*thetad"],
        parameters={"L": 0.5, "m": 0.3, "g": 9.81, "c": 0.01},
        draw=DRAW,
    )


@pytest.fixture(scope="module")
def motion(link):
    return se.dynamics(link.initial(theta=0), t_end=0.4, step=0.05, rtol=1e-10)


def test_bars_and_cords_follow_the_motion(motion):
    d = motion.drawing()
    assert d.bodies == ["rod", "cord start", "cord end"]
    for mine, theirs in (("rod.phi", "theta"), ("rod.phid", "thetad"), ("rod.phidd", "thetadd")):
        np.testing.assert_allclose(d[mine], motion[theirs], atol=1e-12)
    np.testing.assert_allclose(d["rod.xdd"], motion["xdd"], atol=1e-12)
    np.testing.assert_allclose(d["cord end.y"], motion["y"], atol=1e-14)
    np.testing.assert_array_equal(d["cord start.x"], 0.6)
    assert "rod start" in d.model.joints  # a point that stays is a bearing


def test_pictures_are_written(motion, tmp_path):
    assert motion.html(tmp_path / "m.html").stat().st_size > 10_000
    assert motion.animate(tmp_path / "m.gif", fps=5).read_bytes().startswith(b"GIF")
    other = motion.drawing({"zigzag": ["0, 0", "x, y", "x, y + 0.1"]})
    assert other.bodies[:2] == ["zigzag 1", "zigzag 2"]


def test_what_cannot_be_drawn(motion, link):
    with pytest.raises(se.ModelError, match="at least two points"):
        motion.drawing({"dot": ["x, y"]})
    with pytest.raises(se.ModelError, match="a point is 'x, y'"):
        motion.drawing({"rod": ["0, 0", "x"]})
    bare = SymbolicSystem(q="x", M=[1], Q=["-x"])
    with pytest.raises(se.ModelError, match="nothing says what to draw"):
        se.dynamics(bare.initial(x=1), t_end=0.1).drawing()
    again = pickle.loads(pickle.dumps(link))
    assert list(again.lines) == ["rod", "cord"]


def test_a_penalty_gives_nearly_the_same_motion(link, motion):
    r = se.dynamics(link.initial(theta=0), t_end=0.4, step=0.05, rtol=1e-10, formulation="penalty")
    # the constraints give way by 1 / factor = 1e-7 of their accelerations
    np.testing.assert_allclose(r["theta"], motion["theta"], atol=1e-5)
    np.testing.assert_allclose(r.lam, motion.lam, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("integrator", "order"), [("newmark", 1), (se.Newmark(beta=0.25, gamma=0.5), 2), ("hht", 2)]
)
def test_index_3_converges_to_the_same_motion(link, motion, integrator, order):
    error = []
    for step in (0.01, 0.005):
        r = se.dynamics(
            link.initial(theta=0), t_eval=motion.t, step=step, integrator=integrator, formulation="index3"
        )
        error.append(np.abs(r["theta"] - motion["theta"]).max())
        assert r.residuals["position"] < 1e-10
    assert np.log2(error[0] / error[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("formulation", ["ggl", "augmented_lagrangian"])
def test_formulations_that_hold_velocities_converge_with_the_order_of_the_method(link, motion, formulation):
    error = []
    for step in (0.01, 0.005):
        r = se.dynamics(
            link.initial(theta=0), t_eval=motion.t, step=step, integrator="hht", formulation=formulation
        )
        error.append(np.abs(r["theta"] - motion["theta"]).max())
        assert r.residuals["position"] < 1e-12 and r.residuals["velocity"] < 1e-12
    assert np.log2(error[0] / error[1]) == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize("formulation", ["matrix_r", "matrix_r(independent=theta)", "partitioning"])
def test_independent_coordinates_give_the_same_motion(link, motion, formulation):
    r = se.dynamics(link.initial(theta=0), t_eval=motion.t, rtol=1e-10, formulation=formulation)
    np.testing.assert_allclose(r["theta"], motion["theta"], atol=1e-7)
    np.testing.assert_allclose(r.lam, motion.lam, atol=1e-6)
    assert r.residuals["position"] < 1e-14 and r.residuals["velocity"] < 1e-13


@pytest.mark.parametrize("formulation", ["matrix_r", "matrix_r(independent=x)", "partitioning"])
def test_independent_coordinates_change_where_they_turn_back(formulation):
    """A pendulum of changing length that swings through the vertical and the horizontal; its energy is not constant."""
    swing = SymbolicSystem(
        q="x y", C=["x^2 + y^2 - 1 - 0.1*sin(3*t)"], M=[1, 1], Q=[0, "-g"], parameters={"g": 9.81}
    )
    begin = swing.initial(x=1)
    r = se.dynamics(begin, t_end=2, rtol=1e-9, formulation=formulation)
    expected = se.dynamics(begin, t_end=2, rtol=1e-11)
    np.testing.assert_allclose(r.q, expected.q, atol=2e-8)
    with pytest.raises(se.ModelError, match="no coordinate 'z'"):
        se.dynamics(begin, t_end=1, formulation="matrix_r(independent=z)")


@pytest.mark.parametrize("formulation", ["index3", "ggl", "augmented_lagrangian"])
def test_newmark_is_that_of_the_model(formulation):
    """The same bar as a model: the same numbers of Newmark's method."""
    m = se.Model("link")
    bar = m.body("bar", mass=0.3, inertia=0.3 * 0.5**2 / 12, at=(0.25, 0), points={"O": (-0.25, 0)})
    m.add(se.Revolute("O", m.ground, bar["O"]))
    r = se.dynamics(
        m, t_end=0.2, step=0.01, integrator="newmark", formulation=formulation, coordinates="reference_point"
    )
    s = SymbolicSystem(
        q="x y theta",
        C=["x - 0.25*cos(theta)", "y - 0.25*sin(theta)"],
        M=[0.3, 0.3, 0.3 * 0.5**2 / 12],
        Q=[0, -0.3 * 9.81, 0],
    )
    other = se.dynamics(
        s.initial(theta=0), t_end=0.2, step=0.01, integrator="newmark", formulation=formulation
    )
    np.testing.assert_allclose(other.q, r.q, atol=1e-9)
    np.testing.assert_allclose(other.qdd, r.qdd, atol=1e-6)


def test_pairs_that_do_not_match(link):
    start = link.initial(theta=0)
    with pytest.raises(se.UnsupportedError, match="choose newmark, hht"):
        se.dynamics(start, t_end=1, step=0.1, integrator="rk4", formulation="index3")
    with pytest.raises(se.UnsupportedError, match="choose dop853, rk4"):
        se.dynamics(start, t_end=1, step=0.1, integrator="newmark", formulation="projection")
    with pytest.raises(se.ModelError, match="give step="):
        se.dynamics(start, t_end=1, integrator="newmark")
