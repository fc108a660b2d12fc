"""Kinematics: closed forms, dead points, change points, drivers of every kind, and what is refused.

Lengths are of order 1, so positions are good to the rounding of a Newton iteration, 1e-12; velocities and
accelerations lose a digit for every factor of about 10 in speed. Wider tolerances say why where they stand.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders


def driven(value, crank=1.0, rod=2.0, angle=0.0):
    """A slider-crank whose crank angle follows `value`."""
    return builders.slider_crank(crank, rod, crank_angle=angle, driver=value)


def pushed(value, start):
    """A slider-crank of links 1 and 2 whose slider is driven, drawn with the slider at `start`."""
    angle = math.acos((1 + start**2 - 4) / (2 * start))
    model = builders.slider_crank(1, 2, crank_angle=angle)
    model.add(se.Driver("push", "x(ground, slider)", value))
    return model


def parallelogram(value, angle="pi/2"):
    return builders.four_bar(1, 2, 1, 2, crank_angle=angle, driver=value)


# Closed forms -----------------------------------------------------------------------------------------


def test_slider_crank_with_accelerating_crank():
    results = se.kinematics(driven("t^2", 4, 6), t_end=2, step=0.02)
    t = results.t
    theta, w, a = t**2, 2 * t, 2.0
    root = np.sqrt(36 - 16 * np.sin(theta) ** 2)
    slope = -4 * np.sin(theta) - 8 * np.sin(2 * theta) / root  # dx/dtheta
    curve = -4 * np.cos(theta) - 16 * np.cos(2 * theta) / root - 64 * np.sin(2 * theta) ** 2 / root**3
    np.testing.assert_allclose(results["slider.x"], 4 * np.cos(theta) + root, atol=1e-12)
    np.testing.assert_allclose(results["slider.xd"], slope * w, atol=1e-11)
    np.testing.assert_allclose(results["slider.xdd"], curve * w**2 + slope * a, atol=1e-10)


def test_coarse_outputs_agree_with_fine_ones():
    """The walk divides its steps by itself: outputs 100 times farther apart change nothing but rounding."""
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=1.0, driver="1 + 8*sin(t)")
    fine, coarse = (se.kinematics(model, t_end=6, step=step) for step in (0.01, 1.0))
    assert coarse.statistics["substeps"] > coarse.t.size
    for a, b in ((fine.q, coarse.q), (fine.qd, coarse.qd), (fine.qdd, coarse.qdd)):
        np.testing.assert_allclose(a[::100], b, rtol=1e-11, atol=1e-11 * np.abs(a).max())


def test_many_turns_are_counted():
    results = se.kinematics(driven("2*pi*t"), t_end=40, step=0.25)
    assert results["crank.phi"][-1] == pytest.approx(80 * np.pi, rel=1e-14)
    assert results["slider.x"][-1] == pytest.approx(3.0, abs=1e-10)
    assert abs(results["rod.phi"][-1]) < 1e-10


@pytest.mark.parametrize("speed", [1e-9, 1e9])
def test_speed_does_not_matter(speed):
    results = se.kinematics(driven(f"{speed}*t"), t_end=3 / speed, step=0.05 / speed)
    theta = speed * results.t
    x = np.cos(theta) + np.sqrt(4 - np.sin(theta) ** 2)
    np.testing.assert_allclose(results["slider.x"], x, atol=1e-12)
    assert results["slider.xd"].max() <= 1e-9 * speed


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_size_does_not_matter(size):
    lengths = [size * length for length in (1, 2, 2.5, 3)]
    large = se.kinematics(builders.four_bar(*lengths, crank_angle=1, speed=1), t_end=6, step=0.1)
    plain = se.kinematics(builders.four_bar(1, 2, 2.5, 3, crank_angle=1, speed=1), t_end=6, step=0.1)
    np.testing.assert_allclose(large["rocker.phi"], plain["rocker.phi"], atol=1e-11)
    np.testing.assert_allclose(large["coupler.x"] / size, plain["coupler.x"], atol=1e-11)


def test_the_same_model_gives_the_same_bytes():
    runs = [se.kinematics(driven("2*pi*t"), t_end=1) for _ in range(2)]
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    assert runs[0].qdd.tobytes() == runs[1].qdd.tobytes()


# Times ------------------------------------------------------------------------------------------------


def test_output_times():
    times = se.kinematics(driven("t"), t_end=1, step=0.3).t
    np.testing.assert_allclose(times, [0, 0.3, 0.6, 0.9, 1.0])
    assert se.kinematics(driven("t"), t_end=0.3, step=0.1).t.size == 4
    assert se.kinematics(driven("t"), t_end=2).t.size == 101


def test_chosen_times_need_not_begin_at_zero():
    asked = [-1.0, -0.25, 0.5, 2.0]
    results = se.kinematics(driven("t"), t_eval=asked)
    np.testing.assert_allclose(results["crank.phi"], asked, atol=1e-13)
    assert se.kinematics(driven("t"), t_eval=[0.4])["crank.phi"] == pytest.approx([0.4])


def test_a_late_first_time_is_reached():
    results = se.kinematics(driven("t"), t_eval=[100.0, 100.5])
    np.testing.assert_allclose(
        results["slider.x"], np.cos(results.t) + np.sqrt(4 - np.sin(results.t) ** 2), atol=1e-12
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"t_end": 0.0},
        {"t_end": -1.0},
        {"t_end": math.nan},
        {"t_end": "soon"},
        {"t_end": 1.0, "step": 0.0},
        {"t_end": 1.0, "step": 2.0},
        {"t_end": 1.0, "step": 1e-12},
        {"t_eval": []},
        {"t_eval": [0.0, 0.0]},
        {"t_eval": [1.0, 0.0]},
        {"t_eval": [0.0, math.inf]},
        {"t_eval": "abc"},
    ],
)
def test_impossible_times_are_refused(options):
    with pytest.raises(se.ModelError, match=r"t_end|t_eval|step"):
        se.kinematics(driven("t"), **options)


def test_progress_is_called_with_the_time():
    seen: list[float] = []
    se.kinematics(driven("t"), t_end=1, step=0.003, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_an_interrupt_keeps_the_results():
    def interrupt(t):
        raise KeyboardInterrupt

    with pytest.raises(se.Interrupted) as caught:
        se.kinematics(driven("t"), t_end=1, step=0.003, progress=interrupt)
    assert 0 < caught.value.results.t.size < 334


def test_an_interrupt_is_heard_between_two_outputs():
    """A billion turns lie between the outputs; the first of them is kept."""
    clock = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    clock.start()
    begun = time.perf_counter()
    with pytest.raises(se.Interrupted, match="1 of 2 points") as caught:
        se.kinematics(driven("t"), t_eval=[0.0, 1e9])
    assert time.perf_counter() - begun < 30.0
    assert caught.value.results.t.tolist() == [0.0]


def test_pauses_change_nothing(monkeypatch):
    """Python hears Ctrl-C between two pieces of the march, however long they are."""
    model = builders.four_bar(1, 2, 2.5, 3, crank_angle=1.0, driver="1 + 8*sin(t)")
    whole = se.kinematics(model, t_end=6, step=1.0)
    monkeypatch.setattr("simengine2d.analyses.times.Pace.next", lambda self: 1)
    pieces = se.kinematics(model, t_end=6, step=1.0)
    assert whole.q.tobytes() == pieces.q.tobytes()
    assert whole.qdd.tobytes() == pieces.qdd.tobytes()


# Dead points ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.01, 0.1, 0.3])
def test_a_dead_point_is_located_and_named(step):
    """The slider is led to 2.5 + t; the links of 1 and 2 reach 3, so the motion ends at t = 0.5."""
    with pytest.raises(se.SingularityError) as caught:
        se.kinematics(pushed("2.5 + t", 2.5), t_end=1, step=step)
    message, results = str(caught.value), caught.value.results
    assert "t = 0.5 s" in message
    assert "dead point" in message
    assert "push" in message
    assert results.t[-1] <= 0.5
    assert results.t.size == math.ceil(0.5 / step)
    np.testing.assert_allclose(results["slider.x"], 2.5 + results.t, atol=1e-13)
    assert results["crank.phi"][0] > results["crank.phi"][-1] > 0.0


def test_a_dead_point_on_an_output_ends_the_run_too():
    with pytest.raises(se.SingularityError) as caught:
        se.kinematics(pushed("2.5 + t", 2.5), t_eval=[0.0, 0.25, 0.5, 0.75])
    assert caught.value.results.t.tolist() == [0.0, 0.25]


def test_a_start_beyond_reach_does_not_close():
    with pytest.raises(se.AssemblyError, match="does not close at t = 0 s"):
        se.kinematics(pushed("4 + t", 2.5), t_end=1)


def test_a_start_in_a_singular_pose_is_refused():
    with pytest.raises(se.SingularityError, match=r"t = 0 s .* singular pose"):
        se.kinematics(parallelogram("2*pi*t", angle=0), t_end=1)


def test_a_crank_driven_from_another_turn_stays_on_the_drawn_branch():
    """A bar drawn at 4 rad stands at 4 - 2 pi; the driver's 4 rad ask for the same pose, not for a turn."""
    rng = np.random.default_rng(0)
    runs = 0
    while runs < 12:
        lengths, angle = rng.uniform(0.5, 2, 4), float(rng.uniform(np.pi, 12.0))
        try:
            model = builders.four_bar(
                *lengths, crank_angle=angle, branch=rng.choice(["open", "crossed"]), speed=1
            )
        except se.ModelError:
            continue
        runs += 1
        drawn = se.System(model).drawn_q
        results = se.kinematics(model, t_eval=[0.0])
        assert results["crank.phi"][0] == pytest.approx(angle, abs=1e-12)
        np.testing.assert_allclose(results.q[0][3:], drawn[3:], atol=1e-9)


