"""What one right-hand side costs in reference-point and in relative coordinates: `python -m evaluations four_bar`.

Both run in a compiled loop at the same state: reference points as part of the loop, as in their own integrators,
relative coordinates through a kernel pointer. The least of many repetitions is printed; the ratio says how much quicker
relative coordinates are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from cases import CASES
from measuring import seconds_of
from ours import model

from simengine2d.analyses.assembly.assemble import assemble
from simengine2d.coordinates.equations import Configuration
from simengine2d.coordinates.relative.relative import Relative
from simengine2d.formulations.projection import Projection
from simengine2d.numerics.kernel import kernel
from simengine2d.numerics.kernel_pointer import invoke
from simengine2d.system.elimination import elimination_program
from simengine2d.system.equations_of_motion import accelerate
from simengine2d.system.system import System

NAMES = [
    "double_pendulum",
    "four_bar",
    "slider_crank",
    "squeezer",
    "chain10",
    "chain100",
    "chain1000",
    "ladder40",
]
REPETITIONS = 60
CALLS = 20_000  # of all repetitions, for one body


class Row(NamedTuple):
    case: str
    bodies: int
    reference_point: float
    relative: float
    difference: float
    """Of the accelerations of the bodies, relative to the largest."""


@kernel(entry=True)
def call_often(f, c, y, out, count):
    for _ in range(count):
        invoke(f, c, 0.0, y, out)


@kernel(entry=True)
def accelerate_often(S, D, q, qd, w, count):
    for _ in range(count):
        accelerate(S, D, 0.0, q, qd, w)


def nanoseconds(run: Callable[[int], None], calls: int) -> float:
    """Of one call in a loop of many."""
    run(1)  # compiles
    return 1e9 * min(seconds_of(lambda: run(calls)) for _ in range(REPETITIONS)) / calls


def measured(name: str) -> Row:
    """At the start of a case, with the velocities it starts with."""
    system = System(model(CASES[name]()))
    at, calls = assemble(system), max(10, CALLS // len(system.bodies))
    family = Relative(system, at.q)
    z, zd = family.positions(at.q), family.velocities(at.q, at.qd)
    equations = family.equations_of_motion(Projection(), Configuration(0.0, z, False))
    pointer = equations.accelerate
    y, out = np.concatenate([z, zd]), np.empty(2 * family.n)
    relative = nanoseconds(lambda count: call_often(pointer.f, pointer.c, y, out, count), calls)
    qdd = family.bodies(0.0, z, zd, out[family.n :]).qdd
    d = elimination_program(system, False, False)
    w = system.new_workspace(d)
    constants = system.arrays, d
    reference = nanoseconds(lambda count: accelerate_often(*constants, at.q, at.qd, w, count), calls)
    expected = w.x[: system.n]
    return Row(
        name, len(system.bodies), reference, relative, np.abs(qdd - expected).max() / np.abs(expected).max()
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=NAMES)
    print(
        f"{'case':16s} {'bodies':>6s} {'reference point':>16s} {'relative':>10s} {'ratio':>6s} {'difference':>11s}"
    )
    for name in parser.parse_args().cases:
        row = measured(name)
        print(
            f"{name:16s} {row.bodies:6d} {row.reference_point:13.0f} ns {row.relative:7.0f} ns "
            f"{row.reference_point / row.relative:6.2f} {row.difference:11.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
