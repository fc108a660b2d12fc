"""`se.sensitivity`: derivatives against closed forms, and against extrapolated differences of other runs."""

from itertools import pairwise

import numpy as np
import pytest

import simengine2d as se
from simengine2d.lab.sensitivity.motions import ANALYSES, moved
from simengine2d.lab.sensitivity.readings import MotionReading, StudiedMotion
from simengine2d.lab.sweep.outputs import outputs_of
from simengine2d.lab.sweep.variants import variant

ACCURACY = 1e-7
"""Of the derivative, or of what a percent of the value would be where that is larger."""


def extrapolated(function, p, step, levels=3):
    """The derivative by Richardson's extrapolation of central differences; its error is that of (h/p)^6."""
    steps = [step * (abs(p) or 1.0) / 2**k for k in range(levels)]
    slopes = [(function(p + h) - function(p - h)) / (2 * h) for h in steps]
    for order in range(1, levels):
        slopes = [(4**order * b - a) / (4**order - 1) for a, b in pairwise(slopes)]
    return slopes[0]


def values_of(model, analysis, outputs, options):
    """The outputs alone, from a run of this model."""
    if analysis not in ANALYSES:
        found = se.sensitivity(model, ["k"], analysis, outputs, **options)
        return np.array([found.values[output] for output in found.numbers])
    motion = moved(model, [], analysis, options | ({"rtol": 1e-13} if analysis == "dynamics" else {}))
    events = [each for each in [options.get("events")] if each]
    found = MotionReading(StudiedMotion(motion, events, []), motion.places)
    return np.array([np.squeeze(found.value(each.tree)) for each in outputs_of(outputs).values()])


def agrees(model, parameters, analysis, outputs, change=4e-3, **options):
    """Derivatives against differences of the outputs of runs, with this change of each parameter at most."""
    found = se.sensitivity(model, parameters, analysis, outputs, **options)
    for k, name in enumerate(parameters):
        values = lambda p, name=name: values_of(variant(model, {name: p}), analysis, outputs, options)
        expected = extrapolated(values, found.parameters[name], change)
        size = np.abs(expected) + 0.01 * np.abs([found.values[o] for o in found.numbers]) / abs(
            found.parameters[name]
        )
        assert np.all(np.abs(found.matrix[:, k] - expected) < ACCURACY * size), (
            name,
            found.matrix[:, k] - expected,
        )
    return found


# Closed forms -----------------------------------------------------------------------------------------


def stone():
    m = se.Model("stone", parameters={"h": 2.0, "g": 9.81}, gravity=(0, "-g"))
    m.body("stone", mass=3, inertia=1, at=(0, "h"))
    return m


def test_a_falling_stone():
    """t = sqrt(2 h/g), v = sqrt(2 g h); the run ends at the event, so its end moves too."""
    outputs = {
        "t": "time(landing)",
        "v": "final(stone.yd)",
        "there": "at(stone.yd, landing)",
        "least": "min(stone.yd)",
    }
    event = se.Event("stone.y", name="landing")
    found = se.sensitivity(stone(), ["h", "g"], "dynamics", outputs, t_end=2, events=event)
    t, v = np.sqrt(2 * 2 / 9.81), np.sqrt(2 * 9.81 * 2)
    assert np.allclose(found.values["t"], t, rtol=1e-10, atol=0)
    assert np.allclose(list(found["t"].values()), [t / (2 * 2), -t / (2 * 9.81)], rtol=1e-9, atol=0)
    for name in ("v", "there", "least"):
        assert np.allclose(list(found[name].values()), [-v / (2 * 2), -v / (2 * 9.81)], rtol=1e-8, atol=0)
    assert np.allclose(found.relative("t")["h"], 0.5, rtol=1e-9)
    assert any("at an end of the run" in note for note in found.notes)


def test_named_numbers_are_independent_of_each_other():
    """y = h + twice, where the model computes twice = 2 h: of both, each keeps its value while the other varies."""
    m = se.Model("stone", parameters={"h": 2.0, "twice": "2*h"})
    m.body("stone", mass=3, inertia=1, at=(0, "h + twice"))
    both = se.sensitivity(m, ["h", "twice"], "dynamics", "first(stone.y)", t_end=1)
    one = se.sensitivity(m, ["h"], "dynamics", "first(stone.y)", t_end=1)
    assert np.allclose(both.matrix, [[1, 1]]) and np.allclose(one.matrix, [[3]])


