"""Plain calls on one System: those after the first are answered by a prepared run, to the last bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import simengine2d as se
from simengine2d.analyses.dynamics import idle_families
from simengine2d.analyses.dynamics.repeated_runs import RepeatedRun
from simengine2d.numerics.kernel import JIT

needs_jit = pytest.mark.skipif(not JIT, reason="without compiled kernels every call is a run")

WAYS: list[dict[str, Any]] = [
    {"t_end": 1.0},
    {"t_end": 0.5, "step": 0.05},
    {"t_eval": [0.1, 0.2, 0.7], "rtol": 1e-4},
]


@pytest.fixture
def answered(monkeypatch) -> list[bool]:
    """Whether each call that could be answered by a prepared run was."""
    noted: list[bool] = []
    results = RepeatedRun.results

    def note(self: RepeatedRun, *given: Any) -> Any:
        known = results(self, *given)
        noted.append(known is not None)
        return known

    monkeypatch.setattr(RepeatedRun, "results", note)
    return noted


def assert_same(one: se.Results, other: se.Results) -> None:
    for name in ("t", "q", "qd", "qdd", "lam"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    for name in ("status", "notes", "residuals", "statistics", "settings", "events"):
        assert repr(getattr(one, name)) == repr(getattr(other, name)), name


@needs_jit
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "repeats"),
    [
        ("chain", True),  # a tree
        ("four_bar", True),  # a loop, watched for its rank
        ("sprung_slider", True),  # forces
        ("jansen_leg", True),  # a driver
        ("double_wishbone", False),  # a law that bends
        ("engine", False),  # more steps than are stored
        ("walker", False),  # stiff
    ],
)
def test_the_second_call_answers_as_the_first(name, repeats, answered):
    model = se.load(name)
    for way in WAYS:
        system = se.System(model)
        first, *later = [se.dynamics(system, **way) for _ in range(3)]
        for again in later:
            assert_same(first, again)
    assert answered[:2] == [repeats] * 2


@needs_jit
def test_many_steps_between_given_times_are_one_call(answered):
    system = se.System(se.load("chain"))
    way: dict[str, Any] = {"t_eval": np.linspace(0.0, 0.5, 30), "rtol": 1e-12}
    first, again = (se.dynamics(system, **way) for _ in range(2))
    assert first.statistics["steps"] > 256
    assert_same(first, again)
    assert answered == [True]


STIFF_WAYS: list[dict[str, Any]] = [
    {"t_end": 3.0, "rtol": 1e-2},
    {"t_end": 3.0, "rtol": 1e-6},
    {"t_end": 2.0, "step": 0.1, "rtol": 1e-4},
    {"t_eval": [0.4, 0.8, 2.4], "rtol": 1e-4},
]


def on_rods(**law: Any) -> se.Model:
    """A bar that hangs on two elastic rods."""
    model = se.Model("swing")
    bar = model.bar("bar", (0.4, -1.0), (1.4, -1.0), mass=1.0)
    for i, end in enumerate(("start", "end")):
        rod = se.distance(model.ground.at(i, 0.0), bar[end])
        model.add(se.Spring(f"rod {i}", rod, **law))
    return model


def stiff() -> se.Model:
    return on_rods(stiffness=1e8, free=float(np.hypot(0.4, 1.0)), damping=1e4)


def hardly_stiff() -> se.Model:
    """In the end, a few explicit steps are as long as the implicit ones."""
    return on_rods(law="1e3*(s - 1) + 1e6*exp(-30*t)*sd")


def stiff_and_upright() -> se.Model:
    """With an equation of constraint."""
    model = stiff()
    model.add(se.AbsoluteAngle("upright", model.bodies["bar"]))
    return model


def relaxing() -> se.Model:
    """What damps it has lost its grip after about half a second."""
    return on_rods(law="100*(s - 1) + 1e4*exp(-20*t)*sd")


@needs_jit
@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "way"),
    [
        *((build, way) for build in (stiff, stiff_and_upright) for way in STIFF_WAYS),
        (hardly_stiff, {"t_end": 3.0, "rtol": 1e-4}),
    ],
)
def test_a_stiff_motion_is_repeated_too(build, way, answered):
    """With a trial of explicit steps, where there are many implicit ones."""
    system = se.System(build())
    first, *later = [se.dynamics(system, **way) for _ in range(3)]
    assert first.statistics["implicit steps"] > 20
    for again in later:
        assert_same(first, again)
    assert answered == [True] * 2
    assert later[-1].resume(t_end=3.1).q.tobytes() == first.resume(t_end=3.1).q.tobytes()


@needs_jit
@pytest.mark.slow
def test_a_stiff_motion_that_relaxes_is_left_to_a_run(answered):
    system = se.System(relaxing())
    first, *later = [se.dynamics(system, t_end=3.0, rtol=1e-8) for _ in range(3)]
    assert any("no longer stiff" in note for note in first.notes)
    for again in later:
        assert_same(first, again)
    assert answered == [False] * 2


@needs_jit
@pytest.mark.slow
def test_a_repeated_run_can_be_resumed_saved_and_changed(tmp_path, answered):
    system = se.System(se.load("four_bar"))
    first, again = se.dynamics(system, t_end=1), se.dynamics(system, t_end=1)
    assert answered == [True]
    assert again.resume(t_end=1.5).q.tobytes() == first.resume(t_end=1.5).q.tobytes()
    again.save(tmp_path / "again.npz")
    assert (
        se.Results.load(tmp_path / "again.npz").resume(t_end=1.5).q.tobytes()
        == first.resume(t_end=1.5).q.tobytes()
    )
    again.q[:] = again.lam[:] = 0.0  # results are the caller's own
    assert_same(first, se.dynamics(system, t_end=1))
    times = np.array([0.0, 0.5, 1.0])
    kept = [se.dynamics(system, t_eval=times) for _ in range(3)][-1]
    times[1] = 0.6  # and so are times
    assert list(se.dynamics(system, t_eval=times).t) == [0.0, 0.6, 1.0]
    assert kept.settings["t_end"] == 1.0 and kept.resume(t_end=1.2).t[-1] == 1.2


@needs_jit
@pytest.mark.slow
def test_threads_do_not_share_a_prepared_run():
    system = se.System(se.load("four_bar"))
    first = se.dynamics(system, t_end=1)
    with ThreadPoolExecutor(4) as pool:
        for again in pool.map(lambda _: se.dynamics(system, t_end=1), range(16)):
            assert_same(first, again)


def test_wrong_options_are_refused_every_time():
    system = se.System(se.load("four_bar"))
    for _ in range(3):
        with pytest.raises(se.ModelError, match="t_eval"):
            se.dynamics(system, t_eval=[[0.0], [1.0, 2.0]])  # type: ignore[list-item]
        with pytest.raises(se.ModelError, match="needs t_end"):
            se.dynamics(system)


@needs_jit
@pytest.mark.slow
def test_no_room_is_prepared_for_very_many_outputs(answered):
    system, times = se.System(se.load("double_pendulum")), np.linspace(0.0, 0.1, 180_000)
    first, again = [se.dynamics(system, t_eval=times) for _ in range(2)]
    assert_same(first, again)
    assert answered == [False]


@pytest.mark.slow
def test_many_different_calls_share_their_coordinates(monkeypatch):
    made = []
    new = idle_families.family_of
    monkeypatch.setattr(idle_families, "family_of", lambda *given: made.append(given) or new(*given))
    system = se.System(se.load("double_pendulum"))
    for k in range(40):
        se.dynamics(system, t_end=0.1 + 0.001 * k)
    assert len(made) <= 2