# Change points ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [0.01, 0.013, 0.05, 0.25])
def test_a_parallelogram_passes_its_change_points_smoothly(step):
    """At t = 0.25, 0.75, ... all links are in line; with 0.01, 0.05 and 0.25 outputs fall exactly on them."""
    results = se.kinematics(parallelogram("pi/2 + 2*pi*t"), t_end=2, step=step)
    assert len(results.notes) == 4
    assert "t = 0.25 s" in results.notes[0]
    # outputs inside a crossing come from a polynomial that is 1e-6 of a turn wide
    np.testing.assert_allclose(results["coupler.phi"], 0.0, atol=1e-10)
    np.testing.assert_allclose(results["rocker.phi"], np.pi / 2 + 2 * np.pi * results.t, atol=1e-10)
    np.testing.assert_allclose(results["rocker.phid"], 2 * np.pi, atol=1e-6)


def test_a_run_may_end_on_a_change_point():
    results = se.kinematics(parallelogram("pi/2 + 2*pi*t"), t_eval=[0.0, 0.1, 0.25])
    np.testing.assert_allclose(results["coupler.phi"], 0.0, atol=1e-10)


def test_a_slider_that_touches_its_dead_point_goes_on():
    """x = 2.5 + 0.5 sin t reaches 3 with no speed, so the crank passes straight on."""
    results = se.kinematics(pushed("2.5 + 0.5*sin(t)", 2.5), t_end=3, step=0.01)
    phi = results["crank.phi"]
    assert phi[0] > 0.0 > phi[-1]
    assert np.all(np.diff(phi) < 0.0)
    np.testing.assert_allclose(results["slider.x"], 2.5 + 0.5 * np.sin(results.t), atol=1e-13)


