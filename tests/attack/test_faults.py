"""Faults of the machine: damaged, vanished and full caches, two processes on one, closed pipes, kill -9 while saving.

The answer is always that of a sound machine, or a sentence; a file is the old one or the new one.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from simengine2d.numerics.compiler_choice import RUNG
from simengine2d.numerics.compiler_verdicts import file_of
from simengine2d.numerics.kernel import JIT
from simengine2d.numerics.kernel_files import cache_folder, source_key

KERNELS = cache_folder()
USED = (
    "channels.measures_along",
    "kernel_pointer._call_once",
    "kernel_pointer.simengine2d.analyses.kinematics.",
    "kernel_pointer.simengine2d.expressions.function_table.function_at",
)
SPOILED = {"names": "*.nbc"}
MOTION = """
import simengine2d as se
from simengine2d import builders
r = se.kinematics(builders.four_bar(1, 2, 3, 3, speed=2), t_end=1)
print(repr(float(r["rocker.phi"][-1])), repr(float(r["coupler.end.x"][-1])))
"""


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    """A sentence for each fault that changed an answer, ended in a foreign error or left half a file."""
    with tempfile.TemporaryDirectory() as folder:
        sound = Path(folder) / "sound"
        want = sound_cache(sound)
        for k in range(count):
            fault, cache = FAULTS[int(rng.integers(len(FAULTS)))], Path(folder) / str(k)
            shutil.copytree(sound, cache)
            for sentence in fault(rng, cache, want):
                yield f"{k} {fault.__name__}: {sentence}"
            shutil.rmtree(cache, ignore_errors=True)


def sound_cache(folder: Path) -> str:
    """Fill a cache with the kernels of the motion; what it prints."""
    want = run(MOTION, KERNELS.parent).stdout
    found = [path for path in KERNELS.glob(f"{source_key(RUNG)}/*.nbc") if path.name.startswith(USED)]
    assert len(found) >= 7 and want
    for path in [*found, file_of(RUNG)]:
        copy = folder / path.relative_to(KERNELS.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return want


@pytest.mark.slow
@pytest.mark.skipif(not JIT or sys.platform != "linux", reason="needs numba and its limits of files")
def test_faults_of_the_machine_change_no_answer(tmp_path, monkeypatch):
    monkeypatch.setitem(SPOILED, "names", "*group_solution.*.nbc")  # soon compiled again
    want = sound_cache(tmp_path / "sound")
    for seed, fault in enumerate((damaged, killed_while_saving, full_disk_while_saving, closed_pipe)):
        shutil.copytree(tmp_path / "sound", cache := tmp_path / fault.__name__)
        assert list(fault(np.random.default_rng(seed), cache, want)) == []


def run(code: str, cache: Path, before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"SIMENGINE2D_CACHE": str(cache)},
        preexec_fn=before,
        timeout=300,
    )


def same(done: subprocess.CompletedProcess[str], want: str) -> Iterator[str]:
    if done.stdout != want or done.returncode != 0:
        yield f"ended with {done.returncode}, {done.stdout!r} instead of {want!r}: {done.stderr[-400:]}"


def drafts(cache: Path) -> Iterator[str]:
    found = [path.name for path in cache.rglob("*.tmp")]
    if found:
        yield f"left {found}"


# Faults of the cache --------------------------------------------------------------------------------------


def damaged(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    """Some files cut, overwritten, changed in one bit, exchanged, or become folders; then all is sound again."""
    spoil(rng, cache)
    yield from same(run(MOTION, cache), want)
    yield from drafts(cache)
    again = run(MOTION, cache)
    yield from same(again, want)
    if "compiling" in again.stderr and not any(path.is_dir() for path in cache.rglob("*.nbc")):
        yield "compiled again, though nothing was wrong any more"


def damaged_on_a_full_disk(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    spoil(rng, cache)
    nothing_more = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (int(rng.integers(2000)),) * 2)
    yield from same(run(MOTION, cache, nothing_more), want)
    yield from drafts(cache)


def vanishing(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    """The folder goes while the program runs."""
    spoil(rng, cache)
    code = MOTION.replace("r = se", f"import shutil; shutil.rmtree({str(cache)!r})\nr = se", 1)
    yield from same(run(code, cache), want)


def two_processes(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    """Both find the same holes at once."""
    for path in some(rng, cache):
        path.unlink()
    go, environment = [sys.executable, "-c", MOTION], os.environ | {"SIMENGINE2D_CACHE": str(cache)}
    both = [subprocess.Popen(go, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    for each in both:
        out, _ = each.communicate(timeout=300)
        if out != want or each.returncode != 0:
            yield f"ended with {each.returncode}, {out!r}"
    yield from same(run(MOTION, cache), want)


def killed_while_compiling(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    for path in some(rng, cache):
        path.unlink()
    go, environment = [sys.executable, "-c", MOTION], os.environ | {"SIMENGINE2D_CACHE": str(cache)}
    first = subprocess.Popen(go, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    time.sleep(float(rng.uniform(1.0, 5.0)))
    first.send_signal(int(rng.choice([signal.SIGKILL, signal.SIGINT])))
    first.wait(60)
    yield from same(run(MOTION, cache), want)


def nowhere(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    """The cache is a file, so that no folder can be made; all kernels run uncached."""
    shutil.rmtree(cache)
    cache.write_text("")
    yield from same(run(MOTION, cache), want)
    cache.unlink()


def some(rng: np.random.Generator, cache: Path) -> list[Path]:
    paths = sorted(cache.rglob(SPOILED["names"]))
    return [paths[i] for i in rng.choice(len(paths), size=int(rng.integers(1, 3)), replace=False)]


def spoil(rng: np.random.Generator, cache: Path) -> None:
    paths = sorted(cache.rglob("*.nbc"))
    for path in some(rng, cache):
        if path.is_dir():
            continue
        text, kind = bytearray(path.read_bytes()), rng.integers(6)
        if kind == 0:
            path.write_bytes(text[: rng.integers(len(text))])
        elif kind == 1:
            path.write_bytes(rng.bytes(int(rng.integers(3000))))
        elif kind == 2:
            text[rng.integers(len(text))] ^= 1 << int(rng.integers(8))
            path.write_bytes(text)
        elif kind == 3:
            path.write_bytes(b"")
        elif kind == 4:
            path.unlink()
            path.mkdir()
        else:  # sound, but of another kernel
            others = [other for other in paths if other.is_file() and other != path]
            path.write_bytes(others[rng.integers(len(others))].read_bytes())


# Faults of results and of the command -------------------------------------------------------------------


SAVING = """
import sys, numpy as np, simengine2d as se
m = se.Model("p"); m.bar("b", (0, 0), (1, 0), mass=1)
def results(k):
    t = np.arange(20_000.0)
    q = np.full((t.size, 3), float(k))
    return se.Results(m, t, q, q, q, analysis="kinematics", status=str(k))
