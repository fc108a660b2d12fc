"""Singular poses on the way of a motion: noticed, passed, told."""

import gc
import weakref

import numpy as np
import pytest

import simengine2d as se
from simengine2d import builders
from simengine2d.analyses.singular_poses import RankWatch
from simengine2d.coordinates.equations import leaving
from simengine2d.coordinates.reference_point.reference_point import ReferencePoint
from simengine2d.system.connections import can_lose_rank
from simengine2d.system.system import System

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


ALPHA = {"formulation": "index3", "integrator": "generalized_alpha", "step": 2e-3}


@pytest.mark.parametrize("name", ["newmark", "hht", "generalized_alpha"])
def test_newmark_s_family_passes_them_and_says_so(name):
    r = se.dynamics(parallelogram(), t_end=1.8, **ALPHA | {"integrator": name})
    assert np.allclose(told(r.notes), POSES, atol=1e-2)
    assert np.allclose(r["rocker.phi"] - r["rocker.phi"][0], r["crank.phi"] - r["crank.phi"][0], atol=1e-8)
    assert r.verdict.word != "trust"


def test_a_run_of_newmark_s_family_is_resumed_behind_a_pose():
    whole = se.dynamics(parallelogram(), t_end=1.8, **ALPHA)
    part = se.dynamics(parallelogram(), t_end=1.2, **ALPHA)
    again = part.resume(t_end=1.8)
    assert np.array_equal(again.q, whole.q) and told(again.notes) == told(whole.notes)


def test_an_event_on_the_way_over_a_pose_ends_a_run_of_newmark_s_family():
    angle = np.pi + 0.02
    r = se.dynamics(parallelogram(), t_end=1.0, **ALPHA, events=se.Event(f"crank.phi - {angle!r}"))
    assert r.t[-1] == pytest.approx((angle - 1.0) / 5.0, abs=1e-3)
    assert r["crank.phi"][-1] == pytest.approx(angle, abs=1e-9)


def side_by_side(count):
    """Parallelograms with other speeds, more coordinates than small models have."""
    m = se.Model("side by side", gravity=(0, 0))
    across, along = np.array([np.cos(1.0), np.sin(1.0)]), np.array([2.0, 0.0])
    for i in range(count):
        A = np.array([5.0 * i, 0.0])
        B, D = A + across, A + along
        crank, coupler, rocker = (
            m.bar(f"{name}{i}", tuple(start), tuple(end), mass=1.0)
            for name, start, end in (("crank", A, B), ("coupler", B, B + along), ("rocker", D, D + across))
        )
        m.add(se.Revolute(f"A{i}", m.ground.at(*A), crank["start"]))
        m.add(se.Revolute(f"B{i}", crank["end"], coupler["start"]))
        m.add(se.Revolute(f"C{i}", coupler["end"], rocker["end"]))
        m.add(se.Revolute(f"D{i}", m.ground.at(*D), rocker["start"]))
        crank.angular_velocity = 5.0 + 0.3 * i
    return m


def test_large_systems_pass_one_pose_after_another_by_radau5():
    r = se.dynamics(side_by_side(8), t_end=0.8, formulation="index3")
    speeds = 5.0 + 0.3 * np.arange(8)
    poses = [(k * np.pi - 1.0) / speed for k in (1, 2) for speed in speeds]
    assert np.allclose(told(r.notes), sorted(pose for pose in poses if pose < 0.8), atol=1e-5)
    for i in range(8):
        assert np.allclose(r[f"crank{i}.phi"], 1.0 + (5.0 + 0.3 * i) * r.t, atol=1e-5)
        assert np.allclose(r[f"rocker{i}.phi"] - r[f"rocker{i}.phi"][0], (5.0 + 0.3 * i) * r.t, atol=1e-5)


def test_a_stiff_motion_through_a_pose_is_told_or_ends_in_a_sentence():
    """Explicit steps over the pose cannot follow it."""
    m = parallelogram()
    disk = m.body(
        "disk",
        mass=0.5,
        inertia=0.05,
        at=(0.5 * np.cos(1.0), 0.5 * np.sin(1.0)),
        angle=1.0,
        angular_velocity=5.0,
    )
    m.add(se.Revolute("axle", m.bodies["crank"].at(0, 0), disk.at(0, 0)))
    m.add(se.Spring("damper", "angle(crank, disk)", 1e4, 1e5))
    try:
        r = se.dynamics(m, t_end=0.6, **ALPHA)
    except se.SimEngineError as error:
        assert "t = " in str(error)
    else:
        assert r.verdict.word != "trust"


