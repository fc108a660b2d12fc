"""Forward dynamics against other engines: the time that an error costs, and the cost of a step.

    python benchmarks/dynamics.py                                    # ours alone, and the peers that this Python has
    python benchmarks/dynamics.py --peers-python ~/peers/bin/python  # peers from another environment
    python benchmarks/dynamics.py --quick --cases four_bar,chain10 --peers exudyn,casadi --csv runs.csv

Every engine simulates the same mechanisms (cases.py) from coarse to fine settings. The error is that of the mass
centers at the end against a reference of its own equations (references.py). Times are those of the solve alone, the
shortest of several; on a shared machine they may vary by half, so compare ratios of one run.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import bars
import collect
import references
from cases import CASES
from measuring import Row
from summary import print_summary
from targets import cells, print_table


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("--cases", type=names, default=list(CASES), help=f"of {', '.join(CASES)}")
    peers = [*collect.PEERS, collect.LIMIT]
    parser.add_argument("--peers", type=names, help=f"of {', '.join(peers)}; 'none' for ours alone")
    parser.add_argument("--peers-python", default=sys.executable, help="a Python that has the peers")
    parser.add_argument("--quick", action="store_true", help="fewer peers, settings and repetitions")
    parser.add_argument("--no-bars", action="store_true", help="the table only")
    parser.add_argument("--csv", type=Path, help="keep every run in this file")
    parser.add_argument("--from-csv", type=Path, help="print the table of an earlier run")
    chosen = parser.parse_args()
    if chosen.peers is None:
        chosen.peers = [*collect.QUICK, collect.LIMIT] if chosen.quick else peers
    chosen.peers = [] if chosen.peers == ["none"] else chosen.peers
    for given, known in ((chosen.cases, CASES), (chosen.peers, peers)):
        strange = set(given) - set(known)
        if strange:
            parser.error(f"unknown: {', '.join(sorted(strange))}; known are {', '.join(known)}")
    return chosen


def gather(chosen: argparse.Namespace) -> list[Row]:
    """Case by case, ours and all peers one after another, so that a busy minute of the machine meets all alike."""
    print(f"references: {references.stored()}")
    references.references()
    missing = [peer for peer in chosen.peers if not collect.installed(peer, chosen.peers_python)]
    if missing:
        print(f"not installed: {', '.join(missing)}")
    peers = [peer for peer in chosen.peers if peer not in missing]
    engines = {collect.OURS: sys.executable} | dict.fromkeys(peers, chosen.peers_python)
    rows: list[Row] = []
    for case in chosen.cases:
        print(f"{case}:", end="", flush=True)
        for engine, python in engines.items():
            start, timeout = time.perf_counter(), 40.0 if chosen.quick else 120.0
            if engine == collect.OURS:  # it may have to compile
                timeout = 600.0
            rows += collect.run_engine(engine, python, case, quick=chosen.quick, timeout=timeout)
            print(f"  {engine} {time.perf_counter() - start:.0f} s", end="", flush=True)
            if chosen.csv:
                collect.write(rows, chosen.csv)
        print()
    return rows


def main() -> None:
    chosen = options()
    rows = collect.read(chosen.from_csv) if chosen.from_csv else gather(chosen)
    table = cells(rows)
    print_table(table)
    print_summary(table)
    bars.print_step_costs(rows)
    if not chosen.no_bars and not chosen.from_csv:
        bars.print_all(quick=chosen.quick)


if __name__ == "__main__":
    main()
