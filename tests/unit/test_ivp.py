"""The toolbox for a user's own equations: results, events, names, and what it says about bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import simengine2d as se
from simengine2d.integrators.ivp.choosing import ADVICE, SCIPY_BDF
from simengine2d.integrators.ode_method import OdeMethod
from simengine2d.methods import INTEGRATOR_NAMES, Integrator

ODE = {name: cls for name, cls in Integrator.registry.items() if issubclass(cls, OdeMethod)}


def decay(t, y):
    return -y


def turn(t, y, rate=1.0):
    return [-rate * y[1], rate * y[0]]


def steps_of(name):
    return {} if ODE[name].adaptive else {"h": 0.01}


# Results ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ODE)
def test_every_method_solves_and_reports(name):
    found = se.ivp.solve(decay, (0, 1), [1.0, 2.0], name, rtol=1e-5, **steps_of(name))
    assert found.y.shape == (2, found.t.size) and found.t[0] == 0.0 and found.t[-1] == 1.0
    assert np.all(np.diff(found.t) > 0.0)
    error = {1: 1e-2, 2: 1e-4}.get(ODE[name].order, 2e-5)
    np.testing.assert_allclose(found.y, np.outer([1, 2], np.exp(-found.t)), atol=error)
    assert found.success and found.status == 0 and found.message and found.method == name
    assert found.nfev > 0 and found.steps > 0
    assert found.t_events is None and found.sol is None


@pytest.mark.parametrize("name", ODE)
def test_backward_in_time(name):
    found = se.ivp.solve(decay, (1, 0), [np.exp(-1.0)], name, rtol=1e-5, t_eval=[1, 0.5, 0], **steps_of(name))
    np.testing.assert_array_equal(found.t, [1, 0.5, 0])
    np.testing.assert_allclose(
        found.y[0], np.exp(-found.t), atol={1: 1e-2, 2: 1e-4}.get(ODE[name].order, 2e-5)
    )


@pytest.mark.parametrize("name", ODE)
def test_the_solution_as_a_function(name):
    """Inside the steps as good as the dense output, at their ends equal."""
    found = se.ivp.solve(turn, (0, 2), [1, 0], name, rtol=1e-4, dense_output=True, **steps_of(name))
    np.testing.assert_allclose(found.sol(found.t), found.y, atol=1e-12)
    t = np.linspace(0, 2, 33)
    np.testing.assert_allclose(
        found.sol(t), [np.cos(t), np.sin(t)], atol=0.03 if ODE[name].order == 1 else 2e-3
    )
    assert found.sol(0.5).shape == (2,)


def test_backward_solution_as_a_function():
    found = se.ivp.solve(turn, (2, 0), [np.cos(2), np.sin(2)], rtol=1e-8, dense_output=True)
    t = np.linspace(0, 2, 7)
    np.testing.assert_allclose(found.sol(t), [np.cos(t), np.sin(t)], atol=1e-7)


def test_the_same_as_scipy_at_the_times_asked():
    lotka = lambda t, z: [1.5 * z[0] - z[0] * z[1], z[0] * z[1] - 3 * z[1]]
    t = np.linspace(0, 5, 11)
    ours = se.ivp.solve(lotka, (0, 5), [10, 5], rtol=1e-9, t_eval=t)
    scipys = solve_ivp(lotka, (0, 5), [10, 5], rtol=1e-11, atol=1e-11, t_eval=t)
    np.testing.assert_allclose(ours.y, scipys.y, atol=1e-7)
    np.testing.assert_array_equal(ours.t, t)


def test_times_that_end_before_the_span():
    found = se.ivp.solve(decay, (0, 2), 1.0, t_eval=[0.5, 1.0])
    np.testing.assert_allclose(found.y, [np.exp([-0.5, -1.0])], rtol=1e-5)


def test_arguments_reach_every_function():
    event = lambda t, y, rate: y[0]
    jac = lambda t, y, rate: [[0, -rate], [rate, 0]]
    found = se.ivp.solve(turn, (0, 3), [1, 0], "tr_bdf2", rtol=1e-4, args=(2.0,), events=event, jac=jac)
    np.testing.assert_allclose(found.t_events[0], [np.pi / 4, 3 * np.pi / 4], atol=1e-3)


def test_h_gives_fixed_steps_to_adaptive_methods_too():
    found = se.ivp.solve(decay, (0, 1), 1.0, "ode45", h=0.25)
    np.testing.assert_allclose(found.t, np.arange(5) * 0.25, atol=1e-15)
    assert found.rejected == 0


def test_the_state_that_f_sees_may_be_kept_and_changed():
    seen = []

    def f(t, y):
        seen.append(y)
        slope = -y
        y[:] = 7.0
        return slope

    found = se.ivp.solve(f, (0, 1), [1.0], "rk4", h=0.1)
    assert found.y[0, -1] == pytest.approx(np.exp(-1), rel=1e-5)
    assert len({id(y) for y in seen}) == len(seen)


@pytest.mark.parametrize(
    "name", ["bdf_variable", "radau_adaptive", "rosenbrock", "tr_bdf2", "trapezoidal_adaptive"]
)
def test_stiff_problems_take_few_steps(name):
    """y' = -1e6 (y - cos t): an explicit method needs 3e5 steps. y = cos t to 1e-6."""
    f = lambda t, y: -1e6 * (y - np.cos(t))
    found = se.ivp.solve(f, (0, 1), 1.0, name, rtol=1e-3, newton="modified", jac=[[-1e6]])
    assert found.steps < 1000
    assert found.y[0, -1] == pytest.approx(np.cos(1.0), abs=1e-3)
    assert found.njev + found.nlu > 0