def test_velocities_and_accelerations_at_a_change_point_are_the_smooth_limits():
    """Exactly where the links are in line the equations have many solutions; the branch has one."""
    flat = math.sqrt(math.pi**2 + math.pi / 2) - math.pi
    results = se.kinematics(parallelogram("pi/2 + 2*pi*t + t^2"), t_eval=[0.0, flat, 0.3])
    assert results["crank.phi"][1] == pytest.approx(np.pi, abs=1e-12)
    np.testing.assert_allclose(results["rocker.phid"], 2 * np.pi + 2 * results.t, rtol=1e-10)
    np.testing.assert_allclose(results["rocker.phidd"], 2.0, atol=1e-6)
    assert results.residuals["acceleration"] < 1e-6


def test_the_branches_not_taken_are_named():
    """The antiparallelogram of 1 and 2 leaves the line with rocker rates -1/3 and -3 of the crank's."""
    results = se.kinematics(parallelogram("pi/2 + t"), t_end=6)
    assert "another branch begins, on which rocker.phid is -0.3333 rad/s instead of 1" in results.notes[0]
    assert "another branch begins, on which rocker.phid is -3 rad/s instead of 1" in results.notes[1]


@pytest.mark.slow
def test_two_loops_may_be_flat_at_once():
    """Two parallelograms in a row: the rocker of one is the crank of the other; both are in line together."""
    model = parallelogram("1 + 2*t", angle=1)
    last = model.bar("last", (4, 0), (4 + math.cos(1), math.sin(1)))
    rocker, end = model.bodies["rocker"]["end"], (4 + math.cos(1), math.sin(1))
    second = model.bar("second", (2 + math.cos(1), math.sin(1)), end)
    model.add(se.Revolute("E", rocker, second["start"]))
    model.add(se.Revolute("F", second["end"], last["end"]))
    model.add(se.Revolute("G", model.ground, last["start"]))
    results = se.kinematics(model, t_end=4, step=0.1)
    np.testing.assert_allclose(results["last.phi"], 1 + 2 * results.t, atol=1e-9)
    assert len(results.notes) == 2
    assert "3 other branches begin" in results.notes[0]


