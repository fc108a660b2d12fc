"""Mutated files and expressions: they load or are refused in a sentence of ours, soon, and give no nan.

Of each file that can be read one or two analyses are tried, for a few short steps.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simengine2d as se
from simengine2d.io import load_analysis
from simengine2d.model.builders import four_bar

sys.path.insert(0, str(Path(__file__).parent))
from mutations import mutant, mutated_expression

LOAD = 1.0  # seconds of the processor that reading may take
PATIENCE = 30.0  # seconds after which Ctrl-C is pressed
HEARD = 10.0  # seconds of the processor until it must be heard; kernels are compiled to their end
RUN = float(os.environ.get("ATTACK_RUNS", "1"))  # share of the members that are run, not only read
MEMORY = 500.0  # MB by which one member may raise the peak
T_EVAL = [0.0, 1e-3, 2e-3]
OURS = (se.SimEngineError, se.Interrupted)


@contextmanager
def ctrl_c_after(seconds: float) -> Iterator[list[float]]:
    """Press Ctrl-C once; the list tells how much of the processor had been used until then."""
    pressed: list[float] = []

    def press(*_: Any) -> None:
        pressed.append(time.process_time())
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield pressed
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def peak() -> float:
    """Most memory that this process ever had, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# Analyses ---------------------------------------------------------------------------------------------


def finite(*arrays: Any) -> None:
    for array in arrays:
        assert array is None or np.all(np.isfinite(array)), "not finite"


def told(r: se.Results) -> None:
    """Everything that results say is finite, and they can be saved and read again."""
    finite(r.t, r.q, r.qd, r.qdd, r.lam)
    r.summary()
    assert all(r.verdict.reasons), "a verdict without a sentence"
    if r.lam is not None and r.t.size:
        for name in list(r.model.elements)[:3]:
            try:
                finite(*r.reaction(name))
            except se.SimEngineError:
                continue
        finite(*r.energy())


def _saved(m: se.Model) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".yaml", ".json", ".adm"):
            try:
                path = m.save(Path(folder) / f"m{ending}")
            except se.SimEngineError:
                continue
            se.load(path)


def _resumed(m: se.Model) -> None:
    r = se.dynamics(m, t_eval=T_EVAL)
    with tempfile.TemporaryDirectory() as folder:
        told(se.Results.load(r.save(Path(folder) / "r.npz")).resume(0.003))


ANALYSES: list[Callable[[se.Model], object]] = [
    lambda m: se.diagnose(se.assemble(m)),
    lambda m: told(se.kinematics(m, t_eval=T_EVAL)),
    lambda m: told(se.dynamics(m, t_eval=T_EVAL)),
    lambda m: told(se.dynamics(m, t_eval=T_EVAL, integrator="newmark", step=1e-3)),
    lambda m: told(se.dynamics(m, t_eval=T_EVAL, integrator="rk4", step=1e-3, formulation="augmented")),
    lambda m: told(se.dynamics(m, t_eval=T_EVAL, coordinates="relative")),
    lambda m: told(se.inverse_dynamics(m, t_eval=T_EVAL)),
    lambda m: told(se.equilibrium(m).results),
    lambda m: finite(se.modes(m).frequency),
    _saved,
    _resumed,
]


# Members ----------------------------------------------------------------------------------------------


def wrong(act: Callable[[], object], what: str) -> str:
    """What is wrong with an act: an exception that is none of ours; nothing where all is well."""
    pressed: list[float] = []
    try:
        with warnings.catch_warnings(), ctrl_c_after(PATIENCE) as pressed, np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            act()
    except (*OURS, KeyboardInterrupt) as error:
        late = bool(pressed) and time.process_time() - pressed[0] > HEARD
        silent = isinstance(error, OURS) and not str(error).strip()
        return (
            f"{what}: Ctrl-C is heard late"
            if late
            else f"{what}: {type(error).__name__} without a sentence"
            if silent
            else ""
        )
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{what}: {type(error).__name__}: {str(error)[:90]} ({Path(last.filename).name}:{last.lineno})"
    return ""