# Events -----------------------------------------------------------------------------------------------


def height(t, y):
    return y[0]


def throw(t, y):
    return [y[1], -9.81]


@pytest.mark.parametrize(
    "name", ["dormand_prince", "dop853", "rk4", "radau_iia", "bdf", "adams_variable", "tr_bdf2"]
)
def test_a_terminal_event_ends_the_integration(name):
    """A stone thrown up with 5 m/s is back after 10 / 9.81 s; every method of order 2 is exact."""

    def ground(t, y):
        return y[0]

    ground.terminal, ground.direction = True, -1
    found = se.ivp.solve(throw, (0, 3), [0, 5], name, events=ground, **steps_of(name))
    assert found.status == 1 and found.success and "event" in found.message
    assert found.t[-1] == found.t_events[0][0] == pytest.approx(10 / 9.81, abs=1e-5)
    np.testing.assert_allclose(found.y_events[0], [[0, -5]], atol=1e-4)
    np.testing.assert_allclose(found.y[:, -1], [0, -5], atol=1e-4)


def test_events_are_noted_by_direction():
    rising, falling = (lambda t, y: y[0] - 0.5), (lambda t, y: y[0] - 0.5)
    rising.direction, falling.direction = 1, -1
    found = se.ivp.solve(turn, (0, 10), [1, 0], rtol=1e-8, events=[rising, falling])
    # cos t = 1/2
    np.testing.assert_allclose(found.t_events[1], [np.pi / 3, 7 * np.pi / 3], atol=1e-7)
    np.testing.assert_allclose(found.t_events[0], [5 * np.pi / 3], atol=1e-7)
    assert found.y_events[1].shape == (2, 2) and found.status == 0


def test_the_third_event_may_be_the_last():
    def event(t, y):
        return y[0]

    event.terminal = 3
    found = se.ivp.solve(turn, (0, 20), [1, 0], rtol=1e-8, events=event, t_eval=np.arange(20.0))
    np.testing.assert_allclose(found.t_events[0], np.pi * np.array([0.5, 1.5, 2.5]), atol=1e-7)
    np.testing.assert_array_equal(found.t, np.arange(8.0))


def test_an_event_backward_in_time():
    """Directions are those of the integration, as in SciPy."""
    event = lambda t, y: y[0]
    event.direction = 1
    options = {"t_span": (3, 0), "y0": [np.cos(3), np.sin(3)], "events": event}
    ours, scipys = (
        se.ivp.solve(turn, rtol=1e-8, **options),
        solve_ivp(turn, rtol=1e-10, atol=1e-10, **options),
    )
    np.testing.assert_allclose(ours.t_events[0], scipys.t_events[0], atol=1e-7)
    assert ours.t_events[0] == pytest.approx([np.pi / 2], abs=1e-7)