@pytest.mark.slow
def test_what_adds_up_over_time():
    """A bar turned at constant speed: the motor gives m g L/2 sin(w t); its direction counts turns."""
    m = se.Model("bar", parameters={"L": 0.6, "m": 1.2, "w": 9.0})
    bar = m.bar("bar", (0, 0), ("L", 0), mass="m")
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Driver("motor", "angle(ground, bar)", "w*t"))
    outputs = ["final(motor.energy)", "max(motor.energy)", "final(direction(ground, bar.end))"]
    found = se.sensitivity(m, ["m", "L", "w"], "inverse_dynamics", outputs, t_end=1)
    weight = 9.81 * 0.3 * 1.2
    turned = weight * np.array([np.sin(9) / 1.2, np.sin(9) / 0.6, np.cos(9)])
    exact = [turned, [weight / 1.2, weight / 0.6, 0], [0, 0, 1]]
    assert np.allclose(list(found.values.values()), [weight * np.sin(9), weight, 9], rtol=1e-8)
    assert np.allclose(found.matrix, exact, rtol=1e-7, atol=1e-6)


def torsion_pendulum():
    m = se.Model("pendulum", parameters={"k": 4.0, "L": 0.6, "m": 1.2}, gravity=(0, 0))
    bar = m.bar("bar", (0, 0), ("L", 0), mass="m")
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Spring("spring", "angle(ground, bar)", stiffness="k", damping="0.1*k"))
    return m


def test_a_natural_frequency():
    """w = sqrt(k/J) with J = m L^2/3, and zeta = 0.1 k/(2 J w)."""
    found = se.sensitivity(torsion_pendulum(), ["k", "L", "m"], "modes", ["first(omega)", "max(damping)"])
    w = np.sqrt(3 * 4.0 / 1.2) / 0.6
    assert np.allclose(found.values["first(omega)"], w, rtol=1e-12)
    assert np.allclose(list(found["first(omega)"].values()), [w / 8, -w / 0.6, -w / 2.4], rtol=1e-9)
    # zeta = 0.05 w
    assert np.allclose(list(found["max(damping)"].values()), [w / 160, -w / 12, -w / 48], rtol=1e-9)


def test_state_matrices():
    found = se.sensitivity(torsion_pendulum(), ["k", "m"], "linearize", ["A"], inputs=["angle(ground, bar)"])
    J = 1.2 * 0.36 / 3
    assert np.allclose(found["A"]["k"], [[0, 0], [-1 / J, -0.1 / J]], rtol=1e-9, atol=1e-9)
    assert np.allclose(found["A"]["m"], [[0, 0], [4 / J / 1.2, 0.4 / J / 1.2]], rtol=1e-9, atol=1e-9)


# Closed loops -----------------------------------------------------------------------------------------


def test_kinematics_of_a_loop():
    outputs = {
        "top": "max(coupler.end.y)",
        "fastest": "min(rocker.phid)",
        "turn": "at(transmission, 0.4)/crank",
    }
    outputs |= {"mean": "mean(abs(rocker.phid))", "there": "at(distance(ground.A, coupler.end), 0.3)^2"}
    found = agrees(
        se.load("four_bar"), ["crank", "ground", "speed"], "kinematics", outputs, t_end=1, step=0.02
    )
    assert found.matrix.shape == (5, 3)


@pytest.mark.slow
def test_a_peak_torque_and_a_peak_reaction_of_a_driven_loop():
    outputs = {"torque": "max(motor.torque)", "reaction": "max(B.force)", "rms": "rms(motor.torque)"}
    outputs |= {"range": "peak_to_peak(C.fx)", "energy": "max(energy.kinetic)"}
    agrees(
        se.load("four_bar"), ["coupler", "density", "speed"], "inverse_dynamics", outputs, t_end=1, step=0.02
    )


def sprung_four_bar():
    """A four-bar that a spring with a damper holds against its weight."""
    m = se.load("four_bar")
    del m.elements["motor"]
    m.parameters |= {"k": 40.0, "free": 1.5, "c": 0.5, "spin": 1.0}
    spring = se.Spring(
        "spring", "distance(ground.at(0, 3), coupler.end)", stiffness="k", damping="c", free="free"
    )
    m.add(spring)
    m.bodies["crank"].angular_velocity = "spin"
    return m


