"""Where expressions and tables break, and that steps end there."""

from __future__ import annotations

from itertools import islice
from math import asin, pi

import numpy as np
import pytest

import simengine2d as se
from simengine2d.expressions.breaks import Switch, TimeBreaks, affine, break_times, stops_of, switches_of
from simengine2d.expressions.enclosures import enclose
from simengine2d.expressions.evaluate import evaluate
from simengine2d.expressions.parser import parse
from simengine2d.expressions.tape import fold
from simengine2d.numerics.interrupts import Interrupts

pytestmark = pytest.mark.slow  # long motions, for compiled kernels


def times_of(text, count=6, t0=0.0):
    found = break_times(switches_of(fold(parse(text))), t0)
    return [each.t for each in islice(found, count)]


# What breaks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("10 if t > 7 and t < 7.1 else 0", [7, 7.1]),
        ("piecewise(t < 1, 0, t < 2, 5, 0)", [1, 2]),
        ("3*(2*t - 4 > 0)", [2]),
        ("abs(t - 3)", [3]),
        ("sign(5 - 2*t)", [2.5]),
        ("max(t, 2, 3*t - 10)", [2, 5]),
        ("step(t, 1, 0, 2, 5) - step(t, 4, 0, 4.5, 5)", [1, 2, 4, 4.5]),
        ("mod(t, 0.5)", [0, 0.5, 1, 1.5, 2, 2.5]),
        ("mod(t, 1) < 0.25", [0, 0.25, 1, 1.25, 2, 2.25]),
        ("mod(3 - t, 2)", [1, 3, 5, 7, 9, 11]),
        ("sin(2*t) > 0.5", [asin(0.5) / 2 + k * pi + d for k in (0, 1, 2) for d in (0, pi / 2 - asin(0.5))]),
        ("t^2 > 2", [2**0.5]),
        ("exp(-t) > 0.5", [np.log(2)]),
        ("(t - 1)*(t - 2)*(t - 3) > 0", [1, 2, 3]),
        ("exp(-((t - 7)/0.001)^2) > 0.5", [7 - 0.001 * np.log(2) ** 0.5, 7 + 0.001 * np.log(2) ** 0.5]),
        ("sin(t) > 2", []),
        ("t == 3", []),
        ("sin(t)*exp(t)", []),
        ("1 if step(t, 2, 0, 3, 1) > 0.5 else 0", [2, 2.5, 3]),
        ("sqrt(t) > 3", [9]),
        ("hypot(t, 1) > 2", [3**0.5]),
    ],
)
def test_the_times_at_which_an_expression_breaks(text, times):
    found = [t for t in times_of(text, len(times) + 3) if t < 20][: len(times) + 1]
    assert found[: len(times)] == pytest.approx(times, rel=1e-12, abs=1e-12)
    if times and times[-1] < 5 and "mod" not in text:
        assert len(found) == len(times)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("abs(t > t)", []),
        ("sign(max(0, t - 1))", [1.0]),
        ("sign(max(0, sin(t)))", [0.0, pi, 2 * pi, 3 * pi]),
        ("abs(2 + abs(sin(t)))", [0.0, pi, 2 * pi, 3 * pi]),
        ("max(abs(sin(t)), 2)", [0.0, pi, 2 * pi, 3 * pi]),
        ("sign(min(t, 2) - 2)", [2.0]),
    ],
)
def test_what_stays_at_a_level_or_never_reaches_it_is_not_searched_for_ever(text, times):
    breaks, t, found, stops = TimeBreaks(switches_of(parse(text)), [], []), 0.0, [], 0
    while t < 10.0 and (following := breaks.after(t)) is not None:
        t, stops = following.t + following.width, stops + 1
        assert stops <= 60  # none of which makes a step tiny
        found += [following.t] * (following.hard and following.t < 10.0)
        assert len(found) <= len(times)
    np.testing.assert_allclose(found, times, atol=1e-12)


