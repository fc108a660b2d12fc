"""Simbody (Debian's libsimbody-dev): joint coordinates, error-controlled steps with projection; a C++ driver.

The driver is compiled at run time and measures its own seconds.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from cases import Case
from measuring import SAMPLES, Simulation, State, Sweep, main, tolerances
from references import stored
from trees import Tree

SOURCE = Path(__file__).with_name("simbody.cpp")
HEADERS = Path("/usr/include/simbody")
if not HEADERS.exists() or shutil.which("g++") is None:
    raise ImportError("libsimbody-dev or g++ is not installed")


@functools.cache
def driver() -> Path:
    """The compiled driver, kept beside the references."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    target = stored().with_name(f"benchmark-simbody-{digest}")
    if not target.exists():
        libraries = ["-lSimTKsimbody", "-lSimTKmath", "-lSimTKcommon"]
        options = ["-O2", "-march=native", "-w", "-I", HEADERS]
        subprocess.run(["g++", *options, SOURCE, "-o", target, *libraries], check=True)
    return target


def text(case: Case, tree: Tree) -> str:
    """The model as the driver reads it."""
    number = {-1: -1, **tree.index}
    plane = lambda z: (z.real, z.imag)
    counts = len(tree.links), len(tree.loops), len(case.springs), len(case.torques)
    lines: list[tuple] = [(*case.gravity, *counts)]
    for (body, parent, slides, at), rate in zip(tree.links, tree.rates(), strict=True):
        places = *plane(tree.arm(parent, at)), *plane(tree.center(body))
        lines.append((number[parent], int(slides), *places, case.mass[body], case.inertia[body], rate))
    for a, b, at in tree.loops:
        lines.append(tuple(x for i in (a, b) for x in (number[i], *plane(tree.arm(i, complex(*at))))))
    for body, at, anchor, stiffness, free, _ in case.springs:
        lines.append((number[body], *plane(tree.arm(body, complex(*at))), *anchor, stiffness, free))
    lines += [(number[body], torque) for body, torque in case.torques]
    return "\n".join(" ".join(f"{x:.17g}" for x in line) for line in lines) + "\n"


class Simbody(Simulation):
    def __init__(self, case: Case, accuracy: float) -> None:
        self.case, self.accuracy, self.tree = case, accuracy, Tree(case)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen([driver()], text=True, **pipes)
        self.process.stdin.write(text(case, self.tree))

    def ask(self, samples: int) -> list[np.ndarray]:
        """One more run: its states."""
        self.process.stdin.write(f"{self.accuracy} {self.case.t_end} {samples}\n")
        self.process.stdin.flush()
        lines = [self.process.stdout.readline() for _ in range(samples * self.case.n + 1)]
        if not lines[-1]:
            raise RuntimeError(self.process.stderr.read().strip().replace("\n", " ")[-150:])
        seconds, steps = lines.pop().split()
        self.own_seconds, self.steps = float(seconds), int(steps)
        states = np.array([line.split() for line in lines], dtype=float)
        return np.split(states, samples)

    def run(self) -> None:
        (self.last,) = self.ask(1)

    def state(self) -> State:
        return self.tree.absolute(*self.last.T)

    def history(self) -> Iterator[State]:
        for state in self.ask(SAMPLES):
            yield self.tree.absolute(*state.T)

    def __del__(self) -> None:
        self.process.kill()


def sweeps(case: Case) -> Iterator[Sweep]:
    if case.name.startswith("ladder"):  # it loses energy or branch in singular positions
        if case.n <= 10:
            yield Sweep("Merson", "accuracy", [1e-3, 1e-5], lambda accuracy: Simbody(case, accuracy))
        return
    yield Sweep("Merson", "accuracy", tolerances(1, 12), lambda accuracy: Simbody(case, accuracy))


if __name__ == "__main__":
    main("Simbody", sweeps)