def test_a_change_point_may_end_the_run():
    model = parallelogram("pi/2 + 2*pi*t")
    results = se.kinematics(model, t_end=2, step=0.05, on_singular="stop")
    assert results.t[-1] == pytest.approx(0.25)
    assert results.status == "stopped at a change point at t = 0.25 s"
    np.testing.assert_allclose(results["rocker.phid"], 2 * np.pi, rtol=1e-9)
    with pytest.raises(
        se.SingularityError, match=r"t = 0.25 s .* change point.*on_singular='pass'"
    ) as caught:
        se.kinematics(model, t_end=2, step=0.1, on_singular="raise")
    assert caught.value.results.t.tolist() == pytest.approx([0.0, 0.1, 0.2])
    with pytest.raises(se.ModelError, match="pass, stop, raise"):
        se.kinematics(model, t_end=2, on_singular="jump")


def test_a_dead_point_ends_a_run_that_may_stop():
    results = se.kinematics(pushed("2.5 + t", 2.5), t_end=1, step=0.1, on_singular="stop")
    assert "dead point at t = 0.5 s" in results.status
    assert results.t.size == 5


def test_a_near_miss_is_followed_as_it_is():
    """A crank a little too short for a parallelogram turns its corner without touching the line."""
    model = builders.four_bar(1 - 1e-4, 2, 1, 2, crank_angle=1.5, driver="1.5 + t")
    results = se.kinematics(model, t_end=6, step=0.5)
    fine = se.kinematics(model, t_end=6, step=0.02)
    assert results.notes == fine.notes == []
    np.testing.assert_allclose(fine.q[::25], results.q, atol=1e-9)
    assert np.ptp(fine["rocker.phi"]) < np.pi  # a crank-rocker


# Drivers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "angle"),
    [
        (
            se.Table((0.0, 0.5, 1.0, 2.0), (0.0, 0.25, 1.0, 4.0)),
            lambda t: t**2,
        ),  # a cubic spline of a parabola
        (lambda t: np.sin(t), np.sin),
        ((math.sin, math.cos, lambda t: -math.sin(t)), np.sin),
        ("piecewise(t < 1, t^2/2, t - 0.5)", lambda t: np.where(t < 1, t**2 / 2, t - 0.5)),
        ("step5(t, 0.5, 0, 1.5, 2)", lambda t: 2 * _smooth((t - 0.5).clip(0, 1))),
        (0.0, lambda t: 0 * t),
    ],
)
def test_a_driver_may_be_any_function(value, angle):
    results = se.kinematics(driven(value), t_end=2, step=0.05)
    np.testing.assert_allclose(results["crank.phi"], angle(results.t), atol=1e-12)
    np.testing.assert_allclose(
        results["slider.x"], np.cos(angle(results.t)) + np.sqrt(4 - np.sin(angle(results.t)) ** 2), atol=1e-12
    )


def _smooth(x):
    return x**3 * (10 - 15 * x + 6 * x**2)