def read(path: Path) -> Any:
    if path.suffix in (".npz", ".csv"):
        return se.Results.load(path)
    if path.suffix == ".motion":
        return se.inverse_dynamics(four_bar(1, 2, 2.5, 3, speed=2), motion=path)
    if path.suffix == ".table":
        return se.Table.from_csv(path)
    return load_analysis(path) if path.suffix == ".acf" else se.load(path)


def used(found: Any, r: random.Random) -> Iterator[str]:
    """Try what can be done with what was read."""
    if isinstance(found, se.Results):
        yield wrong(lambda: told(found), "results")
        yield wrong(lambda: told(found.resume(0.03)), "resume")
    elif isinstance(found, se.Model) and r.random() < RUN:
        for i in r.sample(range(len(ANALYSES)), 2):
            yield wrong(lambda i=i: ANALYSES[i](found), f"analysis {i}")  # type: ignore[misc]


def file_member(seed: int, folder: Path) -> Iterator[str]:
    ending, data = mutant(seed)
    path = folder / f"mutant{ending}"
    path.write_bytes(data)
    found: list[Any] = []
    began, before = time.process_time(), peak()
    yield wrong(lambda: found.append(read(path)), "load")
    seconds = time.process_time() - began
    if seconds > LOAD:
        yield f"load: {seconds:.1f} s"
    for part in found:
        yield from used(part, random.Random(seed))
    if peak() - before > MEMORY:
        yield f"memory: {peak() - before:.0f} MB"


def expression_member(seed: int) -> Iterator[str]:
    """The same text as a function of time, a law of a spring, a force of the state and a constraint."""
    text, r = mutated_expression(seed), random.Random(seed)
    m = se.Model("e", parameters={"L": 0.7})
    bar = m.bar("bar", (0, 0), (1, 0), mass=1)
    m.add(se.Revolute("O", m.ground, bar["start"]))
    elements: list[Callable[[], Any]] = [
        lambda: se.AbsoluteAngle("a", bar, text),
        lambda: se.Spring("s", "distance(ground.at(0, 2), bar.end)", law=text),
        lambda: se.PointForce("f", bar["end"], fx=text),
        lambda: se.Torque("f", bar, text),
        lambda: se.Constraint("c", [text]),
        lambda: se.Force("v", potential=text),
        lambda: se.Force("u", along={"bar.phi": text}),
        lambda: se.Spring("s", "distance(ground.at(0, 2), bar.end)", stiffness=text),
    ]
    began = time.process_time()
    yield wrong(lambda: m.add(r.choice(elements)()), f"element {text[:60]!r}")
    yield wrong(m.check, f"check {text[:60]!r}")
    if time.process_time() - began > LOAD:
        yield f"check {text[:60]!r}: {time.process_time() - began:.1f} s"
    if r.random() < RUN:
        i = r.randrange(len(ANALYSES))
        yield wrong(lambda: ANALYSES[i](m), f"analysis {i} of {text[:60]!r}")


def attack(rng: np.random.Generator, count: int) -> Iterator[str]:
    """Two files for each expression."""
    with tempfile.TemporaryDirectory() as name:
        for _ in range(count):
            seed = int(rng.integers(2**40))
            member = expression_member(seed) if seed % 3 == 0 else file_member(seed, Path(name))
            for sentence in member:
                if sentence:
                    yield f"{seed}: {sentence}"


def test_mutated_files_and_expressions():
    assert list(attack(np.random.default_rng(5), 40)) == []


@pytest.mark.parametrize("misspelled", [False, True])
def test_large_files_are_read_soon(tmp_path, misspelled):
    """Each of 2,000 bodies has a name for its mass, which stands among 2,000 parameters or not."""
    names = [f"m{i}" for i in range(2000)]
    bodies = {f"b{i}": {"mass": "x" * misspelled + name, "inertia": 1} for i, name in enumerate(names)}
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"name": "large", "parameters": dict.fromkeys(names, 1), "bodies": bodies}))
    began = time.process_time()
    assert wrong(lambda: se.load(path), "load") == ""
    assert time.process_time() - began < LOAD
