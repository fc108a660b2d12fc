"""Singular poses on the way of a motion: noticed, passed, told."""

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.singular_poses import can_lose_rank
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


def test_only_mechanisms_that_can_lose_rank_are_watched():
    assert can_lose_rank(System(parallelogram()))
    assert not can_lose_rank(System(builders.chain(5)))


def test_an_ordinary_four_bar_has_no_such_note():
    assert not told(se.dynamics(builders.four_bar(1, 2.5, 2, 2.2), t_end=3).notes)


@pytest.mark.slow
def test_outputs_on_the_way_over_a_pose_are_as_good_as_others():
    """An antiparallelogram, looked at as densely as its steps collapse before the pose."""
    model = builders.four_bar(1, 2, 1, 2, crank_angle=0.9, branch="crossed")
    model.gravity = (0, 0)
    model.bodies["crank"].angular_velocity = 9
    options = {"formulation": "augmented", "coordinates": "natural", "rtol": 1e-9}
    noted = [note for note in se.dynamics(model, t_end=0.5, **options).notes if "singular" in note]
    pose = float(noted[0].split()[3])
    times = np.unique(pose + np.outer([-1, 1], np.geomspace(1e-7, 1e-2, 30)).ravel())
    r = se.dynamics(model, t_eval=[0.0, *times], **options)
    assert np.ptp(r.energy().total) < 1e-7 * r.energy().kinetic.max()
    for t, q, qd in zip(r.t, r.q, r.qd, strict=True):
        assert np.abs(r.system.Phi(t, q)).max() < 1e-8
        assert np.abs(r.system.Phi_q(t, q) @ qd).max() < 1e-7


@pytest.mark.slow
def test_steps_that_collapse_before_a_pose_do_not_set_the_outputs():
    model = builders.four_bar(1, 2, 1, 2, crank_angle=0.9, branch="crossed")
    model.bodies["crank"].angular_velocity = 9
    r = se.dynamics(model, t_end=0.5, rtol=1e-9, formulation="augmented")
    assert any("singular" in note for note in r.notes) and r.t.size < 1000


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["natural", "relative"])
def test_rows_before_a_sentence_are_closed(coordinates):
    """Antiparallelograms, some of which end at a pose; what was found before it is handed back."""
    rng = np.random.default_rng(5)
    for _ in range(6):
        a, b = rng.uniform(0.5, 2.0, 2)
        model = builders.four_bar(a, b + 0.2, a, b + 0.2, crank_angle=1.2, branch="crossed")
        model.bodies["crank"].angular_velocity = 10
        for formulation in ("matrix_r", "projection"):
            options = {"coordinates": coordinates, "formulation": formulation, "rtol": 1e-9}
            try:
                r = se.dynamics(model, t_end=1.5, **options)
            except se.SimEngineError as error:
                r = error.results
                assert r.t.size > 1 and f"The {r.t.size} points before it are kept" in str(error)
            looked = [*range(0, r.t.size, 20), r.t.size - 1]
            assert max(np.abs(r.system.Phi(r.t[k], r.q[k])).max() for k in looked) < 1e-6
