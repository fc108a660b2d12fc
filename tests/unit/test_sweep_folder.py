"""The folder of a study: a killed sweep goes on where it ended, and never mixes with another one."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import simengine2d as se
from simengine2d.io import files
from simengine2d.lab.sweep import folder as folders
from simengine2d.lab.sweep import study as studies

pytest.importorskip("pyarrow")

PARAMETERS = {"rocker": np.linspace(2.5, 4.0, 8)}
OUTPUTS = {"top": "max(coupler.end.y)", "x": "coupler.end.x"}


def swept(out: Path | None, **changes) -> se.SweepTable:
    given = {"parameters": PARAMETERS, "outputs": OUTPUTS, "executor": "serial", "t_end": 1, "step": 0.1}
    return se.sweep(changes.pop("model", se.load("four_bar")), out=out, **{**given, **changes})


def assert_same_values(a: se.SweepTable, b: se.SweepTable) -> None:
    """Of whole channels too."""
    for name, column in a.columns.items():
        assert [np.asarray(v).tobytes() for v in column] == [np.asarray(v).tobytes() for v in b[name]]
    assert list(a.reasons) == list(b.reasons)


def stop_after(count: int):
    def progress(done: int, total: int) -> None:
        if done >= count:
            raise KeyboardInterrupt

    return progress


def test_a_stopped_sweep_goes_on(tmp_path, monkeypatch):
    out, whole = tmp_path / "study", swept(None)
    with pytest.raises(
        se.Interrupted, match=r"3 of 8 samples, kept in .*study: the same call goes on from there"
    ):
        swept(out, progress=stop_after(3))
    assert len(list(out.glob("part-*.parquet"))) == 3
    computed = []
    run = studies.Study.run
    monkeypatch.setattr(
        studies.Study, "run", lambda study, values: computed.append(values) or run(study, values)
    )
    assert_same_values(whole, swept(out, executor="threads"))
    assert len(computed) == 5
    assert_same_values(whole, swept(out))
    assert len(computed) == 5


def test_parts_are_the_same_bytes_whatever_the_executor(tmp_path):
    for executor in ("serial", "threads"):
        swept(tmp_path / executor, executor=executor)
    parts = [sorted((tmp_path / name).iterdir()) for name in ("serial", "threads")]
    assert [p.name for p in parts[0]] == [p.name for p in parts[1]]
    assert [p.read_bytes() for p in parts[0]] == [p.read_bytes() for p in parts[1]]


def own_output(results: se.Results) -> float:
    return float(results.t[-1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": {"rocker": np.linspace(2.5, 4.1, 8)}}, "samples"),
        ({"parameters": {"coupler": PARAMETERS["rocker"]}}, "samples"),
        ({"t_end": 2}, "options of the analysis"),
        ({"outputs": {"top": "min(coupler.end.y)", "x": "coupler.end.x"}}, "outputs"),
        ({"outputs": {"top": own_output}}, "outputs"),
        ({"model": se.load("four_bar").with_parameters(coupler=2.1)}, "model"),
    ],
)
def test_a_folder_of_another_study_is_refused(tmp_path, changes, words):
    swept(tmp_path, parameters={"rocker": PARAMETERS["rocker"]})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(se.ModelError, match=f"is of another study: the two differ in .*{words}"):
        swept(tmp_path, **changes)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_other_versions_and_other_files_are_refused(tmp_path, monkeypatch):
    swept(tmp_path / "a")
    monkeypatch.setattr(folders, "__version__", "0.0.0")
    with pytest.raises(se.ModelError, match="versions of packages"):
        swept(tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "letter.txt").touch()
    with pytest.raises(se.ModelError, match="holds other files, and no study"):
        swept(tmp_path / "b")
    (tmp_path / "file").touch()
    with pytest.raises(se.ModelError, match="cannot be made"):
        swept(tmp_path / "file")


def test_whole_results_are_not_for_folders(tmp_path):
    with pytest.raises(se.UnsupportedError, match="not whole results"):
        swept(tmp_path, outputs=None)


def test_damage_is_named(tmp_path):
    swept(tmp_path)
    part = next(iter(sorted(tmp_path.glob("part-*.parquet"))))
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(se.ModelError, match=f"{part.name} is damaged"):
        swept(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(se.ModelError, match="is damaged"):
        swept(tmp_path)


def test_a_full_disk_keeps_what_is_finished(tmp_path, monkeypatch):
    replace = files._replace

    def full(path: Path, data: bytes) -> None:
        if path.name.startswith("part-000000004"):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(path, data)

    monkeypatch.setattr(files, "_replace", full)
    with pytest.raises(
        se.ModelError, match=r"no space left on device. Make room .* There are 4 of 8 samples"
    ) as raised:
        swept(tmp_path)
    assert len(raised.value.results) == 4
    monkeypatch.undo()
    assert_same_values(swept(None), swept(tmp_path))


def test_pyarrow_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(se.UnsupportedError, match="needs the package pyarrow"):
        swept(tmp_path)


PROGRAM = """
import sys, numpy as np, simengine2d as se
def tell(done, total): print(done, flush=True)
table = se.sweep(se.load("four_bar"), {"rocker": np.linspace(3.2, 4, 1000)}, "kinematics",
    {"top": "max(coupler.end.y)"}, t_end=1, executor="serial", out=sys.argv[1], progress=tell)
table.to_parquet(sys.argv[1] + ".parquet")
"""


@pytest.mark.slow
def test_kill_9_repeats_nothing(tmp_path):
    out, words = tmp_path / "study", [sys.executable, "-c", PROGRAM]
    with subprocess.Popen([*words, str(out)], stdout=subprocess.PIPE, text=True) as first:
        while int(first.stdout.readline()) < 50:
            pass
        os.kill(first.pid, signal.SIGKILL)
    there = {path: path.stat().st_mtime_ns for path in out.glob("part-*.parquet")}
    assert 5 <= len(there) < 100
    time.sleep(0.02)
    done = subprocess.run([*words, str(out)], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[0]) == 10 * len(there)
    assert {path: path.stat().st_mtime_ns for path in there} == there
    parameters = {"rocker": np.linspace(3.2, 4, 1000)}
    whole = se.sweep(se.load("four_bar"), parameters, outputs={"top": "max(coupler.end.y)"}, t_end=1)
    whole.to_parquet(tmp_path / "whole.parquet")
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "study.parquet").read_bytes()


def test_the_manifest_says_what_it_is(tmp_path):
    swept(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert (manifest["name"], manifest["analysis"], manifest["count"]) == ("four-bar", "kinematics", 8)
    assert manifest["versions"]["simengine2d"] == se.__version__