def test_a_search_that_is_interrupted_begins_anew():
    breaks = TimeBreaks(switches_of(parse("sign(abs(sin(t)) - 0.5)")), [], [])
    first = breaks.after(0.1)
    with Interrupts() as interrupts:
        interrupts.came = True
        with pytest.raises(KeyboardInterrupt):
            breaks.after(1.0)
    assert first is not None and breaks.after(0.1) == first
    assert breaks.after(1.0).t == pytest.approx(pi - asin(0.5), abs=1e-12)


def test_no_break_that_repeats_is_listed_beforehand():
    assert times_of("mod(t, 1e-6)", 2, t0=1e3)[0] == pytest.approx(1e3)
    assert times_of("sin(1e6*t) > 0.9", 1, t0=50.0)[0] == pytest.approx(50, abs=1e-5)


@pytest.mark.parametrize("text", ["3*t - 2", "-(t + 1)/4", "2*(t - 1)*3", "5", "(1 + t)*2 - t/2"])
def test_lines_are_known(text):
    k, c = affine(fold(parse(text)))
    assert [k * t + c for t in (0.0, 1.0, 2.5)] == pytest.approx(
        [evaluate(parse(text), {"t": t}) for t in (0.0, 1.0, 2.5)]
    )
    assert affine(parse("t^2")) is None and affine(parse("sin(t)")) is None


