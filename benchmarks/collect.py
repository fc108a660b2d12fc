"""Runs engines in processes of their own, and keeps what they measured as rows of a CSV file."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, fields
from pathlib import Path

from measuring import Row

HERE = Path(__file__).parent
OURS = "ours"
PEERS = (
    "exudyn",
    "mujoco",
    "casadi",
    "pinocchio",
    "sundials",
    "sympy_numba",
    "simbody",
    "drake",
    "pymunk",
    "scipy",
)
QUICK = ("exudyn", "mujoco", "casadi", "pinocchio", "sundials", "sympy_numba", "simbody", "scipy")
"""Those that are the best somewhere."""
LIMIT = "handwritten_c"
"""Code written for one mechanism: the limit of the machine, not a peer."""

NUMBERS = {"value", "seconds", "error", "gap", "energy"}


def environment() -> dict[str, str]:
    """One thread, and this folder on the path of modules."""
    threads = dict.fromkeys(["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"], "1")
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    return os.environ | threads | {"PYTHONPATH": path}


def module(engine: str) -> str:
    return engine if engine == OURS else f"peers.{engine}"


def installed(engine: str, python: str) -> bool:
    """Whether a Python has an engine; a broken installation counts as none."""
    command = [python, "-c", f"import {module(engine)}"]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(command, env=environment(), cwd=folder, capture_output=True).returncode == 0


def run_engine(engine: str, python: str, case: str, *, quick: bool, timeout: float) -> list[Row]:
    """The rows of one engine and case; those so far where it takes too long or dies."""
    command = [python, "-m", module(engine), case, *(["--quick"] if quick else [])]
    with tempfile.TemporaryDirectory() as folder:  # some engines write files where they stand
        try:
            done = subprocess.run(
                command, env=environment(), cwd=folder, capture_output=True, timeout=timeout
            )
        except subprocess.TimeoutExpired as late:
            print(f"    {engine}: stopped after {timeout:g} s", file=sys.stderr)
            return parse(late.stdout)
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        print(f"    {engine}: died of {last[0][:150]}", file=sys.stderr)
    return parse(done.stdout)


def parse(output: bytes | None) -> list[Row]:
    lines = (output or b"").decode(errors="replace").splitlines()
    return [Row(**json.loads(line)) for line in lines if line.startswith("{") and line.endswith("}")]


def write(rows: list[Row], path: Path) -> None:
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [field.name for field in fields(Row)])
        table.writeheader()
        table.writerows(asdict(row) for row in rows)


def read(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return [
            Row(**{name: _value(name, text) for name, text in line.items()}) for line in csv.DictReader(file)
        ]


def _value(name: str, text: str) -> str | float | int | None:
    if text == "":
        return None
    if name == "steps":
        return int(text)
    return float(text) if name in NUMBERS else text
