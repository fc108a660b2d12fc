"""Sweeps on a real Dask cluster: a scheduler and two workers as processes of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import simengine2d as se
from simengine2d.lab.sweep import cluster

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

OUTPUTS = {"top": "max(coupler.end.y)"}


def assert_same(a: se.SweepTable, b: se.SweepTable) -> None:
    """To the byte."""
    assert [column.tobytes() for column in a.columns.values()] == [c.tobytes() for c in b.columns.values()]
    assert (a.sample.tolist(), list(a.reasons)) == (b.sample.tolist(), list(b.reasons))


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def worker(address: str) -> subprocess.Popen[str]:
    return start("dask_worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard")


@pytest.fixture
def cluster_address():
    """The address of a scheduler with two workers, and the workers."""
    scheduler = start("dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
    address = ""
    for line in scheduler.stderr:
        if "Scheduler at:" in line:
            address = line.split()[-1]
            break
    # the rest of what it says must not fill the pipe
    threading.Thread(target=scheduler.stderr.read, daemon=True).start()
    workers = [worker(address), worker(address)]
    for each in workers:
        threading.Thread(target=each.stderr.read, daemon=True).start()
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def swept(executor, **options) -> se.SweepTable:
    parameters = {"rocker": np.linspace(3.2, 4.0, 150), "coupler": [2.0, 2.1]}
    return se.sweep(
        se.load("four_bar"), parameters, "kinematics", OUTPUTS, t_end=1, executor=executor, **options
    )


PROGRAM = """
import sys, numpy as np, simengine2d as se
def tell(done, total): print(done, flush=True)
se.sweep(se.load("four_bar"), {"rocker": np.linspace(3.2, 4.0, 150), "coupler": [2.0, 2.1]}, "kinematics",
    {"top": "max(coupler.end.y)"}, t_end=1, executor=sys.argv[1], out=sys.argv[2], progress=tell)
"""


def test_the_same_table_though_a_worker_and_then_the_client_are_killed(cluster_address, tmp_path):
    address, workers = cluster_address
    alone = swept("serial")
    with distributed.Client(address, set_as_default=False) as client:
        assert_same(alone, swept(client))

    def kill(done: int, total: int) -> None:
        if done >= 30 and workers[0].poll() is None:
            os.kill(workers[0].pid, signal.SIGKILL)

    assert_same(alone, swept(address, progress=kill))
    workers[0].wait()
    # the client is killed in the middle, and started again
    out, words = tmp_path / "study", [sys.executable, "-c", PROGRAM, address]
    with subprocess.Popen([*words, str(out)], stdout=subprocess.PIPE, text=True) as client:
        while int(client.stdout.readline()) < 30:
            pass
        os.kill(client.pid, signal.SIGKILL)
    there = {path: path.stat().st_mtime_ns for path in out.glob("part-*.parquet")}
    assert 0 < len(there) < 100
    time.sleep(0.02)
    assert_same(alone, swept(address, out=out))
    assert {path: path.stat().st_mtime_ns for path in there} == there


def test_a_lost_scheduler_and_another_version_end_in_a_sentence(cluster_address, monkeypatch):
    address, _ = cluster_address
    monkeypatch.setattr(cluster, "__version__", "0.0.0")
    with pytest.raises(se.UnsupportedError, match="Install the same"):
        swept(address)
    monkeypatch.setattr(cluster, "PATIENCE", "0.2s")
    with pytest.raises(se.UnsupportedError, match=r"no Dask scheduler at tcp://127.0.0.1:9"):
        swept("tcp://127.0.0.1:9")