def test_a_periodic_table_repeats():
    t = np.linspace(0, 1, 41)
    table = se.Table(tuple(t), tuple(np.sin(2 * np.pi * t)), periodic=True)
    results = se.kinematics(driven(table), t_end=3, step=0.05)
    # a cubic spline is off by 5/384 h^4 times the fourth derivative: 5/384 (2 pi / 40)^4 = 8e-6
    np.testing.assert_allclose(results["crank.phi"], np.sin(2 * np.pi * results.t), atol=1e-5)


def test_a_short_table_is_refused_before_the_run():
    with pytest.raises(se.ModelError, match=r"'motor'.* 0 to 1 s.* 0 to 2 s"):
        se.kinematics(driven(se.Table((0.0, 0.5, 1.0), (0.0, 0.5, 1.0))), t_end=2)


def nan_later(t):
    return math.nan if t > 1 else 1.0


def raises_later(t):
    if t > 1:
        raise ValueError("boom")
    return t


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("sqrt(1 - t) - 1", "sqrt"),
        (raises_later, "boom"),
        ((nan_later, nan_later, nan_later), "nan_later"),
        ("piecewise(t < 1, 0, 1)", "jumps by 1"),
    ],
)
def test_a_driver_without_a_value_is_named_and_the_results_are_kept(value, words):
    with pytest.raises(se.ConvergenceError) as caught:
        se.kinematics(driven(value), t_end=2, step=0.01)
    assert "Driver 'motor'" in str(caught.value)
    assert words in str(caught.value)
    assert 90 < caught.value.results.t.size <= 101


def test_a_driver_without_a_value_at_the_start():
    with pytest.raises(se.ModelError, match=r"'motor'.*log"):
        se.kinematics(driven("t*log(t)"), t_end=1)


# Freedoms ---------------------------------------------------------------------------------------------


def test_an_undriven_mechanism_is_refused_with_its_free_motion():
    with pytest.raises(se.UnsupportedError) as caught:
        se.kinematics(builders.slider_crank(1, 2), t_end=1)
    assert "1 motion is free" in str(caught.value)
    assert "crank turns about (0, 0)" in str(caught.value)
    assert "slider moves along (1, 0)" in str(caught.value)


@pytest.mark.parametrize("second", ["0.3 + 2*t", "0.4 + t", "0.3 + t + 0.1*t^2"])
def test_contradicting_drivers_are_refused(second):
    model = driven("0.3 + t", angle=0.3)
    model.add(se.Driver("second", "angle(ground, crank)", second))
    with pytest.raises(se.ModelError, match="second"):
        se.kinematics(model, t_end=1)


def test_agreeing_drivers_are_legal():
    model = driven("0.3 + t", angle=0.3)
    model.add(se.Driver("second", "angle(ground, crank)", "0.3 + t"))
    np.testing.assert_allclose(se.kinematics(model, t_end=1)["crank.phid"], 1.0, atol=1e-13)


def test_redundant_joints_that_agree_change_nothing():
    model = driven("t")
    plain = se.kinematics(model, t_end=3)
    model.add(se.AbsoluteY("also", "slider", 0.0))
    np.testing.assert_allclose(se.kinematics(model, t_end=3).q, plain.q, atol=1e-12)


def test_a_model_without_bodies_is_refused():
    with pytest.raises(se.UnsupportedError, match="no bodies"):
        se.kinematics(se.Model("empty"), t_end=1)


def test_a_coupler_of_two_directions_keeps_their_difference():
    """Each direction jumps by a turn at another time; their difference does not."""
    model = se.Model()
    a = model.bar("a", (0, 0), (1, 0))
    b = model.bar("b", (3, 0), (3 + math.cos(0.5), math.sin(0.5)))
    model.ground.points = {"P": (0, 0), "Q": (3, 0)}
    model.add(se.Revolute("A", model.ground, a["start"]))
    model.add(se.Revolute("B", model.ground, b["start"]))
    model.add(se.Driver("motor", "angle(ground, a)", "2*pi*t"))
    model.add(se.Coupler("pair", "direction(ground.P, a.end) - direction(ground.Q, b.end)"))
    results = se.kinematics(model, t_end=2, step=0.01)
    np.testing.assert_allclose(results["b.phi"], results["a.phi"] + 0.5, atol=1e-12)
