"""Results: channels by name, measures with their rates, tables."""

from __future__ import annotations

import copy
import math
import pickle
import sys

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders


@pytest.fixture(scope="module")
def results():
    return se.kinematics(builders.slider_crank(1, 2, speed=2), t_end=3, step=0.02)


def test_channels_of_bodies(results):
    assert results["t"] is results.t
    np.testing.assert_array_equal(results["rod.yd"], results.qd[:, 4])
    np.testing.assert_array_equal(results["slider.xdd"], results.qdd[:, 6])
    assert results.channels[:4] == ["crank.x", "crank.y", "crank.phi", "rod.x"]
    assert results.channels[9] == "crank.xd"
    assert len(results.motion_channels) == 27 and results.channels[:27] == results.motion_channels
    assert results.bodies == ["crank", "rod", "slider"]


def test_channels_of_points(results):
    theta = np.pi / 3 + 2 * results.t
    np.testing.assert_allclose(results["crank.end.x"], np.cos(theta), atol=1e-13)
    np.testing.assert_allclose(results["crank.end.yd"], 2 * np.cos(theta), atol=1e-12)
    np.testing.assert_allclose(results["crank.end.xdd"], -4 * np.cos(theta), atol=1e-12)
    np.testing.assert_allclose(results["crank.end.phid"], 2.0, atol=1e-13)


def test_measures_with_their_rates(results):
    s, sd, sdd = results.measure("distance(ground, rod.at(0.3, 0.2))")
    dt = results.t[1] - results.t[0]
    # second-order differences against exact rates: h^2 / 6 times the third derivative, which is below 20
    np.testing.assert_allclose(np.gradient(s, dt)[1:-1], sd[1:-1], atol=20 * dt**2)
    np.testing.assert_allclose(np.gradient(sd, dt)[1:-1], sdd[1:-1], atol=80 * dt**2)
    np.testing.assert_array_equal(results["distance(ground, rod.at(0.3, 0.2))"], s)


def test_sums_of_measures_and_measure_objects(results):
    crank = results.model["crank"]
    s = results.measure(2 * se.angle("ground", crank) - se.x("ground", crank["end"]))[0]
    np.testing.assert_allclose(s, 2 * results["crank.phi"] - results["crank.end.x"], atol=1e-13)
    np.testing.assert_allclose(results["2*angle(ground, crank) - x(ground, crank.end)"], s, atol=1e-13)


def test_a_direction_is_continuous(results):
    turn = results["direction(ground, crank.end)"]
    np.testing.assert_allclose(turn, results["crank.phi"], atol=1e-12)  # over more than a half turn
    assert np.ptp(turn) > np.pi


def test_the_distance_of_coincident_points_is_zero(results):
    np.testing.assert_allclose(results["distance(crank.end, rod.start)"], 0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("channel", "sentence"),
    [
        ("crnk.x", "Did you mean 'crank'?"),
        ("crank.z", "there is no channel 'crank.z'"),
        ("crank.angle", "there is no channel 'crank.angle'. Did you mean crank.phi?"),
        ("omega", "Did you mean crank.phid, rod.phid"),
        ("crank", "there is no channel 'crank'"),
        ("crank.end.q.x", "there is no channel"),
        ("", "there is no channel"),
        ("crank.endd.x", "Did you mean 'end'?"),
        ("distance(crank, rodd)", "rodd"),
        ("distance(crank)", "takes two frames"),
    ],
)
def test_unknown_channels_are_said_in_words(results, channel, sentence):
    with pytest.raises(se.ModelError) as caught:
        results[channel]
    assert sentence in str(caught.value)


def test_a_data_frame_has_the_channels_as_columns(results):
    frame = results.to_frame()
    assert frame.index.name == "t"
    assert list(frame.columns) == results.motion_channels
    np.testing.assert_array_equal(frame["rod.phidd"].to_numpy(), results["rod.phidd"])


def test_without_pandas_the_way_to_get_it_is_said(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(se.UnsupportedError, match=r"pandas, .*pip install 'simengine2d\[tables\]'"):
        results.to_frame()


def test_summary_and_repr(results):
    assert "kinematics finished at t = 3 s" in results.summary()
    assert "largest residuals: position" in results.summary()
    assert repr(results).startswith("<Results of 'slider-crank'")


def test_printed_results_tell_of_bodies_that_were_moved():
    m = se.Model("crank")
    crank = m.bar("crank", (0.1, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground.at(0, 0), crank["start"]))
    m.add(se.Driver("d", se.angle(m.ground, crank), "t"))
    first, note = str(se.kinematics(m, t_end=0.1)).splitlines()
    assert first.startswith("<Results of 'crank'")
    assert note == "note: body 'crank' was moved by 0.1 m to close the joints"


def test_a_lambda_is_not_pickled_and_the_element_is_named():
    m = se.Model("p")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Torque("motor", bar, value=lambda x, y, phi, xd, yd, phid, t: -phid))
    r = se.dynamics(m, t_eval=[0, 0.1])
    with pytest.raises(se.UnsupportedError, match=r"Torque 'motor', value: the Python function .*lambda"):
        pickle.dumps(r)
    twin = copy.deepcopy(r)
    assert np.array_equal(twin["bar.phi"], r["bar.phi"]) and twin.system.bodies[0].name == "bar"
    m.elements["motor"].value = math.sin  # which has a name
    assert pickle.loads(pickle.dumps(m)).elements["motor"].value is math.sin


def test_an_object_that_is_called_is_the_users_own():
    class Controller:
        calls = 0

        def __call__(self, x, y, phi, xd, yd, phid, t):
            self.calls += 1
            return -phid

    m, control = se.Model("p"), Controller()
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    m.add(se.Torque("motor", bar, value=control))
    se.dynamics(m, t_eval=[0, 0.1])
    assert control.calls > 0


def test_an_interruption_is_no_error_of_the_engine():
    assert issubclass(se.Interrupted, KeyboardInterrupt)
    assert not issubclass(se.Interrupted, Exception)
