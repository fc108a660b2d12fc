"""Singular poses on the way of a motion: noticed, passed, told."""

import gc
import weakref

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.singular_poses import RankWatch, can_lose_rank
from simengine2d.coordinates.reference_point import ReferencePoint
from simengine2d.system import System

pytestmark = pytest.mark.slow  # long motions, for compiled kernels

POSES = [
    (k * np.pi - 1.0) / 5.0 for k in (1, 2, 3)
]  # a crank from 1 rad on at 5 rad/s lies on the line of the ground


def parallelogram():
    m = builders.four_bar(1, 2, 1, 2, crank_angle=1.0, gravity=(0, 0))
    m.bodies["crank"].angular_velocity = 5.0
    return m


def told(notes):
    return [float(note.split()[3]) for note in notes if "singular pose was passed" in note]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"formulation": "augmented"},
        {"coordinates": "relative"},
        {"integrator": "rk4", "step": 5e-3},
    ],
    ids=str,
)
def test_a_parallelogram_turns_through_its_flat_poses(options):
    t = np.linspace(0.0, 1.8, 91)
    r = se.dynamics(parallelogram(), t_eval=t, rtol=1e-9, **options)
    assert np.allclose(r["crank.phi"], 1.0 + 5.0 * t, atol=1e-7)
    assert np.allclose(r["rocker.phi"] - r["rocker.phi"][0], 5.0 * t, atol=1e-7)
    assert np.allclose(told(r.notes), POSES, atol=1e-5)


def test_a_simulator_passes_them_wherever_one_looks():
    s = se.Simulator(parallelogram(), rtol=1e-9)
    times = np.sort(
        np.concatenate([np.linspace(0.0, 1.8, 30), *(np.array(POSES) + d for d in (-1e-3, 0.0, 1e-3))])
    )
    for t in times:
        s.advance(t)
        assert abs(s.q[2] - (1.0 + 5.0 * t)) < 1e-7
        assert abs(s.qd[2] - 5.0) < 1e-6
    assert np.allclose(told(s.notes), POSES, atol=1e-5)


def test_an_event_inside_the_step_over_a_pose_is_found():
    angle = np.pi + 0.02
    r = se.dynamics(parallelogram(), t_end=1.0, rtol=1e-9, events=se.Event(f"crank.phi - {angle!r}"))
    assert r.t[-1] == pytest.approx((angle - 1.0) / 5.0, abs=1e-9)


def test_a_brake_is_felt_through_the_poses():
    """The work of a torque is what the kinetic energy loses, or a sentence names the time."""
    m = builders.four_bar(1, 2, 1, 2, crank_angle=1.0, gravity=(0, 0))
    m.bodies["crank"].angular_velocity = 5.0
    m.add(se.Torque("brake", m.bodies["crank"], -20.0))
    try:
        r = se.dynamics(m, t_end=1.0)
    except se.SimEngineError as error:
        assert "t = " in str(error)
    else:
        total = r.energy().kinetic[0] - 20.0 * (r["crank.phi"] - r["crank.phi"][0])
        assert np.allclose(r.energy().kinetic, total, rtol=1e-4, atol=1e-4)


def test_the_watch_keeps_what_follows_each_step():
    """Kernels know addresses alone: the door inside would be freed with the last one who holds it."""
    system = System(parallelogram())
    rank = RankWatch(system, ReferencePoint(system, system.drawn_q), True)
    finish = rank.around(None)
    memory = weakref.ref(finish.kept[0])
    outer = rank.around(finish)
    del finish
    gc.collect()
    assert memory() is not None and outer.c != 0


def test_only_mechanisms_that_can_lose_rank_are_watched():
    assert can_lose_rank(System(parallelogram()))
    assert not can_lose_rank(System(builders.chain(5)))


def test_an_ordinary_four_bar_has_no_such_note():
    assert not told(se.dynamics(builders.four_bar(1, 2.5, 2, 2.2), t_end=3).notes)