def test_a_short_dip_below_zero_is_seen():
    """y - 0.02 < 0 for 0.28 s around t = 5; the steps of a parabola are long."""
    found = se.ivp.solve(
        lambda t, y: [2 * (t - 5)], (0, 10), [25.0], "rk4", h=1.0, events=lambda t, y: y[0] - 0.07
    )
    np.testing.assert_allclose(found.t_events[0], 5 + np.sqrt(0.07) * np.array([-1, 1]), atol=1e-9)


# Names and advice -------------------------------------------------------------------------------------


def test_names_of_other_suites():
    expected = {
        "ode45": "dormand_prince", "ode23": "bogacki_shampine", "ode113": "adams_variable", "ode15s": "bdf_variable",
        "ode23s": "rosenbrock", "ode23t": "trapezoidal_adaptive", "ode23tb": "tr_bdf2", "LSODA": "adams_variable",
        "BDF": "bdf_variable", "Radau": "radau_adaptive", "RK45": "dormand_prince", "ODE45": "dormand_prince",
        "bdf": "bdf", "Dormand-Prince": "dormand_prince",
    }  # fmt: skip
    assert {name: se.ivp.method_of(name).name for name in expected} == expected


def test_there_is_advice_for_every_method():
    assert set(ADVICE) == set(ODE)
    others = [name for name in INTEGRATOR_NAMES if isinstance(Integrator.registry.made(name), OdeMethod)]
    for name in [*SCIPY_BDF, *others, *ODE]:
        text = se.ivp.advice(name)
        assert text.endswith(".") and text.startswith(f"{se.ivp.method_of(name).name}: ")
    assert "Stiff problems" in se.ivp.advice("ode15s")


# Bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"method": "ode46"}, "there is no method 'ode46'. Did you mean 'ode45'"),
        ({"method": "rk4"}, "takes fixed steps; give h=..."),
        ({"method": "rk4", "h": 0}, "h = 0 must be positive and not longer than t_span"),
        ({"method": "rk4", "h": 2}, "h = 2 must be positive and not longer than t_span"),
        ({"t_span": (0, 0)}, "two different times"),
        ({"t_span": (0, 1, 2)}, "two different times"),
        ({"t_span": (0, np.nan)}, "t_span = (0, nan) must consist of finite numbers"),
        ({"y0": [1j]}, "complex; solve for real and imaginary parts"),
        ({"y0": [np.nan]}, "y0 = [nan] must consist of finite numbers"),
        ({"y0": "one"}, "y0 = 'one' must consist of numbers"),
        ({"y0": [[1.0, 2.0]]}, "its shape is (1, 2)"),
        ({"y0": []}, "its shape is (0,)"),
        ({"t_eval": [0.5, 0.2]}, "run from the beginning of t_span to its end"),
        ({"t_eval": [0.5, 1.2]}, "from 0.5 to 1.2, outside t_span = (0, 1)"),
        ({"rtol": 0}, "rtol = 0 must lie between 1e-14 and 0.1"),
        ({"rtol": 1e-12, "method": "ode23s"}, "rtol = 1e-12 asks too much of 'rosenbrock', a method of order 2"),
        ({"atol": -1}, "atol = -1 must be a positive number"),
        ({"atol": [1, 2, 3]}, "one for each entry of y0"),
        ({"events": [3]}, "events must be functions g(t, y), not 3"),
        ({"newton": "raphson", "method": "tr_bdf2"}, "newton = 'raphson' must be one of"),
        ({"f": 3}, "f must be a function f(t, y), not 3"),
        ({"f": lambda t, y: [1.0, 2.0]}, "f failed at t = 0: ValueError: it returned an array of shape (2,), not (1,)"),
        ({"f": lambda t, y: y * 1j}, "f failed at t = 0: TypeError: it returned complex128 numbers"),
        ({"f": lambda t, y: y * np.nan}, "f gives [nan] at the start"),
        ({"f": lambda t: t}, "f failed at t = 0: TypeError"),
        ({"jac": lambda t, y: [1.0, 2.0], "method": "radau_iia", "h": 0.1}, "jac failed at t = "),
        ({"method": "adams_variable", "h": 0.1}, "chooses its own steps"),
    ],
)  # fmt: skip
def test_bad_arguments_are_said_in_words(given, sentence):
    with pytest.raises(se.ModelError) as caught:
        se.ivp.solve(**{"f": decay, "t_span": (0, 1), "y0": [1.0]} | given)
    assert sentence in str(caught.value)