both = results(1), results(2)
both[0].save(sys.argv[1]); print("begun", flush=True)
while True:
    for r in both: r.save(sys.argv[1])
"""


def killed_while_saving(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    """The file is the old one or the new one."""
    import simengine2d as se

    path = cache / "r.npz"
    go = [sys.executable, "-c", SAVING, str(path)]
    writer = subprocess.Popen(go, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(float(rng.uniform(0.0, 0.5)))
    writer.kill()
    writer.communicate()
    try:
        r = se.Results.load(path)
    except Exception as error:
        yield f"{type(error).__name__}: {error}"
        return
    if r.q.shape != (20_000, 3) or not np.all(r.q == float(r.status)):
        yield "the file is of two kinds"


def full_disk_while_saving(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    """A sentence, and the old file."""
    code = """
import os, resource, sys, numpy as np, simengine2d as se
m = se.Model("p"); m.bar("b", (0, 0), (1, 0), mass=1)
make = lambda n: se.Results(m, np.arange(float(n)), *np.random.rand(3, n, 3), analysis="kinematics", status="s")
path = os.path.join(sys.argv[1], "r" + sys.argv[2])
make(5).save(path)
before = open(path, "rb").read()
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try: make(5000).save(path)
except se.SimEngineError as error: print("refused")
print(open(path, "rb").read() == before, len(os.listdir(sys.argv[1])))
"""
    place = cache / "out"
    place.mkdir()
    suffix = str(rng.choice([".npz", ".csv"]))
    go = [sys.executable, "-c", code, str(place), suffix]
    done = subprocess.run(go, capture_output=True, text=True, env=os.environ, timeout=120)
    if done.stdout != "refused\nTrue 1\n":
        yield f"{suffix} {done.stdout!r} {done.stderr[-400:]}"


def closed_pipe(rng: np.random.Generator, cache: Path, want: str) -> Iterator[str]:
    """Whoever reads what the command prints goes away early."""
    words = [["models"], ["schema"], ["models", "four_bar"], ["--help"], ["check", "four_bar"]][
        rng.integers(5)
    ]
    go = [sys.executable, "-m", "simengine2d", *words]
    command = subprocess.Popen(
        go,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"SIMENGINE2D_CACHE": str(cache)},
    )
    assert command.stdout is not None and command.stderr is not None
    command.stdout.read(int(rng.integers(0, 3)))
    command.stdout.close()
    told = command.stderr.read()
    command.wait(120)
    if "Traceback" in told or "Exception" in told:
        yield f"{words} {told[-300:]}"


FAULTS = [
    damaged,
    damaged,
    damaged_on_a_full_disk,
    vanishing,
    two_processes,
    killed_while_compiling,
    nowhere,
    killed_while_saving,
    killed_while_saving,
    full_disk_while_saving,
    closed_pipe,
]
