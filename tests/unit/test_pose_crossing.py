"""What is known of a singular pose: where it is seen from afar, the motion through it, and the states before it."""

from types import SimpleNamespace

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.dynamics.pose_crossing import PoseCrossing
from simengine2d.analyses.singular_poses import PLACES, RankWatch, lowest
from simengine2d.coordinates.reference_point.reference_point import ReferencePoint
from simengine2d.formulations import rank_watch
from simengine2d.system.system import System


def test_the_lowest_place_of_a_cubic():
    cubic = np.poly1d([0.3, 2.0, -0.4, 0.1])
    place, low = lowest(cubic(-PLACES))
    assert cubic.deriv()(place) == pytest.approx(0.0, abs=1e-12) and cubic.deriv(2)(place) > 0.0
    assert low == pytest.approx(cubic(place), abs=1e-12)


def test_a_cubic_without_a_minimum_has_no_lowest_place():
    assert np.isnan(lowest(np.poly1d([1.0, 0.0, 1.0, 0.0])(-PLACES))[0])


@pytest.mark.parametrize("places", [(-1.0, -0.6, 0.6, 1.0), (-0.4, 0.6, 1.0)])
def test_a_crossing_is_the_polynomial_through_its_ends(places):
    t0, width = 3.0, 0.02
    motion = np.poly1d([*np.linspace(-1.0, 2.0, 3 * len(places))])  # in the places
    times = t0 + width * np.array(places)

    def state(t):
        x = (t - t0) / width
        return np.array([motion(x), motion.deriv()(x) / width])

    known = [(t, state(t), motion.deriv(2)(np.array([(t - t0) / width])) / width**2) for t in times]
    bridge = SimpleNamespace(system=SimpleNamespace(n=1))
    approach = SimpleNamespace(begin=times[0], first=state(times[0]))
    crossing = PoseCrossing(bridge, approach, known, times[-1], state(times[-1]))
    inside = np.linspace(times[0], times[-1], 9)
    expected = np.array([state(t) for t in inside])
    assert np.allclose(crossing.through(inside), expected, rtol=1e-9, atol=1e-9)


@pytest.fixture
def watch():
    system = System(builders.four_bar(1, 2, 1, 2, crank_angle=1.0))
    rank = RankWatch(system, ReferencePoint(system, system.drawn_q), True)
    solved = se.kinematics(driven(), t_end=0.4, step=0.01)
    return rank, [
        (t, np.concatenate([q, qd])) for t, q, qd in zip(solved.t, solved.q, solved.qd, strict=True)
    ]


def driven():
    m = builders.four_bar(1, 2, 1, 2, crank_angle=1.0)
    m.add(se.Driver("motor", "angle(ground, crank)", "1 + 5*t"))
    return m


def test_states_are_remembered_in_their_order(watch):
    rank, motion = watch
    for t, y in motion:
        rank.looking(t, y, np.zeros(0))
    states = rank.states()
    times = [t for t, _, _ in states]
    assert times == sorted(times) and times[0] == 0.0 and len(times) <= rank_watch.TRAIL
    for t, q, qd in states:
        k = round(t / 0.01)
        assert np.array_equal(np.concatenate([q, qd]), motion[k][1])


def test_steps_that_were_taken_back_are_forgotten(watch):
    rank, motion = watch
    for t, y in motion:
        rank.looking(t, y, np.zeros(0))
    rank.keep_alarms([[0.05, 1.0, 5.0], [0.3, 1.0, 5.0]])
    rank.looking(*motion[10], np.zeros(0))
    assert all(t <= motion[10][0] for t, _, _ in rank.states())
    assert [alarm[0] for alarm in rank.alarms()] == [0.05]
    rank.looking(-1.0, motion[0][1], np.zeros(0))  # before the first: the watch begins again
    assert [t for t, _, _ in rank.states()] == [-1.0] and rank.alarms() == []
