"""How every engine is measured: one run after another from coarse to fine, the shortest of several repetitions.

An engine is a `Simulation`; a `Sweep` is one of its methods with a list of settings. `main` runs the sweeps of the
cases named on the command line and prints each run as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple

import references
from cases import CASES, Case
from numpy.typing import NDArray

State = tuple[NDArray, NDArray]
"""q and qd of every body, (bodies, 3) each."""

FINE_ENOUGH = 2e-10  # meters; where a sweep ends
STIFF_ENOUGH = 2e-7  # the same for stiff cases, of which 1e-3 and 1e-6 m are asked
SAMPLES = 200  # states of a run at which its energy is looked at


class Simulation:
    """An engine that has a case loaded."""

    steps = 0
    own_seconds: float | None = None
    """What the engine itself measured in the last run, where it runs in a process of its own."""

    def reset(self) -> None:
        """Back to the start; not timed."""

    def run(self) -> None:
        """From the start to the end; timed."""
        raise NotImplementedError

    def state(self) -> State:
        """Where the run ended."""
        raise NotImplementedError

    def history(self) -> Iterator[State]:
        """States of one more run, for its energy; where an engine cannot tell, the last one alone."""
        self.reset()
        self.run()
        yield self.state()


class Sweep(NamedTuple):
    """A method, the letter of its setting, the values from coarse to fine, and how it is set up."""

    method: str
    letter: str
    values: list[float]
    make: Callable[[float], Simulation]


@dataclass
class Row:
    """One run. `error` is the largest error of a mass center at the end, `energy` the largest change of the energy."""

    peer: str
    case: str
    method: str
    letter: str
    value: float
    seconds: float | None = None
    steps: int | None = None
    error: float | None = None
    gap: float | None = None
    energy: float | None = None
    failed: str | None = None


class Patience(NamedTuple):
    """Seconds of a run that end a sweep, the same for 1000 bodies, seconds of repetitions, every which tolerance."""

    longest: float
    longest_large: float
    repeating: float
    stride: int


FULL, QUICK = Patience(2.0, 5.0, 0.4, 1), Patience(0.3, 3.0, 0.1, 2)


def step_sizes(case: Case) -> list[float]:
    """Steps from coarse to fine that divide the run; a hundredth of them for the quick squeezer."""
    unit = 1e-4 if case.name == "squeezer" else 1e-2
    return [unit * f for f in (5, 2, 1, 0.5, 1 / 3.2, 1e-1, 1 / 32, 1e-2, 1 / 320, 1e-3, 1 / 3200, 1e-4)]


def tolerances(coarsest: int = 2, finest: int = 13) -> list[float]:
    return [10.0**-k for k in range(coarsest, finest + 1)]


def seconds_of(run: Callable[[], object]) -> float:
    """Wall or processor time, whichever is less: the machine may have other work."""
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return min(time.perf_counter() - wall, time.process_time() - processor)


def best_seconds(run: Callable[[], float], repeating: float) -> float:
    """The least of what at least three runs say they took; of one if it is long."""
    start, seconds = time.perf_counter(), []
    while True:
        seconds.append(run())
        spent = time.perf_counter() - start
        if (len(seconds) >= 3 and spent > repeating) or spent > 4 * repeating or len(seconds) == 50:
            return min(seconds)


def measure(case: Case, simulation: Simulation, row: Row, patience: Patience) -> None:
    """Fill in a row."""

    def run() -> float:
        simulation.reset()
        seconds = seconds_of(simulation.run)
        return simulation.own_seconds or seconds

    row.seconds = best_seconds(run, patience.repeating)
    row.steps = simulation.steps
    q, qd = simulation.state()
    row.error, row.gap = references.error(case.name, q), case.gap(q)
    # energy tells the right branch of singular mechanisms, so there it is followed through the run
    states = simulation.history() if case.name.startswith("ladder") else [(q, qd)]
    start = case.energy(case.q0, case.qd0)
    row.energy = max(abs(case.energy(*state) - start) for state in states)


def rows(peer: str, case: Case, sweeps: Iterable[Sweep], patience: Patience) -> Iterator[Row]:
    """Run every sweep until it is fine enough or takes too long; a run that fails is told and left behind."""
    longest = patience.longest_large if case.n >= 1000 else patience.longest
    for method, letter, values, make in sweeps:
        before = float("inf")  # coarse steps may struggle and take longer than finer ones
        for value in values if letter == "h" else values[:: patience.stride]:
            row = Row(peer, case.name, method, letter, value)
            try:
                measure(case, make(value), row, patience)
            except Exception as error:  # engines raise what they like
                row.failed = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            yield row
            seconds = row.seconds or 0.0
            enough = STIFF_ENOUGH if case.stiff else FINE_ENOUGH
            if (seconds > longest and seconds > before) or (row.error is not None and row.error < enough):
                break
            before = seconds


def none(case: Case) -> Iterable[Sweep]:
    return ()


def main(
    peer: str,
    sweeps: Callable[[Case], Iterable[Sweep]],
    stiff_sweeps: Callable[[Case], Iterable[Sweep]] = none,
) -> None:
    """Run the cases of the command line; only some engines are asked for stiff ones."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    for name in options.cases:
        case = CASES[name]()
        chosen = (stiff_sweeps if case.stiff else sweeps)(case)
        for row in rows(peer, case, chosen, QUICK if options.quick else FULL):
            print(json.dumps(asdict(row)), flush=True)