def test_a_simulator_passes_them_wherever_one_looks():
    s = se.Simulator(parallelogram(), rtol=1e-9)
    times = np.sort(
        np.concatenate([np.linspace(0.0, 1.8, 30), *(np.array(POSES) + d for d in (-1e-3, 0.0, 1e-3))])
    )
    for t in times:
        s.advance_to(t)
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
    finish = leaving(None)
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


def three_cranks(length: float, places: tuple[float, ...], angle: float) -> se.Model:
    """Equal cranks on one coupler: constraints are redundant, and in line they lose rank."""
    m = se.Model("three cranks")
    end, half = length * np.array([np.cos(angle), np.sin(angle)]), places[-1] / 2
    points = {f"P{i}": (place - half, 0.0) for i, place in enumerate(places)}
    coupler = m.body("coupler", mass=1, inertia=half**2 / 3, at=(end[0] + half, end[1]), points=points)
    for i, place in enumerate(places):
        bar = m.bar(f"crank{i}", (place, 0), (place + end[0], end[1]), mass=1)
        m.add(se.Revolute(f"O{i}", m.ground.at(place, 0), bar["start"]))
        m.add(se.Revolute(f"P{i}", bar["end"], coupler[f"P{i}"]))
    return m


@pytest.mark.slow
def test_a_look_just_behind_a_pose_sees_the_motion():
    """The step in which the last output lies leads over the pose, and nobody has looked at its end yet."""
    m = three_cranks(0.783735583736555, (0.0, 0.8051828610142244, 0.8934700106627742), 1.502188035780316)
    m.bodies["crank0"].angular_velocity = -7.68245254791624
    system = se.System(m)
    weight, first = system.masses, None
    for t in np.linspace(1.52, 1.55, 16):  # the cranks lie in line near t = 1.534
        simulator = se.Simulator(system, rtol=1e-9)
        for stop in (1.4744, float(t)):
            simulator.advance_to(stop)
        q, qd = simulator.q, simulator.qd
        energy = 0.5 * qd @ (weight * qd) + 9.81 * weight[0::3] @ q[1::3]
        first = energy if first is None else first
        assert abs(energy - first) < 1e-8 * abs(first)
        assert np.abs(system.Phi(float(t), q)).max() < 1e-9


@pytest.mark.parametrize("options", [{"rtol": 1e-9}, {"coordinates": "relative", "step": 0.01}])
def test_motions_through_poses_do_not_depend_on_the_clock(options, monkeypatch):
    """Chunks of steps last for about a tenth of a second; a pose is approached from the same states all the same."""
    runs = []
    for seconds in (10.0, 1e-4, 1e-3):
        monkeypatch.setattr("simengine2d.analyses.times.AT_ONCE", seconds)
        runs.append(se.dynamics(builders.four_bar_ladder(3), t_end=3, **options))
    for run in runs[1:]:
        assert run.statistics == runs[0].statistics
        for name in ("t", "q", "qd", "qdd", "lam"):
            np.testing.assert_array_equal(getattr(run, name), getattr(runs[0], name))


@pytest.mark.parametrize("difference", [1e-4, 1e-6, 1e-8, 1e-10])
def test_a_pose_that_is_missed_is_not_passed(difference):
    """Links that differ by so little lead around the corner, onto the other branch, or end in a sentence."""
    m = builders.four_bar(1, 2, 1 + difference, 2, crank_angle=1.0, gravity=(0, 0))
    m.bodies["crank"].angular_velocity = 5.0
    try:
        r = se.dynamics(m, t_end=0.9)
    except se.SingularityError as error:
        assert difference < 1e-6 and error.results.t[-1] < POSES[0]
    else:
        assert not told(r.notes) and abs(r["rocker.phi"][-1] - r["rocker.phi"][0]) < 0.1
        assert np.ptp(r.energy().total) < 1e-6 * r.energy().total[0]


def test_no_steps_are_wasted_beyond_a_pose():
    """One step at most is taken across a pose before it is noticed."""
    r = se.dynamics(builders.four_bar_ladder(2), t_end=10, rtol=1e-3)
    assert len(told(r.notes)) == 10 and r.statistics["steps"] < 60 and r.t.size < 400


def test_a_run_that_ends_at_a_pose_goes_on_from_the_rows_before_it():
    m = builders.four_bar(1, 2, 1 + 1e-8, 2, crank_angle=1.0, gravity=(0, 0))
    m.bodies["crank"].angular_velocity = 5.0
    with pytest.raises(se.SingularityError) as first:
        se.dynamics(m, t_end=0.9, rtol=1e-9)
    kept = first.value.results
    again = kept.resume(t_end=0.5 * (kept.t[-1] + POSES[0] - 0.012))
    later = again.t >= kept.t[-1]
    assert np.allclose(again["crank.phi"][later], 1.0 + 5.0 * again.t[later], atol=1e-6)
