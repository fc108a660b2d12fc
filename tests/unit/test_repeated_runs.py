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
