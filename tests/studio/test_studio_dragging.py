"""A mechanism in the hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simengine2d as se
from simengine2d.cli.studio.dragging import Drag, drag_driver

LIBRARY = Path(se.__file__).parent / "model" / "library"


def text_of(name: str) -> str:
    return (LIBRARY / f"{name}.yaml").read_text(encoding="utf-8")


def pulled(name: str, body: str, by: tuple[float, float], seconds: float = 4.0) -> Drag:
    pose = se.load(name).check().bodies[body].pose
    drag = Drag(text_of(name), body, pose[:2])
    drag.to((pose[0] + by[0], pose[1] + by[1]))
    for _ in range(int(30 * seconds)):
        drag.frame(1 / 30)
    return drag


def test_a_pulled_pendulum_comes_to_rest_at_the_mouse():
    drag = pulled("double_pendulum", "lower", (0.1, 0.1))
    assert np.subtract(drag.place(), drag.target) == pytest.approx([0, 0], abs=0.05 * drag.size)
    assert np.abs(drag.simulator.qd).max() < 0.05


def test_a_loop_stays_closed_and_finite_however_far_it_is_pulled():
    drag = pulled("four_bar", "coupler", (50.0, -80.0), 2.0)
    assert np.all(np.isfinite(drag.q))
    released = drag.simulator._options.system
    assert np.abs(released.Phi(0.0, drag.q)).max() < 1e-8


def test_a_driven_mechanism_is_dragged_to_the_time_of_the_nearest_pose():
    results = se.kinematics(se.load("four_bar"), t_end=1, step=0.01)
    x, y, phi = results.q[37, :3]
    end = [x + 0.5 * np.cos(phi), y + 0.5 * np.sin(phi)]
    answer = drag_driver({"text": text_of("four_bar"), "body": "crank", "point": end, "local": [0.5, 0.0]})
    assert answer["t"] == pytest.approx(0.37, abs=2e-3)