def test_methods_for_mechanisms_are_refused():
    with pytest.raises(se.UnsupportedError, match=r"'hht' does not solve y' = f\(t, y\).*ivp\.newmark"):
        se.ivp.solve(decay, (0, 1), 1.0, "hht", h=0.1)


METHODS = [
    "dormand_prince",
    "dop853",
    "adams_variable",
    "bdf_variable",
    "radau_iia",
    "bdf",
    "adams_bashforth",
    "rosenbrock",
]


class SensorGone(Exception):
    pass


@pytest.mark.parametrize("name", METHODS)
def test_a_function_that_raises_is_named_and_the_results_are_kept(name):
    def f(t, y):
        if t > 0.5:
            raise SensorGone("the sensor is gone")
        return -y

    with pytest.raises(
        se.ModelError, match=r"f failed at t = 0\.5.*SensorGone: the sensor is gone"
    ) as caught:
        se.ivp.solve(f, (0, 1), [1.0], name, **steps_of(name))
    kept = caught.value.results
    assert not kept.success and kept.status == -1
    assert 0.2 < kept.t[-1] <= 0.52  # within a step before the failure
    np.testing.assert_allclose(kept.y[0], np.exp(-kept.t), atol=1e-4)
    assert isinstance(caught.value.__cause__, SensorGone)


@pytest.mark.parametrize("name", METHODS)
def test_a_function_without_a_value_ends_the_integration(name):
    f = lambda t, y: -y if t < 0.5 else y * np.nan
    with pytest.raises(se.ConvergenceError, match=r"at t = 0\.[45]\d* .*no finite value") as caught:
        se.ivp.solve(f, (0, 1), [1.0], name, **steps_of(name))
    kept = caught.value.results
    assert 0.3 < kept.t[-1] <= 0.56
    np.testing.assert_allclose(kept.y[0], np.exp(-kept.t), atol=1e-4)


def test_an_interrupt_keeps_the_results():
    def f(t, y):
        if t > 0.502:
            raise KeyboardInterrupt
        return -y

    with pytest.raises(se.Interrupted, match=r"interrupted at t = 0\.5") as caught:
        se.ivp.solve(f, (0, 1), [1.0], "rk4", h=0.01)
    assert caught.value.results.t[-1] == pytest.approx(0.5)


# Newmark's method -------------------------------------------------------------------------------------


def test_newmark_on_two_masses():
    """M and K of two masses and three springs: modes 1 and sqrt 3, in phase and against each other."""
    M, K = np.eye(2), np.array([[2.0, -1.0], [-1.0, 2.0]])
    found = se.ivp.newmark(M, np.zeros((2, 2)), K, 0, (0, 5), [1, 0], [0, 0], 0.001, beta=0.25, gamma=0.5)
    a, b = np.cos(found.t), np.cos(np.sqrt(3) * found.t)
    np.testing.assert_allclose(found.q, [(a + b) / 2, (a - b) / 2], atol=5e-6)
    np.testing.assert_allclose(M @ found.qdd + K @ found.q, 0, atol=1e-12)


@pytest.mark.parametrize(("gamma", "order"), [(0.5, 2), (0.6, 1)])
def test_the_order_of_newmark_with_a_force(gamma, order):
    """q'' + q = cos 2t from rest: q = (cos t - cos 2t) / 3."""
    exact = (np.cos(2.0) - np.cos(4.0)) / 3
    force = lambda t: np.cos(2 * t)
    errors = [
        abs(se.ivp.newmark(1, 0, 1, force, (0, 2), 0, 0, h, (0.5 + gamma) ** 2 / 4, gamma).q[0, -1] - exact)
        for h in (0.02, 0.01)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"h": 0.3}, se.ModelError, "must be a whole number of steps h = 0.3"),
        ({"h": -0.1}, se.ModelError, "h = -0.1 must be positive"),
        ({"M": 0}, se.SingularityError, "the matrix M is singular"),
        ({"M": np.eye(2)}, se.ModelError, "M has the shape (2, 2); q0 asks for (1, 1)"),
        ({"qd0": [1, 2]}, se.ModelError, "q0 has 1 entries and qd0 has 2"),
        ({"F": [1, 2]}, se.ModelError, "F at t = 0 has the shape (2,)"),
        ({"F": lambda t: np.nan}, se.ModelError, "F at t = 0 = nan must consist of finite numbers"),
        ({"gamma": 0.3}, se.ModelError, "newmark needs beta > 0 and gamma >= 1/2"),
    ],
)
def test_bad_second_order_problems(given, error, sentence):
    problem = {"M": 1, "C": 0, "K": 1, "F": 0, "t_span": (0, 1), "q0": 1, "qd0": 0, "h": 0.1} | given
    with pytest.raises(error) as caught:
        se.ivp.newmark(**problem)
    assert sentence in str(caught.value)