def test_equilibrium_of_a_loop():
    outputs = ["crank.phi", "A.force", "spring.force*k", "hypot(B.fx, B.fy)"]
    found = agrees(sprung_four_bar(), ["k", "free", "coupler"], "equilibrium", outputs)
    assert np.isclose(found.gradients["A.force"][0], found["A.force"]["k"])


def test_natural_frequencies_of_a_loop():
    agrees(
        sprung_four_bar(),
        ["k", "free", "coupler"],
        "modes",
        ["min(frequency)", "max(damping)", "mean(omega)^2"],
    )


@pytest.mark.slow
def test_a_short_peak_between_outputs():
    """Within the first of the outputs, beside which it is sought."""
    agrees(
        se.load("shaft_governor"), ["drag", "pin"], "dynamics", ["max(first.phidd)"], t_end=0.6, step=0.015
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"), [("kapitza_pendulum", ["length", "speed"]), ("shaft_governor", ["arm", "speed"])]
)
def test_velocities_at_the_start_that_are_not_given(name, parameters):
    """They are the smallest ones; angles are compared with lengths by the sizes of bodies, which vary."""
    body = [*se.load(name).bodies][-1]
    agrees(se.load(name), parameters, "dynamics", [f"final({body}.x)", f"final({body}.phid)"], t_end=0.3)


@pytest.mark.slow
def test_a_load_that_is_a_table():
    """A spline: its second derivative has kinks where the motion passes its points."""
    m = sprung_four_bar()
    m.parameters["F"] = 6.0
    m.table("load", [-30, -3, 0, 1, 2, 4, 8, 30], [0, 0.5, 1, 3, 2, 5, 1, 0])
    m.add(se.Torque("push", "crank", "F*load(crank.phi)"))
    agrees(m, ["F", "coupler"], "dynamics", ["final(rocker.phi)", "final(push.torque)"], t_end=1)


@pytest.mark.slow
def test_dynamics_of_a_loop():
    """A peak reaction, the time of an event, values there, energy, the end."""
    outputs = {
        "peak": "max(A.force)",
        "time": "time(turn)",
        "there": "at(coupler.y, turn)",
        "end": "final(crank.phid)",
    }
    outputs |= {"energy": "max(energy.kinetic)", "pull": "min(spring.force)", "half": "at(B.fx, 0.5)"}
    event = se.Event("crank.phid", "falling", stop=False, name="turn")
    # damping changes forces by so little that smaller differences would be those of rounding
    agrees(sprung_four_bar(), ["k", "coupler", "spin"], "dynamics", outputs, t_end=1, events=event)
    agrees(sprung_four_bar(), ["c"], "dynamics", outputs, change=3e-2, t_end=1, events=event)


@pytest.mark.slow
def test_dynamics_of_a_loop_that_ends_at_an_event():
    outputs = {
        "time": "time(turn)",
        "end": "final(coupler.y)",
        "reaction": "final(A.force)",
        "least": "min(crank.phid)",
    }
    event = se.Event("crank.phi + 1", name="turn")
    agrees(sprung_four_bar(), ["k", "coupler"], "dynamics", outputs, t_end=3, events=event)


# Where there is none ----------------------------------------------------------------------------------


def refused(match, *words, model="four_bar", error=se.UnsupportedError, **options):
    with pytest.raises(error, match=match):
        se.sensitivity(se.load(model) if isinstance(model, str) else model, *words, **options)


def test_what_is_not_there_is_answered_by_a_sentence():
    wrong = {"error": se.ModelError, "t_end": 1}
    refused("no parameter 'L'", ["L"], outputs="max(coupler.y)", **wrong)
    refused("needs outputs", ["crank"], **wrong)
    refused("Did you mean 'coupler'", ["crank"], outputs="max(copler.y)", **wrong)
    refused("there are no derivatives of the analysis 'floquet'", ["crank"], "floquet", "max(x)", **wrong)
    refused("'landing' did not happen", ["crank"], outputs="time(landing)", **wrong)
    refused("not between 0 and 1", ["crank"], outputs="at(coupler.y, 3)", **wrong)
    refused("is a Python function", ["crank"], outputs={"a": lambda results: 1.0}, t_end=1)
    refused("has no reactions", ["crank"], outputs="max(B.force)", t_end=1)
    refused("no option 'tend'", ["crank"], outputs="max(coupler.y)", tend=1, error=se.OptionError)
    with pytest.raises(se.ModelError, match="needs a Model"):
        se.sensitivity("four_bar", ["crank"], outputs="max(coupler.y)", t_end=1)


