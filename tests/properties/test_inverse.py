"""Inverse dynamics of random driven mechanisms: the efforts make the motion again; forces and power balance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_balance import check_balance

import simengine2d as se
from simengine2d import builders

quickly = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
numbers = st.floats(-1.0, 1.0).map(lambda v: round(v, 3))
positive = st.floats(0.3, 2.0).map(lambda v: round(v, 3))


@st.composite
def motions(draw, start="0"):
    """A smooth function of time that begins at `start`."""
    speed, size, rate = draw(numbers), draw(numbers), draw(positive)
    return f"{start} + {speed}*t + {size}*sin({rate}*t)"


@st.composite
def arms(draw):
    """A row of bodies on pins and in guides, each with its motor, with springs, forces and torques on them."""
    model = se.Model("arm", gravity=(draw(numbers), draw(numbers)))
    before = model.ground
    for i in range(draw(st.integers(1, 3))):
        body = model.body(
            f"body{i}", mass=draw(positive), inertia=draw(positive), at=(2.0 * i + 2, draw(numbers)),
            angle=draw(numbers), points={"P": (draw(numbers), draw(numbers))},
        )  # fmt: skip
        if draw(st.booleans()):
            model.add(se.Revolute(f"pin{i}", before, body, at=(2.0 * i + 1, draw(numbers))))
            measure = se.angle(before, body)
        else:
            model.add(
                se.Translational(f"guide{i}", before, body, at=(2.0 * i + 1, draw(numbers), draw(numbers)))
            )
            frame = model.check().elements[f"guide{i}"].a
            measure = se.along(se.Frame(before.name, place=frame[1:4]), body)
        drawn = model.check().measure(measure).drawn
        model.add(se.Driver(f"motor{i}", measure, draw(motions(repr(float(drawn))))))
        before = body
    model.add(
        se.Spring("spring", se.distance(model.ground.at(0, 5), before["P"]), stiffness=3, damping=0.5, free=4)
    )
    model.add(se.PointForce("push", before["P"], fx="1 - 0.3*xd", fy="cos(3*t)", axes="body"))
    return model


@st.composite
def loops(draw):
    """A four-bar or a slider-crank with a motor on its crank and a load."""
    angle = draw(st.floats(0.5, 1.2).map(lambda v: round(v, 3)))
    driver = draw(motions(repr(angle)))
    if draw(st.booleans()):
        model = builders.four_bar(1, draw(positive) + 2, 2.5, 3, crank_angle=angle, driver=driver)
        model.add(se.Spring("load", "angle(ground, rocker)", stiffness=draw(positive), damping=0.3))
    else:
        model = builders.slider_crank(
            1, 2 + draw(positive), draw(numbers) / 4, crank_angle=angle, driver=driver
        )
        model.add(se.Spring("load", "x(ground, slider)", stiffness=draw(positive), damping=0.3))
    return model


def check_fed_forward(model):
    results = se.inverse_dynamics(model, t_end=0.4, step=1e-3)
    times = results.t[::50]
    again = se.dynamics(se.feed_forward(results), t_eval=times, rtol=1e-11)
    scale = 1.0 + np.abs(results.q).max()
    np.testing.assert_allclose(again.q, results.q[::50], rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(
        again.qd, results.qd[::50], rtol=0, atol=1e-7 * (1.0 + np.abs(results.qd).max())
    )


@pytest.mark.slow
@quickly
@given(model=arms())
def test_arms_move_again(model):
    check_fed_forward(model)


@pytest.mark.slow
@quickly
@given(model=loops())
def test_loops_move_again(model):
    check_fed_forward(model)


@quickly
@given(model=st.one_of(arms(), loops()))
def test_newton_and_euler(model):
    check_balance(se.inverse_dynamics(model, t_eval=[0.0, 0.1, 0.2]))


@quickly
@given(model=loops())
def test_power_does_not_depend_on_where_it_enters(model):
    """At the crank, at the other end, or at both."""
    times = [0.05, 0.1, 0.15]
    crank = se.inverse_dynamics(model, t_eval=times)
    other = "rocker.phi" if "rocker" in model.bodies else "slider.x"
    if np.abs(crank[f"{other}d"]).min() < 1e-3 * np.abs(crank["crank.phid"]).max():
        return  # near its dead point
    for actuators in ({"far": other}, {"far": other, "near": "crank.phi"}):
        found = se.inverse_dynamics(model, t_eval=times, actuators=actuators)
        total = sum(found[f"{name}.power"] for name in actuators)
        np.testing.assert_allclose(total, crank["motor.power"], atol=1e-9 * (1.0 + np.abs(total).max()))
        check_balance(found)


@quickly
@given(model=arms())
def test_inverse_dynamics_undoes_dynamics(model):
    """Without its drivers it moves as it likes; actuators in their place then have nothing to do."""
    free = model.copy()
    drivers = {
        name: free.elements.pop(name).measure for name in list(model.joints) if name.startswith("motor")
    }
    motion = se.dynamics(free, t_eval=[0.0, 0.1, 0.2])
    found = se.inverse_dynamics(free, motion=motion, actuators=drivers)
    size = 1.0 + np.abs(motion.lam).max() + np.abs(motion.qdd).max()
    for name in drivers:
        np.testing.assert_allclose(found[f"{name}.effort"], 0.0, atol=1e-9 * size)
    np.testing.assert_allclose(found.lam[:, : motion.lam.shape[1]], motion.lam, atol=1e-9 * size)
