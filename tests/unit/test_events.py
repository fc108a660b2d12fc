"""Events: found, located, noted, and ending a run."""

from __future__ import annotations

import numpy as np
import pytest

import simengine2d as se
from marking import slow_among

G = 9.81


def ball() -> se.Model:
    model = se.Model("ball", gravity=(0, -G))
    model.body("ball", mass=1, inertia=1, at=(0, 10), velocity=(2, 0), angular_velocity=0)
    return model


METHODS = [
    {},
    {"integrator": "newmark", "step": 0.01},
    {"integrator": "rk4", "step": 0.01},
    {"formulation": "index3"},
]


@pytest.mark.parametrize("options", METHODS, ids=["default", "newmark", "rk4", "index3"])
def test_a_falling_ball_meets_a_height(options):
    """y = 10 - g t^2 / 2 passes 1 at t = sqrt(18 / g); Newmark is exact for constant accelerations."""
    t_exact = np.sqrt(18 / G)
    r = se.dynamics(ball(), t_end=5, events=se.Event("ball.y - 1", "falling"), **options)
    assert r.t[-1] == pytest.approx(t_exact, abs=1e-9)
    np.testing.assert_allclose(r.q[-1], [2 * t_exact, 1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(r.qd[-1], [2.0, -G * t_exact, 0.0], atol=1e-8)
    np.testing.assert_allclose(r.qdd[-1], [0.0, -G, 0.0], atol=1e-9)
    assert np.all(np.diff(r.t) > 0) and "by the event 'ball.y - 1'" in r.status


def test_events_that_are_only_noted():
    """A pendulum comes to rest at both ends of its swing: every half period, rising and falling in turn."""
    model = se.builders.chain(1)
    (name,) = model.bodies
    all_of_them = se.dynamics(
        model, t_end=6, rtol=1e-10, events=[se.Event(f"{name}.phid", stop=False, name="rest")]
    )
    times = [event.t for event in all_of_them.events]
    half = np.diff(times)
    assert len(times) > 5
    np.testing.assert_allclose(half, half[0], rtol=1e-8)
    assert {event.name for event in all_of_them.events} == {"rest"}
    assert all(a.rising != b.rising for a, b in zip(all_of_them.events, all_of_them.events[1:], strict=False))
    rising = se.dynamics(model, t_end=6, rtol=1e-10, events=[se.Event(f"{name}.phid", "rising", stop=False)])
    assert [e.t for e in rising.events] == [e.t for e in all_of_them.events if e.rising]
    # looking does not change the motion
    np.testing.assert_array_equal(all_of_them.q, se.dynamics(model, t_end=6, rtol=1e-10).q)


def test_the_first_of_several_events_stops():
    events = [
        se.Event("ball.y - 2"),
        se.Event("ball.y - 5", name="high"),
        se.Event("ball.x - 0.5", stop=False),
    ]
    r = se.dynamics(ball(), t_end=5, events=events)
    assert [e.name for e in r.events] == ["ball.x - 0.5", "high"]
    assert r.t[-1] == pytest.approx(np.sqrt(10 / G), abs=1e-9)


@pytest.mark.parametrize(
    ("expression", "exact"),
    [
        ("y(ground, ball) - 1 - t", (-1 + np.sqrt(1 + 18 * G)) / G),
        ("ball.yd + g", 9.0 / G),
        ("sqrt(ball.x^2 + ball.y^2) - 11", None),
        (se.distance("ground", "ball"), None),
    ],
)
def test_expressions(expression, exact):
    model = ball()
    model.parameters["g"] = 9.0
    r = se.dynamics(model, t_end=1.5, events=se.Event(expression, stop=False))
    assert [e.t for e in r.events] == ([] if exact is None else [pytest.approx(exact, abs=1e-9)])


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (lambda: se.Event("ball.y", "up"), "direction = 'up' must be rising, falling or both"),
        (lambda: se.Event(3), "an event needs an expression"),
        (lambda: se.Event("bal.y"), "event 'bal.y': .*'bal'"),
        (lambda: se.Event("ball.y + nonsense"), "unknown name 'nonsense'"),
        (lambda: "ball.y", "events must be a list of Event"),
    ],
)
def test_wrong_events(event, sentence):
    with pytest.raises(se.ModelError, match=sentence):
        se.dynamics(ball(), t_end=1, events=[event()])


def pushed_at_one() -> se.Model:
    """A body that flies through the origin at t = 1, where a force sets in: a step ends there, too."""
    model = se.Model("pushed", gravity=(0, 0))
    model.body("a", mass=1, inertia=1, at=(-1, 0), velocity=(1, 0))
    model.add(se.PointForce("push", "a", fx="0", fy="t > 1"))
    return model


@pytest.mark.parametrize("options", METHODS, ids=["default", "newmark", "rk4", "index3"])
@pytest.mark.parametrize(
    "expression",
    slow_among(["a.x", "t - 1", "abs(a.x)", "a.x^2", "(t - 1)^3", "-a.x^4"], "abs(a.x)", "-a.x^4"),
)
def test_an_event_where_a_step_ends(expression, options):
    """Neither missed nor noted twice; a run that stops there goes on as if it had not."""
    noted = se.dynamics(pushed_at_one(), t_end=2, events=se.Event(expression, stop=False), **options)
    assert [event.touch for event in noted.events] == [expression not in ("a.x", "t - 1", "(t - 1)^3")]
    r = se.dynamics(pushed_at_one(), t_end=2, events=se.Event(expression), **options)
    # within the tolerance, x^4 is zero for |x| < (1e-6)^(1/4)
    assert r.t[-1] == pytest.approx(1.0, abs=0.032 if "^4" in expression else 1e-9) and len(r.events) == 1
    later = r.resume(2.0)
    assert len(later.events) == 1
    np.testing.assert_allclose(later.q[-1], [1.0, 0.5, 0.0], atol=0.01 if options.get("step") else 1e-6)


@pytest.mark.parametrize("early", [1e-16, 1e-15, 3e-15, -1e-15, -4e-15])
def test_a_run_that_ends_within_rounding_of_a_break_goes_on(early):
    for options in METHODS[:3]:
        r = se.dynamics(pushed_at_one(), t_end=1 - early, **options)
        assert r.resume(2.0).q[-1][1] == pytest.approx(0.5, abs=0.01)
