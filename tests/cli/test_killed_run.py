"""The installed command, killed in the middle of a run."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

import simengine2d as se

pytestmark = pytest.mark.slow


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "simengine2d", *map(str, words)]


def test_a_killed_run_leaves_a_file_to_go_on_from(tmp_path):
    """kill -9: no signal handler, no farewell. What lies there was written whole."""
    out, kept = tmp_path / "out", tmp_path / "out" / "four_bar.unfinished.npz"
    se.builders.four_bar(1, 2, 2.5, 3, crank_angle=0.5).save(tmp_path / "four_bar.yaml")
    run = command(
        "dynamics", tmp_path / "four_bar.yaml", "--t-end", 1000, "--integrator", "newmark", "--step", 1e-5,
        "--points", 100_001, "--out", out,
    )  # fmt: skip
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not kept.exists() and time.monotonic() < deadline:
            assert process.poll() is None, "the run ended before it was killed"
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    earlier = se.Results.load(kept)
    assert earlier.t.size > 1 and earlier.status.startswith("unfinished")
    end = float(earlier.t[-1]) + 0.1
    again = subprocess.run(
        command("resume", kept, "--t-end", end), capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr
    longer = se.Results.load(kept)
    assert longer.t[-1] == pytest.approx(end) and longer.t.size > earlier.t.size
    np.testing.assert_array_equal(longer.q[: earlier.t.size], earlier.q)


def test_a_finished_run_leaves_only_its_own_file(tmp_path):
    run = command("dynamics", "four_bar", "--t-end", 0.1, "--out", tmp_path)
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["four_bar.csv"]


def test_columns_cannot_be_resumed(tmp_path):
    subprocess.run(
        command("dynamics", "four_bar", "--t-end", 0.1, "--out", tmp_path), check=True, capture_output=True
    )
    refused = subprocess.run(
        command("resume", tmp_path / "four_bar.csv"), capture_output=True, text=True, check=False
    )
    assert refused.returncode == 3
    assert "cannot be resumed" in refused.stderr