EXPRESSIONS = [
    "sin(3*t) + cos(t)^2", "exp(-t)*t^3", "t/(1 + t^2)", "abs(t - 1)*max(t, 2 - t)", "tanh(5*t) - atan(t)",
    "log(1 + t)", "sqrt(t + 0.5)", "mod(t, 0.7)", "1 if t > 1 else t", "cosh(t) - sinh(t/2)", "2^t",
    "asin(t/4) + acos(t/5)", "hypot(t, 1 - t)", "atan2(t, t - 1)", "tan(t)",
    "step5(t, 0.5, 1, 1.5, 3)", "sign(t - 0.4)*min(t, 1)", "(t > 0.3) + (t < 0.9 and t > 0.1)",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_enclosures_hold_all_values(text):
    tree, rng = fold(parse(text)), np.random.default_rng(1)
    for _ in range(50):
        a, b = np.sort(rng.uniform(0.0, 3.0, 2))
        low, high, slope_low, slope_high = enclose(tree, a, b)
        t = np.linspace(a, b, 20)
        values = np.array([evaluate(tree, {"t": each}) for each in t])
        assert low - 1e-12 <= values.min() and values.max() <= high + 1e-12
        if not np.all(np.abs(values) < 1e3):
            continue
        if "t >" not in text and "sign" not in text and "mod" not in text:
            slopes = np.diff(values) / np.diff(t)
            assert slope_low - 1e-9 <= slopes.min() and slopes.max() <= slope_high + 1e-9


def test_levels_around_a_value():
    stripes = Switch(parse("t"), (0.0, 0.25), 1.0)
    assert stripes.around(2.1) == (2.0, 2.25)
    assert stripes.around(2.25) == (2.0, 3.0)
    assert stripes.around(-0.5) == (-0.75, 0.0)
    assert Switch(parse("t")).around(3.0) == (0.0, np.inf)


def test_tables_stop_where_their_shape_changes():
    t = np.linspace(0, 10, 1001)
    assert len(stops_of(se.Table(t, np.sin(t)))) < 40
    bump = np.exp(-(((t - 7) / 0.05) ** 2))
    stops = np.array(stops_of(se.Table(t, bump)))
    assert np.sum(np.abs(stops - 7) < 0.15) >= 5 and stops.size < 60


def test_breaks_come_one_after_the_other():
    breaks = TimeBreaks(switches_of(parse("t > 1")), [se.Table((0, 2, 3), (0, 1, 0))], (1.5,))
    seen, t = [], -1.0
    while (found := breaks.after(t)) is not None:
        seen.append((found.t, found.hard))
        t = found.t + found.width
    assert seen == [(0.0, False), (1.0, True), (1.5, True), (3.0, False)]
    assert breaks.after(0.5).t == 1.0  # back again


# Runs ----------------------------------------------------------------------------------------------------


def rail(velocity=0.0, **forces):
    model = se.Model("rail", gravity=(0, 0))
    model.body("b", mass=1, inertia=1, velocity=(velocity, 0))
    model.add(se.Translational("rail", model.ground, "b"))
    for name, force in forces.items():
        model.add(se.PointForce(name, "b", **force))
    return model


METHODS = [
    {}, {"coordinates": "relative"}, {"formulation": "augmented"}, {"integrator": "tsitouras5"},
    {"integrator": "bdf_variable"}, {"integrator": "adams_variable"}, {"integrator": "trapezoidal_adaptive"},
    {"integrator": "rk4", "step": 0.03}, {"integrator": "adams_bashforth", "step": 0.03},
    {"integrator": "bdf", "step": 0.03}, {"integrator": "newmark", "step": 0.03},
    {"formulation": "index3", "coordinates": "relative"},
    {"formulation": "ggl", "integrator": "newmark", "step": 0.03},
    {"formulation": "index3", "integrator": "radau_iia", "step": 0.03},
]  # fmt: skip


def title_of(method):
    return " ".join(map(str, method.values())) or "default"


@pytest.mark.parametrize("method", METHODS, ids=title_of)
def test_every_method_sees_a_short_force(method):
    """1 m/s from 7.05 s on in the mean."""
    r = se.dynamics(rail(F={"fx": "10 if (t > 7 and t < 7.1) else 0"}), t_end=10, **method)
    assert (r["b.x"][-1], r["b.xd"][-1]) == pytest.approx((2.95, 1.0), rel=1e-7)


@pytest.mark.parametrize("method", METHODS, ids=title_of)
def test_every_method_sees_a_thin_wall(method):
    """A wall of 1 mm takes 1 J, so that 0.5 J do not pass: back after 2 ms.

    Its 1000 m/s^2 make an error of the place a thousand times as large in the velocity with which the mass leaves. The
    motion in the wall is a parabola; methods that begin with order 1 meet it to their tolerance only.
    """
    r = se.dynamics(rail(1.0, F={"fx": "-1000 if x > 0.5 and x < 0.501 else 0"}), t_end=10, **method)
    rel = {"adams_variable": 5e-5, "bdf_variable": 2e-5}.get(method.get("integrator"), 2e-9)
    assert (r["b.x"][-1], r["b.xd"][-1]) == pytest.approx((-8.998, -1.0), rel=rel)


IMPLICIT = [
    {"formulation": "index3"}, {"formulation": "ggl"}, {"formulation": "augmented_lagrangian"},
    {"formulation": "index3", "coordinates": "natural"}, {"formulation": "index3", "coordinates": "mixed"},
    {"integrator": "radau_adaptive"}, {"integrator": "bdf_variable"},
    {"integrator": "bdf", "step": 0.002},
    {"integrator": se.Newmark(beta=0.25, gamma=0.5), "coordinates": "relative", "step": 0.002},
    {"integrator": "hht", "step": 0.002}, {"integrator": "generalized_alpha", "step": 0.002},
    {"formulation": "index3", "integrator": "radau_iia", "step": 0.01},
    {"formulation": "index3", "integrator": "bdf", "step": 0.002},
    {"formulation": "index3", "integrator": "generalized_alpha", "coordinates": "natural", "step": 0.002},
]  # fmt: skip


def swung(drag, speed, phi=-1.0):
    model = se.Model("pendulum")
    model.bar("bar", (0, 0), (np.cos(phi), np.sin(phi)), mass=1, angular_velocity=speed)
    model.add(se.Revolute("O", model.ground, "bar.start"))
    model.add(se.Torque("drag", "bar", drag))
    return model


@pytest.mark.slow
@pytest.mark.parametrize("drag", ["-0.7*phid*abs(phid)", "-0.4*max(phid, 0)", "1.5 if phid > 0.3 else 0"])
@pytest.mark.parametrize("method", IMPLICIT, ids=title_of)
def test_implicit_methods_pass_forces_that_bend_or_jump_with_the_velocity(method, drag):
    """The steps to a switch are short, and index 3 leaves velocities there to the rounding of positions."""
    for speed in (0.5, -0.31):
        exact = se.dynamics(swung(drag, speed), t_eval=[0, 2], rtol=1e-10)
        r = se.dynamics(swung(drag, speed), t_end=2, **method)
        found, right = (np.array([run["bar.phi"][-1], run["bar.phid"][-1]]) for run in (r, exact))
        np.testing.assert_allclose(found, right, atol=5e-3 if "step" in method else 1e-5)
        assert r.statistics["steps"] < 2_000


@pytest.mark.parametrize(
    "method", [{}, {"integrator": "rk4", "step": 0.01}, {"integrator": "newmark", "step": 0.01}], ids=title_of
)
def test_forces_that_jump_to_and_fro_end_in_a_sentence(method):
    with pytest.raises(se.ConvergenceError, match="tiny steps led nowhere"):
        se.dynamics(rail(1.0, F={"fx": "-2*sign(xd)"}), t_end=2, **method)


def test_python_laws_tell_their_breaks():
    law = lambda t, q, qd: (1000.0 if 7 < t < 7.001 else 0.0, 0.0)
    law.breaks = [7, 7.001]
    r = se.dynamics(rail(F={"law": law}), t_end=10)
    assert r["b.xd"][-1] == pytest.approx(1.0, rel=1e-9)
    assert not any("not looked for" in note for note in r.notes)
    law.breaks = ["soon"]
    with pytest.raises(se.ModelError, match="a list of times is needed"):
        se.dynamics(rail(F={"law": law}), t_end=10)


def test_python_laws_without_breaks_are_noted():
    r = se.dynamics(rail(F={"law": lambda t, q, qd: (10.0 if 7 < t < 7.1 else 0.0, 0.0)}), t_end=10)
    assert r["b.x"][-1] == pytest.approx(2.95, abs=1e-4)
    assert any("PointForce 'F' are not looked for" in note for note in r.notes)
    assert r.verdict.word == "check"


def test_a_python_law_that_says_that_it_never_jumps_is_trusted():
    law = lambda t, q, qd: (-q[0] - 0.1 * qd[0] + 1.0, 0.0)
    law.breaks = []
    r = se.dynamics(rail(F={"law": law}), t_end=10)
    assert r.verdict.word == "trust", r.verdict


def test_fixed_steps_tell_that_they_end_at_breaks():
    force = {"fx": "1000*(t > 5)*(t < 5.01)"}
    r = se.dynamics(rail(F=force), t_end=10, integrator="newmark", step=0.1)
    assert r["b.xd"][-1] == pytest.approx(10.0, rel=1e-10)
    assert any("steps end where forces" in note for note in r.notes)
    assert not any(
        "steps end where" in note for note in se.dynamics(rail(), t_end=1, integrator="rk4", step=0.1).notes
    )


def test_a_force_that_begins_at_the_start():
    for text in ("10 if t > 0 else 0", "10 if x > 0 else 0"):
        for method in ({}, {"integrator": "rk4", "step": 0.1}, {"integrator": "newmark", "step": 0.1}):
            r = se.dynamics(rail(1.0, F={"fx": text}), t_end=1, **method)
            assert r["b.xd"][-1] == pytest.approx(11.0, rel=1e-9)


def driven(text):
    """A mass on a spring whose other end is driven."""
    model = rail()
    model.body("c", mass=1, inertia=1, at=(0, 1))
    model.add(se.Translational("second", model.ground, "c"))
    model.add(se.Spring("spring", se.x("b", "c"), stiffness=10))
    model.add(se.Driver("drive", "x(ground, b)", text))
    return model


@pytest.mark.parametrize(
    "method",
    [
        {}, {"coordinates": "relative"}, {"formulation": "augmented"}, {"formulation": "index3"},
        {"integrator": "rk4", "step": 0.01},
    ],
    ids=title_of,
)  # fmt: skip
def test_a_driver_that_changes_its_speed_at_once(method):
    """x'' = 10 (u - x) with u = |t - 1|, which begins with u' = -1."""
    r = se.dynamics(driven("abs(t - 1)"), t_end=2, **method)
    w, t = 10**0.5, 1.0
    # in the moving frame z = x - u: z(0) = -1 + 0, z' jumps by -2 at t = 1
    start = -1.0
    z, zd = start * np.cos(w), -start * w * np.sin(w) - 2.0
    zd0 = se.dynamics(driven("abs(t - 1)"), t_eval=[0, 1e-3], **method)["c.xd"][0] + 1.0
    z, zd = z + zd0 / w * np.sin(w), zd + zd0 * np.cos(w)
    x = z * np.cos(w * t) + zd / w * np.sin(w * t) + 1.0
    assert r["c.x"][-1] == pytest.approx(x, abs=2e-5)
    assert r.residuals["velocity"] < 1e-6 and any("changes its speed at once" in note for note in r.notes)


def test_a_driver_that_jumps_is_refused_where_it_does():
    for method in ({}, {"formulation": "index3"}, {"integrator": "newmark", "step": 0.01}):
        with pytest.raises(se.ConvergenceError, match=r"Driver 'drive' jumps by 0\.5 at t = 1 s") as caught:
            se.dynamics(driven("0 if t < 1 else 0.5"), t_end=2, **method)
        assert caught.value.results.t[-1] == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(
    "force",
    ["20*(t > 0.7)*(t < 0.8)", "-100*max(0, x - 0.3)", "5*sign(sin(9*t))", "3 if mod(x, 0.2) < 0.1 else 0"],
)
def test_runs_go_on_across_breaks_bit_for_bit(force):
    model = rail(1.0, F={"fx": force})
    model.add(se.Spring("spring", "x(ground, b)", stiffness=5))
    whole = se.dynamics(model, t_end=3, step=0.05)
    for first in (0.75, 1.3):
        parts = se.dynamics(model, t_end=first, step=0.05).resume(t_end=3)
        k = parts.t.size
        np.testing.assert_array_equal(parts.q[-1], whole.q[-1])
        assert k >= whole.t.size


def test_a_simulator_stops_at_breaks():
    simulator = se.Simulator(rail(F={"fx": "10 if (t > 7 and t < 7.1) else 0"}))
    for t in (1.0, 6.9999, 7.05, 10.0):
        simulator.advance_to(t)
    assert simulator.q[0] == pytest.approx(2.95, rel=1e-9)


def test_a_stiff_run_stops_at_breaks():
    model = rail(F={"fx": "10 if (t > 0.7 and t < 0.71) else 0"})
    model.add(se.Spring("stiff", "x(ground, b)", stiffness=1e6, damping=1e5))
    r = se.dynamics(model, t_end=1, t_eval=np.linspace(0, 1, 1001))
    assert any("stiff" in note for note in r.notes)
    # the damper creeps with 10 N / 1e5 Ns/m towards 10 um
    t = 0.01
    top = 1e-5 * (1 - np.exp(-10 * t))
    assert r["b.x"][710] == pytest.approx(top, rel=1e-3)


def test_what_hides_between_two_stages_of_a_table_of_the_place():
    places = np.array([-50, -1, 0.499, 0.4995, 0.5, 0.5005, 0.501, 2, 50])
    bump = se.Table(of="x", points=places, values=np.where(places == 0.5, -1500.0, 0.0))
    r = se.dynamics(rail(1.0, F={"fx": bump}), t_end=2)
    assert r["b.x"][-1] < 0.5