def test_a_value_at_a_kink_is_refused():
    refused("kink", ["crank"], outputs="min(abs(coupler.y - 1))", t_end=1)
    refused("kink", ["crank"], outputs="max(1 - abs(coupler.y - 1))", t_end=1)


def test_peaks_of_the_same_height_agree_or_are_refused():
    """cos(phi) of a crank is 1 at the start and at the end of a turn; only the later one depends on the speed."""
    found = se.sensitivity(se.load("four_bar"), ["crank", "speed"], outputs="max(coupler.y)", t_end=2)
    once = se.sensitivity(se.load("four_bar"), ["crank", "speed"], outputs="max(coupler.y)", t_end=1)
    assert np.allclose(found.matrix, once.matrix, rtol=1e-8, atol=1e-8)
    # sin^2 is 1 at a quarter and at three quarters of a turn; what is added makes one higher and the other lower
    added = "max(sin(crank.phi)^2 + (crank - 1)*sin(crank.phi))"
    refused("it is the same at t = .* different ways", ["crank"], outputs=added, t_end=0.999)


def test_what_rests_or_never_changes():
    """A boom that waits at the beginning, and a crank that is never accelerated: peaks everywhere, derivatives zero."""
    found = se.sensitivity(se.load("excavator"), ["raise"], outputs="min(boom.xd)", t_end=0.6, step=0.015)
    assert abs(found.values["min(boom.xd)"]) < 1e-9 and abs(found.matrix[0, 0]) < 1e-9
    found = se.sensitivity(se.load("chebyshev_lambda"), ["crank"], outputs="max(crank.phidd)", t_end=0.3)
    assert abs(found.matrix[0, 0]) < 1e-9


def test_shared_reactions_are_refused():
    refused("not unique", ["width"], "inverse_dynamics", "max(A.force)", model="parallelogram", t_end=0.1)


def test_a_touching_event_is_refused():
    event = se.Event("(t - 1)^2", name="touch", stop=False)
    refused("touches zero", ["h"], "dynamics", "time(touch)", model=stone(), t_end=2, events=event)


def test_the_mean_over_a_run_with_a_moving_end_is_refused():
    event = se.Event("stone.y", name="landing")
    refused("ends at the event", ["h"], "dynamics", "mean(stone.y)", model=stone(), t_end=2, events=event)


# The answer -------------------------------------------------------------------------------------------


def test_the_answer_shows_itself():
    outputs = {"top": "max(coupler.y)", "whole": "coupler.y"}
    found = se.sensitivity(se.load("four_bar"), ["crank", "speed"], outputs=outputs, t_end=1)
    assert found.gradients["whole"].shape == (101, 2) and found["whole"]["crank"].shape == (101,)
    assert found.numbers == ["top"] and list(found.to_frame().columns) == ["value", "crank", "speed"]
    assert "top = 1.7642" in str(found) and "whole: 101 values" in str(found)
    labels = [text.get_text() for text in found.plot().get_yticklabels()]
    assert labels == ["speed", "crank"]
    with pytest.raises(se.ModelError, match="no output 'whole' of one number"):
        found.plot(output="whole")
    with pytest.raises(se.ModelError, match="no output 'bottom'"):
        found["bottom"]


def test_units_of_a_model():
    """Values and derivatives are in SI units, whatever the model is written in."""
    m = se.Model("stone", units={"length": "mm"}, parameters={"h": "2000 mm"})
    m.body("stone", mass=3, inertia=1, at=(0, "h"))
    event = se.Event("stone.y - 1000 mm", name="landing")
    found = se.sensitivity(m, ["h"], "dynamics", "time(landing)", t_end=2, events=event)
    assert np.isclose(found["time(landing)"]["h"], 1 / np.sqrt(2 * 9.81 * 1), rtol=1e-7)
