"""--out: what lies in the folder stays, whatever runs, fails or is stopped there."""

from __future__ import annotations

import errno
import random

import numpy as np
import pytest
from typer.testing import CliRunner

import simengine2d as se
from simengine2d import cli
from simengine2d.cli import terminal
from simengine2d.cli.commands import keeping

ENDINGS = ("csv", "npz", "parquet")


def run(*words: object):
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@pytest.fixture
def pendulum(tmp_path):
    m = se.Model("p")
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    return m.save(tmp_path / "pendulum.yaml")


@pytest.fixture
def eager(monkeypatch):
    """Every chunk is kept."""
    monkeypatch.setattr(keeping, "FIRST", -1.0)
    monkeypatch.setattr(keeping, "SHARE", -1.0)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_removed_that_a_run_did_not_write(pendulum, tmp_path, eager, seed):
    """Random runs of all kinds in one folder; the contents of all others stay, byte for byte."""
    pytest.importorskip("pyarrow")
    rng, out = random.Random(seed), tmp_path / "out"
    assert run("dynamics", pendulum, "--t-end", 0.1, "--out", out, "--format", "npz").exit_code == 0
    (out / "notes.txt").write_text("mine")
    (out / "pendulum.unfinished.npz").write_bytes((out / "pendulum.npz").read_bytes())
    for i in range(3):
        before = {path: path.read_bytes() for path in out.iterdir()}
        ending = rng.choice(ENDINGS)
        words = ["dynamics", pendulum, "--t-end", 0.1]
        if rng.random() < 0.5:
            words = [
                "resume",
                out / rng.choice(["pendulum.npz", "pendulum.unfinished.npz"]),
                "--t-end",
                0.2 + 0.1 * i,
            ]
        shown = run(*words, "--out", out, "--format", ending)
        assert shown.exit_code == 0, shown.output
        target = out / f"pendulum.{ending}"
        changed = {path for path, data in before.items() if not path.exists() or path.read_bytes() != data}
        assert changed <= {target}, (words, changed)
        assert set(out.iterdir()) == set(before) | {target}
        assert ("in place of an earlier file" in shown.output) == (target in before)


def test_a_full_disk_between_is_told_and_the_run_goes_on(pendulum, tmp_path, eager, monkeypatch):
    from simengine2d.io import results_files

    def full(path, data):
        if keeping.UNFINISHED in path.name:
            raise OSError(errno.ENOSPC, "no space left on device")
        return write(path, data)

    write = results_files.write_bytes
    monkeypatch.setattr(results_files, "write_bytes", full)
    shown = run("dynamics", pendulum, "--t-end", 0.1, "--out", tmp_path / "out")
    assert shown.exit_code == 0
    assert "could not be saved, and the run goes on" in shown.stderr
    assert names(tmp_path / "out") == ["pendulum.csv"]


@pytest.mark.slow
def test_a_stopped_run_leaves_what_it_can_go_on_from(pendulum, tmp_path, eager, monkeypatch):
    """The columns of a CSV file hold no integrator; what holds one stays beside them."""
    out, calls = tmp_path / "out", []

    def stop(self, t):
        calls.append(t)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(terminal.ProgressBar, "__call__", stop)
    words = ["--integrator", "rk4", "--step", 1e-4, "--points", 101]
    shown = run("dynamics", pendulum, "--t-end", 20, *words, "--out", out)  # longer than a chunk lasts
    assert shown.exit_code == 130
    assert names(out) == ["pendulum.csv", "pendulum.unfinished.npz"]
    assert "simengine2d resume" in shown.stdout
    monkeypatch.undo()
    again = run("resume", out / "pendulum.unfinished.npz", "--out", tmp_path / "whole")
    assert again.exit_code == 0, again.output
    whole = se.dynamics(se.load(pendulum), t_eval=np.linspace(0, 20, 101), integrator="rk4", step=1e-4)
    assert np.array_equal(se.Results.load(tmp_path / "whole" / "pendulum.csv").q, whole.q)


@pytest.mark.parametrize(
    "name", ["four_bar.yaml", "four_bar.yml", "four_bar.adm", "./four_bar", "x/four_bar.yaml"]
)
def test_a_mistyped_path_runs_nothing(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    shown = run("run", name)
    assert shown.exit_code == 2
    assert "there is no file" in shown.stderr
    assert ("bare name, four_bar" in shown.stderr) == (name in ("four_bar.yaml", "./four_bar"))