def test_a_solution_unpacks_and_is_a_table():
    pytest.importorskip("pandas")
    hit = lambda t, y: y[0]
    s = se.ivp.solve(lambda t, y: [y[1], -y[0]], (0, 7), [1, 0], events=hit)
    t, y = s
    assert t is s.t and y is s.y
    frame = s.to_frame(["x", "v"])
    assert (frame.index.name, list(frame.columns)) == ("t", ["x", "v"])
    np.testing.assert_array_equal(frame["v"], s.y[1])
    assert list(s.to_frame().columns) == ["y[0]", "y[1]"]
    assert "event 0 happened 2 times: 1.570" in str(s)
    assert "event 0 happened 2 times" in s._repr_html_()
    rings = [line for line in s.plot().get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(rings[1].get_ydata(), s.y_events[0][:, 1])
    with pytest.raises(se.ModelError, match="1 name for 2 columns"):
        s.to_frame(["x"])


def test_a_solution_of_second_order_too():
    pytest.importorskip("pandas")
    s = se.ivp.newmark(1, 0, 4, 0, (0, 1), [1], [0], h=0.1)
    t, q, qd, qdd = s
    assert (t is s.t, q is s.q, qd is s.qd, qdd is s.qdd) == (True,) * 4
    assert list(s.to_frame().columns) == ["q[0]", "qd[0]", "qdd[0]"]
    assert "qdd[0]" in s._repr_html_()


# Newton's start ---------------------------------------------------------------------------------------


def square(t, y):
    return -(y**2)


def test_the_start_of_newtons_method_decides_which_root_backward_euler_finds():
    """y1 + 0.1 y1^2 = 2.4 has the roots 2 and -12."""
    step = lambda **start: se.ivp.solve(square, (0, 0.1), [2.4], "backward_euler", h=0.1, **start).y[0, -1]
    assert step() == pytest.approx(2.0, abs=1e-12)
    assert step(guess=[-15]) == pytest.approx(-12.0, abs=1e-12)
    assert step(guess=lambda t, y: y - 20) == pytest.approx(-12.0, abs=1e-12)


def test_a_start_for_every_step_is_asked_for_once_in_each():
    seen = []
    guess = lambda t, y: seen.append(t) or y
    guessed = se.ivp.solve(square, (0, 0.5), [2.4], "backward_euler", h=0.1, guess=guess)
    plain = se.ivp.solve(square, (0, 0.5), [2.4], "backward_euler", h=0.1)
    assert seen[:5] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    assert np.allclose(guessed.y, plain.y, rtol=1e-12)


def test_explicit_methods_have_no_start_to_choose():
    with pytest.raises(
        se.ModelError, match="guess is where the iteration of an implicit method starts; 'rk4'"
    ):
        se.ivp.solve(square, (0, 1), [1.0], "rk4", h=0.1, guess=[1.0])
    with pytest.raises(se.ModelError, match=r"guess has the shape \(2,\); y0 has \(1,\)"):
        se.ivp.solve(square, (0, 1), [1.0], "backward_euler", h=0.1, guess=[1.0, 2.0])


@pytest.mark.parametrize("rate", [50.0, 1e3, 1e6])
def test_implicit_steps_go_on_where_numbers_underflow(rate):
    """y_n = (1 + h rate)^-n, through the smallest numbers that there are, down to zero."""
    h = 0.1
    count = int(330 * np.log(10) / np.log1p(h * rate)) + 2
    y = se.ivp.solve(lambda t, y: -rate * y, (0, count * h), [1.0], "backward_euler", h=h).y[0]
    normal = y > 1e-300
    exact = np.arange(y.size) * np.log1p(h * rate)
    assert y[-1] == 0.0
    assert np.allclose(-np.log(y[normal]), exact[normal], rtol=1e-4)
